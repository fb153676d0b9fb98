import { doubleBinaryTree } from "../../model/graph/double-binary-tree.ts";
import { fromBaseline } from "./baseline.ts";
import { treeMessages } from "./tree-pipeline.ts";

/**
 * All-reduce over two binary trees, each of which sums half of the chunks at its root and sends the sums back down
 * (Zhao 2026, 3.8.2). Chunks follow each other through a tree as a pipeline; each hop takes a shortest path.
 */
export const doubleBinaryTrees = fromBaseline({
  name: "dbt",
  description: "double binary tree: each tree reduces and broadcasts half of the chunks, pipelined (baseline)",
  collectives: ["allreduce"],
  lanes: () => 2,
  unit: () => 1,
  pipelines: () => true,
  issue: ({ topology, collective }) => treeMessages(topology, collective, doubleBinaryTree(collective.groupSize)),
  words: () => "two trees",
});
