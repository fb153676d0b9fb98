import type { NamedCollective } from "../../model/collective/collective.ts";
import { chunksOfBuffer, INPUT, instructionCount, OUTPUT, type Program, SCRATCH } from "../../model/program/program.ts";
import { tableChunks } from "../../model/program/table.ts";
import type { Wiring } from "./wiring.ts";
import { chunkWords, type Findings, instructionWords } from "./words.ts";

/** In place, input and output share memory. */
export type ProgramMode = "in place" | "out of place";

/**
 * The memory of all ranks in one kind of call, as cells of a chunk. Index 3 * rank + buffer; a chunk k of a buffer that the
 * call has, `from <= k < to`, is cell `start + k`.
 */
export interface ProgramMemory {
  readonly mode: ProgramMode;
  readonly cells: number;
  readonly start: Float64Array;
  readonly from: Float64Array;
  readonly to: Float64Array;
  /** [ranks + 1] first cell of each rank. */
  readonly rankStart: Float64Array;
  /** Chunks of a rank's part of the whole, for collectives with parts. */
  readonly part: number;
}

const GIVES_PARTS: readonly (NamedCollective | "custom")[] = [
  "allgather",
  "gather",
  "reducescatter",
  "scatter",
  "alltoall",
];

/** Returns whether a collective gives every rank a part of the whole buffer. */
export const hasParts = (collective: Program["collective"]): boolean => GIVES_PARTS.includes(collective);

/**
 * Returns the memory of a call. The buffers of a known collective are as long as NCCL defines them, whatever the program
 * claims: only the root has the output of a gather or reduce and the input of a scatter or broadcast. O(ranks).
 */
export function memoryOf(program: Program, mode: ProgramMode): ProgramMemory {
  const { rankCount, collective, loopChunks } = program;
  const part = hasParts(collective) ? Math.floor(loopChunks / rankCount) : loopChunks;
  const start = new Float64Array(3 * rankCount);
  const from = new Float64Array(3 * rankCount);
  const to = new Float64Array(3 * rankCount);
  const rankStart = new Float64Array(rankCount + 1);
  for (let r = 0; r < rankCount; r++) {
    const [input, output] = callChunks(program, r, part);
    const [inputAt, outputAt, user] = mode === "in place" ? shared(program, r, part) : [0, input, input + output];
    const place = (buffer: number, at: number, first: number, chunks: number): void => {
      start[3 * r + buffer] = rankStart[r] + at - first;
      from[3 * r + buffer] = first;
      to[3 * r + buffer] = first + chunks;
    };
    const both = mode === "in place" ? user : 0;
    // The side that a rank has a part of only, in place, is that part of the whole: it keeps its number.
    const fromRoot = mode === "in place" && collective === "scatter" && input === 0;
    const toRoot = mode === "in place" && collective === "gather" && output === 0;
    place(INPUT, inputAt, fromRoot ? r * part : 0, hasWhole(collective) || fromRoot ? both || input : input);
    place(OUTPUT, outputAt, toRoot ? r * part : 0, hasWhole(collective) || toRoot ? both || output : output);
    place(SCRATCH, user, 0, program.scratchChunks[r]);
    rankStart[r + 1] = rankStart[r] + user + program.scratchChunks[r];
  }
  return { mode, cells: rankStart[rankCount], start, from, to, rankStart, part };
}

/** Returns where input and output begin in the memory that they share in place, and its chunks. */
function shared(
  program: Program,
  rank: number,
  part: number,
): readonly [input: number, output: number, chunks: number] {
  const { collective, rootRank } = program;
  const [input, output] = callChunks(program, rank, part);
  const chunks = Math.max(input, output);
  if (collective === "allgather" || (collective === "gather" && rank === rootRank)) return [rank * part, 0, chunks];
  if (collective === "reducescatter" || (collective === "scatter" && rank === rootRank))
    return [0, rank * part, chunks];
  return [0, 0, chunks];
}

/** Input and output of these are the same memory in place, at every rank. */
const hasWhole = (collective: Program["collective"]): boolean =>
  ["allreduce", "broadcast", "reduce", "alltoall", "custom"].includes(collective);

/** Returns the chunks of input and output that a rank has in a call out of place. */
function callChunks(program: Program, rank: number, part: number): readonly [input: number, output: number] {
  const { collective, loopChunks: whole, rootRank } = program;
  const ofRoot = rank === rootRank ? whole : 0;
  switch (collective) {
    case "allgather":
      return [part, whole];
    case "gather":
      return [part, ofRoot];
    case "reducescatter":
      return [whole, part];
    case "scatter":
      return [ofRoot, part];
    case "broadcast":
      return [ofRoot, whole];
    case "reduce":
      return [whole, ofRoot];
    case "custom":
      return program.table === undefined
        ? [program.inputChunks[rank], program.outputChunks[rank]]
        : tableChunks(program.table, rank);
    default:
      return [whole, whole];
  }
}

/** Returns why a range lies outside its buffer, as "the input has 8 chunks"; null where it does not. */
function outside(
  program: Program,
  memory: ProgramMemory,
  rank: number,
  buffer: number,
  index: number,
  chunks: number,
): string | null {
  if (rank < 0 || rank >= program.rankCount) return "there is no such gpu";
  const claimed = chunksOfBuffer(program, rank, buffer);
  if (index < 0 || index + chunks > claimed) return `the file gives that buffer ${claimed} chunks`;
  const at = 3 * rank + buffer;
  if (index >= memory.from[at] && index + chunks <= memory.to[at]) return null;
  const real = memory.to[at] - memory.from[at];
  const who = `gpu ${rank} of ${program.rankCount} in ${program.collective} ${memory.mode} with ${program.loopChunks} chunks`;
  const where = memory.from[at] > 0 && real > 0 ? `, from ${memory.from[at]} on` : "";
  return real > 0 ? `that buffer of ${who} has ${real}${where}` : `${who} has no such buffer`;
}

/**
 * Records operands outside their buffers, and instructions whose chunks get into each other's way: one that reads what it
 * writes for another of its chunks does what the order of its threads makes of it. Returns whether there are none.
 * O(operands x operands of one instruction).
 */
export function checkBounds(program: Program, wiring: Wiring, memory: ProgramMemory, found: Findings): boolean {
  const before = found.errorCount();
  for (let i = 0; i < instructionCount(program); i++) {
    const first = program.operandOffset[i];
    const last = program.operandOffset[i + 1];
    let inside = true;
    for (let o = first; o < last; o++) {
      const rank = program.operandRank[o];
      const buffer = program.operandBuffer[o];
      const index = program.operandIndex[o];
      const why = outside(program, memory, rank, buffer, index, program.chunks[i]);
      if (why === null) continue;
      inside = false;
      found.error(
        "bounds",
        () =>
          `${instructionWords(program, wiring, i)} uses ${chunkWords(rank, buffer, index, program.chunks[i])}, but ${why}`,
        i,
      );
    }
    if (inside) checkOverlap(program, wiring, memory, i, found);
  }
  return found.errorCount() === before;
}

function checkOverlap(program: Program, wiring: Wiring, memory: ProgramMemory, i: number, found: Findings): void {
  const first = program.operandOffset[i];
  const middle = first + program.sourceCount[i];
  const last = program.operandOffset[i + 1];
  for (let d = middle; d < last; d++)
    for (let o = first; o < last; o++) {
      const apart = Math.abs(cellOf(program, memory, o) - cellOf(program, memory, d));
      const same = apart === 0 && (o < middle || o === d);
      if (same || apart >= program.chunks[i] || program.operandRank[o] !== program.operandRank[d]) continue;
      if (o >= middle && o > d) continue;
      found.error(
        "overlap",
        () =>
          `${instructionWords(program, wiring, i)} writes ${operandWords(program, i, d)} and ${o < middle ? "reads" : "also writes"} ${operandWords(program, i, o)}, which overlap`,
        i,
      );
      return;
    }
}

/** Returns the cell of an operand's first chunk. */
export function cellOf(program: Program, memory: ProgramMemory, operand: number): number {
  const at = 3 * program.operandRank[operand] + program.operandBuffer[operand];
  return memory.start[at] + program.operandIndex[operand];
}

/** Returns an operand in words, as its instruction names it. */
function operandWords(program: Program, i: number, operand: number): string {
  const { operandRank, operandBuffer, operandIndex, chunks } = program;
  return chunkWords(operandRank[operand], operandBuffer[operand], operandIndex[operand], chunks[i]);
}

/** Returns whether an instruction copies memory onto itself, which does nothing unless others write there meanwhile. */
export function isIdentity(program: Program, memory: ProgramMemory, i: number): boolean {
  if (program.receives[i] === 1 || program.sends[i] === 1 || program.sourceCount[i] !== 1) return false;
  const source = program.operandOffset[i];
  for (let d = source + 1; d < program.operandOffset[i + 1]; d++)
    if (
      cellOf(program, memory, d) !== cellOf(program, memory, source) ||
      program.operandPacket[d] !== program.operandPacket[source]
    )
      return false;
  return true;
}
