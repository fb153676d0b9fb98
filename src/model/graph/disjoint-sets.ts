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
