import type { PackedTrees } from "../../engine/contract/kernels.ts";
import { type Grouped, groupedBy } from "../../model/graph/graph.ts";
import type { PackingNetwork } from "./packing.ts";

/**
 * Returns a tree of some (links in the numbers of a network, -1 where one is gone) with what it lost hung on again, its copies taken
 * from `left`; null, with nothing taken, where there is no room for that.
 */
type Rehanger = (trees: PackedTrees, tree: number, left: Float64Array) => PackedTrees | null;

/** Gives room for copies back on a link and, where trees run turned around too, on `opposite`; fewer than 0: takes it. */
export function give(left: Float64Array, link: number, copies: number, opposite: Int32Array | undefined): void {
  left[link] += copies;
  if (opposite !== undefined) left[opposite[link]] += copies;
}

/** Trees that are hung on again have about as many links as before. */
const SPARE_LINKS = 64;

/**
 * Returns what hangs the parts of a broken tree on again, in a network of which `left` [links] says how many copies still fit;
 * with `opposite` trees run turned around too (`give`).
 *
 * Without the edges that have no room a tree falls into parts. What is with the root stays. Every other part keeps its edges, so that
 * the tree enters no set of nodes more often than before but for the one new path: from a member as near to the root as can be, then by the
 * widest path, into any NPU of the part, which becomes its root. Edges between that one and the old root turn around; who hung on
 * them hangs on the new root where its way begins at a node that both have links to.
 * O(links of the tree + for each lost part the links into what leads to it) a tree.
 */
export function rehanger(network: PackingNetwork, opposite?: Int32Array): Rehanger {
  const { nodeCount, npuCount, linkSource, linkTarget } = network;
  const edges = npuCount - 1;
  const outward = groupedBy(linkSource, nodeCount);
  const inward = groupedBy(linkTarget, nodeCount);
  /** [NPUs] the part that each is in; 0: with the root; -1: none yet. */
  const part = new Int32Array(npuCount);
  const depth = new Int32Array(npuCount);
  /** [NPUs] the edge of the old tree that leads into each within its part, -1: none. */
  const edgeInto = new Int32Array(npuCount);
  const way = waysInto(network, inward);

  return ({ root, copies, linkOffset, links }, tree, left) => {
    const wanted = copies[tree];
    const first = tree * edges;
    const made = treeColumns(edges, linkOffset[first + edges] - linkOffset[first] + SPARE_LINKS);
    const pathOf = (edge: number): Int32Array => links.subarray(linkOffset[edge], linkOffset[edge + 1]);
    /** Adds the edge path[begin .. end); false where there is no room. */
    const add = (path: Int32Array, begin = 0, end = path.length): boolean => {
      for (let i = begin; i < end; i++) if (!(left[path[i]] >= wanted)) return false;
      for (let i = begin; i < end; i++) give(left, path[i], -wanted, opposite);
      made.add(path, begin, end);
      depth[linkTarget[path[end - 1]]] = depth[linkSource[path[begin]]] + 1;
      return true;
    };

    part.fill(-1);
    edgeInto.fill(-1);
    part[root[tree]] = 0;
    depth[root[tree]] = 0;
    const lost: { readonly npus: number[]; readonly edges: number[] }[] = [{ npus: [], edges: [] }];
    const begin = (npu: number): void => {
      part[npu] = lost.push({ npus: [npu], edges: [] }) - 1;
    };
    for (let edge = first; edge < first + edges; edge++) {
      const start = linkOffset[edge] | 0;
      const end = linkOffset[edge + 1] | 0;
      let i = start;
      while (i < end && links[i] >= 0 && left[links[i]] >= wanted) i++;
      if (i < end) continue;
      const from = linkSource[links[start]];
      const to = linkTarget[links[end - 1]];
      if (part[from] < 0) begin(from);
      part[to] = part[from];
      edgeInto[to] = edge;
      if (part[to] === 0) add(links, start, end);
      else {
        lost[part[to]].npus.push(to);
        lost[part[to]].edges.push(edge);
      }
    }
    for (let npu = 0; npu < npuCount; npu++) if (part[npu] < 0) begin(npu);

    /** Hangs a part on the end of a path; false where there is no room. */
    const hang = (own: (typeof lost)[number], path: Int32Array): boolean => {
      if (!add(path)) return false;
      const top = linkTarget[path[path.length - 1]];
      const turned = new Set<number>();
      /** NPUs between the new root of the part and the old one, with it. */
      const between = new Set<number>();
      for (let npu = top; edgeInto[npu] >= 0; ) {
        const edge = edgeInto[npu];
        turned.add(edge);
        const back = turnedAround(pathOf(edge));
        if (back === null || !add(back)) return false;
        npu = linkSource[pathOf(edge)[0]];
        between.add(npu);
      }
      for (const edge of own.edges) {
        if (turned.has(edge)) continue;
        const old = pathOf(edge);
        const other = between.has(linkSource[old[0]]) ? linkFrom(top, linkTarget[old[0]]) : -1;
        if (other >= 0 && add(Int32Array.of(other, ...old.subarray(1)))) continue;
        if (!add(old)) return false;
      }
      for (const npu of own.npus) part[npu] = 0;
      return true;
    };
    /** Returns a link with room, -1 where there is none. */
    const linkFrom = (from: number, to: number): number => {
      const [ends, { offset, items }, at, wantedEnd] =
        degree(inward, to) < degree(outward, from) ? [linkSource, inward, to, from] : [linkTarget, outward, from, to];
      for (let i = offset[at]; i < offset[at + 1]; i++)
        if (ends[items[i]] === wantedEnd && left[items[i]] >= wanted) return items[i];
      return -1;
    };
    const turnedAround = (path: Int32Array): Int32Array | null => {
      const back = path.map((link) => linkFrom(linkTarget[link], linkSource[link])).reverse();
      return back.includes(-1) ? null : back;
    };

    let isStuck = false;
    for (let waiting = lost.slice(1); waiting.length > 0 && !isStuck; ) {
      const still = waiting.filter((own) => {
        const path = isStuck ? null : way(own.npus, { left, wanted, part, depth });
        if (path === null) return true;
        isStuck = !hang(own, path);
        return false;
      });
      isStuck ||= still.length === waiting.length;
      waiting = still;
    }
    const whole = made.columns(root[tree], wanted);
    if (!isStuck) return whole;
    for (const link of whole.links) give(left, link, wanted, opposite);
    return null;
  };
}

const degree = ({ offset }: Grouped, node: number): number => offset[node + 1] - offset[node];

/** One tree in the making. */
interface TreeColumns {
  /** Adds the edge path[begin .. end). */
  add(path: Int32Array, begin: number, end: number): void;
  columns(root: number, copies: number): PackedTrees;
}

function treeColumns(edges: number, room: number): TreeColumns {
  const linkOffset = new Float64Array(edges + 1);
  let links = new Int32Array(room);
  let edge = 0;
  let end = 0;
  return {
    add(path, from, to) {
      if (end + to - from > links.length) {
        const larger = new Int32Array(2 * (end + to - from));
        larger.set(links);
        links = larger;
      }
      for (let i = from; i < to; i++) links[end++] = path[i];
      linkOffset[++edge] = end;
    },
    columns: (root, copies) => ({
      root: Int32Array.of(root),
      copies: Float64Array.of(copies),
      linkOffset,
      links: links.subarray(0, end),
    }),
  };
}

/** A tree, its NPUs with the root marked 0 in `part`, and the room that its copies want on each link. */
interface Hanging {
  readonly left: Float64Array;
  readonly wanted: number;
  readonly part: Int32Array;
  readonly depth: Int32Array;
}

/** Returns the way into some NPUs from a tree's NPU of least depth, of these the widest; null where there is none. */
type Ways = (npus: readonly number[], tree: Hanging) => Int32Array | null;

/** Returns what looks for ways, from their ends. O(links into the nodes that lead there), more often where wider ways are longer. */
function waysInto({ nodeCount, npuCount, linkSource, linkTarget }: PackingNetwork, inward: Grouped): Ways {
  const { offset, items } = inward;
  /** [nodes] the room of the widest way on from each, 0: not reached, and its first link. */
  const width = new Float64Array(nodeCount);
  const next = new Int32Array(nodeCount);
  return (npus, { left, wanted, part, depth }) => {
    const queue: number[] = [...npus];
    for (const npu of npus) width[npu] = Number.POSITIVE_INFINITY;
    let best = -1;
    let widest = 0;
    for (let i = 0; i < queue.length; i++) {
      const node = queue[i];
      for (let j = offset[node]; j < offset[node + 1]; j++) {
        const link = items[j];
        const from = linkSource[link];
        const room = Math.min(width[node], left[link]);
        if (room < wanted) continue;
        if (from >= npuCount) {
          if (room <= width[from]) continue;
          width[from] = room;
          next[from] = link;
          queue.push(from);
        } else if (part[from] === 0) {
          const nearer = best < 0 ? 1 : depth[linkSource[best]] - depth[from];
          if (nearer < 0 || (nearer === 0 && room <= widest)) continue;
          best = link;
          widest = room;
        }
      }
    }
    for (const node of queue) width[node] = 0;
    if (best < 0) return null;
    const path = [best];
    for (let node = linkTarget[best]; node >= npuCount; node = linkTarget[next[node]]) path.push(next[node]);
    return Int32Array.from(path);
  };
}
