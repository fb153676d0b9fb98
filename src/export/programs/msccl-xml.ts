import { InputError } from "../../base/errors.ts";
import { heldOperand, type Messages, messagesOf } from "../../model/program/messages.ts";
import {
  BUFFER_LETTERS,
  blockOfInstructions,
  INPUT,
  OPS,
  OUTPUT,
  type Program,
  placeOfInstruction,
  rankOfBlocks,
  WAIT_INSTRUCTION,
} from "../../model/program/program.ts";
import { MSCCL_RUNTIMES, type MscclRuntime, partsPerSize } from "../../model/program/runtimes.ts";
import { xmlAttribute } from "../xml-attribute.ts";

export interface MscclXmlOptions {
  /** Whose names of collectives, and whose reading of maxBytes. */
  readonly dialect: MscclRuntime["name"];
  /** Least and greatest nccl-tests size that the file is for, both included. Otherwise the program's bounds as they stand, or all sizes. */
  readonly minBytes?: number;
  readonly maxBytes?: number;
}

/** Not 0, which only some runtimes take for no bound. */
const ALL_SIZES = 2 ** 40;
/** Characters per part. */
const PART = 65_536;

/**
 * Yields the parts of an MSCCL XML file that the hand-written parsers of the runtimes read: no declaration, double quotes, one space
 * between attributes, one element a line, no TABs. A side that a step does not have is the peer's: where that has what it sends, or
 * puts what it receives. Waits beyond the first of an instruction become nops before it. A root other
 * than 0 is written as the attribute `root`, which runtimes ignore. Limits of the runtime are not looked at. Throws InputError for
 * what MSCCL XML cannot say. O(instructions).
 */
export function* mscclXmlParts(program: Program, options: MscclXmlOptions): Generator<string> {
  let held = "";
  for (const line of lines(program, options)) {
    held += line;
    if (held.length < PART) continue;
    yield held;
    held = "";
  }
  yield held;
}

function* lines(program: Program, options: MscclXmlOptions): Generator<string> {
  if (program.machine !== "msccl") throw new InputError("a program for MSCCL XML", "an msccl program", program.machine);
  const numbers = stepNumbers(program);
  const rank = rankOfBlocks(program);
  yield `<algo ${algoAttributes(program, options)}>\n`;
  for (let r = 0; r < program.rankCount; r++) {
    const { inputChunks, outputChunks, scratchChunks } = program;
    const chunks = `i_chunks="${inputChunks[r]}" o_chunks="${outputChunks[r]}" s_chunks="${scratchChunks[r]}"`;
    yield `  <gpu id="${r}" ${chunks}>\n`;
    let id = 0;
    for (let b = program.blockOffset[r]; b < program.blockOffset[r + 1]; b++) {
      if (program.blockId[b] < 0) {
        for (const line of copyLines(program, b, numbers)) yield `    ${line}\n`;
        continue;
      }
      yield `    <tb ${blockAttributes(program, b, id, rank[b])}>\n`;
      for (const line of stepLines(program, b, numbers)) yield `      ${line}\n`;
      yield "    </tb>\n";
      id++;
    }
    yield "  </gpu>\n";
  }
  yield "</algo>\n";
}

function blockAttributes(program: Program, block: number, id: number, rank: number): string {
  const found = program.blockId[block];
  if (found !== id) throw new InputError(`the thread blocks of gpu ${rank}`, `ids 0, 1, 2 ... (${id} is next)`, found);
  return `id="${id}" send="${program.sendPeer[block]}" recv="${program.recvPeer[block]}" chan="${program.channel[block]}"`;
}

function algoAttributes(program: Program, options: MscclXmlOptions): string {
  const runtime = MSCCL_RUNTIMES[options.dialect];
  const coll = runtime.collectives[program.collective];
  if (coll === undefined) {
    const known = Object.keys(runtime.collectives).join(", ");
    throw new InputError(`the collective of a program for ${runtime.title}`, `one of ${known}`, program.collective).as(
      "unknown-name",
    );
  }
  const { minBytes, maxBytes } = range(program, options, runtime);
  const attributes: readonly (readonly [string, string | number])[] = [
    ["name", xmlAttribute(program.name)],
    ["proto", program.protocol],
    ["nchannels", program.channelCount],
    ["nchunksperloop", loopChunksOf(program)],
    ["ngpus", program.rankCount],
    ["coll", coll],
    ["inplace", program.inPlace ? 1 : 0],
    ["outofplace", program.outOfPlace ? 1 : 0],
    ["minBytes", minBytes],
    ["maxBytes", maxBytes],
    ...(program.rootRank === 0 ? [] : [["root", program.rootRank] as const]),
  ];
  return attributes.map(([key, value]) => `${key}="${value}"`).join(" ");
}

/** Returns the bounds as the runtime reads them. */
function range(
  program: Program,
  { minBytes, maxBytes }: MscclXmlOptions,
  runtime: MscclRuntime,
): { readonly minBytes: number; readonly maxBytes: number } {
  for (const [name, value] of Object.entries({ minBytes, maxBytes })) {
    if (value !== undefined && !(Number.isSafeInteger(value) && value >= 0)) {
      throw new InputError(`options.${name}`, "a whole number of bytes", value);
    }
  }
  if (maxBytes === 0) throw new InputError("options.maxBytes", "a size (0 would be no bound)", maxBytes);
  if (minBytes !== undefined && maxBytes !== undefined && minBytes > maxBytes) {
    throw new InputError("options.maxBytes", `a size of at least minBytes (${minBytes})`, maxBytes);
  }
  const past = runtime.maxBytesIncluded ? 0 : 1;
  const parts = partsPerSize(program.collective, program.rankCount);
  const most = maxBytes === undefined ? program.maxBytes : Math.min(maxBytes + past, Number.MAX_SAFE_INTEGER);
  return {
    minBytes: Math.ceil((minBytes ?? program.minBytes ?? 0) / parts),
    // 0 would be no bound.
    maxBytes: most === null ? ALL_SIZES : most === 0 ? 0 : Math.max(1, Math.floor(most / parts)),
  };
}

/** Returns nchunksperloop: of a rank's part, where the runtimes count that only. Throws InputError where ranks do not share chunks equally. */
function loopChunksOf({ collective, rankCount, loopChunks }: Program): number {
  const chunks = loopChunks / partsPerSize(collective, rankCount);
  if (Number.isInteger(chunks)) return chunks;
  throw new InputError(
    `the chunks of a ${collective} for MSCCL XML`,
    `a multiple of its ${rankCount} ranks`,
    loopChunks,
  );
}

/** What MSCCL's types of steps are made of: sources and destinations, receiving, sending. */
const SHAPES: Readonly<Record<string, readonly [number, number, number, number]>> = {
  s: [1, 0, 0, 1],
  r: [0, 1, 1, 0],
  rcs: [0, 1, 1, 1],
  rrs: [1, 0, 1, 1],
  rrc: [1, 1, 1, 0],
  rrcs: [1, 1, 1, 1],
  cpy: [1, 1, 0, 0],
  re: [2, 1, 0, 0],
};
const SHAPE_WORDS = "the sources, destinations and connections of an MSCCL step of its type";

/** Where the instructions of a program stand in the file, and who they meet. */
interface StepNumbers {
  /** [instructions] thread block within its rank, and its step there; -1 for a nop. */
  readonly step: Int32Array;
  /** [instructions] block, rank */
  readonly block: Int32Array;
  readonly rank: Int32Array;
  readonly messages: Messages;
}

/**
 * Returns the number of each step as executors count: a step that waits for k others takes k numbers, for k - 1 nops stand before
 * it. Waits of a nop become waits of the next step of its block. O(instructions).
 */
function stepNumbers(program: Program): StepNumbers {
  const block = blockOfInstructions(program);
  const rankOf = rankOfBlocks(program);
  const step = new Int32Array(block.length).fill(-1);
  const { instructionOffset, waitOffset, op } = program;
  for (let b = 0; b < rankOf.length; b++) {
    let next = 0;
    let waits = 0;
    for (let i = instructionOffset[b]; i < instructionOffset[b + 1]; i++) {
      waits += waitOffset[i + 1] - waitOffset[i];
      if (OPS[op[i]] === "nop") continue;
      step[i] = next + Math.max(0, waits - 1);
      next = step[i] + 1;
      waits = 0;
    }
  }
  return { step, block, rank: block.map((b) => rankOf[b]), messages: messagesOf(program) };
}

/**
 * Yields the lines of a block's steps. Throws InputError for what MSCCL cannot say: events, barriers, packets, memory of other
 * ranks, waits for another rank or a nop, and other combinations of operands than its types of steps have.
 */
function* stepLines(program: Program, block: number, numbers: StepNumbers): Generator<string> {
  const { instructionOffset, waitOffset, op } = program;
  const pending: string[] = [];
  for (let i = instructionOffset[block]; i < instructionOffset[block + 1]; i++) {
    for (let w = waitOffset[i]; w < waitOffset[i + 1]; w++) pending.push(waitText(program, i, w, numbers));
    if (OPS[op[i]] === "nop") {
      refuseData(program, i, numbers);
      continue;
    }
    const wait = pending.pop() ?? NO_WAIT;
    const first = numbers.step[i] - pending.length;
    for (const [k, other] of pending.entries()) yield `<step s="${first + k}" ${NOP} ${other} hasdep="0"/>`;
    pending.length = 0;
    yield `<step s="${numbers.step[i]}" ${dataText(program, i, numbers)} ${wait} hasdep="${program.publishes[i]}"/>`;
  }
}

const NO_WAIT = 'depid="-1" deps="-1"';
const NOP = 'type="nop" srcbuf="i" srcoff="-1" dstbuf="o" dstoff="-1" cnt="0"';

const refuse = (program: Program, instruction: number, numbers: StepNumbers, expected: string, got: unknown): never => {
  const place = placeOfInstruction(program, instruction, numbers.block[instruction], numbers.rank[instruction]);
  throw new InputError(`${place} of a program for MSCCL XML`, expected, got);
};

function refuseData(program: Program, i: number, numbers: StepNumbers): void {
  const operands = program.operandOffset[i + 1] - program.operandOffset[i];
  if (operands + program.receives[i] + program.sends[i] > 0)
    refuse(program, i, numbers, "a nop without data", operands);
}

function waitText(program: Program, i: number, wait: number, numbers: StepNumbers): string {
  const on = program.waitOn[wait];
  if (program.waitKind[wait] !== WAIT_INSTRUCTION)
    refuse(program, i, numbers, "waits for instructions only", "another");
  if (numbers.rank[on] !== numbers.rank[i] || numbers.step[on] < 0) {
    refuse(program, i, numbers, "a wait for a step of its gpu that is no nop", on);
  }
  return `depid="${program.blockId[numbers.block[on]]}" deps="${numbers.step[on]}"`;
}

/** Returns the attributes of what an instruction moves. */
function dataText(program: Program, i: number, numbers: StepNumbers): string {
  const type = OPS[program.op[i]];
  const first = program.operandOffset[i];
  const sources = program.sourceCount[i];
  const destinations = program.operandOffset[i + 1] - first - sources;
  const shape = SHAPES[type];
  if (shape === undefined) return refuse(program, i, numbers, `one of ${Object.keys(SHAPES).join(", ")}, nop`, type);
  const same = [sources, destinations, program.receives[i], program.sends[i]].every((many, at) => many === shape[at]);
  if (!same || program.postOffset[i + 1] > program.postOffset[i] || program.via[i] !== 0) {
    refuse(program, i, numbers, SHAPE_WORDS, type);
  }
  for (let o = first; o < first + sources + destinations; o++) {
    if (program.operandRank[o] !== numbers.rank[i] || program.operandPacket[o] !== 0) {
      refuse(program, i, numbers, "memory of its own gpu, without packets", `memory of gpu ${program.operandRank[o]}`);
    }
  }
  const { sendOf, receiveOf } = numbers.messages;
  const added = type === "re" ? addedOperand(program, i, numbers) : first;
  const source = sources > 0 ? added : (heldOperand(program, sendOf[i]) ?? first);
  const destination = destinations > 0 ? first + sources : (heldOperand(program, receiveOf[i]) ?? first);
  return `type="${type}" ${side(program, "src", source)} ${side(program, "dst", destination)} cnt="${program.chunks[i]}"`;
}

/** Returns the source of a reduction that is not its destination. */
function addedOperand(program: Program, i: number, numbers: StepNumbers): number {
  const first = program.operandOffset[i];
  if (sameOperand(program, first, first + 2)) return first + 1;
  if (sameOperand(program, first + 1, first + 2)) return first;
  return refuse(program, i, numbers, "a reduction into one of its two sources", "another destination");
}

const sameOperand = ({ operandBuffer, operandIndex }: Program, a: number, b: number): boolean =>
  operandBuffer[a] === operandBuffer[b] && operandIndex[a] === operandIndex[b];

const side = (program: Program, name: string, operand: number): string =>
  `${name}buf="${BUFFER_LETTERS[program.operandBuffer[operand]]}" ${name}off="${program.operandIndex[operand]}"`;

/** Yields the lines of a block of copies, which a file lists outside of thread blocks. Throws InputError for anything else in it. */
function* copyLines(program: Program, block: number, numbers: StepNumbers): Generator<string> {
  const { instructionOffset, operandOffset, operandBuffer, operandIndex } = program;
  for (let i = instructionOffset[block]; i < instructionOffset[block + 1]; i++) {
    dataText(program, i, numbers);
    const from = operandOffset[i];
    const plain = OPS[program.op[i]] === "cpy" && operandBuffer[from] === INPUT && operandBuffer[from + 1] === OUTPUT;
    const waits = program.waitOffset[i + 1] - program.waitOffset[i];
    if (!plain || program.chunks[i] !== 1 || waits + program.publishes[i] > 0) {
      refuse(program, i, numbers, "copies of one chunk from input to output, without waits,", OPS[program.op[i]]);
    }
    yield `<copy i_off="${operandIndex[from]}" o_off="${operandIndex[from + 1]}"/>`;
  }
}
