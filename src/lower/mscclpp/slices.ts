import { InputError, inWords } from "../../base/errors.ts";
import { SCRATCH } from "../../model/program/program.ts";
import { MSCCLPP_RUNTIME } from "../../model/program/runtimes.ts";
import { leaveOutHandshakes, leaveOutReceipts } from "./handshakes.ts";
import { bufferOf, NOWHERE, type PlanState, type Problem, place, planState } from "./layout.ts";
import {
  addCopy,
  addOnce,
  addPut,
  addSum,
  type Channel,
  noPhases,
  operationsOf,
  type PeerVia,
  type Phase,
  type RankPhases,
} from "./operations.ts";
import { byLevel, type Orders, ordersOfSlices } from "./orders.ts";
import type { SliceOps } from "./plan-program.ts";

/** What the thread blocks of every slice do, and the scratch of every rank. */
export interface SlicedOps {
  readonly ops: readonly SliceOps[];
  readonly scratchChunks: Int32Array;
}

/**
 * Returns the operations of the thread blocks of every slice, and the scratch of every rank, where the moves are dealt to slices
 * like that; null where the first slice, with none of the copies that ranks make for themselves, is `tooMuch` already.
 * O(ranks * chunks + chunks of all moves).
 */
export function sliceOpsOf(
  problem: Problem,
  sliceOfMove: Int32Array,
  slices: number,
  tooMuch: (first: SliceOps) => boolean = () => false,
): SlicedOps | null {
  const state = planState(problem);
  const blocksOf = (rank: RankPhases): RankPhases[] => (problem.spread ? spreadOverBlocks(rank) : [rank]);
  const opsOf = (slice: Map<number, RankPhases>): SliceOps =>
    new Map([...slice].map(([rank, phases]) => [rank, blocksOf(phases).map(operationsOf)]));
  const ranks: Map<number, RankPhases>[] = [];
  for (const own of ordersOfSlices(problem, sliceOfMove, slices)) {
    ranks.push(phasesOf(state, own));
    if (ranks.length === 1 && tooMuch(opsOf(ranks[0]))) return null;
  }
  eachOwnCopy(problem, sliceOfMove, slices, (slice, rank, from, to) => {
    addCopy(rankIn(ranks[slice], rank).first, from, to);
  });
  if (!problem.spread) {
    leaveOutHandshakes(ranks);
    leaveOutReceipts(ranks);
  }
  return { ops: ranks.map(opsOf), scratchChunks: state.scratchChunks };
}

/**
 * Calls with every chunk that a rank has from the start, must have elsewhere and does not get from others: in the slice that sends
 * it, else in turns. O(ranks * chunks + chunks of all moves).
 */
export function eachOwnCopy(
  { moves, layout }: Problem,
  sliceOfMove: Int32Array,
  slices: number,
  use: (slice: number, rank: number, from: number, to: number) => void,
): void {
  const { source, chunk, chunks, rankCount, chunkCount, target } = moves;
  const arrives = new Uint8Array(rankCount * chunkCount);
  const slice = new Int32Array(arrives.length);
  for (let k = 0; k < slice.length; k++) slice[k] = (k % chunkCount) % slices;
  for (let move = source.length - 1; move >= 0; move--) {
    const [from, to] = [source[move] * chunkCount, target[move] * chunkCount];
    for (let c = chunk[move]; c < chunk[move] + chunks[move]; c++) {
      arrives[to + c] = 1;
      slice[from + c] = sliceOfMove[move];
    }
  }
  for (let k = 0; k < arrives.length; k++) {
    const [rank, c] = [Math.floor(k / chunkCount), k % chunkCount];
    const [from, to] = [layout.start(rank, c), layout.end(rank, c)];
    if (arrives[k] === 1 || from === NOWHERE || to === NOWHERE || from === to) continue;
    use(slice[k], rank, from, to);
  }
}

/**
 * Returns what a rank does in a slice, spread over as few thread blocks as have channels to all its peers. Each writes to, and
 * waits for, peers of its own; the first does what is done within the rank. They meet before that and before they go on.
 * O(phases * blocks).
 */
function spreadOverBlocks(rank: RankPhases): RankPhases[] {
  const peers = { memory: peersOf(rank, "memory"), port: peersOf(rank, "port") };
  const most = Math.max(peers.memory.size, peers.port.size);
  const blocks = Math.max(1, Math.ceil(most / MSCCLPP_RUNTIME.channelsPerBlock));
  if (blocks === 1) return [rank];
  const blockOf = ({ peer, via }: Channel): number =>
    Math.floor(((peers[via].get(peer) as number) * blocks) / peers[via].size);
  return Array.from({ length: blocks }, (_, block): RankPhases => {
    const own = <T extends Channel>(list: readonly T[]): T[] => list.filter((channel) => blockOf(channel) === block);
    const first = <T>(list: T[]): T[] => (block === 0 ? list : []);
    return {
      first: first(rank.first),
      phases: rank.phases.map(({ puts, signals, waits, sums }) => ({
        ...{ puts: own(puts), signals: own(signals), waits: own(waits), sums: first(sums) },
        blocksMeet: sums.length > 0,
      })),
      last: first(rank.last),
      writers: own(rank.writers),
      written: own(rank.written),
      readFrom: own(rank.readFrom),
      readers: own(rank.readers),
      spread: { blocksMeetLast: rank.last.length > 0 },
    };
  });
}

/** Returns the position of every peer that the rank has a channel to. */
function peersOf(rank: RankPhases, via: PeerVia): Map<number, number> {
  const lists = [rank.writers, rank.written, rank.readFrom, rank.readers];
  for (const { signals, waits } of rank.phases) lists.push(signals, waits);
  const peers = new Set(lists.flat().flatMap((channel) => (channel.via === via ? [channel.peer] : [])));
  return new Map([...peers].sort((a, b) => a - b).map((peer, position) => [peer, position]));
}

/** Of a chunk on its way to a rank: where it lands there, or, where `remote`, where the rank finds it in the peer's memory. */
interface Delivery {
  readonly chunk: number;
  readonly at: number;
  readonly remote: boolean;
}

interface Slice {
  readonly state: PlanState;
  readonly ranks: Map<number, RankPhases>;
  /** Phases of the current level. */
  readonly open: Map<number, Phase>;
  /** By move, between its departure and its arrival. */
  readonly underWay: Map<number, Delivery[]>;
  /** Ranks and chunks to whose place at the end something is still to be copied: rank * chunks + chunk. */
  readonly astray: number[];
}

/**
 * Returns what each rank that has a part in some moves does for them. Moves of no other slice may depend on these.
 *
 * Copies are written straight into their place at the end where the rank must have them, else (and where another chunk lies
 * there) into scratch. Contributions are read from the peer's memory where ranks may do that, where it is in the same box and
 * will not change before the sum is complete; else they are written into scratch. All of it is safe against what was in the place before: a sum comes back only
 * after what it is made of was read. Places in scratch are used once.
 *
 * Throws InputError where a move has nothing to carry. O(chunks of the moves).
 */
function phasesOf(state: PlanState, moves: Orders): Map<number, RankPhases> {
  const slice: Slice = { state, ranks: new Map(), open: new Map(), underWay: new Map(), astray: [] };
  byLevel(state, moves, {
    send(level) {
      slice.open.clear();
      for (const move of level) send(slice, move);
    },
    receive: (level) => receive(slice, level),
  });
  bringHome(slice);
  return slice.ranks;
}

/** Returns what a rank does in the slice. */
function rankIn(ranks: Map<number, RankPhases>, rank: number): RankPhases {
  const own = ranks.get(rank) ?? noPhases();
  ranks.set(rank, own);
  return own;
}

function phaseOf({ ranks, open }: Slice, rank: number): Phase {
  let phase = open.get(rank);
  if (phase === undefined) {
    phase = { puts: [], signals: [], waits: [], sums: [] };
    open.set(rank, phase);
    rankIn(ranks, rank).phases.push(phase);
  }
  return phase;
}

function send(slice: Slice, move: number): void {
  const { state, ranks } = slice;
  const { moves, at, given } = state;
  const { chunkCount } = moves;
  const [from, to] = [moves.source[move], moves.target[move]];
  const via = state.via(from, to);
  const deliveries: Delivery[] = [];
  const end = moves.chunk[move] + moves.chunks[move];
  for (let chunk = moves.chunk[move]; chunk < end; chunk++) {
    const source = at[from * chunkCount + chunk];
    if (source === NOWHERE)
      throw new InputError(
        "a schedule to be lowered",
        "chunks only from ranks that have them",
        inWords(`chunk ${chunk} from rank ${from}`),
      );
    if (moves.reduces[move] === 0 && given[to * chunkCount + chunk] === 1) continue;
    if (moves.reduces[move] === 0) given[to * chunkCount + chunk] = 1;
    // who has nothing to add it to keeps it as it is
    if (at[to * chunkCount + chunk] !== NOWHERE && isRead(state, move, chunk, via === "memory")) {
      deliveries.push({ chunk, at: source, remote: true });
      if (state.lastCopy[from * chunkCount + chunk] < moves.departsAt[move]) {
        addOnce(rankIn(ranks, to).readFrom, from, "memory");
        addOnce(rankIn(ranks, from).readers, to, "memory");
      }
      continue;
    }
    const landing = moves.reduces[move] === 1 ? scratchPlace(state, to) : landingPlace(state, to, chunk);
    deliveries.push({ chunk, at: landing, remote: false });
    addPut(phaseOf(slice, from).puts, to, via, source, landing);
    addOnce(rankIn(ranks, from).written, to, via);
    addOnce(rankIn(ranks, to).writers, from, via);
    if (via === "memory") continue;
    // a proxy reads what is put when it comes to it
    addOnce(rankIn(ranks, to).readFrom, from, via);
    addOnce(rankIn(ranks, from).readers, to, via);
  }
  if (deliveries.length === 0) return;
  slice.underWay.set(move, deliveries);
  addOnce(phaseOf(slice, from).signals, to, via);
}

/** Returns whether a contribution is read by its target: it must be in reach, and nothing may be added to it afterwards. */
function isRead({ moves, lastSum, reads }: PlanState, move: number, chunk: number, inReach: boolean): boolean {
  if (moves.reduces[move] === 0 || !inReach || !reads) return false;
  return lastSum[moves.source[move] * moves.chunkCount + chunk] < moves.departsAt[move];
}

const scratchPlace = ({ scratchChunks }: PlanState, rank: number): number => place(SCRATCH, scratchChunks[rank]++);

function landingPlace(state: PlanState, rank: number, chunk: number): number {
  const end = state.layout.end(rank, chunk);
  return end !== NOWHERE && state.layout.free ? end : scratchPlace(state, rank);
}

function receive(slice: Slice, arrivals: Int32Array): void {
  const { state, underWay } = slice;
  const { moves, at, layout } = state;
  const sums = new Map<number, { peer: number; delivery: Delivery }[]>();
  for (const move of arrivals) {
    const deliveries = underWay.get(move);
    if (deliveries === undefined) continue;
    underWay.delete(move);
    const [peer, rank] = [moves.source[move], moves.target[move]];
    addOnce(phaseOf(slice, rank).waits, peer, state.via(peer, rank));
    for (const delivery of deliveries) {
      const k = rank * moves.chunkCount + delivery.chunk;
      if (moves.reduces[move] === 1) {
        const known = sums.get(k);
        if (known === undefined) sums.set(k, [{ peer, delivery }]);
        else known.push({ peer, delivery });
        continue;
      }
      at[k] = delivery.at;
      const end = layout.end(rank, delivery.chunk);
      if (end !== NOWHERE && end !== delivery.at) slice.astray.push(k);
    }
  }
  for (const k of [...sums.keys()].sort((a, b) => a - b)) addContributions(slice, k, sums.get(k) ?? []);
}

function addContributions(slice: Slice, k: number, parts: readonly { peer: number; delivery: Delivery }[]): void {
  const { state } = slice;
  const { chunkCount } = state.moves;
  const [rank, chunk] = [Math.floor(k / chunkCount), k % chunkCount];
  const written = parts.filter(({ delivery }) => !delivery.remote).map(({ delivery }) => delivery.at);
  const remote = parts
    .filter(({ delivery }) => delivery.remote)
    .map(({ peer, delivery }) => ({ peer, at: delivery.at }));
  const places = state.at[k] === NOWHERE ? written : [state.at[k], ...written];
  const end = state.layout.end(rank, chunk);
  if (places.length === 1 && remote.length === 0) {
    state.at[k] = places[0] as number;
    if (end !== NOWHERE && end !== state.at[k]) slice.astray.push(k);
    return;
  }
  const to = end !== NOWHERE ? end : (places.find((at) => bufferOf(at) === SCRATCH) ?? scratchPlace(state, rank));
  // What lies in the sum's place is summed first: it is gone once a part of the sum is written there.
  const own = places.includes(to) ? [to, ...places.filter((at) => at !== to)] : places;
  addSum(phaseOf(slice, rank).sums, { own, remote, to, chunks: 1 });
  state.at[k] = to;
}

function bringHome({ state, ranks, astray }: Slice): void {
  const { chunkCount } = state.moves;
  for (const k of astray.sort((a, b) => a - b)) {
    const rank = Math.floor(k / chunkCount);
    if (state.at[k] === state.layout.end(rank, k % chunkCount)) continue;
    addCopy(rankIn(ranks, rank).last, state.at[k], state.layout.end(rank, k % chunkCount));
  }
}
