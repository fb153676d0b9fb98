import { OPS, type Program } from "../../model/program/program.ts";
import type { MscclRuntime } from "../../model/program/runtimes.ts";
import { atInstruction, type LimitReport } from "./program-limits-report.ts";
import type { ExecutorSteps } from "./program-limits-steps.ts";

/** What the rules of instructions look at. */
export interface BlockView {
  readonly program: Program;
  readonly runtime: MscclRuntime;
  readonly rank: number;
  readonly block: number;
  readonly steps: ExecutorSteps;
  readonly report: LimitReport;
}

/** Reports that an instruction breaks a rule; the text goes on after the place. */
export function errorAt({ program, block, rank, report }: BlockView, i: number, kind: string, text: string): void {
  const { place, where } = atInstruction(program, i, block, rank);
  report.error(kind, `${place} ${text}`, where);
}

function warningAt({ program, block, rank, report }: BlockView, i: number, kind: string, text: string): void {
  const { place, where } = atInstruction(program, i, block, rank);
  report.warning(kind, `${place} ${text}`, where);
}

/** Reports the limits that single instructions of a block break. O(instructions of the block). */
export function reportInstructions(view: BlockView): void {
  const { program, block } = view;
  const end = program.instructionOffset[block + 1];
  for (let i = program.instructionOffset[block]; i < end; i++) {
    for (let w = program.waitOffset[i]; w < program.waitOffset[i + 1]; w++) reportWait(view, i, program.waitOn[w]);
    if (OPS[program.op[i]] === "nop") reportNop(view, i, end);
    else reportData(view, i);
  }
}

/** An instruction waits for a number of another block: nops have none, and only steps with hasdep tell theirs. */
function reportWait(view: BlockView, i: number, on: number): void {
  const { program, runtime, steps } = view;
  const other = steps.blockOf[on];
  const id = program.blockId[other];
  if (id > runtime.awaitedBlock) {
    const most = runtime.awaitedBlock;
    errorAt(
      view,
      i,
      "awaited-block",
      `waits for thread block ${id}, but ${runtime.title} can wait for 0 to ${most} only`,
    );
  }
  if (OPS[program.op[on]] === "nop") {
    const text = `waits for step ${program.step[on]} of thread block ${id}, a nop, which ${runtime.title} does not run`;
    errorAt(view, i, "awaited-nop", text);
  } else if (program.publishes[on] === 0) {
    const text = `waits for step ${program.step[on]} of thread block ${id}, which has no hasdep`;
    if (steps.lastPublished[other] < on) errorAt(view, i, "hasdep", `${text}, nor has a later one: it waits for ever`);
    else warningAt(view, i, "hasdep", `${text}: it waits for a later one`);
  }
}

/** A nop hands its wait to the step after it. Files only: a writer makes nops of waits. */
function reportNop(view: BlockView, i: number, end: number): void {
  const { program, runtime, block } = view;
  if (program.blockLine[block] === 0) return;
  if (program.waitOffset[i + 1] === program.waitOffset[i]) {
    warningAt(
      view,
      i,
      "nop-placement",
      `is a nop without a dependency, which ${runtime.title} does not count as a step`,
    );
  } else if (i + 1 === end) {
    warningAt(view, i, "nop-placement", `is a nop with no step behind it, which ${runtime.title} ignores`);
  }
}

function reportData(view: BlockView, i: number): void {
  const { program, runtime, block, steps } = view;
  const { title } = runtime;
  const op = OPS[program.op[i]];
  if (!runtime.ops.has(op)) errorAt(view, i, "op", `is ${op}, but ${title} runs only ${[...runtime.ops].join(", ")}`);
  const chunks = program.chunks[i];
  if (chunks < 1 || chunks > runtime.chunksPerStep) {
    errorAt(view, i, "chunks", `moves ${chunks} chunks, but ${title} takes 1 to ${runtime.chunksPerStep}`);
  }
  for (let o = program.operandOffset[i]; o < program.operandOffset[i + 1]; o++) {
    const index = program.operandIndex[o];
    if (index <= runtime.chunkIndex) continue;
    errorAt(view, i, "index", `names chunk ${index}, but ${title} holds numbers up to ${runtime.chunkIndex} only`);
  }
  if (program.sends[i] === 1 && program.sendPeer[block] < 0) {
    errorAt(view, i, "peer", 'sends, but its thread block has send="-1"');
  }
  if (program.receives[i] === 1 && program.recvPeer[block] < 0) {
    errorAt(view, i, "peer", 'receives, but its thread block has recv="-1"');
  }
  const own = program.waitOffset[i + 1] - program.waitOffset[i];
  if (program.blockLine[block] > 0 && own === 0 && steps.waits[i] > 0) {
    errorAt(view, i, "nop-placement", `follows a nop with a dependency and has none itself, but ${title} demands one`);
  }
}
