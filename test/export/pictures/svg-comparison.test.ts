import { describe, expect, it } from "vitest";
import { comparisonSvg } from "../../../src/export/pictures/svg-comparison.ts";
import { missing } from "../../support/refusals.ts";
import { elementsOf } from "../../support/svg-elements.ts";

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

  it("shows shares of the limit below, models in dashes, and the best of each size as a band", () => {
    const rows = [row(1, "a", 10), row(16, "a", 100), row(1, "b", 20), row(16, "b", 50)];
    const limits = [row(1, "limit", 5), row(16, "limit", 50)];
    const references = [row(1, "model", 40), row(16, "model", 40)];
    const elements = elementsOf([...comparisonSvg(rows, { title: "t", limits, references })].join(""));
    const texts = elements.map(({ text }) => text);
    for (const text of ["Share of the limit", "limit", "model", "a, 1 B: 50 %", "b, 16 B: 100 %", "b, 16 B: 50 us"])
      expect(texts).toContain(text);
    expect(texts).not.toContain("120 %");
    const bands = elements.filter(({ attributes }) => attributes["stroke-width"] === "13");
    expect(bands).toHaveLength(2);
    const dashed = elements.filter(({ attributes }) => attributes["stroke-dasharray"] !== undefined);
    expect(dashed).toHaveLength(5);
  });

  it("draws lines that run over each other in dashes, each in turn", () => {
    const wires = draw([row(1, "a", 10), row(4, "a", 10), row(1, "b", 10), row(4, "b", 10), row(1, "c", 1)]).filter(
      ({ attributes }) => attributes["class"]?.startsWith("wire"),
    );
    expect(new Set(wires.map(({ attributes }) => attributes["d"])).size).toBe(1);
    const offsets = wires.map(({ attributes }) => Number(attributes["stroke-dashoffset"]));
    expect(offsets[0] - offsets[1]).toBe(9);
    expect(wires.map(({ attributes }) => attributes["stroke-dasharray"])).toEqual(["9 9", "9 9"]);
  });

  it("leaves out what has no logarithm, and refuses when nothing is left", () => {
    const elements = draw([row(1, "a", 1, null), row(2, "a", 1, 3)], "busbw");
    expect(elements.find(({ name }) => name === "desc")?.text).toContain("1 value of 0 left out.");
    expect(() => draw([row(1, "a", 0)])).toThrow(missing("the rows of a plot"));
  });
});
