import type { NamedCollective } from "../collective/collective.ts";
import type { MpiPlan } from "./mpi-plan.ts";
import type { ProgramTable } from "./table.ts";

/** Buffers of a rank. */
export const INPUT = 0;
export const OUTPUT = 1;
export const SCRATCH = 2;
/** What the runtimes' files call them, by number. */
export const BUFFER_LETTERS = ["i", "o", "s"] as const;

/**
 * Names of instructions, as runtimes write them; `op` is an index into this list. The first row is MSCCL's, the second what
 * MSCCL++ adds. What an instruction does is in the columns beside it; the name is for people and for writers.
 */
export const OPS = [
  ...["nop", "s", "r", "rcs", "rrs", "rrc", "rrcs", "cpy", "re"],
  ...["barrier", "sem_acquire", "sem_release", "signal", "wait", "rlxsignal", "rlxwait", "flush"],
  ...["put", "pws", "pwsf", "get", "copy", "rre", "res", "rres", "glres", "gstore"],
  ...["cpkt", "upkt", "ppkt", "rppkt", "repkt", "respkt", "recpkt", "recspkt", "gstorepkt"],
] as const;
export type Op = (typeof OPS)[number];

/** How an operand of another rank is reached, and how a put or signal gets there. */
export const VIA = ["local", "memory", "port", "switch"] as const;
export type Via = (typeof VIA)[number];

/** The instruction waits until an instruction of the same rank is complete (`waitOn`: instruction). */
export const WAIT_INSTRUCTION = 0;
/** It takes one from an event's count, and waits until there is one (`waitOn`: event). */
export const WAIT_EVENT = 1;
/**
 * It waits until this many thread blocks of the rank as the barrier counts have come to it (`waitOn`: barrier). The instruction
 * is a `nop` of its block before and after that (MSCCL++: DeviceSyncer.sync; its DSL drops nops beside barriers).
 */
export const WAIT_BARRIER = 2;

/**
 * What GPUs run: per rank thread blocks, which run side by side, each a sequence of instructions. Plain columns; blocks are in
 * rank order, instructions in block order. The machines differ in how they synchronise:
 *
 * `msccl`: a block is sequential. What it sends goes into a FIFO connection (its rank, `sendPeer`, `channel`) and is received
 * in order by the block with (its rank = that peer, `recvPeer` = that rank, `channel`). Blocks of a rank are ordered by
 * WAIT_INSTRUCTION only. Such a wait ends when the awaited instruction, or a later one of its block, is complete and
 * `publishes`.
 *
 * `mscclpp`: blocks read and write memory of other ranks; they are ordered by events, barriers and packets (operands that
 * carry their own flag: reading waits until they are written). Within a block, instructions between two `nop`s are not
 * ordered, for its threads run apart: what happened before a nop is complete, for all threads, after it.
 *
 * Data: value = (what is received, if `receives`) + the sum of the sources, or the only one of these; it is written to all
 * destinations and, if `sends`, into the FIFO. All operands are of `chunks` chunks; chunk k of the value is made of chunk k of
 * each. Without operands, FIFO and waits an instruction does nothing.
 */
export interface Program {
  readonly name: string;
  readonly machine: "msccl" | "mscclpp";
  /** "custom": what is in its buffers, before and after, is said by `table` or not known. */
  readonly collective: NamedCollective | "custom";
  readonly rootRank: number;
  readonly rankCount: number;
  readonly protocol: "Simple" | "LL" | "LL128";
  /**
   * For calls in which input and output are the same memory. all-reduce, broadcast, reduce, all-to-all: equal; all-gather,
   * gather: the input is the rank's part of the output; reduce-scatter, scatter: the output is its part of the input.
   */
  readonly inPlace: boolean;
  readonly outOfPlace: boolean;
  /** nccl-tests sizes that it is for; the bounds as a file says them, null where it says none. */
  readonly minBytes: number | null;
  readonly maxBytes: number | null;
  /** Equal chunks into which the nccl-tests size is cut (MSCCL: nchunksperloop). */
  readonly loopChunks: number;
  /** Chunks of ours to one of the file's: a reader cuts finer where blocks share an instruction. 1 otherwise. */
  readonly finer: number;
  /** [ranks] chunks of each buffer. 0: the program does not use it (in place, chunks are found in the other one). */
  readonly inputChunks: Int32Array;
  readonly outputChunks: Int32Array;
  readonly scratchChunks: Int32Array;
  readonly channelCount: number;
  /** Of a custom program, where it is known: what it is to make. */
  readonly table?: ProgramTable;
  /** Of a plan for MPI, a msccl program: what it says besides. */
  readonly mpi?: MpiPlan;
  /** What its file has besides, and runtimes pass over; not there where there is nothing. */
  readonly skipped?: readonly SkippedPart[];
  /** Where its file says that peers have what is sent and received; not there where it says nothing. */
  readonly farEnds?: FarEnds;

  /** [ranks + 1] blocks of rank r: blockOffset[r] .. blockOffset[r + 1]. */
  readonly blockOffset: Int32Array;
  /** [blocks] as the file numbers them within the rank; -1 for copies that a file lists outside thread blocks. */
  readonly blockId: Int32Array;
  /** [blocks] rank, -1: none. msccl only. */
  readonly sendPeer: Int32Array;
  readonly recvPeer: Int32Array;
  /** [blocks] */
  readonly channel: Int32Array;
  /** [blocks] line of the file, 0: not from a file. */
  readonly blockLine: Int32Array;

  /** [blocks + 1] instructions of block b: instructionOffset[b] .. instructionOffset[b + 1]. */
  readonly instructionOffset: Int32Array;
  /** [instructions] index into OPS. */
  readonly op: Uint8Array;
  /** [instructions] number of the step within its block in the file; several instructions may be of one step. */
  readonly step: Int32Array;
  /** [instructions] line of the file, 0: not from a file. */
  readonly line: Int32Array;
  /** [instructions] chunks moved, 0 where no data moves. */
  readonly chunks: Int32Array;
  /** [instructions] index into VIA. */
  readonly via: Uint8Array;
  /** [instructions] 0 or 1. */
  readonly receives: Uint8Array;
  readonly sends: Uint8Array;
  /** [instructions] 1: other blocks may wait for it (MSCCL: hasdep). */
  readonly publishes: Uint8Array;

  /** [instructions + 1] operands, sources first: operandOffset[i] .. operandOffset[i + 1]. */
  readonly operandOffset: Int32Array;
  /** [instructions] how many of its operands are sources; the others are destinations. */
  readonly sourceCount: Int32Array;
  /** [operands] */
  readonly operandRank: Int32Array;
  /** [operands] INPUT, OUTPUT or SCRATCH. */
  readonly operandBuffer: Uint8Array;
  /** [operands] first chunk. May lie outside the buffer: a reader does not judge. */
  readonly operandIndex: Int32Array;
  /** [operands] 1: packets, which carry their own flag. mscclpp only. */
  readonly operandPacket: Uint8Array;

  /** [instructions + 1] */
  readonly waitOffset: Int32Array;
  /** [waits] WAIT_INSTRUCTION, WAIT_EVENT or WAIT_BARRIER. All waits of an instruction precede its data. */
  readonly waitKind: Uint8Array;
  /** [waits] */
  readonly waitOn: Int32Array;
  /** [instructions + 1] */
  readonly postOffset: Int32Array;
  /** [posts] events to whose count the instruction adds one, after its data. */
  readonly postOn: Int32Array;

  /** [events] count at the start. */
  readonly eventInitial: Int32Array;
  /** [events] rank whose blocks wait, and rank whose blocks post; the same for a semaphore of one rank. */
  readonly eventRank: Int32Array;
  readonly eventPeer: Int32Array;
  /** [events] number of the semaphore in its rank, or of the channel among those of its kind between the two ranks. */
  readonly eventId: Int32Array;
  /** [events] index into VIA: local for semaphores. */
  readonly eventVia: Uint8Array;
  /** [barriers] rank, number in the file, and thread blocks that must come. */
  readonly barrierRank: Int32Array;
  readonly barrierId: Int32Array;
  readonly barrierBlocks: Int32Array;
}

export const blockCount = (program: Program): number => program.blockId.length;
export const instructionCount = (program: Program): number => program.op.length;

/** Returns the rank of every block. O(blocks). */
export function rankOfBlocks(program: Program): Int32Array {
  const rank = new Int32Array(blockCount(program));
  for (let r = 0; r < program.rankCount; r++) rank.fill(r, program.blockOffset[r], program.blockOffset[r + 1]);
  return rank;
}

/** Returns the block of every instruction. O(instructions). */
export function blockOfInstructions(program: Program): Int32Array {
  const block = new Int32Array(instructionCount(program));
  for (let b = 0; b < blockCount(program); b++)
    block.fill(b, program.instructionOffset[b], program.instructionOffset[b + 1]);
  return block;
}

/** Returns the chunks of a buffer of a rank. */
export function chunksOfBuffer(program: Program, rank: number, buffer: number): number {
  if (buffer === INPUT) return program.inputChunks[rank];
  return buffer === OUTPUT ? program.outputChunks[rank] : program.scratchChunks[rank];
}

/** Returns how people find an instruction: "gpu 3, thread block 2, step 5 (line 120)". */
export function placeOfInstruction(program: Program, instruction: number, block: number, rank: number): string {
  const id = program.blockId[block];
  const line = program.line[instruction];
  const where = id < 0 ? "copies" : `thread block ${id}, step ${program.step[instruction]}`;
  return `gpu ${rank}, ${where}${line > 0 ? ` (line ${line})` : ""}`;
}

/** What a file says of the other ends of messages, which runtimes pass over; ascending by instruction. msccl only. */
export interface FarEnds {
  /** [ends] the step that says it: where the receiver puts it, if the step has no destination itself, else where the sender has it. */
  readonly instruction: Int32Array;
  /** [ends] */
  readonly buffer: Uint8Array;
  readonly index: Int32Array;
}

/** A part of a program's file that runtimes pass over, in the place of one that they know. */
export interface SkippedPart {
  readonly kind: "element" | "attribute";
  readonly name: string;
  /** The element that has it. */
  readonly parent: string;
  readonly line: number;
  /** The name that may have been meant; null: none is like it. */
  readonly meant: string | null;
}

/** Returns "line 12: <stp> in <tb> is unknown and was skipped, as runtimes do; did you mean <step>?". */
export function skippedText({ kind, name, parent, line, meant }: SkippedPart): string {
  const isElement = kind === "element";
  const what = isElement ? `<${name}> in <${parent}>` : `attribute ${name} of <${parent}>`;
  const guess = meant === null ? "" : `; did you mean ${isElement ? `<${meant}>` : meant}?`;
  return `line ${line}: ${what} is unknown and was skipped, as runtimes do${guess}`;
}
