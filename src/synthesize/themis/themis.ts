import { collective } from "../../model/collective.ts";
import type { PhaseSchedule } from "../../model/phase-schedule.ts";
import { formatTime } from "../../model/units.ts";
import type { PhaseMaker, PhaseRequest, PhaseSynthesis } from "../phase-maker.ts";
import { executed, type QueueOrder } from "./execute.ts";
import { baselineOrders, themisOrders } from "./orders.ts";
import { phaseProblem, refusal } from "./problem.ts";

/** Tried where nobody says how many chunks: Themis, figure 10. */
const CHUNK_COUNTS: readonly number[] = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512];

const QUEUES: Readonly<Record<QueueOrder, string>> = {
  scf: "dimensions by load, smallest chunk first (Themis+SCF)",
  fifo: "dimensions by load, first come, first served (Themis+FIFO)",
};

/** Returns when the last phase of a schedule is done. O(phases). */
export function lastEndPs({ endPs }: PhaseSchedule): number {
  let last = 0;
  for (let i = 0; i < endPs.length; i++) if (endPs[i] > last) last = endPs[i];
  return last;
}

/** Returns the fewest chunks of `CHUNK_COUNTS` with which a maker's schedule takes at most a thousandth more than with any. */
export function fastestChunks(request: PhaseRequest, make: (request: PhaseRequest) => PhaseSynthesis): number {
  const { kind, groupMembers, sizeBytes } = request.collective;
  const timesPs = CHUNK_COUNTS.map((chunksPerNpu) => {
    if (kind === "custom") return 0;
    const cut = collective({ kind, groups: [groupMembers], sizeBytes, chunksPerNpu, rootRank: 0 });
    return lastEndPs(make({ ...request, collective: cut }).schedule);
  });
  const most = Math.min(...timesPs) * 1.001;
  return CHUNK_COUNTS[timesPs.findIndex((ps) => ps <= most)];
}

/** Returns Themis's schedule; the baseline's where that ends earlier: few chunks or unlike dimensions can mislead the greedy choice. */
function makePhases(request: PhaseRequest): PhaseSynthesis {
  const problem = phaseProblem(request, "themis");
  const queue: QueueOrder = request.policy === "fifo" ? "fifo" : "scf";
  const ours = executed(problem, themisOrders(problem), queue);
  const baseline = executed(problem, baselineOrders(problem), "fifo");
  const [oursPs, baselinePs] = [lastEndPs(ours), lastEndPs(baseline)];
  if (oursPs <= baselinePs) return { schedule: ours, policy: QUEUES[queue], notes: [] };
  return {
    schedule: baseline,
    policy: "dimensions in turn (the baseline's order)",
    notes: [
      `Themis's order would take ${formatTime(oursPs)} where the baseline's takes ${formatTime(baselinePs)}: the baseline's is kept`,
    ],
  };
}

/** Themis (Rashidi et al., ISCA 2022): each chunk takes the dimensions in an order of its own, the least loaded first. */
export const themis: PhaseMaker = {
  name: "themis",
  description: "Themis: each chunk takes the dimensions in an order of its own, the least loaded first",
  collectives: ["allgather", "reducescatter", "allreduce"],
  policies: ["scf", "fifo"],
  refuses: refusal,
  ownChunks: (request) => fastestChunks(request, makePhases),
  makePhases,
};
