import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { MilpRunner } from "../../../src/engine/contract/programs.ts";
import type { Collective, NamedCollective } from "../../../src/model/collective/collective.ts";
import { presetTopology } from "../../../src/model/presets/preset.ts";
import { routesOf } from "../../../src/model/routes/routing.ts";
import type { Topology } from "../../../src/model/topology/topology.ts";
import { topologyBuilder } from "../../../src/model/topology/topology-builder.ts";
import { deadlineIn } from "../../../src/synthesize/deadline.ts";
import { type FrontOptions, paretoFront } from "../../../src/synthesize/sccl/pareto.ts";
import { leastRounds, syncProblem } from "../../../src/synthesize/sccl/problem.ts";
import { roundsIn } from "../../../src/synthesize/sccl/sends.ts";
import { milpHere } from "../../support/milp-here.ts";
import { infeasible } from "../../support/refusals.ts";
import { quick, runs } from "../../support/runs.ts";
import { syncOracle } from "../../support/sync-oracle.ts";
import { wholeCollective } from "../../support/synthesis.ts";

const frontOf = async (topology: Topology, collective: Collective, options: Partial<FrontOptions> = {}) => {
  const problem = syncProblem(topology, routesOf(topology, "ports"), collective);
  const milp = await milpHere();
  return paretoFront(problem, { milp, deadline: deadlineIn(60_000), shape: topology.shape, ...options });
};

/** Returns the points as [steps, rounds]. */
const pointsOf = ({ points }: Awaited<ReturnType<typeof paretoFront>>) =>
  points.map((point) => [point.steps, roundsIn(point)]);

/** Networks of 3 or 4 NPUs in a one-way ring, with further links, some twice as wide. */
const tinyNetwork = fc
  .record({
    npus: fc.integer({ min: 3, max: 4 }),
    wide: fc.array(fc.boolean(), { minLength: 4, maxLength: 4 }),
    extra: fc.array(fc.record({ from: fc.nat(3), to: fc.nat(3), wide: fc.boolean() }), { maxLength: 3 }),
  })
  .map(({ npus, wide, extra }) => {
    const builder = topologyBuilder("tiny");
    const rate = (isWide: boolean | undefined): number => (isWide === true ? 50e9 : 25e9);
    for (let v = 0; v < npus; v++) builder.addNpu(`${v}`);
    for (let v = 0; v < npus; v++) builder.addLink(v, (v + 1) % npus, rate(wide[v]), 0);
    for (const { from, to, wide } of extra) {
      if (from % npus !== to % npus) builder.addLink(from % npus, to % npus, rate(wide), 0);
    }
    return builder.build();
  });

describe("paretoFront", () => {
  it("agrees with brute force on tiny networks", async () => {
    const task = fc.constantFrom<readonly [NamedCollective, number]>(
      ["allgather", 1],
      ["broadcast", 2],
      ["broadcast", 3],
      ["scatter", 1],
      ["gather", 1],
    );
    await fc.assert(
      fc.asyncProperty(tinyNetwork, task, async (topology, [kind, chunks]) => {
        const collective = wholeCollective(topology, kind, 1200, chunks);
        const front = await frontOf(topology, collective);
        const rounds = syncOracle(topology, collective, 5);
        const better = rounds.flatMap((count, s) => (count < Math.min(...rounds.slice(0, s)) ? [[s + 1, count]] : []));
        expect(front.complete).toBe(true);
        expect(pointsOf(front).filter(([steps]) => (steps as number) <= 5)).toEqual(better);
      }),
      { numRuns: runs(40), seed: 4 },
    );
  });

  type Points = readonly [string, NamedCollective, number, readonly (readonly number[])[]];
  const POINTS: readonly Points[] = [
    // the points of DGX-1 that Cai et al. print
    ["dgx1", "allgather", 1, [[2, 2]]],
    ["dgx1", "allgather", 2, [[2, 3]]],
    [
      "dgx1",
      "allgather",
      6,
      [
        [2, 9],
        [3, 7],
      ],
    ],
    ["ring:8", "allgather", 1, [[4, 4]]],
    ["ring:5", "allgather", 3, [[2, 6]]],
    ["hypercube:3", "alltoall", 1, [[3, 4]]],
    ["mesh:3x3", "alltoall", 1, [[4, 6]]],
    ["torus:4x4", "allgather", 1, [[4, 4]]],
    ["mesh:4x4", "allgather", 1, [[6, 8]]],
    ["fc:4", "allgather", 2, [[1, 2]]],
    ["dgx-a100", "allgather", 1, [[1, 7]]],
    [
      "dgx-a100:2",
      "allgather",
      1,
      [
        [1, 8],
        [2, 2],
      ],
    ],
  ];
  const LONG = ["dgx1 6", "mesh:3x3 1"];
  it.each(quick(POINTS, ([name, , chunks]) => !LONG.includes(`${name} ${chunks}`)))(
    "has the points of %s, %s of %i chunks",
    async (name, kind, chunks, points) => {
      const topology = presetTopology(name);
      const front = await frontOf(topology, wholeCollective(topology, kind, 2 ** 20, chunks));
      expect([pointsOf(front), front.complete]).toEqual([points, true]);
    },
  );

  it("bounds rounds by flows where no cut is narrow: 3 for the all-to-all of K(3,3), cuts say 2", async () => {
    const topology = presetTopology("K(3,3)");
    const collective = wholeCollective(topology, "alltoall", 2 ** 20, 1);
    expect(leastRounds(syncProblem(topology, routesOf(topology, "ports"), collective))).toBe(2);
    const front = await frontOf(topology, collective);
    expect([front.leastRounds, pointsOf(front), front.complete]).toEqual([3, [[2, 3]], true]);
  });

  it("leaves out points with more rounds than steps and those asked for", async () => {
    const topology = presetTopology("dgx1");
    const collective = wholeCollective(topology, "broadcast", 2 ** 20, 6);
    expect(pointsOf(await frontOf(topology, collective))).toEqual([
      [2, 6],
      [3, 3],
    ]);
    expect(pointsOf(await frontOf(topology, collective, { extra: 2 }))).toEqual([[3, 3]]);
  });

  it("has the greedy plan where there is no time, no solver, or no memory", async () => {
    const topology = presetTopology("dgx1");
    const collective = wholeCollective(topology, "allgather", 2 ** 20, 6);
    const tiny: MilpRunner = { ...(await milpHere()), maxBytes: 1 };
    for (const options of [{ deadline: deadlineIn(0) }, { milp: undefined }, { milp: tiny }]) {
      const { points, complete, stages } = await frontOf(topology, collective, options);
      expect([complete, points.map(({ steps, proved }) => [steps, proved])]).toEqual([false, [[2, false]]]);
      expect(stages.every(({ status }) => status === "skipped")).toBe(true);
    }
  });

  it("names two NPUs of which one cannot reach the other", async () => {
    const builder = topologyBuilder("one way");
    for (const name of ["a", "b", "c"]) builder.addNpu(name);
    builder.addLink(0, 1, 1e9, 0);
    builder.addLink(1, 2, 1e9, 0);
    const topology = builder.build();
    await expect(frontOf(topology, wholeCollective(topology, "allgather", 3, 1))).rejects.toThrow(
      infeasible({ from: 1, to: 0 }),
    );
  });
});
