import * as fc from "fast-check";
import { expect, it } from "vitest";
import { CancelledError, InfeasibleError, InternalError } from "../../src/base/errors.ts";
import type { ConcurrentProblem, Kernels } from "../../src/engine/contract/kernels.ts";
import { openHighs } from "../../src/engine/milp/highs.ts";
import { shareColumns } from "../../src/engine/pool/pool.ts";
import {
  brokenFlowLaws,
  concurrentOf,
  concurrentProblems,
  irregularProblem,
  rateByLp,
} from "../support/concurrent-problems.ts";
import { runs } from "../support/runs.ts";

/** What every backend's concurrent kernel must do. */
export function concurrentContract(kernels: Kernels): void {
  // 0 > 1 > 2 > 0 and 0 > 2
  const chord = concurrentOf(3, [
    [0, 1, 1],
    [0, 2, 1],
    [1, 2, 1],
    [2, 0, 1],
  ]);

  it("finds the rate of a ring: each link carries n(n - 1) / 2 distances", () => {
    const n = 9;
    const ring = concurrentOf(
      n,
      Array.from({ length: n }, (_, v) => [v, (v + 1) % n, 1] as const),
    );
    const { rate, bound, rounds } = kernels.concurrent(ring);
    expect([rate, bound, rounds]).toEqual([1 / 36, 1 / 36, 0]);
  });

  it("sends around what does not fit: a narrow link beside a wide detour", () => {
    const detour = concurrentOf(
      3,
      [
        [0, 1, 1],
        [0, 2, 3],
        [2, 1, 3],
        [1, 0, 9],
      ],
      { sources: Int32Array.of(0), sourceWeight: Float64Array.of(1), terminals: Uint8Array.of(1, 1, 0), gap: 1e-5 },
    );
    const { rate, bound } = kernels.concurrent(detour);
    expect(rate).toBeGreaterThan(4 * (1 - 1e-5));
    expect(rate).toBeLessThanOrEqual(4);
    expect(bound).toBeGreaterThanOrEqual(4);
  });

  it("lets a source stand for all: one of a ring of parallel links, as all of them", () => {
    const n = 6;
    const arcs = Array.from({ length: n }, (_, v) => [[v, (v + 1) % n, 1] as const, [v, (v + n - 1) % n, 2] as const]);
    const all = concurrentOf(n, arcs.flat(), { gap: 1e-6 });
    const one = {
      ...all,
      arcClass: all.arcClass.map((_, a) => a % 2),
      capacity: Float64Array.of(1, 2),
      sources: Int32Array.of(3),
      sourceWeight: Float64Array.of(n),
    };
    const [a, b] = [kernels.concurrent(all), kernels.concurrent(one)];
    expect(b.rate / a.rate).toBeCloseTo(1, 5);
    expect(b.bound).toBeGreaterThanOrEqual(a.rate);
    expect(a.bound).toBeGreaterThanOrEqual(b.rate);
  });

  it("meets the linear program with a flow for every pair on random networks; rates and bounds are what they are said to be", async () => {
    const lp = await openHighs();
    fc.assert(
      fc.property(concurrentProblems(5, 2e-3), (problem) => {
        const found = kernels.concurrent(problem);
        const best = rateByLp(problem, lp);
        expect(brokenFlowLaws(problem, found)).toEqual([]);
        expect(found.rate).toBeLessThanOrEqual(best * (1 + 1e-6));
        expect(found.bound).toBeGreaterThanOrEqual(best * (1 - 1e-6));
        if (found.rounds < problem.maxRounds) expect(found.bound).toBeLessThanOrEqual(found.rate * (1 + 2e-3));
      }),
      { numRuns: runs(40) },
    );
  });

  it("keeps its laws between the least and the greatest numbers", () => {
    const amount = fc.constantFrom(2 ** -53, 2 ** -30, 1, 2 ** 30, Number.MAX_SAFE_INTEGER);
    const four = fc.array(amount, { minLength: 4, maxLength: 4 });
    const nine = fc.array(fc.oneof(amount, fc.constant(0)), { minLength: 9, maxLength: 9 });
    fc.assert(
      fc.property(four, four, nine, (capacity, weight, demand) => {
        const { rate, bound, length } = kernels.concurrent({
          ...chord,
          capacity: Float64Array.from(capacity),
          sourceWeight: Float64Array.from(weight.slice(1)),
          demand: Float64Array.from(demand).with(1, weight[0]),
          maxRounds: 50,
        });
        expect(rate).toBeGreaterThan(0);
        expect(rate).toBeLessThan(Number.POSITIVE_INFINITY);
        expect(bound).toBeGreaterThanOrEqual(rate * (1 - 1e-12));
        expect(length.every((value) => value >= 0 && value <= 2 ** 30)).toBe(true);
      }),
      { numRuns: runs(100) },
    );
  });

  it("goes on where the tree leads through a node that is reached by long ways, with demands from 1 to 2^18", () => {
    const problem = concurrentOf(
      4,
      [
        ...([
          [0, 1, 7],
          [0, 2, 1],
          [0, 2, 2],
          [0, 3, 7],
          [1, 2, 4],
          [2, 3, 2],
        ] as const),
        ...([
          [2, 1, 9],
          [2, 0, 9],
          [3, 0, 3],
          [3, 2, 3],
          [3, 1, 9],
          [3, 2, 5],
        ] as const),
      ],
      { demand: Float64Array.of(0, 1, 512, 1024, 0, 0, 8192, 0, 1, 2 ** 18, 0, 2 ** 14, 0, 0, 512, 0), gap: 5e-3 },
    );
    const found = kernels.concurrent(problem);
    expect(found.rounds).toBeLessThan(1000);
    expect(found.bound).toBeLessThanOrEqual(found.rate * 1.005);
  });

  it("never loses what it has found: more rounds reach as much, and prove as much", () => {
    fc.assert(
      fc.property(fc.nat(999), fc.nat(60), fc.integer({ min: 1, max: 40 }), (seed, first, more) => {
        const few = kernels.concurrent(irregularProblem(seed, { gap: 1e-9, maxRounds: first }));
        const problem = irregularProblem(seed, { gap: 1e-9, maxRounds: first + more });
        const many = kernels.concurrent(problem);
        expect(many.rate).toBeGreaterThanOrEqual(few.rate);
        expect(many.bound).toBeLessThanOrEqual(few.bound);
        expect(brokenFlowLaws(problem, many)).toEqual([]);
      }),
      { numRuns: runs(60) },
    );
  });

  it.each([3, 12])("takes no step that makes loads greater: random network %i, once 138 and 32 % off", (seed) => {
    const { rate, bound } = kernels.concurrent(irregularProblem(seed, { gap: 1e-4, maxRounds: 1000, wantsFlow: 0 }));
    expect(bound / rate).toBeLessThan(1.01);
  });

  it("stops after so many rounds", () => {
    const problem = { ...chord, gap: 1e-300, maxRounds: 1 };
    const found = kernels.concurrent(problem);
    expect(found.rounds).toBe(1);
    expect(brokenFlowLaws(problem, found)).toEqual([]);
  });

  it("leaves a problem as it was, reads it in shared memory, stops when the cancel flag is set", () => {
    const copy = structuredClone(chord);
    expect(kernels.concurrent(shareColumns(chord))).toEqual(kernels.concurrent(chord));
    expect(chord).toEqual(copy);
    expect(() => kernels.concurrent(chord, Int32Array.of(1))).toThrow(CancelledError);
  });

  it("says that a demand has no path", () => {
    const oneWay = concurrentOf(2, [[0, 1, 1]]);
    expect(() => kernels.concurrent(oneWay)).toThrow(InfeasibleError);
    const { rate } = kernels.concurrent({ ...oneWay, demand: Float64Array.of(0, 4, 0, 0) });
    expect(rate).toBe(1 / 4);
  });

  it.each<[string, Partial<ConcurrentProblem>]>([
    ["no nodes", { nodeCount: 0, arcOffset: Int32Array.of(0), terminals: new Uint8Array() }],
    ["offsets that fall", { arcOffset: Int32Array.of(0, 3, 2, 4) }],
    ["too few offsets", { arcOffset: Int32Array.of(0, 2, 4) }],
    ["a target out of range", { arcTarget: Int32Array.of(1, 2, 3, 0) }],
    ["a class out of range", { arcClass: Int32Array.of(0, 1, 2, 4) }],
    ["a class without arcs", { arcClass: Int32Array.of(0, 1, 2, 2) }],
    ["too few classes", { arcClass: Int32Array.of(0, 1, 2) }],
    ["a capacity of 0", { capacity: Float64Array.of(1, 1, 0, 1) }],
    ["a capacity of NaN", { capacity: Float64Array.of(1, 1, Number.NaN, 1) }],
    ["a capacity so small that loads would be infinite", { capacity: Float64Array.of(1, 1, 5e-324, 1) }],
    ["no sources", { sources: new Int32Array(), sourceWeight: new Float64Array() }],
    ["a source out of range", { sources: Int32Array.of(0, 1, 3) }],
    ["a weight of 0", { sourceWeight: Float64Array.of(1, 0, 1) }],
    ["a weight so small that loads would be 0", { sourceWeight: Float64Array.of(1, 1e-300, 1) }],
    ["a capacity of 2^53", { capacity: Float64Array.of(1, 1, 2 ** 53, 1) }],
    ["a demand so small that loads would be 0", { demand: new Float64Array(9).fill(1).with(1, 5e-324) }],
    ["too many weights", { sourceWeight: new Float64Array(4).fill(1) }],
    ["a negative demand", { demand: new Float64Array(9).fill(1).with(1, -1) }],
    ["an infinite demand", { demand: new Float64Array(9).fill(1).with(1, Number.POSITIVE_INFINITY) }],
    ["no demand above 0", { demand: new Float64Array(9) }],
    ["demand of itself only", { demand: Float64Array.of(1, 0, 0, 0, 1, 0, 0, 0, 1) }],
    ["too few demands", { demand: new Float64Array(8) }],
    ["a terminal of 2", { terminals: Uint8Array.of(1, 1, 2) }],
    ["no terminals", { terminals: new Uint8Array(3) }],
    ["a gap of 0", { gap: 0 }],
    ["a gap of NaN", { gap: Number.NaN }],
    ["-1 rounds", { maxRounds: -1 }],
    ["half a flow", { wantsFlow: 0.5 }],
  ])("refuses a concurrent problem with %s", (_, part) => {
    expect(() => kernels.concurrent({ ...chord, ...part })).toThrow(InternalError);
  });
}
