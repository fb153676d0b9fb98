import { NO_ROUTES } from "../../model/routes/routes.ts";
import type { TreeFlow } from "../../model/trees/tree-flow.ts";
import { names } from "../describe.ts";

/** The words of violations of tree flows. */
export interface TreeWords {
  /** Returns "rank 3 (gpu3)" for a member; "gpu9 (outside the group)" for another NPU; a switch's name. */
  node(node: number): string;
  /** Returns the link's name. */
  link(link: number): string;
  /** Returns "the out-forest". */
  forest(forest: number): string;
  /** Returns "out-tree 5 at rank 3 (gpu3)". */
  tree(forest: number, tree: number): string;
  /** Returns "link a>b" or "links a>s, s>b": those of edge i of the forest. */
  edge(forest: number, i: number): string;
}

/** Returns the words for a tree flow; each is made when it is asked for. */
export function treeWords({ topology, collective, forests }: TreeFlow): TreeWords {
  const words = names({ topology, collective, routes: NO_ROUTES });
  const node = (id: number): string => (id < topology.npuCount ? words.npu(id, 0) : topology.nodeNames[id]);
  return {
    node,
    link: words.link,
    forest: (f) => `the ${forests[f].direction}-forest`,
    tree: (f, t) => `${forests[f].direction}-tree ${t} at ${node(forests[f].root[t])}`,
    edge(f, i) {
      const { links, linkOffset } = forests[f];
      const named = Array.from(links.subarray(linkOffset[i], linkOffset[i + 1]), words.link);
      return `${named.length === 1 ? "link" : "links"} ${named.join(", ")}`;
    },
  };
}
