import { describe, expect, it } from "vitest";
import type { Comparison, ComparisonRow } from "../../../src/report/comparison.ts";
import type { ChartLine } from "../../../src/web/parts/chart-model.ts";
import { FIRST_WORDS } from "../../../src/web/state/words.ts";
import { comparedText, decisionLines, leastAt, warmthOf } from "../../../src/web/views/compare/decision.ts";
import { programsBySize } from "../../../src/web/views/compare/programs-by-size.ts";
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

describe("a comparison to decide by", () => {
  const texts = (of: Comparison) =>
    decisionLines(of).map(({ algorithm, cells }) => [algorithm, ...cells.map((cell) => cell?.text ?? null)]);

  it("has the best lines first, says what ties, and how many times the best others take", () => {
    const rows = [row(1024, "ring", 8), row(1024, "tacos", 4, true), row(1024, "dbt", 4.03)];
    const more = [row(4096, "ring", 10), row(4096, "dbt", 5, true), row(4096, "tacos", 7.5)];
    expect(texts({ ...comparison, rows: [...rows, ...more] })).toEqual([
      ["dbt", "tie", "best"],
      ["tacos", "best", "1.50 x"],
      ["ring", "2.00 x", "2.00 x"],
    ]);
  });
  it("has nothing where a line is missing or does not run on the target, and counts what runs", () => {
    expect(texts(comparison)).toEqual([
      ["tacos", "best", "best"],
      ["ring", "2.00 x", null],
    ]);
    const rows = [
      { ...row(1024, "ring", 8), programUs: null },
      { ...row(1024, "tacos", 4), programUs: 9, libraryUs: 6 },
      { ...row(1024, "dbt", 5, true), programUs: 3 },
    ];
    const onTarget: Comparison = { ...comparison, target: "azure", rows };
    expect(texts(onTarget)).toEqual([
      ["dbt", "best", null],
      ["tacos", "2.00 x", null],
      ["ring", null, null],
    ]);
    expect(leastAt(onTarget, [1024, 4096])).toEqual([{ algorithm: "dbt", us: 3 }, null]);
  });
  it("colours the fastest most, and nothing from three times that on", () => {
    const [best, worse] = decisionLines(comparison).map(({ cells }) => cells[0] as NonNullable<(typeof cells)[0]>);
    expect(warmthOf(best as NonNullable<typeof best>)).toBe(1);
    expect(warmthOf(worse as NonNullable<typeof worse>)).toBeCloseTo(1 - Math.log(2) / Math.log(3), 12);
    expect(warmthOf({ ...(worse as NonNullable<typeof worse>), times: 3.5 })).toBe(0);
  });
  it("is named after network, collective, group and target", () => {
    const words = { ...FIRST_WORDS, options: { collective: "allgather", group: "0,1" } };
    expect(comparedText({ words, comparison })).toBe("dgx-a100:2, allgather, of 0,1");
    expect(comparedText({ words: FIRST_WORDS, comparison: { ...comparison, target: "mpi" } })).toBe(
      "dgx-a100:2, allgather, for mpi",
    );
  });
  it("asks for programs of its sizes and target", () => {
    const asked = { collective: "broadcast", root: "3", sizes: "1KiB,4KiB" };
    const given = { collective: "broadcast", root: "3", size: "1GiB", algorithm: "ring" };
    expect(programsBySize(comparison, given)).toEqual({ to: "msccl-xml", options: asked });
    const onRccl = programsBySize({ ...comparison, target: "rccl" }, given);
    expect(onRccl).toEqual({ to: "msccl-xml", options: { ...asked, dialect: "rccl" } });
    expect(programsBySize({ ...comparison, target: "mscclpp" }, given)?.to).toBe("mscclpp-json");
    expect(programsBySize({ ...comparison, target: "nccl" }, given)).toBeNull();
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
