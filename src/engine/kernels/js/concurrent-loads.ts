import type { ConcurrentProblem } from "../../contract/kernels.ts";

const LONGEST = 2 ** 30;

/** Loads of arc classes and how dear an arc is: the twin of native/kernels/concurrent_loads.h, function by function. */
export class ClassLoads {
  readonly #graph: ConcurrentProblem;
  /** [classes] load on each arc of the class by one unit of flow on one of them. */
  readonly #share: Float64Array;
  readonly #load: Float64Array;
  /** [classes] load by the greatest, at least the floor. */
  readonly #ratio: Float64Array;
  /** [classes] its p-th power. */
  readonly #power: Float64Array;
  /** [classes] */
  readonly lengths: Float64Array;
  /** [classes] the lengths as whole numbers, the longest 2^30. */
  readonly whole: Float64Array;
  greatest = 0;
  sharpness = 4;
  #exponent = 16;
  #floor = 0.5;

  constructor(graph: ConcurrentProblem) {
    const classes = graph.capacity.length;
    this.#graph = graph;
    this.#share = new Float64Array(classes);
    this.#load = new Float64Array(classes);
    this.#ratio = new Float64Array(classes);
    this.#power = new Float64Array(classes);
    this.lengths = new Float64Array(classes);
    this.whole = new Float64Array(classes);
    for (let a = 0; a < graph.arcClass.length; a++) this.#share[graph.arcClass[a]] += 1;
    for (let c = 0; c < classes; c++) this.#share[c] = 1 / (this.#share[c] * graph.capacity[c]);
  }

  clear(): void {
    this.#load.fill(0);
  }

  /** Adds a flow [arcs] of a source that stands for `weight`. */
  add(flow: Float64Array, weight: number): void {
    const { arcClass } = this.#graph;
    for (let a = 0; a < arcClass.length; a++) this.#load[arcClass[a]] += weight * this.#share[arcClass[a]] * flow[a];
  }

  /** Makes `change` [classes], of flows of a source that stands for `weight`, one of loads. */
  scale(change: Float64Array, weight: number): void {
    for (let c = 0; c < change.length; c++) change[c] *= weight * this.#share[c];
  }

  move(change: Float64Array, theta: number): void {
    for (let c = 0; c < change.length; c++) this.#load[c] += theta * change[c];
  }

  /** Doubles p. */
  sharpen(): void {
    this.sharpness++;
    this.#exponent *= 2;
    this.#floor = 1 - 512 / this.#exponent;
    if (this.#floor < 0.5) this.#floor = 0.5;
  }

  /** Finds the greatest load and the lengths of arcs. */
  price(): void {
    const load = this.#load;
    this.greatest = 0;
    for (let c = 0; c < load.length; c++) if (load[c] > this.greatest) this.greatest = load[c];
    for (let c = 0; c < load.length; c++) this.#ratio[c] = load[c] / this.greatest;
    this.#raise();
    for (let c = 0; c < load.length; c++) this.lengths[c] = (this.#power[c] / this.#ratio[c]) * this.#share[c];
  }

  /** Makes whole numbers of the lengths. */
  round(): void {
    let longest = 0;
    for (let c = 0; c < this.lengths.length; c++) if (this.lengths[c] > longest) longest = this.lengths[c];
    for (let c = 0; c < this.whole.length; c++) {
      this.whole[c] = Math.floor((this.lengths[c] / longest) * LONGEST + 0.5);
    }
  }

  /** Returns the sum over all arcs of capacity times whole length, and the same times load. */
  totals(): { readonly paid: number; readonly used: number } {
    let paid = 0;
    let used = 0;
    for (let c = 0; c < this.#load.length; c++) {
      const worth = this.whole[c] / this.#share[c];
      paid += worth;
      used += worth * this.#load[c];
    }
    return { paid, used };
  }

  /** Returns how much of a change of loads is best, 0 .. 1, by at most four steps of Newton's method. */
  search(change: Float64Array): number {
    let theta = 0;
    let low = 0;
    let high = 1;
    for (let step = 0; step < 4; step++) {
      for (let c = 0; c < change.length; c++) this.#ratio[c] = (this.#load[c] + theta * change[c]) / this.greatest;
      this.#raise();
      let slope = 0;
      let bend = 0;
      for (let c = 0; c < change.length; c++) {
        const steep = (this.#power[c] / (this.#ratio[c] * this.#ratio[c])) * change[c];
        slope += steep * this.#ratio[c];
        bend += steep * change[c];
      }
      if (step === 0 && slope >= 0) return 0;
      bend *= (this.#exponent - 1) / this.greatest;
      if (slope < 0) low = theta;
      else high = theta;
      let next = bend > 0 ? theta - slope / bend : high;
      if (!(next > low && next < high)) next = step === 0 ? 1 : (low + high) / 2;
      const moved = next > theta ? next - theta : theta - next;
      theta = next;
      if (moved < 1e-3 * next) break;
    }
    return theta;
  }

  #raise(): void {
    const ratio = this.#ratio;
    const power = this.#power;
    for (let c = 0; c < ratio.length; c++) {
      if (ratio[c] < this.#floor) ratio[c] = this.#floor;
      power[c] = ratio[c];
    }
    for (let i = 0; i < this.sharpness; i++) for (let c = 0; c < power.length; c++) power[c] *= power[c];
  }
}
