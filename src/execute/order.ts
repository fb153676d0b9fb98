/** Which of the instructions that can go on goes on. */
export interface Order {
  /** Any of them; the one that was tried last; the one that was not tried for the longest time. */
  readonly pick: "random" | "newest" | "oldest";
  /** [blocks] below CLASSES: a block goes on only where no block of a lower class can. Null: all alike. */
  readonly classOfBlock: Uint8Array | null;
}

export const CLASSES = 8;
export const RANDOM_ORDER: Order = { pick: "random", classOfBlock: null };
