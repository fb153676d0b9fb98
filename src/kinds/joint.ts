import { jointScheduleJsonParts } from "../export/schedules/schedule-json.ts";
import { jointBoundOf, jointLimitOf } from "../model/bounds/joint.ts";
import { type JointSchedule, jointEndPs, jointTransferCount } from "../model/joint/joint-schedule.ts";
import { formatTime } from "../model/numbers/units.ts";
import { count } from "../report/amounts.ts";
import { type JointReport, jointReportOf, jointTiming, tenantReport } from "../report/joint-result.ts";
import { switchingFor } from "../simulate/simulate.ts";
import { simulateJoint } from "../simulate/steps/replay.ts";
import { verifyJoint } from "../verify/joint.ts";
import type { Kind } from "./kind.ts";

/** About so many bytes a transfer takes as text. */
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
      return simulateJoint(schedule, { switching, ...(replay === undefined ? {} : { replay }) });
    },
    bound: () => jointBoundOf(schedule.topology, collectives, schedule.routes),
    boundsLate: false,
    limit: () => jointLimitOf(schedule.topology, collectives),
    endPs: () => jointEndPs(schedule),
    forms: {
      json: { bytes: TRANSFER_TEXT * transfers, parts: (about) => jointScheduleJsonParts(schedule, about) },
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
    played: () => ({
      about: { collectives: schedule.tenants.map((_, t) => tenantReport(schedule, t)) },
      counts: { transfers },
      speeds: { time: { ...jointTiming(schedule, jointEndPs(schedule)), model: "link-busy" } },
    }),
    timing: (ps) => jointTiming(schedule, ps),
    facts: () => ({ collectives: schedule.tenants.map((_, t) => tenantReport(schedule, t)), transfers }),
    deed: () => ({ by: count(transfers, "transfer"), end: `in ${formatTime(jointEndPs(schedule))}` }),
    explain: null,
    report: ({ verdict, simulated, limit, bound }, making) =>
      jointReportOf({ schedule, bound, limit, simulated, verified: verdict.violationCount === 0, ...making }),
  };
}
