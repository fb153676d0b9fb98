import type { Random } from "../../src/base/random.ts";
import type { NamedCollective } from "../../src/model/collective/collective.ts";
import { presetTopology } from "../../src/model/presets/preset.ts";
import type { NodeTraits, Topology } from "../../src/model/topology/topology.ts";
import type { TreeFlow } from "../../src/model/trees/tree-flow.ts";
import { fittingBandwidth, trafficOf } from "../../src/model/trees/tree-multicast.ts";
import { type FlowShape, grownFlow } from "./tree-flows.ts";

/** Networks and flows with switches that duplicate and sum. */

export const ABLE: NodeTraits = { multicast: true, aggregation: true };

/** Returns the network with these traits at its switches. */
export const withTraits = (topology: Topology, traits: (node: number) => NodeTraits): Topology => ({
  ...topology,
  nodeTraits: topology.nodeTraits.map((own, node) => (node < topology.npuCount ? own : traits(node))),
});

/** Returns the flow with the greatest bandwidth of a copy that fits when switches do what they can. */
export function withinSwitches(flow: TreeFlow): TreeFlow {
  const able: TreeFlow = { ...flow, inNetwork: true };
  const { copies } = trafficOf(able, true);
  const { linkBytesPerSecond } = flow.topology;
  const rate = (loads: readonly bigint[]) => {
    const y = fittingBandwidth(loads, linkBytesPerSecond);
    if (y === null) throw new Error("no link is used");
    return y;
  };
  const together = flow.concurrent ? rate(copies[0].map((load, link) => load + copies[1][link])) : null;
  return {
    ...able,
    forests: flow.forests.map((forest, f) => ({ ...forest, copyBytesPerSecond: together ?? rate(copies[f]) })),
  };
}

const PRESETS = [
  "dgx-h100:2",
  "fat-tree:4x2,leaf=2,tiers=2@450,50GB/s",
  "switch:5*ring:2",
  "switch:3*switch:3",
  "mi250:1",
];

/** Returns a flow of random trees through switches some of which can duplicate, some sum; NPUs outside the group forward. */
export function drawnAbleFlow(kind: NamedCollective, draws: Random, shape: Partial<FlowShape> = {}): TreeFlow {
  const trait = (): boolean => draws.below(3) > 0;
  const topology = withTraits(presetTopology(PRESETS[draws.below(PRESETS.length)]), () => ({
    multicast: trait(),
    aggregation: trait(),
  }));
  const members = [...Array(topology.npuCount).keys()].filter((npu) => npu < 2 || draws.below(3) > 0);
  return withinSwitches(grownFlow(topology, { kind, members, sizeBytes: 1 << 16, copies: 2, ...shape }, draws));
}
