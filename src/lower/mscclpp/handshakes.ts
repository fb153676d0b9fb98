import { SCRATCH } from "../../model/program/program.ts";
import { bufferOf } from "./layout.ts";
import type { Channel, Phase, RankPhases } from "./operations.ts";

/** What the ranks of a slice do. */
type SlicePhases = ReadonlyMap<number, RankPhases>;

/**
 * Leaves handshakes out that tell nothing: before a rank first writes into a peer's memory it must know that the peer has begun,
 * and that the peer is done with what the last call left there. It knows both
 *  - once it has heard from the peer in this call, and then it needs no handshake;
 *  - of scratch before that too, where in every call the peer tells it something after it last touched its scratch: who has ended a
 *    call has heard that, so what it writes in the next one is in nobody's way. Only plans use their scratch, so it matters not
 *    whether the peer has begun.
 * O(operands of all phases + pairs of ranks that greet each other * slices).
 */
export function leaveOutHandshakes(slices: readonly SlicePhases[]): void {
  const known = slices.map(scratchUseOf);
  /** Whether a rank hears from a peer, in each slice, after the peer last touched its scratch. */
  const hearsAfter = (rank: number, peer: number): boolean =>
    known.every(({ overAt, toldAt }) => (overAt.get(peer) ?? -1) <= (toldAt.get(peer)?.get(rank) ?? -1));
  for (const slice of slices) {
    for (const [rank, own] of slice) {
      own.written = own.written.filter((channel) => {
        const early = earlyPuts(own, channel.peer);
        const isNeeded = !(early.every(isToScratch) && (early.length === 0 || hearsAfter(rank, channel.peer)));
        if (isNeeded) return true;
        const other = slice.get(channel.peer) as RankPhases;
        other.writers = other.writers.filter(({ peer, via }) => peer !== rank || via !== channel.via);
        return false;
      });
    }
  }
}

/**
 * Leaves receipts of what was put through ports out where the rank hears from the peer anyway after all of it has arrived. O(phases
 * x pairs of ranks).
 */
export function leaveOutReceipts(slices: readonly SlicePhases[]): void {
  for (const slice of slices) {
    for (const [rank, own] of slice) {
      own.readers = own.readers.filter((channel) => {
        if (channel.via === "memory") return true;
        const other = slice.get(channel.peer) as RankPhases;
        const arrivedIn = other.phases.findLastIndex(({ waits }) => waits.some(isFrom(rank)));
        const isTold = other.phases.some(({ signals }, p) => p > arrivedIn && signals.some(isFrom(rank)));
        if (isTold) other.readFrom = other.readFrom.filter(({ peer, via }) => peer !== rank || via !== channel.via);
        return !isTold;
      });
    }
  }
}

const isToScratch = ({ to }: { readonly to: number }): boolean => bufferOf(to) === SCRATCH;
const isFrom =
  (peer: number) =>
  (channel: Channel): boolean =>
    channel.peer === peer;

/** Returns what a rank writes into a peer's memory before it has heard from it. */
function earlyPuts({ phases }: RankPhases, peer: number): Phase["puts"] {
  const heard = phases.findIndex(({ waits }) => waits.some(isFrom(peer)));
  return (heard < 0 ? phases : phases.slice(0, heard + 1)).flatMap(({ puts }) => puts.filter(isFrom(peer)));
}

interface ScratchUse {
  /** By rank: phase whose signals are the first after it last touched its scratch; Infinity: it never tells. */
  readonly overAt: ReadonlyMap<number, number>;
  /** By rank and peer: last phase in which the rank signals the peer. */
  readonly toldAt: ReadonlyMap<number, ReadonlyMap<number, number>>;
}

/** Proxies read what they send when they come to it, and peers when they like: who has scratch read like that never tells. */
function scratchUseOf(slice: SlicePhases): ScratchUse {
  const overAt = new Map<number, number>();
  const toldAt = new Map<number, Map<number, number>>();
  const touch = (rank: number, phase: number): void => {
    overAt.set(rank, Math.max(phase, overAt.get(rank) ?? -1));
  };
  for (const [rank, { first, phases, last }] of slice) {
    const told = new Map<number, number>();
    toldAt.set(rank, told);
    if ([...first, ...last].some(({ from, to }) => isToScratch({ to: from }) || isToScratch({ to })))
      touch(rank, Number.POSITIVE_INFINITY);
    phases.forEach(({ puts, signals, sums }, p) => {
      for (const { from, via } of puts)
        if (bufferOf(from) === SCRATCH) touch(rank, via === "port" ? Number.POSITIVE_INFINITY : p);
      for (const { own, remote, to } of sums) {
        if ([...own, to].some((at) => bufferOf(at) === SCRATCH)) touch(rank, p + 1);
        for (const { peer, at } of remote) if (bufferOf(at) === SCRATCH) touch(peer, Number.POSITIVE_INFINITY);
      }
      for (const { peer } of signals) told.set(peer, p);
    });
  }
  return { overAt, toldAt };
}
