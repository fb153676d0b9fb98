import { InputError } from "../../base/errors.ts";
import { chunksPerBlock } from "../../model/program/mpi-places.ts";
import { type MpiPlan, PLAN_MAGIC, PLAN_VERSION, ROOTED } from "../../model/program/mpi-plan.ts";
import { planChecksum } from "../../model/program/plan-checksum.ts";
import {
  BUFFER_LETTERS,
  blockOfInstructions,
  OPS,
  type Program,
  placeOfInstruction,
  rankOfBlocks,
  WAIT_INSTRUCTION,
} from "../../model/program/program.ts";

export interface MpiPlanOptions {
  /** Least and greatest nccl-tests size that the file is for, both included (Infinity: no bound); otherwise the program's bounds. */
  readonly minBytes?: number;
  readonly maxBytes?: number;
}

/** Characters per part. */
const PART = 65_536;

/**
 * Yields the parts of a plan's file (FORMATS.md, "Plans for MPI"), the last with the checksum of all. Throws InputError for a program
 * that is no plan. O(instructions).
 */
export function* mpiPlanParts(program: Program, options: MpiPlanOptions = {}): Generator<string> {
  const checksum = planChecksum();
  let held = "";
  for (const line of lines(program, options)) {
    held += `${line}\n`;
    if (held.length < PART) continue;
    checksum.add(held);
    yield held;
    held = "";
  }
  checksum.add(held);
  yield `${held}end ${checksum.digits()}\n`;
}

/** Returns a text as a line of a plan may have it: printable ASCII. */
const plain = (text: string): string => text.replace(/[^\x20-\x7e]/g, "?").trim() || "plan";

function* lines(program: Program, options: MpiPlanOptions): Generator<string> {
  const mpi = mpiOf(program);
  yield* calls(program, mpi, program.name, options);
  yield `lanes ${program.channelCount}`;
  yield `segment ${mpi.segmentBytes}`;
  const block = blockOfInstructions(program);
  const rankOf = rankOfBlocks(program);
  for (let r = 0; r < program.rankCount; r++) {
    yield `rank ${r}`;
    yield `scratch ${program.scratchChunks[r]}`;
    for (let b = program.blockOffset[r]; b < program.blockOffset[r + 1]; b++) {
      yield blockLine(program, b);
      for (let i = program.instructionOffset[b]; i < program.instructionOffset[b + 1]; i++)
        yield instructionLine(program, mpi, i, block, rankOf);
    }
  }
}

/** Yields the lines that say which calls a plan is for. */
function* calls(program: Program, mpi: MpiPlan, name: string, { minBytes, maxBytes }: MpiPlanOptions) {
  const { collective, rankCount, rootRank } = program;
  yield `${PLAN_MAGIC} ${PLAN_VERSION}`;
  yield `name ${plain(name)}`;
  yield `collective ${collective}`;
  yield `ranks ${rankCount}`;
  if (ROOTED.has(collective)) yield `root ${rootRank}`;
  const most = maxBytes ?? program.maxBytes ?? Infinity;
  yield `bytes ${minBytes ?? program.minBytes ?? 0} ${Number.isFinite(most) ? most : "-"}`;
  yield `chunks ${chunksPerBlock(program)}`;
  if (mpi.group !== null) yield `group ${mpi.group.join(" ")}`;
  for (const [r, host] of mpi.hosts?.entries() ?? [])
    yield `host ${mpi.group === null ? r : mpi.group[r]} ${host.name} ${host.index}`;
  if (mpi.ops !== null) yield `ops ${mpi.ops.join(" ")}`;
  if (mpi.unequal) yield "unequal";
}

/**
 * Returns the file that leaves calls of some sizes, which a plan would be for, to the MPI library: runtimes take the first file of a
 * folder that fits. Throws InputError for a program that is no plan.
 */
export function libraryPlan(program: Program, name: string, range: Required<MpiPlanOptions>): string {
  const text = [...calls(program, mpiOf(program), name, range), "library"].map((line) => `${line}\n`).join("");
  const checksum = planChecksum();
  checksum.add(text);
  return `${text}end ${checksum.digits()}\n`;
}

function mpiOf({ mpi, machine }: Program): MpiPlan {
  if (mpi === undefined) throw new InputError("a program for MPI", "a plan for MPI", machine);
  return mpi;
}

function blockLine({ sendPeer, recvPeer, channel }: Program, b: number): string {
  if (sendPeer[b] >= 0 && recvPeer[b] >= 0)
    throw new InputError("a plan for MPI", "blocks that only send or only receive", `block ${b}`);
  if (sendPeer[b] >= 0) return `to ${sendPeer[b]} ${channel[b]}`;
  return recvPeer[b] >= 0 ? `from ${recvPeer[b]} ${channel[b]}` : "local";
}

/** Sources and destinations of the instructions that files have. */
const SHAPES: Readonly<Record<string, readonly [number, number]>> = {
  s: [1, 0],
  r: [0, 1],
  rrc: [1, 1],
  cpy: [1, 1],
  re: [2, 1],
};

function instructionLine(program: Program, mpi: MpiPlan, i: number, block: Int32Array, rankOf: Int32Array): string {
  const op = OPS[program.op[i]];
  const first = program.operandOffset[i];
  const sources = program.sourceCount[i];
  const destinations = program.operandOffset[i + 1] - first - sources;
  const shape = SHAPES[op];
  if (shape === undefined || shape[0] !== sources || shape[1] !== destinations)
    throw new InputError(
      placeOfInstruction(program, i, block[i], rankOf[block[i]]),
      `one of ${Object.keys(SHAPES).join(", ")} with its operands`,
      op,
    );
  // a sum of two places is written to the first of them
  const operands =
    op === "re" ? [first + 1, first + 2] : Array.from({ length: sources + destinations }, (_, k) => first + k);
  const places = operands.map((o) => `${BUFFER_LETTERS[program.operandBuffer[o]]} ${program.operandIndex[o]}`);
  return [op, mpi.chunk[i], program.chunks[i], ...places, ...waitTexts(program, i, block)].join(" ");
}

function waitTexts(program: Program, i: number, block: Int32Array): string[] {
  const { waitOffset, waitKind, waitOn, blockId, instructionOffset } = program;
  return Array.from({ length: waitOffset[i + 1] - waitOffset[i] }, (_, k) => {
    const w = waitOffset[i] + k;
    const on = waitOn[w];
    if (waitKind[w] !== WAIT_INSTRUCTION)
      throw new InputError("a plan for MPI", "waits for instructions only", "others");
    return `@${blockId[block[on]]}:${on - instructionOffset[block[on]]}`;
  });
}
