import * as fc from "fast-check";
import { expect, it } from "vitest";
import { CancelledError, InternalError } from "../../src/base/errors.ts";
import type { Kernels, SweepProblem } from "../../src/engine/contract/kernels.ts";
import { shareColumns } from "../../src/engine/pool/pool.ts";
import { runs } from "../support/runs.ts";
import { sweepOf, sweepProblems, sweptByOracle } from "../support/sweep-problems.ts";

/** What every backend's sweep kernel must do. */
export function sweepContract(kernels: Kernels): void {
  // 0 > 1 > 2 and 0 > 2
  const triangle = sweepOf(
    [5, 1, 0],
    [
      [0, 1, 2],
      [1, 2, 9],
      [0, 2, 1],
    ],
  );

  it("gives every sink what all the others and the sink itself are fed, as far as links carry it", () => {
    expect(kernels.sweep(triangle)).toEqual(Float64Array.of(5, 3, 4));
  });

  it("takes back each flow before the next: the same sink gets the same again", () => {
    expect(kernels.sweep({ ...triangle, sinks: Int32Array.of(2, 1, 2, 2, 1) })).toEqual(Float64Array.of(4, 3, 4, 4, 3));
  });

  it.each([
    ["no sinks", { ...triangle, sinks: new Int32Array() }, []],
    ["one node", sweepOf([7], []), [7]],
    ["links without capacity", sweepOf([3, 0], [[0, 1, 0]]), [3, 0]],
    [
      "parallel links both ways",
      sweepOf(
        [9, 0],
        [
          [0, 1, 2],
          [1, 0, 5],
          [0, 1, 4],
        ],
      ),
      [9, 6],
    ],
  ] as const)("answers for %s", (_, problem, flows) => {
    expect(kernels.sweep(problem)).toEqual(Float64Array.from(flows));
  });

  it("stays exact up to 2^53 - 1", () => {
    const half = 2 ** 51;
    expect(
      kernels.sweep(
        sweepOf(
          [half + 1, 0, half - 1],
          [
            [0, 1, half],
            [2, 1, half - 1],
          ],
          [1],
        ),
      ),
    ).toEqual(Float64Array.of(2 ** 52 - 1));
  });

  it("gives the maximum flows of random networks", () => {
    fc.assert(
      fc.property(sweepProblems(), (problem) => {
        expect(kernels.sweep(problem)).toEqual(sweptByOracle(problem));
      }),
      { numRuns: runs(400) },
    );
  });

  it("leaves a sweep problem as it was, reads it in shared memory, stops when the cancel flag is set", () => {
    const copy = structuredClone(triangle);
    expect(kernels.sweep(shareColumns(triangle))).toEqual(kernels.sweep(triangle));
    expect(triangle).toEqual(copy);
    expect(() => kernels.sweep(triangle, Int32Array.of(1))).toThrow(CancelledError);
  });

  it.each<[string, Partial<SweepProblem>]>([
    ["no nodes", { nodeCount: 0, supply: new Float64Array(0) }],
    ["a fractional count", { nodeCount: 3.5 }],
    ["a link from node 3 of 3", { linkSource: Int32Array.of(0, 1, 3) }],
    ["a link to node -1", { linkTarget: Int32Array.of(1, 2, -1) }],
    ["a link to itself", { linkTarget: triangle.linkSource }],
    ["too few targets", { linkTarget: Int32Array.of(1, 2) }],
    ["a negative capacity", { capacity: Float64Array.of(1, -1, 1) }],
    ["a fractional capacity", { capacity: Float64Array.of(1, 0.5, 1) }],
    ["too few capacities", { capacity: Float64Array.of(1, 1) }],
    ["a negative supply", { supply: Float64Array.of(1, -1, 1) }],
    ["a NaN supply", { supply: Float64Array.of(1, Number.NaN, 1) }],
    ["too many supplies", { supply: new Float64Array(4) }],
    ["capacities and supplies beyond exact integers", { supply: new Float64Array(3).fill(2 ** 52) }],
    ["a sink out of range", { sinks: Int32Array.of(0, 3) }],
    ["a negative sink", { sinks: Int32Array.of(-1) }],
  ])("refuses a sweep problem with %s", (_, part) => {
    expect(() => kernels.sweep({ ...triangle, ...part })).toThrow(InternalError);
  });
}
