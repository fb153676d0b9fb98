import { InputError } from "../base/errors.ts";
import type { NamedCollective } from "../model/collective/collective.ts";
import { INPUT, OUTPUT, type Program, SCRATCH } from "../model/program/program.ts";
import { tableChunks } from "../model/program/table.ts";

/** Bytes of an element, of either type. */
export const ELEMENT_BYTES = 4;
/** Elements of a chunk that one pass over the program moves at most: what a slot of a connection holds. */
const SLICE_ELEMENTS = 16_384;
/** Bytes that slots and registers take together at most, unless a slice of 64 elements takes more. */
const SLOT_BYTES = 64 * 2 ** 20;
const LEAST_SLICE = 64;

/** Where the buffers of a call lie: in place, input and output share memory. */
export type CallPlacement = "in" | "out";

/** Where every chunk of every buffer lies, counted in chunks (doubles, for a file may claim any number). */
export interface Layout {
  readonly placement: CallPlacement;
  /** Of every chunk. */
  readonly chunkElements: number;
  /** Elements of a chunk per pass. */
  readonly sliceElements: number;
  /** [ranks x 3] first chunk of each buffer in the memory of its rank. */
  readonly bufferStart: Float64Array;
  /** [ranks x 3] chunks that the buffer has. */
  readonly bufferChunks: Float64Array;
  /** [ranks + 1] chunks of the memories of all ranks before this one. */
  readonly rankStart: Float64Array;
}

/** Chunks of input and output of a call, for buffers of `whole` chunks and parts of `part` chunks per rank. */
function callChunks(
  collective: NamedCollective,
  whole: number,
  part: number,
): readonly [input: number, output: number] {
  if (collective === "allgather" || collective === "gather") return [part, whole];
  if (collective === "reducescatter" || collective === "scatter") return [whole, part];
  return [whole, whole];
}

/** Returns the chunks of input and output of a custom program: those of its table; else as many as it says. */
const customChunks = ({ table, inputChunks, outputChunks }: Program, rank: number) =>
  table === undefined ? ([inputChunks[rank], outputChunks[rank]] as const) : tableChunks(table, rank);

/** Returns whether a collective gives every rank a part of the whole buffer. */
export const hasParts = (collective: Program["collective"]): boolean =>
  ["allgather", "gather", "reducescatter", "scatter", "alltoall"].includes(collective);

/** Returns the chunks of a rank's part of the buffer. Throws InputError where ranks do not share it equally. */
export function partChunks({ collective, loopChunks, rankCount }: Program): number {
  if (!hasParts(collective)) return loopChunks;
  if (loopChunks % rankCount === 0) return loopChunks / rankCount;
  throw new InputError(`the chunks of this ${collective}`, `a multiple of its ${rankCount} ranks`, loopChunks);
}

/**
 * Returns where the buffers of a call of `sizeBytes` (as nccl-tests count them) lie, and how much of a chunk is moved at a time
 * where `cells` parts of chunks are in flight. Buffers are as large as the collective makes them, whatever the program says of
 * them; those of a custom program are as it says. Throws InputError for a size that chunks do not divide. O(ranks).
 */
export function layoutOf(program: Program, placement: CallPlacement, sizeBytes: number, cells: number): Layout {
  const { collective, rankCount } = program;
  const chunkElements = elementsOfChunk(program, sizeBytes);
  const part = collective === "custom" ? 0 : partChunks(program);
  const bufferStart = new Float64Array(3 * rankCount);
  const bufferChunks = new Float64Array(3 * rankCount);
  const rankStart = new Float64Array(rankCount + 1);
  for (let r = 0; r < rankCount; r++) {
    const [input, output] =
      collective === "custom" ? customChunks(program, r) : callChunks(collective, program.loopChunks, part);
    const inputInOutput = input < output ? r * part : 0;
    const outputInInput = output < input ? r * part : 0;
    const scratch = placement === "in" ? Math.max(input, output) : input + output;
    bufferStart[3 * r + INPUT] = placement === "in" ? inputInOutput : 0;
    bufferStart[3 * r + OUTPUT] = placement === "in" ? outputInInput : input;
    bufferStart[3 * r + SCRATCH] = scratch;
    bufferChunks[3 * r + INPUT] = input;
    bufferChunks[3 * r + OUTPUT] = output;
    bufferChunks[3 * r + SCRATCH] = program.scratchChunks[r];
    rankStart[r + 1] = rankStart[r] + scratch + program.scratchChunks[r];
  }
  const roomy = Math.max(LEAST_SLICE, Math.floor(SLOT_BYTES / (ELEMENT_BYTES * Math.max(1, cells))));
  const sliceElements = Math.min(chunkElements, SLICE_ELEMENTS, roomy);
  return { placement, chunkElements, sliceElements, bufferStart, bufferChunks, rankStart };
}

/** Returns the elements of a chunk. Throws InputError, with the nearest sizes, where chunks do not divide the size. */
function elementsOfChunk({ loopChunks, finer }: Program, sizeBytes: number): number {
  const step = loopChunks * ELEMENT_BYTES;
  if (Number.isSafeInteger(sizeBytes) && sizeBytes > 0 && sizeBytes % step === 0) return sizeBytes / step;
  const below = Math.floor(sizeBytes / step) * step;
  const nearest = below > 0 ? `, such as ${below} or ${below + step}` : `, such as ${step}`;
  const chunks = finer > 1 ? `${loopChunks / finer} chunks, cut into ${finer} parts` : `${loopChunks} chunks`;
  const what = `a multiple of ${step} bytes (${chunks} of elements of ${ELEMENT_BYTES} bytes)`;
  throw new InputError("the size", `${what}${nearest}`, sizeBytes);
}

/** Returns the bytes of the buffers of all ranks. */
export const bufferBytes = ({ rankStart, chunkElements }: Layout): number =>
  rankStart[rankStart.length - 1] * chunkElements * ELEMENT_BYTES;
