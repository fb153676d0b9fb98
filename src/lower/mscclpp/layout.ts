import { InputError } from "../../base/errors.ts";
import type { NamedCollective } from "../../model/collective/collective.ts";
import { disjointSets } from "../../model/graph/graph.ts";
import { INPUT, OUTPUT } from "../../model/program/program.ts";
import { MSCCLPP_RUNTIME } from "../../model/program/runtimes.ts";
import type { Moves } from "../moves.ts";
import type { PeerVia } from "./operations.ts";

/** A place of a chunk in a rank's memory, as one number; NOWHERE: none. */
export const NOWHERE = -1;
export const place = (buffer: number, index: number): number => index * 4 + buffer;
export const bufferOf = (at: number): number => at & 3;
export const indexOf = (at: number): number => at >> 2;

/** A collective and how its data is cut. */
export type Shape = Pick<Moves, "collective" | "rankCount" | "rootRank" | "chunksPerBlock" | "chunkCount">;

/** Where the chunks of a collective lie before and after a plan. */
export interface Layout {
  readonly inputChunks: number;
  readonly outputChunks: number;
  /** [ranks] chunks of both, where ranks have different numbers. */
  readonly chunksOf?: { readonly input: Int32Array; readonly output: Int32Array };
  /** Place of the rank's own version of a chunk at the start; NOWHERE: it has none. */
  readonly start: (rank: number, chunk: number) => number;
  /** Place where the rank must have it at the end; NOWHERE: it need not. */
  readonly end: (rank: number, chunk: number) => number;
  /** Where chunks must be at the end none of another kind lies at the start. */
  readonly free: boolean;
  /** Another chunk that the rank must have at the end where this one lies at the start; NOWHERE: there is none. */
  readonly successor: (rank: number, chunk: number) => number;
}

/**
 * Returns the layout of a collective. In place, what is both input and output is found in the input of all-reduce, broadcast,
 * reduce, reduce-scatter, scatter and all-to-all, and in the output of all-gather and gather; both buffers have their full
 * number of chunks, as MSCCL++ divides by either. Throws InputError for custom collectives.
 */
export function layoutOf(shape: Shape, inPlace: boolean): Layout {
  const { collective, rankCount, rootRank, chunksPerBlock, chunkCount } = shape;
  const { kind } = collective;
  const known = Object.keys(MSCCLPP_RUNTIME.collectives);
  if (kind === "custom")
    throw new InputError("the collective of an MSCCL++ plan", `one of ${known.join(", ")}`, kind).as("unknown-name");
  const k = chunksPerBlock;
  const all = rankCount * k;
  const blockOf = (chunk: number): number => Math.floor(chunk / k);
  const whole = { inputChunks: chunkCount, outputChunks: chunkCount };
  const gathered = { inputChunks: k, outputChunks: all };
  const scattered = { inputChunks: all, outputChunks: k };

  const input = (_: number, chunk: number): number => place(INPUT, chunk);
  const result = (_: number, chunk: number): number => place(inPlace ? INPUT : OUTPUT, chunk);
  const output = (_: number, chunk: number): number => place(OUTPUT, chunk);
  const ofRoot = (where: typeof input) => (rank: number, chunk: number) =>
    rank === rootRank ? where(rank, chunk) : NOWHERE;
  const share = (rank: number, chunk: number): number => {
    if (blockOf(chunk) !== rank) return NOWHERE;
    return inPlace && (kind === "reducescatter" || rank === rootRank) ? place(INPUT, chunk) : place(OUTPUT, chunk % k);
  };
  const owned = (rank: number, chunk: number): number => {
    if (blockOf(chunk) !== rank) return NOWHERE;
    return inPlace && (kind === "allgather" || rank === rootRank) ? place(OUTPUT, chunk) : place(INPUT, chunk % k);
  };
  const fromRank = (rank: number, chunk: number): number => {
    const block = blockOf(chunk);
    if (Math.floor(block / rankCount) !== rank) return NOWHERE;
    return place(INPUT, (block % rankCount) * k + (chunk % k));
  };
  const toRank = (rank: number, chunk: number): number => {
    const block = blockOf(chunk);
    if (block % rankCount !== rank) return NOWHERE;
    return place(inPlace ? INPUT : OUTPUT, Math.floor(block / rankCount) * k + (chunk % k));
  };

  const noSuccessor = (): number => NOWHERE;
  const answer = (rank: number, chunk: number): number => {
    const block = blockOf(chunk);
    const [from, to] = [Math.floor(block / rankCount), block % rankCount];
    return from === rank && to !== rank ? (to * rankCount + rank) * k + (chunk % k) : NOWHERE;
  };

  const layouts: Record<NamedCollective, Omit<Layout, "free" | "successor">> = {
    allreduce: { ...whole, start: input, end: result },
    broadcast: { ...whole, start: ofRoot(input), end: result },
    reduce: { ...whole, start: input, end: ofRoot(result) },
    allgather: { ...gathered, start: owned, end: output },
    gather: { ...gathered, start: owned, end: ofRoot(output) },
    reducescatter: { ...scattered, start: input, end: share },
    scatter: { ...scattered, start: ofRoot(input), end: share },
    alltoall: { inputChunks: all, outputChunks: all, start: fromRank, end: toRank },
  };
  const swaps = kind === "alltoall" && inPlace;
  return { ...layouts[kind], free: !swaps, successor: swaps ? answer : noSuccessor };
}

/**
 * When moves are sent and received: at each level a rank sends what it sends then, and afterwards receives what it receives
 * then. A move is received at the level at which it is sent or at a later one, so doing everything level by level, all sends
 * of a level before its receptions, is an order in which nobody waits for what comes later: plans that keep it cannot deadlock.
 */
export interface Levels {
  /** [moves] */
  readonly sent: Int32Array;
  readonly received: Int32Array;
}

const MOST_PASSES = 8;

/** Returns the moves, departures and arrivals in their order: event 2 m is the departure of move m, 2 m + 1 its arrival. */
function eventsInOrder({ departsAt, arrivesAt }: Moves): Int32Array {
  const order = new Int32Array(2 * departsAt.length);
  departsAt.forEach((at, move) => {
    order[at] = 2 * move;
  });
  arrivesAt.forEach((at, move) => {
    order[at] = 2 * move + 1;
  });
  return order;
}

/**
 * Returns the lowest levels that keep the order of the moves at each rank and chunk: what arrives before a departure is
 * received at a lower level, what arrives after it not at a lower one. Where no such levels are found (sums that are exchanged
 * again and again before they are complete), each event has a level of its own. O(chunks of all moves).
 */
export function levelsOf(moves: Moves): Levels {
  const { source, target, chunk, chunks, rankCount, chunkCount } = moves;
  const order = eventsInOrder(moves);
  const level = new Int32Array(source.length);
  const arrived = new Int32Array(rankCount * chunkCount);
  const departed = new Int32Array(rankCount * chunkCount);
  for (let pass = 0; pass < MOST_PASSES; pass++) {
    let raised = false; // a level that an earlier event of this pass or the last one may have relied on
    arrived.fill(0);
    departed.fill(0);
    for (const event of order) {
      const move = event >> 1;
      const departs = (event & 1) === 0;
      const first = (departs ? source : target)[move] * chunkCount + chunk[move];
      const end = first + chunks[move];
      let least = level[move];
      for (let at = first; at < end; at++) least = Math.max(least, departs ? arrived[at] + 1 : departed[at]);
      if (least > level[move] && (pass > 0 || !departs)) raised = true;
      level[move] = least;
      const last = departs ? departed : arrived;
      for (let at = first; at < end; at++) if (last[at] < least) last[at] = least;
    }
    if (!raised) return { sent: level, received: level };
  }
  return { sent: moves.departsAt, received: moves.arrivesAt };
}

/** Sets of moves of which each can run in thread blocks of its own: no move waits for one of another set. */
export interface Units {
  /** Number of sets. */
  readonly count: number;
  /** [moves] set; numbered in the order of their first chunks. */
  readonly of: Int32Array;
}

/**
 * Returns the units of the moves, as few as chunks allow (`coarse`: what moves one chunk stays together) or as many as
 * dependencies allow: what a rank has from the start can be sent to each peer on its own. O(chunks of all moves).
 */
export function unitsOf(moves: Moves, layout: Layout, coarse: boolean): Units {
  const { source, target, chunk, chunks, rankCount, chunkCount } = moves;
  const sets = disjointSets(source.length);
  const arrival = new Int32Array(rankCount * chunkCount).fill(NOWHERE);
  const ofChunk = new Int32Array(chunkCount).fill(NOWHERE);
  const together = (first: Int32Array, at: number, move: number): void => {
    if (first[at] === NOWHERE) first[at] = move;
    else sets.join(first[at], move);
  };
  const follows = (at: number, move: number): void => {
    if (arrival[at] !== NOWHERE) sets.join(arrival[at], move);
  };
  const eachChunk = (use: (move: number, c: number) => void): void => {
    for (let move = 0; move < source.length; move++) {
      for (let c = chunk[move]; c < chunk[move] + chunks[move]; c++) use(move, c);
    }
  };
  eachChunk((move, c) => {
    together(arrival, target[move] * chunkCount + c, move);
    if (coarse) together(ofChunk, c, move);
  });
  eachChunk((move, c) => {
    const rank = source[move];
    follows(rank * chunkCount + c, move);
    const successor = layout.successor(rank, c);
    if (successor !== NOWHERE) follows(rank * chunkCount + successor, move);
  });
  return numbered(moves, sets.least);
}

function numbered({ chunk }: Moves, least: (move: number) => number): Units {
  const firstChunk = new Map<number, number>();
  chunk.forEach((c, move) => {
    const set = least(move);
    firstChunk.set(set, Math.min(c, firstChunk.get(set) ?? c));
  });
  const inOrder = [...firstChunk].sort(([a, c], [b, d]) => c - d || a - b);
  const number = new Map(inOrder.map(([set], index) => [set, index]));
  return { count: inOrder.length, of: chunk.map((_, move) => number.get(least(move)) as number) };
}

/** Returns the slice of each move where units are dealt to this many: in turns, or in runs of units that follow each other. */
export function dealt({ count, of }: Units, slices: number, inTurns: boolean): Int32Array {
  return inTurns ? of.map((unit) => unit % slices) : of.map((unit) => Math.floor((unit * slices) / count));
}

/**
 * Returns the turns of peers: by how far they are from a rank's place in its box, and then by how far their box is. Ranks that all
 * began with the same peer would wait for its link. O(ranks).
 */
export function turnsOf(rankCount: number, boxOf: (rank: number) => unknown): Problem["turn"] {
  const sizes = new Map<unknown, number>();
  const place = new Int32Array(rankCount);
  const box = new Int32Array(rankCount);
  const numbers = new Map<unknown, number>();
  for (let rank = 0; rank < rankCount; rank++) {
    const own = boxOf(rank);
    place[rank] = sizes.get(own) ?? 0;
    sizes.set(own, place[rank] + 1);
    box[rank] = numbers.get(own) ?? numbers.size;
    numbers.set(own, box[rank]);
  }
  const most = Math.max(1, ...sizes.values());
  const far = (from: number, to: number, count: number): number => (to - from + count) % count;
  return (rank, peer) => far(place[rank], place[peer], most) * numbers.size + far(box[rank], box[peer], numbers.size);
}

/** What is to be made a plan, and how. */
export interface Problem {
  readonly moves: Moves;
  readonly layout: Layout;
  readonly levels: Levels;
  readonly via: (rank: number, peer: number) => PeerVia;
  /** Returns which turn a peer has among those that a rank sends to: no two ranks of a box send to one peer in the same turn. */
  readonly turn: (rank: number, peer: number) => number;
  /** Ranks read contributions from memory in their reach; else all are written into scratch. */
  readonly reads: boolean;
  /** Ranks with too many peers for one thread block are spread over several. */
  readonly spread: boolean;
}

/** What the slices of a plan share while they are made one after the other. */
export interface PlanState extends Problem {
  /** [ranks x chunks] place of the rank's version of the chunk. */
  readonly at: Int32Array;
  /** [ranks x chunks] 1: the rank has, or is being sent, what others hold of it. */
  readonly given: Uint8Array;
  /** [ranks x chunks] when the last contribution and the last copy arrive; -1: never. */
  readonly lastSum: Int32Array;
  readonly lastCopy: Int32Array;
  /** [ranks] */
  readonly scratchChunks: Int32Array;
}

/** Returns the state before the first slice. O(ranks * chunks + chunks of all moves). */
export function planState(problem: Problem): PlanState {
  const { moves, layout } = problem;
  const { rankCount, chunkCount, target, chunk, chunks, reduces, arrivesAt, collective } = moves;
  const at = new Int32Array(rankCount * chunkCount);
  for (let k = 0; k < at.length; k++) at[k] = layout.start(Math.floor(k / chunkCount), k % chunkCount);
  const lastSum = new Int32Array(at.length).fill(-1);
  const lastCopy = new Int32Array(at.length).fill(-1);
  for (let move = 0; move < target.length; move++) {
    const last = reduces[move] === 1 ? lastSum : lastCopy;
    const first = target[move] * chunkCount + chunk[move];
    for (let k = first; k < first + chunks[move]; k++) last[k] = Math.max(last[k], arrivesAt[move]);
  }
  const given = new Uint8Array(at.length);
  if (!collective.reduces) for (let k = 0; k < at.length; k++) if (at[k] !== NOWHERE) given[k] = 1;
  return { ...problem, at, given, lastSum, lastCopy, scratchChunks: new Int32Array(rankCount) };
}
