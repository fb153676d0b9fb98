import * as fc from "fast-check";
import { expect, it } from "vitest";
import { CancelledError, InternalError } from "../../src/base/errors.ts";
import type { Kernels, RateProblem } from "../../src/engine/contract/kernels.ts";
import { shareColumns } from "../../src/engine/pool/pool.ts";
import { rational } from "../../src/model/numbers/rational.ts";
import { presetTopology } from "../../src/model/presets/preset.ts";
import {
  bothWays,
  brokenRateLaws,
  rateByOracle,
  rateOf,
  rateOfTopology,
  rateProblems,
} from "../support/rate-problems.ts";
import { runs } from "../support/runs.ts";

const star = (npus: number, capacity: number): RateProblem =>
  rateOf(npus, 1, bothWays(Array.from({ length: npus }, (_, v) => [v, npus, capacity] as const)));

/** What every backend's rate kernel must do. */
export function rateContract(kernels: Kernels): void {
  it("finds a link into an NPU to be the bottleneck of NPUs on one switch", () => {
    const { shards, capacity, cut } = kernels.rate(star(8, 25e9));
    expect({ shards, capacity }).toEqual({ shards: 7n, capacity: 25_000_000_000n });
    expect(cut).toEqual(Uint8Array.of(0, 1, 1, 1, 1, 1, 1, 1, 1));
  });

  it("finds the narrow link between two halves", () => {
    const half = (first: number): [number, number, number][] => [
      [first, first + 1, 10],
      [first + 1, first + 2, 10],
      [first + 2, first, 10],
    ];
    const { shards, capacity, cut } = kernels.rate(rateOf(6, 0, bothWays([...half(0), ...half(3), [2, 3, 1]])));
    expect({ shards, capacity }).toEqual({ shards: 3n, capacity: 1n });
    expect(cut.subarray(0, 3)).toEqual(new Uint8Array(3).fill(1 - cut[3]));
  });

  it.each([
    ["dgx-a100:1", 2400, 7],
    ["dgx-a100:2", 1040, 3],
    ["dgx-a100:3", 300, 1],
    ["dgx-a100:4", 800, 3],
    ["dgx-a100:5", 250, 1],
    ["dgx-a100:6", 240, 1],
    ["mi250:2", 5312, 15],
  ])("gathers on %s at %i/%i GB/s, as published", (preset, num, den) => {
    const problem = rateOfTopology(presetTopology(preset));
    const rate = kernels.rate(problem);
    expect(brokenRateLaws(problem, rate)).toEqual([]);
    expect(rational(BigInt(problem.npuCount) * rate.capacity, rate.shards * 10n ** 9n)).toEqual(rational(num, den));
  });

  it("counts what NPUs contribute", () => {
    const ring = bothWays([0, 1, 2, 3].map((v) => [v, (v + 1) % 4, 5] as const));
    // all 9 shards that NPU 2 lacks enter it over 10 units
    expect(kernels.rate(rateOf(4, 0, ring, [7, 1, 0, 1]))).toEqual({
      shards: 9n,
      capacity: 10n,
      cut: Uint8Array.of(1, 1, 0, 1),
    });
    // a broadcast
    expect(kernels.rate(rateOf(4, 0, ring, [0, 6, 0, 0]))).toMatchObject({ shards: 6n, capacity: 10n });
  });

  it("returns a cut that nothing leaves when an NPU cannot be reached", () => {
    const chain = rateOf(3, 1, [
      [0, 1, 5],
      [1, 0, 5],
      [1, 3, 5],
      [2, 3, 5],
      [2, 1, 5],
    ]);
    const rate = kernels.rate(chain);
    expect(rate).toMatchObject({ capacity: 0n });
    expect(rate.shards).toBeGreaterThan(0n);
    expect(brokenRateLaws(chain, rate)).toEqual([]);
    const parts = rateOf(
      4,
      0,
      bothWays([
        [0, 1, 1],
        [2, 3, 1],
      ]),
    );
    expect(kernels.rate(parts)).toEqual({ shards: 2n, capacity: 0n, cut: Uint8Array.of(0, 0, 1, 1) });
  });

  it.each([
    ["one NPU", rateOf(1, 0, []), 0n, 0n],
    ["one NPU on a switch", rateOf(1, 1, bothWays([[0, 1, 3]])), 0n, 3n],
    ["no links", rateOf(2, 0, []), 1n, 0n],
  ])("answers for %s", (_, problem, shards, capacity) => {
    expect(kernels.rate(problem)).toMatchObject({ shards, capacity });
  });

  it("stays exact beyond 64 bits", () => {
    const most = Number.MAX_SAFE_INTEGER;
    const problem = star(5, most);
    const heavy = {
      ...problem,
      capacity: problem.capacity.map((c, i) => c - i),
      weight: new Float64Array(5).fill(2 ** 50 - 1),
    };
    heavy.weight[3]--;
    const rate = kernels.rate(heavy);
    const { shards, capacity } = rateByOracle(heavy);
    expect(rate.shards * capacity).toBe(shards * rate.capacity);
    expect(kernels.rate({ ...problem, capacity: problem.capacity.map(() => most) })).toMatchObject({
      shards: 4n,
      capacity: BigInt(most),
    });
  });

  it("finds the greatest ratio of all cuts on random networks", () => {
    fc.assert(
      fc.property(rateProblems, (problem) => {
        const rate = kernels.rate(problem);
        const { shards, capacity } = rateByOracle(problem);
        expect(brokenRateLaws(problem, rate)).toEqual([]);
        expect([rate.shards * capacity, rate.capacity === 0n]).toEqual([shards * rate.capacity, capacity === 0n]);
      }),
      { numRuns: runs(500) },
    );
  });

  it("leaves a rate problem as it was, reads it in shared memory, stops when the cancel flag is set", () => {
    const problem = rateOfTopology(presetTopology("dgx-a100:3"));
    const copy = structuredClone(problem);
    expect(kernels.rate(shareColumns(problem))).toEqual(kernels.rate(problem));
    expect(problem).toEqual(copy);
    expect(() => kernels.rate(problem, Int32Array.of(1))).toThrow(CancelledError);
  });

  const good = star(3, 5);
  const links = good.capacity.length;
  it.each<[string, Partial<RateProblem>]>([
    ["no NPUs", { npuCount: 0, weight: new Float64Array(0) }],
    ["more NPUs than nodes", { nodeCount: 2 }],
    ["a fractional count", { nodeCount: 4.5 }],
    ["a link from node 4 of 4", { linkSource: new Int32Array(links).fill(4) }],
    ["a link to node -1", { linkTarget: new Int32Array(links).fill(-1) }],
    ["a link to itself", { linkTarget: good.linkSource }],
    ["a capacity of 0", { capacity: new Float64Array(links) }],
    ["a fractional capacity", { capacity: new Float64Array(links).fill(1.5) }],
    ["a NaN capacity", { capacity: new Float64Array(links).fill(Number.NaN) }],
    ["a capacity beyond exact integers", { capacity: new Float64Array(links).fill(2 ** 53) }],
    ["too few capacities", { capacity: new Float64Array(links - 1).fill(1) }],
    ["a negative weight", { weight: Float64Array.of(1, -1, 1) }],
    ["a fractional weight", { weight: Float64Array.of(1, 0.5, 1) }],
    ["weights that are all 0", { weight: new Float64Array(3) }],
    ["weights beyond exact integers", { weight: new Float64Array(3).fill(2 ** 52) }],
    ["too few weights", { weight: Float64Array.of(1, 1) }],
  ])("refuses a rate problem with %s", (_, part) => {
    expect(() => kernels.rate({ ...good, ...part })).toThrow(InternalError);
  });
}
