import { InputError } from "../../base/errors.ts";
import { gcd } from "../../model/numbers/integers.ts";
import { SCRATCH } from "../../model/program/program.ts";
import type { PlanMove, PlanOperation, PlanPipeline } from "./mscclpp-json-operations.ts";
import { GREATEST } from "./mscclpp-json-tables.ts";

/** What the executor keeps for the scratch of plans that reuse resources (microsoft/mscclpp, execution_common.hpp). */
const REUSED_SCRATCH_BYTES = 2 ** 26;
const FINEST = 2 ** 16;
const MOST_UNIT_BYTES = 2 ** 32;
/** Instructions and operands of a program, and of one whose pipelines are unrolled until scratch is reused. */
const MOST = 2 ** 23;
const MOST_TO_REUSE = 2 ** 20;

/** How chunks of the file are cut, so that what blocks share and what pipelines do in an iteration are whole chunks. */
export interface Cut {
  /** Chunks of ours to one of the file's. */
  readonly finer: number;
  /** Bytes that a chunk of the file is taken to have where there are pipelines. */
  readonly chunkBytes: number;
  /** Pipelines begin again at the start of a scratch chunk after so many bytes; 0: they do not. */
  readonly wrapBytes: number;
}

/** What of the header decides about the reuse of scratch. */
export interface ScratchUse {
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
export function cutOf(items: readonly Item[], scratch: ScratchUse, fileName: string): Cut {
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
      "more",
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

/** Returns how often a pipeline runs for chunks of so many bytes. */
export const iterationsOf = ({ chunks, unitBytes }: PlanPipeline, chunkBytes: number): number =>
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
export interface Range {
  readonly first: number;
  readonly firstInScratch: number;
  readonly chunks: number;
}

/**
 * Returns what a block moves of an operand in iteration `i` of a pipeline, or at once without one. As the executor has it: a
 * unit of what is left, counted in unsigned numbers, so that nothing is left where it ends exactly, and whole units are moved
 * beyond (execution_kernel.hpp: min(size - offset, unitSize)).
 */
export function rangeOf(
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
export const firstChunk = (buffer: number, index: number, { finer }: Cut, range: Range): number =>
  index * finer + (buffer === SCRATCH ? range.firstInScratch : range.first);
