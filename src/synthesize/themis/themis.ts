import { InputError } from "../../base/errors.ts";
import { withChunks } from "../../model/collective/collective.ts";
import { formatTime } from "../../model/numbers/units.ts";
import type { PhaseSchedule } from "../../model/phases/phase-schedule.ts";
import type { PhaseMaker, PhaseRequest, PhaseSynthesis } from "../phase-maker.ts";
import { balancedOrders } from "./balanced.ts";
import { executed, type QueueOrder } from "./execute.ts";
import { baselineOrders, type ChunkOrders, themisOrders } from "./orders.ts";
import { type PhaseProblem, phaseProblem, refusal } from "./problem.ts";

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
export function fastestChunks(request: PhaseRequest, make: (request: PhaseRequest) => PhaseSynthesis): number {
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
  if (!isPolicy(asked)) throw new InputError("--policy", `one of ${Object.keys(POLICIES).join(", ")}`, asked);
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
  description: "Themis: each chunk takes the dimensions in an order of its own, the least loaded first",
  collectives: ["allgather", "reducescatter", "allreduce"],
  policies: Object.keys(POLICIES),
  refuses: refusal,
  ownChunks: (request) => fastestChunks(request, makePhases),
  makePhases,
};
