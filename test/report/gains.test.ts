import { describe, expect, it } from "vitest";
import type { ComparisonRow } from "../../src/report/comparison.ts";
import { gainsOf, gainText } from "../../src/report/gains.ts";

const LIBRARY: Readonly<Record<string, string>> = {
  ring: "natural order, both ways",
  "nccl-rings": "8 channels",
  "nccl-tree": "16 trees",
  nvls: "8 trees",
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
  gainsOf(rows).map(({ best, how, text }) => [best.sizeBytes, best.algorithm, how, text]);

describe("what is gained", () => {
  it("is held against the fastest of all that libraries have, which is named with how it is set", () => {
    const rows = [row(1, "tacos", 10, true), row(1, "ring", 12), row(1, "nccl-rings", 30), row(1, "nccl-tree", 25)];
    expect(told(rows)).toEqual([[1, "tacos", "ring (natural order, both ways)", "1.20 x"]]);
    expect(told(rows.filter(({ algorithm }) => algorithm !== "ring"))).toEqual([
      [1, "tacos", "nccl-tree (16 trees)", "2.50 x"],
    ]);
  });

  it("is nothing where a library's is the fastest, and not told where there is nothing to compare with", () => {
    const rows = [row(1, "tacos", 10), row(1, "nvls", 5, true), row(2, "tacos", 4, true), row(2, "themis", 9)];
    expect(told(rows)).toEqual([[1, "nvls", "nvls (8 trees)", "none"]]);
    expect(told([row(1, "ring", 3, true)])).toEqual([]);
  });

  it("is held against coarse models of what libraries have too, which is said", () => {
    const modelled = (algorithm: string, us: number, library?: string) => {
      const { sizeBytes, algbwGBps, busbwGBps, ofLimit } = row(1, algorithm, us);
      const how = library === undefined ? {} : { library };
      return { sizeBytes, algorithm, us, algbwGBps, busbwGBps, ofLimit, policy: "both ways", by: "one round", ...how };
    };
    const coarse = [modelled("ring", 30, "both ways"), modelled("mcf", 5)];
    const [gain] = gainsOf([row(1, "tacos", 10, true)], coarse);
    expect(gain).toMatchObject({ best: { algorithm: "tacos" }, how: "ring (both ways; coarse)", text: "3.00 x" });
    // where nothing has a schedule, the fastest by its model
    expect(gainsOf([], coarse)[0]).toMatchObject({ best: { algorithm: "mcf" }, us: 5, libraryUs: 30, text: "6.00 x" });
    expect(gainsOf([row(1, "tacos", 10, true)], [modelled("mcf", 5)])).toEqual([]);
  });

  it("is a tie within 1 %", () => {
    expect(told([row(1, "tacos", 100, true), row(1, "ring", 100.9)])).toEqual([
      [1, "tacos", "ring (natural order, both ways)", "tie"],
    ]);
    expect([100, 100.9, 101, 99.5, 98, 200].map((us) => gainText(us, 100))).toEqual([
      "tie",
      "tie",
      "1.01 x",
      "tie",
      "0.98 x",
      "2.00 x",
    ]);
  });
});
