import type { Collective } from "../../model/collective/collective.ts";

/**
 * What a schedule moves between the ranks of its one group, in chunks of the program to be made. Columns; chunks are numbered
 * as the collective numbers its own, block by block, with `chunksPerBlock` to a block.
 *
 * A move departs with what its source holds of its chunks at that moment, and is there when it arrives: these 2 x moves events
 * happen in the order of `departsAt` and `arrivesAt`, which are the numbers 0 .. 2 x moves - 1.
 */
export interface Moves {
  /** Of one group; its own number of chunks says nothing here. */
  readonly collective: Collective;
  readonly rankCount: number;
  readonly rootRank: number;
  readonly chunksPerBlock: number;
  /** Over all blocks: blocks x chunksPerBlock. */
  readonly chunkCount: number;
  /** [moves] ranks. */
  readonly source: Int32Array;
  readonly target: Int32Array;
  /** [moves] first chunk and number of chunks, all of one block. */
  readonly chunk: Int32Array;
  readonly chunks: Int32Array;
  /** [moves] 1: added to what the target holds. */
  readonly reduces: Uint8Array;
  /** [moves] moves of one lane follow each other through ranks (a tree of a forest); -1: none in particular. */
  readonly lane: Int32Array;
  /** [moves] */
  readonly departsAt: Int32Array;
  readonly arrivesAt: Int32Array;
}
