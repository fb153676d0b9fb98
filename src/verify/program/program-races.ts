import { instructionCount, type Program } from "../../model/program/program.ts";
import { cellOf, isIdentity } from "./program-bounds.ts";
import type { ProgramMemory } from "./program-memory.ts";
import { walkMsccl } from "./program-order-msccl.ts";
import { walkMscclpp } from "./program-order-mscclpp.ts";
import { phasesOf } from "./program-phases.ts";
import { clocksFit } from "./program-size.ts";
import type { Wiring } from "./program-wiring.ts";
import { chunkWords, type Findings, instructionWords } from "./program-words.ts";

/** Whether chunk `chunkOfA` of an earlier instruction is over when chunk `chunk` of the visited one begins, in every course. */
export type Before = (a: number, chunkOfA: number, chunk: number) => boolean;
export type Visit = (instruction: number, before: Before) => void;

/**
 * Records data races: two accesses to a chunk of memory, one of them at least a write, of which either may come first. Rank by
 * rank; per chunk the last write is kept and the reads since, which suffices for the first race on every chunk (Flanagan and
 * Freund, FastTrack, 2009). `order` is one course. O(ranks x instructions x blocks that touch a rank), `progress` after each.
 */
export function checkRaces(
  program: Program,
  wiring: Wiring,
  memory: ProgramMemory,
  order: Int32Array,
  found: Findings,
  progress: (rank: number) => void,
): void {
  if (!clocksFit(program, wiring)) {
    found.error("too-large", () => "too many thread blocks touch the same memory to be judged for data races");
    return;
  }
  const phases = program.machine === "mscclpp" ? phasesOf(program, wiring) : null;
  const walk = (rank: number, visit: Visit): void =>
    phases === null
      ? walkMsccl(program, wiring, order, rank, visit)
      : walkMscclpp(program, wiring, phases, order, rank, visit);
  // What copies memory onto itself undoes the writes of others that come in between, and is in nobody else's way: a read.
  const onlyReads = Uint8Array.from({ length: instructionCount(program) }, (_, i) => +isIdentity(program, memory, i));
  for (let rank = 0; rank < program.rankCount; rank++) {
    const low = memory.rankStart[rank];
    const cells = memory.rankStart[rank + 1] - low;
    const accesses = accessesOf(program, wiring, cells, found);
    walk(rank, (i, before) => {
      const first = program.operandOffset[i];
      const middle = first + program.sourceCount[i];
      const last = onlyReads[i] === 1 ? middle : program.operandOffset[i + 1];
      for (let o = first; o < last; o++) {
        if (program.operandRank[o] !== rank) continue;
        const cell = cellOf(program, memory, o) - low;
        for (let k = 0; k < program.chunks[i]; k++) accesses.access(i, o, cell + k, k, o >= middle, before);
      }
    });
    progress(rank);
  }
}

/** Returns what takes in the accesses to one rank's memory, of `cells` chunks. */
function accessesOf(program: Program, wiring: Wiring, cells: number, found: Findings) {
  const writeBy = new Int32Array(cells).fill(-1);
  const writeChunk = new Int32Array(cells);
  const reads = new Int32Array(cells).fill(-1);
  const by: number[] = [];
  const chunkOf: number[] = [];
  const next: number[] = [];
  const told = new Set<number>();
  const race = (a: number, aWrites: boolean, b: number, operand: number, chunk: number, bWrites: boolean): void => {
    const pair = a * instructionCount(program) + b;
    if (told.has(pair)) return;
    told.add(pair);
    const { operandRank, operandBuffer, operandIndex } = program;
    found.error(
      "race",
      () =>
        `${instructionWords(program, wiring, b)} ${bWrites ? "writes" : "reads"} ${chunkWords(operandRank[operand], operandBuffer[operand], operandIndex[operand] + chunk)}, which ${instructionWords(program, wiring, a)} ${aWrites ? "writes" : "reads"}: nothing says which comes first`,
      b,
    );
  };
  return {
    access(i: number, operand: number, cell: number, chunk: number, writes: boolean, before: Before): void {
      const writer = writeBy[cell];
      if (writer >= 0 && writer !== i && !before(writer, writeChunk[cell], chunk))
        race(writer, true, i, operand, chunk, writes);
      const head = reads[cell];
      if (!writes) {
        if (head >= 0 && before(by[head], chunkOf[head], chunk)) {
          chunkOf[head] = chunk;
          by[head] = i;
          return;
        }
        by.push(i);
        chunkOf.push(chunk);
        next.push(head);
        reads[cell] = by.length - 1;
        return;
      }
      for (let read = head; read >= 0; read = next[read])
        if (by[read] !== i && !before(by[read], chunkOf[read], chunk)) race(by[read], false, i, operand, chunk, true);
      reads[cell] = -1;
      writeBy[cell] = i;
      writeChunk[cell] = chunk;
    },
  };
}
