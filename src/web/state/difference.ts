import { formatShare, formatTime, PS_PER_US } from "../../model/numbers/units.ts";
import { count } from "../../report/amounts.ts";
import type { ScheduleView } from "../protocol.ts";

/** A figure of two schedules beside each other. */
export interface Line {
  readonly name: string;
  readonly past: string;
  readonly after: string;
  readonly change: string;
  readonly isWorse: boolean | null;
}

/** Returns "+12.5 %", "-3 %", "the same". */
export function changeShare(past: number, after: number): string {
  if (past === after || past === 0) return "the same";
  const percent = (after / past - 1) * 100;
  const text = Math.abs(percent) < 0.05 ? "0" : `${Math.round(Math.abs(percent) * 10) / 10}`;
  return `${percent > 0 ? "+" : "−"}${text} %`;
}

/** Returns the figures of two schedules beside each other; limits of their class only where one algorithm made both. */
export function linesOf(past: Compared, after: Compared): Line[] {
  const [one, other] = [past.schedule, after.schedule];
  const time = (name: string, from: number, to: number): Line => ({
    name,
    past: formatTime(from),
    after: formatTime(to),
    change: changeShare(from, to),
    isWorse: from === to ? null : to > from,
  });
  const share = ({ report: { ofLimit, limit, time } }: Compared["schedule"]): number => ofLimit ?? limit.us / time.us;
  const [before, now] = [one.report.classLimit, other.report.classLimit];
  const [shareBefore, shareAfter] = [share(one), share(other)];
  const points = Math.round((shareAfter - shareBefore) * 1000) / 10;
  return [
    time(one.report.ofLimit === null ? "time, planned" : "time", one.totalPs, other.totalPs),
    time("limit for any algorithm", one.report.limit.us * PS_PER_US, other.report.limit.us * PS_PER_US),
    ...(one.report.algorithm === other.report.algorithm && before !== null && now !== null
      ? [time("limit for its class", before.us * PS_PER_US, now.us * PS_PER_US)]
      : []),
    {
      name: "share of the limit",
      past: formatShare(shareBefore),
      after: formatShare(shareAfter),
      change: points === 0 ? "the same" : `${points > 0 ? "+" : "−"}${Math.abs(points)} points`,
      isWorse: points === 0 ? null : points < 0,
    },
  ];
}

/** What is compared of a schedule that was made. */
export interface Compared {
  readonly schedule: Pick<ScheduleView, "totalPs"> & {
    readonly report: Pick<
      ScheduleView["report"],
      "algorithm" | "auto" | "deterministic" | "time" | "limit" | "classLimit" | "ofLimit"
    >;
  };
}

/** Returns "takes as long as before", "takes 12 % longer", "takes 3.1 times as long". */
export function sentenceOf(past: Compared, after: Compared): string {
  const [from, to] = [past.schedule.totalPs, after.schedule.totalPs];
  if (from === to) return "takes as long as before";
  if (from > 0 && to >= 2 * from) return `takes ${Number((to / from).toPrecision(3))} times as long`;
  return `takes ${changeShare(from, to).slice(1)} ${to > from ? "longer" : "less"}`;
}

/** Returns what else decides the difference: another algorithm, a choice that the clock ended. */
export function remarksOf(past: Compared, after: Compared): string[] {
  const [one, other] = [past.schedule.report, after.schedule.report];
  const isOther = one.algorithm !== other.algorithm;
  return [
    ...(isOther ? [`The algorithm changed: ${one.algorithm} before, ${other.algorithm} now.`] : []),
    ...[clockRemark("before", one), clockRemark("now", other)].filter((text) => text !== null),
  ];
}

function clockRemark(when: string, { auto, deterministic }: Compared["schedule"]["report"]): string | null {
  if (auto === undefined || deterministic) return null;
  const seconds = formatTime(auto.budgetMs * 1000 * PS_PER_US);
  return `The time limit (${seconds}) ended the choice ${when}, after ${count(auto.tried.length, "algorithm")}.`;
}
