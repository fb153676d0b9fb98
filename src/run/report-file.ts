import { InputError } from "../base/errors.ts";
import type { Kernels } from "../engine/contract/kernels.ts";
import { type Kind, READ_FROM_FILE, type Simulated, type Verdict } from "../kinds/kind.ts";
import { kindOf } from "../kinds/kinds.ts";
import { type GivenSchedule, isJoint } from "../model/joint/joint-schedule.ts";
import type { Report } from "../report/result.ts";
import { limitsBy } from "./bottleneck.ts";
import { judgeBy } from "./judge.ts";
import { boundsOf } from "./report-on.ts";

/** Returns what reports say of the algorithm of a schedule that was read; `told`: the one that its file names. */
export const algorithmOfFile = (told: string | null): string =>
  told === null ? "not given in the file" : `${told}, as the file says`;

/** A report without what only the maker knows. */
export type FileReport = Omit<Report, "synthesis"> & { readonly synthesis: null };

/**
 * Returns the report of a schedule that was read: judged, simulated and bounded again, by kernels.
 * `algorithm`: as algorithmOfFile has it; `judged`: the verdict, where it is known. Throws InputError for several collectives at once.
 */
export function reportOfFile(
  schedule: GivenSchedule,
  kernels: Kernels,
  algorithm: string = algorithmOfFile(null),
  judged?: Verdict,
): FileReport {
  if (isJoint(schedule)) {
    const received = `one of ${schedule.tenants.length} at once`;
    throw new InputError("the schedule", "one of a single collective", received).as("not-applicable");
  }
  const kind = kindOf(schedule);
  const verdict = judged ?? kind.judge({ limit: 1, judge: judgeBy(kernels) });
  const simulated = kind.simulate({ replay: kernels.replay });
  return { ...judgedReport(kind, kernels, verdict, simulated, algorithm), synthesis: null };
}

/** Returns the report of a schedule that was read and judged. */
export function judgedReport<AReport>(
  kind: Kind<AReport>,
  kernels: Kernels,
  verdict: Verdict,
  simulated: Simulated | null,
  algorithm: string = algorithmOfFile(null),
): AReport {
  const limitFor = limitsBy(kernels);
  const [collective, ...others] = kind.collectives;
  const known =
    others.length > 0 || collective === undefined ? undefined : limitFor(kind.schedule.topology, collective);
  const judged = {
    verdict,
    simulated,
    limit: kind.limit(verdict, known),
    limitFor,
    ...boundsOf(kind, verdict, simulated?.model, limitFor),
  };
  return kind.report(judged, { algorithm, synthesis: READ_FROM_FILE });
}
