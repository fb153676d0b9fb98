import { blockOfInstructions, OPS, type Program } from "../../model/program/program.ts";
import { MSCCL_RUNTIMES, type MscclRuntime } from "../../model/program/runtimes.ts";
import type { ProgramViolation } from "../program/program-violation.ts";
import { reportFile } from "./program-limits-file.ts";
import { atInstruction, type LimitReport, limitReport, placeOfBlock, whereOfBlock } from "./program-limits-report.ts";
import { reportText } from "./program-limits-text.ts";

/**
 * Returns what keeps a runtime from loading or running an msccl program as it is meant, beside what the program computes; at most a
 * hundred violations of a kind. `text` is the file, where there is one: it is looked at with the eyes of the runtime's own
 * parser. What a program was read from, or what was written from it, both will do. O(text + instructions).
 */
export function mscclLimitViolations(
  program: Program,
  runtimeName: MscclRuntime["name"],
  text: string | null,
): readonly ProgramViolation[] {
  const runtime = MSCCL_RUNTIMES[runtimeName];
  const report = limitReport();
  if (program.machine !== "msccl") {
    report.error("machine", `the program is for ${program.machine}, but ${runtime.title} runs MSCCL programs`);
    return report.violations;
  }
  const algo = text === null ? null : reportText(text, runtime, report);
  const steps = executorSteps(program);
  reportFile(program, runtime, algo, steps.perBlock, report);
  reportUnusedChannels(program, report);
  for (let rank = 0; rank < program.rankCount; rank++) {
    for (let block = program.blockOffset[rank]; block < program.blockOffset[rank + 1]; block++) {
      if (program.blockId[block] < 0) continue;
      const view = { program, runtime, rank, block, steps, report };
      reportBlock(view);
      reportInstructions(view);
      reportFusion(view);
    }
    reportConnections(program, runtime, rank, report);
  }
  return report.violations;
}

/**
 * Reports reductions that the runtimes' parser makes one of and that do not fit together: reductions in a row with the same
 * destination and the same buffer as source, of which no later one waits and no earlier one has hasdep, become one step with one
 * count. It ends a row where 16 reductions of the block are counted, later ones not, but the executor has room for 16 in each.
 * Source: msccl_parser.cc of Azure/msccl-executor-nccl. O(instructions of the block).
 */
function reportFusion(view: BlockView): void {
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

/** Reports a block with more steps than the runtime takes, or numbered otherwise than the executor counts, and its channel. */
function reportBlock({ program, runtime, block, rank, steps, report }: BlockView): void {
  const { title } = runtime;
  const place = placeOfBlock(program, block, rank);
  const where = whereOfBlock(program, block, rank);
  const count = steps.perBlock[block];
  const most = Math.max(count, lastNumber(program, block) + 1);
  if (most > runtime.stepsPerBlock) {
    report.error("steps", `${place} has ${most} steps, but ${title} takes at most ${runtime.stepsPerBlock}`, where);
  }
  if (program.channel[block] >= program.channelCount) {
    const channels = `nchannels is ${program.channelCount}`;
    report.error("channel", `${place} is on channel ${program.channel[block]}, but ${channels}`, where);
  }
  if (program.blockLine[block] > 0) reportNumbers({ program, runtime, block, rank, steps, report });
}

/** Returns the greatest number of a step in the file, -1 where there is no file. */
function lastNumber(program: Program, block: number): number {
  let last = -1;
  if (program.blockLine[block] === 0) return last;
  for (let i = program.instructionOffset[block]; i < program.instructionOffset[block + 1]; i++) {
    last = Math.max(last, program.step[i]);
  }
  return last;
}

/** Where a file numbers its steps otherwise than the executor counts, those that wait for one wait for another. */
function reportNumbers({ program, runtime, block, rank, steps, report }: BlockView): void {
  const { title } = runtime;
  const place = placeOfBlock(program, block, rank);
  const where = whereOfBlock(program, block, rank);
  let last = -1;
  let odd = -1;
  let ascending = true;
  for (let i = program.instructionOffset[block]; i < program.instructionOffset[block + 1]; i++) {
    ascending &&= program.step[i] > last;
    last = program.step[i];
    if (odd < 0 && steps.number[i] >= 0 && last !== steps.number[i]) odd = i;
  }
  if (!ascending) {
    report.error(
      "step-order",
      `${place} does not list its steps in ascending order, but ${title} runs them as listed`,
      where,
    );
  }
  if (odd < 0) return;
  const text = `${place} calls a step ${program.step[odd]} that ${title} counts as ${steps.number[odd]}`;
  if (steps.awaited[block] === 1) report.error("step-number", `${text}, so others wait for another step`, where);
  else report.warning("step-number", text, where);
}

/** A connection is a FIFO: one thread block of a gpu sends into it, one receives. Runtimes count thread blocks per channel. O(instructions). */
function reportConnections(program: Program, runtime: MscclRuntime, rank: number, report: LimitReport): void {
  reportSide(program, runtime, rank, report, "send");
  reportSide(program, runtime, rank, report, "recv");
}

function reportSide(
  program: Program,
  runtime: MscclRuntime,
  rank: number,
  report: LimitReport,
  side: "send" | "recv",
): void {
  const peers = side === "send" ? program.sendPeer : program.recvPeer;
  const uses = side === "send" ? program.sends : program.receives;
  const perChannel = new Map<number, number>();
  const owner = new Map<number, number>();
  for (let b = program.blockOffset[rank]; b < program.blockOffset[rank + 1]; b++) {
    const peer = peers[b];
    if (peer < 0) continue;
    const channel = program.channel[b];
    const count = (perChannel.get(channel) ?? 0) + 1;
    perChannel.set(channel, count);
    if (count === runtime.peersPerChannel + 1) {
      report.error(
        "peers-per-channel",
        `${placeOfBlock(program, b, rank)} makes ${count} with a ${side} peer on channel ${channel}, but ${runtime.title} takes at most ${runtime.peersPerChannel}`,
        whereOfBlock(program, b, rank),
      );
    }
    if (!uses.subarray(program.instructionOffset[b], program.instructionOffset[b + 1]).includes(1)) continue;
    const connection = channel * program.rankCount + peer;
    const other = owner.get(connection);
    if (other === undefined) {
      owner.set(connection, b);
      continue;
    }
    report.error(
      "connection",
      `${placeOfBlock(program, b, rank)} has channel ${channel} and ${side} peer ${peer} like thread block ${program.blockId[other]}, but a connection belongs to one thread block`,
      whereOfBlock(program, b, rank),
    );
  }
}

/** Reports channels that no thread block is on. O(blocks). */
function reportUnusedChannels(program: Program, report: LimitReport): void {
  const used = new Set(
    program.channel.filter((channel, b) => program.blockId[b] >= 0 && channel < program.channelCount),
  );
  if (used.size === program.channelCount) return;
  report.warning(
    "channels",
    `nchannels is ${program.channelCount}, but thread blocks are on ${used.size} channels only`,
  );
}

/** What the rules of instructions look at. */
interface BlockView {
  readonly program: Program;
  readonly runtime: MscclRuntime;
  readonly rank: number;
  readonly block: number;
  readonly steps: ExecutorSteps;
  readonly report: LimitReport;
}

/** Reports that an instruction breaks a rule; the text goes on after the place. */
function errorAt({ program, block, rank, report }: BlockView, i: number, kind: string, text: string): void {
  const { place, where } = atInstruction(program, i, block, rank);
  report.error(kind, `${place} ${text}`, where);
}

function warningAt({ program, block, rank, report }: BlockView, i: number, kind: string, text: string): void {
  const { place, where } = atInstruction(program, i, block, rank);
  report.warning(kind, `${place} ${text}`, where);
}

/** Reports the limits that single instructions of a block break. O(instructions of the block). */
function reportInstructions(view: BlockView): void {
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

/** How an executor numbers the steps of a program, and who waits for what. */
interface ExecutorSteps {
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
function executorSteps(program: Program): ExecutorSteps {
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
