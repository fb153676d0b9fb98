/** A rooted tree over nodes 0 .. n - 1: `parent[v]` is -1 at the root; `order` lists the nodes from the root outwards. */
export interface BinaryTree {
  readonly order: readonly number[];
  readonly parent: readonly number[];
}

/** What trees have left: links between two nodes, and links of each node. Both are changed and changed back. */
interface Room {
  readonly links: number[][];
  readonly ports: number[];
}

/**
 * Returns two spanning trees of the least height in which a node has two children at most, which take no link of `links` [n][n]
 * twice and no more than `ports` links of any node; null where there are none. Those that come first: low numbers are roots, and
 * children, first. A search over all trees, for few nodes.
 */
export function binaryTreePair(links: readonly (readonly number[])[], ports: number): [BinaryTree, BinaryTree] | null {
  const room = { links: links.map((row) => [...row]), ports: links.map(() => ports) };
  for (let height = 1; height < links.length; height++) {
    for (const first of treesWithin(room, height)) {
      for (const second of treesWithin(room, height)) return [first, second];
    }
  }
  return null;
}

/** Yields the trees of at most this height; while one is looked at its links are taken from the room. */
function* treesWithin(room: Room, height: number): Generator<BinaryTree> {
  const nodes = room.ports.length;
  for (let root = 0; root < nodes; root++) {
    const parent = new Array<number>(nodes).fill(-1);
    const depth = new Array<number>(nodes).fill(-1);
    depth[root] = 0;
    yield* grown({ order: [root], parent }, depth, 0, room, height);
  }
}

/** Yields all ways to go on with a tree whose first `done` nodes have their children. */
function* grown(
  tree: { order: number[]; parent: number[] },
  depth: number[],
  done: number,
  room: Room,
  height: number,
): Generator<BinaryTree> {
  const { order, parent } = tree;
  if (order.length === parent.length) yield { order: [...order], parent: [...parent] };
  if (order.length === parent.length || done === order.length || depth[order[done]] === height) return;
  const node = order[done];
  const take = (child: number, sign: 1 | -1): void => {
    room.links[node][child] -= sign;
    room.links[child][node] -= sign;
    room.ports[node] -= sign;
    room.ports[child] -= sign;
    parent[child] = sign === 1 ? node : -1;
    depth[child] = sign === 1 ? depth[node] + 1 : -1;
    if (sign === 1) order.push(child);
    else order.pop();
  };
  const free = (child: number): boolean =>
    depth[child] < 0 && room.links[node][child] > 0 && room.ports[node] > 0 && room.ports[child] > 0;
  for (let a = 0; a < parent.length; a++) {
    if (!free(a)) continue;
    take(a, 1);
    for (let b = a + 1; b < parent.length; b++) {
      if (!free(b)) continue;
      take(b, 1);
      yield* grown(tree, depth, done + 1, room, height);
      take(b, -1);
    }
    yield* grown(tree, depth, done + 1, room, height);
    take(a, -1);
  }
  yield* grown(tree, depth, done + 1, room, height);
}
