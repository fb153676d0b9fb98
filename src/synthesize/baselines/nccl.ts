import type { Collective } from "../../model/collective/collective.ts";
import { doubleBinaryTree } from "../../model/graph/double-binary-tree.ts";
import { gcd } from "../../model/numbers/integers.ts";
import { type Boxes, boxesOf, boxesWithRings, channelRings, channelTrees } from "../../model/routes/rings.ts";
import type { Topology } from "../../model/topology/topology.ts";
import { fromBaseline, ordersOfRanks, parentsOfRanks, refuseGroups } from "./baseline.ts";
import { treeMessages } from "./double-binary-tree.ts";
import { effortOfRing, ringMessages } from "./rings.ts";

const refusal =
  (name: string) =>
  (topology: Topology, collective: Collective): string | null => {
    if (boxesOf(topology) !== null) return refuseGroups(name, topology, collective);
    return `boxes with equally many NPUs each, such as those of dgx-a100:2, for ${name}`;
  };

/** Returns by how much a number of chunks must be multiplied so that all trees have equally many. */
const fewestEven = (trees: number, chunks: number): number => trees / gcd(trees, chunks);

/** Returns the boxes of a network that has some. */
export const boxes = (topology: Topology): Boxes => boxesWithRings(topology) as Boxes;

/** Rings as NCCL lays them: one channel for each NIC of a box, which leaves a box by that NIC and enters the next on its rail. */
export const ncclRings = fromBaseline({
  name: "nccl-rings",
  traits: { library: "over boxes", librariesOf: ["NCCL", "RCCL"], effort: effortOfRing },
  description: "rings box by box as NCCL lays them, one for each NIC of a box, rail to rail (baseline)",
  collectives: ["allgather", "reducescatter", "allreduce", "broadcast", "reduce"],
  refuses: refusal("nccl-rings"),
  lanes: ({ topology }) => channelRings(boxes(topology)).length,
  pipelines: () => true,
  issue: ({ topology, collective }) =>
    ringMessages(collective, ordersOfRanks(collective, channelRings(boxes(topology)))),
  words: ({ topology, collective }) => {
    const used = Math.min(channelRings(boxes(topology)).length, collective.chunksPerNpu);
    return used === 1 ? "1 channel" : `${used} channels`;
  },
});

/** Trees as NCCL lays them: a chain within every box, a double binary tree between boxes, for each NIC of a box. */
export const ncclTree = fromBaseline({
  name: "nccl-tree",
  traits: { library: "over boxes", librariesOf: ["NCCL", "RCCL"] },
  description: "double binary trees of boxes as NCCL lays them, chains within boxes, one pair for each NIC (baseline)",
  collectives: ["allreduce"],
  refuses: refusal("nccl-tree"),
  pipelines: () => true,
  lanes: ({ topology }) => 2 * boxes(topology).exits.length,
  unit: ({ topology, collective }) => fewestEven(2 * boxes(topology).exits.length, collective.groupSize),
  issue({ topology, collective }) {
    const trees = channelTrees(boxes(topology), doubleBinaryTree(boxes(topology).npus.length));
    return treeMessages(topology, collective, parentsOfRanks(collective, trees));
  },
  words: ({ topology, collective }) => `${Math.min(2 * boxes(topology).exits.length, collective.chunkCount)} trees`,
});
