import { jointBoundOf } from "../../model/bounds/joint.ts";
import type { Bound } from "../../model/bounds/witness.ts";
import { sizeClasses } from "../../model/collective/collective.ts";
import { type JointSchedule, jointEndPs, jointTransferCount, type Tenant } from "../../model/joint/joint-schedule.ts";
import { ceil } from "../../model/numbers/rational.ts";
import { type RouteSet, routeTimes } from "../../model/routes/routes.ts";
import { routesOf, tableDegree } from "../../model/routes/routing.ts";
import { deadlineIn, USUAL_SOLVE_MS } from "../deadline.ts";
import { type JointContext, type JointRequest, type JointSynthesis, synthesizeJoint } from "../joint/joint.ts";
import type { SolverFacts } from "../solver-facts.ts";
import { boundBy, contains, gap, MOST_TRANSFERS, skipped, TRYING, WHOLE_CHUNKS } from "./facts.ts";
import { scheduleOf } from "./found-rows.ts";
import { flowsOf } from "./problem.ts";
import { shortened } from "./shorten.ts";
import { stagesOf } from "./stages.ts";

/** What several collectives at once became, with what programs did for it. */
export interface JointIlpSynthesis extends JointSynthesis {
  readonly solver: SolverFacts;
  /** Above what jointBoundOf proves, for the schedule's chunks and routes, where a program proved it. */
  readonly bound?: Bound;
  readonly notes?: readonly string[];
  readonly deterministic?: boolean;
}

/**
 * Returns a schedule of several collectives at once (TACOS 2023, section VIII-G): the one that is packed and negotiated where
 * it meets the joint bound, else the best that programs over all chunks together find. Copies and reductions share the links
 * tick by tick; chunks may differ in size. Throws as synthesizeJoint.
 */
export async function solveTogether(request: JointRequest, context: JointContext): Promise<JointIlpSynthesis> {
  const { topology, collectives, switchDegree, timeLimitMs, policy } = request;
  const deadline = deadlineIn(timeLimitMs ?? USUAL_SOLVE_MS);
  const known = await synthesizeJoint({ ...request, policy: null }, context);
  const highPs = jointEndPs(known.schedule);
  const routes = routesOf(topology, tableDegree(topology, switchDegree));
  const own = contains(routes, known.schedule.routes);
  const lowOver = (set: RouteSet): number => Number(ceil(jointBoundOf(topology, collectives, set).ps));
  const lowPs = lowOver(routes);
  const as = (proved: boolean, notes: readonly string[]): JointIlpSynthesis => ({
    ...known,
    solver: { proved, model: WHOLE_CHUNKS, stages: [] },
    ...(notes.length === 0 ? {} : { notes }),
  });
  if (own && highPs <= lowPs) return as(true, []);
  if (context.milp === undefined) return as(false, ["no solver of integer programs is at hand"]);
  const transfers = jointTransferCount(known.schedule);
  if (transfers > MOST_TRANSFERS) {
    return as(false, [`no program was tried: ${transfers} transfers, and programs are for at most ${MOST_TRANSFERS}`]);
  }
  const { classes, of } = sizeClasses(collectives);
  const durations = classes.map(({ chunkBytes }) => routeTimes(topology, routes, chunkBytes).slotPs);
  const flows = collectives.flatMap((collective, t) => flowsOf(collective, of[t]));
  const stages = stagesOf(context.milp, deadline, context);
  const trying = TRYING[policy ?? ""] ?? "all";
  const found = await shortened({ topology, routes, durations, slotPs: null, flows, lowPs, highPs, trying }, stages);
  let first = 0;
  const tenants = collectives.map((collective, t): Tenant => {
    const base = first;
    first += collective.chunkCount;
    const moves = (found.moves ?? []).filter(({ flow }) => flow >= base && flow < first);
    const { chunk, route, startPs, endPs, op } = scheduleOf(
      topology,
      collective,
      routes,
      durations[of[t]],
      moves,
      base,
    );
    return { collective, chunk, route, startPs, endPs, op };
  });
  const schedule: JointSchedule = found.moves === null ? known.schedule : { topology, routes, tenants };
  const endPs = jointEndPs(schedule);
  const proof = found.moves !== null || own ? found.proof : null;
  // a schedule over other routes is held against their bound
  const least = Math.max(found.moves !== null || own ? lowPs : lowOver(known.schedule.routes), proof?.ps ?? 0);
  const describesAll = flows.every(({ kind }) => kind !== "both");
  const notes = [...found.notes, ...skipped(stages.list), ...gap(endPs, least, describesAll)];
  return {
    ...known,
    schedule,
    policy: found.moves === null ? known.policy : found.how,
    solver: { proved: endPs <= least, model: found.model, stages: stages.list },
    ...(proof === null || proof.ps <= lowPs ? {} : { bound: boundBy(proof, found.model) }),
    ...(notes.length === 0 ? {} : { notes }),
    ...(stages.timedOut() ? { deterministic: false } : {}),
  };
}
