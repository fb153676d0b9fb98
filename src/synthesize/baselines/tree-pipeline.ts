import type { Collective } from "../../model/collective.ts";
import { fromTheRoot } from "../../model/double-binary-tree.ts";
import { blocksOf, type Messages, messages } from "../../model/messages.ts";

/** One message a chunk: from a rank to another, in which beat after the chunk's first. */
interface Hop {
  readonly from: number;
  readonly to: number;
  readonly reduces: boolean;
  readonly beat: number;
}

/** Returns the hops of a chunk through a tree: up, the deepest ranks first, then down. */
function hopsOf(parent: Int32Array): Hop[] {
  const order = fromTheRoot(parent);
  const depth = new Int32Array(parent.length);
  for (const rank of order) depth[rank] = parent[rank] < 0 ? 0 : depth[parent[rank]] + 1;
  const deepest = depth[order[order.length - 1]];
  const below = [...order].filter((rank) => parent[rank] >= 0);
  const up = below.map((rank) => ({ from: rank, to: parent[rank], reduces: true, beat: deepest - depth[rank] }));
  const down = below.map((rank) => ({ from: parent[rank], to: rank, reduces: false, beat: deepest + depth[rank] - 1 }));
  return [...up, ...down];
}

/**
 * Returns the messages of an all-reduce over trees of ranks ([ranks] parents, -1 at the root), each of which sums an equal part of
 * the chunks at its root and sends the sums back down. Chunks follow each other through a tree as a pipeline. O(messages).
 */
export function treeMessages(collective: Collective, parents: readonly Int32Array[]): Messages {
  const list = messages();
  const blocks = blocksOf(collective);
  const trees = parents.map(hopsOf);
  const perGroup = collective.chunkCount / blocks.groups;
  const beats = trees.map((hops) => hops.reduce((most, { beat }) => Math.max(most, beat + 1), 0));
  const last = Math.ceil(perGroup / trees.length) + beats.reduce((a, b) => Math.max(a, b));
  for (let now = 0; now < last; now++) {
    trees.forEach((hops, tree) => {
      for (const { from, to, reduces, beat } of hops) {
        const index = trees.length * (now - beat) + tree;
        if (index < 0 || index >= perGroup) continue;
        for (let group = 0; group < blocks.groups; group++) {
          list.add(group * perGroup + index, blocks.npu(group, from), blocks.npu(group, to), reduces);
        }
      }
    });
  }
  return list;
}
