import * as fc from "fast-check";
import { expect, it } from "vitest";
import { CancelledError, InfeasibleError, InternalError } from "../../src/base/errors.ts";
import type { ArborescenceProblem, Kernels } from "../../src/engine/contract/kernels.ts";
import { shareColumns } from "../../src/engine/pool/pool.ts";
import {
  type ArcRow,
  arborescenceOf,
  arborescenceProblems,
  costOfArcs,
  leastCostByOracle,
} from "../support/arborescence-problems.ts";
import { runs } from "../support/runs.ts";

/** What every backend's arborescence kernel must do. */
export function arborescenceContract(kernels: Kernels): void {
  // 1 and 2 are cheapest from each other
  const pair: ArcRow[] = [
    [0, 1, 10],
    [0, 2, 9],
    [1, 2, 1],
    [2, 1, 3],
  ];

  it("opens a circle where that costs least", () => {
    expect(kernels.arborescence(arborescenceOf(3, 0, pair))).toEqual(Int32Array.of(-1, 0, 2));
  });

  it("opens circles within circles", () => {
    const arcs: ArcRow[] = [...pair.slice(2), [3, 1, 6], [2, 3, 2], [4, 3, 1], [3, 4, 1], [0, 4, 50], [0, 2, 48]];
    const problem = arborescenceOf(5, 0, arcs);
    const arc = kernels.arborescence(problem);
    expect([costOfArcs(problem, arc), leastCostByOracle(problem)]).toEqual([54, 54]);
  });

  it("takes the least of arcs that cost the same", () => {
    const arcs: ArcRow[] = [
      [1, 0, 0],
      [0, 1, 2],
      [0, 1, 2],
      [1, 1, 0],
    ];
    expect(kernels.arborescence(arborescenceOf(2, 0, arcs))).toEqual(Int32Array.of(-1, 1));
  });

  it("answers for one node", () => {
    expect(kernels.arborescence(arborescenceOf(1, 0, []))).toEqual(Int32Array.of(-1));
  });

  it("stays exact up to 2^53 - 1", () => {
    const most = Math.floor(Number.MAX_SAFE_INTEGER / 3);
    const problem = arborescenceOf(3, 2, [
      [2, 0, most],
      [2, 1, most - 1],
      [0, 1, most - 2],
      [1, 0, most],
    ]);
    expect(kernels.arborescence(problem)).toEqual(Int32Array.of(0, 2, -1));
  });

  it("names the least node that cannot be reached", () => {
    const problem = arborescenceOf(4, 1, [
      [1, 0, 1],
      [2, 3, 1],
      [3, 2, 1],
      [2, 0, 0],
    ]);
    expect(() => kernels.arborescence(problem)).toThrow(InfeasibleError);
    expect(() => kernels.arborescence(problem)).toThrow("node 2 cannot be reached from node 1");
  });

  it("finds the cheapest of all arborescences of random graphs, or that there is none", () => {
    fc.assert(
      fc.property(arborescenceProblems(), (problem) => {
        const least = leastCostByOracle(problem);
        if (least === Number.POSITIVE_INFINITY) expect(() => kernels.arborescence(problem)).toThrow(InfeasibleError);
        else expect(costOfArcs(problem, kernels.arborescence(problem))).toBe(least);
      }),
      { numRuns: runs(400) },
    );
  });

  it("does not recurse: a chain of circles, each within the next", () => {
    const nodes = 20_000;
    const arcs: ArcRow[] = Array.from({ length: nodes - 2 }, (_, i) => [
      [i + 2, i + 1, 1] as const,
      [i + 1, i + 2, 1] as const,
    ]).flat();
    const problem = arborescenceOf(nodes, 0, [...arcs, [0, nodes - 1, 5]]);
    expect(kernels.arborescence(problem).subarray(1)).toEqual(Int32Array.from({ length: nodes - 1 }, (_, i) => 2 * i));
  });

  it("leaves an arborescence problem as it was, reads it in shared memory, stops when the cancel flag is set", () => {
    const problem = arborescenceOf(3, 0, pair);
    const copy = structuredClone(problem);
    expect(kernels.arborescence(shareColumns(problem))).toEqual(kernels.arborescence(problem));
    expect(problem).toEqual(copy);
    expect(() => kernels.arborescence(problem, Int32Array.of(1))).toThrow(CancelledError);
  });

  const good = arborescenceOf(3, 0, pair);
  it.each<[string, Partial<ArborescenceProblem>]>([
    ["no nodes", { nodeCount: 0 }],
    ["a fractional count", { nodeCount: 3.5 }],
    ["a root out of range", { root: 3 }],
    ["a root of -1", { root: -1 }],
    ["an arc from node 3 of 3", { arcSource: Int32Array.of(0, 0, 1, 3) }],
    ["an arc to node -1", { arcTarget: Int32Array.of(1, 2, 2, -1) }],
    ["too few targets", { arcTarget: Int32Array.of(1, 2, 2) }],
    ["a negative cost", { cost: Float64Array.of(1, 1, -1, 1) }],
    ["a fractional cost", { cost: Float64Array.of(1, 1, 0.5, 1) }],
    ["a NaN cost", { cost: Float64Array.of(1, 1, Number.NaN, 1) }],
    ["costs that add up beyond exact integers", { cost: new Float64Array(4).fill(2 ** 52) }],
    ["too many costs", { cost: new Float64Array(5) }],
  ])("refuses an arborescence problem with %s", (_, part) => {
    expect(() => kernels.arborescence({ ...good, ...part })).toThrow(InternalError);
  });
}
