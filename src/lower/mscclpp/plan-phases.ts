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
  readonly writers: Channel[];
  readonly written: Channel[];
  /** Peers that it tells at the end that it has read what it reads of them, and those that tell it. */
  readonly readFrom: Channel[];
  readonly readers: Channel[];
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
