import { InputError, InternalError } from "../../base/errors.ts";
import type { Collective, CollectiveKind } from "../../model/collective/collective.ts";
import { rational } from "../../model/numbers/rational.ts";
import { networkSymmetry } from "../../model/symmetry/network-symmetry.ts";
import { reversed, type Topology } from "../../model/topology/topology.ts";
import type { Forest, NetworkSymmetry, TreeFlow } from "../../model/trees/tree-flow.ts";
import { fittingBandwidth } from "../../model/trees/tree-loads.ts";
import { trafficOf } from "../../model/trees/tree-multicast.ts";
import { refuseSeveralGroups } from "../forestcoll/one-group.ts";
import { optimumOf } from "../forestcoll/optimum.ts";
import { packingNetwork } from "../forestcoll/packing-network.ts";
import { contributions } from "../forestcoll/shards.ts";
import type { TreeContext, TreeMaker, TreeRequest } from "../tree-maker.ts";
import { type SwitchBoxes, type SwitchTrait, switchBoxes, turnedBoxes } from "./switch-boxes.ts";
import { switchTrees } from "./switch-trees.ts";

/** Trees of so many roots are listed; symmetric networks need one. */
const MOST_ROOTS = 4096;

const DIRECTIONS: Readonly<Partial<Record<CollectiveKind, readonly Forest["direction"][]>>> = {
  allreduce: ["in", "out"],
  allgather: ["out"],
  reducescatter: ["in"],
  broadcast: ["out"],
  reduce: ["in"],
};

const directionsOf = ({ kind }: Collective): readonly Forest["direction"][] => DIRECTIONS[kind] ?? [];

/** What the switches do, in words. */
const ABILITY = {
  "multicast,aggregation": "sum and duplicate",
  multicast: "duplicate",
  aggregation: "sum",
} as const;

/**
 * In-network collectives as NCCL's NVLS does them (NVLink SHARP): every member is the root of an equal part. In a box the switch
 * sums the contributions of all for the root, and duplicates to all what the root sends back. So of an all-reduce of S bytes S
 * leave and enter every member, where without such switches it is 2 (N - 1) / N of that: S / b at bandwidth b, which is the bound.
 * NCCL moves 1 / N more than that: there the root's own contribution and result pass the switch as well.
 *
 * Over several boxes, as NCCL's NVLSTree: sums of each box go to the root over its rail (switches there only forward, unless
 * they can more), and come back to one member of each box. NCCL joins boxes by trees; here every other box is one hop from the
 * root, which loads links no more, for each of B boxes is as often a root: (B - 1) / B of S twice over the rails.
 *
 * Sums and results run side by side, and rates are as large as links let, exactly.
 */
export const nvls: TreeMaker = {
  name: "nvls",
  description: "sums and copies made by the switches of boxes, where they can (NVLS)",
  collectives: ["allreduce", "allgather", "reducescatter", "broadcast", "reduce"],
  policies: [],
  inNetwork: true,
  refuses: (topology, collective) => neededBy(topology, collective, topology.linkBytesPerSecond),
  async make(request, context) {
    const { topology, collective, usable } = request;
    refuse(request);
    const needed = neededBy(topology, collective, usable);
    const boxes = boxesFor(topology, collective, usable);
    if (needed !== null || boxes === null) throw new InputError("the topology", `${needed}`, topology.name);
    const certificate = await cutOf(request, boxes, context);
    const symmetry = symmetryFor(request);
    const flow = flowOf(request, boxes, symmetry);
    const count = boxes.ranks.length;
    const policy = `${count === 1 ? "one box" : `${count} boxes`}${symmetry === null ? "" : ", one root for all by symmetry"}`;
    const able = ABILITY[traitsFor(collective).join() as keyof typeof ABILITY];
    const first = topology.nodeNames[boxes.hub[0]];
    const notes = [
      `switches ${able} at the rate of their links: ${first}${count === 1 ? "" : ` and ${count - 1} more`}`,
    ];
    return { flow: { ...flow, certificate }, policy, trials: 1, repaired: null, notes };
  },
};

const traitsFor = (collective: Collective): SwitchTrait[] =>
  (["multicast", "aggregation"] as const).filter((trait) =>
    directionsOf(collective).includes(trait === "multicast" ? "out" : "in"),
  );

const boxesFor = (topology: Topology, collective: Collective, usable: Float64Array): SwitchBoxes | null =>
  switchBoxes(topology, collective.groupMembers, usable, traitsFor(collective));

const isFromOne = ({ kind }: Collective): boolean => kind === "broadcast" || kind === "reduce";

function neededBy(topology: Topology, collective: Collective, usable: Float64Array): string | null {
  if (collective.groupCount !== 1 || collective.groupSize < 2) return "one group of two NPUs or more for nvls";
  const able = ABILITY[traitsFor(collective).join() as keyof typeof ABILITY];
  const boxes = boxesFor(topology, collective, usable);
  if (boxes === null) return `switches that ${able}, one linked to each NPU and two NPUs or more to one, for nvls`;
  if (isFromOne(collective) && boxes.ranks.length > 1)
    return `one switch over all NPUs for a ${collective.kind} by nvls`;
  return null;
}

function refuse({ collective, copiesPerRoot, repair }: TreeRequest): void {
  refuseSeveralGroups(collective, "nvls joins the boxes of one");
  if (copiesPerRoot !== null && copiesPerRoot !== 1)
    throw new InputError("--k", "1 (nvls has one tree from every root)", copiesPerRoot);
  if (repair !== null) throw new InputError("--repair", "none (nvls cannot repair trees)", "a schedule");
}

/**
 * Returns the bottleneck cut of a gather (or scatter); of an all-reduce, all of which must leave each set that has a member, the
 * first box with its switch where less leaves that.
 */
async function cutOf(
  { topology, collective, usable }: TreeRequest,
  boxes: SwitchBoxes,
  { kernels }: TreeContext,
): Promise<TreeFlow["certificate"]> {
  const directions = directionsOf(collective);
  const direction = directions[directions.length - 1];
  const network = packingNetwork(topology, collective.groupMembers, usable, direction);
  const { cut } = await optimumOf(network, contributions(collective), kernels.rate);
  const nodes = network.node.filter((_, i) => cut[i] === 1).sort();
  const box = boxes.ranks[0].map((rank) => collective.groupMembers[rank]);
  const boxNodes = Int32Array.from([...box, boxes.hub[0]]).sort();
  const narrower =
    directions.length === 2 && boxes.ranks.length > 1 && leaving(topology, boxNodes) < leaving(topology, nodes);
  return { kind: "cut", nodes: narrower ? boxNodes : nodes, direction };
}

/** Returns the bytes per second of the links that leave a set of nodes. */
function leaving({ linkSource, linkTarget, linkBytesPerSecond }: Topology, nodes: Int32Array): number {
  const inside = new Set(nodes);
  return linkBytesPerSecond.reduce(
    (sum, bytes, link) => (inside.has(linkSource[link]) && !inside.has(linkTarget[link]) ? sum + bytes : sum),
    0,
  );
}

/** Returns the maps by which the tree of NPU 0 stands for all, where everyone takes part and may use all links; else null. */
function symmetryFor({ topology, collective, usable }: TreeRequest): NetworkSymmetry | null {
  const isWhole =
    !isFromOne(collective) &&
    collective.groupSize === topology.npuCount &&
    collective.groupMembers.every((npu, rank) => npu === rank) &&
    usable.every((bytes, link) => bytes === topology.linkBytesPerSecond[link]);
  return isWhole ? networkSymmetry(topology) : null;
}

/** Returns the trees with the greatest bandwidth that fits. */
function flowOf(
  { topology, collective, usable }: TreeRequest,
  boxes: SwitchBoxes,
  symmetry: NetworkSymmetry | null,
): TreeFlow {
  const { groupSize, groupMembers, rootRank } = collective;
  const roots = isFromOne(collective) ? [rootRank] : symmetry === null ? [...groupMembers.keys()] : [0];
  if (roots.length > MOST_ROOTS) {
    throw new InputError(
      "--group",
      `at most ${MOST_ROOTS} NPUs of a network that does not look the same from all`,
      groupSize,
    );
  }
  const forests = directionsOf(collective).map((direction): Forest => {
    const trees =
      direction === "out"
        ? switchTrees(topology, groupMembers, usable, boxes, roots)
        : switchTrees(reversed(topology), groupMembers, usable, turnedBoxes(boxes), roots);
    return { direction, ...trees, copyBytesPerSecond: rational(1) };
  });
  const concurrent = forests.length === 2;
  const frame = {
    kind: "trees",
    topology,
    collective,
    concurrent,
    inNetwork: true,
    symmetry,
    certificate: null,
  } as const;
  const { copies } = trafficOf({ ...frame, forests }, true);
  const loads = copies.reduce((sum, other) => sum.map((load, link) => load + other[link]));
  const copyBytesPerSecond = fittingBandwidth(loads, usable);
  if (copyBytesPerSecond === null) throw new InternalError("trees without links");
  return { ...frame, forests: forests.map((forest) => ({ ...forest, copyBytesPerSecond })) };
}
