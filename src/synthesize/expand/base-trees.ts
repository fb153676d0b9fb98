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

const DBJ_MOD_2_3: BaseTrees = {
  family: "DBJMod",
  parameters: [2, 3],
  parts: 2,
  turn: "37605421",
  trees: [
    "00012235 01133243",
    "71112633 40112422",
    "40252275 34021132",
    "74136633 33402311",
    "44114233 11220333",
    "70056575 23313021",
    "44156665 22331104",
    "70056677 12244210",
  ],
  transposed: [
    "03470750 04321241",
    "11461340 10231423",
    "22260740 11042332",
    "13531356 21402134",
    "12464346 32120313",
    "22570556 23133012",
    "13561366 42313201",
    "23571757 33214120",
  ],
};

const DBJ_MOD_3_2: BaseTrees = {
  family: "DBJMod",
  parameters: [3, 2],
  parts: 3,
  turn: "453786120",
  trees: [
    "000510565 011221233",
    "211411522 201211332",
    "282770822 120233211",
    "303330527 121012323",
    "661444465 323101122",
    "300535585 233120121",
    "660474667 112323012",
    "283774477 332112201",
    "681771888 212332110",
  ],
  transposed: [
    "020038086 021123132",
    "110068141 102222131",
    "222263137 110133223",
    "157333137 322011313",
    "140443747 213102312",
    "557455041 113210222",
    "548266686 222311021",
    "557256777 331232101",
    "248058788 231321210",
  ],
};

export const BASE_TREES: readonly BaseTrees[] = [DIAMOND, DBJ_MOD_2_3, DBJ_MOD_3_2];
