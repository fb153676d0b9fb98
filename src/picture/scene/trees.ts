import type { Topology } from "../../model/topology/topology.ts";
import type { Forest } from "../../model/trees/tree-flow.ts";

/** A step of a tree, from the root outwards. */
export interface TreeEdge {
  readonly from: number;
  readonly to: number;
  /** Steps from the root to `to`. */
  readonly depth: number;
  /** Nodes that forward on the way, in that order. */
  readonly via: readonly number[];
}

/** Returns the edges of a tree from the root outwards: member to member, what lies between them in `via`. O(its links). */
export function edgesOf(
  { linkSource, linkTarget }: Topology,
  forest: Forest,
  tree: number,
  members: number,
): TreeEdge[] {
  const { linkOffset, links, direction, root } = forest;
  const [near, far] = direction === "out" ? [linkSource, linkTarget] : [linkTarget, linkSource];
  const depthOf = new Map<number, number>([[root[tree], 0]]);
  const edges: TreeEdge[] = [];
  const first = tree * (members - 1);
  for (let edge = first; edge < first + members - 1; edge++) {
    const way = links.subarray(linkOffset[edge], linkOffset[edge + 1]);
    const [from, to] = [near[way[0]], far[way[way.length - 1]]];
    const depth = (depthOf.get(from) ?? 0) + 1;
    depthOf.set(to, depth);
    edges.push({ from, to, depth, via: [...way.subarray(1)].map((link) => near[link]) });
  }
  return edges;
}

/** Returns the edges with each cut at the nodes that it passes, no pair of nodes twice. */
export function throughNodes(edges: readonly TreeEdge[]): TreeEdge[] {
  const seen = new Set<string>();
  const parts: TreeEdge[] = [];
  for (const { from, to, depth, via } of edges) {
    const way = [from, ...via, to];
    for (let i = 1; i < way.length; i++) {
      const pair = `${way[i - 1]}>${way[i]}`;
      if (seen.has(pair)) continue;
      seen.add(pair);
      parts.push({ from: way[i - 1], to: way[i], depth, via: [] });
    }
  }
  return parts;
}
