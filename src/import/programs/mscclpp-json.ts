import { InputError, inWords } from "../../base/errors.ts";
import { COLLECTIVE_KINDS, type NamedCollective } from "../../model/collective/collective.ts";
import { gcd } from "../../model/numbers/integers.ts";
import { type Program, SCRATCH, type Via, WAIT_BARRIER, WAIT_EVENT } from "../../model/program/program.ts";
import { type Operand, type ProgramBuilder, programBuilder, type Wait } from "../../model/program/program-builder.ts";
import {
  asFlag,
  asInteger,
  asList,
  asObject,
  asText,
  type JsonFields,
  parseJson,
  placeIn,
  refuse,
} from "../text/json.ts";
import {
  type PlanMove,
  type PlanOperand,
  type PlanOperation,
  type PlanPipeline,
  planOperations,
} from "./mscclpp-json-operations.ts";
import {
  blockTables,
  type GpuTables,
  GREATEST,
  gpuTables,
  type Place,
  type PlanChannel,
} from "./mscclpp-json-tables.ts";

type PlanFields = JsonFields<
  | "name"
  | "collective"
  | "protocol"
  | "inplace"
  | "gpus"
  | "reuse_resources"
  | "use_double_scratch_buffer"
  | "buffer_alignment"
  | "min_message_size"
  | "max_message_size"
>;

type GpuFields = JsonFields<"id" | "input_chunks" | "output_chunks" | "scratch_chunks" | "threadblocks">;

/** Lines of thread blocks and operations in the order of the text, where they are known. */
interface Lines {
  readonly threadblocks: readonly number[];
  readonly ops: readonly number[];
}

/** What only plans of MSCCL++ 0.7 and earlier have in a gpu. */
const LEGACY_KEYS = ["inputChunks", "outputChunks", "scratchChunks", "chunkGroups"] as const;
const LINE_BY_LINE = /\n[^\n]*\n/;

/** Returns true where a JSON value seems to be a plan of MSCCL++, of today's format or an earlier one. */
export function looksLikeMscclppJson(value: unknown): boolean {
  const { gpus } = (value ?? {}) as PlanFields;
  return Array.isArray(gpus) && gpus.some((gpu) => Array.isArray((gpu as GpuFields | null)?.threadblocks));
}

/**
 * Returns the program in an MSCCL++ execution plan (the format of v0.8 and later), with the lines of its operations where the
 * text has lines. What is modelled, after microsoft/mscclpp, src/core/executor and execution_kernel.hpp:
 *
 * - A signal on a channel posts the event of the peer's channel with the same number among those of its kind between the two.
 * - What is written as packets carries flags; reading packets waits for them. A call's flags differ from the last call's, so
 *   that no old packet is taken for a new one.
 * - `tbg_info`: a block does its equal part of every operand; chunks are cut finer for that.
 * - `pipeline`: unrolled, every iteration for the next unit of every operand; see cutOf for how many, and for the reuse of
 *   scratch. Packet operations ignore iterations.
 * - Relaxed signals and waits are signals and waits; `flush` does nothing that an order within the program could see.
 * - The root of a broadcast, reduce, gather or scatter, which plans do not say, is rank 0.
 *
 * What an executor limits is not checked here. Throws InputError with the path and line. O(text + size of the program).
 */
export function readMscclppJson(text: string, fileName: string): Program {
  const value = parseJson(text, fileName);
  const lines = LINE_BY_LINE.test(text) ? linesOfObjects(text, ["threadblocks", "ops"]) : NO_LINES;
  return programFromPlan(value, fileName, lines);
}

const NO_LINES: Lines = { threadblocks: [], ops: [] };

/** Returns the program in a plan that is parsed already. As readMscclppJson. */
export function programFromPlan(value: unknown, fileName: string, lines: Lines = NO_LINES): Program {
  const at: Place = (path) => placeIn(fileName, path);
  const fields = asObject<PlanFields>(value, at(""));
  const list = asList(fields.gpus, at("gpus"), "a list of gpus");
  if (list.length === 0) throw new InputError(at("gpus"), "at least one gpu", list).as("out-of-range");
  refuseLegacy(list, at);
  const header = {
    name: asText(fields.name, at("name")),
    machine: "mscclpp" as const,
    collective: collectiveOf(asText(fields.collective, at("collective"))),
    rootRank: 0,
    rankCount: list.length,
    protocol: protocolOf(fields.protocol, at("protocol")),
    ...placements(fields.inplace, at("inplace")),
    ...sizes(fields, at),
  };
  const chunks = list.map((gpu, rank) => chunksOf(gpu, rank, at));
  const gpus = plannedGpus(list, lines, at);
  const scratch: ScratchUse = {
    reused: asFlag(fields.reuse_resources, at("reuse_resources")),
    doubled: asFlag(fields.use_double_scratch_buffer, at("use_double_scratch_buffer")),
    alignment: asInteger(fields.buffer_alignment ?? 16, at("buffer_alignment"), 1, GREATEST),
    chunks: chunks.map(({ scratch: count }) => count),
  };
  const cut = cutOf(
    gpus.flatMap(({ blocks }) => blocks.flatMap(({ items }) => items)),
    scratch,
    fileName,
  );
  const { builder, channelCount } = builtPlan(gpus, cut);
  const column = (count: (of: Chunks) => number, key: string): Int32Array =>
    Int32Array.from(chunks, (of, rank) => asInteger(count(of) * cut.finer, at(`gpus[${rank}].${key}`), 0, GREATEST));
  const inputChunks = column(({ input }) => input, "input_chunks");
  const outputChunks = column(({ output }) => output, "output_chunks");
  const loopChunks = loopChunksOf(header.collective, inputChunks, outputChunks);
  if (loopChunks === 0) throw new InputError(at("gpus"), "a chunk of input or output at least", 0);
  return builder.build({
    ...header,
    loopChunks,
    finer: cut.finer,
    inputChunks,
    outputChunks,
    scratchChunks: column(({ scratch: count }) => count, "scratch_chunks"),
    channelCount,
  });
}

function refuseLegacy(gpus: readonly unknown[], at: Place): void {
  const gpu = asObject<GpuFields & Record<string, unknown>>(gpus[0], at("gpus[0]"));
  const old = LEGACY_KEYS.filter((key) => gpu[key] !== undefined);
  if (old.length === 0 || gpu.input_chunks !== undefined) return;
  throw new InputError(
    at("gpus[0]"),
    "a plan in the format of MSCCL++ 0.8 and later (recompile the algorithm with today's mscclpp.language)",
    inWords(`${old[0]}, as the format had it until 0.7`),
  );
}

const collectiveOf = (name: string): NamedCollective | "custom" =>
  COLLECTIVE_KINDS.find((kind) => kind === name) ?? "custom";

function protocolOf(value: unknown, place: string): "Simple" | "LL" {
  if (value !== "Simple" && value !== "LL") refuse(place, '"Simple" or "LL"', value);
  return value;
}

function placements(value: unknown, place: string): { inPlace: boolean; outOfPlace: boolean } {
  if (typeof value !== "boolean") refuse(place, "true or false", value);
  return { inPlace: value, outOfPlace: !value };
}

/** Returns the sizes that a plan is for. The greatest 64-bit number, which writers put for no bound, is none. */
function sizes(fields: PlanFields, at: Place): { minBytes: number | null; maxBytes: number | null } {
  const { min_message_size: least, max_message_size: most } = fields;
  const unbounded = most === undefined || (typeof most === "number" && most > Number.MAX_SAFE_INTEGER);
  return {
    minBytes: least === undefined ? null : asInteger(least, at("min_message_size"), 0),
    maxBytes: unbounded ? null : asInteger(most, at("max_message_size"), 0),
  };
}

interface Chunks {
  readonly input: number;
  readonly output: number;
  readonly scratch: number;
}

function chunksOf(value: unknown, rank: number, at: Place): Chunks {
  const path = `gpus[${rank}]`;
  const gpu = asObject<GpuFields>(value, at(path));
  if (gpu.id !== rank) refuse(at(`${path}.id`), `${rank}, its place in the list,`, gpu.id);
  return {
    input: asInteger(gpu.input_chunks, at(`${path}.input_chunks`), 0, GREATEST),
    output: asInteger(gpu.output_chunks, at(`${path}.output_chunks`), 0, GREATEST),
    scratch: asInteger(gpu.scratch_chunks, at(`${path}.scratch_chunks`), 0, GREATEST),
  };
}

function plannedGpus(gpus: readonly unknown[], lines: Lines, at: Place): PlanGpu[] {
  let blocksRead = 0;
  let operationsRead = 0;
  const nextLine = (): number => lines.ops[operationsRead++] ?? 0;
  return gpus.map((value, rank) => {
    const path = `gpus[${rank}]`;
    const gpu = value as GpuFields;
    const tables = gpuTables(gpu, rank, gpus.length, path, at);
    const blocks = asList(gpu.threadblocks, at(`${path}.threadblocks`)).map((block, id) =>
      plannedBlock(block, id, tables, lines.threadblocks[blocksRead++] ?? 0, nextLine, at),
    );
    return { tables, blocks };
  });
}

/** The executor finds channels of a block by its id and its operations by its place, so the two must agree. */
function plannedBlock(
  value: unknown,
  id: number,
  gpu: GpuTables,
  line: number,
  nextLine: () => number,
  at: Place,
): PlanBlock {
  const path = `gpus[${gpu.rank}].threadblocks[${id}]`;
  const block = asObject<{ id?: unknown; ops?: unknown }>(value, at(path));
  if (block.id !== id) refuse(at(`${path}.id`), `${id}, its place in the list,`, block.id);
  const tables = blockTables(block, gpu, path, at);
  let steps = 0;
  const items = planOperations(block.ops, `${path}.ops`, { tables, at, nextLine, nextStep: () => steps++ });
  return { id, line, items };
}

/** Returns the chunks of what nccl-tests calls the size: all of an all-gather's or gather's output, else of the input. */
function loopChunksOf(collective: NamedCollective | "custom", input: Int32Array, output: Int32Array): number {
  const ranks = input.length;
  const most = (chunks: Int32Array): number => chunks.reduce((a, b) => Math.max(a, b), 0);
  const [inputs, outputs] = [most(input), most(output)];
  if (collective === "allgather" || collective === "gather") return outputs || inputs * ranks;
  if (collective === "reducescatter" || collective === "scatter") return inputs || outputs * ranks;
  return inputs || outputs;
}

const QUOTE = 34;
const BACKSLASH = 92;
const NEW_LINE = 10;

/**
 * Returns, for every object that is directly in a list under one of the `keys`, the line (from 1) of its brace, in the order
 * of the text: one list for each key. The text must be valid JSON. O(text), without recursion.
 */
export function linesOfObjects<Key extends string>(text: string, keys: readonly Key[]): Record<Key, number[]> {
  const lines = Object.fromEntries(keys.map((key) => [key, []])) as unknown as Record<Key, number[]>;
  const wanted: ReadonlySet<string> = new Set(keys);
  /** Keys under which the open lists and objects are; those in lists are under none. */
  const open: { readonly list: boolean; readonly key: string }[] = [];
  let line = 1;
  let key = "";
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === NEW_LINE) line++;
    else if (code === QUOTE) {
      const end = closingQuote(text, at);
      key = text.slice(at + 1, end);
      at = end;
    } else if (code === 91 /* [ */) {
      const inside = open.at(-1);
      open.push({ list: true, key: inside === undefined || inside.list ? "" : key });
    } else if (code === 123 /* { */) {
      const inside = open.at(-1);
      if (inside?.list === true && wanted.has(inside.key)) lines[inside.key as Key].push(line);
      open.push({ list: false, key: "" });
    } else if (code === 93 /* ] */ || code === 125 /* } */) open.pop();
  }
  return lines;
}

/** Returns the place of the quote that ends a string which begins at `start`. */
function closingQuote(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && text.charCodeAt(at) !== QUOTE) at += text.charCodeAt(at) === BACKSLASH ? 2 : 1;
  return at;
}

/** A thread block of a plan. */
interface PlanBlock {
  readonly id: number;
  readonly line: number;
  readonly items: readonly (PlanOperation | PlanPipeline)[];
}

/** A gpu of a plan. */
interface PlanGpu {
  readonly tables: GpuTables;
  readonly blocks: readonly PlanBlock[];
}

/** Events by what they are, and barriers of the current rank. */
interface Synchronisation {
  readonly semaphore: (rank: number, id: number) => number;
  /** The event on which `rank` waits and which `peer` posts. */
  readonly event: (rank: number, peer: number, id: number, via: Via) => number;
  readonly barrier: (rank: number, id: number, blocks: number, place: string) => number;
  /** Returns 1 + the greatest number of a channel. */
  readonly channelCount: () => number;
}

/**
 * Returns a builder with all ranks, blocks and instructions of a plan, and the channels between two ranks at most. Pipelines
 * are unrolled, what blocks share is split, parallel operands become instructions of one step. Throws InputError where one
 * barrier counts different numbers of blocks. O(size of the result).
 */
function builtPlan(gpus: readonly PlanGpu[], cut: Cut): { builder: ProgramBuilder; channelCount: number } {
  const builder = programBuilder();
  const sync = synchronisation(builder, gpus);
  for (const { tables, blocks } of gpus) {
    builder.addRank();
    for (const { id, line, items } of blocks) {
      builder.addBlock({ id, line });
      for (const item of items) {
        if (item.name !== "pipeline") addOperation(builder, sync, tables.rank, item, cut, null, 0);
        else addPipeline(builder, sync, tables.rank, item, cut);
      }
    }
  }
  return { builder, channelCount: sync.channelCount() };
}

/** Each channel of a rank is an event on which it waits; what it posts is the peer's, added here if the peer lists none. */
function synchronisation(builder: ProgramBuilder, gpus: readonly PlanGpu[]): Synchronisation {
  const events = new Map<string, number>();
  const semaphores: number[][] = [];
  const barriers = new Map<string, { readonly index: number; readonly blocks: number }>();
  let channels = 0;
  const event = (rank: number, peer: number, id: number, via: Via): number => {
    const key = `${rank} ${peer} ${id} ${via}`;
    const known = events.get(key);
    if (known !== undefined) return known;
    const index = builder.addEvent({ rank, peer, id, via });
    events.set(key, index);
    channels = Math.max(channels, id + 1);
    return index;
  };
  for (const { tables } of gpus) {
    const { rank } = tables;
    for (const via of ["memory", "port"] as const)
      for (const { peer, id } of tables.channels[via]) event(rank, peer, id, via);
    semaphores.push(
      tables.semaphores.map((initial, id) => builder.addEvent({ initial, rank, peer: rank, id, via: "local" })),
    );
  }
  return {
    event,
    semaphore: (rank, id) => semaphores[rank][id],
    barrier: (rank, id, blocks, place) => {
      const key = `${rank} ${id}`;
      const known = barriers.get(key);
      if (known !== undefined && known.blocks !== blocks)
        throw new InputError(
          place,
          `${known.blocks} thread blocks, as earlier at barrier ${id} of gpu ${rank},`,
          blocks,
        );
      if (known !== undefined) return known.index;
      const index = builder.addBarrier({ rank, id, blocks });
      barriers.set(key, { index, blocks });
      return index;
    },
    channelCount: () => channels,
  };
}

function addPipeline(
  builder: ProgramBuilder,
  sync: Synchronisation,
  rank: number,
  pipeline: PlanPipeline,
  cut: Cut,
): void {
  const iterations = iterationsOf(pipeline, cut.chunkBytes);
  for (let i = 0; i < iterations; i++)
    for (const inner of pipeline.operations) addOperation(builder, sync, rank, inner, cut, pipeline, i);
}

function addOperation(
  builder: ProgramBuilder,
  sync: Synchronisation,
  rank: number,
  operation: PlanOperation,
  cut: Cut,
  pipeline: PlanPipeline | null,
  i: number,
): void {
  const { name: op, step, line, via, moves, channels, semaphores, barrier, place } = operation;
  for (const move of moves) {
    const range = rangeOf(operation, move, cut, pipeline, i);
    const cutOperand = ({ rank: of, buffer, index, packet }: PlanOperand): Operand => {
      return { rank: of, buffer, index: firstChunk(buffer, index, cut, range), packet };
    };
    const { posts: channel } = move;
    builder.add({
      ...{ op, step, line, via, chunks: range.chunks },
      sources: range.chunks > 0 ? move.sources.map(cutOperand) : [],
      destinations: range.chunks > 0 ? move.destinations.map(cutOperand) : [],
      posts: channel === null ? [] : [sync.event(channel.peer, rank, channel.id, via)],
    });
  }
  if (moves.length > 0) return;
  const own = ({ peer, id }: PlanChannel): number => sync.event(rank, peer, id, via);
  const peers = ({ peer, id }: PlanChannel): number => sync.event(peer, rank, id, via);
  const waits = (events: readonly number[]): Wait[] => events.map((on) => ({ kind: WAIT_EVENT, on }));
  const counts = semaphores.map((id) => sync.semaphore(rank, id));
  switch (op) {
    case "signal":
    case "rlxsignal":
      builder.add({ op, step, line, via, posts: channels.map(peers) });
      break;
    case "wait":
    case "rlxwait":
      builder.add({ op, step, line, via, waits: waits(channels.map(own)) });
      break;
    case "sem_acquire":
      builder.add({ op, step, line, waits: waits(counts) });
      break;
    case "sem_release":
      builder.add({ op, step, line, posts: counts });
      break;
    default: {
      const meets = barrier === null ? [] : [sync.barrier(rank, barrier.id, barrier.blocks, place)];
      builder.add({ op, step, line, via, waits: meets.map((on) => ({ kind: WAIT_BARRIER, on })) });
    }
  }
}

/** What the executor keeps for the scratch of plans that reuse resources (microsoft/mscclpp, execution_common.hpp). */
const REUSED_SCRATCH_BYTES = 2 ** 26;
const FINEST = 2 ** 16;
const MOST_UNIT_BYTES = 2 ** 32;
/** Instructions and operands of a program, and of one whose pipelines are unrolled until scratch is reused. */
const MOST = 2 ** 23;
const MOST_TO_REUSE = 2 ** 20;

/** How chunks of the file are cut, so that what blocks share and what pipelines do in an iteration are whole chunks. */
interface Cut {
  /** Chunks of ours to one of the file's. */
  readonly finer: number;
  /** Bytes that a chunk of the file is taken to have where there are pipelines. */
  readonly chunkBytes: number;
  /** Pipelines begin again at the start of a scratch chunk after this many bytes; 0: they do not. */
  readonly wrapBytes: number;
}

/** What of the header decides about the reuse of scratch. */
interface ScratchUse {
  readonly reused: boolean;
  readonly doubled: boolean;
  readonly alignment: number;
  /** [ranks] */
  readonly chunks: readonly number[];
}

type Item = PlanOperation | PlanPipeline;
const isPipeline = (item: Item): item is PlanPipeline => item.name === "pipeline";

/**
 * Returns how fine a plan is cut. Where pipelines are, a message is taken so large that every chunk has two units of the
 * largest; and where scratch is reused in a pipeline (`reuse_resources`: offsets modulo the bytes of a scratch chunk), so large
 * that the first unit of scratch is used again, if all ranks reuse it alike and that unrolls to no more than a million
 * operations. Smaller messages do a part of these iterations. Throws InputError where the cut would be too fine or the program
 * too large. O(operations).
 */
function cutOf(items: readonly Item[], scratch: ScratchUse, fileName: string): Cut {
  let finer = 1;
  const refine = (by: number, place: string): void => {
    finer *= by / gcd(finer, by);
    if (finer > FINEST) throw new InputError(place, `operations that cut a chunk into ${FINEST} parts at most`, finer);
  };
  const pipelines = items.filter(isPipeline);
  for (const item of items) {
    for (const { moves, parts, place } of isPipeline(item) ? item.operations : [item])
      for (const { size } of moves) refine(parts / gcd(parts, size), place);
  }
  const units = unitsOf(pipelines);
  const cuts =
    pipelines.length === 0 ? [{ chunkBytes: 0, wrapBytes: 0 }] : candidates(units.multiple, units.all, scratch);
  const fits = ({ chunkBytes, wrapBytes }: Omit<Cut, "finer">): boolean =>
    (wrapBytes === 0 || chunkBytes / units.divisor <= FINEST) &&
    unrolled(items, chunkBytes) <= (wrapBytes > 0 ? MOST_TO_REUSE : MOST);
  const chosen = cuts.find(fits);
  if (chosen === undefined)
    throw new InputError(
      fileName,
      `a plan of at most ${MOST} operations and operands, with pipelines unrolled,`,
      inWords("more"),
    );
  if (pipelines.length > 0) refine(chosen.chunkBytes / units.divisor, pipelines[0].place);
  const cut = { finer, ...chosen };
  for (const item of items) {
    if (isPipeline(item)) for (const inner of item.operations) checkRange(inner, item.chunks, cut);
    else checkRange(item, 0, cut);
  }
  return cut;
}

/** Returns the units of pipelines with their greatest common divisor and least common multiple. */
function unitsOf(pipelines: readonly PlanPipeline[]): { all: readonly number[]; divisor: number; multiple: number } {
  const all = [...new Set(pipelines.map(({ unitBytes }) => unitBytes))];
  let divisor = 0;
  let multiple = 1;
  for (const { unitBytes, place } of pipelines) {
    divisor = gcd(unitBytes, divisor);
    multiple *= unitBytes / gcd(multiple, unitBytes);
    if (multiple > MOST_UNIT_BYTES) throw new InputError(place, "units with a common multiple below 4 GiB", unitBytes);
  }
  return { all, divisor, multiple };
}

/** Returns what a chunk's bytes may be taken to be, the preferred first. */
function candidates(multiple: number, units: readonly number[], scratch: ScratchUse): Omit<Cut, "finer">[] {
  const plain = { chunkBytes: 2 * multiple, wrapBytes: 0 };
  const [chunks] = scratch.chunks;
  if (!scratch.reused || chunks === 0 || scratch.chunks.some((count) => count !== chunks)) return [plain];
  const share = Math.ceil(REUSED_SCRATCH_BYTES / (scratch.doubled ? 2 : 1) / chunks);
  const wrapBytes = Math.ceil(share / scratch.alignment) * scratch.alignment;
  if (units.some((unit) => wrapBytes % unit !== 0)) return [plain];
  return [{ chunkBytes: multiple * (Math.floor(wrapBytes / multiple) + 1), wrapBytes }, plain];
}

/** Returns how many instructions and operands the operations unroll to. */
function unrolled(items: readonly Item[], chunkBytes: number): number {
  let count = 0;
  for (const item of items) {
    if (isPipeline(item)) for (const inner of item.operations) count += cells(inner) * iterationsOf(item, chunkBytes);
    else count += cells(item);
  }
  return count;
}

const cells = ({ moves, channels, semaphores }: PlanOperation): number =>
  moves.reduce((sum, { sources, destinations }) => sum + sources.length + destinations.length, 1) +
  channels.length +
  semaphores.length;

/** Returns how often a pipeline runs for chunks of this many bytes. */
const iterationsOf = ({ chunks, unitBytes }: PlanPipeline, chunkBytes: number): number =>
  Math.ceil((chunks * chunkBytes) / unitBytes);

function checkRange({ moves, place }: PlanOperation, pipelined: number, { finer }: Cut): void {
  for (const { size, sources, destinations } of moves) {
    const first = [...sources, ...destinations].reduce((most, { index }) => Math.max(most, index), 0);
    const last = first + size + pipelined;
    if (last * finer > GREATEST)
      throw new InputError(place, `chunk numbers up to ${GREATEST} when cut ${finer} times finer`, last);
  }
}

/** Chunks of ours that an operation moves at once: first ones relative to its operands, and how many. */
interface Range {
  readonly first: number;
  readonly firstInScratch: number;
  readonly chunks: number;
}

/**
 * Returns what a block moves of an operand in iteration `i` of a pipeline, or at once without one. As the executor has it: a
 * unit of what is left, counted in unsigned numbers, so that nothing is left where it ends exactly, and whole units are moved
 * beyond (execution_kernel.hpp: min(size - offset, unitSize)).
 */
function rangeOf(
  { part, parts, cut }: PlanOperation,
  { size }: PlanMove,
  { finer, chunkBytes, wrapBytes }: Cut,
  pipeline: PlanPipeline | null,
  i: number,
): Range {
  const own = (size * finer) / parts;
  const begin = part * own;
  if (pipeline === null || !cut) return { first: begin, firstInScratch: begin, chunks: own };
  const unit = (pipeline.unitBytes * finer) / chunkBytes;
  const done = i * unit;
  const wrap = (wrapBytes * finer) / chunkBytes;
  return {
    first: begin + done,
    firstInScratch: begin + (wrap > 0 ? done % wrap : done),
    chunks: done > own ? unit : Math.min(own - done, unit),
  };
}

/** Returns the first chunk of an operand in a range. */
const firstChunk = (buffer: number, index: number, { finer }: Cut, range: Range): number =>
  index * finer + (buffer === SCRATCH ? range.firstInScratch : range.first);
