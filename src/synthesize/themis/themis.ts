import { InputError } from "../../base/errors.ts";
import { optionName } from "../../base/option-names.ts";
import { withChunks } from "../../model/collective/collective.ts";
import { formatTime } from "../../model/numbers/units.ts";
import { PHASE_ALL_GATHER, type PhaseSchedule } from "../../model/phases/phase-schedule.ts";
import type { PhaseMaker, PhaseRequest, PhaseSynthesis } from "../phase-maker.ts";
import {
  baselineOrder,
  baselineOrders,
  type ChunkOrders,
  executed,
  opAt,
  type PhaseProblem,
  phaseProblem,
  type QueueOrder,
  refusal,
  themisOrders,
  writeOrder,
} from "./orders.ts";

/** Up to this many dimensions all orders are tried, beyond only the baseline's turned round. */
const ALL_ORDERS = 4;
/** Changes of this many chunks at a time are looked for at most so often. */
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

/** Tried where nobody says how many chunks: Themis, figure 10. */
const CHUNK_COUNTS: readonly number[] = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512];

/** One way to order chunks and to carry them out, in words. */
interface Way {
  readonly policy: string;
  readonly orders: (problem: PhaseProblem) => ChunkOrders;
  readonly queue: QueueOrder;
}

const SCF: Way = {
  policy: "dimensions by load, smallest chunk first (Themis+SCF)",
  orders: (problem) => themisOrders(problem),
  queue: "scf",
};
const FIFO: Way = {
  policy: "dimensions by load, first come, first served (Themis+FIFO)",
  orders: (problem) => themisOrders(problem),
  queue: "fifo",
};
const BASELINE: Way = {
  policy: "dimensions in turn (the baseline's order)",
  orders: baselineOrders,
  queue: "fifo",
};

/** What each policy may do; the baseline is always tried beside it. */
const POLICIES = {
  scf: [SCF],
  fifo: [FIFO],
  best: [
    { policy: "loads of all chunks balanced, first come, first served", orders: balancedOrders, queue: "fifo" },
    { policy: "loads of all chunks balanced, smallest chunk first", orders: balancedOrders, queue: "scf" },
    SCF,
    FIFO,
  ],
} satisfies Readonly<Record<string, readonly Way[]>>;

const isPolicy = (policy: string): policy is keyof typeof POLICIES => Object.hasOwn(POLICIES, policy);

/** Returns when the last phase of a schedule is done. O(phases). */
function lastEndPs({ endPs }: PhaseSchedule): number {
  let last = 0;
  for (let i = 0; i < endPs.length; i++) if (endPs[i] > last) last = endPs[i];
  return last;
}

/** Returns the fewest chunks of `CHUNK_COUNTS` with which a maker's schedule takes at most half a percent more than with any. */
function fastestChunks(request: PhaseRequest, make: (request: PhaseRequest) => PhaseSynthesis): number {
  const timesPs = CHUNK_COUNTS.map((chunks) =>
    lastEndPs(make({ ...request, collective: withChunks(request.collective, chunks) }).schedule),
  );
  const most = Math.min(...timesPs) * 1.005;
  return CHUNK_COUNTS[timesPs.findIndex((ps) => ps <= most)];
}

/**
 * Returns the schedule of a policy ("best" unless one is asked for) that ends first; the baseline's where that is earlier still:
 * few chunks or unlike dimensions can mislead the greedy choice.
 */
function makePhases(request: PhaseRequest): PhaseSynthesis {
  const problem = phaseProblem(request, "themis");
  const asked = request.policy ?? "best";
  if (!isPolicy(asked))
    throw new InputError(optionName("policy"), `one of ${Object.keys(POLICIES).join(", ")}`, asked).as("unknown-name");
  const tried = [...POLICIES[asked], BASELINE].map(({ policy, orders, queue }) => {
    const schedule = executed(problem, orders(problem), queue);
    return { policy, schedule, ps: lastEndPs(schedule) };
  });
  const { policy, schedule, ps } = tried.reduce((best, other) => (other.ps < best.ps ? other : best));
  const baseline = tried[tried.length - 1];
  const kept = (where: string): string => `Themis's order would end later${where}: the baseline's is kept`;
  if (policy === BASELINE.policy) {
    return { schedule, policy, notes: [kept(` (${formatTime(tried[0].ps)}, not ${formatTime(ps)})`)] };
  }
  return {
    schedule,
    policy,
    notes: [],
    instead: { schedule: baseline.schedule, policy: baseline.policy, notes: [kept(" as steps")] },
  };
}

/** Themis (Rashidi et al., ISCA 2022): each chunk takes the dimensions in an order of its own, the least loaded first. */
export const themis: PhaseMaker = {
  name: "themis",
  makes: "phases",
  description: "Themis: each chunk takes the dimensions in an order of its own, the least loaded first",
  collectives: ["allgather", "reducescatter", "allreduce"],
  policies: Object.keys(POLICIES),
  options: ["offload"],
  traits: { promising: 3 },
  refuses: refusal,
  ownChunks: (request) => fastestChunks(request, makePhases),
  makePhases,
};

function dimensionsInTurn(request: PhaseRequest): PhaseSynthesis {
  const problem = phaseProblem(request, "blueconnect");
  return {
    schedule: executed(problem, baselineOrders(problem), "fifo"),
    policy: "dimensions in turn, first come, first served",
    notes: [],
  };
}

/** BlueConnect (Cho et al., IBM JRD 2019): reduce-scatters over the dimensions 1..D, then all-gathers over D..1 (Themis, 2.3). */
export const blueconnect: PhaseMaker = {
  name: "blueconnect",
  makes: "phases",
  options: ["offload"],
  description: "BlueConnect: reduce-scatters over the dimensions in turn, then all-gathers the other way (baseline)",
  collectives: ["allgather", "reducescatter", "allreduce"],
  policies: [],
  refuses: refusal,
  ownChunks: (request) => fastestChunks(request, dimensionsInTurn),
  makePhases: dimensionsInTurn,
};
