import { InternalError } from "../../base/errors.ts";
import { distancesFrom } from "../../model/graph/graph.ts";
import { type Rational, rational } from "../../model/numbers/rational.ts";
import { type FlowArcs, graphUnder } from "./flow-arcs.ts";

/** The most parts of a demand of one. */
const MOST_PARTS = 2 ** 24;
/** A source's demands are at most so many parts in all, so that doubles hold them. */
const MOST_SUM = 2 ** 50;
/** Distances beyond are rounded; a shorter one weakens a bound and is safe. */
const FARTHEST = 2 ** 53;

/** Returns how many whole parts a demand of one is, where the demands of a source are at most `sum` in all; below 1 for 2^50 on. */
export function partsFor(sum: number): number {
  let parts = MOST_PARTS;
  while (parts * sum > MOST_SUM) parts /= 2;
  return parts;
}

/**
 * Returns a flow in whole parts (`parts` for a demand of one at a rate of one) that carries exactly the demand `wanted` [nodes] of a
 * source, split at every node much as `flow` [arcs] is, which may have circles and rounding errors; they are left out.
 * Null where the flow does not reach a node that wants something. O(arcs) for each circle.
 */
export function wholeFlow(
  arcs: FlowArcs,
  source: number,
  wanted: Float64Array,
  parts: number,
  flow: Float64Array,
): Float64Array | null {
  const order = orderAlong(arcs, source, flow);
  const need = Float64Array.from(wanted, (demand, v) => (v === source ? 0 : demand * parts));
  const whole = new Float64Array(flow.length);
  const rank = new Int32Array(need.length).fill(need.length);
  order.forEach((v, i) => {
    rank[v] = i;
  });
  for (let i = order.length - 1; i > 0; i--) {
    const v = order[i];
    if (need[v] === 0) continue;
    let sum = 0;
    let widest = -1;
    for (let k = arcs.inOffset[v]; k < arcs.inOffset[v + 1]; k++) {
      const a = arcs.inArcs[k];
      if (!(flow[a] > 0) || rank[arcs.source[a]] >= i) continue;
      sum += flow[a];
      if (widest < 0 || flow[a] > flow[widest]) widest = a;
    }
    if (widest < 0) return null;
    let rest = need[v];
    for (let k = arcs.inOffset[v]; k < arcs.inOffset[v + 1]; k++) {
      const a = arcs.inArcs[k];
      if (!(flow[a] > 0) || rank[arcs.source[a]] >= i || a === widest) continue;
      whole[a] = Math.min(rest, Math.floor(need[v] * (flow[a] / sum)));
      rest -= whole[a];
      need[arcs.source[a]] += whole[a];
    }
    whole[widest] = rest;
    need[arcs.source[widest]] += rest;
  }
  return need.every((rest, v) => rest === 0 || rank[v] < order.length) ? whole : null;
}

/**
 * Takes circles out of a flow and returns the nodes that it reaches such that all arcs in use lead onwards, the source first.
 * Circles are met by a depth-first walk along arcs in use; each loses its least arc, and the walk goes on before that.
 */
function orderAlong(arcs: FlowArcs, source: number, flow: Float64Array): Int32Array {
  const nodes = arcs.offset.length - 1;
  const state = new Uint8Array(nodes); // 1: on the walk, 2: done
  const next = arcs.offset.slice(0, nodes);
  const walk = [source];
  const by = [-1];
  const done: number[] = [];
  const leave = (): number => {
    by.pop();
    return walk.pop() ?? source;
  };
  state[source] = 1;
  while (walk.length > 0) {
    const v = walk[walk.length - 1];
    if (next[v] === arcs.offset[v + 1]) {
      state[v] = 2;
      done.push(leave());
      continue;
    }
    const a = next[v]++;
    const to = arcs.target[a];
    if (!(flow[a] > 0) || state[to] === 2) continue;
    if (state[to] === 0) {
      state[to] = 1;
      walk.push(to);
      by.push(a);
      continue;
    }
    const tail = arcs.source[breakCircle(flow, [...by.slice(walk.indexOf(to) + 1), a])];
    while (walk[walk.length - 1] !== tail) {
      const left = leave();
      state[left] = 0;
      next[left] = arcs.offset[left];
    }
  }
  return Int32Array.from(done.reverse());
}

/** Takes the least flow of a circle off all its arcs; returns the arc that had it. */
function breakCircle(flow: Float64Array, circle: readonly number[]): number {
  let least = circle[0];
  for (const a of circle) if (flow[a] < flow[least]) least = a;
  const amount = flow[least];
  for (const a of circle) flow[a] -= amount;
  flow[least] = 0;
  return least;
}

/**
 * Returns the greatest rate at which whole flows, each [arcs] in parts, fit: the least over classes of capacity by load,
 * where the images of the flows load the links of a class evenly. Exact.
 */
export function exactRate(
  { arcClass, classSize, capacity }: FlowArcs,
  weight: Float64Array,
  parts: number,
  flows: readonly Float64Array[],
): Rational {
  const load = new Array<bigint>(classSize.length).fill(0n);
  flows.forEach((flow, s) => {
    const sum = sumsByClass(arcClass, classSize.length, flow);
    for (let c = 0; c < load.length; c++) if (sum[c] > 0n) load[c] += sum[c] * BigInt(weight[s]);
  });
  let best: Rational | null = null;
  for (let c = 0; c < load.length; c++) {
    if (load[c] === 0n) continue;
    const num = BigInt(capacity[c]) * BigInt(classSize[c]) * BigInt(parts);
    if (best === null || num * best.den < best.num * load[c]) best = rational(num, load[c]);
  }
  if (best === null) throw new InternalError("a concurrent flow without any flow");
  return best;
}

/** Returns [classes] the sum of whole numbers over the arcs of each class; doubles hold parts of sums up to 2^53. */
function sumsByClass(arcClass: Int32Array, classes: number, values: Float64Array): bigint[] {
  const low = new Float64Array(classes);
  const high = new Float64Array(classes);
  const half = 2 ** 26;
  for (let a = 0; a < values.length; a++) {
    const top = Math.floor(values[a] / half);
    high[arcClass[a]] += top;
    low[arcClass[a]] += values[a] - top * half;
  }
  return Array.from(low, (part, c) => BigInt(high[c]) * BigInt(half) + BigInt(part));
}

/**
 * Returns the bound that lengths [classes] prove: the sum of capacity * length over links by the sum of demand * distance over
 * pairs (duality of LP A.1). Null where all distances are 0. Exact. One search for each source.
 */
export function exactBound(
  arcs: FlowArcs,
  sources: Int32Array,
  weight: Float64Array,
  wanted: (s: number) => Float64Array,
  length: Int32Array,
): Rational | null {
  let paid = 0n;
  for (let c = 0; c < length.length; c++) {
    paid += BigInt(arcs.capacity[c]) * BigInt(arcs.classSize[c]) * BigInt(length[c]);
  }
  let reached = 0n;
  const network = graphUnder(arcs, length);
  for (let s = 0; s < sources.length; s++) {
    const dist = distancesFrom(network, [sources[s]]);
    const demand = wanted(s);
    let own = 0n;
    for (let v = 0; v < dist.length; v++) {
      if (demand[v] > 0 && v !== sources[s]) own += BigInt(demand[v]) * BigInt(Math.min(dist[v], FARTHEST));
    }
    reached += own * BigInt(weight[s]);
  }
  return reached === 0n ? null : rational(paid, reached);
}
