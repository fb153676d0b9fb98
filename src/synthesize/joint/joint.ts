import { InputError } from "../../base/errors.ts";
import { jointBoundOf } from "../../model/bounds/joint.ts";
import type { Collective } from "../../model/collective/collective.ts";
import { repeatedCollectives, sizeClasses } from "../../model/collective/repeated-collectives.ts";
import { type JointSchedule, jointEndPs } from "../../model/joint/joint-schedule.ts";
import { ceil } from "../../model/numbers/rational.ts";
import { portRouteCount, routesOf, type SwitchDegree } from "../../model/routes/routing.ts";
import { expandSlots } from "../../model/slots/slot-expansion.ts";
import { isSlotSchedule } from "../../model/slots/slot-schedule.ts";
import type { StepSchedule } from "../../model/steps/step-schedule.ts";
import { switchCount, type Topology } from "../../model/topology/topology.ts";
import type { SynthesisContext, SynthesisRequest } from "../synthesizer.ts";
import { synthesizeByMatching } from "../tacos/tacos.ts";
import { inSequence, packed } from "./merge.ts";
import { stepsFor } from "./refine.ts";
import { searchTable, tableProblem } from "./table-search.ts";

/** Above so many routes through switches the table takes a ring instead of all pairs. */
const MOST_PORT_ROUTES = 4096;
/** Array cells that the repairs of all tables may read: five to ten seconds. */
const MOST_STEPS = 8e8;
/** Trials of each tenant by itself, and of packing them, unless the caller says. */
const TRIALS_ALONE = 16;
/** Trials of packing what a table of rounded slots gave. */
const TRIALS_SETTLING = 2;

export interface JointRequest extends Omit<SynthesisRequest, "collective"> {
  /** None of them has nothing to send. */
  readonly collectives: readonly Collective[];
}

export interface JointContext extends SynthesisContext {
  /** Lets signals and timers in between attempts; throws CancelledError. */
  readonly breathe: () => Promise<void>;
}

export interface JointSynthesis {
  readonly schedule: JointSchedule;
  readonly policy: string;
  readonly trials: number;
}

/**
 * Returns a schedule of several collectives at once (TACOS 2023, section VIII-G). First each by itself, as TACOS makes it,
 * then all transfers packed by list scheduling. Where the network and the chunks are small enough for a table of cells,
 * one is filled for all together, from the proved bound on upwards: first fit from both ends of time (reductions are
 * multicasts run backwards), and what finds no cell negotiates for one. Deterministic in the seed.
 */
export async function synthesizeJoint(request: JointRequest, context: JointContext): Promise<JointSynthesis> {
  const { topology, collectives, seed, switchDegree } = request;
  if (typeof switchDegree === "number" && switchDegree > 1 && sizeClasses(collectives).classes.length > 1) {
    throw new InputError(
      "--switch-degree",
      "ports or 1 for several collectives of different chunk sizes",
      switchDegree,
    );
  }
  const { runner, onProgress } = context;
  let trials = 0;
  const alone: StepSchedule[] = [];
  const { distinct, of } = repeatedCollectives(collectives);
  for (const collective of distinct) {
    const own = await synthesizeByMatching({ ...request, collective, trials: request.trials ?? TRIALS_ALONE }, context);
    trials += own.trials;
    alone.push(isSlotSchedule(own.schedule) ? expandSlots(own.schedule) : own.schedule);
  }
  const sequence = inSequence(
    topology,
    of.map((index) => alone[index] as StepSchedule),
  );
  const targetPs = Number(ceil(jointBoundOf(topology, collectives, sequence.routes).ps));
  const merged = await packed(sequence, {
    targetPs,
    seed,
    trials: request.trials ?? TRIALS_ALONE,
    runner,
    progress: (done, total) => onProgress?.({ phase: "packing", done, total }),
  });
  trials += merged.tries;
  let best: JointSynthesis = {
    schedule: merged.joint,
    policy: merged.how === null ? "one after the other" : `each by itself, then packed (${merged.how})`,
    trials,
  };
  const mergedPs = jointEndPs(merged.joint);
  if (mergedPs <= targetPs) return best;

  const routes = routesOf(topology, tableDegree(topology, switchDegree));
  const problem = tableProblem(topology, routes, collectives, mergedPs);
  if (problem === null) return best;
  const lowPs = Number(ceil(jointBoundOf(topology, collectives, routes).ps));
  const { unitPs, exact } = problem;
  // rounded slots only make the table longer than the schedule that it stands for
  const high = Math.ceil(mergedPs / unitPs) + (exact ? 0 : Math.ceil((0.1 * mergedPs) / unitPs));
  const range = { low: Math.ceil(lowPs / unitPs), high };
  const found = await searchTable(problem, range, seed, stepsFor(MOST_STEPS, request.trials), async (tries) => {
    onProgress?.({ phase: "all together", done: tries, total: tries + 1 });
    await context.breathe();
  });
  trials += found.tries;
  best = { ...best, trials };
  if (found.joint === null) return best;
  const settled = exact
    ? { joint: found.joint, tries: 0 }
    : await packed(found.joint, { targetPs: lowPs, seed, trials: TRIALS_SETTLING, runner });
  trials += settled.tries;
  if (jointEndPs(settled.joint) >= mergedPs) return { ...best, trials };
  return { schedule: settled.joint, policy: `all together, negotiated in ${found.cells} slots`, trials };
}

function tableDegree(topology: Topology, wanted: SwitchDegree | null): SwitchDegree {
  if (wanted !== null || switchCount(topology) === 0) return wanted ?? 1;
  return portRouteCount(topology) <= MOST_PORT_ROUTES ? "ports" : 1;
}
