import { instructionCount, type Program } from "../../model/program/program.ts";
import { outside, type ProgramMemory } from "./program-memory.ts";
import type { Wiring } from "./program-wiring.ts";
import { chunkWords, type Findings, instructionWords } from "./program-words.ts";

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
