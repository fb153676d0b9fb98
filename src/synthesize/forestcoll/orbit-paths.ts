import type { PackedTrees } from "../../engine/contract/kernels.ts";
import { groupedBy } from "../../model/graph/graph.ts";
import type { Topology } from "../../model/topology/topology.ts";

/** Paths that share their beginnings: path p runs along path before[p] (none: -1, then it starts at an NPU), then link[p]. */
export interface Paths {
  readonly link: number[];
  readonly before: number[];
}

/** Adds a path and returns its number. */
export function extended(paths: Paths, before: number, link: number): number {
  paths.before.push(before);
  return paths.link.push(link) - 1;
}

/** Equal trees of root 0: the path into each NPU, [NPUs], anything for NPU 0. */
export interface OrbitTree {
  readonly copies: number;
  readonly into: Int32Array;
}

/** Returns the NPU from which each NPU gets its data in a tree, [NPUs]; -1 for the root. O(links of all paths). */
function parentsOf(topology: Topology, paths: Paths, into: Int32Array): Int32Array {
  const parent = new Int32Array(into.length).fill(-1);
  for (let v = 1; v < into.length; v++) {
    let p = into[v];
    while (paths.before[p] >= 0) p = paths.before[p];
    parent[v] = topology.linkSource[paths.link[p]];
  }
  return parent;
}

/**
 * Returns trees of root 0 in the columns of a forest, edges breadth-first, and the height of the highest; null when one does
 * not reach all NPUs. O(trees * links of their paths).
 */
export function forestOf(
  topology: Topology,
  paths: Paths,
  trees: readonly OrbitTree[],
): { readonly trees: PackedTrees; readonly height: number } | null {
  const { npuCount } = topology;
  const linkOffset = new Float64Array(trees.length * (npuCount - 1) + 1);
  const links: number[] = [];
  const depth = new Int32Array(npuCount);
  const queue = new Int32Array(npuCount);
  let edges = 0;
  let height = 0;
  for (const { into } of trees) {
    const parent = parentsOf(topology, paths, into);
    parent[0] = 0;
    const { offset, items } = groupedBy(parent, npuCount);
    let last = 1;
    for (let first = 0; first < last; first++) {
      const v = queue[first];
      for (let i = offset[v]; i < offset[v + 1]; i++) {
        const u = items[i];
        if (u === 0) continue;
        queue[last++] = u;
        depth[u] = depth[v] + 1;
        height = Math.max(height, depth[u]);
        const from = links.length;
        for (let p = into[u]; p >= 0; p = paths.before[p]) links.push(paths.link[p]);
        reverse(links, from);
        linkOffset[++edges] = links.length;
      }
    }
    if (last < npuCount) return null;
  }
  const columns = {
    root: new Int32Array(trees.length),
    copies: Float64Array.from(trees, ({ copies }) => copies),
    linkOffset,
    links: Int32Array.from(links),
  };
  return { trees: columns, height };
}

function reverse(list: number[], from: number): void {
  for (let i = from, j = list.length - 1; i < j; i++, j--) [list[i], list[j]] = [list[j], list[i]];
}
