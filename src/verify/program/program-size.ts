import { blockCount, instructionCount, type Program } from "../../model/program/program.ts";
import type { Wiring } from "./program-wiring.ts";

/** Returns how many chunks operands and messages move in all, a double. O(instructions). */
export function chunkTotal(program: Program): number {
  let total = 0;
  for (let i = 0; i < instructionCount(program); i++) {
    const operands = program.operandOffset[i + 1] - program.operandOffset[i];
    total += program.chunks[i] * (operands + program.sends[i] + program.receives[i]);
  }
  return total;
}

/** Returns how many of those chunks are packets. O(instructions + operands). */
export function packetTotal(program: Program): number {
  let total = 0;
  for (let i = 0; i < instructionCount(program); i++)
    for (let o = program.operandOffset[i]; o < program.operandOffset[i + 1]; o++)
      total += program.chunks[i] * program.operandPacket[o];
  return total;
}

/** Words of clocks that may be written in all, which takes some minutes, and kept at a time, which is 1 GiB. */
const WRITTEN = 2 ** 34;
const KEPT = 2 ** 28;

/**
 * Returns whether the clocks of all instructions can be written, rank by rank: a word for each block that touches the rank's
 * memory. O(instructions + operands).
 */
export function clocksFit(program: Program, wiring: Wiring): boolean {
  const blocksOf = touchingBlocks(program, wiring);
  const all = blocksOf.reduce((sum, blocks) => sum + blocks, 0);
  const most = blocksOf.reduce((high, blocks) => Math.max(high, blocks), 0);
  const instructions = instructionCount(program);
  return instructions * all <= WRITTEN && (instructions + 2 * blockCount(program)) * most <= KEPT;
}

/** Returns for each rank how many blocks touch its memory: of msccl, at most its own. */
function touchingBlocks(program: Program, wiring: Wiring): Int32Array {
  const { blockOffset, rankCount } = program;
  if (program.machine === "msccl")
    return Int32Array.from({ length: rankCount }, (_, r) => blockOffset[r + 1] - blockOffset[r]);
  const blocksOf = new Int32Array(rankCount);
  const seen = new Set<number>();
  for (let i = 0; i < instructionCount(program); i++)
    for (let o = program.operandOffset[i]; o < program.operandOffset[i + 1]; o++) {
      const pair = program.operandRank[o] * blockCount(program) + wiring.blockOf[i];
      if (seen.has(pair)) continue;
      seen.add(pair);
      blocksOf[program.operandRank[o]]++;
    }
  return blocksOf;
}
