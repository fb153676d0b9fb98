import { InputError, InternalError } from "../../base/errors.ts";
import { formatBandwidth } from "../../model/numbers/units.ts";
import type { Forest } from "../../model/trees/tree-flow.ts";
import { copiesOnLinks, fittingBandwidth } from "../../model/trees/tree-loads.ts";
import type { TreeMaker, TreeRequest } from "../tree-maker.ts";
import { mirroredForest } from "./mirrored.ts";
import { growTrees, type SteppedTrees } from "./multitree-growth.ts";
import { refuseSeveralGroups } from "./one-group.ts";
import { optimumOf } from "./optimum.ts";
import { forestFrom, packingNetwork } from "./packing-network.ts";
import { reduceAndBroadcast } from "./side-by-side.ts";

/** Trees of so many take a minute and a gigabyte. */
const MOST_NPUS = 4096;

/**
 * MultiTree (Huang et al., ISCA 2021, as Zhao 2026 describes it in 4.2 and 4.6.5): one tree from every NPU, all grown at the same
 * time over links that are free in a time step. The trees are taken as a flow with the greatest bandwidth that fits, which is at
 * least that of the time steps: in them no link carries more than its share.
 *
 * Reduce-scatter and all-reduce by trees of the reversed network, mirrored where every link has an opposite one. The certificate
 * is the bottleneck cut, so results say how far from the optimum the greedy choice stays.
 */
export const multitree: TreeMaker = {
  name: "multitree",
  description: "one tree from every NPU, grown greedily step by step (MultiTree)",
  collectives: ["allgather", "reducescatter", "allreduce"],
  policies: [],
  async make(request, { kernels }) {
    const { topology, collective, usable } = request;
    refuse(request);
    const direction = collective.kind === "reducescatter" ? "in" : "out";
    const network = packingNetwork(topology, collective.groupMembers, usable, direction);
    const optimum = await optimumOf(network, new Float64Array(collective.groupSize).fill(1), kernels.rate);
    const [forest, grown] = forestOf(request, direction);
    const nodes = network.node.filter((_, i) => optimum.cut[i] === 1).sort();
    const frame = {
      kind: "trees" as const,
      topology,
      collective,
      symmetry: null,
      certificate: { kind: "cut" as const, nodes, direction } as const,
    };
    const found = { policy: `${grown.steps} steps`, trials: 1, repaired: null, notes: [steppedRate(grown)] };
    if (collective.kind !== "allreduce") {
      return { flow: { ...frame, forests: [forest], concurrent: false }, ...found };
    }
    const into = mirroredForest(topology, usable, forest) ?? forestOf(request, "in")[0];
    const both = reduceAndBroadcast(into, forest, collective.groupSize, usable);
    return { flow: { ...frame, ...both }, ...found };
  },
};

function refuse({ collective, copiesPerRoot, policy, repair }: TreeRequest): void {
  const { groupSize } = collective;
  refuseSeveralGroups(collective, "multitree grows the trees of one");
  if (groupSize > MOST_NPUS) {
    throw new InputError(
      "--group",
      `at most ${MOST_NPUS} NPUs (multitree lists every edge of a tree from each)`,
      groupSize,
    );
  }
  if (copiesPerRoot !== null && copiesPerRoot !== 1) {
    throw new InputError("--k", "1 (multitree grows one tree from every NPU)", copiesPerRoot);
  }
  if (policy !== null) throw new InputError("--policy", "none (multitree has no policies)", policy);
  if (repair !== null) throw new InputError("--repair", "none (multitree cannot repair trees)", "a schedule");
}

/** What the time steps alone carry, the figure of the papers: each NPU's share at the bandwidth of the slowest link for all steps. */
function steppedRate({ trees, steps, unit }: SteppedTrees): string {
  const rate = formatBandwidth((trees.root.length * unit) / steps);
  return `in ${steps} time steps, as published, a gather would carry ${rate}`;
}

/** Returns the trees of one direction with the greatest bandwidth that fits. */
function forestOf(request: TreeRequest, direction: Forest["direction"]): [Forest, SteppedTrees] {
  const { topology, collective, usable } = request;
  const network = packingNetwork(topology, collective.groupMembers, usable, direction);
  const grown = growTrees(network);
  const { bandwidth } = network;
  const y = fittingBandwidth(copiesOnLinks(grown.trees, collective.groupSize - 1, bandwidth.length), bandwidth);
  if (y === null) throw new InternalError("trees without links");
  return [forestFrom(network, grown.trees, direction, y, collective.groupMembers), grown];
}
