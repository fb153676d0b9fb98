import { OPS } from "../../model/program/program.ts";
import { type BlockView, errorAt } from "./program-limits-instructions.ts";

/**
 * Reports reductions that the runtimes' parser makes one of and that do not fit together: reductions in a row with the same
 * destination and the same buffer as source, of which no later one waits and no earlier one has hasdep, become one step with one
 * count. It ends a row where 16 reductions of the block are counted, later ones not, but the executor has room for 16 in each.
 * Source: msccl_parser.cc of Azure/msccl-executor-nccl. O(instructions of the block).
 */
export function reportFusion(view: BlockView): void {
  const { program, runtime, block, steps } = view;
  const { operandOffset, operandBuffer, operandIndex, instructionOffset } = program;
  /** The first of the row, -1: the next reduction begins one. */
  let first = -1;
  let row = 0;
  let counted = 0;
  const at = (i: number): { readonly source: number; readonly buffer: number; readonly index: number } => {
    const o = operandOffset[i];
    const isSum = operandBuffer[o] === operandBuffer[o + 2] && operandIndex[o] === operandIndex[o + 2];
    return { source: operandBuffer[isSum ? o + 1 : o], buffer: operandBuffer[o + 2], index: operandIndex[o + 2] };
  };
  const continues = (i: number): boolean => {
    if (first < 0 || steps.waits[i] > 0) return false;
    const [before, now] = [at(first), at(i)];
    return before.source === now.source && before.buffer === now.buffer && before.index === now.index;
  };
  for (let i = instructionOffset[block]; i < instructionOffset[block + 1]; i++) {
    const op = OPS[program.op[i]];
    if (op === "nop") continue;
    if (op !== "re") {
      first = -1;
      continue;
    }
    if (continues(i)) row++;
    else [first, row] = [i, 1];
    counted++;
    const most = runtime.fusedReductions;
    if (row === most + 1) {
      const text = `is the ${row}th reduction in a row into one chunk, but ${runtime.title} has room for ${most}`;
      errorAt(view, i, "fused", text);
    }
    if (program.chunks[i] !== program.chunks[first]) {
      const text = `is of ${program.chunks[i]} chunks, but ${runtime.title} makes it one with step ${program.step[first]}`;
      errorAt(view, i, "fused", `${text}, which is of ${program.chunks[first]}`);
    }
    if (program.publishes[i] === 1 || counted === most) first = -1;
  }
}
