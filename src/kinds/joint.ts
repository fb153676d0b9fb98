import { jointScheduleJsonParts } from "../export/schedules/schedule-json.ts";
import { farthestLatencyPs, greaterBound } from "../model/bounds/bounds.ts";
import { networkTimes, wholeChunks } from "../model/bounds/class-limit.ts";
import { doublingBoundOf } from "../model/bounds/doubling.ts";
import { jointBoundOf, jointLimitOf } from "../model/bounds/joint.ts";
import type { Bound } from "../model/bounds/witness.ts";
import { repeatedCollectives } from "../model/collective/collective.ts";
import {
  type JointSchedule,
  jointEndPs,
  jointRows,
  jointTransferCount,
  tenantSchedule,
} from "../model/joint/joint-schedule.ts";
import { formatTime } from "../model/numbers/units.ts";
import { routeTimes } from "../model/routes/routes.ts";
import { hasMergedSends } from "../model/steps/step-schedule.ts";
import { count } from "../report/amounts.ts";
import { type JointReport, jointReport, jointTiming, tenantReport } from "../report/joint-result.ts";
import { switchingFor } from "../simulate/simulate.ts";
import { simulateJoint } from "../simulate/steps/replay.ts";
import { verifyJoint } from "../verify/joint.ts";
import type { Kind } from "./kind.ts";

/**
 * Returns the bound of planned times of all collectives together. Of merged sends only that each chunk holds its way for its
 * serialisation, and what messages of each collective by itself take.
 */
function jointPlannedBound(schedule: JointSchedule): Bound {
  const { topology, routes, tenants } = schedule;
  const collectives = tenants.map(({ collective }) => collective);
  if (!tenants.some((_, t) => hasMergedSends(tenantSchedule(schedule, t))))
    return jointBoundOf(topology, collectives, routes);
  const crossing = jointBoundOf(topology, collectives, routes, routeTimes);
  return repeatedCollectives(collectives)
    .distinct.map((one) => doublingBoundOf(topology, one, routes, routeTimes(topology, routes, one.chunkBytes)))
    .reduce(greaterBound, crossing);
}

/** About this many bytes a transfer takes as text. */
const TRANSFER_TEXT = 50;

/** Returns the kind of several collectives at once, each in transfers. */
export function jointKind(schedule: JointSchedule): Kind<JointReport> {
  const collectives = schedule.tenants.map((tenant) => tenant.collective);
  const transfers = jointTransferCount(schedule);
  return {
    name: "joint",
    schedule,
    collectives,
    judge: (options) => verifyJoint(schedule, options),
    simulate({ switching = switchingFor(schedule), replay, most = Number.POSITIVE_INFINITY }) {
      if (transfers > most) return null;
      const found = simulateJoint(schedule, { switching, timeline: true, ...(replay === undefined ? {} : { replay }) });
      const tenantPs = new Float64Array(collectives.length);
      const { tenant } = jointRows(schedule);
      found.endPs?.forEach((end, row) => {
        tenantPs[tenant[row]] = Math.max(tenantPs[tenant[row]], end);
      });
      return { ps: found.ps, model: found.model, linkBusyPs: found.linkBusyPs, tenantPs };
    },
    limit: (_, known = jointLimitOf(schedule.topology, collectives)) => known,
    classLimit: (_, __, stores) =>
      wholeChunks(jointBoundOf(schedule.topology, collectives, schedule.routes, networkTimes(stores)), null),
    plannedBound: () => jointPlannedBound(schedule),
    boundsLate: false,
    endPs: () => jointEndPs(schedule),
    on: (topology) => jointKind({ ...schedule, topology }),
    forms: {
      json: { bytes: TRANSFER_TEXT * transfers, parts: (told) => jointScheduleJsonParts(schedule, told) },
      bys: "a .json file for several collectives at once",
    },
    keptAs: "json",
    parts: { many: transfers, one: "transfer" },
    these: "this schedule is",
    idle(option) {
      if (option === "chunks") return { expected: "a file of trees beside it" };
      if (option === "switching") return null;
      return { expected: "a schedule of one collective", received: `one of ${collectives.length} at once` };
    },
    playable: () => true,
    played: (_, { tenantPs }) => ({
      about: { collectives: schedule.tenants.map((_, t) => tenantReport(schedule, t, tenantPs?.[t])) },
      counts: { transfers },
      speeds: { planned: { ...jointTiming(schedule, jointEndPs(schedule)), model: "link-busy" } },
    }),
    timing: (ps) => jointTiming(schedule, ps),
    facts: () => ({
      collectives: schedule.tenants.map((_, t) => {
        const { planned, ...said } = tenantReport(schedule, t);
        return { ...said, time: planned };
      }),
      transfers,
    }),
    deed: () => ({
      by: count(transfers, "transfer"),
      end: `planned to end after ${formatTime(jointEndPs(schedule))} (link-busy)`,
    }),
    explain: null,
    report: ({ verdict, limitFor: _, ...judged }, making) =>
      jointReport(schedule, judged.simulated?.tenantPs, {
        ...judged,
        reference: null,
        latencyPs: collectives.reduce((most, one) => Math.max(most, farthestLatencyPs(schedule.topology, one)), 0),
        verified: verdict.violationCount === 0,
        ...making,
      }),
  };
}
