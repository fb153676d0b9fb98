import type { TreeView } from "../../protocol.ts";

/** A tree with its root at the left: columns are distances from the root, every leaf has a row. */
export interface Levels {
  readonly nodes: readonly { readonly node: number; readonly column: number; readonly row: number }[];
  /** Indices of `nodes`: parent and child of each edge, in the order of the edges. */
  readonly edges: readonly { readonly parent: number; readonly child: number; readonly depth: number }[];
  readonly columns: number;
  readonly rows: number;
}

/** Returns where the nodes of a tree stand: leaves in the order of the branches, others in the middle of theirs. O(edges). */
export function levelsOf({ root, from, to, depth }: Pick<TreeView, "root" | "from" | "to" | "depth">): Levels {
  const numbers = new Map([[root, 0]]);
  for (const node of to) numbers.set(node, numbers.size);
  const children: number[][] = Array.from({ length: numbers.size }, () => []);
  const edges = Array.from(from, (node, edge) => {
    const parent = numbers.get(node) as number;
    const child = numbers.get(to[edge] as number) as number;
    children[parent]?.push(child);
    return { parent, child, depth: depth[edge] as number };
  });
  const row = new Float64Array(numbers.size);
  let rows = 0;
  // each node is met twice: before its children, and after the last of them
  const open: { at: number; isDone: boolean }[] = [{ at: 0, isDone: false }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const below = children[next.at] as number[];
    if (below.length === 0) row[next.at] = rows++;
    else if (next.isDone)
      row[next.at] = ((row[below[0] as number] as number) + (row[below[below.length - 1] as number] as number)) / 2;
    else {
      open.push({ at: next.at, isDone: true });
      for (const child of below.toReversed()) open.push({ at: child, isDone: false });
    }
  }
  const column = new Int32Array(numbers.size);
  for (const { child, depth: far } of edges) column[child] = far;
  return {
    nodes: Array.from(numbers.keys(), (node, at) => ({ node, column: column[at] as number, row: row[at] as number })),
    edges,
    columns: 1 + column.reduce((most, far) => Math.max(most, far), 0),
    rows,
  };
}
