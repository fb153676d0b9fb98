import { InputError } from "../../base/errors.ts";
import { optionName } from "../../base/option-names.ts";
import type { Collective } from "../../model/collective/collective.ts";
import { type Op, type Program, WAIT_EVENT } from "../../model/program/program.ts";
import { type Operand, type ProgramBuilder, programBuilder } from "../../model/program/program-builder.ts";
import { MSCCLPP_RUNTIME } from "../../model/program/runtimes.ts";
import type { Schedule } from "../../model/slots/slot-schedule.ts";
import { inLinks, isNpu, outLinks, type Topology } from "../../model/topology/topology.ts";
import { expandTrees } from "../../model/trees/tree-expansion.ts";
import { isTreeFlow, type TreeFlow } from "../../model/trees/tree-flow.ts";
import { trafficSaved } from "../../model/trees/tree-multicast.ts";
import { type Moves, movesOf } from "../moves.ts";
import {
  bufferOf,
  dealt,
  indexOf,
  type Levels,
  layoutOf,
  levelsOf,
  type Problem,
  place,
  type Shape,
  unitsOf,
} from "./layout.ts";
import type { PlanOp } from "./operations.ts";
import { packetOpsOf } from "./packets.ts";
import { planHeader, planProgram, type SliceOps } from "./plan-program.ts";
import { sliceOpsOf } from "./slices.ts";

/** Far more than an executor has room for; what is within is refused with what helps. */
const MOST_INSTANCES = 1024;

export interface PlanOptions {
  /** Whether input and output are the same memory. */
  readonly placement: "in" | "out";
  /** Returns the box of a rank: ranks of one box reach each other's memory. By default groups of the network's nodes. */
  readonly nodeOf?: (rank: number) => unknown;
  /** "LL": all data travels as packets, which carry their flags; default "Simple". LL128 is none of MSCCL++. */
  readonly protocol?: Program["protocol"];
  readonly name?: string;
  /** Equal parts of every chunk, each with thread blocks of its own; by default so many that there are about 8 blocks. */
  readonly instances?: number;
  /** Whether trees over a switch that duplicates (and sums) become multicasts of that switch (NVLS); default true. */
  readonly throughSwitch?: boolean;
}

/** Thread blocks of a GPU that fill its links: as many as MSCCL++'s own plans for 8 GPUs have. */
const USUAL_BLOCKS = 8;

/**
 * Returns an MSCCL++ plan that does what a schedule does. Chunks that do not wait for each other are dealt to slices, as few as
 * the executor's limits allow; each slice runs in one thread block of every rank that has a part in it, over channels of its
 * own, so that blocks of a rank never wait for each other. Trees of one box over a switch that can do their work are left to it.
 *
 * Throws InputError for custom collectives, several groups, trees whose switches duplicate and sum where no multicast of one switch
 * does their work (several boxes, reduce-scatter), and where a limit of the executor cannot be kept: with the limit,
 * its value, the need, and what may help. O(chunks of all moves) for each number of slices that is tried.
 */
export function lowerToPlan(schedule: Schedule | TreeFlow, options: PlanOptions): Program {
  const { topology, collective } = schedule;
  checkOptions(options);
  const { placement, instances, name = collective.kind, throughSwitch = true } = options;
  const nodeOf = options.nodeOf ?? boxesOf(topology, collective.groupMembers);
  const shares = throughSwitch && isTreeFlow(schedule) ? sharesThroughSwitch(schedule, nodeOf) : null;
  if (shares === null) return planOf(movesOf(schedule), { ...options, name, nodeOf });
  if (options.protocol === "LL")
    throw new InputError(optionName("protocol"), "Simple for what a switch sums or stores to all", "LL");
  return switchPlan(collective, shares, { name, inPlace: placement === "in", blocks: instances ?? USUAL_BLOCKS });
}

/** Returns the shares of trees that one switch's multicasts can stand for; null where there are none. */
function sharesThroughSwitch(flow: TreeFlow, nodeOf: (rank: number) => unknown): Int32Array | null {
  const oneBox = flow.collective.groupMembers.every((_, rank) => nodeOf(rank) === nodeOf(0));
  return oneBox ? switchShares(flow) : null;
}

/** Returns whether trees become multicasts of one switch in an MSCCL++ plan. O(links of all edges of all images). */
export const goesThroughSwitch = (flow: TreeFlow): boolean =>
  sharesThroughSwitch(flow, boxesOf(flow.topology, flow.collective.groupMembers)) !== null;

function checkOptions({ instances, protocol }: PlanOptions): void {
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

/**
 * Throws InputError where a rank could be two calls ahead of another: packets have two halves of scratch, one for every second
 * call, and nothing but the data tells a writer that the last but one was read.
 */
function checkPackets({ collective: { kind } }: Moves): void {
  if (MUTUAL.has(kind)) return;
  const mutual = [...MUTUAL].join(", ");
  throw new InputError(
    optionName("protocol"),
    `Simple for a collective in which ranks do not wait for all others (LL is for ${mutual}: its scratch has room for two calls)`,
    `LL for ${kind}`,
  );
}

function boxesOf({ nodeTraits }: Topology, members: Int32Array): (rank: number) => unknown {
  return (rank) => nodeTraits[members[rank]].group ?? null;
}

/** Returns the plan of moves between ranks; as `lowerToPlan`. All ranks are of one box where `nodeOf` is left out. */
export function planOf(moves: Moves, options: PlanOptions): Program {
  checkOptions(options);
  const { placement, nodeOf = () => null, name = moves.collective.kind, protocol = "Simple" } = options;
  const inPlace = placement === "in";
  const packets = protocol === "LL";
  if (packets) checkPackets(moves);
  const via: Problem["via"] = (rank, peer) => (nodeOf(rank) === nodeOf(peer) ? "memory" : "port");
  const base = { moves, layout: layoutOf(moves, inPlace), levels: levelsOf(moves), via };
  const opsOf = packets ? packetOpsOf : sliceOpsOf;
  const { problem, sliceOfMove, slices } = fewestSlices(base, packets ? PACKET_WAYS : WAYS, opsOf);
  const wanted = options.instances ?? Math.max(1, Math.floor(USUAL_BLOCKS / slices));
  for (let instances = wanted; ; instances = Math.floor(instances / 2)) {
    const whole = instancesOf(problem, sliceOfMove, slices, instances, inPlace);
    const { ops, scratchChunks } = opsOf(whole.problem, whole.sliceOfMove, slices * instances);
    const excess = excessOf(ops, moves.rankCount);
    if (excess !== null && options.instances === undefined && instances > 1) continue;
    if (excess !== null) throw excessError(excess);
    const header = planHeader(whole.problem.moves, whole.problem.layout, { inPlace, name, protocol }, scratchChunks);
    return planProgram(ops, packets ? { ...header, maxBytes: mostBytesOf(header) } : header);
  }
}

/** A deal of moves to slices. */
interface Deal {
  readonly problem: Problem;
  readonly sliceOfMove: Int32Array;
  readonly slices: number;
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

/** Scratch holds, for each of two calls, a place and its flags. */
const SCRATCH_PER_CHUNK = 4;

/** Returns the greatest size for which 32-bit offsets reach all packets; null: any. */
function mostBytesOf({ scratchChunks, loopChunks }: Pick<Program, "scratchChunks" | "loopChunks">): number | null {
  const { reachBytes, alignmentBytes } = MSCCLPP_RUNTIME;
  const most = scratchChunks.reduce((a, b) => Math.max(a, b), 0);
  if (SCRATCH_PER_CHUNK * most <= loopChunks) return null;
  const step = loopChunks * alignmentBytes;
  return Math.floor((reachBytes / (SCRATCH_PER_CHUNK * most)) * (loopChunks / step)) * step;
}

const ratio = ({ need, limit }: Excess): number => need / limit;

/**
 * Returns a deal of the moves to few slices that keep the limits: the fewest that do among those tried, in the first way in
 * which the most slices do. Throws InputError where there is none.
 */
function fewestSlices(base: Omit<Problem, "reads" | "spread">, ways: readonly Way[], opsOf: typeof sliceOpsOf): Deal {
  const excesses: Excess[] = [];
  for (const { coarse, ...way } of ways) {
    const problem = { ...base, ...way };
    const units = unitsOf(problem.moves, problem.layout, coarse);
    /** Returns a deal that keeps the limits, or else how many times too much the better one needs. */
    const fitting = (slices: number): Deal | number => {
      let least = Number.POSITIVE_INFINITY;
      for (const inTurns of [true, false]) {
        const sliceOfMove = dealt(units, slices, inTurns);
        const { ops } = opsOf(problem, sliceOfMove, slices);
        const excess = excessOf(ops, problem.moves.rankCount);
        if (excess === null) return { problem, sliceOfMove, slices };
        excesses.push(excess);
        least = Math.min(least, ratio(excess));
      }
      return least;
    };
    const most = Math.min(Math.max(1, units.count), MSCCLPP_RUNTIME.blocksPerGpu);
    const last = fitting(most);
    if (typeof last === "number") continue;
    for (let slices = 1; slices < most; ) {
      const deal = fitting(slices);
      if (typeof deal !== "number") return deal;
      slices += deal > 2 ? slices : Math.max(1, Math.floor(slices / 4));
    }
    return last;
  }
  throw excessError(excesses.reduce((least, other) => (ratio(other) < ratio(least) ? other : least)));
}

/**
 * Returns how many of the data's equal chunks each rank loads and stores through the switch, [ranks]: in proportion to the
 * copies of the trees that are rooted there. Null where a switch cannot do what the trees do: where it must duplicate
 * (all-gather, broadcast, all-reduce), sum (all-reduce), and be linked to every rank both ways, and where that saves nothing.
 * O(links of all edges of all images).
 */
function switchShares(flow: TreeFlow): Int32Array | null {
  const { topology, collective } = flow;
  const { kind, groupMembers } = collective;
  if (kind !== "allgather" && kind !== "broadcast" && kind !== "allreduce") return null;
  const able = hasCommonSwitch(topology, groupMembers, kind === "allreduce");
  if (!able || trafficSaved(flow) === null) return null;
  const [forest] = expandTrees(flow).forests;
  const rankOf = new Map(Array.from(groupMembers, (npu, rank) => [npu, rank]));
  const copies = new Int32Array(groupMembers.length);
  forest.root.forEach((npu, tree) => {
    copies[rankOf.get(npu) as number] += forest.copies[tree];
  });
  const divisor = copies.reduce(greatestDivisor, 0);
  return copies.map((many) => many / divisor);
}

const greatestDivisor = (a: number, b: number): number => (b === 0 ? a : greatestDivisor(b, a % b));

/** Returns whether some switch that duplicates (and sums) has links from and to all members. O(links). */
function hasCommonSwitch(topology: Topology, members: Int32Array, sums: boolean): boolean {
  const { nodeTraits, linkSource, linkTarget } = topology;
  const [from, to] = [outLinks(topology), inLinks(topology)];
  return nodeTraits.some(({ multicast, aggregation }, node) => {
    if (isNpu(topology, node) || multicast !== true || (sums && aggregation !== true)) return false;
    const sources = new Set(Array.from(to.links.subarray(to.offset[node], to.offset[node + 1]), (l) => linkSource[l]));
    const targets = new Set(
      Array.from(from.links.subarray(from.offset[node], from.offset[node + 1]), (l) => linkTarget[l]),
    );
    return members.every((npu) => sources.has(npu) && targets.has(npu));
  });
}

/**
 * Returns a problem in which every chunk is cut into equal parts that move alike, and the slices of its moves: those of part j
 * are j * slices onwards. In every block of chunks the first parts of all come first, then the second. O(instances * moves).
 */
function instancesOf(
  problem: Problem,
  sliceOfMove: Int32Array,
  slices: number,
  instances: number,
  inPlace: boolean,
): { problem: Problem; sliceOfMove: Int32Array } {
  if (instances === 1) return { problem, sliceOfMove };
  const { moves, levels } = problem;
  const { chunksPerBlock, chunkCount } = moves;
  const repeat = (column: ArrayLike<number>, of: (value: number, part: number) => number): Int32Array => {
    const whole = new Int32Array(column.length * instances);
    for (let k = 0; k < whole.length; k++) {
      whole[k] = of(column[k % column.length], Math.floor(k / column.length));
    }
    return whole;
  };
  const same = (value: number): number => value;
  const partOf = (c: number, part: number): number =>
    (Math.floor(c / chunksPerBlock) * instances + part) * chunksPerBlock + (c % chunksPerBlock);
  const inTurns = (at: number, part: number): number => at * instances + part;
  const whole: Moves = {
    ...moves,
    chunksPerBlock: chunksPerBlock * instances,
    chunkCount: chunkCount * instances,
    source: repeat(moves.source, same),
    target: repeat(moves.target, same),
    chunk: repeat(moves.chunk, partOf),
    chunks: repeat(moves.chunks, same),
    reduces: Uint8Array.from(repeat(moves.reduces, same)),
    lane: repeat(moves.lane, same),
    departsAt: repeat(moves.departsAt, inTurns),
    arrivesAt: repeat(moves.arrivesAt, inTurns),
  };
  const wholeLevels: Levels = { sent: repeat(levels.sent, same), received: repeat(levels.received, same) };
  return {
    problem: { ...problem, moves: whole, layout: layoutOf(whole, inPlace), levels: wholeLevels },
    sliceOfMove: repeat(sliceOfMove, (slice, part) => part * slices + slice),
  };
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
        check("operations in a thread block", opsPerBlock, ops.length, rank);
        for (const via of ["memory", "port"] as const) {
          check(`${via} channels in a thread block`, channelsPerBlock, peersOf(ops, via), rank);
          check(`remote buffers by ${via} in a thread block`, channelsPerBlock, remotesOf(ops, via), rank);
        }
      }
    }
  }
  for (const [rank, need] of barriers.entries()) check("barriers of a GPU", barriersPerGpu, need, rank);
  for (const [rank, need] of blocks.entries()) check("thread blocks of a GPU", blocksPerGpu, need, rank);
  return worst;
}

function peersOf(ops: readonly PlanOp[], via: "memory" | "port"): number {
  const peers = new Set<number>();
  for (const op of ops) {
    for (const channel of op.channels) if (channel.via === via) peers.add(channel.peer);
    if (op.via !== "port" || via !== "port") continue;
    for (const { peer } of op.parts) if (peer !== null) peers.add(peer);
    for (const { sent } of op.packets ?? []) for (const { peer } of sent) peers.add(peer);
  }
  return peers.size;
}

/** Returns the buffers of peers that operations reach: a number for each peer and buffer. O(operands). */
function remotesOf(ops: readonly PlanOp[], via: "memory" | "port"): number {
  const buffers = new Set<number>();
  for (const op of ops) {
    if (op.via !== via) continue;
    for (const { peer, to, remote } of op.parts) {
      if (peer !== null) buffers.add(place(bufferOf(to), peer));
      for (const read of remote) buffers.add(place(bufferOf(read.at), read.peer));
    }
    for (const { sent } of op.packets ?? []) for (const { peer, at } of sent) buffers.add(place(bufferOf(at), peer));
  }
  return buffers.size;
}

/** Returns the error that says by what a plan exceeds a limit and what would help. */
function excessError({ limit, what, need, rank }: Excess): InputError {
  const help = `fewer instances or chunks, a smaller ${optionName("k")}, another algorithm or MSCCL XML may fit`;
  return new InputError(
    "an MSCCL++ plan of this schedule",
    `at most ${limit} ${what}`,
    `${need} at gpu ${rank}: ${help}`,
  ).as("out-of-range");
}

interface SwitchPlanOptions {
  readonly name: string;
  readonly inPlace: boolean;
  /** Thread blocks of each rank, which share its work equally. */
  readonly blocks: number;
}

/**
 * Returns the plan in which every rank stores its share to all ranks at once through a switch (gstore), or, of an all-reduce,
 * lets the switch sum its share over all ranks and store the sum to all (glres). A thread block meets those of the other ranks
 * with its number, does its part, and meets them again. O(ranks * blocks * (ranks, or its logarithm where there are many)).
 */
function switchPlan(collective: Collective, shares: Int32Array, options: SwitchPlanOptions): Program {
  const { name, inPlace, blocks } = options;
  const rankCount = shares.length;
  const all = shares.reduce((sum, share) => sum + share, 0);
  const gathers = collective.kind === "allgather";
  const shape: Shape = {
    ...{ collective, rankCount, rootRank: collective.rootRank, chunkCount: all * blocks },
    chunksPerBlock: gathers ? shares[0] * blocks : all * blocks,
  };
  const layout = layoutOf(shape, inPlace);
  const builder = programBuilder();
  const meet = meetingsOf(builder, rankCount);
  let before = 0;
  for (let rank = 0; rank < rankCount; rank++) {
    builder.addRank();
    for (let block = 0; block < blocks; block++) {
      builder.addBlock({ id: block });
      const first = gathers ? (rank * blocks + block) * shares[rank] : block * all + before;
      meet(rank, block, "rlxsignal", "rlxwait");
      if (shares[rank] > 0) {
        const places = Array.from(shares, (_, r): [number, number] => [layout.start(r, first), layout.end(r, first)]);
        const operand = (at: number, r: number): Operand => ({ rank: r, buffer: bufferOf(at), index: indexOf(at) });
        const sums = collective.reduces;
        builder.add({
          ...{ op: sums ? "glres" : "gstore", via: "switch", chunks: shares[rank] },
          sources: sums ? places.map(([start], r) => operand(start, r)) : [operand(places[rank][0], rank)],
          destinations: places.map(([, end], r) => operand(end, r)),
        });
        builder.add({ op: "nop" });
      }
      meet(rank, block, "signal", "wait");
    }
    before += shares[rank];
  }
  return builder.build({ ...planHeader(shape, layout, { inPlace, name }), channelCount: blocks });
}

type Meeting = (rank: number, block: number, signal: Op, wait: Op) => void;

/**
 * Returns what makes a block meet those of all ranks with its number. Where a block has channels to all of them, they signal
 * each other; else, in round k, each signals the rank 2^k after it, so that the last has heard, by others, of all (Hensgen,
 * Finkel and Manber 1988: dissemination).
 */
function meetingsOf(builder: ProgramBuilder, ranks: number): Meeting {
  const { channelsPerBlock, channelsPerOp } = MSCCLPP_RUNTIME;
  const events = new Map<string, number>();
  const event = (rank: number, peer: number, id: number): number => {
    const key = `${rank} ${peer} ${id}`;
    const known = events.get(key) ?? builder.addEvent({ rank, peer, id, via: "memory" });
    events.set(key, known);
    return known;
  };
  const distances = (from: number, to: number): number[] => Array.from({ length: to - from }, (_, k) => from + k);
  const together: number[][] = [];
  if (ranks - 1 <= channelsPerBlock) {
    for (let d = 1; d < ranks; d += channelsPerOp) together.push(distances(d, Math.min(ranks, d + channelsPerOp)));
  }
  const rounds: number[][][] = together.length > 0 ? [together] : [];
  if (rounds.length === 0) for (let d = 1; d < ranks; d *= 2) rounds.push([[d]]);
  return (rank, block, signal, wait) => {
    for (const pieces of rounds) {
      const via = "memory";
      for (const piece of pieces) {
        builder.add({ op: signal, via, posts: piece.map((d) => event((rank + d) % ranks, rank, block)) });
      }
      for (const piece of pieces) {
        const waits = piece.map((d) => ({ kind: WAIT_EVENT, on: event(rank, (rank + ranks - d) % ranks, block) }));
        builder.add({ op: wait, via, waits });
      }
      builder.add({ op: "nop" });
    }
  };
}
