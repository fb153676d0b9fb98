/** Lists and sets of indices: the twin of native/kernels/lists.h, function by function. */

export const NONE = -1;

/** Lists of indices: list i is items[offset[i] .. offset[i + 1]]. */
export interface Lists {
  readonly offset: Int32Array;
  readonly items: Int32Array;
}

/** Returns 0 .. keys.length - 1 grouped by key, each list ascending; keys of -1 are left out. */
export function group(keys: Int32Array, keyCount: number): Lists {
  const offset = new Int32Array(keyCount + 1);
  let kept = 0;
  for (let i = 0; i < keys.length; i++) {
    if (keys[i] < 0) continue;
    offset[keys[i] + 1]++;
    kept++;
  }
  for (let k = 0; k < keyCount; k++) offset[k + 1] += offset[k];
  const next = offset.slice(0, keyCount);
  const items = new Int32Array(kept);
  for (let i = 0; i < keys.length; i++) if (keys[i] >= 0) items[next[keys[i]]++] = i;
  return { offset, items };
}

/** Lists for each node where its `routes` lead by `target`, each node once, in their order. */
export function groupTargets(routes: Lists, target: Int32Array): Lists {
  const offset = new Int32Array(routes.offset.length);
  const items = new Int32Array(routes.items.length);
  let found = 0;
  for (let v = 0; v + 1 < offset.length; v++) {
    const first = found;
    for (let i = routes.offset[v]; i < routes.offset[v + 1]; i++) {
      const node = target[routes.items[i]];
      let fresh = true;
      for (let j = first; j < found; j++) fresh = fresh && items[j] !== node;
      if (fresh) items[found++] = node;
    }
    offset[v + 1] = found;
  }
  return { offset, items };
}

/**
 * Lists for each node what is two steps away and not fewer, where `near` lists what is one step away, without repeats; steps
 * out of nodes with more than `most` of them are left out.
 */
export function groupSecond({ offset: nearOffset, items: near }: Lists, most: number): Lists {
  const count = nearOffset.length - 1;
  const seen = new Int32Array(count); // the last node that has seen it, plus 1
  const offset = new Int32Array(count + 1);
  const items: number[] = [];
  for (let v = 0; v < count; v++) {
    const begin = nearOffset[v];
    const end = nearOffset[v + 1];
    seen[v] = v + 1;
    for (let i = begin; i < end; i++) seen[near[i]] = v + 1;
    for (let i = begin; i < end && end - begin <= most; i++) {
      const u = near[i];
      if (nearOffset[u + 1] - nearOffset[u] > most) continue;
      for (let j = nearOffset[u]; j < nearOffset[u + 1]; j++) {
        if (seen[near[j]] === v + 1) continue;
        seen[near[j]] = v + 1;
        items.push(near[j]);
      }
    }
    offset[v + 1] = items.length;
  }
  return { offset, items: Int32Array.from(items) };
}

/** A list of indices in which each stands at most once until it is taken. */
export interface Touched {
  readonly marks: Uint8Array;
  readonly list: Int32Array;
  count: number;
}

export const touched = (size: number): Touched => ({
  marks: new Uint8Array(size),
  list: new Int32Array(size),
  count: 0,
});

export function touch(set: Touched, index: number): void {
  if (set.marks[index] !== 0) return;
  set.marks[index] = 1;
  set.list[set.count++] = index;
}

/** Returns the root of the node's set in a forest of disjoint sets: parent[v] = v at the root, the least of its set. */
export function find(parent: Int32Array, node: number): number {
  let v = node;
  while (parent[v] !== v) {
    parent[v] = parent[parent[v]];
    v = parent[v];
  }
  return v;
}

export function unite(parent: Int32Array, a: number, b: number): void {
  const x = find(parent, a);
  const y = find(parent, b);
  if (x < y) parent[y] = x;
  if (y < x) parent[x] = y;
}

/** Returns 0 .. count - 1. */
export const range = (count: number): Int32Array => Int32Array.from({ length: count }, (_, i) => i);
