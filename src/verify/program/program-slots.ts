/** Clocks that are kept until all who wait for them have read them. */
export interface Slots {
  /** Returns where a new clock begins in `data()`; its words are undefined. */
  readonly take: () => number;
  /** Gives a clock's place back. */
  readonly give: (at: number) => void;
  /** The words of all clocks; another array after every `take`. */
  readonly data: () => Int32Array;
}

/** Returns an empty store of clocks of `stride` words. Memory: the most clocks kept at a time. */
export function slots(stride: number): Slots {
  let words = new Int32Array(64 * stride);
  let used = 0;
  const free: number[] = [];
  return {
    take() {
      const again = free.pop();
      if (again !== undefined) return again;
      if (used + stride > words.length) {
        const more = new Int32Array(2 * words.length);
        more.set(words);
        words = more;
      }
      used += stride;
      return used - stride;
    },
    give: (at) => {
      free.push(at);
    },
    data: () => words,
  };
}

/** Raises `into[at ..]` to the greater of both, word by word. */
export function raise(into: Int32Array, at: number, from: Int32Array, fromAt: number, words: number): void {
  for (let w = 0; w < words; w++) if (from[fromAt + w] > into[at + w]) into[at + w] = from[fromAt + w];
}

/** Copies words of a clock. */
export function put(into: Int32Array, at: number, from: Int32Array, fromAt: number, words: number): void {
  for (let w = 0; w < words; w++) into[at + w] = from[fromAt + w];
}
