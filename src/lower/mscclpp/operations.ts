import type { Op } from "../../model/program/program.ts";
import { MSCCLPP_RUNTIME } from "../../model/program/runtimes.ts";

/** One of the parallel transfers (or the one sum) of an operation. Places as plan-layout.ts numbers them. */
export interface Part {
  readonly own: readonly number[];
  readonly remote: readonly { readonly peer: number; readonly at: number }[];
  readonly to: number;
  /** Rank in whose memory `to` is; null: this one. */
  readonly peer: number | null;
  readonly chunks: number;
}

/** One of the parallel transfers, or all, of an operation that moves packets. -1 (NOWHERE): none. */
export interface PacketPart {
  /** Places of its own that are plain, and those that hold packets, of which the sum is taken. */
  readonly own: readonly number[];
  readonly read: readonly number[];
  /** Places of its own where the result goes, plain and as packets. */
  readonly to: number;
  readonly kept: number;
  /** Places of peers to which it goes as packets. */
  readonly sent: readonly { readonly peer: number; readonly at: number }[];
  readonly chunks: number;
}

/** An operation of a thread block. */
export interface PlanOp {
  readonly op: Op;
  readonly via: PeerVia | "local";
  /** Peers that it signals, or waits for. */
  readonly channels: readonly Channel[];
  readonly parts: readonly Part[];
  readonly packets?: readonly PacketPart[];
}

/** The threads of the block meet. */
export const NOP: PlanOp = { op: "nop", via: "local", channels: [], parts: [] };

/** A block that is being written, and what has been done in it since its threads last met. */
interface Writing {
  readonly ops: PlanOp[];
  dirty: boolean;
  /** It heard of data, or changed data, that it has not announced yet. */
  news: boolean;
  /** Channels that were signalled or waited on since. */
  readonly touched: Set<string>;
}

const WIDEST = MSCCLPP_RUNTIME.channelsPerOp;

/**
 * Returns the operations of a thread block that does what a rank does in a slice. Its threads meet (nop) exactly where what
 * follows relies on what was done: after waits and before signals, and between sums into one place.
 *
 * It begins with a handshake: who will write into a peer's memory waits until that peer has begun. It ends with receipts: what was
 * put through a port is read by a proxy when it comes to it, so its sender waits until the peer has it before it is written again,
 * by later copies or by whoever calls next. The executor's own ways do not do: its `flush` goes by a number of channels that plans
 * say nowhere (handleFlush), and `pwsf` reads from a wrong offset up to 0.9. O(phases).
 */
export function operationsOf(rank: RankPhases): PlanOp[] {
  const writing: Writing = { ops: [], dirty: false, news: false, touched: new Set() };
  addCopies(writing, rank.first);
  addSignals(writing, ["rlxsignal", "signal"], rank.writers, false);
  addWaits(writing, ["rlxwait", "wait"], rank.written);
  for (const [p, { puts, signals, waits, sums, blocksMeet }] of rank.phases.entries()) {
    if (rank.spread !== undefined && p > 0) addBarrier(writing);
    const told = addPuts(writing, puts);
    const others = signals.filter((signal) => !told.has(keyOf(signal)));
    addSignals(writing, ["signal", "signal"], others, true);
    addWaits(writing, ["wait", "wait"], waits);
    if (blocksMeet === true) addBarrier(writing);
    addSums(writing, sums);
  }
  const receipts = (via: PeerVia): void => {
    const by = (channel: Channel): boolean => channel.via === via;
    addSignals(writing, ["rlxsignal", "signal"], rank.readFrom.filter(by), true);
    addWaits(writing, ["rlxwait", "wait"], rank.readers.filter(by));
  };
  receipts("port");
  if (rank.spread?.blocksMeetLast === true) addBarrier(writing);
  if (rank.last.length > 0) {
    meet(writing);
    addCopies(writing, rank.last);
  }
  receipts("memory");
  return writing.ops;
}

const keyOf = ({ peer, via }: Channel): string => `${via} ${peer}`;

function add(writing: Writing, op: PlanOp): void {
  writing.ops.push(op);
  writing.dirty = true;
  if (op.op !== "pws" && op.op !== "rlxwait") writing.news = true;
}

/** Lets the threads meet, where something was done since they last did. */
function meet(writing: Writing): void {
  if (!writing.dirty) return;
  writing.ops.push(NOP);
  haveMet(writing);
}

/** Lets the threads of all blocks over which the rank is spread meet. */
function addBarrier(writing: Writing): void {
  writing.ops.push({ op: "barrier", via: "local", channels: [], parts: [] });
  haveMet(writing);
}

function haveMet(writing: Writing): void {
  writing.dirty = false;
  writing.news = false;
  writing.touched.clear();
}

/** Returns a list in pieces of at most this many. */
export function pieces<T>(list: readonly T[], most: number): T[][] {
  if (list.length <= most) return list.length === 0 ? [] : [list.slice()];
  return Array.from({ length: Math.ceil(list.length / most) }, (_, k) => list.slice(k * most, (k + 1) * most));
}

function addSynchronisation(
  writing: Writing,
  names: readonly [memory: Op, port: Op],
  channels: readonly Channel[],
): void {
  for (const via of ["memory", "port"] as const) {
    const own = channels.every((channel) => channel.via === via)
      ? channels
      : channels.filter((channel) => channel.via === via);
    const op = names[via === "memory" ? 0 : 1];
    for (const piece of pieces(own, WIDEST)) add(writing, { op, via, channels: piece, parts: [] });
  }
}

function addSignals(writing: Writing, names: readonly [Op, Op], channels: readonly Channel[], publish: boolean): void {
  if (channels.length === 0) return;
  if (publish && writing.news) meet(writing);
  addSynchronisation(writing, names, channels);
}

/** A channel is waited on once between two meetings: each thread counts for itself what it has waited for. */
function addWaits(writing: Writing, names: readonly [Op, Op], channels: readonly Channel[]): void {
  const keys = channels.map(keyOf);
  if (keys.some((key) => writing.touched.has(key))) meet(writing);
  addSynchronisation(writing, names, channels);
  for (const key of keys) writing.touched.add(key);
}

/** Returns the channels that are signalled with the puts themselves. */
function addPuts(writing: Writing, puts: readonly Put[]): Set<string> {
  const told = new Set<string>();
  if (puts.length === 0) return told;
  meet(writing);
  const port = puts.filter(({ via }) => via === "port");
  const single = new Set(port.map(({ peer }) => peer)).size === port.length;
  addTransfers(
    writing,
    "put",
    "memory",
    puts.filter(({ via }) => via === "memory"),
  );
  addTransfers(writing, single ? "pws" : "put", "port", port);
  if (single) for (const put of port) told.add(keyOf(put));
  return told;
}

/** Transfers of equally many chunks are parts of one operation; over memory channels, those from one buffer. */
function addTransfers(writing: Writing, op: Op, via: PeerVia, puts: readonly Put[]): void {
  if (puts.length === 0) return;
  const kindOf = ({ chunks, from }: Put): number => 4 * chunks + (via === "memory" ? from & 3 : 0);
  const kinds = puts.length === 1 ? puts.map(kindOf) : new Set(puts.map(kindOf));
  for (const kind of kinds) {
    const equal = puts.length === 1 ? puts : puts.filter((put) => kindOf(put) === kind);
    for (const piece of pieces(equal, WIDEST)) {
      const parts = piece.map(({ peer, from, to, chunks }) => ({ own: [from], remote: [], to, peer, chunks }));
      add(writing, { op, via, channels: [], parts });
    }
  }
}

function addCopies(writing: Writing, copies: readonly Copy[]): void {
  for (const { from, to, chunks } of copies) {
    add(writing, {
      op: "copy",
      via: "local",
      channels: [],
      parts: [{ own: [from], remote: [], to, peer: null, chunks }],
    });
  }
}

/** Sums of more than an operation takes are made one after the other, side by side with those of other chunks. */
function addSums(writing: Writing, sums: readonly Sum[]): void {
  let left = sums;
  while (left.length > 0) {
    meet(writing);
    left = left.flatMap((sum) => sumWhatFits(writing, sum));
  }
}

/** Adds one operation of a sum, as wide as there is; returns what is left to be summed. */
function sumWhatFits(writing: Writing, { own, remote, to, chunks }: Sum): Sum[] {
  const reads = remote.slice(0, WIDEST);
  const locals = reads.length > 0 ? own.slice(0, 1) : own.slice(0, WIDEST);
  const via = reads.length > 0 ? "memory" : "local";
  const parts = [{ own: locals, remote: reads, to, peer: null, chunks }];
  add(writing, { op: reads.length > 0 ? "rre" : "re", via, channels: [], parts });
  const others = [to, ...own.slice(locals.length)];
  const unread = remote.slice(WIDEST);
  return others.length > 1 || unread.length > 0 ? [{ own: others, remote: unread, to, chunks }] : [];
}

/** Whether ranks reach each other's memory (in one box), or only through proxies (between boxes). */
export type PeerVia = "memory" | "port";

export interface Channel {
  readonly peer: number;
  readonly via: PeerVia;
}

/** Contiguous chunks that a rank writes into a peer's memory; places as plan-layout.ts numbers them. */
export interface Put extends Channel {
  readonly from: number;
  readonly to: number;
  chunks: number;
}

/** Contiguous chunks that a rank sums: those of its own memory, and those of peers that it reads over memory channels. */
export interface Sum {
  /** At least one. */
  readonly own: readonly number[];
  readonly remote: readonly { readonly peer: number; readonly at: number }[];
  /** In its own memory; may be one of those that it sums. */
  readonly to: number;
  chunks: number;
}

/** Contiguous chunks that a rank copies within its memory. */
export interface Copy {
  readonly from: number;
  readonly to: number;
  chunks: number;
}

/** What a rank does at one level, in this order: all puts, then all signals, all waits, all sums. */
export interface Phase {
  readonly puts: Put[];
  /** Peers that learn that what is for them at this level is written, or may be read. */
  readonly signals: Channel[];
  readonly waits: Channel[];
  readonly sums: Sum[];
  /** Of a spread rank: its blocks meet before one of them sums. */
  readonly blocksMeet?: boolean;
}

/** What a rank does in a slice of the moves, alone with the chunks of the slice: in one thread block where it is not spread. */
export interface RankPhases {
  /** What it has and must have elsewhere too. */
  readonly first: Copy[];
  readonly phases: Phase[];
  /** What may move to its place only at the end, because the place was in use. */
  readonly last: Copy[];
  /** Peers that write into its memory, and those into whose memory it writes. */
  writers: Channel[];
  written: Channel[];
  /** Peers that it tells at the end that it has read what it reads of them, and those that tell it. */
  readFrom: Channel[];
  readers: Channel[];
  /** It is spread over several thread blocks, of which this is one; they meet before every phase but the first. */
  readonly spread?: { readonly blocksMeetLast: boolean };
}

/** Returns nothing to do. */
export const noPhases = (): RankPhases => ({
  first: [],
  phases: [],
  last: [],
  writers: [],
  written: [],
  readFrom: [],
  readers: [],
});

/** Adds a channel to a list that has each but once. O(list). */
export function addOnce(list: Channel[], peer: number, via: PeerVia): void {
  if (!list.some((known) => known.peer === peer && known.via === via)) list.push({ peer, via });
}

/** Adds a copy, to the last one where it goes on with it. */
export function addCopy(list: Copy[], from: number, to: number): void {
  const last = list[list.length - 1];
  const step = 4 * (last?.chunks ?? 0);
  if (last !== undefined && last.from + step === from && last.to + step === to) last.chunks++;
  else list.push({ from, to, chunks: 1 });
}

/** Adds a put, to the last one where it goes on with it. */
export function addPut(list: Put[], peer: number, via: PeerVia, from: number, to: number): void {
  const last = list[list.length - 1];
  const step = 4 * (last?.chunks ?? 0);
  const goesOn = last?.peer === peer && last.via === via && last.from + step === from && last.to + step === to;
  if (goesOn) last.chunks++;
  else list.push({ peer, via, from, to, chunks: 1 });
}

/** Adds a sum, to the last one where it goes on with it. O(what it sums). */
export function addSum(list: Sum[], sum: Sum): void {
  const last = list[list.length - 1];
  const step = 4 * (last?.chunks ?? 0);
  const goesOn =
    last !== undefined &&
    last.to + step === sum.to &&
    last.own.length === sum.own.length &&
    last.remote.length === sum.remote.length &&
    last.own.every((at, k) => at + step === sum.own[k]) &&
    last.remote.every(({ peer, at }, k) => peer === sum.remote[k].peer && at + step === sum.remote[k].at);
  if (goesOn) last.chunks++;
  else list.push(sum);
}
