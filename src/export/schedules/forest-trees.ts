import { expandTrees } from "../../model/trees/tree-expansion.ts";
import { type Forest, type TreeFlow, treeCount } from "../../model/trees/tree-flow.ts";
import { xmlAttribute } from "../xml-attribute.ts";

/**
 * Yields the parts of ForestColl's tree XML: a `trees` element for each forest, in it a `tree` (root, number among the trees
 * of that root, copies as `nchunks`, height in edges) with a `send` for each edge, from the root outwards; `path` lists the
 * nodes between `src` and `dst`, in the direction of the data. Symmetric flows are written out tree by tree. Throws
 * InputError where expandTrees does. O(links of edges).
 */
export function* forestTrees(flow: TreeFlow): Generator<string> {
  const whole = expandTrees(flow);
  yield '<?xml version="1.0"?>\n<forests>\n';
  for (const forest of whole.forests) yield* forestParts(whole, forest);
  yield "</forests>\n";
}

function* forestParts(flow: TreeFlow, forest: Forest): Generator<string> {
  const { nodeNames } = flow.topology;
  const edges = flow.collective.groupSize - 1;
  const many = treeCount(forest);
  yield ` <trees collective="${flow.collective.kind}" direction="${forest.direction}" nranks="${edges + 1}" ntrees="${many}">\n`;
  const indexAt = new Map<number, number>();
  for (let tree = 0; tree < many; tree++) {
    const root = forest.root[tree];
    const index = indexAt.get(root) ?? 0;
    indexAt.set(root, index + 1);
    const lines: string[] = [];
    const depth = new Map([[root, 0]]);
    let height = 0;
    for (let edge = tree * edges; edge < (tree + 1) * edges; edge++) {
      const nodes = nodesOfEdge(flow, forest, edge);
      const [near, far] = forest.direction === "out" ? [nodes[0], nodes.at(-1)] : [nodes.at(-1), nodes[0]];
      const level = (depth.get(near as number) ?? 0) + 1;
      depth.set(far as number, level);
      height = Math.max(height, level);
      const [src, ...rest] = nodes.map((node) => xmlAttribute(nodeNames[node]));
      const dst = rest.pop();
      lines.push(`   <send src="${src}" dst="${dst}" path="${rest.join(",")}"/>\n`);
    }
    yield `  <tree root="${xmlAttribute(nodeNames[root])}" index="${index}" nchunks="${forest.copies[tree]}" height="${height}">\n`;
    yield `${lines.join("")}  </tree>\n`;
  }
  yield " </trees>\n";
}

/** Returns the nodes that data passes on an edge, from the member that sends to the one that receives. */
function nodesOfEdge({ topology }: TreeFlow, { direction, links, linkOffset }: Forest, edge: number): number[] {
  const path = Array.from(links.subarray(linkOffset[edge], linkOffset[edge + 1]));
  if (direction === "in") path.reverse();
  return [topology.linkSource[path[0]], ...path.map((link) => topology.linkTarget[link])];
}
