import type { Buffers } from "./buffers.ts";
import type { Parts } from "./parts.ts";

/** Scratch memory with a place of its own for every part that a rank ever keeps there. */
export interface FixedScratch {
  /** [ranks] */
  readonly chunks: Int32Array;
  /** [ranks * parts] first chunk; -1: never there. */
  readonly at: Int32Array;
}

/** Where a part is at a rank: in no buffer, where it was at the start, in scratch, where it must be at the end. */
const NONE = 0;
const START = 1;
const KEPT = 2;
const HOME = 3;

/**
 * Returns parts whose hops are runs: what goes together in a message and lies side by side at both ends is one hop, of at most
 * `mostChunks`. Scratch memory is laid out such that what leaves a rank in one message lies there side by side.
 * O(hops log hops + ranks x parts).
 *
 * @param fuses the runtime has instructions that add what they receive (see writeCode, which keeps parts in the same places)
 */
export function joinNeighbours(
  parts: Parts,
  buffers: Buffers,
  fuses: boolean,
  mostChunks: number,
): { readonly parts: Parts; readonly scratch: FixedScratch } {
  const places = placesOf(parts, buffers, fuses);
  const scratch = scratchOf(parts, places);
  const { source, target, part, size, message, reduces, events, moves, first } = parts;
  const count = first.length;
  const addressOf = (kind: number, at: number): number => {
    if (kind === KEPT) return scratch.at[at];
    return kind === START ? buffers.startAt[at] : kind === HOME ? buffers.endAt[at] : NONE;
  };
  /** Returns whether a part lies behind another at one end. */
  const follows = (kind: Uint8Array, rank: number, hop: number, next: number): boolean => {
    if (kind[hop] !== kind[next]) return false;
    if (kind[hop] === NONE) return true;
    const [here, there] = [rank * count + part[hop], rank * count + part[next]];
    return addressOf(kind[next], there) === addressOf(kind[hop], here) + size[part[hop]];
  };

  const order = Array.from(source.keys()).sort((a, b) => message[a] - message[b] || part[a] - part[b]);
  const run = new Int32Array(source.length);
  const firstHop: number[] = [];
  const chunks: number[] = [];
  const hopFrom: number[] = [];
  order.forEach((hop, i) => {
    const before = order[i - 1];
    const goesOn =
      i > 0 &&
      message[before] === message[hop] &&
      chunks[chunks.length - 1] + size[part[hop]] <= mostChunks &&
      follows(places.leaves, source[hop], before, hop) &&
      follows(places.meets, target[hop], before, hop) &&
      follows(places.comes, target[hop], before, hop);
    if (goesOn) chunks[chunks.length - 1] += size[part[hop]];
    else {
      hopFrom.push(i);
      chunks.push(size[part[hop]]);
      firstHop.push(hop);
    }
    run[hop] = firstHop.length - 1;
  });
  hopFrom.push(order.length);

  const runEvents = new Int32Array(2 * firstHop.length);
  const departsAt = new Int32Array(firstHop.length).fill(-1);
  const arrivesAt = new Int32Array(firstHop.length).fill(-1);
  let next = 0;
  for (const event of events) {
    const hop = run[event >> 1];
    const at = event % 2 === 0 ? departsAt : arrivesAt;
    if (at[hop] >= 0) continue;
    at[hop] = next;
    runEvents[next++] = 2 * hop + (event % 2);
  }
  const joined: Parts = {
    ...parts,
    source: Int32Array.from(firstHop, (hop) => source[hop]),
    target: Int32Array.from(firstHop, (hop) => target[hop]),
    pair: Int32Array.from(firstHop, (hop) => parts.pair[hop]),
    part: Int32Array.from(firstHop, (hop) => part[hop]),
    chunks: Int32Array.from(chunks),
    reduces: Uint8Array.from(firstHop, (hop) => reduces[hop]),
    message: Int32Array.from(firstHop, (hop) => message[hop]),
    hopFrom: Int32Array.from(hopFrom),
    hopParts: Int32Array.from(order, (hop) => part[hop]),
    comingParts: Int32Array.from(order, (hop) => part[hop]),
    events: runEvents,
    departsAt,
    arrivesAt,
    moves,
  };
  return { parts: joined, scratch };
}

/** [hops] where parts are: at their source, at their target before they arrive (what they are added to) and then. */
interface HopPlaces {
  readonly leaves: Uint8Array;
  readonly meets: Uint8Array;
  readonly comes: Uint8Array;
}

/** Follows parts through the events, as writeCode will. O(events + ranks x parts). */
function placesOf(
  { source, target, part, reduces, events, first }: Parts,
  buffers: Buffers,
  fuses: boolean,
): HopPlaces {
  const count = first.length;
  const { startAt, startBuffer, endAt, endBuffer, cellOf, mixes } = buffers;
  const held = Uint8Array.from(startAt, (at) => (at < 0 ? NONE : START));
  const cell = (rank: number, buffer: Uint8Array, place: Int32Array, at: number): number =>
    cellOf[2 * rank + buffer[at]] + place[at];
  const leaves = new Uint8Array(source.length);
  const meets = new Uint8Array(source.length);
  const comes = new Uint8Array(source.length);
  /** Hops that have yet to send what was there at the start, by memory cell. */
  const pending = new Map<number, number>();
  const startCell = (hop: number): number => cell(source[hop], startBuffer, startAt, source[hop] * count + part[hop]);
  if (mixes) {
    const seen = held.slice();
    for (const event of events) {
      const hop = event >> 1;
      const at = source[hop] * count + part[hop];
      if (event % 2 === 1) seen[target[hop] * count + part[hop]] = KEPT;
      else if (seen[at] === START) pending.set(startCell(hop), (pending.get(startCell(hop)) ?? 0) + 1);
    }
  }
  for (const event of events) {
    const hop = event >> 1;
    if (event % 2 === 0) {
      leaves[hop] = held[source[hop] * count + part[hop]];
      if (mixes && leaves[hop] === START) pending.set(startCell(hop), (pending.get(startCell(hop)) ?? 0) - 1);
      continue;
    }
    const rank = target[hop];
    const at = rank * count + part[hop];
    const hasHome = endAt[at] >= 0;
    if (reduces[hop] === 1 && held[at] !== NONE) {
      meets[hop] = held[at];
      const aside =
        !fuses &&
        held[at] === START &&
        hasHome &&
        endBuffer[at] !== startBuffer[at] &&
        cell(rank, startBuffer, startAt, at) === cell(rank, endBuffer, endAt, at);
      comes[hop] = aside ? KEPT : hasHome ? HOME : KEPT;
    } else {
      const isFree = hasHome && (!mixes || (pending.get(cell(rank, endBuffer, endAt, at)) ?? 0) === 0);
      comes[hop] = isFree ? HOME : KEPT;
    }
    held[at] = comes[hop];
  }
  return { leaves, meets, comes };
}

/** Lays scratch memory out: parts of a rank by the first message that takes them away, then by number. O(hops log hops). */
function scratchOf({ source, target, part, size, message, departsAt, events, first, moves }: Parts, places: HopPlaces) {
  const count = first.length;
  const at = new Int32Array(moves.rankCount * count).fill(-1);
  const chunks = new Int32Array(moves.rankCount);
  const leavesIn = new Map<number, number>();
  const kept = new Set<number>();
  const firstOf = new Map<number, number>();
  for (const event of events) {
    const hop = event >> 1;
    if (event % 2 === 1) {
      if (places.comes[hop] === KEPT) kept.add(target[hop] * count + part[hop]);
      continue;
    }
    if (!firstOf.has(message[hop])) firstOf.set(message[hop], departsAt[hop]);
    const cell = source[hop] * count + part[hop];
    if (places.leaves[hop] === KEPT && !leavesIn.has(cell)) leavesIn.set(cell, firstOf.get(message[hop]) as number);
  }
  const orderOf = (cell: number): number => leavesIn.get(cell) ?? events.length;
  const ordered = [...kept].sort(
    (a, b) => Math.floor(a / count) - Math.floor(b / count) || orderOf(a) - orderOf(b) || a - b,
  );
  for (const cell of ordered) {
    const rank = Math.floor(cell / count);
    at[cell] = chunks[rank];
    chunks[rank] += size[cell % count];
  }
  return { chunks, at };
}
