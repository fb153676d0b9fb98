import { InputError, inWords } from "../../base/errors.ts";
import { optionName } from "../../base/option-names.ts";
import { greatest } from "../../model/numbers/ordering.ts";
import { INPUT, type Op, OUTPUT, type Program, SCRATCH, WAIT_INSTRUCTION } from "../../model/program/program.ts";
import { type Operand, type ProgramHeader, programBuilder } from "../../model/program/program-builder.ts";
import type { MscclRuntime } from "../../model/program/runtimes.ts";
import { type AccessOrder, accessOrder } from "../access-order.ts";
import type { Blocks } from "./blocks.ts";
import type { Buffers } from "./buffers.ts";
import type { FixedScratch } from "./neighbours.ts";

/** A place in the buffers of a rank; NOWHERE, or index * 3 + buffer. */
export type Place = number;
export const NOWHERE: Place = -1;
export const placeIn = (buffer: number, index: number): Place => index * 3 + buffer;
export const bufferOf = (place: Place): number => place % 3;
const indexOf = (place: Place): number => Math.floor(place / 3);

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

/**
 * Returns a writer of code for these blocks; `stepsPerBlock` bounds blocks of copies only. What is laid out of scratch memory
 * is never given out.
 */
export function codeWriter(
  blocks: Blocks,
  buffers: Buffers,
  fixed: FixedScratch | null,
  sizeOfPart: Int32Array,
  stepsPerBlock: number,
): CodeWriter {
  const ranks = buffers.inputChunks.length;
  const numberInRank: number[] = [];
  const blocksOfRank = new Array<number>(ranks).fill(0);
  for (const rank of blocks.rank) numberInRank.push(blocksOfRank[rank]++);
  const order = accessOrder(numberInRank);
  for (let cell = 0; cell < buffers.cellOffset[ranks]; cell++) order.addCell();
  const scratch = freshScratch(ranks, order, fixed, sizeOfPart);
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

/** So many of the slots that were given back last are tried before a new one is made. */
const TRIED = 8;

/** Scratch memory of the ranks, in slots of the size of a part. */
interface Scratch {
  /** [ranks] chunks in use at most. */
  readonly chunks: number[];
  /** Returns the first chunk of a slot whose last use is over when the next instruction of `block` begins. */
  take(rank: number, size: number, block: number): number;
  giveBack(rank: number, size: number, at: number): void;
  /** Returns the memory cell of a slot. */
  cellOf(rank: number, at: number): number;
}

/** Returns scratch memory that nobody uses. A slot is only used again where nobody has to wait for that. */
function freshScratch(ranks: number, order: AccessOrder, fixed: FixedScratch | null, sizeOfPart: Int32Array): Scratch {
  const chunks = fixed === null ? new Array<number>(ranks).fill(0) : Array.from(fixed.chunks);
  const cells: number[][] = Array.from({ length: ranks }, () => []);
  fixed?.at.forEach((at, i) => {
    if (at >= 0) cells[Math.floor(i / sizeOfPart.length)][at] = order.addCell();
  });
  const free: Map<number, number[]>[] = Array.from({ length: ranks }, () => new Map());
  return {
    chunks,
    take(rank, size, block) {
      const slots = free[rank].get(size) ?? [];
      for (let i = slots.length - 1; i >= Math.max(0, slots.length - TRIED); i--)
        if (order.isOver(cells[rank][slots[i]], block)) return slots.splice(i, 1)[0];
      const at = chunks[rank];
      chunks[rank] += size;
      const cell = order.addCell();
      for (let chunk = at; chunk < chunks[rank]; chunk++) cells[rank][chunk] = cell;
      return at;
    },
    giveBack(rank, size, at) {
      const slots = free[rank].get(size);
      if (slots === undefined) free[rank].set(size, [at]);
      else slots.push(at);
    },
    cellOf: (rank, at) => cells[rank][at],
  };
}

export const RECEIVES: ReadonlySet<string> = new Set(["r", "rcs", "rrs", "rrc", "rrcs"]);
export const SENDS: ReadonlySet<string> = new Set(["s", "rcs", "rrs", "rrcs"]);

/** Instructions of each block in order, and blocks in the order in which a rank numbers them. */
export interface Numbering {
  /** [ranks] blocks of the rank; those that others wait for come first, for runtimes take only so many of these. */
  readonly blocks: readonly (readonly number[])[];
  /** [blocks] its instructions. */
  readonly instructions: readonly (readonly number[])[];
  /** [instructions] 1: another block waits for it. */
  readonly awaited: Uint8Array;
  /** [ranks] blocks that others wait for. */
  readonly awaitedBlocks: Int32Array;
}

/** Returns how blocks and instructions of code are numbered. O(instructions + waits). */
export function numberingOf({ blocks, block, waits, op }: Code, ranks: number): Numbering {
  const awaited = new Uint8Array(op.length);
  const isAwaited = new Uint8Array(blocks.rank.length);
  for (const list of waits) {
    for (const on of list) {
      awaited[on] = 1;
      isAwaited[block[on]] = 1;
    }
  }
  const instructions: number[][] = blocks.rank.map(() => []);
  for (let i = 0; i < op.length; i++) instructions[block[i]].push(i);
  const ofRank: number[][] = Array.from({ length: ranks }, () => []);
  const awaitedBlocks = new Int32Array(ranks);
  for (const first of [1, 0]) {
    for (let b = 0; b < blocks.rank.length; b++) {
      if (isAwaited[b] !== first) continue;
      ofRank[blocks.rank[b]].push(b);
      awaitedBlocks[blocks.rank[b]] += first;
    }
  }
  return { blocks: ofRank, instructions, awaited, awaitedBlocks };
}

/**
 * Returns the program of code. An instruction that waits for k others is preceded by k - 1 nops, each with one of the waits, the
 * latest last. O(instructions + waits).
 */
export function programOfCode(
  code: Code,
  { blocks, instructions, awaited }: Numbering,
  header: Omit<ProgramHeader, "scratchChunks">,
): Program {
  const builder = programBuilder();
  const index = new Int32Array(code.op.length);
  let next = 0;
  for (const b of blocks.flat()) {
    for (const i of instructions[b]) {
      next += Math.max(1, code.waits[i].length);
      index[i] = next - 1;
    }
  }
  blocks.forEach((own, rank) => {
    builder.addRank();
    own.forEach((b, id) => {
      const { recvPeer, sendPeer, channel } = code.blocks;
      builder.addBlock({ id, recvPeer: recvPeer[b], sendPeer: sendPeer[b], channel: channel[b] });
      for (const i of instructions[b]) {
        const op = code.op[i];
        const waits = code.waits[i].map((on) => ({ kind: WAIT_INSTRUCTION, on: index[on] }));
        for (const wait of waits.slice(1)) builder.add({ op: "nop", waits: [wait] });
        const source = operandAt(rank, code.source[i]);
        const destination = operandAt(rank, code.destination[i]);
        builder.add({
          op,
          chunks: code.chunks[i],
          receives: RECEIVES.has(op),
          sends: SENDS.has(op),
          publishes: awaited[i] === 1,
          sources: op === "re" ? [...destination, ...source] : source,
          destinations: destination,
          waits: waits.slice(0, 1),
        });
      }
    });
  });
  return builder.build({ ...header, scratchChunks: Int32Array.from(code.scratch.chunks) });
}

const operandAt = (rank: number, place: Place): readonly Operand[] =>
  place === NOWHERE ? [] : [{ rank, buffer: bufferOf(place), index: indexOf(place) }];

/** A limit of a runtime that a program does not meet. */
export interface Excess {
  readonly limit: string;
  readonly most: number;
  /** How many, or "more". */
  readonly needed: number | "more";
  /** Not all is counted: what copies and waits add makes it more. */
  readonly isLeast?: boolean;
  readonly help: string;
}

export const tooManySteps = ({ stepsPerBlock }: MscclRuntime, needed: number, isLeast = false): Excess => ({
  limit: "steps per thread block",
  most: stepsPerBlock,
  needed,
  isLeast,
  help: "fewer chunks",
});

export const tooManyBlocks = ({ blocksPerGpu }: MscclRuntime, needed: number, isLeast = false): Excess => ({
  limit: "thread blocks per GPU",
  most: blocksPerGpu,
  needed,
  isLeast,
  help: `fewer instances, a smaller ${optionName("k")}`,
});

/** Returns the first limit that code does not meet, of a program of so many ranks; null for none. O(blocks + ranks). */
export function excessOf(
  code: Code,
  { blocks, awaitedBlocks }: Numbering,
  ranks: number,
  runtime: MscclRuntime,
): Excess | null {
  // of other ranks a parser keeps the <gpu> alone
  const around = 1 + ranks;
  const nodes = blocks.map((own) => own.reduce((sum, b) => sum + 1 + code.steps[b], around));
  const found: readonly Excess[] = [
    tooManySteps(runtime, greatest(code.steps)),
    tooManyBlocks(runtime, greatest(blocks.map((own) => own.length))),
    {
      limit: "thread blocks per GPU that others wait for",
      most: runtime.awaitedBlock + 1,
      needed: greatest(awaitedBlocks),
      help: `fewer instances, a smaller ${optionName("k")}`,
    },
    {
      limit: "chunks in a scratch buffer",
      most: runtime.chunkIndex + 1,
      needed: greatest(code.scratch.chunks),
      help: `fewer chunks, a smaller ${optionName("k")}`,
    },
    {
      limit: "thread blocks, steps and GPUs that a runtime reads of a file",
      most: runtime.nodesPerRank - 1,
      needed: greatest(nodes),
      help: `fewer chunks, a smaller ${optionName("k")}`,
    },
  ];
  return found.find(({ most: allowed, needed }) => typeof needed === "number" && needed > allowed) ?? null;
}

/** Returns the sentence that says which limit of a runtime a schedule cannot meet, and what would help. */
export function limitError({ title }: MscclRuntime, { limit, most, needed, isLeast, help }: Excess): InputError {
  return new InputError(
    `the schedule as a program for ${title}`,
    `at most ${most} ${limit} (${help} or another runtime would help)`,
    isLeast === true ? inWords(`at least ${needed}`) : needed,
  ).as("out-of-range");
}
