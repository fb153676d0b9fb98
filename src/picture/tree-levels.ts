/** A tree level by level: how far from its root each node stands, and where beside the others. */
export interface TreeLevels {
  readonly nodes: readonly {
    readonly node: number;
    /** Edges from the root. */
    readonly level: number;
    /** Leaves have whole numbers, in the order of the branches; others stand in the middle of theirs. */
    readonly place: number;
  }[];
  /** Indices of `nodes`: parent and child of each edge, in the order of the edges. */
  readonly edges: readonly { readonly parent: number; readonly child: number; readonly depth: number }[];
  readonly levels: number;
  readonly leaves: number;
}

/** A tree's edges from the root outwards, as columns. */
interface TreeColumns {
  readonly root: number;
  readonly from: ArrayLike<number>;
  readonly to: ArrayLike<number>;
  /** Edges from the root to the far end. */
  readonly depth: ArrayLike<number>;
}

/** Returns the levels of a tree. O(edges), no recursion per node. */
export function levelsOf({ root, from, to, depth }: TreeColumns): TreeLevels {
  const numbers = new Map([[root, 0]]);
  for (const node of Array.from(to)) numbers.set(node, numbers.size);
  const children: number[][] = Array.from({ length: numbers.size }, () => []);
  const edges = Array.from(from, (node, edge) => {
    const parent = numbers.get(node) as number;
    const child = numbers.get(to[edge]) as number;
    children[parent].push(child);
    return { parent, child, depth: depth[edge] };
  });
  const place = new Float64Array(numbers.size);
  let leaves = 0;
  // each node is met twice: before its children, and after the last of them
  const open: { at: number; isDone: boolean }[] = [{ at: 0, isDone: false }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const below = children[next.at];
    if (below.length === 0) place[next.at] = leaves++;
    else if (next.isDone) place[next.at] = (place[below[0]] + place[below[below.length - 1]]) / 2;
    else {
      open.push({ at: next.at, isDone: true });
      for (const child of below.toReversed()) open.push({ at: child, isDone: false });
    }
  }
  const level = new Int32Array(numbers.size);
  for (const { child, depth: far } of edges) level[child] = far;
  return {
    nodes: Array.from(numbers.keys(), (node, at) => ({ node, level: level[at], place: place[at] })),
    edges,
    levels: 1 + level.reduce((most, far) => Math.max(most, far), 0),
    leaves,
  };
}
