import { CancelledError } from "../../../base/errors.ts";
import type { CancelFlag, ConcurrentProblem } from "../../contract/kernels.ts";
import type { ConcurrentColumns } from "../outputs.ts";
import { STATUS } from "../status.ts";
import { group, NONE } from "./lists.ts";

const SHARPEST = 20;
const LEAST_SHARE = 1e-12;

/** The twin of native/kernels/concurrent.h, function by function: the same bits, written to `out`; returns the status. */
export function concurrentJs(problem: ConcurrentProblem, out: ConcurrentColumns, cancel?: CancelFlag): number {
  const { nodeCount, arcOffset, arcTarget, arcClass, sources, sourceWeight, gap } = problem;
  const arcs = arcTarget.length;
  const { summary } = out;
  const paths = new ShortestPaths(problem);
  const loads = new ClassLoads(problem);
  const entering = group(arcTarget, nodeCount);
  const tail = new Int32Array(arcs);
  for (let v = 0; v < nodeCount; v++) tail.fill(v, arcOffset[v], arcOffset[v + 1]);
  const flows = new Float64Array(sources.length * arcs);
  const next = new Float64Array(arcs);
  const need = new Float64Array(nodeCount);
  const change = new Float64Array(problem.capacity.length);
  const step = new Float64Array(sources.length).fill(1);

  const flowOf = (s: number): Float64Array => flows.subarray(s * arcs, (s + 1) * arcs);

  const demandOf = (s: number): void => {
    for (let v = 0; v < nodeCount; v++) {
      const demand = problem.demand === null ? (problem.terminals[v] !== 0 ? 1 : 0) : problem.demand[s * nodeCount + v];
      need[v] = v === sources[s] ? 0 : demand;
    }
  };

  const isHop = (arc: number, head: number): boolean => paths.dist[tail[arc]] + 1 === paths.dist[head];

  const splitEvenly = (s: number): boolean => {
    const flow = flowOf(s);
    flow.fill(0);
    change.fill(1);
    paths.run(sources[s], change);
    demandOf(s);
    for (let v = 0; v < nodeCount; v++) if (need[v] > 0 && paths.rank[v] === nodeCount) return false;
    for (let i = paths.settled - 1; i > 0; i--) {
      const w = paths.order[i];
      let ways = 0;
      for (let k = entering.offset[w]; k < entering.offset[w + 1]; k++) if (isHop(entering.items[k], w)) ways++;
      const share = need[w] / ways;
      for (let k = entering.offset[w]; k < entering.offset[w + 1]; k++) {
        const a = entering.items[k];
        if (!isHop(a, w)) continue;
        flow[a] = share;
        need[tail[a]] += share;
      }
    }
    return true;
  };

  const reachedBy = (s: number): number => {
    demandOf(s);
    let sum = 0;
    for (let i = 1; i < paths.settled; i++) sum += need[paths.order[i]] * paths.dist[paths.order[i]];
    return sum;
  };

  const measure = (): void => {
    loads.clear();
    for (let s = 0; s < sources.length; s++) loads.add(flowOf(s), sourceWeight[s]);
    loads.price();
    if (1 / loads.greatest > summary[0]) {
      summary[0] = 1 / loads.greatest;
      if (problem.wantsFlow === 1) out.flow.set(flows);
    }
    loads.round();
    let reached = 0;
    for (let s = 0; s < sources.length; s++) {
      paths.run(sources[s], loads.whole);
      reached += sourceWeight[s] * reachedBy(s);
    }
    const { paid, used } = loads.totals();
    if (paid / reached < summary[1]) {
      summary[1] = paid / reached;
      out.length.set(loads.whole);
    }
    const uneven = (loads.greatest * paid) / used - 1;
    const astray = used / reached - 1;
    if (astray >= 0.4 * uneven || loads.sharpness === SHARPEST) return;
    loads.sharpen();
    loads.price();
  };

  const detourOf = (arc: number): number => {
    const head = arcTarget[arc];
    if (paths.parent[head] === arc) return 0;
    const detour = paths.dist[tail[arc]] + loads.lengths[arcClass[arc]] - paths.dist[head];
    return detour > 0 ? detour : 0;
  };

  const reroute = (flow: Float64Array, cut: number): void => {
    next.fill(0);
    for (let i = paths.settled - 1; i > 0; i--) {
      const w = paths.order[i];
      const wanted = need[w];
      if (wanted === 0) continue;
      let sum = 0;
      for (let k = entering.offset[w]; k < entering.offset[w + 1]; k++) sum += flow[entering.items[k]];
      const tree = paths.parent[w];
      let rest = wanted;
      for (let k = entering.offset[w]; k < entering.offset[w + 1]; k++) {
        const a = entering.items[k];
        if (flow[a] === 0 || a === tree || paths.rank[tail[a]] >= i) continue;
        const share = (flow[a] / sum) * (1 - cut * detourOf(a));
        if (!(share > LEAST_SHARE)) continue;
        next[a] = wanted * share;
        need[tail[a]] += wanted * share;
        rest -= wanted * share;
      }
      if (rest < 0) rest = 0;
      next[tree] = rest;
      need[tail[tree]] += rest;
    }
  };

  const adapt = (s: number, theta: number): void => {
    if (theta >= 1) {
      if (step[s] < 64) step[s] *= 2;
    } else if (theta < 0.3 && step[s] > 1e-4) {
      step[s] *= 0.5;
    }
  };

  /** Reroutes; returns how much of the change is best. */
  const moveBy = (s: number, flow: Float64Array, cut: number): number => {
    demandOf(s);
    reroute(flow, cut);
    change.fill(0);
    for (let a = 0; a < arcs; a++) change[arcClass[a]] += next[a] - flow[a];
    loads.scale(change, sourceWeight[s]);
    return loads.search(change);
  };

  const improve = (s: number): void => {
    paths.run(sources[s], loads.lengths);
    const flow = flowOf(s);
    let longer = 0;
    let squares = 0;
    for (let a = 0; a < arcs; a++) {
      if (flow[a] === 0) continue;
      const detour = detourOf(a);
      longer += flow[a] * detour;
      squares += flow[a] * detour * detour;
    }
    if (longer <= (gap / 8) * reachedBy(s)) return;
    let theta = moveBy(s, flow, (step[s] * longer) / squares);
    if (theta > 0) adapt(s, theta);
    else theta = moveBy(s, flow, Number.POSITIVE_INFINITY);
    if (theta === 0) return;
    loads.move(change, theta);
    loads.price();
    for (let a = 0; a < arcs; a++) flow[a] += theta * (next[a] - flow[a]);
  };

  const breathe = (): void => {
    if (cancel !== undefined && Atomics.load(cancel, 0) !== 0) throw new CancelledError();
  };

  for (let s = 0; s < sources.length; s++) {
    breathe();
    if (!splitEvenly(s)) return STATUS.unreachable;
  }
  summary[0] = 0;
  summary[1] = Number.POSITIVE_INFINITY;
  for (summary[2] = 0; ; summary[2]++) {
    measure();
    if (summary[1] <= summary[0] * (1 + gap) || summary[2] === problem.maxRounds) return STATUS.ok;
    for (let s = 0; s < sources.length; s++) {
      breathe();
      improve(s);
    }
  }
}

/** Shortest paths from one node: the twin of native/kernels/concurrent_paths.h, function by function. */
class ShortestPaths {
  readonly #graph: ConcurrentProblem;
  /** [nodes] infinite where no path leads. */
  readonly dist: Float64Array;
  /** [nodes] the arc by which the node is reached; NONE at the source and where no path leads. */
  readonly parent: Int32Array;
  /** The nodes in the order in which they were settled; the source is the first. */
  readonly order: Int32Array;
  /** [nodes] when the node was settled; nodeCount where no path leads. */
  readonly rank: Int32Array;
  settled = 0;
  readonly #heap: Int32Array;
  readonly #place: Int32Array;
  #size = 0;

  constructor(graph: ConcurrentProblem) {
    this.#graph = graph;
    this.dist = new Float64Array(graph.nodeCount);
    this.parent = new Int32Array(graph.nodeCount);
    this.order = new Int32Array(graph.nodeCount);
    this.rank = new Int32Array(graph.nodeCount);
    this.#heap = new Int32Array(graph.nodeCount);
    this.#place = new Int32Array(graph.nodeCount);
  }

  /** Finds the paths from `source` where an arc is as long as `length` says of its class, >= 0. O(arcs log nodes). */
  run(source: number, length: Float64Array): void {
    const { nodeCount, arcOffset, arcTarget, arcClass } = this.#graph;
    const heap = this.#heap;
    const { dist, parent, order, rank } = this;
    const place = this.#place;
    dist.fill(Number.POSITIVE_INFINITY);
    place.fill(NONE);
    parent.fill(NONE);
    rank.fill(nodeCount);
    this.settled = 0;
    this.#size = 0;
    dist[source] = 0;
    this.#lift(this.#size++, source);
    while (this.#size > 0) {
      const u = heap[0];
      this.#size--;
      if (this.#size > 0) this.#sink(0, heap[this.#size]);
      rank[u] = this.settled;
      order[this.settled++] = u;
      for (let a = arcOffset[u]; a < arcOffset[u + 1]; a++) {
        const w = arcTarget[a];
        const far = dist[u] + length[arcClass[a]];
        if (!(far < dist[w])) continue;
        dist[w] = far;
        parent[w] = a;
        this.#lift(place[w] === NONE ? this.#size++ : place[w], w);
      }
    }
  }

  #before(a: number, b: number): boolean {
    const { dist } = this;
    return dist[a] !== dist[b] ? dist[a] < dist[b] : a < b;
  }

  #put(place: number, node: number): void {
    this.#heap[place] = node;
    this.#place[node] = place;
  }

  #lift(from: number, node: number): void {
    let place = from;
    while (place > 0) {
      const above = (place - 1) >> 1;
      if (!this.#before(node, this.#heap[above])) break;
      this.#put(place, this.#heap[above]);
      place = above;
    }
    this.#put(place, node);
  }

  #sink(from: number, node: number): void {
    const heap = this.#heap;
    let place = from;
    for (;;) {
      let below = 2 * place + 1;
      if (below >= this.#size) break;
      if (below + 1 < this.#size && this.#before(heap[below + 1], heap[below])) below++;
      if (!this.#before(heap[below], node)) break;
      this.#put(place, heap[below]);
      place = below;
    }
    this.#put(place, node);
  }
}

const LONGEST = 2 ** 30;
const MOST_STEPS = 40;
const NEWTON_STEPS = 4;
const MOST_ABOVE = 300;

/** Loads of arc classes and how dear an arc is: the twin of native/kernels/concurrent_loads.h, function by function. */
class ClassLoads {
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

  /**
   * Returns how much of a change of loads to take, 0 .. 1: one at which the sum was seen to fall still, so that it is less there
   * than before, by Newton's method between bisections; 0 where none is.
   */
  search(change: Float64Array): number {
    let theta = 0;
    let low = 0;
    let high = 1;
    for (let step = 0; step < MOST_STEPS; step++) {
      const { slope, bend } = this.#derive(change, theta);
      if (step === 0 && slope >= 0) return 0;
      if (slope < 0) low = theta;
      else high = theta;
      if (step >= NEWTON_STEPS && low > 0) return low;
      let next = bend > 0 ? theta - slope / bend : high;
      if (!(next > low && next < high)) next = step === 0 ? 1 : low > 0 ? (low + high) / 2 : high / 4;
      if (slope < 0 && step > 0 && next - theta < 1e-3 * next) return theta;
      theta = next;
    }
    return low;
  }

  /** Returns the sum's first two derivatives along a change; 1 and 0 where a load is too far above the greatest one. */
  #derive(change: Float64Array, theta: number): { readonly slope: number; readonly bend: number } {
    const ratio = this.#ratio;
    const most = 1 + MOST_ABOVE / this.#exponent;
    for (let c = 0; c < change.length; c++) {
      ratio[c] = (this.#load[c] + theta * change[c]) / this.greatest;
      if (ratio[c] > most) return { slope: 1, bend: 0 };
    }
    this.#raise();
    let slope = 0;
    let bend = 0;
    for (let c = 0; c < change.length; c++) {
      const steep = (this.#power[c] / (ratio[c] * ratio[c])) * change[c];
      slope += steep * ratio[c];
      bend += steep * change[c];
    }
    return { slope, bend: bend * ((this.#exponent - 1) / this.greatest) };
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
