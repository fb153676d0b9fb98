import { INPUT, type Op, OUTPUT, SCRATCH } from "../../model/program/program.ts";
import { accessOrder } from "./access-order.ts";
import type { Blocks } from "./blocks.ts";
import type { Buffers } from "./buffers.ts";
import { freshScratch, type Scratch } from "./scratch.ts";

/** A place in the buffers of a rank; NOWHERE, or index * 3 + buffer. */
export type Place = number;
export const NOWHERE: Place = -1;
export const placeIn = (buffer: number, index: number): Place => index * 3 + buffer;
export const bufferOf = (place: Place): number => place % 3;
export const indexOf = (place: Place): number => Math.floor(place / 3);

/** Instructions in the order in which they can happen one after the other, as columns. */
export interface Code {
  readonly blocks: Blocks;
  /** [blocks] its number among those of its rank, and the steps that it has, nops included. */
  readonly numberInRank: number[];
  readonly steps: number[];
  readonly op: Op[];
  readonly block: number[];
  readonly chunks: number[];
  /** [instructions] what it reads of its rank, and where it writes. */
  readonly source: Place[];
  readonly destination: Place[];
  /** [instructions] instructions of the rank that must be complete. */
  readonly waits: (readonly number[])[];
  readonly scratch: Scratch;
}

export interface CodeWriter {
  readonly code: Code;
  /** Returns whether two places of a rank are the same memory, in some call. */
  isSame(rank: number, a: Place, b: Place): boolean;
  /** Appends an instruction to a block. `offsets`: chunks, from its first, at which the parts that it moves begin; 0 without it. */
  add(op: Op, block: number, chunks: number, source: Place, destination: Place, offsets?: readonly number[]): void;
  /** Appends a copy to a block of the rank without peers that has room for it. */
  copy(rank: number, chunks: number, source: Place, destination: Place, offsets?: readonly number[]): void;
  takeScratch(rank: number, size: number, block: number): Place;
  giveBack(rank: number, size: number, place: Place): void;
  /** Returns the memory cell of a place. */
  cellOf(rank: number, place: Place): number;
}

const NO_OFFSETS: readonly number[] = [0];
/** Steps that a copy may take, nops for what it waits for included. */
const COPY_STEPS = 8;

/** Returns a writer of code for these blocks; `stepsPerBlock` bounds blocks of copies only. */
export function codeWriter(blocks: Blocks, buffers: Buffers, stepsPerBlock: number): CodeWriter {
  const ranks = buffers.inputChunks.length;
  const numberInRank: number[] = [];
  const blocksOfRank = new Array<number>(ranks).fill(0);
  for (const rank of blocks.rank) numberInRank.push(blocksOfRank[rank]++);
  const order = accessOrder(numberInRank);
  for (let cell = 0; cell < buffers.cellOffset[ranks]; cell++) order.addCell();
  const scratch = freshScratch(ranks, order);
  const copier = new Array<number>(ranks).fill(-1);
  const code: Code = {
    blocks,
    numberInRank,
    steps: new Array<number>(blocks.rank.length).fill(0),
    op: [],
    block: [],
    chunks: [],
    source: [],
    destination: [],
    waits: [],
    scratch,
  };

  const cellOf = (rank: number, place: Place): number =>
    bufferOf(place) === SCRATCH
      ? scratch.cellOf(rank, indexOf(place))
      : buffers.cellOf[2 * rank + (bufferOf(place) === INPUT ? INPUT : OUTPUT)] + indexOf(place);
  const add: CodeWriter["add"] = (op, block, chunks, source, destination, offsets = NO_OFFSETS) => {
    const rank = blocks.rank[block];
    order.begin(code.op.length, block);
    for (const offset of offsets) if (source !== NOWHERE) order.reads(cellOf(rank, source + 3 * offset));
    for (const offset of offsets) {
      if (destination === NOWHERE) continue;
      if (op === "re") order.reads(cellOf(rank, destination + 3 * offset));
      order.writes(cellOf(rank, destination + 3 * offset));
    }
    const waits = order.end();
    code.op.push(op);
    code.block.push(block);
    code.chunks.push(chunks);
    code.source.push(source);
    code.destination.push(destination);
    code.waits.push(waits);
    code.steps[block] += Math.max(1, waits.length);
  };
  return {
    code,
    cellOf,
    add,
    isSame: (rank, a, b) => cellOf(rank, a) === cellOf(rank, b),
    copy(rank, chunks, source, destination, offsets) {
      if (copier[rank] < 0 || code.steps[copier[rank]] > stepsPerBlock - COPY_STEPS) {
        copier[rank] = blocks.rank.push(rank) - 1;
        blocks.channel.push(0);
        blocks.recvPeer.push(-1);
        blocks.sendPeer.push(-1);
        numberInRank.push(blocksOfRank[rank]++);
        code.steps.push(0);
      }
      add("cpy", copier[rank], chunks, source, destination, offsets);
    },
    takeScratch: (rank, size, block) => placeIn(SCRATCH, scratch.take(rank, size, block)),
    giveBack: (rank, size, place) => scratch.giveBack(rank, size, indexOf(place)),
  };
}
