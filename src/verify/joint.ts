import { InputError } from "../base/errors.ts";
import { type JointRows, type JointSchedule, jointRows, tenantSchedule } from "../model/joint/joint-schedule.ts";
import { routeCount } from "../model/routes/routes.ts";
import { describer } from "./describe.ts";
import { checkContributions } from "./steps/contributions.ts";
import { checkDelivery } from "./steps/delivery.ts";
import { checkOccupancy, type Messages, messagesOf } from "./steps/occupancy.ts";
import { checkDurations, type Verification } from "./steps/schedule.ts";
import { type Recorder, recorder, type Violation } from "./violation.ts";
import { checkForm } from "./well-formed.ts";

/** A broken rule, with the tenant whose transfer or NPU it is; `transfer` is the row within the tenant. */
export interface JointViolation extends Violation {
  readonly tenant: number;
}

export interface JointVerification extends Verification {
  readonly violations: readonly JointViolation[];
}

/**
 * Returns everything that is wrong with a joint schedule: each tenant by itself by the rules of `verifySchedule`, and no
 * link carrying more than the whole of itself, whoever's transfers are on it; nothing of two tenants is ever one merged
 * send. Messages begin with the collective where
 * there are several. Throws InputError for a limit that is no whole number. About linear in the transfers of all.
 */
export function verifyJoint(joint: JointSchedule, options: { readonly limit?: number } = {}): JointVerification {
  const limit = options.limit ?? 100;
  if (!Number.isSafeInteger(limit) || limit < 0)
    throw new InputError("options.limit", "a whole number, 0 or more", limit).as("out-of-range");
  const found = recorder(limit);
  const schedules = joint.tenants.map((_, t) => tenantSchedule(joint, t));
  const recorders = schedules.map((_, t) => ofTenant(joint, t, found));
  if (schedules.every((schedule, t) => checkForm(schedule, recorders[t]))) {
    const words = schedules.map(describer);
    const rows = jointRows(joint);
    const departure: (typeof words)[number]["departure"] = (kind, i, fault) =>
      named(joint, rows.tenant[i], words[rows.tenant[i]].departure(kind, rows.row[i], fault));
    const cargo = (i: number): string =>
      `chunk ${rows.chunk[i]}${joint.tenants.length > 1 ? ` of ${titleOf(joint, rows.tenant[i])}` : ""} (transfer ${rows.row[i]})`;
    const { topology, routes } = joint;
    const messages = messagesOf(rows, routeCount(routes), rows.tenant);
    const chunks = chunksByTenant(joint, rows, messages);
    schedules.forEach((schedule, t) => {
      checkDurations(schedule, chunks === null ? null : chunks[t], recorders[t], words[t]);
    });
    checkOccupancy({ topology, routes, ...rows }, messages, found, { ...words[0], departure }, cargo);
    schedules.forEach((schedule, t) => {
      if (schedule.collective.reduces) checkContributions(schedule, recorders[t], words[t]);
      else checkDelivery(schedule, recorders[t], words[t]);
    });
  }
  const violations = found.kept as readonly JointViolation[];
  const violationCount = found.count();
  return { violations, violationCount, truncated: violationCount > violations.length };
}

/** Returns the `chunks` of all messages, tenant by tenant; null where every row is a message. */
function chunksByTenant({ tenants }: JointSchedule, rows: JointRows, { chunks }: Messages): Int32Array[] | null {
  if (chunks === null) return null;
  const own = tenants.map(({ chunk }) => new Int32Array(chunk.length));
  for (let i = 0; i < chunks.length; i++) own[rows.tenant[i]][rows.row[i]] = chunks[i];
  return own;
}

/** Returns "collective 1 (reduce)", counted from 0 as in the file. */
const titleOf = ({ tenants }: JointSchedule, tenant: number): string =>
  `collective ${tenant} (${tenants[tenant].collective.kind})`;

function named(joint: JointSchedule, tenant: number, violation: Violation): JointViolation {
  const { message } = violation;
  return {
    ...violation,
    tenant,
    message: joint.tenants.length > 1 ? `${titleOf(joint, tenant)}: ${message}` : message,
  };
}

/** Returns a recorder that adds the tenant to what it passes on. */
function ofTenant(joint: JointSchedule, tenant: number, all: Recorder): Recorder {
  return {
    kept: all.kept,
    count: all.count,
    record: (describe) => all.record(() => named(joint, tenant, describe())),
  };
}
