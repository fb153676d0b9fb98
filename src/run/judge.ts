import { WrongScheduleError } from "../base/errors.ts";
import { isJoint } from "../import/schedules/schedule-text.ts";
import type { JointSchedule } from "../model/joint/joint-schedule.ts";
import { isPhaseSchedule } from "../model/phases/phase-schedule.ts";
import type { AnySchedule } from "../model/steps/schedule.ts";
import { isTreeFlow, type TreeFlow } from "../model/trees/tree-flow.ts";
import { verifyJoint } from "../verify/joint.ts";
import { verifyPhases } from "../verify/phases/phases.ts";
import type { Verification } from "../verify/steps/schedule.ts";
import { type CertificateVerdict, judgeCertificate } from "../verify/trees/certificate.ts";
import { verifyTreeFlow } from "../verify/trees/tree-flow.ts";
import { verify } from "../verify/verify.ts";

export interface JudgeOptions {
  /** Violations kept; 100 by default. */
  readonly limit?: number;
  /** Hears of NPUs that are judged, where there are many. */
  readonly onProgress?: (done: number, total: number) => void;
}

/** Trees and the certificate as their judges see them: faulty trees have no throughput. */
export interface TreesVerdict extends Verification {
  readonly certificate: CertificateVerdict | null;
}

/** Returns what is wrong with trees or, where nothing is, with their certificate. */
export function judgeTrees(flow: TreeFlow, options: JudgeOptions = {}): TreesVerdict {
  const trees = verifyTreeFlow(flow, options);
  if (trees.violationCount > 0) return { ...trees, certificate: null };
  const certificate = judgeCertificate(flow);
  const violationCount = certificate.violations.length;
  const violations = certificate.violations.slice(0, options.limit ?? violationCount);
  return { violations, violationCount, truncated: violations.length < violationCount, certificate };
}

/** Returns what the judge of its kind finds wrong with a schedule of any kind. Throws InputError for bad options only. */
export function judge(schedule: AnySchedule | JointSchedule, options: JudgeOptions = {}): Verification {
  if (isJoint(schedule)) return verifyJoint(schedule, options);
  if (isPhaseSchedule(schedule)) return verifyPhases(schedule, options);
  return isTreeFlow(schedule) ? judgeTrees(schedule, options) : verify(schedule, options);
}

/** Throws WrongScheduleError, which calls the schedule by that name, for one that is not correct. */
export function refuseWrong(schedule: AnySchedule | JointSchedule, name: string): void {
  const { violations, violationCount } = judge(schedule, { limit: 1 });
  if (violationCount === 0) return;
  const many = violationCount === 1 ? "1 violation" : `${violationCount} violations, the first`;
  const first = violations[0]?.message ?? "";
  throw new WrongScheduleError(
    `${name} is wrong, so nothing is made of it (${many}: ${first}); \`banyan verify\` says all`,
  );
}
