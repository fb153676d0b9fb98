import { PHASE_ALL_GATHER, PHASE_REDUCE_SCATTER } from "../../model/phases/phase-schedule.ts";
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

/** Returns the dimensions of one chunk by the baseline (2.3): reduce-scatters over 1..D, all-gathers over D..1. */
export function baselineOrder({ dimensions, scatters, perChunk }: PhaseProblem): number[] {
  const D = dimensions.length;
  return Array.from({ length: perChunk }, (_, k) => (k < scatters ? k : D - 1 - (k - scatters)));
}

/** Returns the baseline's orders, all chunks alike. */
export function baselineOrders(problem: PhaseProblem): ChunkOrders {
  const { chunks, perChunk } = problem;
  const one = baselineOrder(problem);
  const orders = new Uint8Array(chunks * perChunk);
  for (let i = 0; i < orders.length; i++) orders[i] = one[i % perChunk];
  return orders;
}

/** Writes a chunk's order: as given, and for the all-gathers of an all-reduce the other way round (Algorithm 1, line 8). */
export function writeOrder(problem: PhaseProblem, orders: ChunkOrders, chunk: number, order: readonly number[]): void {
  const { perChunk } = problem;
  for (let k = 0; k < perChunk; k++) {
    orders[chunk * perChunk + k] = k < order.length ? order[k] : order[perChunk - 1 - k];
  }
}

/**
 * Returns the orders of Algorithm 1. Loads start at A_K of the collective (4.4) and grow by n_K x B_K of the chunk's phases
 * (of an all-reduce, of its reduce-scatters; its all-gathers take the reverse order). Where loads differ by less than the
 * threshold, the chunk takes the baseline's order; else its reduce-scatters take the dimensions by ascending load and its
 * all-gathers by descending load, so that the least loaded dimension moves most. Equal loads: in the baseline's order.
 * `onLoads` is told the loads after each chunk, picoseconds. Loads are exact. O(chunks x dimensions log dimensions).
 */
export function themisOrders(
  problem: PhaseProblem,
  { thresholdShare, countsLatency }: OrderOptions = PUBLISHED,
  onLoads?: (loads: readonly number[]) => void,
): ChunkOrders {
  const { chunks, dimensions, perChunk, scatters, collective, costs } = problem;
  const baseline = baselineOrder(problem).slice(0, dimensions.length);
  const op = opAt(problem, 0);
  const sign = op === PHASE_REDUCE_SCATTER ? 1 : -1;
  const loads = dimensions.map((_, d) =>
    countsLatency ? (perChunk / dimensions.length) * costs(d, op, 1).latencyPs : 0,
  );
  const orders = new Uint8Array(chunks * perChunk);
  for (let chunk = 0; chunk < chunks; chunk++) {
    const least = loads.indexOf(Math.min(...loads));
    const isBalanced = Math.max(...loads) - loads[least] < costs(least, op, thresholdShare).serialPs;
    const order = isBalanced ? baseline : [...baseline].sort((a, b) => sign * (loads[a] - loads[b]));
    writeOrder(problem, orders, chunk, order);
    let holders = scatters === 0 ? collective.groupSize : 1;
    for (const d of order) {
      if (op === PHASE_ALL_GATHER) holders /= dimensions[d].size;
      loads[d] += costs(d, op, holders).serialPs;
      if (op === PHASE_REDUCE_SCATTER) holders *= dimensions[d].size;
    }
    onLoads?.([...loads]);
  }
  return orders;
}
