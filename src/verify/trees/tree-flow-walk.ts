import { nodeCount } from "../../model/topology/topology.ts";
import { type TreeFlow, treeCount } from "../../model/trees/tree-flow.ts";
import type { Recorder, Violation } from "../violation.ts";
import type { TreeWords } from "./tree-flow-words.ts";

/** What an edge is not to do, and the node or link where it does. */
type Fault = readonly [kind: Violation["kind"], words: string];

/**
 * Records the first fault of every listed tree of a forest: it must reach every member but its root once, over paths of links
 * from a member reached before, through nodes that are no members, each once. As a tree has members - 1 edges, it then spans
 * the members and nothing else. An in-tree is judged as an out-tree of the reversed network. O(edges + links).
 */
export function checkTrees(flow: TreeFlow, f: number, recorder: Recorder, words: TreeWords): void {
  const { topology, collective } = flow;
  const forest = flow.forests[f];
  const { root, linkOffset, links } = forest;
  const isOut = forest.direction === "out";
  const start = isOut ? topology.linkSource : topology.linkTarget;
  const end = isOut ? topology.linkTarget : topology.linkSource;
  const nodes = nodeCount(topology);
  const isMember = new Uint8Array(nodes);
  for (let i = 0; i < collective.groupMembers.length; i++) isMember[collective.groupMembers[i]] = 1;
  /** [nodes] the last tree that reached each member, and the last edge that passed each other node. */
  const reachedBy = new Int32Array(nodes).fill(-1);
  const passedBy = new Float64Array(nodes).fill(-1);

  const edgeFault = (tree: number, edge: number): Fault | null => {
    const from = linkOffset[edge];
    const last = linkOffset[edge + 1] - 1;
    if (last < from) return ["broken-path", "has no links"];
    let node = start[links[from]];
    if (reachedBy[node] !== tree) return ["not-a-tree", `starts at ${words.node(node)}, where the tree has not been`];
    for (let i = from; i < last; i++) {
      node = end[links[i]];
      if (start[links[i + 1]] !== node) {
        const fault = `which does not ${isOut ? "leave" : "enter"} ${words.node(node)}`;
        return ["broken-path", `goes on over link ${words.link(links[i + 1])}, ${fault}`];
      }
      if (isMember[node] === 1) return ["broken-path", `passes ${words.node(node)}, a member`];
      if (passedBy[node] === edge) return ["broken-path", `passes ${words.node(node)} twice`];
      passedBy[node] = edge;
    }
    node = end[links[last]];
    if (isMember[node] === 0) return ["not-a-tree", `ends at ${words.node(node)}, which is no member`];
    if (reachedBy[node] === tree) return ["not-a-tree", `ends at ${words.node(node)}, where the tree has been`];
    reachedBy[node] = tree;
    return null;
  };

  const edges = collective.groupSize - 1;
  for (let tree = 0; tree < treeCount(forest); tree++) {
    const npu = root[tree];
    if (isMember[npu] === 0) {
      const message = `${words.tree(f, tree)} has no member for its root`;
      recorder.record(() => ({ kind: "not-a-tree", npu, forest: f, tree, message }));
      continue;
    }
    reachedBy[npu] = tree;
    for (let edge = 0; edge < edges; edge++) {
      const at = tree * edges + edge;
      const fault = edgeFault(tree, at);
      if (fault === null) continue;
      recorder.record(() => {
        const [kind, what] = fault;
        const over = linkOffset[at] === linkOffset[at + 1] ? "" : ` over ${words.edge(f, at)}`;
        const link = over === "" ? {} : { link: links[linkOffset[at]] };
        const message = `${words.tree(f, tree)}: edge ${edge}${over} ${what}`;
        return { kind, npu, forest: f, tree, edge, ...link, message };
      });
      break;
    }
  }
}
