import { describe, expect, it } from "vitest";
import { random } from "../../../src/base/random.ts";
import { jsKernels } from "../../../src/engine/kernels/js/kernels.ts";
import { collective } from "../../../src/model/collective/collective.ts";
import { compare, divide, rational, toNumber } from "../../../src/model/numbers/rational.ts";
import { presetTopology } from "../../../src/model/presets/preset.ts";
import { networkSymmetry } from "../../../src/model/symmetry/network-symmetry.ts";
import type { NodeTraits, Topology } from "../../../src/model/topology/topology.ts";
import { topologyBuilder } from "../../../src/model/topology/topology-builder.ts";
import { expandTrees } from "../../../src/model/trees/tree-expansion.ts";
import type { Forest, TreeFlow } from "../../../src/model/trees/tree-flow.ts";
import { multicastSkips, trafficOf } from "../../../src/model/trees/tree-multicast.ts";
import { multitree } from "../../../src/synthesize/forestcoll/multitree.ts";
import { forestOf, grownFlow } from "../../support/tree-flows.ts";
import { treeContext, treeRequest } from "../../support/tree-requests.ts";

const ABLE: NodeTraits = { multicast: true, aggregation: true };
const context = treeContext(jsKernels);

/** Returns the network with these traits at some switches. */
const withTraits = (topology: Topology, traits: (node: number) => NodeTraits): Topology => ({
  ...topology,
  nodeTraits: topology.nodeTraits.map((own, node) => (node < topology.npuCount ? own : traits(node))),
});

/** Two boxes of three NPUs, w1 over 0, 1, 2 and w2 over 3, 4, 5, and w0 over all, links both ways. */
function twoBoxes(traits: readonly NodeTraits[]): { topology: Topology; link: (a: number, b: number) => number } {
  const builder = topologyBuilder("two boxes");
  for (let v = 0; v < 6; v++) builder.addNpu(`${v}`);
  traits.forEach((own, i) => {
    builder.addSwitch(`w${i}`, own);
  });
  for (let v = 0; v < 6; v++) builder.addDuplex(v, v < 3 ? 7 : 8, 100e9, 0);
  for (let v = 0; v < 6; v++) builder.addDuplex(v, 6, 10e9, 0);
  const topology = builder.build();
  const link = (a: number, b: number): number =>
    topology.linkSource.findIndex((source, e) => source === a && topology.linkTarget[e] === b);
  return { topology, link };
}

/**
 * Returns what is wrong with skips, from what they mean alone: every tree's data must spread from the root although edges begin at
 * switches, reach every member once, and come into a switch that duplicates once at most.
 */
function brokenSkips(flow: TreeFlow, forest: Forest, skips: Uint8Array): string[] {
  const { topology, collective: group } = flow;
  const out = forest.direction === "out";
  const [near, far] = out ? [topology.linkSource, topology.linkTarget] : [topology.linkTarget, topology.linkSource];
  const edges = group.groupSize - 1;
  const faults: string[] = [];
  const able = (node: number): boolean =>
    node >= topology.npuCount && topology.nodeTraits[node][out ? "multicast" : "aggregation"] === true;
  forest.root.forEach((root, t) => {
    const has = new Set([root]);
    let left = Array.from({ length: edges }, (_, i) => t * edges + i);
    const entered: number[] = [];
    for (;;) {
      const now = left.filter((e) => has.has(near[forest.links[forest.linkOffset[e] + skips[e]]]));
      if (now.length === 0) break;
      left = left.filter((e) => !now.includes(e));
      for (const e of now) {
        const path = [...forest.links.subarray(forest.linkOffset[e] + skips[e], forest.linkOffset[e + 1])];
        if (skips[e] > 0 && !able(near[path[0]])) faults.push(`edge ${e} begins at a node that cannot duplicate`);
        for (const link of path) if (able(far[link])) entered.push(far[link]);
        for (const link of path) if (able(far[link])) has.add(far[link]);
        const end = far[path.at(-1) as number];
        if (has.has(end)) faults.push(`${end} gets the data of tree ${t} twice`);
        has.add(end);
      }
    }
    if (left.length > 0) faults.push(`edges ${left} of tree ${t} wait for each other`);
    if (new Set(entered).size !== entered.length) faults.push(`tree ${t} enters a switch twice that duplicates`);
  });
  return faults;
}

describe("multicast by switches", () => {
  it("leaves out what other edges have brought to the switch, as in figure 4.8 of the dissertation", () => {
    // 0 sends to 1 and 2 through w1, to 3 through w0; 3 to 4 and 5 through w2
    const tree = (link: (a: number, b: number) => number) => ({
      root: 0,
      copies: 2,
      edges: [
        [link(0, 7), link(7, 1)],
        [link(0, 6), link(6, 3)],
        [link(3, 8), link(8, 4)],
        [link(1, 7), link(7, 2)],
        [link(4, 8), link(8, 5)],
      ],
    });
    const skipsWith = (direction: "out" | "in", ...traits: NodeTraits[]): number[] => {
      const { topology, link } = twoBoxes(traits);
      const turned = (a: number, b: number): number => (direction === "out" ? link(a, b) : link(b, a));
      const forest = forestOf(topology, direction, [tree(turned)]);
      return [...multicastSkips(broadcast(topology, forest), forest)];
    };
    expect(skipsWith("out", {}, {}, {})).toEqual([0, 0, 0, 0, 0]);
    expect(skipsWith("out", {}, { multicast: true }, {})).toEqual([0, 0, 0, 1, 0]);
    expect(skipsWith("out", ABLE, ABLE, ABLE)).toEqual([0, 0, 0, 1, 1]);
    expect(skipsWith("in", {}, { aggregation: true }, { multicast: true })).toEqual([0, 0, 0, 1, 0]);
  });

  it("lets the edge nearest to the root feed a switch, wherever it is listed", () => {
    const { topology, link } = twoBoxes([ABLE, {}, {}]);
    const edges = [
      [link(0, 7), link(7, 1)],
      [link(1, 6), link(6, 3)],
      [link(0, 6), link(6, 4)],
      [link(4, 6), link(6, 2)],
      [link(3, 8), link(8, 5)],
    ];
    const forest = forestOf(topology, "out", [{ root: 0, copies: 1, edges }]);
    expect([...multicastSkips(broadcast(topology, forest), forest)]).toEqual([0, 1, 0, 1, 0]);
  });

  it.each(["allgather", "reducescatter", "allreduce", "broadcast", "reduce"] as const)(
    "leaves every tree of random flows whole and enters each switch once: %s",
    (kind) => {
      const draws = random(7, 5);
      for (let round = 0; round < 40; round++) {
        const preset = ["dgx-h100:2", "fat-tree:4x2,leaf=2,tiers=2@450,50GB/s", "mi250:2", "switch:5*ring:2"][
          round % 4
        ];
        const topology = withTraits(presetTopology(preset), () => (draws.below(3) > 0 ? ABLE : {}));
        const members = [...Array(topology.npuCount).keys()].filter((npu) => npu < 2 || draws.below(3) > 0);
        const flow = grownFlow(topology, { kind, members, sizeBytes: 4096, copies: 3 }, draws);
        for (const forest of flow.forests) expect(brokenSkips(flow, forest, multicastSkips(flow, forest))).toEqual([]);
        const [before, after] = [trafficOf(flow, false), trafficOf(flow, true)];
        expect(compare(after.bytes, before.bytes)).toBeLessThanOrEqual(0);
        before.copies.forEach((column, f) => {
          column.forEach((count, link) => {
            expect(after.copies[f][link] <= count).toBe(true);
          });
        });
      }
    },
  );

  it("spares the GPUs of H100 boxes most of what they send, and nothing of what they receive", async () => {
    const { flow } = await multitree.make(treeRequest("dgx-h100:4", "allgather"), context);
    const [before, after] = [trafficOf(flow, false), trafficOf(flow, true)];
    // every GPU gets each of the 31 shards of the others once, however
    const shards = rational(32 * 31 * 2 ** 20, 32);
    expect([before.toNpus, after.toNpus]).toEqual([shards, shards]);
    expect(before.fromNpus).toEqual(shards);
    // of each shard one copy enters the 4 NVSwitches and 3 leave the box
    expect(after.fromNpus).toEqual(rational(32 * 7 * 2 ** 20, 32));
    expect(toNumber(divide(after.bytes, before.bytes))).toBeLessThan(0.65);
  });

  it("says the same of a symmetric flow as of its trees written out", () => {
    const topology = presetTopology("dgx-h100:2");
    const symmetry = networkSymmetry(topology);
    if (symmetry === null) throw new Error("no symmetry");
    const only = grownFlow(topology, { kind: "broadcast", sizeBytes: 2 ** 20, copies: 3 }, random(3, 3));
    const gather = collective({
      kind: "allgather",
      groups: [Int32Array.from(Array(topology.npuCount).keys())],
      sizeBytes: 2 ** 20,
      chunksPerNpu: 1,
      rootRank: 0,
    });
    const flow: TreeFlow = { ...only, collective: gather, symmetry };
    for (const multicast of [false, true]) {
      expect(trafficOf(flow, multicast)).toEqual(trafficOf(expandTrees(flow), multicast));
    }
    // one NVSwitch that duplicates is no use to trees that stand for those through the other
    const half = { ...flow, topology: withTraits(topology, (node) => (node === topology.npuCount ? ABLE : {})) };
    expect(trafficOf(half, true).bytes).toEqual(trafficOf(half, false).bytes);
  });
});

function broadcast(topology: Topology, forest: Forest): TreeFlow {
  const kind = forest.direction === "out" ? "broadcast" : "reduce";
  const groups = [Int32Array.from(Array(topology.npuCount).keys())];
  return {
    kind: "trees",
    topology,
    collective: collective({ kind, groups, sizeBytes: 6, chunksPerNpu: 1, rootRank: 0 }),
    forests: [forest],
    concurrent: false,
    symmetry: null,
    certificate: null,
  };
}
