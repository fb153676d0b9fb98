/** Items (links, routes) by a node of theirs: `items[offset[v] .. offset[v + 1]]`, in item order. */
export interface Grouped {
  readonly offset: Int32Array;
  readonly items: Int32Array;
}

/** Returns the indices of `keys`, 0 .. count - 1 each, grouped by key (counting sort). O(keys + count). */
export function groupedBy(keys: Uint8Array | Uint16Array | Int32Array, count: number): Grouped {
  const offset = new Int32Array(count + 1);
  for (let i = 0; i < keys.length; i++) offset[keys[i] + 1]++;
  for (let v = 0; v < count; v++) offset[v + 1] += offset[v];
  const next = offset.slice(0, count);
  const items = new Int32Array(keys.length);
  for (let i = 0; i < keys.length; i++) items[next[keys[i]]++] = i;
  return { offset, items };
}

/** Returns both ends of each arc: [2 arcs], that of arc a where it starts at 2a, where it ends at 2a + 1. */
export function bothEnds(tail: Int32Array, head: Int32Array): Int32Array {
  const ends = new Int32Array(2 * tail.length);
  for (let a = 0; a < tail.length; a++) {
    ends[2 * a] = tail[a];
    ends[2 * a + 1] = head[a];
  }
  return ends;
}

const remembered = new WeakMap<Int32Array, Grouped>();

/** Returns `groupedBy(keys, count)`, made once per column: columns of networks and routes never change. Not to be written. */
export function groupedOnce(keys: Int32Array, count: number): Grouped {
  const known = remembered.get(keys);
  if (known !== undefined && known.offset.length === count + 1) return known;
  const grouped = groupedBy(keys, count);
  remembered.set(keys, grouped);
  return grouped;
}

/** Returns the value that all elements have (0 where there is none), or null when they differ. */
export function commonValue(column: Float64Array): number | null {
  const first = column.length === 0 ? 0 : column[0];
  for (let i = 1; i < column.length; i++) if (column[i] !== first) return null;
  return first;
}

/** Weighted directed arcs among nodes 0 .. nodes - 1, grouped by tail. */
export interface Graph {
  readonly nodes: number;
  readonly head: Int32Array;
  /** [arcs] exact integers, 0 or more. */
  readonly weight: Float64Array;
  readonly leaving: Grouped;
  /** All arcs have this weight; null when they differ. */
  readonly uniform: number | null;
}

/** Returns the graph of the arcs tail -> head. The columns must not change afterwards. O(nodes + arcs). */
export function graph(nodes: number, tail: Int32Array, head: Int32Array, weight: Float64Array): Graph {
  return { nodes, head, weight, leaving: groupedOnce(tail, nodes), uniform: commonValue(weight) };
}

/**
 * Returns the distance of every node from the nearest source, Infinity where none reaches it. O(arcs log nodes).
 * `previous` [nodes], where given, receives the last arc of one shortest way to each node; other elements stay.
 */
export function distancesFrom(g: Graph, sources: ArrayLike<number>, previous?: Int32Array): Float64Array {
  return g.uniform === null ? dijkstra(g, sources, previous) : breadthFirst(g, sources, g.uniform, previous);
}

function breadthFirst(g: Graph, sources: ArrayLike<number>, step: number, previous?: Int32Array): Float64Array {
  const { head, leaving } = g;
  const { offset, items } = leaving;
  const distance = new Float64Array(g.nodes).fill(Number.POSITIVE_INFINITY);
  const queue = new Int32Array(g.nodes);
  let last = 0;
  for (let i = 0; i < sources.length; i++) {
    if (distance[sources[i]] === 0) continue;
    distance[sources[i]] = 0;
    queue[last++] = sources[i];
  }
  for (let first = 0; first < last; first++) {
    const v = queue[first];
    const reach = distance[v] + step;
    for (let i = offset[v]; i < offset[v + 1]; i++) {
      const u = head[items[i]];
      if (distance[u] !== Number.POSITIVE_INFINITY) continue;
      distance[u] = reach;
      if (previous !== undefined) previous[u] = items[i];
      queue[last++] = u;
    }
  }
  return distance;
}

/** Dijkstra 1959 with a binary heap; stale entries are skipped. */
function dijkstra(g: Graph, sources: ArrayLike<number>, previous?: Int32Array): Float64Array {
  const { head, weight, leaving } = g;
  const { offset, items } = leaving;
  const distance = new Float64Array(g.nodes).fill(Number.POSITIVE_INFINITY);
  const capacity = head.length + sources.length + 1;
  const keys = new Float64Array(capacity);
  const nodes = new Int32Array(capacity);
  let size = 0;
  const push = (key: number, node: number): void => {
    let i = size++;
    while (i > 0) {
      const parent = (i - 1) >> 1;
      if (keys[parent] <= key) break;
      keys[i] = keys[parent];
      nodes[i] = nodes[parent];
      i = parent;
    }
    keys[i] = key;
    nodes[i] = node;
  };
  for (let i = 0; i < sources.length; i++) {
    if (distance[sources[i]] === 0) continue;
    distance[sources[i]] = 0;
    push(0, sources[i]);
  }
  while (size > 0) {
    const key = keys[0];
    const v = nodes[0];
    const lastKey = keys[--size];
    const lastNode = nodes[size];
    for (let i = 0; ; ) {
      let child = 2 * i + 1;
      if (child >= size) {
        keys[i] = lastKey;
        nodes[i] = lastNode;
        break;
      }
      if (child + 1 < size && keys[child + 1] < keys[child]) child++;
      if (keys[child] >= lastKey) {
        keys[i] = lastKey;
        nodes[i] = lastNode;
        break;
      }
      keys[i] = keys[child];
      nodes[i] = nodes[child];
      i = child;
    }
    if (key > distance[v]) continue;
    for (let i = offset[v]; i < offset[v + 1]; i++) {
      const arc = items[i];
      const reach = key + weight[arc];
      if (reach >= distance[head[arc]]) continue;
      distance[head[arc]] = reach;
      if (previous !== undefined) previous[head[arc]] = arc;
      push(reach, head[arc]);
    }
  }
  return distance;
}

/** Sets of the items 0 .. count - 1, each item in one of them: at first each by itself, then joined (union-find). */
export interface DisjointSets {
  /** Returns the least item of the set that an item is in. */
  least(item: number): number;
  /** Makes the sets of two items one. */
  join(a: number, b: number): void;
}

/** Returns sets of one item each. Later calls take O(log count) on average (path halving). */
export function disjointSets(count: number): DisjointSets {
  const parent = Int32Array.from({ length: count }, (_, item) => item);
  const least = (item: number): number => {
    let at = item;
    while (parent[at] !== at) {
      parent[at] = parent[parent[at]];
      at = parent[at];
    }
    return at;
  };
  const join = (a: number, b: number): void => {
    const [x, y] = [least(a), least(b)];
    parent[Math.max(x, y)] = Math.min(x, y);
  };
  return { least, join };
}

/** Sets with numbers. */
export interface NumberedSets {
  /** [items] the number of each item's set; sets are numbered in the order of their least items. */
  readonly of: Int32Array;
  /** [sets] how many items each has. */
  readonly size: Int32Array;
}

/** Returns the sets of items, 0 .. count - 1, for which `name` returns the same. O(count). */
export function numberedSets(count: number, name: (item: number) => number): NumberedSets {
  const number = new Map<number, number>();
  const size: number[] = [];
  const of = new Int32Array(count);
  for (let item = 0; item < count; item++) {
    const own = name(item);
    let set = number.get(own);
    if (set === undefined) {
      set = size.push(0) - 1;
      number.set(own, set);
    }
    of[item] = set;
    size[set]++;
  }
  return { of, size: Int32Array.from(size) };
}

/** Numbers below 2^53 in a binary heap, smallest (key, id) first. */
export interface Heap {
  readonly size: () => number;
  readonly add: (key: number, id: number) => void;
  /** The smallest key; of an empty heap Infinity. */
  readonly key: () => number;
  /** Takes the smallest out and returns its id; -1 where there is none. */
  readonly take: () => number;
}

export function heap(): Heap {
  const keys: number[] = [];
  const ids: number[] = [];
  const isBefore = (key: number, id: number, i: number): boolean => key < keys[i] || (key === keys[i] && id < ids[i]);
  const put = (i: number, key: number, id: number): void => {
    keys[i] = key;
    ids[i] = id;
  };
  return {
    size: () => ids.length,
    add(key, id) {
      let i = ids.length;
      for (let parent = (i - 1) >> 1; i > 0 && isBefore(key, id, parent); parent = (i - 1) >> 1) {
        put(i, keys[parent], ids[parent]);
        i = parent;
      }
      put(i, key, id);
    },
    key: () => (keys.length === 0 ? Number.POSITIVE_INFINITY : keys[0]),
    take() {
      if (ids.length === 0) return -1;
      const first = ids[0];
      const key = keys.pop() as number;
      const id = ids.pop() as number;
      if (ids.length === 0) return first;
      let i = 0;
      for (let child = 1; child < ids.length; child = 2 * i + 1) {
        if (child + 1 < ids.length && isBefore(keys[child + 1], ids[child + 1], child)) child++;
        if (isBefore(key, id, child)) break;
        put(i, keys[child], ids[child]);
        i = child;
      }
      put(i, key, id);
      return first;
    },
  };
}
