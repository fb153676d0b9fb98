import { InputError } from "../../base/errors.ts";
import { optionName } from "../../base/option-names.ts";
import { isJoint } from "../../model/joint/joint-schedule.ts";
import { greatest } from "../../model/numbers/ordering.ts";
import { PairMap } from "../../model/numbers/pairs.ts";
import { toNumber } from "../../model/numbers/rational.ts";
import type { Program } from "../../model/program/program.ts";
import { CONNECTIONS, MSCCL_RUNTIMES, type MscclRuntime } from "../../model/program/runtimes.ts";
import { stepsOf, transfersOf } from "../../model/steps/schedule.ts";
import type { StepSchedule } from "../../model/steps/step-schedule.ts";
import { isTreeFlow } from "../../model/trees/tree-flow.ts";
import { anyMovesOf, becomesCustom, type LoweredSchedule } from "../any-moves.ts";
import { mostOfCustom, tableOf } from "../custom.ts";
import { type Joining, joinedMoves, type MoveTimes } from "../messages.ts";
import type { Moves } from "../moves.ts";
import { rankZeroMoves } from "../symmetry/rank-zero-moves.ts";
import { type RankZero, rankZeroOf } from "../symmetry/symmetry.ts";
import { onAllRanks } from "./all-ranks.ts";
import { type Blocks, blocksOf, freeChannels, mayFuse, type WireLimits, type Wires } from "./blocks.ts";
import { type Buffers, buffersOf, type CallPlacement, type Versions, versionsOf } from "./buffers.ts";
import {
  type Code,
  type Excess,
  excessOf,
  limitError,
  type Numbering,
  numberingOf,
  programOfCode,
  tooManyBlocks,
  tooManySteps,
} from "./code.ts";
import { ends } from "./ends.ts";
import { inTurns } from "./in-turns.ts";
import { type FixedScratch, joinNeighbours } from "./neighbours.ts";
import { type Pace, type Parts, partsOf } from "./parts.ts";
import { fusesSums, writeCode } from "./write-code.ts";

export interface MscclLowering {
  readonly runtime: MscclRuntime["name"];
  /** In place, out of place, or right for either call. */
  readonly placement: CallPlacement;
  /** Every chunk is cut into this many, each with thread blocks and channels of its own; 1 without it. */
  readonly instances?: number;
  /** Thread blocks of a GPU at most, if trees can do with this many: a block to a multiprocessor. 100 without it. */
  readonly threadBlocks?: number;
  /**
   * Into how many parts that follow each other a tree's data is cut, if trees have as many copies or share blocks, or a run of a
   * custom collective's chunks that go the same ways: few for small calls, more for large ones; 6 without it.
   */
  readonly parts?: number;
  /** Steps: when transfers really depart and arrive; without it, when they are planned to. */
  readonly times?: MoveTimes;
  /** Steps: what goes together in one instruction; "apart" without it. */
  readonly joining?: Joining;
  /** Steps: what a thread block receives it may send on at once, and then has to do both in turns; true without it. */
  readonly passing?: boolean;
  /** Trees: each has thread blocks of its own, or shares them where these are too many; else as steps. True without it. */
  readonly lanes?: boolean;
  /**
   * Steps that go apart: rank 0 is lowered and all others do the like, if they are alike; without it from 1e5 transfers on. It
   * needs connections that hold two messages where ranks pass on in circles.
   */
  readonly folding?: boolean;
  /** "Simple" without it. */
  readonly protocol?: Program["protocol"];
  readonly name?: string;
}

/** Thread blocks of a GPU all run at the same time, one to a multiprocessor: 108 an A100 has, 132 an H100. */
const USUAL_BLOCKS = 100;
/** Above this many, blocks of steps are joined, for a model's own kernels want some multiprocessors. */
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
export function lowerToMsccl(schedule: LoweredSchedule, options: MscclLowering): Program {
  const { instances = 1, threadBlocks = USUAL_BLOCKS, parts = USUAL_PARTS, joining = "apart" } = options;
  const runtime = MSCCL_RUNTIMES[options.runtime];
  const kind = isJoint(schedule) || becomesCustom(schedule) ? "custom" : schedule.collective.kind;
  const known = Object.keys(runtime.collectives);
  if (runtime.collectives[kind] === undefined)
    throw new InputError("the collective", `one that ${runtime.title} knows (${known.join(", ")})`, kind);
  if (!Number.isSafeInteger(threadBlocks) || threadBlocks < 1)
    throw new InputError(optionName("threadBlocks"), "a positive integer", threadBlocks);
  if (!Number.isSafeInteger(parts) || parts < 1 || parts > MOST_PARTS)
    throw new InputError(optionName("parts"), `an integer in 1 .. ${MOST_PARTS}`, parts).as("out-of-range");
  if (!Number.isSafeInteger(instances) || instances < 1 || instances > MOST_INSTANCES)
    throw new InputError(optionName("instances"), `an integer in 1 .. ${MOST_INSTANCES}`, instances).as("out-of-range");
  const folded = foldedMoves(schedule, options);
  if (folded !== null) {
    try {
      return programOfMoves(folded, options, runtime);
    } catch (error) {
      // without passing on, all ranks one by one would have as many steps
      const isHopeless = options.passing === false || folded.rankCount * folded.chunk.length > MOST_ONE_BY_ONE;
      if (!(error instanceof InputError) || isHopeless) throw error;
    }
  }
  const cut = { pieces: parts, mostChunks: runtime.chunksPerStep };
  return programOfMoves(joinedMoves(anyMovesOf(schedule, cut, options), joining), options, runtime);
}

/** Fewer transfers than this are lowered rank by rank, which takes no time. */
const WORTH_FOLDING = 1e5;
/** More transfers take minutes rank by rank, for what one rank has not found room for. */
const MOST_ONE_BY_ONE = 5e5;

/** A schedule is lowered in several ways. */
const zeroOf = new WeakMap<StepSchedule, RankZero | null>();

/** Returns what a schedule moves from and to rank 0, if it is like that at all ranks; null where it is not, or is not asked. */
function foldedMoves(schedule: LoweredSchedule, options: MscclLowering): Moves | null {
  const { joining = "apart", folding, times } = options;
  if (isJoint(schedule) || isTreeFlow(schedule) || becomesCustom(schedule) || joining !== "apart") return null;
  if (!(folding ?? transfersOf(schedule) >= WORTH_FOLDING)) return null;
  const steps = stepsOf(schedule);
  const known = zeroOf.get(steps);
  const zero = known === undefined ? rankZeroOf(steps) : known;
  zeroOf.set(steps, zero);
  return zero === null ? null : rankZeroMoves(zero, times);
}

function programOfMoves(moves: Moves, options: MscclLowering, runtime: MscclRuntime): Program {
  const { placement, instances = 1, protocol = "Simple", threadBlocks = USUAL_BLOCKS, parts = USUAL_PARTS } = options;
  const { joining = "apart", passing = true } = options;
  const kind = moves.blocks === undefined ? moves.collective.kind : "custom";
  const layouts = (pace: Pace): Layout => layoutOf(partsOf(moves, instances, pace), placement, joining, runtime);
  const whole = layouts({ mostChunks: runtime.chunksPerStep, finer: 1, sumsLast: false });
  const needed = loopChunksOf(whole);
  if (needed > runtime.chunkIndex + 1) {
    const help =
      moves.blocks === undefined ? `fewer chunks, a smaller ${optionName("k")}` : coarserHelp(moves, runtime, needed);
    throw limitError(runtime, { limit: "chunks", most: runtime.chunkIndex + 1, needed, help });
  }
  const longest = moves.chunks.reduce((most, chunks) => Math.max(most, chunks), 1);
  const finest = Math.floor((runtime.chunkIndex + 1) / needed);
  const { layout, code, numbering, channelCount } = whole.parts.laned
    ? codeOfLanes(layouts, { longest, finest, parts, blocks: Math.min(threadBlocks, runtime.blocksPerGpu) }, runtime)
    : codeOfSteps(whole, runtime, passing, CONNECTIONS[protocol].messages);
  const { blocks } = layout.parts;
  const loopChunks = loopChunksOf(layout);
  // runtimes want buffers of a custom collective that are used to have the chunks of a call, all of them
  const padded = (chunks: Int32Array) =>
    blocks === undefined ? chunks : chunks.map((c) => (c === 0 ? 0 : loopChunks));
  const program = programOfCode(code, numbering, {
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
    loopChunks,
    finer: 1,
    inputChunks: padded(layout.buffers.inputChunks),
    outputChunks: padded(layout.buffers.outputChunks),
    channelCount,
    ...(blocks === undefined ? {} : { table: tableOf(moves, blocks) }),
  });
  if (moves.folded === undefined) return program;
  return onAllRanks(program, moves.folded.symmetry, { parts: layout.parts, buffers: layout.buffers, placement });
}

/** Returns to which multiples the bytes of a table would have to be rounded up for its chunks to be few enough. */
function coarserHelp({ collective, rankCount }: Moves, { chunkIndex }: MscclRuntime, chunks: number): string {
  // rounding up adds a chunk at most for each rank
  const least = Math.ceil((chunks * toNumber(collective.chunkBytes)) / Math.max(1, chunkIndex + 1 - rankCount));
  return `bytes that are multiples of ${2 ** Math.ceil(Math.log2(least))}, rounded up`;
}

/** Returns into how many chunks a call's data is cut. */
function loopChunksOf({ parts: { moves, blocks, chunksPerBlock, chunkCount }, buffers }: Layout): number {
  if (blocks !== undefined) return mostOfCustom({ input: buffers.inputChunks, output: buffers.outputChunks });
  return moves.collective.kind === "alltoall" ? chunksPerBlock * moves.rankCount : chunkCount;
}

/**
 * Returns the first code of steps that meets the runtime's limits and ends with `room` messages in a connection; throws InputError if
 * none does. Parts are dealt by their numbers, and if that does not do such that all connections have as many. Where channels are too
 * few for what is under way at a time, it is queued; where thread blocks would then wait for room in a circle, hops take turns.
 */
function codeOfSteps(layout: Layout, runtime: MscclRuntime, passing: boolean, room: number): Attempt {
  const enough = Math.min(ENOUGH_BLOCKS, runtime.blocksPerGpu) - 1;
  let excess: Excess | null = null;
  let turns: Layout | null = null;
  for (const isEven of [false, true]) {
    for (const sharing of ["free", "queued", "turns"] as const) {
      if (sharing === "turns") turns ??= layoutInTurns(layout);
      const own = sharing === "turns" && turns !== null ? turns : layout;
      for (const wires of wiresOfSteps(own, runtime, passing, sharing === "queued", isEven)) {
        const result = "limit" in wires ? wires : attemptWith(own, wires, runtime, enough);
        if (isAttempt(result) && result.excess === null) {
          if (sharing !== "queued" || "limit" in wires || ends(own.parts, wires, result.code, result.numbering, room))
            return result;
          break;
        }
        excess = nearer(excess, isAttempt(result) ? result.excess : result);
      }
    }
  }
  throw limitError(
    runtime,
    excess ?? {
      limit: "channels",
      most: runtime.channels,
      needed: "more",
      help: `fewer chunks, fewer instances, a smaller ${optionName("k")}`,
    },
  );
}

/** Returns the limit that is missed by less. */
function nearer(one: Excess | null, other: Excess | null): Excess | null {
  const over = ({ needed, most }: Excess): number =>
    typeof needed === "number" ? needed / most : Number.POSITIVE_INFINITY;
  return one === null || (other !== null && over(other) < over(one)) ? other : one;
}

/**
 * Yields wires for steps: as few connections from rank to rank as steps allow, then more, each for a share of the parts; or the limit
 * that such a share exceeds.
 */
function* wiresOfSteps(
  { parts, versions }: Layout,
  runtime: MscclRuntime,
  passing: boolean,
  queued: boolean,
  isEven: boolean,
): Generator<Wires | Excess> {
  const { stepsPerBlock, channels } = runtime;
  const most = Math.floor(channels / parts.instances);
  const nextSpread = (spread: number): number => {
    const next = Math.ceil(spread * 1.4);
    return isEven && spread < most ? Math.min(next, most) : next;
  };
  const least = Math.ceil(busiestSteps(parts, runtime) / (stepsPerBlock * parts.instances));
  for (let spread = Math.max(1, least); spread <= most; spread = nextSpread(spread)) {
    const planes = parts.instances * spread;
    const share = isEven ? evenShares(parts, spread) : parts.first.map((_, p) => p % spread);
    const plane = share.map((own, p) => parts.instance[p] * spread + own);
    const needed = mostSteps(parts, plane, planes);
    if (needed > stepsPerBlock * Math.ceil(channels / planes)) {
      yield tooManySteps(runtime, needed, true);
      continue;
    }
    const windows = parts.moves.folded !== undefined && passing;
    const window = windows ? Math.ceil(mostSteps(parts, parts.instance, parts.instances) / spread) : null;
    const wires = stepWires(parts, versions, runtime, plane, planes, passing, queued, window);
    if (wires !== null) yield wires;
  }
}

/** Returns the most hops between two ranks in one plane. O(hops). */
function mostSteps({ pair, pairSource, part }: Parts, plane: Int32Array, planes: number): number {
  const steps = new Int32Array(pairSource.length * planes);
  for (let hop = 0; hop < pair.length; hop++) steps[pair[hop] * planes + plane[part[hop]]]++;
  return greatest(steps);
}

/**
 * Returns the share of each part where parts are dealt in their order, each to the share that has the fewest hops between the two
 * ranks of the part where it has the most. O(hops x shares).
 */
export function evenShares(
  { pair, pairSource, part, first }: Pick<Parts, "pair" | "pairSource" | "part" | "first">,
  shares: number,
): Int32Array {
  const { offset, hops } = hopsOfParts(part, first.length);
  const load = new Int32Array(pairSource.length * shares);
  const share = new Int32Array(first.length);
  for (let p = 0; p < first.length; p++) {
    let least = Number.POSITIVE_INFINITY;
    for (let s = 0; s < shares && least > 0; s++) {
      let most = 0;
      for (let k = offset[p]; k < offset[p + 1]; k++) most = Math.max(most, load[pair[hops[k]] * shares + s]);
      if (most < least) [least, share[p]] = [most, s];
    }
    for (let k = offset[p]; k < offset[p + 1]; k++) load[pair[hops[k]] * shares + share[p]]++;
  }
  return share;
}

/** Returns the hops of each part, in order: those of part p are hops[offset[p]] .. hops[offset[p + 1] - 1]. O(hops). */
function hopsOfParts(part: Int32Array, parts: number): { readonly offset: Int32Array; readonly hops: Int32Array } {
  const offset = new Int32Array(parts + 1);
  for (const p of part) offset[p + 1]++;
  for (let p = 0; p < parts; p++) offset[p + 1] += offset[p];
  const hops = new Int32Array(part.length);
  const next = offset.slice();
  for (let hop = 0; hop < part.length; hop++) hops[next[part[hop]]++] = hop;
  return { offset, hops };
}

/** Returns the most steps that one block for each connection would have at least. O(hops). */
function busiestSteps({ pair, pairSource, reduces }: Parts, runtime: MscclRuntime): number {
  const steps = new Int32Array(pairSource.length);
  const toAdd = runtime.ops.has("rrc") ? 1 : 2;
  for (let hop = 0; hop < pair.length; hop++) steps[pair[hop]] += reduces[hop] === 1 ? toAdd : 1;
  return greatest(steps);
}

/**
 * Returns wires for parts that go their own ways, or null where channels are too few. Hops between two ranks share a
 * connection, unless one departs before the one before it has arrived (or where they are `queued` would come after it); those of
 * other planes, `plane` of each part, have others.
 *
 * An arrival is passed on at once where its block sends to that peer anyway (of those that the rank passes on to from a peer,
 * that to which it does most often), where the hop is the next to that peer, and where the connection is free at that moment.
 * All that one rank passes on for all may be one chain, so there a connection takes `window` hops, and the next the next ones.
 * O(hops x (log hops + channels)).
 */
function stepWires(
  parts: Parts,
  versions: Versions,
  limits: WireLimits,
  plane: Int32Array,
  planes: number,
  passing: boolean,
  queued: boolean,
  window: number | null,
): Wires | null {
  const { source, pair, pairSource, part, events, departsAt, arrivesAt, moves } = parts;
  const planeOf = (hop: number): number => plane[part[hop]];
  const partners = matchPartners(parts, versions);
  const channels = freeChannels(parts, limits);
  const channel = new Int32Array(source.length).fill(-1);
  const fused = new Int32Array(source.length).fill(-1);
  const before = hopsBefore(parts, planes, planeOf);
  /** Last hop that took a connection: channel, then pair. */
  const latest: Int32Array[] = [];
  const isFree = (c: number, hop: number, at: number): boolean => {
    if (latest[c] === undefined) latest[c] = new Int32Array(pairSource.length).fill(-1);
    const other = latest[c][pair[hop]];
    return (other < 0 || arrivesAt[other] < (queued ? arrivesAt[hop] : at)) && channels.hasRoom(c, pair[hop]);
  };
  /**
   * Returns whether what all ranks send each other in a circle may be passed on by all at once: each connection then holds the one
   * message that is passed on, and takes the next, so room for two does.
   */
  const isInCircle = (c: number, arrival: number, on: number): boolean =>
    moves.folded !== undefined && latest[c][pair[on]] === arrival;
  const isInWindow = (c: number, hop: number): boolean => window === null || channels.uses(c, pair[hop]) < window;
  const take = (c: number, hop: number): void => {
    channel[hop] = c;
    latest[c][pair[hop]] = hop;
    channels.use(c, pair[hop]);
  };

  for (let at = 0; at < events.length; at++) {
    const hop = events[at] >> 1;
    if (events[at] % 2 === 0) {
      if (channel[hop] >= 0) continue;
      let c = window === null ? planeOf(hop) : parts.instance[part[hop]];
      while (c < limits.channels && !(isFree(c, hop, at) && isInWindow(c, hop)))
        c += window === null ? planes : parts.instances;
      if (c >= limits.channels) return null;
      take(c, hop);
      continue;
    }
    const on = passing ? versions.onward[hop] : -1;
    if (!mayFuse(parts, hop, on) || partners[pair[hop]] !== pair[on]) continue;
    if (before[on] >= 0 && departsAt[before[on]] > at) continue;
    if (channel[on] >= 0 || !isInWindow(channel[hop], on)) continue;
    if (!isFree(channel[hop], on, at) && !isInCircle(channel[hop], hop, on)) continue;
    take(channel[hop], on);
    fused[hop] = on;
  }
  return { channelCount: channel.reduce((most, c) => Math.max(most, c + 1), 1), channel, fused };
}

/** Returns the hop that departs before each between the same ranks in the same plane, -1 for none. */
function hopsBefore({ source, pair, events }: Parts, planes: number, planeOf: (hop: number) => number): Int32Array {
  const before = new Int32Array(source.length).fill(-1);
  const latest = new PairMap();
  for (const event of events) {
    if (event % 2 === 1) continue;
    const hop = event >> 1;
    const connection = pair[hop] * planes + planeOf(hop);
    before[hop] = latest.get(connection, 0);
    latest.set(connection, 0, hop);
  }
  return before;
}

/** Returns through which pair a rank passes on most often what comes through each pair, [pairs]; none of two. -1: none. */
function matchPartners(parts: Parts, versions: Versions): Int32Array {
  const { source, pair, pairSource, pairTarget, ranks } = parts;
  const ways = new PairMap();
  const often: { readonly from: number; readonly to: number; many: number }[] = [];
  for (let hop = 0; hop < source.length; hop++) {
    const on = versions.onward[hop];
    if (!mayFuse(parts, hop, on)) continue;
    const way = ways.number(pair[hop], pair[on]);
    if (way === often.length) often.push({ from: pair[hop], to: pair[on], many: 0 });
    often[way].many++;
  }
  const inOrder = ({ from, to }: { readonly from: number; readonly to: number }): number =>
    (pairTarget[from] * ranks + pairSource[from]) * ranks + pairTarget[to];
  const partners = new Int32Array(pairSource.length).fill(-1);
  const taken = new Uint8Array(pairSource.length);
  for (const { from, to } of often.sort((a, b) => b.many - a.many || inOrder(a) - inOrder(b))) {
    if (partners[from] >= 0 || taken[to] === 1) continue;
    partners[from] = to;
    taken[to] = 1;
  }
  return partners;
}

/** What lanes are like, and what they may take. */
interface LaneLimits {
  /** Chunks of the longest lane. */
  readonly longest: number;
  /** Into how many a chunk may be cut at most. */
  readonly finest: number;
  /** Parts of the longest lane that are wished for. */
  readonly parts: number;
  /** Of a GPU. */
  readonly blocks: number;
}

/**
 * Returns the code of lanes in parts: first with blocks of each lane's own, if there are enough, else with lanes that share blocks
 * and connections: the first with few enough blocks, or that with the fewest. Parts grow where blocks have too many steps.
 *
 * Parts, for a block that waits for another one does so for a whole part: reduce-scatter on 2 x DGX A100 with 11 and 2 copies a
 * root, 1 GiB simulated: 3.30 ms in parts of 2 chunks, 6.49 ms of 11 (3.10 in closed form). Blocks that take turns among several
 * lanes carry out all contributions before the sums, or each would wait for the way to a root and back: all-reduce on 4 x DGX
 * H100, 8 ms instead of 51; for the same reason they want several parts: on 2 x MI250 boxes 9.7 ms in 4 parts, 14.1 in one.
 *
 * Throws InputError where a limit of the runtime is met by none.
 */
function codeOfLanes(layouts: (pace: Pace) => Layout, limits: LaneLimits, runtime: MscclRuntime): Attempt {
  let excess: Excess | null = null;
  for (const mostChunks of grainsOf(limits, runtime)) {
    const layout = layouts({ mostChunks, finer: 1, sumsLast: false });
    const wires = laneWires(layout.parts, layout.versions, runtime, 1);
    if (wires === null) break;
    const result = attemptWith(layout, wires, runtime, Number.POSITIVE_INFINITY);
    if (isAttempt(result) && result.excess === null) {
      if (result.blocks <= limits.blocks) return result;
      break;
    }
  }
  let best: Attempt | null = null;
  for (const { mostChunks, finer } of cutsOf(limits, runtime)) {
    const layout = layouts({ mostChunks, finer, sumsLast: true });
    for (const wires of wiresOf(layout, runtime)) {
      const result = attemptWith(layout, wires, runtime, limits.blocks - 1);
      const failed = isAttempt(result) ? result.excess : result;
      excess = failed ?? excess;
      if (failed !== null || !isAttempt(result)) continue;
      if (result.blocks <= limits.blocks) return result;
      if (best === null || result.blocks < best.blocks) best = result;
    }
  }
  if (best !== null) return best;
  throw limitError(
    runtime,
    excess ?? {
      limit: "channels",
      most: runtime.channels,
      needed: "more",
      help: `fewer instances, a smaller ${optionName("k")}`,
    },
  );
}

/** Yields wires: one run to a connection, then as many as match, in fewer and fewer channels. */
function* wiresOf({ parts, versions }: Layout, runtime: MscclRuntime): Generator<Wires> {
  const alone = laneWires(parts, versions, runtime, 1);
  if (alone !== null) yield alone;
  for (let channels = runtime.channels; channels >= 1; channels = Math.floor(channels / 2)) {
    const wires = laneWires(parts, versions, { ...runtime, channels }, Number.POSITIVE_INFINITY);
    if (wires !== null) yield wires;
  }
}

/** Yields the sizes of parts to be tried, in chunks. */
function* grainsOf({ longest, parts }: LaneLimits, { chunksPerStep }: MscclRuntime): Generator<number> {
  const most = Math.min(longest, chunksPerStep);
  let grain = Math.min(most, Math.ceil(longest / parts));
  for (; grain < most; grain *= 2) yield grain;
  yield most;
}

/**
 * Yields how lanes are cut that share blocks: first finer than in chunks if there are too few of these. By powers of two, for
 * runtimes take a program only where its chunks divide the elements of a call.
 */
function* cutsOf(limits: LaneLimits, runtime: MscclRuntime): Generator<Pick<Pace, "mostChunks" | "finer">> {
  const wished = Math.min(limits.finest, limits.parts / limits.longest);
  for (let finer = 2 ** Math.floor(Math.log2(wished)); finer > 1; finer /= 2) yield { mostChunks: 1, finer };
  for (const mostChunks of grainsOf(limits, runtime)) yield { mostChunks, finer: 1 };
}

/**
 * Returns wires for parts that follow trees, each run in one channel, or null where `most` runs to a connection are too few: the
 * first channel in which blocks can pass on all that the tree passes on, else the one in which fewest hops need another block.
 * Messages of one connection are in the order of events. O(hops + hops of leaders x channels).
 */
function laneWires(parts: Parts, versions: Versions, limits: WireLimits, most: number): Wires | null {
  const { source, target, pair, part, first, leader, ranks } = parts;
  const channels = freeChannels(parts, limits);
  const channel = new Int32Array(source.length);
  const fused = new Int32Array(source.length).fill(-1);
  const { offset, hops } = hopsOfParts(part, first.length);

  /** Returns how many hops of a part could not be passed on by the block that receives them; -1: the channel is full. */
  const conflicts = (mine: Int32Array, c: number): number => {
    let many = 0;
    sends.fill(0);
    for (const hop of mine) {
      if (channels.uses(c, pair[hop]) >= most) return -1;
      if (!channels.hasRoom(c, pair[hop], ++sends[source[hop]], ++sends[ranks + target[hop]])) return -1;
      const on = versions.onward[hop];
      if (mayFuse(parts, hop, on) && !channels.mayMatch(c, pair[hop], pair[on])) many++;
    }
    return many;
  };

  /** [2 x ranks] hops of a tree that a rank sends, and those that it receives. */
  const sends = new Int32Array(2 * ranks);
  let channelCount = 1;
  for (let p = 0; p < first.length; p++) {
    const mine = hops.subarray(offset[p], offset[p + 1]);
    if (leader[p] < p) {
      const first = offset[leader[p]];
      mine.forEach((hop, i) => {
        channel[hop] = channel[hops[first + i]];
        fused[hop] = fused[hops[first + i]] < 0 ? -1 : versions.onward[hop];
      });
      continue;
    }
    let [best, fewest] = [-1, Number.POSITIVE_INFINITY];
    for (let c = 0; c < limits.channels && fewest > 0; c++) {
      const many = conflicts(mine, c);
      if (many >= 0 && many < fewest) [best, fewest] = [c, many];
      if (c >= channelCount) break;
    }
    if (best < 0) return null;
    channelCount = Math.max(channelCount, best + 1);
    for (const hop of mine) {
      channel[hop] = best;
      channels.use(best, pair[hop]);
      const on = versions.onward[hop];
      if (!mayFuse(parts, hop, on)) continue;
      if (!channels.mayMatch(best, pair[hop], pair[on])) continue;
      channels.match(best, pair[hop], pair[on]);
      fused[hop] = on;
    }
  }
  return { channelCount, channel, fused };
}

/** Parts, where they are, and what becomes of them. */
interface Layout {
  readonly parts: Parts;
  readonly buffers: Buffers;
  readonly versions: Versions;
  /** Where scratch memory is laid out. */
  readonly scratch: FixedScratch | null;
}

/** Code for a layout over some wires, and what keeps it from being a program. */
interface Attempt {
  readonly layout: Layout;
  readonly code: Code;
  readonly numbering: Numbering;
  readonly channelCount: number;
  /** Of the rank that has the most. */
  readonly blocks: number;
  readonly excess: Excess | null;
}

/** Returns the layout of parts; throws InputError for what buffersOf and versionsOf refuse. */
function layoutOf(parts: Parts, placement: CallPlacement, joining: Joining, runtime: MscclRuntime): Layout {
  const buffers = buffersOf(parts, placement);
  if (parts.laned || joining === "apart")
    return { parts, buffers, versions: versionsOf(parts, buffers), scratch: null };
  const { parts: joined, scratch } = joinNeighbours(parts, buffers, fusesSums(runtime), runtime.chunksPerStep);
  return { parts: joined, buffers, versions: versionsOf(joined, buffers), scratch };
}

/** Returns the layout with hops in turns. */
function layoutInTurns(layout: Layout): Layout {
  const parts = inTurns(layout.parts, layout.buffers);
  return { ...layout, parts, versions: versionsOf(parts, layout.buffers) };
}

/** Returns the code over these wires; where a rank has more than `enough` blocks, some are joined. */
function attemptWith(layout: Layout, wires: Wires, runtime: MscclRuntime, enough: number): Attempt | Excess {
  const { parts, buffers, versions, scratch } = layout;
  const blocks = blocksOf(parts, wires, enough);
  const steps = leastSteps(parts, wires, blocks, runtime);
  if (steps > runtime.stepsPerBlock) return tooManySteps(runtime, steps, true);
  const own = new Int32Array(parts.ranks);
  for (const rank of blocks.rank) own[rank]++;
  const least = greatest(own);
  if (least > runtime.blocksPerGpu) return tooManyBlocks(runtime, least, true);
  const code = writeCode(parts, versions, wires, blocks, buffers, scratch, runtime);
  const numbering = numberingOf(code, parts.ranks);
  return {
    layout,
    code,
    numbering,
    channelCount: wires.channelCount,
    blocks: greatest(numbering.blocks.map(({ length }) => length)),
    excess: excessOf(code, numbering, parts.moves.rankCount, runtime),
  };
}

const isAttempt = (result: Attempt | Excess): result is Attempt => "code" in result;

/** Returns the most steps that a block has for its hops alone, without waits. O(hops). */
function leastSteps(
  { source, reduces }: Parts,
  { fused }: Wires,
  { rank, sender, receiver }: Blocks,
  { ops }: MscclRuntime,
): number {
  const steps = new Int32Array(rank.length);
  const separate = ops.has("rrcs") ? 0 : 1;
  for (let hop = 0; hop < source.length; hop++) {
    steps[sender[hop]]++;
    steps[receiver[hop]] += 1 + reduces[hop] * separate;
    if (fused[hop] >= 0 && separate === 0) steps[receiver[hop]]--;
  }
  return greatest(steps);
}
