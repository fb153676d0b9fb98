import { NONE } from "./lists.ts";

/** Heaps of arcs whose costs fall together: the twin of native/kernels/arc_heap.h, function by function. */
export class ArcHeaps {
  readonly #key: Float64Array;
  readonly #lowered: Float64Array;
  readonly #left: Int32Array;
  readonly #right: Int32Array;

  /** Heaps of one arc each. */
  constructor(cost: Float64Array) {
    this.#key = cost.slice();
    this.#lowered = new Float64Array(cost.length);
    this.#left = new Int32Array(cost.length).fill(NONE);
    this.#right = new Int32Array(cost.length).fill(NONE);
  }

  cost(heap: number): number {
    return this.#key[heap];
  }

  /** Takes `amount` off the cost of every arc of the heap. */
  lower(heap: number, amount: number): void {
    if (heap === NONE) return;
    this.#key[heap] -= amount;
    this.#lowered[heap] += amount;
  }

  /** Returns the two heaps as one. */
  merge(first: number, second: number): number {
    const left = this.#left;
    const right = this.#right;
    let a = first;
    let b = second;
    let top = NONE;
    let above = NONE; // whose left child comes next
    while (a !== NONE && b !== NONE) {
      if (this.#before(b, a)) [a, b] = [b, a];
      this.#handDown(a);
      if (above === NONE) top = a;
      else left[above] = a;
      above = a;
      const next = right[a];
      right[a] = left[a];
      a = next;
    }
    const rest = a === NONE ? b : a;
    if (above === NONE) return rest;
    left[above] = rest;
    return top;
  }

  /** Returns the heap without its least. */
  pop(heap: number): number {
    this.#handDown(heap);
    return this.merge(this.#left[heap], this.#right[heap]);
  }

  #before(a: number, b: number): boolean {
    return this.#key[a] !== this.#key[b] ? this.#key[a] < this.#key[b] : a < b;
  }

  /** Passes on what is to be taken off below. */
  #handDown(arc: number): void {
    this.lower(this.#left[arc], this.#lowered[arc]);
    this.lower(this.#right[arc], this.#lowered[arc]);
    this.#lowered[arc] = 0;
  }
}
