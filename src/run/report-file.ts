import { InputError } from "../base/errors.ts";
import type { GivenSchedule } from "../kinds/kind.ts";
import { kindOf } from "../kinds/kinds.ts";
import type { Replay } from "../model/replay/problem.ts";
import type { Report } from "../report/result.ts";

/** Returns what reports say of the algorithm of a schedule that was read; `told`: the one that its file names. */
export const algorithmOfFile = (told: string | null): string =>
  told === null ? "not told by the file" : `${told}, as the file says`;

/** A report without what only the maker knows. */
export type FileReport = Omit<Report, "synthesis"> & { readonly synthesis: null };

/**
 * Returns the report of a schedule that was read: judged, simulated (`replay`: the kernel that does it) and bounded anew.
 * `algorithm`: as algorithmOfFile has it. Throws InputError for several collectives at once.
 */
export function reportOfFile(
  schedule: GivenSchedule,
  replay?: Replay,
  algorithm: string = algorithmOfFile(null),
): FileReport {
  const { report, collectives } = kindOf(schedule);
  if (report === null)
    throw new InputError("the schedule", "one of a single collective", `one of ${collectives.length} at once`);
  return { ...report(algorithm, replay), synthesis: null };
}
