import { PHASE_ALL_GATHER } from "../../model/phases/phase-schedule.ts";
import { baselineOrder, type ChunkOrders, writeOrder } from "./orders.ts";
import { opAt, type PhaseProblem } from "./problem.ts";

/** Up to so many dimensions all orders are tried, beyond only the baseline's turned round. */
const ALL_ORDERS = 4;
/** Changes of so many chunks at a time are looked for at most so often. */
const MOST_CHANGES = 64;

/** One order of a chunk's first phases, and what it adds to the load of each dimension. */
interface Candidate {
  readonly order: readonly number[];
  /** [dimensions] picoseconds */
  readonly loads: readonly number[];
}

const permutations = (items: readonly number[]): number[][] =>
  items.length < 2
    ? [[...items]]
    : items.flatMap((first, i) => permutations(items.filter((_, k) => k !== i)).map((rest) => [first, ...rest]));

/** Returns the orders that chunks may take, the baseline's first. */
function candidates(problem: PhaseProblem): Candidate[] {
  const { dimensions, scatters, collective, costs } = problem;
  const base = baselineOrder(problem).slice(0, dimensions.length);
  const orders =
    base.length <= ALL_ORDERS ? permutations(base) : base.map((_, i) => [...base.slice(i), ...base.slice(0, i)]);
  const op = opAt(problem, 0);
  return orders.map((order) => {
    const loads = dimensions.map(() => 0);
    let holders = scatters === 0 ? collective.groupSize : 1;
    for (const d of order) {
      if (op === PHASE_ALL_GATHER) holders /= dimensions[d].size;
      loads[d] = costs(d, op, holders).serialPs;
      if (op !== PHASE_ALL_GATHER) holders *= dimensions[d].size;
    }
    return { order, loads };
  });
}

/** Returns loads from the greatest to the least. */
const ranked = (loads: readonly number[]): number[] => [...loads].sort((a, b) => b - a);

/** Returns whether the greatest of some ranked loads are less than others'. */
function isBelow(ours: readonly number[], theirs: readonly number[]): boolean {
  const differs = ours.findIndex((load, k) => load !== theirs[k]);
  return differs >= 0 && ours[differs] < theirs[differs];
}

/**
 * Returns how many chunks take each order so that the most loaded dimension has least to do: all take the baseline's, then those
 * changes are made that lower the ranked loads most, of many chunks at once first. O(orders^2 x log chunks), times some changes.
 */
function shares(problem: PhaseProblem, of: readonly Candidate[], initial: readonly number[]): number[] {
  const counts = of.map((_, i) => (i === 0 ? problem.chunks : 0));
  let loads = initial.map((load, d) => load + problem.chunks * of[0].loads[d]);
  for (let most = problem.chunks; most >= 1; most = Math.floor(most / 2)) {
    for (let change = 0; change < MOST_CHANGES; change++) {
      let best: { from: number; to: number; moved: number; loads: number[] } | null = null;
      for (let from = 0; from < of.length; from++) {
        const moved = Math.min(most, counts[from]);
        for (let to = 0; to < of.length && moved > 0; to++) {
          const after = loads.map((load, d) => load + moved * (of[to].loads[d] - of[from].loads[d]));
          if (isBelow(ranked(after), ranked(best?.loads ?? loads))) best = { from, to, moved, loads: after };
        }
      }
      if (best === null) break;
      counts[best.from] -= best.moved;
      counts[best.to] += best.moved;
      loads = best.loads;
    }
  }
  return counts;
}

/**
 * Returns orders that balance the loads of all chunks together, where Algorithm 1 decides chunk by chunk: first how many chunks
 * take each order, then one after the other the order that is left and raises the ranked loads least. Beyond the paper: with few
 * chunks, or dimensions so unlike that a chunk in the wrong order cannot be made up for, Algorithm 1 overshoots.
 * All-gathers of an all-reduce take the reverse order. O(chunks x orders).
 */
export function balancedOrders(problem: PhaseProblem): ChunkOrders {
  const { chunks, dimensions, perChunk, costs } = problem;
  const op = opAt(problem, 0);
  const of = candidates(problem);
  const latencies = dimensions.map((_, d) => (perChunk / dimensions.length) * costs(d, op, 1).latencyPs);
  const left = shares(problem, of, latencies);
  const orders = new Uint8Array(chunks * perChunk);
  let loads = latencies;
  for (let chunk = 0; chunk < chunks; chunk++) {
    let next = -1;
    let after: number[] = [];
    for (let i = 0; i < of.length; i++) {
      if (left[i] === 0) continue;
      const raised = loads.map((load, d) => load + of[i].loads[d]);
      if (next >= 0 && !isBelow(ranked(raised), ranked(after))) continue;
      next = i;
      after = raised;
    }
    left[next]--;
    loads = after;
    writeOrder(problem, orders, chunk, of[next].order);
  }
  return orders;
}
