/** Items (links, routes) by a node of theirs: `items[offset[v] .. offset[v + 1]]`, in item order. */
export interface Grouped {
  readonly offset: Int32Array;
  readonly items: Int32Array;
}

/** Returns the indices of `keys` grouped by key. O(keys + count). */
export function groupedBy(keys: Int32Array, count: number): Grouped {
  const offset = new Int32Array(count + 1);
  for (let i = 0; i < keys.length; i++) offset[keys[i] + 1]++;
  for (let v = 0; v < count; v++) offset[v + 1] += offset[v];
  const next = offset.slice(0, count);
  const items = new Int32Array(keys.length);
  for (let i = 0; i < keys.length; i++) items[next[keys[i]]++] = i;
  return { offset, items };
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
