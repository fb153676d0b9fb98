import { InputError } from "../base/errors.ts";
import { READ_FROM_FILE, type Verdict } from "../kinds/kind.ts";
import { kindOf } from "../kinds/kinds.ts";
import { limitOf } from "../model/bounds/bounds.ts";
import { type GivenSchedule, isJoint } from "../model/joint/joint-schedule.ts";
import type { Replay } from "../model/replay/problem.ts";
import type { Report } from "../report/result.ts";

/** Returns what reports say of the algorithm of a schedule that was read; `told`: the one that its file names. */
export const algorithmOfFile = (told: string | null): string =>
  told === null ? "not told by the file" : `${told}, as the file says`;

/** A report without what only the maker knows. */
export type FileReport = Omit<Report, "synthesis"> & { readonly synthesis: null };

/**
 * Returns the report of a schedule that was read: judged, simulated (`replay`: the kernel that does it) and bounded anew.
 * `algorithm`: as algorithmOfFile has it; `judged`: the verdict, where it is known. Throws InputError for several collectives at once.
 */
export function reportOfFile(
  schedule: GivenSchedule,
  replay?: Replay,
  algorithm: string = algorithmOfFile(null),
  judged?: Verdict,
): FileReport {
  if (isJoint(schedule)) {
    const received = `one of ${schedule.tenants.length} at once`;
    throw new InputError("the schedule", "one of a single collective", received).as("not-applicable");
  }
  const { topology, collective } = schedule;
  const kind = kindOf(schedule);
  const verdict = judged ?? kind.judge({ limit: 1 });
  const simulated = kind.simulate(replay === undefined ? {} : { replay });
  const limit = limitOf(topology, collective);
  const bound = kind.bound(limit, verdict, (network) => limitOf(network, collective));
  const report = kind.report({ verdict, simulated, limit, bound }, { algorithm, synthesis: READ_FROM_FILE });
  return { ...report, synthesis: null };
}
