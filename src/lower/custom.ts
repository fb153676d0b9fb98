import { InputError, inWords } from "../base/errors.ts";
import { membersOf, type Placement } from "../model/collective/collective.ts";
import type { ProgramTable } from "../model/program/table.ts";
import type { Moves, UnequalBlocks } from "./moves.ts";

/** Returns the blocks with every `coarser` chunks cut into `cuts`. */
export const cutBlocks = ({ start, sums }: UnequalBlocks, cuts: number, coarser = 1): UnequalBlocks => ({
  start: start.map((chunk) => (chunk / coarser) * cuts),
  sums,
});

/** Returns the block of a chunk. O(log blocks). */
export function blockOfChunk({ start }: UnequalBlocks, chunk: number): number {
  let [low, high] = [0, start.length - 1];
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (start[middle] <= chunk) low = middle;
    else high = middle;
  }
  return low;
}

/** Where the blocks of a custom collective are in the buffers of ranks: its input and output have them in order. */
export interface CustomPlaces {
  /** [ranks * blocks] first chunk in the input, and in the output; -1: it is not there. */
  readonly startAt: Int32Array;
  readonly endAt: Int32Array;
  /** [ranks] chunks of each. */
  readonly input: Int32Array;
  readonly output: Int32Array;
}

/** Returns the places of the blocks of moves. Throws InputError for members that are no ranks. O(ranks x blocks). */
export function customPlaces({ collective, rankCount }: Moves, { start }: UnequalBlocks): CustomPlaces {
  const blocks = start.length - 1;
  const rankOf = new Map(Array.from(collective.groupMembers, (npu, rank) => [npu, rank]));
  const placed = (placement: Placement) => {
    const at = new Int32Array(rankCount * blocks).fill(-1);
    const size = new Int32Array(rankCount);
    for (let b = 0; b < blocks; b++) {
      for (const npu of membersOf(collective, placement, b)) {
        const rank = rankOf.get(npu);
        if (rank === undefined)
          throw new InputError(
            "a custom collective to be lowered",
            "chunks of members of its group",
            inWords(`NPU ${npu}`),
          );
        at[rank * blocks + b] = size[rank];
        size[rank] += start[b + 1] - start[b];
      }
    }
    return { at, size };
  };
  const [before, after] = [placed(collective.pre), placed(collective.post)];
  return { startAt: before.at, endAt: after.at, input: before.size, output: after.size };
}

/** Returns what a program of such moves is to make, in its chunks. O(ranks x blocks + chunks of buffers). */
export function tableOf(moves: Moves, { start, sums }: UnequalBlocks): ProgramTable {
  const { startAt, endAt, input, output } = customPlaces(moves, { start, sums });
  const blocks = sums.length;
  const listed = (at: Int32Array, size: Int32Array) => {
    const offset = new Int32Array(size.length + 1);
    size.forEach((chunks, r) => {
      offset[r + 1] = offset[r] + chunks;
    });
    const chunk = new Int32Array(offset[size.length]);
    at.forEach((place, key) => {
      if (place < 0) return;
      const [rank, b] = [Math.floor(key / blocks), key % blocks];
      for (let c = start[b]; c < start[b + 1]; c++) chunk[offset[rank] + place + c - start[b]] = c;
    });
    return { offset, chunk };
  };
  const [before, after] = [listed(startAt, input), listed(endAt, output)];
  const chunkSums = new Uint8Array(start[blocks]);
  sums.forEach((sum, b) => {
    chunkSums.fill(sum, start[b], start[b + 1]);
  });
  return {
    sums: chunkSums,
    inputOffset: before.offset,
    inputChunk: before.chunk,
    outputOffset: after.offset,
    outputChunk: after.chunk,
  };
}

/** Returns the greatest number of chunks that a rank has in its input or output, what its runtime cuts a call's data into. */
export const mostOfCustom = ({ input, output }: Pick<CustomPlaces, "input" | "output">): number =>
  [...input, ...output].reduce((most, chunks) => Math.max(most, chunks), 1);
