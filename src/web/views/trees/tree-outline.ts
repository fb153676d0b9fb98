import type { TreeView } from "../../protocol.ts";

/** A tree as a nested list: nodes one after the other as long as there is one next, then the branches. */
export interface Outline {
  readonly nodes: readonly number[];
  readonly branches: readonly Outline[];
}

/** Returns the outline of a tree from its root, branches in the order of the edges. O(edges), no recursion per node. */
export function outlineOf({ root, from, to }: Pick<TreeView, "root" | "from" | "to">): Outline {
  const next = new Map<number, number[]>();
  for (let edge = 0; edge < from.length; edge++) {
    const known = next.get(from[edge] as number);
    if (known === undefined) next.set(from[edge] as number, [to[edge] as number]);
    else known.push(to[edge] as number);
  }
  const stemFrom = (node: number): { nodes: number[]; branches: Outline[] } => {
    const nodes = [node];
    for (let after = next.get(node); after?.length === 1; after = next.get(after[0] as number))
      nodes.push(after[0] as number);
    return { nodes, branches: [] };
  };
  const whole = stemFrom(root);
  const open = [whole];
  for (let stem = open.pop(); stem !== undefined; stem = open.pop()) {
    for (const branch of next.get(stem.nodes[stem.nodes.length - 1] as number) ?? []) {
      const found = stemFrom(branch);
      stem.branches.push(found);
      open.push(found);
    }
  }
  return whole;
}
