import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { InfeasibleError } from "../../../src/base/errors.ts";
import { jsKernels } from "../../../src/engine/kernels/js/kernels.ts";
import { openHighs } from "../../../src/engine/milp/highs.ts";
import { type Traffic, trafficOf } from "../../../src/model/collective/traffic.ts";
import { compare, toNumber } from "../../../src/model/numbers/rational.ts";
import { presetTopology } from "../../../src/model/presets/preset.ts";
import { without } from "../../../src/model/topology/modify.ts";
import { linkCount, nodeCount, outLinks, type Topology } from "../../../src/model/topology/topology.ts";
import { topologyBuilder } from "../../../src/model/topology/topology-builder.ts";
import { simulate } from "../../../src/simulate/simulate.ts";
import { sampledLengths } from "../../../src/synthesize/alltoall/dual.ts";
import { allToAllFlow } from "../../../src/synthesize/alltoall/flow.ts";
import { provenLimitPs, provenRate } from "../../../src/verify/flows/flow-limit.ts";
import { availableKernels } from "../../support/backends.ts";
import { concurrentOf, rateByLp } from "../../support/concurrent-problems.ts";
import { connectedTopology } from "../../support/connected-topology.ts";
import { quick, runs, seen } from "../../support/runs.ts";
import { inlineRunner, synthesizeWith, wholeCollective } from "../../support/synthesis.ts";

const all = await availableKernels();
const lp = await openHighs();
const fastest = inlineRunner(all[0] ?? jsKernels);
/** No rate is known, so all depths are tried that may be. */
const UNKNOWN = Number.POSITIVE_INFINITY;

const table = (npuCount: number, demand: ArrayLike<number>): Traffic => ({
  each: null,
  fill(npu, row) {
    for (let to = 0; to < npuCount; to++) row[to] = to === npu ? 0 : demand[(npu * npuCount + to) % demand.length];
  },
});

const everyone = (npuCount: number): Traffic => ({ ...table(npuCount, [1]), each: 1 });

/** Returns [NPUs * NPUs] what a traffic sends. */
function matrixOf({ fill }: Traffic, npuCount: number): Float64Array {
  const matrix = new Float64Array(npuCount * npuCount);
  for (let npu = 0; npu < npuCount; npu++) fill(npu, matrix.subarray(npu * npuCount, (npu + 1) * npuCount));
  return matrix;
}

/** Returns the greatest rate, bytes per second for one chunk. */
function optimum(topology: Topology, traffic: Traffic): number {
  const { npuCount, linkSource, linkTarget, linkBytesPerSecond } = topology;
  const nodes = nodeCount(topology);
  const demand = new Float64Array(npuCount * nodes);
  const matrix = matrixOf(traffic, npuCount);
  for (let npu = 0; npu < npuCount; npu++)
    demand.set(matrix.subarray(npu * npuCount, (npu + 1) * npuCount), npu * nodes);
  const unit = linkBytesPerSecond.reduce((most, rate) => Math.max(most, rate), 0);
  const { links } = outLinks(topology);
  const arcs = Array.from(links, (l) => [linkSource[l], linkTarget[l], linkBytesPerSecond[l] / unit] as const);
  const sources = Int32Array.from({ length: npuCount }, (_, v) => v);
  return (
    unit *
    rateByLp(concurrentOf(nodes, arcs, { sources, sourceWeight: new Float64Array(npuCount).fill(1), demand }), lp)
  );
}

const demands = fc.array(fc.oneof(fc.nat(3), fc.constantFrom(0, 1000)), { minLength: 2, maxLength: 49 });
const problems = fc
  .tuple(connectedTopology(7), fc.option(demands))
  .map(([topology, demand]) => ({
    topology,
    traffic: demand === null ? everyone(topology.npuCount) : table(topology.npuCount, demand),
  }))
  .filter(({ topology, traffic }) => matrixOf(traffic, topology.npuCount).some((chunks) => chunks > 0));

describe("the lengths that a sampled flow gives", () => {
  it("prove no less than the linear program allows, and within 0.5 % of it where they say so", async () => {
    let near = 0;
    let tried = 0;
    await fc.assert(
      fc.asyncProperty(problems, async ({ topology, traffic }) => {
        const found = await sampledLengths(topology, traffic, UNKNOWN, fastest);
        if (found === null) throw new Error("nothing is sent");
        const proven = provenRate(topology, traffic.fill, found.lengths);
        if (proven === null) throw new Error("nothing is proved");
        const best = optimum(topology, traffic);
        tried++;
        if (found.isNear) near++;
        expect(toNumber(proven)).toBeGreaterThanOrEqual(best * (1 - 1e-6));
        if (found.isNear) expect(toNumber(proven)).toBeLessThanOrEqual(best * 1.005 * (1 + 1e-6));
        expect(found.about).toBeCloseTo(toNumber(proven), -3);
        const matrix = matrixOf(traffic, topology.npuCount);
        const flow = await allToAllFlow(topology, matrix, 1e-3, fastest, lp);
        expect(compare(proven, flow.rate)).toBeGreaterThanOrEqual(0);
      }),
      { numRuns: runs(60) },
    );
    expect(near).toBeGreaterThan(seen(tried / 4));
  });

  it("are not beaten by any schedule that is made", async () => {
    const chunks = fc.integer({ min: 1, max: 2 });
    await fc.assert(
      fc.asyncProperty(connectedTopology(7), chunks, async (topology, chunksPerNpu) => {
        const collective = wholeCollective(topology, "alltoall", 2 ** 24, chunksPerNpu);
        const traffic = trafficOf(collective, topology.npuCount) as Traffic;
        const found = await sampledLengths(topology, traffic, UNKNOWN, fastest);
        const limit = provenLimitPs(topology, collective, (found as NonNullable<typeof found>).lengths);
        for (const algorithm of ["tacos", "mcf"]) {
          const { schedule } = await synthesizeWith(jsKernels, { topology, collective }, { algorithm });
          const { ps } = simulate(schedule, { switching: "cut-through" });
          expect(ps).toBeGreaterThanOrEqual(toNumber(limit as NonNullable<typeof limit>) * (1 - 1e-12));
        }
      }),
      { numRuns: runs(20) },
    );
  });

  it.each(
    quick(
      [
        ["dbt:384", [], 455],
        ["dgx-h100:128", ["0-rail0", "9-rail1", "26-rail2"], 24.35],
        ["torus:8x8x16@100GB/s,100GB/s,50GB/s,0.7us", ["0>1"], 42.94],
        ["dbt:4096", [], 5495],
      ] as const,
      ([name]) => name === "dbt:384" || name.startsWith("dgx"),
    ),
  )("of %s without %j prove at least %f ms of 1 GiB", async (name, gone, ms) => {
    const topology = without(presetTopology(name), gone);
    const { npuCount } = topology;
    const found = await sampledLengths(topology, everyone(npuCount), UNKNOWN, fastest);
    if (found === null) throw new Error("nothing is sent");
    expect(found.sources).toBeLessThan(found.senders);
    const proven = provenRate(topology, null, found.lengths);
    expect((1e3 * 2 ** 30) / npuCount / toNumber(proven as NonNullable<typeof proven>)).toBeGreaterThanOrEqual(ms);
  });

  it("of dbt:384 prove no more than a flow of all NPUs reaches, and as much within 0.6 %", async () => {
    const topology = presetTopology("dbt:384");
    const found = await sampledLengths(topology, everyone(384), UNKNOWN, fastest);
    const proven = provenRate(topology, null, (found as NonNullable<typeof found>).lengths);
    const flow = await allToAllFlow(topology, null, 0.005, fastest, null);
    expect(compare(proven as NonNullable<typeof proven>, flow.rate)).toBeGreaterThanOrEqual(0);
    expect(toNumber(proven as NonNullable<typeof proven>)).toBeLessThanOrEqual(toNumber(flow.bound) * 1.006);
  });

  it.each(["mesh:6x9", "dgx-h100:4"])(
    `of %s are the same on ${all.map(({ backend }) => backend).join(", ")}, of a table too`,
    async (name) => {
      const topology = presetTopology(name);
      const { npuCount } = topology;
      for (const traffic of [everyone(npuCount), table(npuCount, [0, 3, 0, 0, 1, 250, 2])]) {
        const found = await Promise.all(
          all.map((kernels) => sampledLengths(topology, traffic, UNKNOWN, inlineRunner(kernels))),
        );
        expect(found[0]?.lengths).toHaveLength(linkCount(topology));
        for (const other of found) expect(other).toEqual(found[0]);
      }
    },
  );

  it("are none where nothing is sent, and an error where an NPU is not reached", async () => {
    expect(await sampledLengths(presetTopology("ring:4"), table(4, [0]), UNKNOWN, fastest)).toBeNull();
    const builder = topologyBuilder("one way");
    builder.addNumberedNpus(2);
    builder.addLink(0, 1, 1000, 0);
    await expect(sampledLengths(builder.build({}), everyone(2), UNKNOWN, fastest)).rejects.toThrow(InfeasibleError);
  });
});
