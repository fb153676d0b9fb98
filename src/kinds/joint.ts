import { jointScheduleJsonParts } from "../export/schedules/joint-schedule-json.ts";
import { jointLimitOf } from "../model/bounds/joint.ts";
import { type JointSchedule, jointEndPs, jointTransferCount } from "../model/joint/joint-schedule.ts";
import { formatTime } from "../model/numbers/units.ts";
import { count } from "../report/amounts.ts";
import { tenantReport } from "../report/joint-result.ts";
import { verifyJoint } from "../verify/joint.ts";
import type { Kind } from "./kind.ts";

/** Returns the kind of several collectives at once, each in transfers. */
export function jointKind(schedule: JointSchedule): Kind {
  const collectives = schedule.tenants.map((tenant) => tenant.collective);
  const transfers = jointTransferCount(schedule);
  return {
    name: "joint",
    schedule,
    collectives,
    judge: (options) => verifyJoint(schedule, options),
    limit: () => jointLimitOf(schedule.topology, collectives),
    endPs: () => jointEndPs(schedule),
    file: () => ({ as: "json", parts: jointScheduleJsonParts(schedule) }),
    facts: () => ({ collectives: schedule.tenants.map((_, t) => tenantReport(schedule, t)), transfers }),
    deed: () => ({ by: count(transfers, "transfer"), end: `in ${formatTime(jointEndPs(schedule))}` }),
    explain: null,
    report: null,
  };
}
