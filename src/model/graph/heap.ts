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
  const isBefore = (a: number, b: number): boolean => keys[a] < keys[b] || (keys[a] === keys[b] && ids[a] < ids[b]);
  const swap = (a: number, b: number): void => {
    [keys[a], keys[b]] = [keys[b], keys[a]];
    [ids[a], ids[b]] = [ids[b], ids[a]];
  };
  return {
    size: () => ids.length,
    add(key, id) {
      let i = ids.length;
      keys.push(key);
      ids.push(id);
      for (let parent = (i - 1) >> 1; i > 0 && isBefore(i, parent); parent = (i - 1) >> 1) {
        swap(i, parent);
        i = parent;
      }
    },
    key: () => (keys.length === 0 ? Number.POSITIVE_INFINITY : keys[0]),
    take() {
      if (ids.length === 0) return -1;
      const id = ids[0];
      swap(0, ids.length - 1);
      keys.pop();
      ids.pop();
      for (let i = 0; ; ) {
        let child = 2 * i + 1;
        if (child >= ids.length) return id;
        if (child + 1 < ids.length && isBefore(child + 1, child)) child++;
        if (!isBefore(child, i)) return id;
        swap(i, child);
        i = child;
      }
    },
  };
}
