import { InternalError, WrongScheduleError } from "../base/errors.ts";
import type { Kernels } from "../engine/contract/kernels.ts";
import type { JudgeOptions, Verdict } from "../kinds/kind.ts";
import { kindOf } from "../kinds/kinds.ts";
import type { GivenSchedule } from "../model/joint/joint-schedule.ts";
import type { JudgeSteps } from "../model/replay/steps-problem.ts";

/** Up to so many transfers one thread judges as soon as several. */
const FEW_TRANSFERS = 2 ** 18;

/**
 * Returns the judge of transfers among kernels, on as many threads as it is told where there is much to judge; undefined where
 * JavaScript judges. It leaves to JavaScript what it has no memory for.
 */
export function judgeBy(kernels: Kernels, threads: () => number = () => 1): JudgeSteps | undefined {
  if (kernels.backend === "js") return undefined;
  return (problem) => {
    const several = problem.chunk.length > FEW_TRANSFERS ? Math.max(1, threads()) : 1;
    try {
      return kernels.judge({ ...problem, threads: several });
    } catch (error) {
      if (error instanceof InternalError && error.outOfMemory) return false;
      throw error;
    }
  };
}

/** Returns what the judge of its kind finds wrong with a schedule of any kind. Throws InputError for bad options only. */
export const judge = (schedule: GivenSchedule, options: JudgeOptions = {}): Verdict => kindOf(schedule).judge(options);

/** Returns the verdict of a correct schedule. Throws WrongScheduleError, which calls it by that name, for one that is not. */
export function refuseWrong(schedule: GivenSchedule, name: string): Verdict {
  const verdict = judge(schedule, { limit: 1 });
  const { violations, violationCount } = verdict;
  if (violationCount === 0) return verdict;
  const many = violationCount === 1 ? "1 violation" : `${violationCount} violations, the first`;
  const first = violations[0]?.message ?? "";
  throw new WrongScheduleError(
    `${name} is wrong, so nothing is made of it (${many}: ${first}); \`banyan verify\` says all`,
  );
}
