import { InputError } from "../../base/errors.ts";
import type { Program } from "../../model/program/program.ts";
import { MSCCL_RUNTIMES, type MscclRuntime } from "../../model/program/runtimes.ts";
import type { Schedule } from "../../model/slots/slot-schedule.ts";
import type { TreeFlow } from "../../model/trees/tree-flow.ts";
import { movesOf } from "../moves/moves-of.ts";
import { type Attempt, attemptWith, isAttempt, type Layout, layoutOf } from "./attempt.ts";
import type { CallPlacement } from "./buffers.ts";
import { codeOfLanes } from "./lane-code.ts";
import { type Excess, limitError } from "./limits.ts";
import { type Pace, type Parts, partsOf } from "./parts.ts";
import { programOfCode } from "./program-of-code.ts";
import { stepWires } from "./step-wires.ts";
import type { Versions } from "./versions.ts";
import type { Wires } from "./wires.ts";

export interface MscclLowering {
  readonly runtime: MscclRuntime["name"];
  /** In place, out of place, or right for either call. */
  readonly placement: CallPlacement;
  /** Every chunk is cut into so many, each with thread blocks and channels of its own; 1 without it. */
  readonly instances?: number;
  /** Thread blocks of a GPU at most, if trees can do with so many: a block to a multiprocessor. 100 without it. */
  readonly threadBlocks?: number;
  /**
   * Into how many parts that follow each other a tree's data is cut, if trees have as many copies or share blocks: few for small
   * calls, more for large ones; 6 without it.
   */
  readonly parts?: number;
  /** "Simple" without it. */
  readonly protocol?: Program["protocol"];
  readonly name?: string;
}

/** Thread blocks of a GPU all run at the same time, one to a multiprocessor: 108 an A100 has, 132 an H100. */
const USUAL_BLOCKS = 100;
/** Above so many, blocks of steps are joined, for a model's own kernels want some multiprocessors. */
const ENOUGH_BLOCKS = 64;
const MOST_INSTANCES = 128;
/**
 * Of a tree's data: more cost latency where calls are small, fewer cost bandwidth where they are large. All-gather on 2 x DGX A100
 * with 11 and 2 copies a root, 1 MiB and 1 GiB simulated: in one part 11 us and 3.49 ms, in 6 28 us and 3.19 ms, in 11 57 us and
 * 3.18 ms (3.10 in closed form).
 */
const USUAL_PARTS = 6;
const MOST_PARTS = 64;

/**
 * Returns the program that carries out a schedule on a runtime that reads MSCCL XML.
 *
 * Trees: each is a lane of blocks that pass on what they receive in one instruction, so the runtime's slices are its pipeline;
 * where that takes more than `threadBlocks`, trees share connections and blocks. Steps: one connection for each pair of ranks, more
 * where a block would have too many steps.
 *
 * Throws InputError where a limit of the runtime cannot be met (its value, what is needed, what would help), and for what
 * movesOf and buffersOf refuse. A handful of passes of O(hops x channels).
 */
export function lowerToMsccl(schedule: Schedule | TreeFlow, options: MscclLowering): Program {
  const { placement, instances = 1, protocol = "Simple", threadBlocks = USUAL_BLOCKS, parts = USUAL_PARTS } = options;
  const runtime = MSCCL_RUNTIMES[options.runtime];
  const { kind } = schedule.collective;
  const known = Object.keys(runtime.collectives);
  if (runtime.collectives[kind] === undefined)
    throw new InputError("the collective", `one that ${runtime.title} knows (${known.join(", ")})`, kind);
  if (!Number.isSafeInteger(threadBlocks) || threadBlocks < 1)
    throw new InputError("--thread-blocks", "a positive integer", threadBlocks);
  if (!Number.isSafeInteger(parts) || parts < 1 || parts > MOST_PARTS)
    throw new InputError("--parts", `an integer in 1 .. ${MOST_PARTS}`, parts);
  if (!Number.isSafeInteger(instances) || instances < 1 || instances > MOST_INSTANCES)
    throw new InputError("--instances", `an integer in 1 .. ${MOST_INSTANCES}`, instances);
  const moves = movesOf(schedule);
  const layouts = (pace: Pace): Layout => layoutOf(partsOf(moves, instances, pace), placement);
  const whole = layouts({ mostChunks: runtime.chunksPerStep, finer: 1, sumsLast: false });
  const needed = loopChunksOf(whole);
  if (needed > runtime.chunkIndex + 1) {
    const help = "fewer chunks, a smaller --k";
    throw limitError(runtime, { limit: "chunks", most: runtime.chunkIndex + 1, needed, help });
  }
  const longest = moves.chunks.reduce((most, chunks) => Math.max(most, chunks), 1);
  const finest = Math.floor((runtime.chunkIndex + 1) / needed);
  const { layout, code, numbering, channelCount } = whole.parts.laned
    ? codeOfLanes(layouts, { longest, finest, parts, blocks: Math.min(threadBlocks, runtime.blocksPerGpu) }, runtime)
    : codeOfSteps(whole, runtime);
  return programOfCode(code, numbering, {
    name: options.name ?? `${kind}_${moves.rankCount}`,
    machine: "msccl",
    collective: kind,
    rootRank: moves.rootRank,
    rankCount: moves.rankCount,
    protocol,
    inPlace: placement !== "out",
    outOfPlace: placement !== "in",
    minBytes: null,
    maxBytes: null,
    loopChunks: loopChunksOf(layout),
    finer: 1,
    inputChunks: layout.buffers.inputChunks,
    outputChunks: layout.buffers.outputChunks,
    channelCount,
  });
}

/** Returns into how many chunks a call's data is cut. */
const loopChunksOf = ({ parts: { moves, chunksPerBlock, chunkCount } }: Layout): number =>
  moves.collective.kind === "alltoall" ? chunksPerBlock * moves.rankCount : chunkCount;

/** Returns the first code of steps that meets the runtime's limits; throws InputError if none does. */
function codeOfSteps(layout: Layout, runtime: MscclRuntime): Attempt {
  const enough = Math.min(ENOUGH_BLOCKS, runtime.blocksPerGpu) - 1;
  let excess: Excess | null = null;
  for (const wires of wiresOfSteps(layout.parts, layout.versions, runtime)) {
    const result = attemptWith(layout, wires, runtime, enough);
    if (isAttempt(result) && result.excess === null) return result;
    excess ??= isAttempt(result) ? result.excess : result;
  }
  throw limitError(
    runtime,
    excess ?? {
      limit: "channels",
      most: runtime.channels,
      needed: "more",
      help: "fewer chunks, fewer instances, a smaller --k",
    },
  );
}

/** Yields wires for steps: as few connections from rank to rank as steps allow, then more, each for a share of the parts. */
function* wiresOfSteps(parts: Parts, versions: Versions, runtime: MscclRuntime): Generator<Wires> {
  const least = Math.ceil(busiestSteps(parts, runtime) / (runtime.stepsPerBlock * parts.instances));
  for (
    let spread = Math.max(1, least);
    spread * parts.instances <= runtime.channels;
    spread = Math.ceil(spread * 1.4)
  ) {
    const wires = stepWires(parts, versions, runtime, spread);
    if (wires !== null) yield wires;
  }
}

/** Returns the most steps that one block for each connection would have at least. O(hops). */
function busiestSteps({ source, target, reduces, moves }: Parts, runtime: MscclRuntime): number {
  const steps = new Map<number, number>();
  let most = 0;
  for (let hop = 0; hop < source.length; hop++) {
    const connection = source[hop] * moves.rankCount + target[hop];
    const many = (steps.get(connection) ?? 0) + (reduces[hop] === 1 && !runtime.ops.has("rrc") ? 2 : 1);
    steps.set(connection, many);
    if (many > most) most = many;
  }
  return most;
}
