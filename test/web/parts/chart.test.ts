import { describe, expect, it } from "vitest";
import { heatColour } from "../../../src/web/draw/heat.ts";
import { heatGradient, heatPixels } from "../../../src/web/parts/chart-heat.ts";
import { markerPath } from "../../../src/web/parts/chart-marker.ts";
import { type ChartLine, endsOf, linesAt, nearestLine } from "../../../src/web/parts/chart-model.ts";
import { type AxisScale, placeOn, ticksOf, valueAt } from "../../../src/web/parts/chart-ticks.ts";

const values = (scale: AxisScale, low: number, high: number, about: number): number[] =>
  ticksOf(scale, placeOn(scale, low), placeOn(scale, high), about).map((place) =>
    Number(valueAt(scale, place).toPrecision(12)),
  );

describe("ticks", () => {
  it("are multiples of 1, 2 or 5 on a linear axis", () => {
    expect(values("linear", 0, 1, 5)).toEqual([0, 0.2, 0.4, 0.6, 0.8, 1]);
    expect(values("linear", 3, 47, 5)).toEqual([10, 20, 30, 40]);
    expect(values("linear", 7, 7, 5)).toEqual([7]);
  });
  it("are powers of two that lie a whole number of doublings apart", () => {
    expect(values("log2", 1024, 2 ** 30, 21)).toHaveLength(21);
    expect(values("log2", 1024, 2 ** 30, 5)).toEqual([2 ** 10, 2 ** 15, 2 ** 20, 2 ** 25, 2 ** 30]);
  });
  it("are decades, with 2 and 5 between few of them", () => {
    expect(values("log10", 1, 1e6, 7)).toEqual([1, 10, 100, 1e3, 1e4, 1e5, 1e6]);
    expect(values("log10", 3, 60, 6)).toEqual([5, 10, 20, 50]);
  });
  it.each(["linear", "log2", "log10"] as const)("lie within a %s axis, ascending, and not too many", (scale) => {
    for (const [low, high] of [
      [1, 2],
      [0.003, 71],
      [5, 5.5],
      [1e-3, 1e9],
    ] as const) {
      for (const about of [2, 4, 9]) {
        const places = ticksOf(scale, placeOn(scale, low), placeOn(scale, high), about);
        expect(places.length).toBeLessThanOrEqual(3 * about + 3);
        expect(places).toEqual([...places].sort((a, b) => a - b));
        for (const place of places) {
          expect(place).toBeGreaterThanOrEqual(placeOn(scale, low) - 1e-6 * high);
          expect(place).toBeLessThanOrEqual(placeOn(scale, high) + 1e-6);
        }
      }
    }
  });
  it("have no place for 0 on a logarithmic axis", () => {
    expect(placeOn("log10", 0)).toBeNaN();
    expect(placeOn("linear", 0)).toBe(0);
  });
});

describe("a chart's lines", () => {
  const line = (name: string, ...all: (number | null)[]): ChartLine => ({ name, colour: "--chart-1", values: all });
  const lines = [line("a", 1, 10), line("b", 100, null), line("c", 20, 9)];
  const axis = { label: "", scale: "log10", text: String } as const;

  it("are ordered by their value at an abscissa", () => {
    expect(linesAt(lines, 0).map(({ line }) => line)).toEqual([1, 2, 0]);
    expect(linesAt(lines, 1).map(({ line }) => line)).toEqual([0, 2]);
  });
  it("are pointed at by the place on the axis, not by the value", () => {
    expect(nearestLine(lines, "log10", 0, Math.log10(40))).toBe(2);
    expect(nearestLine(lines, "log10", 0, Math.log10(60))).toBe(1);
    expect(nearestLine([], "log10", 0, 1)).toBe(-1);
  });
  it("span the axis, but for given ends", () => {
    expect(endsOf(axis, [1, null, 1000])).toEqual([0, 3]);
    expect(endsOf({ ...axis, low: 10 }, [100, 1000])).toEqual([1, 3]);
    expect(endsOf(axis, [0, null])).toEqual([0, 1]);
    expect(endsOf(axis, [10])).toEqual([0.5, 1.5]);
  });
});

describe("the heat scale", () => {
  it("is written as pixels with red in the lowest byte", () => {
    const [r, g, b] = [1, 3, 5].map((i) => Number.parseInt(heatColour(1, false).slice(i, i + 2), 16)) as [
      number,
      number,
      number,
    ];
    const pixels = heatPixels(2, false);
    expect(pixels[1]).toBe(0xff000000 + b * 65536 + g * 256 + r);
    expect(pixels[0]).not.toBe(pixels[1]);
  });
  it("is a gradient for legends", () => {
    expect(heatGradient(true)).toContain(`to right, ${heatColour(0, true)}`);
    expect(heatGradient(true)).toContain(`${heatColour(1, true)})`);
  });
});

it("markers of all shapes are closed paths around their place", () => {
  for (let shape = 0; shape < 6; shape++) expect(markerPath(shape, 10, 10, 4)).toMatch(/^M.*Z$/);
  expect(new Set(Array.from({ length: 6 }, (_, shape) => markerPath(shape, 0, 0, 4))).size).toBe(6);
});
