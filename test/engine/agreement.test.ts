import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { InfeasibleError } from "../../src/base/errors.ts";
import type { BalanceProblem, Kernels, MatchProblem } from "../../src/engine/contract/kernels.ts";
import { presetTopology } from "../../src/model/presets/preset.ts";
import { REPLAY_MODE } from "../../src/model/replay/problem.ts";
import { arborescenceProblems } from "../support/arborescence-problems.ts";
import { availableKernels } from "../support/backends.ts";
import { balanceProblem, balanceProblems, hypercubeArcs, kautzArcs, torusArcs } from "../support/balance-problems.ts";
import { concurrentProblems } from "../support/concurrent-problems.ts";
import { foldedProblems, mapColumns } from "../support/folded-problems.ts";
import { allGather, matchProblems, mesh, networkOf, relayProblems, type Sharing } from "../support/networks.ts";
import { type PackSettings, packOfPreset, packProblems } from "../support/pack-problems.ts";
import { partitionOfTopology, partitionProblems } from "../support/partition-problems.ts";
import { periodProblems } from "../support/period-problems.ts";
import { placeProblems } from "../support/place-problems.ts";
import { rateOfTopology, rateProblems } from "../support/rate-problems.ts";
import { replayProblems } from "../support/replay-problems.ts";
import { quick, runs, triesAll } from "../support/runs.ts";
import { spreadOf } from "../support/spread-problems.ts";
import { sweepProblems } from "../support/sweep-problems.ts";

const all = await availableKernels();
const names = all.map(({ backend }) => backend).join(", ");
const torus = (width: number, height: number) => {
  const at = (x: number, y: number): number => ((x + width) % width) + width * ((y + height) % height);
  const steps = [
    [1, 0],
    [-1, 0],
    [0, 1],
    [0, -1],
  ] as const;
  const routes = Array.from({ length: width * height }, (_, v) =>
    steps.map(([dx, dy]) => ({ source: v, target: at((v % width) + dx, Math.floor(v / width) + dy), slotPs: 1000 })),
  );
  return networkOf(width * height, routes.flat());
};
const RULE = { choice: 1, window: 8, lateLimit: 1000, seed: 3 };
const NEWEST = { novelty: 1, overtaking: 1, lateLimit: 1000, seed: 7, choice: 3 };
const thirds = (npus: number) => Uint8Array.from({ length: npus }, (_, npu) => (npu % 3 === 0 ? 1 : 0));
const MIXED = { novelty: 1, overtaking: 1, lateLimit: 1000, seed: 7 };

/** Returns an all-gather on a mesh 12 wide whose last column does not want every ninth chunk. */
function partly(): MatchProblem {
  const problem = allGather(mesh(12, 9, 1500, 1000), 2, MIXED);
  const words = (problem.chunkCount + 31) >>> 5;
  const wanted = new Uint32Array(problem.network.npuCount * words).fill(0xffffffff);
  for (let v = 11; v < problem.network.npuCount; v += 12) {
    for (let c = 0; c < problem.chunkCount; c += 9) wanted[v * words + (c >>> 5)] &= ~(1 << (c & 31));
  }
  for (let v = 0; v < problem.network.npuCount; v++) wanted[(v + 1) * words - 1] &= 2 ** (problem.chunkCount % 32) - 1;
  return { ...problem, wanted };
}

/** Returns a problem with many chunks on a mesh, one in a thousand of them wanted: bits that outgrow the caches. */
function sparse(): MatchProblem {
  const problem = allGather(mesh(25, 24, 1000, 1500), 100, MIXED);
  const words = (problem.chunkCount + 31) >>> 5;
  const wanted = new Uint32Array(problem.network.npuCount * words);
  for (let v = 0; v < problem.network.npuCount; v++) {
    for (let c = 7; c < problem.chunkCount; c += 1000) wanted[v * words + (c >>> 5)] |= 1 << (c & 31);
  }
  return { ...problem, wanted };
}

/** Numbers of threads that must not matter. */
const threadsOf = ({ backend }: Kernels): readonly number[] => {
  if (triesAll) return [1, 2, 3];
  return backend === all[0]?.backend ? [1, 3] : [1];
};
const SHARINGS: readonly Sharing[] = ["none", "ports", "mixed", "arbitrary"];

const CASES = quick<readonly [string, MatchProblem]>(
  [
    ["a mesh of one speed, oldest chunk first", allGather(mesh(12, 12))],
    ["a mesh of two speeds", allGather(mesh(12, 9, 1000, 1500), 2, { novelty: 1, overtaking: 1, seed: 7 })],
    ["speeds far apart, the rarest of eight", allGather(mesh(9, 13, 3000, 160), 3, { ...MIXED, choice: 2, window: 8 })],
    ["speeds far apart, the newest", allGather(mesh(13, 9, 3000, 160), 2, { ...MIXED, choice: 3 })],
    ["NPUs that want a part", partly()],
    ["bits that outgrow the caches", sparse()],
    ["the neighbour rule", allGather(mesh(10, 10), 1, RULE)],
    ["the neighbour rule at every third NPU", { ...allGather(mesh(10, 10), 1, RULE), choosers: thirds(100) }],
    [
      "the newest at every third NPU, two speeds",
      { ...allGather(mesh(9, 13, 3000, 160), 2, NEWEST), choosers: thirds(117) },
    ],
    ["what is two steps away", allGather(mesh(9, 7), 2, { choice: 4, window: 999, lateLimit: 1000, seed: 3 })],
  ],
  ([title]) => !["speeds far apart, the newest", "bits that outgrow the caches"].includes(title),
);

/** Returns what a call gave in comparable form: the columns, or the sentence and witness of an infeasible problem. */
function outcome(call: () => unknown): unknown {
  try {
    return call();
  } catch (error) {
    if (error instanceof InfeasibleError) return { message: error.message, witness: error.witness };
    throw error;
  }
}

describe(`the backends ${names} give the same bits`, () => {
  it("for random replays, rows that no plan has among them", () => {
    fc.assert(
      fc.property(replayProblems(Object.values(REPLAY_MODE), 400, true), (problem) => {
        const [first, ...others] = all.map((kernels) => kernels.replay(problem));
        for (const other of others) expect(other).toEqual(first);
      }),
      { numRuns: runs(600) },
    );
  });

  it("for random match problems", () => {
    fc.assert(
      fc.property(matchProblems(SHARINGS), (problem) => {
        const [first, ...others] = all.map((kernels) => outcome(() => kernels.match(problem)));
        for (const other of others) expect(other).toEqual(first);
      }),
      { numRuns: runs(600) },
    );
  });

  it("for random problems in slots, with one to three threads", () => {
    fc.assert(
      fc.property(matchProblems(["none"]), (problem) => {
        const [first, ...others] = all.flatMap((kernels) =>
          threadsOf(kernels).map((threads) => outcome(() => kernels.spread(spreadOf(problem, 300, threads)))),
        );
        for (const other of others) expect(other).toEqual(first);
      }),
      { numRuns: runs(200) },
    );
  });

  it("for random problems with maps onto themselves", () => {
    fc.assert(
      fc.property(foldedProblems, ({ problem, maps }) => {
        const [first, ...others] = all.map((kernels) => kernels.match({ ...problem, maps: mapColumns(maps) }));
        for (const other of others) expect(other).toEqual(first);
      }),
      { numRuns: runs(300) },
    );
  });

  it("for random problems in slots with maps onto themselves, with one to three threads", () => {
    fc.assert(
      fc.property(foldedProblems, ({ problem, maps }) => {
        const columns = mapColumns(maps);
        const [first, ...others] = all.flatMap((kernels) =>
          threadsOf(kernels).map((threads) => kernels.spread({ ...spreadOf(problem, 300, threads), maps: columns })),
        );
        for (const other of others) expect(other).toEqual(first);
      }),
      { numRuns: runs(200) },
    );
  });

  it.each([0, 1, 2, 3, 4])("for a mesh and a torus in slots, choice %i, with one to three threads", (choice) => {
    for (const network of quick([mesh(13, 11), torus(8, 8)], (_, i) => i === choice % 2)) {
      const problem = allGather(network, 1, { choice, window: 8, lateLimit: 20, seed: 5 });
      const [first, ...others] = all.flatMap((kernels) =>
        threadsOf(kernels).map((threads) => kernels.spread(spreadOf(problem, 300, threads))),
      );
      for (const other of others) expect(other).toEqual(first);
    }
  });

  it("for random relay problems", () => {
    fc.assert(
      fc.property(relayProblems(SHARINGS), (problem) => {
        const [first, ...others] = all.map((kernels) => outcome(() => kernels.relay(problem)));
        for (const other of others) expect(other).toEqual(first);
      }),
      { numRuns: runs(400) },
    );
  });

  it("for random place problems", () => {
    fc.assert(
      fc.property(placeProblems(SHARINGS, 200), (problem) => {
        const [first, ...others] = all.map((kernels) => kernels.place(problem));
        for (const other of others) expect(other).toEqual(first);
      }),
      { numRuns: runs(400) },
    );
  });

  it("for random rate problems", () => {
    fc.assert(
      fc.property(rateProblems, (problem) => {
        const [first, ...others] = all.map((kernels) => kernels.rate(problem));
        for (const other of others) expect(other).toEqual(first);
      }),
      { numRuns: runs(600) },
    );
  });

  it("for random pack problems", () => {
    fc.assert(
      fc.property(packProblems(9), (problem) => {
        const [first, ...others] = all.map((kernels) => kernels.pack(problem));
        for (const other of others) expect(other).toEqual(first);
      }),
      { numRuns: runs(300) },
    );
  });

  it.each<[string, PackSettings]>([
    ["dgx-a100:3", { repairs: 40, scheduled: true }],
    ["mi250:2", { repairs: 40, loadPrice: 1000 }],
    ["torus:7x6", { repairs: 20 }],
    ["fat-tree:16x4,leaf=4,tiers=2,oversub=2@450,50GB/s", { seed: 3 }],
  ])("for the trees of %s", (preset, settings) => {
    const [first, ...others] = all.map((kernels) => kernels.pack(packOfPreset(preset, kernels, settings)));
    for (const other of others) expect(other).toEqual(first);
  });

  it("for random sweep problems", () => {
    fc.assert(
      fc.property(sweepProblems(40), (problem) => {
        const [first, ...others] = all.map((kernels) => kernels.sweep(problem));
        for (const other of others) expect(other).toEqual(first);
      }),
      { numRuns: runs(300) },
    );
  });

  it("for random partition problems", () => {
    fc.assert(
      fc.property(partitionProblems, (problem) => {
        const [first, ...others] = all.map((kernels) => kernels.partition(problem));
        for (const other of others) expect(other).toEqual(first);
      }),
      { numRuns: runs(300) },
    );
  });

  it.each(["dgx-a100:16", "mi250:8", "fat-tree:16x4,leaf=4,tiers=2,oversub=2@450,50GB/s", "mesh:9x7"])(
    "for the narrowest partition of %s",
    (preset) => {
      const problem = partitionOfTopology(presetTopology(preset));
      const [first, ...others] = all.map((kernels) => kernels.partition(problem));
      for (const other of others) expect(other).toEqual(first);
    },
  );

  it("for random concurrent flows, to the last bit", () => {
    fc.assert(
      fc.property(concurrentProblems(12, 1e-4), (problem) => {
        const [first, ...others] = all.map((kernels) =>
          outcome(() => kernels.concurrent({ ...problem, maxRounds: 60 })),
        );
        for (const other of others) expect(other).toEqual(first);
      }),
      { numRuns: runs(100) },
    );
  });

  it.each([
    ["few ports", 40, 3],
    ["up to 40 ports", 30, 15],
    ["more than 64 ports", 12, 120],
  ])("for random balance problems with %s, with one to three threads", (_, mostNodes, density) => {
    fc.assert(
      fc.property(balanceProblems({ mostNodes, density }), (problem) => {
        const [first, ...others] = all.flatMap((kernels) =>
          threadsOf(kernels).map((threads) => outcome(() => kernels.balance({ ...problem, threads }))),
        );
        for (const other of others) expect(other).toEqual(first);
      }),
      { numRuns: runs(100) },
    );
  });

  it.each<[string, BalanceProblem]>([
    ["Pi(16,300)", balanceProblem(300, kautzArcs(16, 300))],
    ["a torus in halves", balanceProblem(42, torusArcs(7, 6), { parts: 2, wantsShares: 1, maxSteps: 6 })],
    ["a hypercube in tenths", balanceProblem(64, hypercubeArcs(6), { parts: 10, wantsShares: 1, maxSteps: 6 })],
    ["too few steps", balanceProblem(64, hypercubeArcs(6), { maxSteps: 5 })],
  ])("for the balance of %s, with one to three threads", (_, problem) => {
    const [first, ...others] = all.flatMap((kernels) =>
      threadsOf(kernels).map((threads) => kernels.balance({ ...problem, threads })),
    );
    for (const other of others) expect(other).toEqual(first);
  });

  it("for random trees that share a period", () => {
    fc.assert(
      fc.property(periodProblems(40, 12), (problem) => {
        const [first, ...others] = all.map((kernels) => outcome(() => kernels.period(problem)));
        for (const other of others) expect(other).toEqual(first);
      }),
      { numRuns: runs(200) },
    );
  });

  it("for random arborescence problems, many arcs of the same cost among them", () => {
    fc.assert(
      fc.property(arborescenceProblems(60, 9), (problem) => {
        const [first, ...others] = all.map((kernels) => outcome(() => kernels.arborescence(problem)));
        for (const other of others) expect(other).toEqual(first);
      }),
      { numRuns: runs(400) },
    );
  });

  it.each(["dgx-a100:16", "mi250:8", "dgx-h100:9", "torus:9x7"])("for the rate of %s", (preset) => {
    const problem = rateOfTopology(presetTopology(preset));
    const [first, ...others] = all.map((kernels) => kernels.rate(problem));
    for (const other of others) expect(other).toEqual(first);
  });

  it.each(CASES)("for %s", (_, problem) => {
    const [first, ...others] = all.map((kernels) => kernels.match(problem));
    for (const other of others) expect(other).toEqual(first);
  });
});
