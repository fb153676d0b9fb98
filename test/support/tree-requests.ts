import type { Kernels } from "../../src/engine/contract/kernels.ts";
import { collective, type NamedCollective } from "../../src/model/collective/collective.ts";
import { presetTopology } from "../../src/model/presets/preset.ts";
import type { Topology } from "../../src/model/topology/topology.ts";
import type { TreeContext, TreeRequest } from "../../src/synthesize/tree-maker.ts";

/** What makers of trees are asked, and with what they work. */

export interface Wish extends Partial<Omit<TreeRequest, "topology" | "collective">> {
  readonly members?: readonly number[];
  readonly rootRank?: number;
}

/** Returns a request for trees on a network or a preset, over all of every link, with what is wished otherwise. */
export function treeRequest(network: Topology | string, kind: NamedCollective, wish: Wish = {}): TreeRequest {
  const topology = typeof network === "string" ? presetTopology(network) : network;
  const { members = [...Array(topology.npuCount).keys()], rootRank = 0, ...rest } = wish;
  const groups = [Int32Array.from(members)];
  return {
    topology,
    collective: collective({ kind, groups, sizeBytes: 2 ** 20, chunksPerNpu: 1, rootRank }),
    usable: topology.linkBytesPerSecond,
    copiesPerRoot: null,
    seed: 1,
    policy: null,
    repair: null,
    ...rest,
  };
}

/** Returns kernels at hand as makers of trees call them. */
export const treeContext = (kernels: Kernels): TreeContext => ({
  kernels: {
    rate: async (problem) => kernels.rate(problem),
    pack: async (problem) => kernels.pack(problem),
    width: () => 1,
  },
  lp: () => Promise.reject(new Error("no linear programs here")),
});
