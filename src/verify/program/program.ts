import { InputError } from "../../base/errors.ts";
import { blockCount, INPUT, instructionCount, OUTPUT, type Program, skippedText } from "../../model/program/program.ts";
import { CONNECTIONS, chunksPerMessage } from "../../model/program/runtimes.ts";
import { holdersOf, type TableHolders } from "../../model/program/table.ts";
import { checkForm, eventWords, mostOf } from "./form.ts";
import { checkBounds, memoryOf, type ProgramMemory, type ProgramMode } from "./memory.ts";
import { checkRaces } from "./races.ts";
import {
  FOR_BARRIER,
  FOR_EVENT,
  FOR_INSTRUCTION,
  FOR_MESSAGE,
  FOR_PACKETS,
  FOR_SLOT,
  leastCapacity,
  type Run,
  run,
} from "./run.ts";
import {
  dueChunks,
  FROM_ALL,
  FROM_ANY,
  givenChunks,
  type ProgramValues,
  ranksIn,
  UNWRITTEN,
  valuesOf,
} from "./values.ts";
import { packetCells, type Wiring, wiringOf } from "./wiring.ts";
import {
  blockWords,
  chunkWords,
  type Findings,
  findings,
  gpuWords,
  instructionWords,
  type ProgramViolation,
} from "./words.ts";

/** The verdict on a program: it is correct when `violationCount` is 0. */
export interface ProgramVerification {
  /** The first errors found, in a fixed order: form, deadlock, then for each kind of call bounds, data races, values. */
  readonly violations: readonly ProgramViolation[];
  readonly violationCount: number;
  readonly warnings: readonly ProgramViolation[];
  /** There were more violations than were kept. */
  readonly truncated: boolean;
  /** "custom", without a table: there is no known result to compare with; what each rank ends with is in `results`. */
  readonly collective: Program["collective"];
  /** Kinds of calls for which the program was executed. */
  readonly modes: readonly ProgramMode[];
  /** Of custom programs, in the last of these kinds of calls: what outputs hold in the end, at most this many runs of chunks as violations. */
  readonly results: readonly ProgramResult[];
  readonly facts: ProgramFacts;
}

export interface ProgramFacts {
  readonly instructions: number;
  readonly blocks: number;
  readonly mostBlocksPerRank: number;
  readonly mostStepsPerBlock: number;
  readonly mostScratchChunks: number;
  /** Messages that a connection holds in the runtimes, and chunks that a message takes, as the program was judged. */
  readonly capacity: number;
  readonly messageChunks: number;
  /** The least with which the program ends; null where it does not end with any, or was not executed. */
  readonly leastCapacity: number | null;
}

export interface ProgramVerifyOptions {
  /** Violations kept, of each severity; 100. */
  readonly limit?: number;
  /** Messages that a connection holds. */
  readonly fifoSlots?: number;
  /** Called as ranks' memories are judged. */
  readonly onProgress?: (done: number, total: number) => void;
}

/**
 * Returns everything that is wrong with a program, by executing it symbolically, and nothing that its maker says:
 *
 * 1. connections: one block at each end, k-th send and k-th receive of equal chunks; events and barriers that come out even;
 * 2. it ends, with connections that hold as many messages as those of the runtimes;
 * 3. every operand lies in its buffer, as NCCL defines it, in place and out of place, whichever the program is for;
 * 4. no data races: accesses to the same memory, at least one a write, are ordered by block, message, wait, event, barrier or
 *    packet in every course;
 * 5. nothing is read that was not given or written;
 * 6. in the end every output holds what the collective defines, every contribution exactly once; out of place, inputs are
 *    unchanged (a warning: deployed files change them).
 *
 * One course decides all of it: without races, what blocks compute does not depend on when they run (Kahn 1974), and whether
 * they end does not in any case; races are looked for in the order that all courses have in common, not in the one executed.
 * A step that is wrong hides later ones: what has a wrong form is not executed, what never ends computes nothing; with data
 * races, 5 and 6 tell of one course among several.
 *
 * `fifoSlots`: NCCL's connections have 8 slots; a message takes 4 of them with Simple (MSCCL_CHUNKSTEPS is half of NCCL_STEPS in
 * microsoft/msccl), 1 with LL and LL128; so they hold 2 and 8 messages. A message takes as many chunks of an instruction as
 * fit at the greatest size that the program is for, which needs the most room (see program-messages.ts).
 *
 * What a file has besides, and runtimes pass over, is a warning each, the first of all.
 *
 * What may differ in the runtimes and is not judged: slices of a chunk, which follow each other like the chunks of a message;
 * transfers that a proxy carries out late (mscclpp's port channels without flush); memory order weaker than program order; a
 * second call that begins before the first has ended everywhere. Throws InputError for options out of range; never for a
 * program whose columns fit together, however wrong it is. O(chunks moved + ranks x instructions x blocks per rank).
 */
export function verifyProgram(program: Program, options: ProgramVerifyOptions = {}): ProgramVerification {
  const limit = options.limit ?? 100;
  if (!Number.isSafeInteger(limit) || limit < 0)
    throw new InputError("options.limit", "a whole number, 0 or more", limit).as("out-of-range");
  // of a plan for MPI an instruction is one message, and what a connection holds is judged with the runtime's limits
  const capacity = options.fifoSlots ?? (program.mpi === undefined ? CONNECTIONS[program.protocol].messages : 1);
  if (!Number.isSafeInteger(capacity) || capacity < 1)
    throw new InputError("options.fifoSlots", "a whole number, 1 or more", capacity).as("out-of-range");
  const { maxBytes } = program;
  // the greater the size, the fewer chunks to a message, and the more room is needed
  const messageChunks = program.mpi
    ? program.chunks.reduce((most, chunks) => Math.max(most, chunks), 1)
    : maxBytes === null || maxBytes <= 0
      ? 1
      : chunksPerMessage(program, maxBytes);
  const wiring = wiringOf(program);
  const found = findings(program, wiring, limit);
  const modes: ProgramMode[] = [];
  let results: readonly ProgramResult[] = [];
  let least: number | null = null;
  if (checkForm(program, wiring, found)) {
    const course = wholeRun(program, wiring, capacity, messageChunks, found);
    least = course.least;
    if (program.inPlace) modes.push("in place");
    if (program.outOfPlace) modes.push("out of place");
    if (course.order !== null)
      for (const [m, mode] of modes.entries()) {
        const progress = (rank: number): void =>
          options.onProgress?.(m * program.rankCount + rank + 1, modes.length * program.rankCount);
        const ofMode = findings(program, wiring, limit);
        results = judgeMode(program, wiring, course.order, mode, ofMode, limit, progress);
        found.take(ofMode);
      }
  }
  const violationCount = found.errorCount();
  return {
    violations: found.errors,
    violationCount,
    warnings: [...skippedWarnings(program), ...found.warnings].slice(0, limit),
    truncated: violationCount > found.errors.length,
    collective: program.collective,
    modes,
    results,
    facts: factsOf(program, capacity, messageChunks, least),
  };
}

/** Returns a course in which the program ends, if there is one, and the room that it needs; records that it needs too much. */
function wholeRun(
  program: Program,
  wiring: Wiring,
  capacity: number,
  messageChunks: number,
  found: Findings,
): { readonly order: Int32Array | null; readonly least: number | null } {
  const whole = (course: Run): boolean => course.order.length === instructionCount(program);
  const bounded = run(program, wiring, capacity, messageChunks);
  if (whole(bounded))
    return { order: bounded.order, least: leastCapacity(program, wiring, bounded.deepest, messageChunks) };
  const boundless = run(program, wiring, Number.POSITIVE_INFINITY, messageChunks);
  const least = whole(boundless) ? leastCapacity(program, wiring, boundless.deepest, messageChunks) : null;
  const course = least === null ? boundless : bounded;
  const blocks = stuckBlocks(program, wiring, course);
  const room =
    least === null
      ? ""
      : `; the program needs connections that hold ${least} messages, where the runtime's hold ${capacity}`;
  const first = blocks.length === 0 ? undefined : course.at[blocks[0]];
  found.error(
    "deadlock",
    () => `${blocks.length > 1 ? "in a circle" : "for ever"}, ${waitWords(program, wiring, course, blocks)}${room}`,
    first,
  );
  return { order: least === null ? null : boundless.order, least };
}

function judgeMode(
  program: Program,
  wiring: Wiring,
  order: Int32Array,
  mode: ProgramMode,
  found: Findings,
  limit: number,
  progress: (rank: number) => void,
): readonly ProgramResult[] {
  const memory = memoryOf(program, mode);
  const most = mostCells(program.rankCount);
  if (memory.cells > most) {
    const message = `the buffers of all gpus have ${memory.cells} chunks; at most ${most} can be judged`;
    found.error("too-large", () => message);
    return [];
  }
  if (!checkBounds(program, wiring, memory, found)) return [];
  checkRaces(program, wiring, memory, order, found, progress);
  const values = valuesOf(program, wiring, memory, order, found);
  if (program.collective === "custom" && program.table === undefined) return resultOf(program, memory, values, limit);
  checkOutputs(program, wiring, memory, values, found);
  if (memory.mode === "out of place") checkInputs(program, wiring, memory, values, found);
  return [];
}

const skippedWarnings = ({ skipped = [] }: Program): ProgramViolation[] =>
  skipped.map((part) => ({ kind: "skipped", severity: "warning", message: skippedText(part), line: part.line }));

/** Words of 4 bytes that memory and values may take. */
const MOST_WORDS = 2 ** 27;

/** Returns how many chunks the buffers of so many ranks may have together to be judged. */
const mostCells = (rankCount: number): number => Math.floor(MOST_WORDS / (8 + Math.ceil(rankCount / 32)));

/** Returns how many times what can be judged the buffers of a program have. O(ranks). */
export function judgeable(program: Program): number {
  const modes: ProgramMode[] = program.inPlace ? ["in place"] : [];
  if (program.outOfPlace) modes.push("out of place");
  return Math.max(...modes.map((mode) => memoryOf(program, mode).cells)) / mostCells(program.rankCount);
}

function factsOf(program: Program, capacity: number, messageChunks: number, least: number | null): ProgramFacts {
  const { blocks, steps } = mostOf(program);
  return {
    instructions: instructionCount(program),
    blocks: blockCount(program),
    mostBlocksPerRank: blocks,
    mostStepsPerBlock: steps,
    mostScratchChunks: program.scratchChunks.reduce((most, chunks) => Math.max(most, chunks), 0),
    capacity,
    messageChunks,
    leastCapacity: least,
  };
}

/** Waits of a cycle that are listed one by one. */
const TOLD = 8;
/** Waits that are followed in search of a cycle. */
const FOLLOWED = 10_000;

/** Returns which blocks of a course that got stuck wait for each other in a cycle, or for one that has ended: blocks in order. */
function stuckBlocks(program: Program, wiring: Wiring, course: Run): readonly number[] {
  const packets = packetCells(program);
  const goesOn = (blocks: readonly number[]): number => {
    for (const block of blocks) if (course.at[block] >= 0) return block;
    return -1;
  };
  const waitedFor = (block: number): number => {
    const on = course.waitsOn[block];
    switch (course.waitsFor[block]) {
      case FOR_MESSAGE:
        return goesOn(wiring.connections[on].senders);
      case FOR_SLOT:
        return goesOn(wiring.connections[on].receivers);
      case FOR_INSTRUCTION:
        return goesOn([wiring.blockOf[on]]);
      case FOR_EVENT:
        return goesOn(
          wiring.posters[on].filter((i) => i >= course.at[wiring.blockOf[i]]).map((i) => wiring.blockOf[i]),
        );
      case FOR_BARRIER:
        return goesOn(wiring.comers[on].filter((b) => course.waitsFor[b] !== FOR_BARRIER || course.waitsOn[b] !== on));
      default:
        return goesOn(packets.writers(on).map((i) => wiring.blockOf[i]));
    }
  };
  const place = new Map<number, number>();
  const path: number[] = [];
  for (let block = firstStuck(program, course); block >= 0 && path.length < FOLLOWED; block = waitedFor(block)) {
    const seen = place.get(block);
    if (seen !== undefined) return path.slice(seen);
    place.set(block, path.length);
    path.push(block);
  }
  return path.slice(-1);
}

function firstStuck(program: Program, { at }: Run): number {
  for (let b = 0; b < blockCount(program); b++) if (at[b] >= 0) return b;
  return -1;
}

/** Returns the waits of those blocks in words: "gpu 0, thread block 1, step 2: r waits for a message from gpu 3; ...". */
function waitWords(program: Program, wiring: Wiring, course: Run, blocks: readonly number[]): string {
  const told = blocks.slice(0, TOLD).map((block) => {
    const at = instructionWords(program, wiring, course.at[block]);
    return `${at} waits for ${thingWords(program, wiring, course, block)}`;
  });
  if (blocks.length > TOLD) told.push(`${blocks.length - TOLD} more`);
  return told.join("; ");
}

function thingWords(program: Program, wiring: Wiring, { waitsFor, waitsOn }: Run, block: number): string {
  const on = waitsOn[block];
  switch (waitsFor[block]) {
    case FOR_MESSAGE: {
      const { from, channel, senders } = wiring.connections[on];
      const sender = senders.length > 0 ? ` (${blockWords(program, wiring, senders[0])})` : "";
      return `a message from gpu ${from} on channel ${channel}${sender}`;
    }
    case FOR_SLOT: {
      const { to, channel, receivers } = wiring.connections[on];
      const receiver = receivers.length > 0 ? ` (${blockWords(program, wiring, receivers[0])})` : "";
      return `room in the connection to gpu ${to} on channel ${channel}${receiver}`;
    }
    case FOR_INSTRUCTION:
      return instructionWords(program, wiring, on);
    case FOR_EVENT:
      return eventWords(program, on);
    case FOR_BARRIER:
      return `barrier ${program.barrierId[on]}`;
    case FOR_PACKETS:
      return "packets that are not written";
    default:
      return "nothing";
  }
}

/** Records outputs that do not hold what the collective defines. O(cells x ranks / 32). */
function checkOutputs(
  program: Program,
  wiring: Wiring,
  memory: ProgramMemory,
  values: ProgramValues,
  found: Findings,
): void {
  const { chunk, alone, words, writer, spoilt } = values;
  const end = `in the end ${memory.mode}`;
  const holders = program.table === undefined ? null : holdersOf(program.table);
  const all = new Int32Array(words);
  for (let r = 0; r < program.rankCount; r++) all[r >> 5] |= 1 << (r & 31);
  const due = new Int32Array(words);
  const where = holders === null ? "the input" : "the table";
  dueChunks(program, memory, (cell, rank, k, index, from) => {
    if (from >= 0 && chunk[cell] === index && alone[cell] === from) return;
    due.fill(0);
    if (from >= 0) due[from >> 5] = 1 << (from & 31);
    else if (holders === null) due.set(all);
    else {
      for (const r of holders.rank.subarray(holders.offset[index], holders.offset[index + 1]))
        due[r >> 5] |= 1 << (r & 31);
    }
    const name = outputWords(program, memory, rank, k);
    const fault = (kind: string, what: () => string): void => {
      const message = () => `${name} ${what()}${writerWords(program, wiring, writer[cell])}`;
      found.error(kind, message, writer[cell] < 0 ? undefined : writer[cell]);
    };
    if (chunk[cell] === UNWRITTEN) {
      fault("missing", () => `holds nothing ${end}, not ${sumWords(from, index)}`);
      return;
    }
    if (chunk[cell] < UNWRITTEN) {
      const spoiler = -2 - chunk[cell];
      const how = spoilt.get(spoiler);
      // What comes of reading nothing was recorded when it was read.
      if (how === undefined || how.kind === "unwritten") return;
      const message = () => `${name} is wrong ${end}: ${instructionWords(program, wiring, spoiler)} ${how.words}`;
      found.error(how.kind, message, spoiler);
      return;
    }
    const held = ranksIn(values, cell);
    const missing = members(due, held);
    const extra = members(held, due);
    if (chunk[cell] !== index) fault("wrong", () => `holds chunk ${chunk[cell]} of ${where} ${end}, not ${index}`);
    else if (from === FROM_ANY) {
      const { offset } = holders as TableHolders;
      if (extra.length > 0 || missing.length + 1 !== offset[index + 1] - offset[index])
        fault("wrong", () => `holds a sum of what several gpus have ${end}, not ${sumWords(from, index)} of one`);
    } else if (missing.length > 0 && from >= 0)
      fault("wrong", () => `holds the data of ${gpuWords(extra)} ${end}, not that of gpu ${from}`);
    else if (missing.length > 0) fault("missing", () => `lacks the contribution of ${gpuWords(missing)} ${end}`);
    else if (extra.length > 0)
      fault("wrong", () => `holds the sum with ${gpuWords(extra)} ${end}, not the data of gpu ${from} alone`);
  });
}

/**
 * Records, as a warning, inputs that change out of place: NCCL leaves them as they are, but files in use do not. O(chunks of
 * inputs).
 */
function checkInputs(
  program: Program,
  wiring: Wiring,
  memory: ProgramMemory,
  { writer }: ProgramValues,
  found: Findings,
): void {
  let changed = 0;
  let first = "";
  let by = -1;
  givenChunks(program, memory, (cell, rank, k) => {
    if (writer[cell] < 0 || changed++ > 0) return;
    first = `${chunkWords(rank, INPUT, k)}${writerWords(program, wiring, writer[cell])}`;
    by = writer[cell];
  });
  if (changed > 0)
    found.warning("input-changed", () => `${changed} chunks of inputs are changed out of place, first ${first}`, by);
}

const writerWords = (program: Program, wiring: Wiring, writer: number): string =>
  writer < 0 ? "" : `, last written by ${instructionWords(program, wiring, writer)}`;

/** Returns a chunk of the output as the program calls it: in place it may use the input only. */
function outputWords(program: Program, memory: ProgramMemory, rank: number, k: number): string {
  if (memory.mode === "out of place" || program.outputChunks[rank] > 0) return chunkWords(rank, OUTPUT, k);
  return chunkWords(rank, INPUT, memory.start[3 * rank + OUTPUT] + k - memory.start[3 * rank + INPUT]);
}

const sumWords = (from: number, chunk: number): string =>
  from === FROM_ALL
    ? `the sum over all gpus of chunk ${chunk}`
    : from === FROM_ANY
      ? `chunk ${chunk}`
      : `chunk ${chunk} of gpu ${from}`;

/** Returns the ranks that are in set `a` and not in `b`. */
function members(a: Int32Array, b: Int32Array): readonly number[] {
  const list: number[] = [];
  for (let w = 0; w < a.length; w++) {
    let left = a[w] & ~b[w];
    while (left !== 0) {
      const bit = 31 - Math.clz32(left & -left);
      list.push(32 * w + bit);
      left &= left - 1;
    }
  }
  return list;
}

/** Chunks that a custom program leaves in an output: `chunks` of them, each with the same contributions as the first. */
interface ProgramResult {
  readonly rank: number;
  readonly index: number;
  readonly chunks: number;
  /** Chunk of the inputs to which the first one is a sum of contributions; null: nothing, or a mixture. */
  readonly inputChunk: number | null;
  readonly from: readonly number[];
}

/** Returns what the outputs hold (in place: the one buffer there is), at most `limit` runs of chunks. O(cells). */
function resultOf(
  program: Program,
  memory: ProgramMemory,
  values: ProgramValues,
  limit: number,
): readonly ProgramResult[] {
  const results: ProgramResult[] = [];
  const nobody = new Int32Array(values.words);
  for (let r = 0; r < program.rankCount && results.length < limit; r++) {
    const at = 3 * r + OUTPUT;
    const key = (k: number): string => {
      const cell = memory.start[at] + k;
      return values.chunk[cell] < 0 ? "none" : `${values.chunk[cell] - k} ${ranksIn(values, cell).join()}`;
    };
    for (let k = memory.from[at]; k < memory.to[at] && results.length < limit; ) {
      const begun = k;
      const same = key(k);
      while (k < memory.to[at] && key(k) === same) k++;
      const cell = memory.start[at] + begun;
      const pure = values.chunk[cell] >= 0;
      results.push({
        rank: r,
        index: begun,
        chunks: k - begun,
        inputChunk: pure ? values.chunk[cell] : null,
        from: pure ? members(ranksIn(values, cell), nobody) : [],
      });
    }
  }
  return results;
}
