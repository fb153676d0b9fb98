import { InputError, inWords } from "../../base/errors.ts";
import { optionName } from "../../base/option-names.ts";
import type { Collective } from "../../model/collective/collective.ts";
import { isJoint } from "../../model/joint/joint-schedule.ts";
import type { Program } from "../../model/program/program.ts";
import { MSCCLPP_RUNTIME } from "../../model/program/runtimes.ts";
import type { Topology } from "../../model/topology/topology.ts";
import { isTreeFlow, type TreeFlow } from "../../model/trees/tree-flow.ts";
import { anyMovesOf, type LoweredSchedule } from "../any-moves.ts";
import { cutBlocks, tableOf } from "../custom.ts";
import type { Moves } from "../moves.ts";
import type { RunCut } from "../runs.ts";
import { layoutFor, partOfChunk } from "./custom-layout.ts";
import { type Deal, givenOf, type KnownPlan, KnownPlans, once, unknownPlan } from "./known-plans.ts";
import { bufferOf, dealt, type Levels, type Problem, place, unitsOf } from "./layout.ts";
import { type LeastOperations, leastOperationsOf } from "./least-operations.ts";
import type { PlanOp } from "./operations.ts";
import { packetOpsOf } from "./packets.ts";
import { planHeader, planProgram, type SliceOps } from "./plan-program.ts";
import { type SlicedOps, sliceOpsOf } from "./slices.ts";
import { BLOCKS_OVER_BOXES, switchPlan, switchWork } from "./switch-plan.ts";

/** Far more than an executor has room for; what is within is refused with what helps. */
const MOST_INSTANCES = 1024;
const MOST_PARTS = 64;

export interface PlanOptions {
  /** Whether input and output are the same memory. */
  readonly placement: "in" | "out";
  /** "LL": all data travels as packets, which carry their flags; default "Simple". LL128 is none of MSCCL++. */
  readonly protocol?: Program["protocol"];
  readonly name?: string;
  /** Equal parts of every chunk, each with thread blocks of its own; by default so many that there are about 8 blocks. */
  readonly instances?: number;
  /** Whether trees over a switch that duplicates (and sums) become multicasts of that switch (NVLS); default true. */
  readonly throughSwitch?: boolean;
  /** Whether ranks of one box read contributions from each other's memory rather than write them; default: yes, where that fits. */
  readonly reads?: boolean;
  /** Equal parts of every chunk, each a step behind the one before in the same thread blocks: pipelines along ways; default 1. */
  readonly parts?: number;
  /** Slices at least, where there is so much that needs not wait for each other; default: as few as limits allow. */
  readonly slices?: number;
}

/** Of custom collectives: enough for links to be in use on all hops of a way. */
const RUNS: RunCut = { pieces: 4, mostChunks: Number.POSITIVE_INFINITY };
/** Thread blocks of a GPU that fill its links: as many as MSCCL++'s own plans for 8 GPUs have. */
const USUAL_BLOCKS = 8;

/**
 * Returns an MSCCL++ plan that does what a schedule does. Chunks that do not wait for each other are dealt to slices, as few as
 * the executor's limits allow; each slice runs in one thread block of every rank that has a part in it, over channels of its
 * own, so that blocks of a rank never wait for each other. Trees of one box over a switch that can do their work are left to it.
 *
 * Throws InputError for trees of several groups, trees whose switches duplicate and sum where no multicast of one switch
 * does their work (several boxes, reduce-scatter), and where a limit of the executor cannot be kept: with the limit,
 * its value, the need, and what may help. What is `known` of plans on the same network is not made again. O(chunks of all moves)
 * for each number of slices that is tried.
 */
export function lowerToPlan(schedule: LoweredSchedule, options: PlanOptions, known = new KnownPlans()): Program {
  checkOptions(options);
  if (isJoint(schedule) || !isTreeFlow(schedule)) return planOfMoves(schedule, options, known);
  const { topology, collective } = schedule;
  const { placement, instances, name = collective.kind, throughSwitch = true } = options;
  const work = throughSwitch ? switchWork(schedule, boxesOf(topology, collective.groupMembers)) : null;
  if (work === null) return planOfMoves(schedule, options, known);
  if (options.protocol === "LL")
    throw new InputError(optionName("protocol"), "Simple for what a switch sums or stores to all", "LL");
  return switchPlan(collective, work, {
    name,
    inPlace: placement === "in",
    blocks: instances ?? (work.boxes.length === 1 ? USUAL_BLOCKS : BLOCKS_OVER_BOXES),
  });
}

function planOfMoves(schedule: LoweredSchedule, options: PlanOptions, known: KnownPlans): Program {
  const plans = known.of(schedule, () => {
    const moves = anyMovesOf(schedule, RUNS);
    return givenOf(moves, boxesOf(schedule.topology, moves.collective.groupMembers));
  });
  return once(plans.programs, JSON.stringify(options), () => planOfKnown(plans, options), known.kept);
}

/** Returns whether switches do the work of trees in an MSCCL++ plan. O(links of all edges of all images). */
export const goesThroughSwitch = (flow: TreeFlow): boolean =>
  switchWork(flow, boxesOf(flow.topology, flow.collective.groupMembers)) !== null;

function checkOptions({ instances, protocol, parts }: PlanOptions): void {
  if (parts !== undefined && !(Number.isSafeInteger(parts) && parts >= 1 && parts <= MOST_PARTS))
    throw new InputError(optionName("parts"), `an integer in 1 .. ${MOST_PARTS}`, parts).as("out-of-range");
  if (instances !== undefined && !(Number.isSafeInteger(instances) && instances >= 1 && instances <= MOST_INSTANCES)) {
    throw new InputError(optionName("instances"), `an integer in 1 .. ${MOST_INSTANCES}`, instances).as("out-of-range");
  }
  if (protocol === "LL128")
    throw new InputError(
      optionName("protocol"),
      "Simple or LL for an MSCCL++ plan, which has no other packets,",
      protocol,
    );
}

/** Collectives in which every rank ends after all others have begun. */
const MUTUAL: ReadonlySet<string> = new Set(["allreduce", "allgather", "reducescatter", "alltoall"]);

/** Returns whether plans of a collective can be in packets (LL). */
export const takesPackets = (kind: Collective["kind"]): boolean => MUTUAL.has(kind);

/**
 * Throws InputError where a rank could be two calls ahead of another: packets have two halves of scratch, one for every second
 * call, and nothing but the data tells a writer that the last but one was read.
 */
function checkPackets({ collective: { kind } }: Moves): void {
  if (takesPackets(kind)) return;
  const mutual = [...MUTUAL].join(", ");
  throw new InputError(
    optionName("protocol"),
    `Simple for a collective in which ranks do not wait for all others (LL is for ${mutual}: its scratch has room for two calls)`,
    inWords(`LL for ${kind}`),
  );
}

function boxesOf({ nodeTraits }: Topology, members: Int32Array): (rank: number) => unknown {
  return (rank) => nodeTraits[members[rank]].group ?? null;
}

/** Returns the plan of moves between ranks; as `lowerToPlan`. Ranks of one box reach each other's memory; by default all do. */
export function planOf(moves: Moves, options: PlanOptions, boxOf: (rank: number) => unknown = () => null): Program {
  checkOptions(options);
  return planOfKnown(unknownPlan(givenOf(moves, boxOf)), options);
}

function planOfKnown({ given, deals }: KnownPlan, options: PlanOptions): Program {
  const { moves } = given;
  const {
    placement,
    name = moves.collective.kind,
    protocol = "Simple",
    reads,
    parts = 1,
    slices: fewest = 1,
  } = options;
  const inPlace = placement === "in";
  const packets = protocol === "LL";
  if (packets) checkPackets(moves);
  const base = { ...given, layout: layoutFor(moves, inPlace) };
  const problemsInParts = new Map<Problem, Problem>();
  const inParts = (problem: Problem): Problem => {
    const known = problemsInParts.get(problem) ?? cutProblem(problem, { many: parts, inPlace, levelsEach: 1 });
    problemsInParts.set(problem, known);
    return known;
  };
  const making: Making = {
    opsOf(problem, sliceOfMove, slices, tooMuch) {
      const sliceOfPart = cutSlices(sliceOfMove, parts, 0);
      return (packets ? packetOpsOf : sliceOpsOf)(inParts(problem), sliceOfPart, slices, tooMuch);
    },
    // parts of chunks take no fewer operations than chunks
    leastOf: packets ? () => null : leastOperationsOf,
  };
  // what is only read is a contribution
  const asked = reads === undefined ? WAYS : WAYS.filter((way) => way.reads === reads);
  const ways = packets
    ? PACKET_WAYS
    : moves.reduces.includes(1)
      ? asked
      : WAYS.filter((way) => way.reads || way.spread);
  const { problem, sliceOfMove, slices, made } = once(
    deals,
    JSON.stringify({ placement, protocol, reads, parts, fewest }),
    () => fewestSlices(base, ways, making, fewest),
    ({ made: _, ...deal }) => deal,
  );
  const wanted = options.instances ?? Math.max(1, Math.floor(USUAL_BLOCKS / slices));
  for (let instances = wanted; ; instances = Math.floor(instances / 2)) {
    const whole = cutProblem(problem, { many: instances, inPlace, levelsEach: 0 });
    const sliceOfInstance = cutSlices(sliceOfMove, instances, slices);
    const { ops, scratchChunks } =
      (instances === 1 ? made : undefined) ?? (making.opsOf(whole, sliceOfInstance, slices * instances) as SlicedOps);
    const excess = excessOf(ops, moves.rankCount);
    if (excess !== null && options.instances === undefined && instances > 1) continue;
    if (excess !== null) throw excessError(excess);
    const { moves: small, layout } = inParts(whole);
    const header = planHeader(small, layout, { inPlace, name, protocol }, scratchChunks);
    return planProgram(ops, small.blocks === undefined ? header : { ...header, table: tableOf(small, small.blocks) });
  }
}

interface Way extends Pick<Problem, "reads" | "spread"> {
  /** What moves one chunk stays together. */
  readonly coarse: boolean;
}

/** In the order in which they are tried: few units and reading of peers' memory make the faster plans, barriers slower ones. */
const WAYS = [
  { coarse: true, reads: true, spread: false },
  { coarse: true, reads: false, spread: false },
  { coarse: false, reads: true, spread: false },
  { coarse: false, reads: false, spread: false },
  { coarse: true, reads: false, spread: true },
] as const;

/** Packets are never read elsewhere, and blocks that share peers need no barriers for them. */
const PACKET_WAYS = [WAYS[0], WAYS[2]] as const;

const ratio = ({ need, limit }: Excess): number => need / limit;

/** Of so many moves no plan is made that is known not to fit, and the most slices are made only where no fewer do. */
const MANY_MOVES = 2e5;
const OPERATIONS = { what: "operations in a thread block", limit: MSCCLPP_RUNTIME.opsPerBlock } as const;

type Bound = ReturnType<LeastOperations>;
const NO_BOUND: Bound = { need: 0, rank: 0 };

/** Operations with which blocks greet each other and tell that they have read, which nobody counts beforehand. */
const USUAL_GREETINGS = 8;

/** What needs more times what there is than this is not looked at any closer. */
const FAR_TOO_MUCH = 2;

/**
 * Returns a deal of the moves to few slices that keep the limits: the fewest that do among those tried, in the first way in
 * which the most slices do. Throws InputError where there is none.
 */
function fewestSlices(
  base: Omit<Problem, "reads" | "spread">,
  ways: readonly Way[],
  making: Making,
  least: number,
): Deal {
  const found = dealIn(ways, base, making, least, isFarTooMuch, [], false);
  if (found !== null) return found;
  const excesses: Excess[] = [];
  const late = dealIn(ways, base, making, least, () => false, excesses, true);
  if (late !== null) return late;
  throw excessError(excesses.reduce((nearest, other) => (ratio(other) < ratio(nearest) ? other : nearest)));

  function isFarTooMuch(first: SliceOps): boolean {
    const excess = excessOf([first], base.moves.rankCount);
    return excess !== null && ratio(excess) > FAR_TOO_MUCH;
  }
}

interface Making {
  /** Makes operations of slices; null where those of the first are too many. */
  readonly opsOf: typeof sliceOpsOf;
  readonly leastOf: (problem: Problem) => LeastOperations | null;
}

/** Returns the deal, or null where there is none; by what those exceed limits that are looked at to the end goes into `excesses`. */
function dealIn(
  ways: readonly Way[],
  base: Omit<Problem, "reads" | "spread">,
  { opsOf, leastOf }: Making,
  fewest: number,
  isFarTooMuch: (first: SliceOps) => boolean,
  excesses: Excess[],
  explains: boolean,
): Deal | null {
  for (const { coarse, ...way } of ways) {
    const problem = { ...base, ...way };
    const units = unitsOf(problem.moves, problem.layout, coarse);
    const isLarge = problem.moves.source.length > MANY_MOVES;
    const leastOperations = isLarge || !explains ? leastOf(problem) : null;
    /** Of deals that were made, operations more than were known beforehand. */
    const unknown: number[] = [];
    /** Returns an excess that is there, or in large plans most likely is, whatever is made of a deal; null: none is known. */
    const certainExcess = ({ need, rank }: Bound): Excess | null => {
      const least = unknown.reduce((few, many) => Math.min(few, many), Number.POSITIVE_INFINITY);
      const more = unknown.length === 0 ? USUAL_GREETINGS : Math.max(USUAL_GREETINGS, least);
      const excess = { ...OPERATIONS, need: isLarge && !explains ? need + more : need, rank };
      return ratio(excess) > (isLarge ? 1 : FAR_TOO_MUCH) ? excess : null;
    };
    /** Returns a deal that keeps the limits, or else how many times too much the better one needs (Infinity: far too much). */
    const fitting = (slices: number): Deal | number => {
      let least = Number.POSITIVE_INFINITY;
      // one slice, or one for each unit, can be dealt in one way only
      for (const inTurns of slices === 1 || slices === units.count ? [true] : [true, false]) {
        const sliceOfMove = dealt(units, slices, inTurns);
        const bound = leastOperations?.(sliceOfMove, slices) ?? NO_BOUND;
        const certain = certainExcess(bound);
        if (certain !== null) {
          excesses.push(certain);
          least = Math.min(least, ratio(certain));
          continue;
        }
        const made = opsOf(problem, sliceOfMove, slices, isFarTooMuch);
        if (made === null) continue;
        const excess = excessOf(made.ops, problem.moves.rankCount);
        if (excess === null) return { problem, sliceOfMove, slices, made };
        excesses.push(excess);
        if (excess.what === OPERATIONS.what) unknown.push(excess.need - bound.need);
        least = Math.min(least, ratio(excess));
      }
      return least;
    };
    const most = Math.min(Math.max(1, units.count), MSCCLPP_RUNTIME.blocksPerGpu);
    const last = isLarge ? null : fitting(most);
    if (typeof last === "number") continue;
    for (let slices = fewest; slices < most; ) {
      const deal = fitting(slices);
      if (typeof deal !== "number") return deal;
      slices += deal > FAR_TOO_MUCH ? slices : Math.max(1, Math.floor(slices / 4));
    }
    const whole = last ?? fitting(most);
    if (typeof whole !== "number") return whole;
  }
  return null;
}

interface Cutting {
  readonly many: number;
  readonly inPlace: boolean;
  /** How many levels a part is behind the one before. */
  readonly levelsEach: number;
}

/** Returns a column part after part. */
function repeated(column: ArrayLike<number>, parts: number, of: (value: number, part: number) => number): Int32Array {
  const whole = new Int32Array(column.length * parts);
  for (let part = 0, at = 0; part < parts; part++)
    for (let k = 0; k < column.length; k++) whole[at++] = of(column[k], part);
  return whole;
}

/** Returns the slices of the moves of parts of chunks, those of a part so many behind those of the one before. */
const cutSlices = (sliceOfMove: Int32Array, parts: number, slicesEach: number): Int32Array =>
  parts === 1 ? sliceOfMove : repeated(sliceOfMove, parts, (slice, part) => part * slicesEach + slice);

/**
 * Returns a problem in which every chunk is cut into equal parts that move alike. In every block of chunks the first parts of all
 * come first, then the second. O(parts * moves).
 */
function cutProblem(problem: Problem, { many, inPlace, levelsEach }: Cutting): Problem {
  if (many === 1) return problem;
  const { moves, levels } = problem;
  const { chunksPerBlock, chunkCount, blocks } = moves;
  const repeat = (column: ArrayLike<number>, of: (value: number, part: number) => number): Int32Array =>
    repeated(column, many, of);
  const same = (value: number): number => value;
  const partOf = (c: number, part: number): number => partOfChunk(moves, c, part, many);
  const inTurns = (at: number, part: number): number => at * many + part;
  const whole: Moves = {
    ...moves,
    chunksPerBlock: chunksPerBlock * many,
    ...(blocks === undefined ? {} : { blocks: cutBlocks(blocks, many) }),
    chunkCount: chunkCount * many,
    source: repeat(moves.source, same),
    target: repeat(moves.target, same),
    chunk: repeat(moves.chunk, partOf),
    chunks: repeat(moves.chunks, same),
    reduces: Uint8Array.from(repeat(moves.reduces, same)),
    lane: repeat(moves.lane, same),
    departsAt: repeat(moves.departsAt, inTurns),
    arrivesAt: repeat(moves.arrivesAt, inTurns),
  };
  const later = (level: number, part: number): number => level + part * levelsEach;
  const wholeLevels: Levels = { sent: repeat(levels.sent, later), received: repeat(levels.received, later) };
  return { ...problem, moves: whole, layout: layoutFor(whole, inPlace), levels: wholeLevels };
}

/** A limit of MSCCL++'s executor that a plan does not keep. */
interface Excess {
  readonly limit: number;
  readonly what: string;
  readonly need: number;
  readonly rank: number;
}

/** Returns by what a plan exceeds most, in proportion; null where it keeps all limits. O(operations). */
function excessOf(slices: readonly SliceOps[], rankCount: number): Excess | null {
  let worst: Excess | null = null;
  const check = (what: string, limit: number, need: number, rank: number): void => {
    if (need > limit && (worst === null || need / limit > worst.need / worst.limit))
      worst = { limit, what, need, rank };
  };
  const { opsPerBlock, channelsPerBlock, blocksPerGpu, barriersPerGpu } = MSCCLPP_RUNTIME;
  const blocks = new Int32Array(rankCount);
  const barriers = new Int32Array(rankCount);
  for (const slice of slices) {
    for (const [rank, own] of slice) {
      blocks[rank] += own.length;
      if (own.length > 1) barriers[rank]++;
      for (const ops of own) {
        check(OPERATIONS.what, opsPerBlock, ops.length, rank);
        for (const via of ["memory", "port"] as const) {
          const { peers, buffers } = reachOf(ops, via);
          check(`${via} channels in a thread block`, channelsPerBlock, peers, rank);
          check(`remote buffers by ${via} in a thread block`, channelsPerBlock, buffers, rank);
        }
      }
    }
  }
  for (const [rank, need] of barriers.entries()) check("barriers of a GPU", barriersPerGpu, need, rank);
  for (const [rank, need] of blocks.entries()) check("thread blocks of a GPU", blocksPerGpu, need, rank);
  return worst;
}

/** Returns how many peers operations have channels to, and how many buffers of peers they reach. O(operands). */
function reachOf(ops: readonly PlanOp[], via: "memory" | "port"): { readonly peers: number; readonly buffers: number } {
  const peers = new Set<number>();
  const buffers = new Set<number>();
  for (const op of ops) {
    for (const channel of op.channels) if (channel.via === via) peers.add(channel.peer);
    if (op.via !== via) continue;
    for (const { peer, to, remote } of op.parts) {
      if (peer !== null) buffers.add(place(bufferOf(to), peer));
      for (const read of remote) buffers.add(place(bufferOf(read.at), read.peer));
      if (peer !== null && via === "port") peers.add(peer);
    }
    for (const { sent } of op.packets ?? [])
      for (const { peer, at } of sent) {
        buffers.add(place(bufferOf(at), peer));
        if (via === "port") peers.add(peer);
      }
  }
  return { peers: peers.size, buffers: buffers.size };
}

/** Returns the error that says by what a plan exceeds a limit and what would help. */
function excessError({ limit, what, need, rank }: Excess): InputError {
  const help = `fewer instances or chunks, a smaller ${optionName("k")}, another algorithm or MSCCL XML may fit`;
  return new InputError(
    "an MSCCL++ plan of this schedule",
    `at most ${limit} ${what}`,
    inWords(`${need} at gpu ${rank}: ${help}`),
  ).as("out-of-range");
}
