import { after, type Grouped, groupBy, inverted, notBefore } from "../../draw/columns.ts";
import type { HopsView } from "../../protocol.ts";

/**
 * Who holds what. Of a chunk that is reduced an NPU holds this many contributions, and all of them when it has the sum; of any other
 * chunk it holds the one contribution there is, or none.
 */
export interface Holdings {
  readonly hops: HopsView;
  readonly npuCount: number;
  /** Hops of each chunk, into each NPU, out of each NPU; each in the order of their ends. */
  readonly ofChunk: Grouped;
  readonly into: Grouped;
  readonly outOf: Grouped;
  /** [chunks] NPUs that hold it at the start, and that want it in the end. */
  readonly starters: Grouped;
  readonly wanters: Grouped;
  /** [chunks] contributions of the whole. */
  readonly whole: Int32Array;
  /** [hops] contributions of its chunk that the target holds when it ends. */
  readonly amount: Int32Array;
  /** [hops] how much the target comes nearer to all that it wants, 0 .. 1. */
  readonly gain: Float64Array;
  /** [npus] the share that each has of what it wants, at the start; 0 where it wants nothing. */
  readonly atStart: Float64Array;
}

/** Returns the holdings of a schedule. O(hops + chunks + what is held and wanted), but for hops of a chunk that overlap at their source. */
export function holdingsOf(hops: HopsView, npuCount: number): Holdings {
  const { chunkCount } = hops;
  const count = hops.chunk.length;
  const holdings: Holdings = {
    hops,
    npuCount,
    ofChunk: groupBy(hops.chunk, chunkCount),
    into: groupBy(hops.target, npuCount),
    outOf: groupBy(hops.source, npuCount),
    starters: inverted(hops.heldOffset, hops.held, chunkCount),
    wanters: inverted(hops.wantedOffset, hops.wanted, chunkCount),
    whole: new Int32Array(chunkCount).fill(1),
    amount: new Int32Array(count),
    gain: new Float64Array(count),
    atStart: new Float64Array(npuCount),
  };
  const replay = new ChunkReplay(holdings);
  for (let chunk = 0; chunk < chunkCount; chunk++) replay.run(chunk);
  return holdings;
}

/** Plays one chunk after the other; what it notes per NPU is cleared in between, so that a chunk costs its hops only. */
class ChunkReplay {
  readonly #holdings: Holdings;
  /** [npus] contributions at the start, the last hop of the chunk into the NPU (-1: none), how much a contribution is worth. */
  readonly #own: Int32Array;
  readonly #last: Int32Array;
  readonly #worth: Float64Array;
  /** [hops] the hop before it with the same chunk and target. */
  readonly #previous: Int32Array;

  constructor(holdings: Holdings) {
    this.#holdings = holdings;
    this.#own = new Int32Array(holdings.npuCount);
    this.#last = new Int32Array(holdings.npuCount).fill(-1);
    this.#worth = new Float64Array(holdings.npuCount);
    this.#previous = new Int32Array(holdings.amount.length);
  }

  run(chunk: number): void {
    const { hops, ofChunk, starters, wanters, whole, amount, gain, atStart } = this.#holdings;
    const { source, target, startPs, endPs, reduces, wantedOffset, isPipelined } = hops;
    const rows = ofChunk.items.subarray(ofChunk.offset[chunk], ofChunk.offset[chunk + 1]);
    const owners = starters.items.subarray(starters.offset[chunk], starters.offset[chunk + 1]);
    const ends = wanters.items.subarray(wanters.offset[chunk], wanters.offset[chunk + 1]);
    if (rows.some((hop) => reduces[hop] === 1)) whole[chunk] = owners.length;
    for (const npu of owners) this.#own[npu] = 1;
    for (const npu of ends) {
      this.#worth[npu] = 1 / whole[chunk] / (wantedOffset[npu + 1] - wantedOffset[npu]);
      atStart[npu] += this.#own[npu] * this.#worth[npu];
    }
    for (const hop of rows) {
      const sent = this.#heldBy(source[hop], isPipelined ? endPs[hop] : startPs[hop]);
      const there = this.#heldBy(target[hop], Number.POSITIVE_INFINITY);
      amount[hop] = reduces[hop] === 1 ? there + sent : sent;
      gain[hop] = (amount[hop] - there) * this.#worth[target[hop]];
      this.#previous[hop] = this.#last[target[hop]];
      this.#last[target[hop]] = hop;
    }
    for (const npu of owners) this.#own[npu] = 0;
    for (const npu of ends) this.#worth[npu] = 0;
    for (const hop of rows) this.#last[target[hop]] = -1;
  }

  /** Contributions that an NPU holds at a time, of the hops that were played. */
  #heldBy(npu: number, time: number): number {
    const { hops, amount } = this.#holdings;
    let hop = this.#last[npu];
    while (hop >= 0 && hops.endPs[hop] > time) hop = this.#previous[hop];
    return hop >= 0 ? amount[hop] : this.#own[npu];
  }
}

/** Returns how many contributions of a chunk each NPU holds at a time. O(NPUs + hops of the chunk). */
export function heldAt(
  { hops, npuCount, ofChunk, starters, amount }: Holdings,
  chunk: number,
  time: number,
): Int32Array {
  const held = new Int32Array(npuCount);
  for (let i = starters.offset[chunk]; i < starters.offset[chunk + 1]; i++) held[starters.items[i]] = 1;
  for (let i = ofChunk.offset[chunk]; i < ofChunk.offset[chunk + 1]; i++) {
    const hop = ofChunk.items[i];
    if (hops.endPs[hop] > time) break;
    held[hops.target[hop]] = amount[hop];
  }
  return held;
}

/** Returns how many contributions of each chunk an NPU holds at a time. O(chunks + hops into the NPU). */
export function heldBy({ hops, into, amount }: Holdings, npu: number, time: number): Int32Array {
  const held = new Int32Array(hops.chunkCount);
  for (let i = hops.heldOffset[npu]; i < hops.heldOffset[npu + 1]; i++) held[hops.held[i]] = 1;
  for (let i = into.offset[npu]; i < into.offset[npu + 1]; i++) {
    const hop = into.items[i];
    if (hops.endPs[hop] > time) break;
    held[hops.chunk[hop]] = amount[hop];
  }
  return held;
}

/** Returns the hops of a group (holdings.ofChunk, .into, .outOf) that began at a time or before, in the order of their ends. O(group). */
export function begunAt({ hops }: Holdings, { offset, items }: Grouped, key: number, time: number): Int32Array {
  return items.subarray(offset[key], offset[key + 1]).filter((hop) => hops.startPs[hop] <= time);
}

/** Returns how many hops have ended at a time. O(log hops). */
const endedAt = ({ hops }: Holdings, time: number): number => after(hops.endPs, time);

/** A chunk that came to an NPU, or is on its way. */
export interface Arrival {
  readonly hop: number;
  readonly npu: number;
  readonly from: number;
  readonly at: number;
  readonly isMoving: boolean;
  /** Contributions that the NPU holds from then on. */
  readonly amount: number;
}

/** Returns how many NPUs hold all of a chunk at a time, and how it came there, the latest first. O(NPUs + hops of the chunk). */
export function arrivalsOf(holdings: Holdings, chunk: number, time: number): { holders: number; rows: Arrival[] } {
  const { hops, whole, amount, ofChunk } = holdings;
  const holders = heldAt(holdings, chunk, time).reduce((sum, has) => sum + (has >= whole[chunk] ? 1 : 0), 0);
  const rows = Array.from(begunAt(holdings, ofChunk, chunk, time), (hop) => ({
    hop,
    npu: hops.target[hop],
    from: hops.source[hop],
    at: hops.endPs[hop],
    isMoving: hops.endPs[hop] > time,
    amount: amount[hop],
  }));
  return { holders, rows: rows.reverse() };
}

/** The share that each NPU holds of what it wants, at any time: a few states are kept, and hops played from the nearest. */
export class Fill {
  readonly #holdings: Holdings;
  readonly #stride: number;
  /** State after every `stride` hops. */
  readonly #kept: Float64Array[];
  readonly #state: Float64Array;
  #played = 0;

  /** O(hops); keeps about as many numbers as there are hops, or fewer. */
  constructor(holdings: Holdings) {
    this.#holdings = holdings;
    this.#stride = Math.max(4096, holdings.npuCount);
    this.#state = holdings.atStart.slice();
    this.#kept = [this.#state.slice()];
    const count = holdings.gain.length;
    while (this.#played + this.#stride <= count) {
      this.#play(this.#played + this.#stride);
      this.#kept.push(this.#state.slice());
    }
  }

  #play(until: number): void {
    const { hops, gain } = this.#holdings;
    for (; this.#played < until; this.#played++) this.#state[hops.target[this.#played]] += gain[this.#played];
  }

  /** Returns the shares [npus] at a time, 0 .. 1; the array is used again. O(log hops + hops between two kept states). */
  at(time: number): Float64Array {
    const ended = endedAt(this.#holdings, time);
    if (ended < this.#played || ended - this.#played > this.#stride) {
      const nearest = Math.floor(ended / this.#stride);
      this.#state.set(this.#kept[nearest]);
      this.#played = nearest * this.#stride;
    }
    this.#play(ended);
    return this.#state;
  }
}

/** Which hops are under way at a time, and when the next one starts or ends. */
export class UnderWay {
  readonly #hops: HopsView;
  /** [hops] the earliest start of this hop and all that end later. */
  readonly #earliest: Float64Array;
  /** All starts, ascending. */
  readonly #starts: Float64Array;
  /** The last answer, which holds until the next hop starts or ends. */
  #last = { from: 0, until: 0, found: [] as readonly number[] };

  /** O(hops log hops). */
  constructor(hops: HopsView) {
    this.#hops = hops;
    this.#starts = hops.startPs.slice().sort();
    this.#earliest = hops.startPs.slice();
    for (let hop = this.#earliest.length - 2; hop >= 0; hop--) {
      this.#earliest[hop] = Math.min(this.#earliest[hop], this.#earliest[hop + 1]);
    }
  }

  /**
   * Returns the hops with start <= time < end, in the order of their ends: the same list while none starts or ends. Looks at no
   * hop beyond the last of them.
   */
  at(time: number): readonly number[] {
    if (time < this.#last.from || time >= this.#last.until)
      this.#last = { from: time, until: this.next(time) ?? Number.POSITIVE_INFINITY, found: this.#found(time) };
    return this.#last.found;
  }

  #found(time: number): number[] {
    const { startPs, endPs } = this.#hops;
    const found: number[] = [];
    for (let hop = after(endPs, time); hop < endPs.length && this.#earliest[hop] <= time; hop++) {
      if (startPs[hop] <= time) found.push(hop);
    }
    return found;
  }

  /** Returns the next time after `time` at which a hop starts or ends; null after the last. O(log hops). */
  next(time: number): number | null {
    const { endPs } = this.#hops;
    const start = after(this.#starts, time);
    const end = after(endPs, time);
    if (end === endPs.length) return null;
    return start < this.#starts.length ? Math.min(this.#starts[start], endPs[end]) : endPs[end];
  }

  /** Returns the last time before `time` at which a hop starts or ends; null before the first. O(log hops). */
  previous(time: number): number | null {
    const { endPs } = this.#hops;
    const start = notBefore(this.#starts, time) - 1;
    const end = notBefore(endPs, time) - 1;
    if (start < 0) return null;
    return end >= 0 ? Math.max(this.#starts[start], endPs[end]) : this.#starts[start];
  }
}

export type Column = "chunk" | "source" | "target" | "start" | "end";

/** Returns hops by a column, the latest or greatest first where `isDown`; ties by end, then by place. O(n log n). */
export function sortedHops(view: HopsView, hops: readonly number[], column: Column, isDown: boolean): number[] {
  const { chunk, source, target, startPs, endPs } = view;
  const values = { chunk, source, target, start: startPs, end: endPs }[column];
  const sign = isDown ? -1 : 1;
  return [...hops].sort((a, b) => sign * (values[a] - values[b]) || endPs[a] - endPs[b] || a - b);
}

/** Returns ascending numbers as text, "0-3, 7"; those beyond `most` ranges are counted: "0, 2, 4 and 17 more". O(n). */
export function rangesText(numbers: ArrayLike<number>, most = 12): string {
  const ranges: string[] = [];
  let told = 0;
  for (let i = 0; i < numbers.length && ranges.length < most; ) {
    let end = i;
    while (end + 1 < numbers.length && numbers[end + 1] === numbers[end] + 1) end++;
    ranges.push(
      end === i ? `${numbers[i]}` : end === i + 1 ? `${numbers[i]}, ${numbers[end]}` : `${numbers[i]}-${numbers[end]}`,
    );
    told += end - i + 1;
    i = end + 1;
  }
  const left = numbers.length - told;
  return ranges.join(", ") + (left > 0 ? ` and ${left.toLocaleString("en")} more` : "");
}
