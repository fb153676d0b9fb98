import { describe, expect, it } from "vitest";
import { comparisonSvg } from "../../src/export/svg-comparison.ts";
import { elementsOf } from "../support/svg-elements.ts";

const row = (sizeBytes: number, algorithm: string, us: number, busbwGBps: number | null = 1) => ({
  sizeBytes,
  algorithm,
  us,
  busbwGBps,
});
const draw = (rows: ReturnType<typeof row>[], show: "time" | "busbw" = "time") =>
  elementsOf([...comparisonSvg(rows, { title: "<plot>", show })].join(""));

describe("a plot of several algorithms", () => {
  it("has a line for each and a point for each size, on logarithmic axes", () => {
    const elements = draw([row(4, "a", 10), row(1, "a", 1), row(16, "a", 100), row(1, "b", 5), row(16, "b", 50)]);
    const points = elements.filter(({ name }) => name === "circle");
    expect(points.map(({ text }) => text)).toContain("a, 4 B: 10 us");
    expect(elements.filter(({ attributes }) => attributes["class"]?.startsWith("wire"))).toHaveLength(2);
    const ofA = points
      .filter(({ text }) => text.startsWith("a"))
      .map(({ attributes: { cx, cy } }) => [Number(cx), Number(cy)]);
    const [[x0, y0], [x1, y1], [x2, y2]] = ofA;
    expect(x1 - x0).toBeCloseTo(x2 - x1, 0);
    expect(y1 - y0).toBeCloseTo(y2 - y1, 0);
    expect(y2).toBeLessThan(y0);
  });

  it("writes the names of lines that end at the same place below each other", () => {
    const names = draw([row(1, "one", 7), row(1, "two", 7), row(1, "three", 7)]).filter(({ attributes }) =>
      attributes["class"]?.startsWith("fk"),
    );
    const heights = names.filter(({ name }) => name === "text").map(({ attributes }) => Number(attributes["y"]));
    expect(new Set(heights).size).toBe(3);
  });

  it("leaves out what has no logarithm, and refuses when nothing is left", () => {
    const elements = draw([row(1, "a", 1, null), row(2, "a", 1, 3)], "busbw");
    expect(elements.find(({ name }) => name === "desc")?.text).toContain("1 value of 0 left out.");
    expect(() => draw([row(1, "a", 0)])).toThrow("expected at least one with a time above 0 for the rows of a plot");
  });
});
