import { endedAt, type Holdings } from "./holdings.ts";

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
