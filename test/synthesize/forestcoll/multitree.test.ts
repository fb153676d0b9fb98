import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { InfeasibleError, InputError } from "../../../src/base/errors.ts";
import { jsKernels } from "../../../src/engine/kernels/js/kernels.ts";
import { compare, rational, toNumber } from "../../../src/model/numbers/rational.ts";
import { presetTopology } from "../../../src/model/presets/preset.ts";
import { reversed, type Topology } from "../../../src/model/topology/topology.ts";
import { topologyBuilder } from "../../../src/model/topology/topology-builder.ts";
import type { TreeFlow } from "../../../src/model/trees/tree-flow.ts";
import { copiesOnLinks, fittingBandwidth } from "../../../src/model/trees/tree-multicast.ts";
import {
  commonUnits,
  growTrees,
  longestHop,
  multitree,
  type SteppedTrees,
} from "../../../src/synthesize/forestcoll/multitree.ts";
import { type PackingNetwork, packingNetwork } from "../../../src/synthesize/forestcoll/packing.ts";
import { judgeCertificate, throughputOf } from "../../../src/verify/trees/certificate.ts";
import { verifyTreeFlow } from "../../../src/verify/trees/tree-flow.ts";
import { connectedTopology } from "../../support/connected-topology.ts";
import { outOfRange, unexpected } from "../../support/refusals.ts";
import { runs } from "../../support/runs.ts";
import { treeContext, treeRequest } from "../../support/tree-requests.ts";

const context = treeContext(jsKernels);

const networkOf = (topology: Topology, members?: readonly number[]): PackingNetwork =>
  packingNetwork(
    topology,
    Int32Array.from(members ?? Array(topology.npuCount).keys()),
    topology.linkBytesPerSecond,
    "out",
  );

const grow = (topology: Topology | string, members?: readonly number[]): SteppedTrees =>
  growTrees(networkOf(typeof topology === "string" ? presetTopology(topology) : topology, members));

/** Returns what breaks the rules of time steps: trees that spread before they may, links used beyond their places. */
function brokenSteps({ npuCount, linkSource, linkTarget, bandwidth }: PackingNetwork, grown: SteppedTrees): string[] {
  const { trees, step, steps } = grown;
  const { units } = commonUnits(bandwidth);
  const used = Array.from({ length: steps }, () => new Float64Array(bandwidth.length));
  const faults: string[] = [];
  for (let t = 0; t < npuCount; t++) {
    const since = new Map([[t, -1]]);
    for (let e = t * (npuCount - 1); e < (t + 1) * (npuCount - 1); e++) {
      const path = [...trees.links.subarray(trees.linkOffset[e], trees.linkOffset[e + 1])];
      const begin = since.get(linkSource[path[0]]);
      if (begin === undefined || begin >= step[e]) faults.push(`tree ${t} sends too early in edge ${e}`);
      since.set(linkTarget[path.at(-1) as number], step[e]);
      for (const link of path) used[step[e]][link]++;
    }
    if (since.size !== npuCount) faults.push(`tree ${t} has ${since.size} NPUs`);
  }
  for (const row of used) {
    if (row.every((count) => count === 0)) faults.push("an empty step");
    if (row.some((count, link) => count > units[link])) faults.push("a link with too many trees in a step");
  }
  return faults;
}

describe("trees that grow in time steps", () => {
  it.each([
    ["ring:9", 4],
    ["torus:4x4", 5],
    ["hypercube:3", 3],
    ["switch:16", 15],
    ["fc:6", 1],
    ["mesh:4x4", 9],
    ["dgx-a100:1", 7],
    ["dgx-a100:2", 2],
    ["dgx-a100:16", 16],
    ["dgx-h100:4", 4],
    ["mi250:8", 17],
  ])("grows on %s in %i steps", (preset, steps) => {
    const grown = grow(preset);
    expect(grown.steps).toBe(steps);
    expect(brokenSteps(networkOf(presetTopology(preset)), grown)).toEqual([]);
  });

  it("keeps the rules of time steps on any connected network, and its flow is not slower than they are", () => {
    fc.assert(
      fc.property(connectedTopology(), (topology) => {
        const network = networkOf(topology);
        const grown = growTrees(network);
        expect(brokenSteps(network, grown)).toEqual([]);
        const loads = copiesOnLinks(grown.trees, topology.npuCount - 1, topology.linkSource.length);
        const y = fittingBandwidth(loads, topology.linkBytesPerSecond);
        if (y === null) throw new Error("no link is used");
        expect(compare(y, rational(grown.unit, grown.steps))).toBeGreaterThanOrEqual(0);
      }),
      { numRuns: runs(200) },
    );
  });

  it("passes what only forwards by the shortest way that is free, tiers of switches and outsiders alike", () => {
    const tree = presetTopology("fat-tree:16x2,leaf=2,tiers=3@450,50GB/s");
    expect(longestHop(networkOf(tree))).toBe(6);
    const grown = growTrees(networkOf(tree));
    expect(brokenSteps(networkOf(tree), grown)).toEqual([]);
    // every other NPU of a ring stands between two members
    const members = [0, 2, 4, 6];
    const ring = grow("ring:8", members);
    expect(ring.steps).toBe(2);
    expect(ring.trees.links.length).toBe(2 * 12);
  });
});

describe("multitree", () => {
  it.each([
    ["dgx-a100:2", "allgather"],
    ["dgx-a100:2", "reducescatter"],
    ["dgx-a100:2", "allreduce"],
    ["mi250:2", "allgather"],
    ["mesh:5x3", "allreduce"],
    ["line:5", "allreduce"],
    ["torus:4x4", "reducescatter"],
  ] as const)("makes sound trees on %s for %s", async (preset, kind) => {
    const { flow } = await multitree.make(treeRequest(preset, kind), context);
    expect(verifyTreeFlow(flow).violations).toEqual([]);
    const { proof, violations } = judgeCertificate(flow);
    expect(violations).toEqual([]);
    expect(proof).not.toBeNull();
  });

  it.each([
    ["dgx-a100:4", 1],
    ["dgx-a100:2", 0.98],
    ["mesh:8x8", 0.98],
    ["hypercube:6", 0.8],
    ["mi250:8", 0.43],
  ])("reaches on %s at least %f of the optimum, and says what time steps alone would carry", async (preset, share) => {
    const { flow, notes } = await multitree.make(treeRequest(preset, "allgather"), context);
    const { proof, achieved } = judgeCertificate(flow);
    if (proof === null) throw new Error("no proof");
    expect(toNumber(achieved) / toNumber(proof.bound)).toBeGreaterThanOrEqual(share);
    expect(proof.optimal).toBe(share === 1);
    expect(notes.join()).toMatch(/^in \d+ time steps, as published, a gather would carry /);
  });

  it("turns trees around where links have no opposite ones", async () => {
    const builder = topologyBuilder("one-way ring with a chord");
    for (let v = 0; v < 5; v++) builder.addNpu(`${v}`);
    for (let v = 0; v < 5; v++) builder.addLink(v, (v + 1) % 5, 10e9, 0);
    builder.addLink(0, 3, 20e9, 0);
    const topology = builder.build();
    for (const kind of ["allgather", "reducescatter", "allreduce"] as const) {
      const { flow } = await multitree.make(treeRequest(topology, kind), context);
      expect(verifyTreeFlow(flow).violations).toEqual([]);
    }
    const scatter = await multitree.make(treeRequest(topology, "reducescatter"), context);
    const gather = await multitree.make(treeRequest(reversed(topology), "allgather"), context);
    const columns = ({ forests: [{ direction: _, ...forest }] }: TreeFlow): unknown => forest;
    expect(columns(scatter.flow)).toEqual(columns(gather.flow));
  });

  it("gives a group of NPUs trees through the others", async () => {
    const request = treeRequest("torus:4x4", "allgather", { members: [5, 0, 10, 15, 3] });
    const { flow } = await multitree.make(request, context);
    expect(verifyTreeFlow(flow).violations).toEqual([]);
    expect(flow.forests[0].root).toEqual(Int32Array.of(5, 0, 10, 15, 3));
  });

  it("uses no more of links than is usable", async () => {
    const request = treeRequest("torus:3x3", "allgather");
    const usable = request.usable.map((b, link) => (link % 5 === 0 ? b / 2 : b));
    usable[1] = 0;
    const { flow } = await multitree.make({ ...request, usable }, context);
    const narrowed = { ...flow, topology: { ...flow.topology, linkBytesPerSecond: usable.map((b) => Math.max(b, 1)) } };
    expect(verifyTreeFlow(narrowed).violations).toEqual([]);
    expect(flow.forests[0].links).not.toContain(1);
    expect(throughputOf(flow).num).toBeGreaterThan(0n);
  });

  it("refuses what it cannot do, with the place", async () => {
    const make = (wish: Parameters<typeof treeRequest>[2]) =>
      multitree.make(treeRequest("ring:4", "allgather", wish), context);
    await expect(make({ copiesPerRoot: 2 })).rejects.toThrow(InputError);
    await expect(make({ policy: "shallow" })).rejects.toThrow(unexpected("policy", "shallow"));
    await expect(make({ members: [2] })).rejects.toThrow(outOfRange("group", 1));
    await expect(multitree.make(treeRequest("ring:4097", "allgather"), context)).rejects.toThrow(
      outOfRange("group", 4097, 4096),
    );
    const { flow } = await make({ copiesPerRoot: 1 });
    await expect(make({ repair: flow })).rejects.toThrow(unexpected("repair", "a schedule"));
    const usable = new Float64Array(8);
    await expect(make({ usable })).rejects.toThrow(InfeasibleError);
  });
});
