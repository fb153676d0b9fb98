import type { HopsView } from "../../protocol.ts";
import { after, notBefore } from "./columns.ts";

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
