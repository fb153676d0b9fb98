import { WrongScheduleError } from "../base/errors.ts";
import type { Kernels } from "../engine/contract/kernels.ts";
import type { JudgeOptions, Verdict } from "../kinds/kind.ts";
import { kindOf } from "../kinds/kinds.ts";
import type { GivenSchedule } from "../model/joint/joint-schedule.ts";
import type { JudgeSteps } from "../model/replay/steps-problem.ts";

/** Returns the judge of transfers among kernels, on so many threads; undefined where JavaScript judges. */
export const judgeBy = (kernels: Kernels, threads = 1): JudgeSteps | undefined =>
  kernels.backend === "js" ? undefined : (problem) => kernels.judge({ ...problem, threads: Math.max(1, threads) });

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
