import { INPUT, OUTPUT, type Program } from "../../model/program/program.ts";
import type { ProgramMemory } from "./program-memory.ts";
import { dueChunks, givenChunks } from "./program-task.ts";
import { type ProgramValues, UNWRITTEN } from "./program-values.ts";
import type { Wiring } from "./program-wiring.ts";
import { chunkWords, type Findings, gpuWords, instructionWords } from "./program-words.ts";

/**
 * Records outputs that do not hold what the collective defines and, as a warning, inputs that change out of place: NCCL leaves
 * them as they are, but files in use do not. O(cells x ranks / 32).
 */
export function checkOutcome(
  program: Program,
  wiring: Wiring,
  memory: ProgramMemory,
  values: ProgramValues,
  found: Findings,
): void {
  const { chunk, ranks, words, writer } = values;
  const where = (cell: number): string =>
    writer[cell] < 0 ? "" : `, last written by ${instructionWords(program, wiring, writer[cell])}`;
  const fault = (kind: string, cell: number, message: () => string): void =>
    found.error(kind, message, writer[cell] < 0 ? undefined : writer[cell]);

  const all = new Int32Array(words);
  for (let r = 0; r < program.rankCount; r++) all[r >> 5] |= 1 << (r & 31);
  const due = new Int32Array(words);
  dueChunks(program, memory, (cell, rank, k, index, from) => {
    if (from < 0) due.set(all);
    else {
      due.fill(0);
      due[from >> 5] = 1 << (from & 31);
    }
    const name = outputWords(program, memory, rank, k);
    if (chunk[cell] === UNWRITTEN) {
      fault("missing", cell, () => `${name} holds nothing in the end ${memory.mode}, not ${sumWords(from, index)}`);
      return;
    }
    if (chunk[cell] < UNWRITTEN) {
      const spoiler = -2 - chunk[cell];
      const how = values.spoilt.get(spoiler);
      // What comes of reading nothing was recorded when it was read.
      if (how !== undefined && how.kind !== "unwritten")
        found.error(
          how.kind,
          () =>
            `${name} is wrong in the end ${memory.mode}: ${instructionWords(program, wiring, spoiler)} ${how.words}`,
          spoiler,
        );
      return;
    }
    const missing = members(due, ranks, cell * words, words);
    const extra = members(ranks, due, 0, words, cell * words);
    if (chunk[cell] !== index)
      fault(
        "wrong",
        cell,
        () => `${name} holds chunk ${chunk[cell]} of the input in the end ${memory.mode}, not ${index}${where(cell)}`,
      );
    else if (missing.length > 0 && from >= 0)
      fault(
        "wrong",
        cell,
        () =>
          `${name} holds the data of ${gpuWords(extra)} in the end ${memory.mode}, not that of gpu ${from}${where(cell)}`,
      );
    else if (missing.length > 0)
      fault(
        "missing",
        cell,
        () => `${name} lacks the contribution of ${gpuWords(missing)} in the end ${memory.mode}${where(cell)}`,
      );
    else if (extra.length > 0)
      fault(
        "wrong",
        cell,
        () =>
          `${name} holds the sum with ${gpuWords(extra)} in the end ${memory.mode}, not the data of gpu ${from} alone${where(cell)}`,
      );
  });
  if (memory.mode === "in place") return;
  let changed = 0;
  let first = "";
  let by = -1;
  givenChunks(program, memory, (cell, rank, k) => {
    if (writer[cell] < 0 || changed++ > 0) return;
    first = `${chunkWords(rank, INPUT, k)}${where(cell)}`;
    by = writer[cell];
  });
  if (changed > 0)
    found.warning("input-changed", () => `${changed} chunks of inputs are changed out of place, first ${first}`, by);
}

/** Returns a chunk of the output as the program calls it: in place it may use the input only. */
function outputWords(program: Program, memory: ProgramMemory, rank: number, k: number): string {
  if (memory.mode === "out of place" || program.outputChunks[rank] > 0) return chunkWords(rank, OUTPUT, k);
  return chunkWords(rank, INPUT, memory.start[3 * rank + OUTPUT] + k - memory.start[3 * rank + INPUT]);
}

const sumWords = (from: number, chunk: number): string =>
  from < 0 ? `the sum over all gpus of chunk ${chunk}` : `chunk ${chunk} of gpu ${from}`;

/** Returns the ranks that are in set `a` and not in `b`. */
function members(a: Int32Array, b: Int32Array, bAt: number, words: number, aAt = 0): readonly number[] {
  const list: number[] = [];
  for (let w = 0; w < words; w++) {
    let left = a[aAt + w] & ~b[bAt + w];
    while (left !== 0) {
      const bit = 31 - Math.clz32(left & -left);
      list.push(32 * w + bit);
      left &= left - 1;
    }
  }
  return list;
}

/** Chunks that a custom program leaves in an output: `chunks` of them, each with the same contributions as the first. */
export interface ProgramResult {
  readonly rank: number;
  readonly index: number;
  readonly chunks: number;
  /** Chunk of the inputs to which the first one is a sum of contributions; null: nothing, or a mixture. */
  readonly inputChunk: number | null;
  readonly from: readonly number[];
}

/** Returns what the outputs hold (in place: the one buffer there is), at most `limit` runs of chunks. O(cells). */
export function resultOf(
  program: Program,
  memory: ProgramMemory,
  values: ProgramValues,
  limit: number,
): readonly ProgramResult[] {
  const results: ProgramResult[] = [];
  const nobody = new Int32Array(values.words);
  for (let r = 0; r < program.rankCount && results.length < limit; r++) {
    const at = 3 * r + OUTPUT;
    const key = (k: number): string => {
      const cell = memory.start[at] + k;
      return values.chunk[cell] < 0
        ? "none"
        : `${values.chunk[cell] - k} ${values.ranks.subarray(cell * values.words, (cell + 1) * values.words).join()}`;
    };
    for (let k = memory.from[at]; k < memory.to[at] && results.length < limit; ) {
      const begun = k;
      const same = key(k);
      while (k < memory.to[at] && key(k) === same) k++;
      const cell = memory.start[at] + begun;
      const pure = values.chunk[cell] >= 0;
      results.push({
        rank: r,
        index: begun,
        chunks: k - begun,
        inputChunk: pure ? values.chunk[cell] : null,
        from: pure ? members(values.ranks, nobody, 0, values.words, cell * values.words) : [],
      });
    }
  }
  return results;
}
