import { instructionCount, type Program } from "../model/program.ts";

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
