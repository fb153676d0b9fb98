import { InfeasibleError } from "../../base/errors.ts";
import { nodeCount, outLinks, type Topology } from "../../model/topology/topology.ts";
import type { Forest } from "../../model/trees/tree-flow.ts";
import type { SwitchBoxes } from "./switch-boxes.ts";

/** Trees over boxes, one copy of each; those of the reversed network where that was asked. */
export type SwitchTrees = Pick<Forest, "root" | "copies" | "linkOffset" | "links">;

/** A network as its trees see it. */
interface Ground {
  readonly topology: Topology;
  readonly members: Int32Array;
  readonly usable: Float64Array;
  readonly boxes: SwitchBoxes;
  /** [nodes] rank, -1 for all that only forwards. */
  readonly rankOf: Int32Array;
}

/**
 * Returns a tree from each of these ranks: its data goes to all of the root's box through the box's switch; straight, by the shortest
 * way outside of the members, to one member of every other box, and from there through its switch to the rest. That member is the
 * one nearest to the root; among equal ones that at the root's place in its box, else the one after it in turns. Boxes that the
 * root cannot reach so are reached from other members of its box in turns, then from those of other boxes.
 * Throws InfeasibleError where a box cannot be reached. O(roots * (links + members)).
 */
export function switchTrees(
  topology: Topology,
  members: Int32Array,
  usable: Float64Array,
  boxes: SwitchBoxes,
  roots: readonly number[],
): SwitchTrees {
  const rankOf = new Int32Array(nodeCount(topology)).fill(-1);
  members.forEach((npu, rank) => {
    rankOf[npu] = rank;
  });
  const ground: Ground = { topology, members, usable, boxes, rankOf };
  const linkOffset = new Float64Array(roots.length * (members.length - 1) + 1);
  let links = new Int32Array(2 * linkOffset.length);
  let [edge, used] = [0, 0];
  for (const root of roots) {
    addTree(ground, root, (path) => {
      if (used + path.length > links.length) links = doubled(links, path.length);
      links.set(path, used);
      used += path.length;
      linkOffset[++edge] = used;
    });
  }
  return {
    root: Int32Array.from(roots, (rank) => members[rank]),
    copies: new Float64Array(roots.length).fill(1),
    linkOffset,
    links: links.slice(0, used),
  };
}

/** Returns the column with room for as much again, and some more. */
function doubled(column: Int32Array, more: number): Int32Array<ArrayBuffer> {
  const longer = new Int32Array(2 * column.length + more);
  longer.set(column);
  return longer;
}

function addTree(ground: Ground, root: number, add: (path: readonly number[]) => void): void {
  const { boxes, members, topology } = ground;
  const { up, down, box, place, ranks } = boxes;
  const reached = new Uint8Array(ranks.length);
  const covered: number[] = [];
  const cover = (head: number): void => {
    const own = ranks[box[head]];
    reached[box[head]] = 1;
    for (let i = 0; i < own.length; i++) {
      const rank = own[(place[head] + i) % own.length];
      covered.push(rank);
      if (rank !== head) add([up[head], down[rank]]);
    }
  };
  cover(root);
  for (let i = 0; covered.length < members.length; i++) {
    if (i === covered.length) {
      const [from, to] = [members[root], members[boxes.ranks[reached.indexOf(0)][0]]];
      const names = [from, to].map((npu) => topology.nodeNames[npu]);
      throw new InfeasibleError(`NPU ${names[0]} cannot reach NPU ${names[1]}`, { from: names[0], to: names[1] });
    }
    for (const [head, path] of heads(ground, covered[i], place[root], reached)) {
      add(path);
      cover(head);
    }
  }
}

/**
 * Returns a member of each box not yet reached that is nearest to a member over usable links, through what only forwards, and the
 * links to it. Breadth-first, until all boxes are found.
 */
function heads(
  { topology, members, usable, boxes, rankOf }: Ground,
  from: number,
  wanted: number,
  reached: Uint8Array,
): [number, number[]][] {
  const { offset, links } = outLinks(topology);
  const { linkSource, linkTarget } = topology;
  const { box, place, ranks } = boxes;
  /** Links by which each node was found. */
  const by = new Map<number, number>([[members[from], -1]]);
  const headOf = new Map<number, { readonly rank: number; readonly hops: number }>();
  const turns = (rank: number): number => {
    const size = ranks[box[rank]].length;
    return (place[rank] - (wanted % size) + size) % size;
  };
  const missing = reached.reduce((count, one) => count + 1 - one, 0);
  let level = [members[from]];
  for (let hops = 1; level.length > 0 && headOf.size < missing; hops++) {
    const next: number[] = [];
    for (const node of level) {
      for (let i = offset[node]; i < offset[node + 1]; i++) {
        const to = linkTarget[links[i]];
        if (usable[links[i]] === 0 || by.has(to)) continue;
        by.set(to, links[i]);
        const rank = rankOf[to];
        if (rank < 0) next.push(to);
        else if (reached[box[rank]] === 0) {
          const known = headOf.get(box[rank]);
          if (known === undefined || (known.hops === hops && turns(rank) < turns(known.rank))) {
            headOf.set(box[rank], { rank, hops });
          }
        }
      }
    }
    level = next;
  }
  const list = [...headOf.values()].sort((a, b) => a.hops - b.hops || a.rank - b.rank);
  return list.map(({ rank }) => {
    const path: number[] = [];
    for (let link = by.get(members[rank]) as number; link >= 0; link = by.get(linkSource[link]) as number) {
      path.push(link);
    }
    return [rank, path.reverse()];
  });
}
