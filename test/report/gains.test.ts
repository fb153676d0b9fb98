import { describe, expect, it } from "vitest";
import type { ComparisonRow } from "../../src/report/comparison.ts";
import { gainsOf } from "../../src/report/gains.ts";

const LIBRARY: Readonly<Record<string, "over boxes" | "in rank order">> = {
  ring: "in rank order",
  "nccl-rings": "over boxes",
  "nccl-tree": "over boxes",
  nvls: "over boxes",
};

const row = (sizeBytes: number, algorithm: string, us: number, best = false): ComparisonRow => ({
  sizeBytes,
  algorithm,
  us,
  algbwGBps: null,
  busbwGBps: null,
  ofLimit: 1,
  chunks: 1,
  verified: true,
  synthesisMs: 1,
  best,
  ...(LIBRARY[algorithm] === undefined ? {} : { library: LIBRARY[algorithm] }),
});

const told = (rows: readonly ComparisonRow[]): unknown[] =>
  gainsOf(rows).map(({ best, library, text }) => [best.sizeBytes, best.algorithm, library.algorithm, text]);

describe("what is gained", () => {
  it("is held against the fastest that libraries have: over boxes, else in rank order", () => {
    const rows = [row(1, "tacos", 10, true), row(1, "ring", 12), row(1, "nccl-rings", 30), row(1, "nccl-tree", 25)];
    expect(told(rows)).toEqual([[1, "tacos", "nccl-tree", "2.50 x"]]);
    expect(told(rows.slice(0, 2))).toEqual([[1, "tacos", "ring", "1.20 x"]]);
  });

  it("is nothing where a library's is the fastest, and not told where there is nothing to compare with", () => {
    const rows = [row(1, "tacos", 10), row(1, "nvls", 5, true), row(2, "tacos", 4, true), row(2, "themis", 9)];
    expect(told(rows)).toEqual([[1, "nvls", "nvls", "-"]]);
    expect(told([row(1, "ring", 3, true)])).toEqual([]);
  });
});
