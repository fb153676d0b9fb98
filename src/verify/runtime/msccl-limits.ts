import { blockOfInstructions, INPUT, OPS, OUTPUT, type Program } from "../../model/program/program.ts";
import { MSCCL_RUNTIMES, type MscclRuntime } from "../../model/program/runtimes.ts";
import type { ProgramViolation } from "../program/words.ts";
import { atInstruction, type LimitReport, limitReport, placeOfBlock, whereOfBlock } from "./report.ts";

/**
 * Returns what keeps a runtime from loading or running an msccl program as it is meant, beside what the program computes; at most a
 * hundred violations of a kind. `text` is the file, where there is one, or its parts, each of whole elements: it is looked at with the
 * eyes of the runtime's own parser. What a program was read from, or what was written from it, both will do. O(text + instructions).
 */
export function mscclLimitViolations(
  program: Program,
  runtimeName: MscclRuntime["name"],
  text: string | Iterable<string> | null,
): readonly ProgramViolation[] {
  const runtime = MSCCL_RUNTIMES[runtimeName];
  const report = limitReport();
  if (program.machine !== "msccl") {
    report.error("machine", `the program is for ${program.machine}, but ${runtime.title} runs MSCCL programs`);
    return report.violations;
  }
  const reader = text === null ? null : textReader(runtime, report);
  if (text !== null) for (const part of typeof text === "string" ? [text] : text) reader?.take(part);
  const algo = reader?.algo() ?? null;
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

/** microsoft/msccl copies this many characters of a name. */
const NAME_CHARACTERS = 63;
/** What microsoft/msccl takes for maxBytes where a file has none. */
const DEFAULT_MAX_BYTES = 134_217_728;
/** Multiprocessors of an A100, each of which runs one thread block; an H100 has 132. */
const A100_BLOCKS = 108;
const ROOTED = new Set(["broadcast", "reduce", "gather", "scatter"]);

/**
 * Reports what a runtime does not take of what a file says of itself and its gpus: the collective and its name, sizes and calls
 * for which it is never selected, channels, chunks per loop, nodes and children of the parser, copies outside of thread blocks.
 * `algo`: the attributes of <algo> as written, null where there is no file. `steps`: of each block. O(blocks).
 */
function reportFile(
  program: Program,
  runtime: MscclRuntime,
  algo: ReadonlyMap<string, string> | null,
  steps: Int32Array,
  report: LimitReport,
): void {
  const { title } = runtime;
  reportCollective(program, runtime, algo, report);
  reportSelection(program, runtime, algo, report);
  if (program.name.length > NAME_CHARACTERS && runtime.name === "msccl") {
    report.warning(
      "name",
      `the name has ${program.name.length} characters, of which ${title} keeps ${NAME_CHARACTERS}`,
    );
  }
  if (algo === null && new TextEncoder().encode(program.name).length > runtime.charactersPerValue) {
    report.error(
      "value-length",
      `the name is longer than the ${runtime.charactersPerValue} bytes of a value that ${title} has room for`,
    );
  }
  const threads = algo?.get("nthreads");
  if (threads !== undefined && runtime.name === "msccl" && Number(threads) % 32 !== 0) {
    report.error("threads", `nthreads is ${threads}, but ${title} demands a multiple of 32`);
  }
  if (program.channelCount > runtime.channels) {
    report.error(
      "channels",
      `the program has ${program.channelCount} channels, but ${title} has at most ${runtime.channels}`,
    );
  }
  if (program.rankCount > runtime.childrenPerNode) {
    report.error(
      "children",
      `<algo> has ${program.rankCount} gpus, but the parser of ${title} has room for ${runtime.childrenPerNode}`,
    );
  }
  for (let rank = 0; rank < program.rankCount; rank++) {
    reportNodes(program, runtime, rank, steps, report);
    if (runtime.name === "msccl") reportLoop(program, runtime, rank, report);
    reportCopies(program, runtime, rank, report);
  }
}

function reportCollective(
  program: Program,
  runtime: MscclRuntime,
  algo: ReadonlyMap<string, string> | null,
  report: LimitReport,
): void {
  const known = runtime.collectives[program.collective];
  const written = algo?.get("coll");
  if (known === undefined) {
    const names = Object.values(runtime.collectives).join(", ");
    report.error("collective", `the collective is ${program.collective}, but ${runtime.title} has only ${names}`);
  } else if (written !== undefined && written !== known) {
    report.error("collective", `the collective is written ${written}, but ${runtime.title} calls it ${known}`);
  }
  if (ROOTED.has(program.collective)) {
    report.warning(
      "root",
      `${runtime.title} selects a ${program.collective} whatever its root: this program is for root ${program.rootRank} only`,
    );
  }
}

function reportSelection(
  program: Program,
  runtime: MscclRuntime,
  algo: ReadonlyMap<string, string> | null,
  report: LimitReport,
): void {
  const { title } = runtime;
  if (!program.inPlace && !program.outOfPlace) {
    report.error(
      "never-selected",
      `the program is neither for calls in place nor out of place, so ${title} never selects it`,
    );
  } else if (program.inPlace && program.outOfPlace && !runtime.needsRange) {
    report.warning(
      "never-selected",
      `${title} looks at inplace only: it selects the program for calls in place, not for others`,
    );
  }
  if (algo !== null && !algo.has("maxBytes") && !runtime.needsRange) {
    report.warning("range", `without maxBytes ${title} selects the program only below ${DEFAULT_MAX_BYTES} bytes`);
  }
  const least = program.minBytes ?? 0;
  const most = program.maxBytes;
  if (most === null || (most === 0 && runtime.maxBytesIncluded)) return;
  if (runtime.maxBytesIncluded ? least <= most : least < most) return;
  const range = `from ${least} ${runtime.maxBytesIncluded ? "up to" : "to below"} ${most} bytes`;
  report.error("never-selected", `${title} never selects the program: no size is ${range}`);
}

/** The parser keeps <algo>, all <gpu>, and of its own gpu the thread blocks and steps; it stops when its room is full. */
function reportNodes(
  program: Program,
  runtime: MscclRuntime,
  rank: number,
  steps: Int32Array,
  report: LimitReport,
): void {
  let nodes = 1 + program.rankCount;
  let blocks = 0;
  for (let b = program.blockOffset[rank]; b < program.blockOffset[rank + 1]; b++) {
    if (program.blockId[b] < 0) continue;
    blocks++;
    nodes += 1 + steps[b];
  }
  if (nodes >= runtime.nodesPerRank) {
    const most = runtime.nodesPerRank - 1;
    report.error(
      "nodes",
      `gpu ${rank} needs ${nodes} nodes of the parser of ${runtime.title}, which has room for ${most}`,
      {
        rank,
      },
    );
  }
  if (blocks > runtime.blocksPerGpu) {
    report.error(
      "blocks",
      `gpu ${rank} has ${blocks} thread blocks, but ${runtime.title} takes at most ${runtime.blocksPerGpu}`,
      {
        rank,
      },
    );
  } else if (blocks > A100_BLOCKS) {
    const text = `gpu ${rank} has ${blocks} thread blocks, which must all run at once: an A100 runs ${A100_BLOCKS}`;
    report.warning("blocks", text, { rank });
  }
}

/** microsoft/msccl compares the chunks of buffers in use with nchunksperloop. */
function reportLoop(program: Program, runtime: MscclRuntime, rank: number, report: LimitReport): void {
  const { collective, rankCount, loopChunks, inputChunks, outputChunks } = program;
  const input = inputChunks[rank] * (collective === "allgather" ? rankCount : 1);
  const output = outputChunks[rank] * (collective === "reducescatter" ? rankCount : 1);
  for (const [name, chunks, total] of [
    ["i_chunks", inputChunks[rank], input],
    ["o_chunks", outputChunks[rank], output],
  ] as const) {
    if (chunks === 0 || total === loopChunks) continue;
    const times = total === chunks ? "" : `, times ${rankCount} gpus,`;
    report.error(
      "chunks-per-loop",
      `gpu ${rank} has ${name} ${chunks}, which${times} is not nchunksperloop (${loopChunks}), as ${runtime.title} demands`,
      { rank },
    );
  }
}

/** <copy> does nothing at run time. That is no harm where, in place, both sides are the same memory. */
function reportCopies(program: Program, runtime: MscclRuntime, rank: number, report: LimitReport): void {
  for (let b = program.blockOffset[rank]; b < program.blockOffset[rank + 1]; b++) {
    if (program.blockId[b] >= 0) continue;
    const needed = program.outOfPlace || !copiesNothing(program, b, rank);
    const line = program.blockLine[b];
    const where = line > 0 ? { rank, block: b, line } : { rank, block: b };
    const place = `gpu ${rank} lists copies outside of thread blocks${line > 0 ? ` (line ${line})` : ""}, which ${runtime.title} skips`;
    if (needed) report.error("copies", place, where);
    else report.warning("copies", `${place}; in place they copy nothing`, where);
  }
}

/** Returns true where, in place, each copy of a block goes from a chunk to itself. */
function copiesNothing(program: Program, block: number, rank: number): boolean {
  const { instructionOffset, operandOffset, operandIndex, operandBuffer, collective, inputChunks } = program;
  for (let i = instructionOffset[block]; i < instructionOffset[block + 1]; i++) {
    const from = operandOffset[i];
    if (operandBuffer[from] !== INPUT || operandBuffer[from + 1] !== OUTPUT) return false;
    const first = collective === "allgather" ? rank * inputChunks[rank] : 0;
    if (operandIndex[from + 1] !== first + operandIndex[from]) return false;
  }
  return true;
}

/** A tag as the runtimes' parser sees it. */
interface Tag {
  readonly name: string;
  /** Of the attributes that it keeps: the slots up to this one, where every surplus space takes one. */
  readonly attributes: ReadonlyMap<string, string>;
  readonly slots: number;
}

/** What the runtimes look up. */
const LOOKED_UP: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries({
    gpu: ["id", "i_chunks", "o_chunks", "s_chunks"],
    tb: ["id", "send", "recv", "chan"],
    step: ["s", "type", "srcbuf", "srcoff", "dstbuf", "dstoff", "cnt", "depid", "deps", "hasdep"],
  }),
);

const algoAttributes = (runtime: MscclRuntime): readonly string[] => [
  ...["proto", "nchannels", "nchunksperloop", "ngpus", "coll", "inplace"],
  ...(runtime.needsRange ? ["outofplace", "minBytes", "maxBytes"] : ["name"]),
];

/** Returns a function that tells the line of ever later places in a text. O(text) over all calls. */
function lineCounter(text: string): (at: number) => number {
  let line = 1;
  let seen = 0;
  return (at) => {
    for (let next = text.indexOf("\n", seen); next >= 0 && next < at; next = text.indexOf("\n", seen)) {
      line++;
      seen = next + 1;
    }
    return line;
  };
}

/**
 * Yields the parts of a file as they are, after calling `onError` with what is wrong with them for the runtime's own parser: for
 * files too large to be written once to be looked at and once to be kept.
 */
export function* checkedText(
  parts: Iterable<string>,
  runtimeName: MscclRuntime["name"],
  onError: (violation: ProgramViolation) => void,
): Generator<string> {
  const report = limitReport();
  const reader = textReader(MSCCL_RUNTIMES[runtimeName], report);
  for (const part of parts) {
    reader.take(part);
    for (const violation of report.violations) if (violation.severity === "error") onError(violation);
    yield part;
  }
}

/** Takes in an XML text part by part. */
interface TextReader {
  take(part: string): void;
  /** Returns the attributes that were found on <algo>; null where there is none. */
  algo(): ReadonlyMap<string, string> | null;
}

/**
 * Returns what reports what of an XML text the hand-written parser of MSCCL's runtimes does not read as XML (NCCL's xml.cc): it knows
 * no declaration, no TAB, no text, no single quotes, no line break within a tag, no entities; it keeps 16 attributes of an element.
 * O(text).
 */
function textReader(runtime: MscclRuntime, report: LimitReport): TextReader {
  const seen = new Set<string>();
  let linesBefore = 0;
  let algo: ReadonlyMap<string, string> | null = null;
  const plainLines = plainLinesOf(runtime);
  const take = (text: string): void => {
    const lineWithin = lineCounter(text);
    const lineAt = (at: number): number => linesBefore + lineWithin(at);
    const first: First = (kind, at, what, warns = false) => {
      if (seen.has(kind)) return;
      seen.add(kind);
      const line = lineAt(at);
      const sentence = `line ${line} has ${what}, but the parser of ${runtime.title} ${KNOWS[kind]}`;
      report[warns ? "warning" : "error"](kind, sentence, { line });
    };
    for (let at = 0; at < text.length; ) {
      plainLines.lastIndex = at;
      if (plainLines.test(text)) {
        at = plainLines.lastIndex;
        continue;
      }
      const character = text.charAt(at);
      if (character === " " || character === "\n" || character === "\r") {
        at++;
      } else if (character !== "<") {
        first(character === "\t" ? "tab" : "text", at, character === "\t" ? "a TAB" : "text between elements");
        at++;
      } else if (text.startsWith("<!--", at)) {
        at = after(text, "-->", at + 4);
      } else if (text.startsWith("<?", at)) {
        first("declaration", at, "an XML declaration");
        at = after(text, ">", at);
      } else if (text.startsWith("</", at)) {
        const end = after(text, ">", at);
        if (/\s/.test(text.slice(at, end))) first("closing-tag", at, "a closing tag with a space");
        at = end;
      } else {
        const plain = plainTagEnd(text, at, runtime);
        if (plain >= 0) {
          at = plain;
          continue;
        }
        const line = lineAt(at);
        const { tag, end } = readTag(text, at, runtime, first);
        at = end;
        if (tag.name === "algo") algo ??= tag.attributes;
        reportTag(tag, runtime, report, line);
      }
    }
    linesBefore = lineAt(text.length) - 1;
  };
  return { take, algo: () => algo };
}

/** Reports the first of a kind: where it is, what it is, and whether it is only a warning. */
type First = (kind: string, at: number, what: string, warns?: boolean) => void;

const [SPACE, QUOTE, AMPERSAND, EQUALS, SLASH, CLOSE] = Array.from(' "&=/>', (character) => character.charCodeAt(0));

/** Tags that are matched at once. */
const PLAIN_RUN = 64;

/** Returns what matches a run of tags of which nothing need be said: closing ones, and those with just what is looked up, in order. */
function plainLinesOf({ attributesPerNode, charactersPerValue }: MscclRuntime): RegExp {
  const value = `[^"&]{0,${Math.floor(charactersPerValue / 3)}}`;
  const opening = [...LOOKED_UP]
    .filter(([, names]) => names.length <= attributesPerNode)
    .map(([tag, names]) => `${tag}${names.map((name) => ` ${name}="${value}"`).join("")}/?`);
  const closing = [...LOOKED_UP.keys()].map((tag) => `/${tag}`);
  return new RegExp(`(?:[ \\n\\r]*<(?:${[...opening, ...closing].join("|")})>){1,${PLAIN_RUN}}`, "y");
}

/**
 * Returns where an opening tag ends of which nothing need be said, -1 where it has to be read: one that is looked up, with one space
 * between attributes, all that are needed among them in their usual order, and no more than are kept. O(tag).
 */
function plainTagEnd(text: string, from: number, { attributesPerNode, charactersPerValue }: MscclRuntime): number {
  let at = text.indexOf(" ", from);
  const needed = at < 0 ? undefined : LOOKED_UP.get(text.slice(from + 1, at));
  if (needed === undefined) return -1;
  let found = 0;
  for (let slots = 0; slots <= attributesPerNode; slots++) {
    const end = text.charCodeAt(at);
    if (end === CLOSE || (end === SLASH && text.charCodeAt(at + 1) === CLOSE))
      return found === needed.length ? at + (end === CLOSE ? 1 : 2) : -1;
    if (end !== SPACE || slots === attributesPerNode) return -1;
    const key = ++at;
    while (isKeyCharacter(text.charCodeAt(at))) at++;
    if (found < needed.length && at - key === needed[found].length && text.startsWith(needed[found], key)) found++;
    if (at === key || text.charCodeAt(at) !== EQUALS || text.charCodeAt(at + 1) !== QUOTE) return -1;
    at += 2;
    const value = at;
    for (let code = text.charCodeAt(at); code !== QUOTE; code = text.charCodeAt(++at))
      if (code === AMPERSAND || at - value > charactersPerValue / 3 || at >= text.length) return -1;
    at++;
  }
  return -1;
}

/** Letters, digits and underscores. */
const isKeyCharacter = (code: number): boolean =>
  (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || code === 95 || (code >= 48 && code <= 57);

/** What the parser knows instead, by kind. */
const KNOWS: Readonly<Record<string, string>> = {
  tab: "takes only spaces and line ends between elements and one space between attributes",
  text: "takes nothing but elements",
  declaration: "takes <algo> as the first element",
  "closing-tag": "takes only a name in it",
  quotes: 'takes only name="value" with double quotes and no spaces around =',
  "line-break": "takes a tag on one line only",
  spaces: "counts each further space as an attribute",
  entity: "takes & literally",
  "value-length": "has room for 255 bytes",
};

const after = (text: string, what: string, from: number): number => {
  const found = text.indexOf(what, from);
  return found < 0 ? text.length : found + what.length;
};

/** Returns the opening tag at a place and where it ends. */
function readTag(
  text: string,
  from: number,
  runtime: MscclRuntime,
  first: First,
): { readonly tag: Tag; readonly end: number } {
  const attributes = new Map<string, string>();
  let slots = 0;
  let at = from + 1;
  while (at < text.length && !/[\s/>]/.test(text.charAt(at))) at++;
  const name = text.slice(from + 1, at);
  for (;;) {
    const begun = at;
    while (/\s/.test(text.charAt(at))) at++;
    const space = text.slice(begun, at);
    if (space.includes("\t")) first("tab", begun, "a TAB");
    if (/[\n\r]/.test(space)) first("line-break", begun, `a line break in <${name}>`);
    if (space.length > 1) first("spaces", begun, `${space.length} spaces in a row in <${name}>`, true);
    slots += Math.max(0, space.length - 1);
    const key = /[^\s=<>/]*/y;
    key.lastIndex = at;
    const found = key.exec(text)?.[0] ?? "";
    if (found === "") return { tag: { name, attributes, slots }, end: after(text, ">", at) };
    at += found.length;
    const assigned = /\s*=\s*/y;
    assigned.lastIndex = at;
    const equals = assigned.exec(text)?.[0] ?? "";
    const quote = text.charAt(at + equals.length);
    if (equals !== "=" || quote !== '"') first("quotes", at, `attribute ${found} otherwise written`);
    at += equals.length + 1;
    const close = text.indexOf(quote === "'" ? "'" : '"', at);
    const end = close < 0 ? text.length : close;
    const value = text.slice(at, end);
    const bytes = value.length > runtime.charactersPerValue / 3 ? utf8Length(value) : 0;
    if (bytes > runtime.charactersPerValue) first("value-length", at, `a value of ${bytes} bytes`);
    if (value.includes("&") && found !== "name") first("entity", at, `an entity in attribute ${found}`);
    if (slots++ < runtime.attributesPerNode) attributes.set(found, value);
    at = end + 1;
  }
}

const utf8Length = (text: string): number => new TextEncoder().encode(text).length;

function reportTag(tag: Tag, runtime: MscclRuntime, report: LimitReport, line: number): void {
  const needed = tag.name === "algo" ? algoAttributes(runtime) : (LOOKED_UP.get(tag.name) ?? []);
  const missing = needed.filter((name) => !tag.attributes.has(name));
  if (missing.length > 0) {
    const kept =
      tag.slots > runtime.attributesPerNode ? ` among its first ${runtime.attributesPerNode} attributes` : "";
    const names = missing.join(", ");
    report.error(
      "missing-attribute",
      `<${tag.name}> on line ${line} has no ${names}${kept}, which ${runtime.title} needs`,
      { line },
    );
  } else if (needed.length > 0 && tag.slots > runtime.attributesPerNode) {
    report.warning(
      "attributes",
      `<${tag.name}> on line ${line} has ${tag.slots} attributes, but ${runtime.title} keeps the first ${runtime.attributesPerNode}`,
      { line },
    );
  }
}
