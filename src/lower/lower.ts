import { InputError } from "../errors.ts";
import type { Program } from "../model/program.ts";
import { MSCCL_RUNTIMES, type MscclRuntime } from "../model/runtimes.ts";
import type { Schedule } from "../model/slot-schedule.ts";
import type { TreeFlow } from "../model/tree-flow.ts";
import { blocksOf } from "./blocks.ts";
import { type Buffers, buffersOf, type CallPlacement } from "./buffers.ts";
import type { Code } from "./code.ts";
import { laneWires } from "./lane-wires.ts";
import { type Excess, excessOf, limitError } from "./limits.ts";
import { movesOf } from "./moves-of.ts";
import { type Parts, partsOf } from "./parts.ts";
import { type Numbering, numberingOf, programOfCode } from "./program-of-code.ts";
import { stepWires } from "./step-wires.ts";
import { type Versions, versionsOf } from "./versions.ts";
import type { Wires } from "./wires.ts";
import { writeCode } from "./write-code.ts";

export interface MscclLowering {
  readonly runtime: MscclRuntime["name"];
  /** In place, out of place, or right for either call. */
  readonly placement: CallPlacement;
  /** Every chunk is cut into so many, each with thread blocks and channels of its own; 1 without it. */
  readonly instances?: number;
  /** "Simple" without it. */
  readonly protocol?: Program["protocol"];
  readonly name?: string;
}

/**
 * Thread blocks of a GPU all run at the same time, one to a multiprocessor, and a model's own kernels want some: 108 an A100
 * has. More than these are only used where the schedule cannot do with fewer.
 */
const ENOUGH_BLOCKS = 64;
const MOST_INSTANCES = 128;

/**
 * Returns the program that carries out a schedule on a runtime that reads MSCCL XML.
 *
 * Trees: each is a lane of blocks that pass on what they receive in one instruction, so the runtime's slices are its pipeline;
 * where that takes too many blocks, trees share connections. Steps: one connection for each pair of ranks, more where a block
 * would have too many steps.
 *
 * Throws InputError where a limit of the runtime cannot be met (its value, what is needed, what would help), and for what
 * movesOf and buffersOf refuse. A handful of passes of O(hops x channels).
 */
export function lowerToMsccl(schedule: Schedule | TreeFlow, options: MscclLowering): Program {
  const { placement, instances = 1, protocol = "Simple" } = options;
  const runtime = MSCCL_RUNTIMES[options.runtime];
  const { kind } = schedule.collective;
  const known = Object.keys(runtime.collectives);
  if (runtime.collectives[kind] === undefined)
    throw new InputError("the collective", `one that ${runtime.title} knows (${known.join(", ")})`, kind);
  if (!Number.isSafeInteger(instances) || instances < 1 || instances > MOST_INSTANCES)
    throw new InputError("--instances", `an integer in 1 .. ${MOST_INSTANCES}`, instances);
  const parts = partsOf(movesOf(schedule), instances, runtime.chunksPerStep);
  const loopChunks = kind === "alltoall" ? parts.chunksPerBlock * parts.moves.rankCount : parts.chunkCount;
  if (loopChunks > runtime.chunkIndex + 1) {
    const help = "fewer chunks, a smaller --k";
    throw limitError(runtime, { limit: "chunks", most: runtime.chunkIndex + 1, needed: loopChunks, help });
  }
  const buffers = buffersOf(parts, placement);
  const { code, numbering, channelCount } = fittingCode(parts, buffers, runtime);
  return programOfCode(code, numbering, {
    name: options.name ?? `${kind}_${parts.moves.rankCount}`,
    machine: "msccl",
    collective: kind,
    rootRank: parts.moves.rootRank,
    rankCount: parts.moves.rankCount,
    protocol,
    inPlace: placement !== "out",
    outOfPlace: placement !== "in",
    minBytes: null,
    maxBytes: null,
    loopChunks,
    finer: 1,
    inputChunks: buffers.inputChunks,
    outputChunks: buffers.outputChunks,
    channelCount,
  });
}

interface Attempt {
  readonly code: Code;
  readonly numbering: Numbering;
  readonly channelCount: number;
  readonly blocks: number;
  readonly excess: Excess | null;
}

/** Returns the first code with enough blocks and not too many, else that with the fewest. Throws InputError if none fits. */
function fittingCode(parts: Parts, buffers: Buffers, runtime: MscclRuntime): Attempt {
  const versions = versionsOf(parts, buffers);
  let best: Attempt | null = null;
  let excess: Excess | null = null;
  for (const wires of parts.laned ? wiresOfLanes(parts, versions, runtime) : wiresOfSteps(parts, versions, runtime)) {
    const attempt = attemptWith(wires, parts, versions, buffers, runtime);
    excess ??= attempt.excess;
    if (attempt.excess !== null) continue;
    if (best === null || attempt.blocks < best.blocks) best = attempt;
    if (best.blocks <= ENOUGH_BLOCKS || !parts.laned) return best;
  }
  if (best !== null) return best;
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

/** Yields wires for trees: one to a connection, then as many as match, in fewer and fewer channels. */
function* wiresOfLanes(parts: Parts, versions: Versions, runtime: MscclRuntime): Generator<Wires> {
  const alone = laneWires(parts, versions, runtime, 1);
  if (alone !== null) yield alone;
  for (let channels = runtime.channels; channels >= 1; channels = Math.floor(channels / 2)) {
    const wires = laneWires(parts, versions, { ...runtime, channels }, Number.POSITIVE_INFINITY);
    if (wires !== null) yield wires;
  }
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

function attemptWith(wires: Wires, parts: Parts, versions: Versions, buffers: Buffers, runtime: MscclRuntime): Attempt {
  const enough = Math.min(ENOUGH_BLOCKS, runtime.blocksPerGpu) - 1;
  const code = writeCode(parts, versions, wires, blocksOf(parts, wires, enough), buffers, runtime);
  const numbering = numberingOf(code, parts.moves.rankCount);
  const blocks = numbering.blocks.reduce((most, own) => Math.max(most, own.length), 0);
  return { code, numbering, channelCount: wires.channelCount, blocks, excess: excessOf(code, numbering, runtime) };
}
