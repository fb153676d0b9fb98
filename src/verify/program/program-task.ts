import { INPUT, OUTPUT, type Program } from "../../model/program/program.ts";
import type { ProgramMemory } from "./program-memory.ts";

/**
 * Calls `each` for every cell that holds input when a call begins, with its rank and the number of the chunk in the input; for
 * custom programs all inputs. O(chunks of inputs).
 */
export function givenChunks(
  program: Program,
  memory: ProgramMemory,
  each: (cell: number, rank: number, chunk: number) => void,
): void {
  const { collective, rankCount, rootRank } = program;
  const ofRoot = collective === "broadcast" || collective === "scatter";
  for (let r = 0; r < rankCount; r++) {
    if (ofRoot && r !== rootRank) continue;
    const at = 3 * r + INPUT;
    for (let k = 0; k < memory.to[at]; k++) each(memory.start[at] + k, r, k);
  }
}

/** What a cell must hold in the end: contributions to one chunk of the inputs, of one rank or (-1) of all. */
export type EachDue = (cell: number, rank: number, outputChunk: number, chunk: number, from: number) => void;

/** Calls `each` for every cell of an output that a collective defines, rank by rank. Not for custom programs. O(chunks of outputs). */
export function dueChunks(program: Program, memory: ProgramMemory, each: EachDue): void {
  const { collective, rankCount, rootRank, loopChunks: whole } = program;
  const { part } = memory;
  const rootOnly = collective === "gather" || collective === "reduce";
  for (let r = 0; r < rankCount; r++) {
    if (rootOnly && r !== rootRank) continue;
    const chunks = collective === "reducescatter" || collective === "scatter" ? part : whole;
    for (let k = 0; k < chunks; k++) {
      const cell = memory.start[3 * r + OUTPUT] + k;
      switch (collective) {
        case "allgather":
        case "gather":
          each(cell, r, k, k % part, Math.floor(k / part));
          break;
        case "alltoall":
          each(cell, r, k, r * part + (k % part), Math.floor(k / part));
          break;
        case "scatter":
          each(cell, r, k, r * part + k, rootRank);
          break;
        case "broadcast":
          each(cell, r, k, k, rootRank);
          break;
        case "reducescatter":
          each(cell, r, k, r * part + k, -1);
          break;
        default:
          each(cell, r, k, k, -1);
      }
    }
  }
}
