import { describe, expect, it } from "vitest";
import type { Comparison, ComparisonRow } from "../../../src/report/comparison.ts";
import type { ChartLine } from "../../../src/web/parts/chart-model.ts";
import { algorithmsIn, axesOf, fileStem, jsonOf, linesOf, sizesIn } from "../../../src/web/views/compare/series.ts";

const row = (sizeBytes: number, algorithm: string, us: number, best = false): ComparisonRow => ({
  sizeBytes,
  algorithm,
  us,
  algbwGBps: sizeBytes / us / 1000,
  busbwGBps: sizeBytes / us / 500,
  ofLimit: 2 / us,
  chunks: 1,
  verified: true,
  synthesisMs: 1,
  best,
});
const limit = (sizeBytes: number) => ({
  sizeBytes,
  limit: { us: 2, algbwGBps: sizeBytes / 2000, exact: "2", kind: "cut", witness: {}, because: "of a cut" },
});
const comparison: Comparison = {
  schema: "banyan/comparison@2",
  topology: { name: "dgx-a100:2", npus: 16, switches: 3, links: 64, hash: "0" },
  collective: "allgather",
  rows: [row(1024, "ring", 8), row(1024, "tacos", 4, true), row(4096, "tacos", 5, true)],
  references: [
    { sizeBytes: 4096, name: "NCCL model", choice: "Ring", like: ["rings"], us: 10, algbwGBps: 1, busbwGBps: 2 },
  ],
  limits: [limit(1024), limit(4096)],
  leftOut: [],
};

describe("the lines of a comparison", () => {
  it("have a value or none at each size, the limit and others' models first", () => {
    expect(sizesIn(comparison)).toEqual([1024, 4096]);
    expect(algorithmsIn(comparison)).toEqual(["ring", "tacos"]);
    const lines = linesOf(comparison, "time", ["tacos", "ring"]);
    expect(lines.map(({ name, values }) => [name, [...(values as number[])]])).toEqual([
      ["limit", [2, 2]],
      ["NCCL model", [null, 10]],
      ["tacos", [4, 5]],
      ["ring", [8, null]],
    ]);
  });
  it("mark only algorithms, whose points can be picked", () => {
    const lines = linesOf(comparison, "time", []);
    expect(lines.filter(({ marker }) => marker !== undefined).map(({ name }) => name)).toEqual(["ring", "tacos"]);
    expect(lines.filter(({ dash }) => dash !== undefined).map(({ name }) => name)).toEqual(["limit", "NCCL model"]);
  });
  it("measure the limit's bus bandwidth by the factor of the rows", () => {
    const [first] = linesOf(comparison, "busbw", []) as [ChartLine];
    expect(Array.from(first.values)).toEqual([1024 / 1000, 4096 / 1000]);
  });
  it("have the limit at all of it", () => {
    const [first, model, ring] = linesOf(comparison, "share", []) as [ChartLine, ChartLine, ChartLine];
    expect(Array.from(first.values)).toEqual([1, 1]);
    expect(Array.from(model.values)).toEqual([null, null]);
    expect(Array.from(ring.values)).toEqual([0.25, null]);
  });
  it("have units at their ticks", () => {
    expect(axesOf("time").x.text(2 ** 20)).toBe("1 MiB");
    expect(axesOf("time").y.text(1500)).toBe("1.5 ms");
    expect(axesOf("busbw").y.text(12)).toBe("12 GB/s");
    expect(axesOf("share").y.text(0.5)).toBe("50 %");
  });
});

describe("a comparison as files", () => {
  it("is JSON that says the same", () => expect(JSON.parse(jsonOf(comparison))).toEqual(comparison));
  it("is named after network and collective", () => {
    expect(fileStem(comparison)).toBe("dgx-a100-2.allgather.comparison");
    expect(fileStem({ ...comparison, topology: { ...comparison.topology, name: " / " } })).toBe(
      "network.allgather.comparison",
    );
  });
});
