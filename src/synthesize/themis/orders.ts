import { PHASE_ALL_GATHER, PHASE_REDUCE_SCATTER } from "../../model/phase-schedule.ts";
import { opAt, type PhaseProblem } from "./problem.ts";

/** The dimensions that each chunk takes: [chunks x perChunk], chunk by chunk, in the order of its phases. */
export type ChunkOrders = Uint8Array;

/** What Algorithm 1 leaves open to measure. */
export interface OrderOptions {
  /** The scheduler falls back to the baseline's order where loads differ by less than a phase of chunk / this takes. */
  readonly thresholdShare: number;
  /** Loads start at A_K, else at 0. */
  readonly countsLatency: boolean;
}

/** Sections 4.4 and 5.3. */
export const PUBLISHED: OrderOptions = { thresholdShare: 16, countsLatency: true };

/** Returns the baseline's orders (2.3): reduce-scatters over the dimensions 1..D, all-gathers over D..1, for all chunks alike. */
export function baselineOrders(problem: PhaseProblem): ChunkOrders {
  const { chunks, perChunk } = problem;
  const one = baselineOrder(problem);
  return Uint8Array.from({ length: chunks * perChunk }, (_, i) => one[i % perChunk]);
}

function baselineOrder({ dimensions, scatters, perChunk }: PhaseProblem): number[] {
  const D = dimensions.length;
  return Array.from({ length: perChunk }, (_, k) => (k < scatters ? k : D - 1 - (k - scatters)));
}

/**
 * Returns the orders of Algorithm 1. Loads start at A_K of the collective (4.4) and grow by n_K x B_K of the chunk's phases
 * (of an all-reduce, of its reduce-scatters; its all-gathers take the reverse order). Where loads differ by less than the
 * threshold, the chunk takes the baseline's order; else its reduce-scatters take the dimensions by ascending load and its
 * all-gathers by descending load, so that the least loaded dimension moves most. Equal loads: in the baseline's order.
 * Loads are exact. O(chunks x dimensions log dimensions).
 */
export function themisOrders(problem: PhaseProblem, options: OrderOptions = PUBLISHED): ChunkOrders {
  return traced(problem, options).orders;
}

/** Returns the orders, and the loads after each chunk: [chunks][dimensions], picoseconds. */
export function traced(
  problem: PhaseProblem,
  { thresholdShare, countsLatency }: OrderOptions = PUBLISHED,
): { orders: ChunkOrders; loads: number[][] } {
  const { chunks, dimensions, perChunk, scatters, collective, costs } = problem;
  const D = dimensions.length;
  const baseline = baselineOrder(problem).slice(0, D);
  const op = opAt(problem, 0);
  const loads = dimensions.map((_, d) => (countsLatency ? (perChunk / D) * costs(d, op, 1).latencyPs : 0));
  const orders = new Uint8Array(chunks * perChunk);
  const trace: number[][] = [];
  for (let chunk = 0; chunk < chunks; chunk++) {
    const least = loads.indexOf(Math.min(...loads));
    const threshold = costs(least, op, thresholdShare).serialPs;
    let order = baseline;
    if (Math.max(...loads) - loads[least] >= threshold) {
      const sign = op === PHASE_REDUCE_SCATTER ? 1 : -1;
      order = [...baseline].sort((a, b) => sign * (loads[a] - loads[b]));
    }
    orders.set(order, chunk * perChunk);
    if (perChunk > D) orders.set([...order].reverse(), chunk * perChunk + D);
    let holders = scatters === 0 ? collective.groupSize : 1;
    for (const d of order) {
      if (op === PHASE_ALL_GATHER) holders /= dimensions[d].size;
      loads[d] += costs(d, op, holders).serialPs;
      if (op === PHASE_REDUCE_SCATTER) holders *= dimensions[d].size;
    }
    trace.push([...loads]);
  }
  return { orders, loads: trace };
}
