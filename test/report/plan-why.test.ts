import { describe, expect, it } from "vitest";
import { type HandRow, handText, mainHands, nextCostText, whyNotText } from "../../src/report/plan-why.ts";

const ROW: HandRow = {
  name: "16 data",
  mesh: [{ name: "A", size: 16 }],
  stages: 1,
  passes: 1,
  remaking: "none",
  memoryBytes: 2 ** 30,
  us: 1200,
  isSimulated: true,
  moreUs: 200,
  moreComputeUs: 0,
  moreWaitUs: {},
};
const BEST = { us: 1000, computeUs: 800 };
const axes = (...sizes: number[]) => ({ axes: sizes.map((size, j) => ({ name: "AB"[j] as string, size })) });

describe("why a hand-made plan is not the plan", () => {
  it.each<[string, Partial<HandRow>, string]>([
    ["memory", { us: null, moreUs: null, memoryBytes: 212 * 2 ** 30 }, "does not fit: needs 212 GiB"],
    ["memory that is not known", { us: null, moreUs: null, memoryBytes: null }, "does not fit"],
    ["waiting", { moreWaitUs: { A: 50, B: 150, "A x B": -3 } }, "waits 150 us more on B, 50 us more on A"],
    ["stages", { moreWaitUs: { "other stages": 200 } }, "waits 200 us more for other stages"],
    ["computing", { moreComputeUs: 200, remaking: "most" }, "computes 25 % more, with what is made again"],
    ["both", { moreComputeUs: 40, moreWaitUs: { A: 160 } }, "waits 160 us more on A, computes 5 % more"],
    ["what is not known", { moreComputeUs: null }, "takes 200 us more"],
    ["nothing", { moreUs: 0.5, moreComputeUs: 0.5 }, "takes as long"],
    ["a count that is no simulation", { moreUs: -5, isSimulated: false }, "counts as little"],
  ])("is %s", (_, row, text) => {
    expect(whyNotText({ ...ROW, ...row }, BEST)).toBe(text);
  });

  it("is told of those of one use before mixtures, of which the fastest has a line, in the order of all", () => {
    const rows = ["2 data x 8 tensor", "16 data", "2 tensor x 8 data", "16 tensor", "16 expert"].map((name) => ({
      ...ROW,
      name,
    }));
    expect(mainHands(rows, 3).map(({ name }) => name)).toEqual(["2 data x 8 tensor", "16 data", "16 tensor"]);
    expect(mainHands(rows, 9)).toEqual(rows);
  });

  it("names uses with their NPUs, what is shared, and stages", () => {
    const one = { stages: 1, mesh: axes(16, 8) };
    expect(handText({ uses: ["data", "tensor"], sharing: "parameters" }, one)).toBe(
      "16 data x 8 tensor, parameters shared (FSDP)",
    );
    expect(handText({ uses: ["data", "data"], sharing: "optimizer" }, one)).toBe("128 data, optimizer shared (ZeRO)");
    expect(handText({ uses: ["tensor", "tensor"], sharing: "optimizer" }, one)).toBe("128 tensor");
    expect(handText({ uses: ["nothing"], sharing: "none" }, { stages: 4, mesh: axes(1) })).toBe("4 stages");
  });
});

describe("what the next best state of a tensor would cost", () => {
  const next = (us: number, bytes: number, fits: boolean) =>
    nextCostText({
      stage: 1,
      name: "weights",
      count: 2,
      of: "parameter",
      now: { lies: "width", retention: "kept" },
      instead: { lies: "whole", retention: "kept" },
      us,
      bytes,
      fits,
    });
  it("is memory and time, more or less, and whether it fits", () => {
    expect(next(-3.5, 2 ** 30, false)).toBe("1 GiB more, 3.5 us less: does not fit");
    expect(next(12, 0, true)).toBe("12 us more");
    expect(next(0, 0, true)).toBe("the same");
  });
});
