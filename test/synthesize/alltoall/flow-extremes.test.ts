import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { InputError } from "../../../src/base/errors.ts";
import type { LpSolver } from "../../../src/engine/contract/programs.ts";
import { jsKernels } from "../../../src/engine/kernels/js/kernels.ts";
import { openHighs } from "../../../src/engine/milp/highs.ts";
import { compare, toNumber } from "../../../src/model/numbers/rational.ts";
import type { Topology } from "../../../src/model/topology/topology.ts";
import { topologyBuilder } from "../../../src/model/topology/topology-builder.ts";
import { type AllToAllFlow, allToAllFlow } from "../../../src/synthesize/alltoall/flow.ts";
import { orbitsFor } from "../../../src/synthesize/alltoall/orbits.ts";
import { provenRate } from "../../../src/verify/flows/flow-limit.ts";
import { runs } from "../../support/runs.ts";
import { inlineRunner } from "../../support/synthesis.ts";

const runner = inlineRunner(jsKernels);
const lp = await openHighs();
/** Stops after a round, so that the linear program is asked. */
const hasty: typeof runner = { ...runner, concurrent: (task) => runner.concurrent({ ...task, maxRounds: 1 }) };

type Link = readonly [from: number, to: number, bytesPerSecond: number];

function networkOf(npus: number, links: readonly Link[]): Topology {
  const builder = topologyBuilder("extreme");
  builder.addNumberedNpus(npus);
  for (const [from, to, bytesPerSecond] of links) builder.addLink(from, to, bytesPerSecond, 0);
  return builder.build();
}

/** Strongly connected, bandwidths 1 .. 2^45, demands 0 .. 2^45. */
const extremes = fc
  .record({
    npus: fc.integer({ min: 2, max: 5 }),
    ring: fc.array(fc.nat(45), { minLength: 5, maxLength: 5 }),
    more: fc.array(fc.tuple(fc.nat(4), fc.nat(4), fc.nat(45)), { maxLength: 10 }),
    demands: fc.array(fc.option(fc.nat(45), { freq: 3 }), { minLength: 25, maxLength: 25 }),
  })
  .map(({ npus, ring, more, demands }) => {
    const links: Link[] = ring.slice(0, npus).map((power, v) => [v, (v + 1) % npus, 2 ** power]);
    for (const [from, to, power] of more) {
      if (from % npus !== to % npus) links.push([from % npus, to % npus, 2 ** power]);
    }
    const demand = Float64Array.from(demands.slice(0, npus * npus), (power) => (power === null ? 0 : 2 ** power));
    return { topology: networkOf(npus, links), demand: demand.with(1, 1) };
  });

/** Returns what is wrong; flows are whole parts, so that every demand is met to the last digit. */
function brokenLaws(
  { npuCount, linkSource, linkTarget, linkBytesPerSecond }: Topology,
  demand: Float64Array,
  found: AllToAllFlow,
): string[] {
  const wrong: string[] = [];
  const load = new Float64Array(linkSource.length);
  for (let npu = 0; npu < npuCount; npu++) {
    const flow = found.flow(npu);
    const net = new Float64Array(npuCount);
    for (let link = 0; link < flow.length; link++) {
      load[link] += flow[link];
      net[linkTarget[link]] += flow[link];
      net[linkSource[link]] -= flow[link];
    }
    for (let v = 0; v < npuCount; v++) {
      if (v !== npu && net[v] !== demand[npu * npuCount + v]) wrong.push(`NPU ${npu} brings ${net[v]} to NPU ${v}`);
    }
  }
  const busiest = load.reduce((most, amount, link) => Math.max(most, amount / linkBytesPerSecond[link]), 0);
  if (Math.abs(busiest * toNumber(found.rate) - 1) > 1e-9) wrong.push("the flows reach another rate");
  if (compare(found.rate, found.bound) > 0) wrong.push("the rate is above the bound");
  return wrong;
}

describe("the concurrent flow of extreme demands and links", () => {
  it("meets every demand exactly, under a bound that the judge proves too", async () => {
    const property = fc.asyncProperty(extremes, fc.boolean(), async ({ topology, demand }, hasLp) => {
      const found = await allToAllFlow(topology, demand, 0.005, runner, hasLp ? lp : null);
      expect(brokenLaws(topology, demand, found)).toEqual([]);
      const proven = provenRate(topology, demand, found.lengths);
      expect(proven !== null && compare(proven, found.bound)).toBe(0);
    });
    await fc.assert(property, { numRuns: runs(60) });
  });

  // Demands of 1 beside 2^38: more than the tolerances of a solver.
  const wide = {
    topology: networkOf(5, [
      ...([
        [0, 1, 2],
        [0, 1, 9],
        [1, 2, 6],
        [1, 3, 9],
        [1, 3, 1],
        [2, 3, 5],
      ] as const),
      ...([
        [3, 4, 4],
        [3, 4, 7],
        [3, 0, 7],
        [4, 0, 6],
        [4, 1, 1],
      ] as const),
    ]),
    demand: Float64Array.of(
      ...[0, 1, 2 ** 22, 2 ** 20, 4],
      ...[0, 0, 3, 64, 0],
      ...[0, 0, 0, 4, 3],
      ...[2 ** 38, 4, 2 ** 37, 0, 2 ** 13],
      ...[1, 5, 5, 0, 0],
    ),
  };

  it.each<[string, LpSolver["solve"]]>([
    ["of the linear program", lp.solve],
    [
      "of a solver that forgets all but one NPU",
      (problem) => {
        const primal = new Float64Array(problem.objective.length);
        for (const [source, arc] of [0, 2, 5, 6, 9].entries()) primal[source * 11 + arc] = 1;
        primal[primal.length - 1] = 1;
        return { ...lp.solve(problem), primal };
      },
    ],
  ])("are the kernel's where those %s miss a demand or prove nothing", async (_, solve) => {
    const { topology, demand } = wide;
    let asked = 0;
    const solver: LpSolver = {
      ...lp,
      solve(problem) {
        asked++;
        return solve(problem);
      },
    };
    const alone = await allToAllFlow(topology, demand, 0.005, hasty, null);
    const found = await allToAllFlow(topology, demand, 0.005, hasty, solver);
    expect(asked).toBe(1);
    expect(brokenLaws(topology, demand, found)).toEqual([]);
    expect(compare(found.rate, alone.rate)).toBeGreaterThanOrEqual(0);
    expect(compare(found.bound, alone.bound)).toBeLessThanOrEqual(0);
  });

  it("asks no solver whose coefficients would be too far apart", async () => {
    const links: Link[] = [
      [0, 1, 2 ** 24],
      [1, 2, 1],
      [2, 0, 256],
      [0, 1, 512],
      [1, 0, 1],
      [1, 2, 2 ** 50],
    ];
    const demand = Float64Array.of(0, 1, 2 ** 17, 0, 0, 2, 4, 1024, 0);
    const solver: LpSolver = { ...lp, solve: () => expect.fail("asked") };
    const found = await allToAllFlow(networkOf(3, links), demand, 1e-9, hasty, solver);
    expect(brokenLaws(networkOf(3, links), demand, found)).toEqual([]);
    expect(found.method).toContain("in 1 rounds");
  });

  it.each([Number.NaN, 0, -1, Number.POSITIVE_INFINITY])("refuses a gap of %d", async (gap) => {
    const ring = networkOf(2, [
      [0, 1, 1],
      [1, 0, 1],
    ]);
    await expect(allToAllFlow(ring, null, gap, runner, lp)).rejects.toThrow(InputError);
  });
});

describe("the orbits of a network with many maps", () => {
  it("are those of all NPUs at a switch but one, from one map instead of hundreds", () => {
    const builder = topologyBuilder("star");
    builder.addNumberedNpus(300);
    const hub = builder.addSwitch("hub");
    for (let npu = 0; npu < 300; npu++) builder.addDuplex(npu, hub, npu === 7 ? 500 : 1000, 0);
    const { sources, weight, classSize, linkClass, mapTo } = orbitsFor(builder.build());
    expect([[...sources], [...weight], [...classSize]]).toEqual([
      [0, 7],
      [299, 1],
      [299, 299, 1, 1],
    ]);
    expect([mapTo(0), mapTo(7), linkClass[2 * 299]]).toEqual([null, null, 0]);
    expect(mapTo(299)?.[0]).toBe(2 * 299);
  });
});
