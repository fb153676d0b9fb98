import * as fc from "fast-check";
import { expect, it } from "vitest";
import { CancelledError, InfeasibleError, InternalError } from "../../src/base/errors.ts";
import { type BalanceProblem, balanceRows, type Kernels } from "../../src/engine/contract/kernels.ts";
import { openHighs } from "../../src/engine/milp/highs.ts";
import { shareColumns } from "../../src/engine/pool/pool.ts";
import { leastLoadByLp } from "../support/balance-lp.ts";
import {
  type Arc,
  balanceProblem,
  balanceProblems,
  bandwidthTime,
  brokenShareLaws,
  completeArcs,
  hypercubeArcs,
  kautzArcs,
  loadsByOracle,
  rowsOf,
  stepsTo,
  torusArcs,
} from "../support/balance-problems.ts";
import { runs } from "../support/runs.ts";

/** What every backend's balance kernel must do. */
export function balanceContract(kernels: Kernels): void {
  const balanced = (problem: BalanceProblem) => {
    const balance = kernels.balance(problem);
    if (balance === null) throw new Error("too little room");
    return balance;
  };
  // Zhao 2026, figure 3.5: v1 (0) reaches u2 (5) over w1, w2 (2, 3), v2 (1) over w2, w3 (3, 4).
  const figure: Arc[] = [
    [0, 2],
    [0, 3],
    [1, 3],
    [1, 4],
    [2, 5],
    [3, 5],
    [4, 5],
  ];
  const one = balanceProblem(6, figure, { targets: Int32Array.of(5) });
  const back = balanceProblem(6, [...figure, ...[0, 1, 2, 3, 4].map((v): Arc => [5, v])]);

  it("balances the example of figure 3.5: two shards over three ports", () => {
    expect(balanced(one)).toMatchObject({
      steps: 2,
      loadNum: Int32Array.of(1, 2),
      loadDen: Int32Array.of(1, 3),
      worst: Int32Array.of(5, 5),
    });
    const shares = balanced({ ...one, parts: 3, wantsShares: 1, maxRows: 20 });
    expect(rowsOf(shares, 0).filter(({ step }) => step === 2)).toEqual([
      { step: 2, port: 0, source: 0, from: 0, to: 2 },
      { step: 2, port: 1, source: 0, from: 2, to: 3 },
      { step: 2, port: 1, source: 1, from: 0, to: 1 },
      { step: 2, port: 2, source: 1, from: 1, to: 3 },
    ]);
  });

  // Zhao 2026, table A.1 and A.6.
  it.each<[string, readonly Arc[], number, number, number, number]>([
    ["Pi(4,64)", kautzArcs(4, 64), 4, 64, 3, 1.3125],
    ["Pi(4,1024)", kautzArcs(4, 1024), 4, 1024, 5, 1.33203125],
    ["DBJ(4,4)", Array.from({ length: 1024 }, (_, i): Arc => [i >> 2, i % 256]), 4, 256, 4, 1.328125],
    ["a hypercube of 9 dimensions", hypercubeArcs(9), 9, 512, 9, 511 / 512],
    ["a torus", torusArcs(9, 6), 4, 54, 7, 53 / 54],
    ["K80", completeArcs(80), 79, 80, 1, 79 / 80],
  ])("gives T_L and T_B of %s", (_, arcs, degree, nodes, steps, time) => {
    const balance = balanced(balanceProblem(nodes, arcs));
    expect(balance.steps).toBe(steps);
    expect(bandwidthTime(balance, degree, nodes)).toBeCloseTo(time, 12);
  });

  it.each<[string, BalanceProblem, number]>([
    ["no targets", { ...one, targets: new Int32Array() }, 0],
    ["one node", balanceProblem(1, []), 0],
    ["one node with a self-loop", balanceProblem(1, [[0, 0]]), 0],
  ])("needs no step for %s", (_, problem, steps) => {
    expect(balanced(problem)).toMatchObject({ steps, rowOffset: new Float64Array(problem.targets.length + 1) });
  });

  it("splits a shard over parallel arcs", () => {
    const pair = balanceProblem(
      2,
      [
        [0, 1],
        [0, 1],
        [1, 0],
      ],
      { parts: 3 },
    );
    expect(balanced(pair)).toMatchObject({ loadNum: Int32Array.of(3), worst: Int32Array.of(0) });
    const target = { ...pair, targets: Int32Array.of(1) };
    expect(balanced({ ...target, parts: 0 })).toMatchObject({ loadNum: Int32Array.of(1), loadDen: Int32Array.of(2) });
    const shares = balanced({ ...target, wantsShares: 1, maxRows: 2 });
    expect(rowsOf(shares, 0)).toEqual([
      { step: 1, port: 0, source: 0, from: 0, to: 2 },
      { step: 1, port: 1, source: 0, from: 2, to: 3 },
    ]);
  });

  it("gives the loads of the definition on random graphs, with few ports and with more than eight", () => {
    const both = fc.oneof(
      balanceProblems({ mostNodes: 12, density: 3 }),
      balanceProblems({ mostNodes: 9, density: 9 }),
    );
    fc.assert(
      fc.property(both, (problem) => {
        expect(balanced(problem)).toMatchObject(loadsByOracle(problem));
      }),
      { numRuns: runs(300) },
    );
  });

  it("gives the optimum of LP (3.1) on random graphs", async () => {
    const solver = await openHighs();
    fc.assert(
      fc.property(balanceProblems({ mostNodes: 8, density: 4 }), (problem) => {
        for (const target of problem.targets) {
          const { steps, loadNum, loadDen } = balanced({
            ...problem,
            ...{ targets: Int32Array.of(target), parts: 0, wantsShares: 0 },
          });
          const byLp = stepsTo(problem, target).map((shards) => leastLoadByLp(solver, shards));
          expect(steps).toBe(byLp.length);
          byLp.forEach((load, i) => {
            expect(loadNum[i] / loadDen[i]).toBeCloseTo(load, 7);
          });
        }
      }),
      { numRuns: runs(40) },
    );
  });

  it("shares out every part once, over shortest paths, with least loads and few cuts", () => {
    fc.assert(
      fc.property(balanceProblems({ mostNodes: 14, density: 4 }), fc.integer({ min: 1, max: 60 }), (drawn, parts) => {
        const problem = { ...drawn, parts, wantsShares: 1 };
        expect(brokenShareLaws(problem, balanced({ ...problem, maxRows: balanceRows(problem) }))).toEqual([]);
      }),
      { numRuns: runs(200) },
    );
  });

  it("stays within theorem 20 of the loads without parts, and above them", () => {
    fc.assert(
      fc.property(balanceProblems({ mostNodes: 30, density: 5 }), fc.integer({ min: 1, max: 40 }), (drawn, parts) => {
        const whole = balanced({ ...drawn, parts: 0, wantsShares: 0 });
        const { loadNum } = balanced({ ...drawn, parts, wantsShares: 0 });
        loadNum.forEach((load, step) => {
          const ideal = (parts * whole.loadNum[step]) / whole.loadDen[step];
          expect(load).toBeGreaterThanOrEqual(ideal);
          expect(load).toBeLessThan(ideal + 1);
        });
      }),
      { numRuns: runs(200) },
    );
  });

  it("returns null when there is too little room for steps or rows", () => {
    expect(kernels.balance({ ...one, maxSteps: 1 })).toBeNull();
    expect(kernels.balance({ ...one, maxSteps: 2 })).not.toBeNull();
    const shares = { ...back, parts: 4, wantsShares: 1, maxSteps: 3 };
    const enough = balanceRows(shares);
    expect(kernels.balance({ ...shares, maxRows: enough })).not.toBeNull();
    expect(kernels.balance({ ...shares, maxRows: enough - 1 })).toBeNull();
  });

  it("names the first target that cannot be reached, and the least node that is cut off", () => {
    const problem = balanceProblem(6, figure);
    expect(() => kernels.balance(problem)).toThrow(InfeasibleError);
    expect(() => kernels.balance(problem)).toThrow("node 0 cannot be reached from node 1");
    const late = { ...problem, targets: Int32Array.of(4, 5) };
    expect(() => kernels.balance(late)).toThrow("node 4 cannot be reached from node 0");
  });

  it("refuses masks of more than 2 GiB: 300,000 nodes and a target of 65,535 ports", () => {
    const inOffset = new Int32Array(300_001).fill(65_535);
    inOffset[0] = 0;
    const many = {
      ...one,
      nodeCount: 300_000,
      inOffset,
      inSource: new Int32Array(65_535).fill(1),
      targets: Int32Array.of(0),
    };
    expect(() => kernels.balance(many)).toThrow("a kernel ran out of memory");
  });

  it("balances nothing: no targets, a node by itself, a node with loops only", () => {
    const none = kernels.balance({ ...one, targets: new Int32Array() });
    expect([none?.steps, none?.rowOffset.length]).toEqual([0, 1]);
    const alone = {
      ...one,
      nodeCount: 1,
      inOffset: Int32Array.of(0, 2),
      inSource: new Int32Array(2),
      targets: Int32Array.of(0),
    };
    expect(kernels.balance(alone)?.steps).toBe(0);
    const shared = kernels.balance({ ...alone, parts: 32767, wantsShares: 1, maxRows: 0 });
    expect([shared?.steps, ...(shared?.rowOffset ?? [])]).toEqual([0, 0, 0]);
  });

  it("leaves a balance problem as it was, reads it in shared memory, stops when the cancel flag is set", () => {
    const copy = structuredClone(back);
    expect(kernels.balance(shareColumns(back))).toEqual(kernels.balance(back));
    expect(back).toEqual(copy);
    expect(() => kernels.balance(back, Int32Array.of(1))).toThrow(CancelledError);
  });

  it.each<[string, Partial<BalanceProblem>]>([
    ["no nodes", { nodeCount: 0, inOffset: new Int32Array(1) }],
    ["a fractional count", { nodeCount: 5.5 }],
    ["too few offsets", { inOffset: new Int32Array(6) }],
    ["offsets that fall", { inOffset: Int32Array.of(0, 0, 3, 1, 3, 4, 7) }],
    ["offsets that end early", { inOffset: Int32Array.of(0, 0, 0, 1, 3, 4, 6) }],
    ["an arc from node 6 of 6", { inSource: Int32Array.of(0, 0, 1, 1, 2, 3, 6) }],
    ["an arc from node -1", { inSource: Int32Array.of(0, 0, 1, 1, 2, 3, -1) }],
    ["a target out of range", { targets: Int32Array.of(6) }],
    ["a negative target", { targets: Int32Array.of(-1) }],
    ["targets that do not ascend", { targets: Int32Array.of(5, 5) }],
    ["negative parts", { parts: -1 }],
    ["too many parts", { parts: 32768 }],
    ["shares without parts", { wantsShares: 1 }],
    ["a wish for shares of 2", { wantsShares: 2, parts: 1 }],
    ["no threads", { threads: 0 }],
    ["room for -1 steps", { maxSteps: -1 }],
    ["room for too many steps", { maxSteps: 65536 }],
    ["room for -1 rows", { maxRows: -1 }],
  ])("refuses a balance problem with %s", (_, part) => {
    expect(() => kernels.balance({ ...one, ...part })).toThrow(InternalError);
  });
}
