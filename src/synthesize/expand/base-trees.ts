/**
 * The broadcast trees of bandwidth-optimal all-gathers on the base graphs of `model/direct/base-graphs.ts`, which no
 * breadth-first broadcast reaches (Zhao 2026, table A.3). They were found with a constraint solver that was given the fewest
 * steps there can be, equal loads of all arcs in every step, and then the fewest messages.
 *
 * A tree is written as two words with a letter for every node, in order of id: from whom it receives, in hexadecimal, and in
 * which comm step, from 1; the root has its own id and 0.
 */
export interface BaseTrees {
  readonly family: string;
  readonly parameters: readonly number[];
  /** Equal parts of a shard. */
  readonly parts: number;
  /**
   * An automorphism whose order divides `parts`: image of each node, in hexadecimal. Only the trees of part 0 are listed then;
   * those of part p are their images under its p-th power. Null: all are listed, part by part.
   */
  readonly turn: string | null;
  /** By part, then by root. */
  readonly trees: readonly string[];
  /** The same for the transpose. */
  readonly transposed: readonly string[];
}

const DIAMOND: BaseTrees = {
  family: "Diamond",
  parameters: [],
  parts: 2,
  turn: "23014576",
  trees: [
    "00770144 01331332",
    "31122155 30122132",
    "66222344 33011323",
    "30130354 12302123",
    "36774344 32320311",
    "60772555 23233011",
    "66122165 11233203",
    "30770357 23113230",
  ],
  transposed: [
    "02306602 03213213",
    "11406613 10322313",
    "12257712 21033231",
    "42337713 32102331",
    "42404702 13130322",
    "15357513 31313022",
    "15456662 32231103",
    "45457707 23321130",
  ],
};

export const BASE_TREES: readonly BaseTrees[] = [DIAMOND];
