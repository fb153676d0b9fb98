import type { PackedTrees } from "../../engine/contract/kernels.ts";
import { groupedBy } from "../../model/graph/graph.ts";
import type { Heights } from "../../model/trees/tree-times.ts";
import type { PackingNetwork } from "./packing-network.ts";

/** Above so many NPUs only one root is looked at. */
const MOST_ROOTS = 2048;

/** Returns the edges from the root of each tree to its farthest member. O(links of all edges). */
function treeHeights({ npuCount, linkSource, linkTarget }: PackingNetwork, trees: PackedTrees): Int32Array {
  const { root, linkOffset, links } = trees;
  const depth = new Int32Array(npuCount);
  return root.map((start, t) => {
    depth[start] = 0;
    let height = 0;
    for (let e = t * (npuCount - 1); e < (t + 1) * (npuCount - 1); e++) {
      const own = depth[linkSource[links[linkOffset[e]]]] + 1;
      depth[linkTarget[links[linkOffset[e + 1] - 1]]] = own;
      if (own > height) height = own;
    }
    return height;
  });
}

/** Returns the heights of packed trees, the mean over copies. O(links of all edges). */
export function heightsOf(network: PackingNetwork, trees: PackedTrees): Heights {
  let [greatest, sum, copies] = [0, 0, 0];
  treeHeights(network, trees).forEach((height, t) => {
    greatest = Math.max(greatest, height);
    sum += height * trees.copies[t];
    copies += trees.copies[t];
  });
  return { greatest, mean: sum / copies };
}

/**
 * Returns a lower bound of the height of trees that span all NPUs: the most edges between NPUs (paths through nodes that only
 * forward) from a root to its farthest NPU. Above 2,048 NPUs of the first root only. O(roots x links).
 */
export function leastHeight(
  { nodeCount, npuCount, linkSource, linkTarget }: PackingNetwork,
  copies: Float64Array,
): number {
  const { offset, items } = groupedBy(linkSource, nodeCount);
  const depth = new Int32Array(nodeCount);
  const roots: number[] = [];
  for (let v = 0; v < npuCount && roots.length < (npuCount > MOST_ROOTS ? 1 : npuCount); v++) {
    if (copies[v] > 0) roots.push(v);
  }
  let most = 0;
  for (const root of roots) {
    depth.fill(-1);
    depth[root] = 0;
    let level = [root];
    for (let height = 1; level.length > 0; height++) {
      const next: number[] = [];
      // what only forwards costs no edge, so it is passed at once
      const passed = [...level];
      for (let i = 0; i < passed.length; i++) {
        for (let j = offset[passed[i]]; j < offset[passed[i] + 1]; j++) {
          const to = linkTarget[items[j]];
          if (depth[to] >= 0) continue;
          depth[to] = height;
          if (to < npuCount) {
            next.push(to);
            if (height > most) most = height;
          } else passed.push(to);
        }
      }
      level = next;
    }
  }
  return most;
}
