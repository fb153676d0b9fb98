import { blockOfInstructions, OPS, type Program } from "../../model/program/program.ts";

/** How an executor numbers the steps of a program, and who waits for what. */
export interface ExecutorSteps {
  /** [instructions] the number under which others wait for it; -1 for a nop. */
  readonly number: Int32Array;
  /** [instructions] waits of its own and of nops since the step before; 0 for a nop. */
  readonly waits: Int32Array;
  /** [blocks] steps in the file. */
  readonly perBlock: Int32Array;
  /** [blocks] 1: an instruction, maybe one of its own, waits for one of its. */
  readonly awaited: Uint8Array;
  /** [blocks] its last instruction that publishes, -1 for none. */
  readonly lastPublished: Int32Array;
  /** [instructions] block. */
  readonly blockOf: Int32Array;
}

/**
 * Returns how executors count: a step advances the count by one, or by as many as it has waits where these are more, for each wait
 * but the last is a nop in the file. A nop without a wait is not counted. O(instructions).
 */
export function executorSteps(program: Program): ExecutorSteps {
  const { instructionOffset, waitOffset, waitOn, publishes, op, blockLine } = program;
  const blocks = blockLine.length;
  const number = new Int32Array(op.length).fill(-1);
  const waits = new Int32Array(op.length);
  const perBlock = new Int32Array(blocks);
  const lastPublished = new Int32Array(blocks).fill(-1);
  const awaited = new Uint8Array(blocks);
  const blockOf = blockOfInstructions(program);
  for (let b = 0; b < blocks; b++) {
    let next = 0;
    let pending = 0;
    for (let i = instructionOffset[b]; i < instructionOffset[b + 1]; i++) {
      pending += waitOffset[i + 1] - waitOffset[i];
      for (let w = waitOffset[i]; w < waitOffset[i + 1]; w++) awaited[blockOf[waitOn[w]]] = 1;
      if (OPS[op[i]] === "nop") continue;
      if (publishes[i] === 1) lastPublished[b] = i;
      waits[i] = pending;
      number[i] = next + Math.max(0, pending - 1);
      next = number[i] + 1;
      pending = 0;
    }
    perBlock[b] = blockLine[b] > 0 ? instructionOffset[b + 1] - instructionOffset[b] : next;
  }
  return { number, waits, perBlock, awaited, lastPublished, blockOf };
}
