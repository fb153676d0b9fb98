import type { PhaseMaker, PhaseRequest, PhaseSynthesis } from "../phase-maker.ts";
import { executed } from "./execute.ts";
import { baselineOrders } from "./orders.ts";
import { phaseProblem, refusal } from "./problem.ts";
import { fastestChunks } from "./themis.ts";

function makePhases(request: PhaseRequest): PhaseSynthesis {
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
  description: "BlueConnect: reduce-scatters over the dimensions in turn, then all-gathers the other way (baseline)",
  collectives: ["allgather", "reducescatter", "allreduce"],
  policies: [],
  refuses: refusal,
  ownChunks: (request) => fastestChunks(request, makePhases),
  makePhases,
};
