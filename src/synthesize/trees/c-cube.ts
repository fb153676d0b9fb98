import { InputError, InternalError } from "../../base/errors.ts";
import { outLinks, type Topology } from "../../model/topology/topology.ts";
import type { Forest } from "../../model/trees/tree-flow.ts";
import { copiesOnLinks, fittingBandwidth } from "../../model/trees/tree-loads.ts";
import { refuseSeveralGroups } from "../forestcoll/one-group.ts";
import type { TreeMaker, TreeRequest } from "../tree-maker.ts";
import { type BinaryTree, binaryTreePair } from "./binary-trees.ts";
import { cubeLinks, hybridCubeMesh } from "./hybrid-cube-mesh.ts";

/** Of the 6 links of a GPU (TACOS 2024, VI-B.5). */
const LINKS_USED = 4;

const NEEDED = "a DGX-1 (hybrid cube mesh of 8 GPUs) for c-cube";

/**
 * C-Cube (Cho et al., HPCA 2023, as TACOS 2024 describes it in V-A and VI-B.5): two binary trees laid over the links of a DGX-1,
 * each carrying half of an all-reduce; contributions go up one way of a link while sums come down the other. It leaves 2 of the
 * 6 links of every GPU alone, so it carries at most the bandwidth of two links: 50 GB/s on 25 GB/s links.
 *
 * C-Cube's own drawing of the trees was not at hand: these are the first of the least height by a search, under the rules that
 * TACOS 2024 states. They take no link twice, not even in the other direction, and no more than 4 of a GPU.
 */
export const cCube: TreeMaker = {
  name: "c-cube",
  description: "two binary trees on 4 of the 6 links of each GPU of a DGX-1, both ways at once (C-Cube)",
  collectives: ["allreduce"],
  policies: [],
  refuses(topology, { groupCount, groupMembers }) {
    const found = groupCount === 1 && hybridCubeMesh(topology, groupMembers, topology.linkBytesPerSecond) !== null;
    return found ? null : NEEDED;
  },
  async make(request) {
    const { topology, collective, usable } = request;
    refuse(request);
    const npuAt = hybridCubeMesh(topology, collective.groupMembers, usable);
    if (npuAt === null) throw new InputError("the topology", NEEDED, topology.name);
    const trees = binaryTreePair(cubeLinks(), LINKS_USED);
    if (trees === null) throw new InternalError("a DGX-1 without two binary trees");
    const taken = new Set<number>();
    const columns = [
      laidOut(trees, npuAt, topology, usable, taken, "in"),
      laidOut(trees, npuAt, topology, usable, taken, "out"),
    ];
    const edges = collective.groupSize - 1;
    const [up, down] = columns.map((forest) => copiesOnLinks(forest, edges, usable.length));
    const copyBytesPerSecond = fittingBandwidth(
      up.map((load, link) => load + down[link]),
      usable,
    );
    if (copyBytesPerSecond === null) throw new InternalError("trees without links");
    const forests = columns.map((forest): Forest => ({ ...forest, copyBytesPerSecond }));
    const flow = {
      kind: "trees",
      topology,
      collective,
      forests,
      concurrent: true,
      symmetry: null,
      certificate: null,
    } as const;
    const roots = trees.map(({ order }) => topology.nodeNames[npuAt[order[0]]]);
    return { flow, policy: `binary trees of ${roots.join(" and ")}`, trials: 1, repaired: null, notes: [] };
  },
};

function refuse({ collective, copiesPerRoot, repair }: TreeRequest): void {
  refuseSeveralGroups(collective, "c-cube lays its trees over one box");
  if (copiesPerRoot !== null)
    throw new InputError("--k", "nothing (c-cube has two trees, each of one copy)", copiesPerRoot);
  if (repair !== null) throw new InputError("--repair", "none (c-cube cannot repair trees)", "a schedule");
}

/** Returns the two trees as a forest; of parallel links each takes the first that no other has, or the first where all have. */
function laidOut(
  trees: readonly BinaryTree[],
  npuAt: Int32Array,
  topology: Topology,
  usable: Float64Array,
  taken: Set<number>,
  direction: Forest["direction"],
): Omit<Forest, "copyBytesPerSecond"> {
  const links: number[] = [];
  for (const { order, parent } of trees) {
    for (const child of order.slice(1)) {
      const ends = [npuAt[parent[child]], npuAt[child]];
      const [from, to] = direction === "out" ? ends : ends.reverse();
      const between = linksBetween(topology, usable, from, to);
      const link = between.find((one) => !taken.has(one)) ?? between[0];
      taken.add(link);
      links.push(link);
    }
  }
  return {
    direction,
    root: Int32Array.from(trees, ({ order }) => npuAt[order[0]]),
    copies: new Float64Array(trees.length).fill(1),
    linkOffset: Float64Array.from({ length: links.length + 1 }, (_, i) => i),
    links: Int32Array.from(links),
  };
}

function linksBetween(topology: Topology, usable: Float64Array, from: number, to: number): number[] {
  const { offset, links } = outLinks(topology);
  const own = Array.from(links.subarray(offset[from], offset[from + 1]));
  return own.filter((link) => topology.linkTarget[link] === to && usable[link] > 0);
}
