import { describe, expect, it } from "vitest";
import { heatColour } from "../../../src/picture/scales.ts";
import {
  type ChartLine,
  endsOf,
  heatGradient,
  linesAt,
  lookOfLine,
  markerPath,
  nearestLine,
} from "../../../src/web/parts/chart-model.ts";

describe("a chart's lines", () => {
  it("look different, up to 24 of them", () => {
    const looks = Array.from({ length: 24 }, (_, i) => lookOfLine(i));
    expect(new Set(looks.map(({ colour, dash }) => `${colour} ${dash}`)).size).toBe(24);
    expect(new Set(looks.map(({ colour, marker }) => `${colour} ${marker}`)).size).toBe(24);
  });
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
  it("is a gradient for legends", () => {
    expect(heatGradient(true)).toContain(`to right, ${heatColour(0, true)}`);
    expect(heatGradient(true)).toContain(`${heatColour(1, true)})`);
  });
});

it("markers of all shapes are closed paths around their place", () => {
  for (let shape = 0; shape < 6; shape++) expect(markerPath(shape, 10, 10, 4)).toMatch(/^M.*Z$/);
  expect(new Set(Array.from({ length: 6 }, (_, shape) => markerPath(shape, 0, 0, 4))).size).toBe(6);
});
