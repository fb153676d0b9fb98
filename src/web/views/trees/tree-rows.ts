import type { TreesView } from "../../protocol.ts";

/** Rows of the list of a forest's trees. */

export type ForestView = TreesView["forests"][number];

export type Row =
  | { readonly kind: "root"; readonly root: number; readonly trees: number }
  | { readonly kind: "tree"; readonly tree: number /** Among the trees of all rows. */; readonly index: number };

/**
 * Returns the rows of a forest: trees by root in the order of the nodes, under a row for their root where roots have several.
 * `wanted` keeps some roots only. O(trees log trees).
 */
export function rowsOf({ root }: ForestView, wanted: (root: number) => boolean = () => true): Row[] {
  const order = [...root.keys()].filter((tree) => wanted(root[tree] as number));
  order.sort((a, b) => (root[a] as number) - (root[b] as number) || a - b);
  const trees = new Map<number, number>();
  for (const tree of order) trees.set(root[tree] as number, (trees.get(root[tree] as number) ?? 0) + 1);
  const hasHeads = [...trees.values()].some((count) => count > 1);
  const rows: Row[] = [];
  let last = -1;
  for (const [index, tree] of order.entries()) {
    const own = root[tree] as number;
    if (hasHeads && own !== last) rows.push({ kind: "root", root: own, trees: trees.get(own) as number });
    last = own;
    rows.push({ kind: "tree", tree, index });
  }
  return rows;
}

/** Returns the trees of a root. O(trees). */
export const treesOf = ({ root }: ForestView, of: number): number[] =>
  [...root.keys()].filter((tree) => root[tree] === of);

/** Returns the tree that is `by` further than another in the rows; the first where it is not there, itself at the ends. O(rows). */
export function treeBeside(rows: readonly Row[], tree: number, by: number): number {
  const trees = rows.flatMap((row) => (row.kind === "tree" ? [row.tree] : []));
  const at = trees.indexOf(tree);
  if (at < 0) return trees[0] ?? tree;
  return trees[Math.max(0, Math.min(trees.length - 1, at + by))] as number;
}
