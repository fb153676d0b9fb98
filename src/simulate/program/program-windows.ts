import { blockCount, instructionCount, OPS, type Program, WAIT_BARRIER } from "../../model/program/program.ts";

const NOP = OPS.indexOf("nop");

/**
 * Returns [instructions] where the window that an instruction of an mscclpp program is in ends. Instructions of a window run
 * side by side; a nop ends one, and a barrier is one of its own. O(instructions).
 */
export function windowEnds(program: Program): Int32Array {
  const { instructionOffset, op } = program;
  const end = new Int32Array(instructionCount(program));
  const alone = (i: number): boolean => op[i] === NOP || meetsBarrier(program, i);
  for (let b = 0; b < blockCount(program); b++) {
    const last = instructionOffset[b + 1];
    for (let i = last - 1; i >= instructionOffset[b]; i--)
      end[i] = i + 1 === last || alone(i) || alone(i + 1) ? i + 1 : end[i + 1];
  }
  return end;
}

function meetsBarrier({ waitOffset, waitKind }: Program, i: number): boolean {
  for (let w = waitOffset[i]; w < waitOffset[i + 1]; w++) if (waitKind[w] === WAIT_BARRIER) return true;
  return false;
}
