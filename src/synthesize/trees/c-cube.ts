import { InputError, InternalError, inWords } from "../../base/errors.ts";
import { optionName } from "../../base/option-names.ts";
import { CUBE_MESH_PAIRS } from "../../model/topology/gpu-models.ts";
import { outLinks, type Topology } from "../../model/topology/topology.ts";
import type { Forest } from "../../model/trees/tree-flow.ts";
import { copiesOnLinks, fittingBandwidth } from "../../model/trees/tree-multicast.ts";
import { refuseSeveralGroups } from "../forestcoll/requests.ts";
import { TREE_OPTIONS, type TreeMaker, type TreeRequest } from "../tree-maker.ts";

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
  makes: "trees",
  description: "two binary trees on 4 of the 6 links of each GPU of a DGX-1, both ways at once (C-Cube)",
  collectives: ["allreduce"],
  policies: [],
  options: TREE_OPTIONS,
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
  if (typeof copiesPerRoot === "number")
    throw new InputError(optionName("k"), "nothing (c-cube has two trees, each of one copy)", copiesPerRoot);
  if (repair !== null)
    throw new InputError(optionName("repair"), "none (c-cube cannot repair trees)", inWords("a schedule"));
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

/** GPUs of a DGX-1. */
const CUBE_GPUS = 8;

/** Returns [8][8] how many links there are between two places of a DGX-1. */
export function cubeLinks(): number[][] {
  const links = emptySquare();
  for (const [a, b, count] of CUBE_MESH_PAIRS) {
    links[a][b] = count;
    links[b][a] = count;
  }
  return links;
}

const emptySquare = (): number[][] => Array.from({ length: CUBE_GPUS }, () => new Array<number>(CUBE_GPUS).fill(0));

/**
 * Returns which member stands at each place of a DGX-1 (hybrid cube mesh), [8], the least numbers first; null where the direct
 * links between the members are none. Each pair of places with links must have this many times the bandwidth of the narrowest
 * pair, each way; other nodes and their links do not count. O(links), then few of the 8! orders.
 */
export function hybridCubeMesh(topology: Topology, members: Int32Array, usable: Float64Array): Int32Array | null {
  if (members.length !== CUBE_GPUS) return null;
  const rankOf = new Map([...members].map((npu, rank) => [npu, rank]));
  const capacity = emptySquare();
  for (let link = 0; link < usable.length; link++) {
    const from = rankOf.get(topology.linkSource[link]);
    const to = rankOf.get(topology.linkTarget[link]);
    if (from !== undefined && to !== undefined) capacity[from][to] += usable[link];
  }
  const unit = Math.min(...capacity.flat().filter((bytes) => bytes > 0));
  const wanted = cubeLinks();
  const rankAt: number[] = [];
  const place = (): boolean => {
    const at = rankAt.length;
    if (at === CUBE_GPUS) return true;
    for (let rank = 0; rank < CUBE_GPUS; rank++) {
      const fits =
        !rankAt.includes(rank) &&
        rankAt.every((other, p) => {
          const bytes = wanted[p][at] * unit;
          return capacity[other][rank] === bytes && capacity[rank][other] === bytes;
        });
      if (!fits) continue;
      rankAt.push(rank);
      if (place()) return true;
      rankAt.pop();
    }
    return false;
  };
  return place() ? Int32Array.from(rankAt, (rank) => members[rank]) : null;
}

/** A rooted tree over nodes 0 .. n - 1: `parent[v]` is -1 at the root; `order` lists the nodes from the root outwards. */
export interface BinaryTree {
  readonly order: readonly number[];
  readonly parent: readonly number[];
}

/** What trees have left: links between two nodes, and links of each node. Both are changed and changed back. */
interface Room {
  readonly links: number[][];
  readonly ports: number[];
}

/**
 * Returns two spanning trees of the least height in which a node has two children at most, which take no link of `links` [n][n]
 * twice and no more than `ports` links of any node; null where there are none. Those that come first: low numbers are roots, and
 * children, first. A search over all trees, for few nodes.
 */
export function binaryTreePair(links: readonly (readonly number[])[], ports: number): [BinaryTree, BinaryTree] | null {
  const room = { links: links.map((row) => [...row]), ports: links.map(() => ports) };
  for (let height = 1; height < links.length; height++) {
    for (const first of treesWithin(room, height)) {
      for (const second of treesWithin(room, height)) return [first, second];
    }
  }
  return null;
}

/** Yields the trees of at most this height; while one is looked at its links are taken from the room. */
function* treesWithin(room: Room, height: number): Generator<BinaryTree> {
  const nodes = room.ports.length;
  for (let root = 0; root < nodes; root++) {
    const parent = new Array<number>(nodes).fill(-1);
    const depth = new Array<number>(nodes).fill(-1);
    depth[root] = 0;
    yield* grown({ order: [root], parent }, depth, 0, room, height);
  }
}

/** Yields all ways to go on with a tree whose first `done` nodes have their children. */
function* grown(
  tree: { order: number[]; parent: number[] },
  depth: number[],
  done: number,
  room: Room,
  height: number,
): Generator<BinaryTree> {
  const { order, parent } = tree;
  if (order.length === parent.length) yield { order: [...order], parent: [...parent] };
  if (order.length === parent.length || done === order.length || depth[order[done]] === height) return;
  const node = order[done];
  const take = (child: number, sign: 1 | -1): void => {
    room.links[node][child] -= sign;
    room.links[child][node] -= sign;
    room.ports[node] -= sign;
    room.ports[child] -= sign;
    parent[child] = sign === 1 ? node : -1;
    depth[child] = sign === 1 ? depth[node] + 1 : -1;
    if (sign === 1) order.push(child);
    else order.pop();
  };
  const free = (child: number): boolean =>
    depth[child] < 0 && room.links[node][child] > 0 && room.ports[node] > 0 && room.ports[child] > 0;
  for (let a = 0; a < parent.length; a++) {
    if (!free(a)) continue;
    take(a, 1);
    for (let b = a + 1; b < parent.length; b++) {
      if (!free(b)) continue;
      take(b, 1);
      yield* grown(tree, depth, done + 1, room, height);
      take(b, -1);
    }
    yield* grown(tree, depth, done + 1, room, height);
    take(a, -1);
  }
  yield* grown(tree, depth, done + 1, room, height);
}
