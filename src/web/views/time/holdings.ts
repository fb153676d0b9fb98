import type { HopsView } from "../../protocol.ts";
import { after, type Grouped, groupBy, inverted } from "./columns.ts";

/**
 * Who holds what. Of a chunk that is reduced an NPU holds so many contributions, and all of them when it has the sum; of any other
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
export const endedAt = ({ hops }: Holdings, time: number): number => after(hops.endPs, time);
