import { doubleBinaryTree, fromTheRoot } from "../../model/double-binary-tree.ts";
import { listSchedule } from "../../model/list-schedule.ts";
import { blocksOf, messages } from "../../model/messages.ts";
import type { Synthesizer } from "../synthesizer.ts";

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
 * All-reduce over two binary trees, each of which sums half of the chunks at its root and sends the sums back down
 * (Zhao 2026, 3.8.2). Chunks follow each other through a tree as a pipeline; each hop takes a shortest path.
 */
export const doubleBinaryTrees: Synthesizer = {
  name: "dbt",
  description: "double binary tree: each tree reduces and broadcasts half of the chunks, pipelined (baseline)",
  collectives: ["allreduce"],
  policies: [],
  async synthesize({ topology, collective }) {
    const list = messages();
    const blocks = blocksOf(collective);
    const trees = doubleBinaryTree(collective.groupSize).map(hopsOf);
    const perGroup = collective.chunkCount / blocks.groups;
    const beats = Math.max(...trees.map((hops) => Math.max(0, ...hops.map(({ beat }) => beat + 1))));
    for (let now = 0; now < Math.ceil(perGroup / 2) + beats; now++) {
      trees.forEach((hops, tree) => {
        for (const { from, to, reduces, beat } of hops) {
          const index = 2 * (now - beat) + tree;
          if (index < 0 || index >= perGroup) continue;
          for (let group = 0; group < blocks.groups; group++) {
            list.add(group * perGroup + index, blocks.npu(group, from), blocks.npu(group, to), reduces);
          }
        }
      });
    }
    return { schedule: listSchedule(topology, collective, list), policy: "two trees", trials: 1 };
  },
};
