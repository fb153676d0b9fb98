import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { PICTURE_STYLE } from "../../src/export/pictures/svg.ts";
import {
  type AxisScale,
  DEPTHS,
  depthStep,
  firstDepth,
  heatColour,
  heatColours,
  heatPixels,
  placeOn,
  roundStep,
  shareColour,
  ticksOf,
  valueAt,
} from "../../src/picture/scales.ts";

const values = (scale: AxisScale, low: number, high: number, about: number): number[] =>
  ticksOf(scale, placeOn(scale, low), placeOn(scale, high), about).map((place) =>
    Number(valueAt(scale, place).toPrecision(12)),
  );

describe("steps", () => {
  it("are 1, 2 or 5 times a power of ten, the first that is not less", () => {
    expect([0.07, 1, 1.5, 2.1, 5, 6, 1001].map((least) => roundStep(least))).toEqual([0.1, 1, 2, 5, 5, 10, 2000]);
    expect(roundStep(2.001, 0.999)).toBe(2);
  });
});

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

describe("the heat scale", () => {
  const lightness = (colour: string): number =>
    [1, 3, 5].reduce(
      (sum, at, i) => sum + [0.2126, 0.7152, 0.0722][i] * Number.parseInt(colour.slice(at, at + 2), 16),
      0,
    );

  it("gets darker on light and lighter on dark, all the way", () => {
    const ramp = (isDark: boolean): number[] => heatColours(24, isDark).map(lightness);
    expect(ramp(true)).toEqual(ramp(true).toSorted((a, b) => a - b));
    expect(ramp(false)).toEqual(ramp(false).toSorted((a, b) => b - a));
  });

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
});

it("shares have colours from dark to bright; those beyond the ends that of the end", () => {
  expect([-1, 0, 0.5, 1, 2].map(shareColour)).toEqual(["#440154", "#440154", "#21918c", "#fde725", "#fde725"]);
});

it("depths have a colour each, or equal parts of them where they are many", () => {
  for (const deepest of [1, 6, 7, 40]) {
    for (let depth = 1; depth <= deepest; depth++) {
      const step = depthStep(depth, deepest);
      expect(step).toBeLessThan(DEPTHS);
      expect(firstDepth(step, deepest)).toBeLessThanOrEqual(depth);
      expect(firstDepth(step + 1, deepest)).toBeGreaterThan(depth);
    }
  }
});

it("bandwidths have the same colours in files and in the page, light and dark", () => {
  const page = readFileSync(new URL("../../src/web/draw/draw.css", import.meta.url), "utf8");
  const [inPage, inFiles] = ["--band-", "--b"].map((name) =>
    [...(name === "--b" ? PICTURE_STYLE : page).matchAll(new RegExp(`${name}([0-5]):\\s*(#\\w+)`, "g"))].map(
      ([, step, colour]) => `${step} ${colour}`,
    ),
  );
  expect(inPage).toHaveLength(12);
  expect(inPage).toEqual(inFiles);
});
