import { optionName } from "../base/option-names.ts";
import type { ClassLimit, ScheduleClass } from "../model/bounds/class-limit.ts";
import type { Bound } from "../model/bounds/witness.ts";
import type { DirectFacts } from "../model/direct/facts.ts";
import type { Rational } from "../model/numbers/rational.ts";
import { toUs } from "../model/numbers/units.ts";
import { triesMoreChunks } from "../model/steps/estimate.ts";
import { extrapolation } from "../model/topology/link-classes.ts";
import type { Topology } from "../model/topology/topology.ts";
import type { SolverFacts } from "../synthesize/solver-facts.ts";
import { count, timeText } from "./amounts.ts";
import {
  boundReport,
  classLimitReport,
  type Gap,
  type Report,
  referenceReport,
  type Timing,
  topologySummary,
} from "./result.ts";

/** What reports of all kinds say: limit for any algorithm <= limit for the class <= the schedule, and what lies between. */

/** What judges said of a schedule, whatever its kind. */
export interface JudgedFigures {
  readonly algorithm: string;
  readonly limit: Bound;
  /** Null where it is not known, or not yet. */
  readonly classLimit: ClassLimit | null;
  readonly plannedBound: Bound | null;
  readonly simulated: { readonly ps: number; readonly model: string } | null;
  readonly reference: Rational | null;
  /** What one byte takes at least. */
  readonly latencyPs: number;
  readonly verified: boolean;
  readonly notes?: readonly string[] | undefined;
  readonly deterministic?: boolean | undefined;
  readonly direct?: DirectFacts | undefined;
  readonly solver?: SolverFacts | undefined;
  readonly synthesis: Report["synthesis"];
}

/** Whose figures they are. */
export interface Subject {
  readonly topology: Topology;
  /** Of all collectives together. */
  readonly sizeBytes: number;
  /** Of each of several collectives. */
  readonly sizesBytes?: readonly number[];
  readonly timing: (ps: number) => Timing;
  /** Its planned end; null for what has no times of its own, which is always simulated. */
  readonly plannedPs: number | null;
}

type Head = "schema" | "topology" | "collective" | "schedule";
type Figures = Omit<Report, Head>;

/** Returns a report: what a kind says of its own, and the figures that all have. */
export const reportWith = <Own extends Pick<Chained, "schedule" | "collective">>(
  own: Own,
  subject: Subject,
  judged: JudgedFigures,
): Own & Figures & Pick<Report, "schema" | "topology"> =>
  withBounds(
    {
      schema: "banyan/result@2" as const,
      topology: topologySummary(subject.topology),
      ...own,
      ...figuresOf(subject, judged),
    },
    subject,
    judged,
  );

const PLANNED = "link-busy";

/** Returns the figures that reports of all kinds have, but for what `withBounds` adds. */
function figuresOf({ topology, sizeBytes, sizesBytes, timing, plannedPs }: Subject, judged: JudgedFigures): Figures {
  const { limit, simulated, direct, solver } = judged;
  const beyond = extrapolation(topology, sizesBytes ?? [sizeBytes]);
  const notes = [...(judged.notes ?? []), ...(beyond === null ? [] : [beyond])];
  const { ps, model } = simulated ?? { ps: plannedPs ?? 0, model: PLANNED };
  return {
    algorithm: judged.algorithm,
    time: { ps, ...timing(ps), model },
    limit: boundReport(topology, { sizeBytes }, limit),
    classLimit: null,
    ofLimit: null,
    ofClassLimit: null,
    gaps: [],
    details: {
      planned: plannedPs === null ? null : { ...timing(plannedPs), model: PLANNED },
      plannedBound: null,
      ofPlannedBound: null,
      reference: referenceReport(judged.reference),
      latencyUs: toUs(judged.latencyPs),
    },
    ...(direct === undefined ? {} : { direct }),
    ...(solver === undefined ? {} : { solver }),
    ...(notes.length === 0 ? {} : { notes }),
    verified: judged.verified,
    deterministic: judged.deterministic ?? true,
    synthesis: judged.synthesis,
  };
}

/** What a chain is made of: a report, or one of several collectives. */
type Chained = Figures & Pick<Report, "schedule"> & { readonly collective?: Report["collective"] };

/** Whether the time of a report is that of the network model. */
export const isSimulated = ({ time }: Pick<Report, "time">): boolean => time.model !== PLANNED;

/**
 * Returns a report with its shares and gaps as its limits and its time have them; a limit of its class that is not above the
 * one for any algorithm is left out. That one binds planned times too, for links that are busy for longer could as well be idle.
 */
export function chained<AReport extends Chained>(report: AReport): AReport {
  const { time, limit, details } = report;
  const classLimit = report.classLimit !== null && report.classLimit.us > limit.us ? report.classLimit : null;
  const share = (bound: { readonly us: number } | null, us: number): number | null =>
    bound === null ? null : us === 0 ? 1 : bound.us / us;
  const simulated = isSimulated(report);
  const { planned } = details;
  const plannedBound =
    details.plannedBound !== null && details.plannedBound.us < limit.us ? limit : details.plannedBound;
  const whole = {
    ...report,
    classLimit,
    ofLimit: simulated ? share(limit, time.us) : null,
    ofClassLimit: simulated ? share(classLimit, time.us) : null,
    details: { ...details, plannedBound, ofPlannedBound: planned === null ? null : share(plannedBound, planned.us) },
  };
  return { ...whole, gaps: simulated ? gapsOf(whole) : [] };
}

/** Below this share of the whole time nothing is said of a gap. */
const LEAST_GAP = 1e-4;

/** Returns what lies between the limit, the limit of the class, and the schedule. */
function gapsOf(report: Chained): Gap[] {
  const { time, limit, classLimit } = report;
  const gaps: Gap[] = [];
  const add = (from: Gap["from"], to: Gap["to"], us: number, because: (gap: string) => string): void => {
    if (us > LEAST_GAP * time.us) gaps.push({ from, to, us, because: because(timeText(us)) });
  };
  if (classLimit !== null) {
    const { of, us, forwardingUs, unusedUs = 0 } = classLimit;
    const from = Math.max(limit.us, forwardingUs ?? 0);
    add("limit", "class limit", from - limit.us, (gap) => PRICE["forwarding switches"](gap, report));
    const routesUs = Math.min(us - from, unusedUs);
    add("limit", "class limit", routesUs, (gap) => priceOfRoutes(gap, report));
    add("limit", "class limit", us - from - routesUs, (gap) => PRICE[of](gap, report));
  }
  const least = classLimit ?? limit;
  const restUs = time.us - least.us;
  add(classLimit === null ? "limit" : "class limit", "schedule", restUs, (gap) => restOf(report, gap, restUs));
  return gaps;
}

/** Returns how to try another algorithm, or other trees; null where all that `auto` knows were tried, or there is no auto. */
function untried({ auto, deterministic, synthesis, collective }: Chained, other: string): string | null {
  if (synthesis.isRead === true) return other;
  if (collective === undefined) return null;
  if (auto === undefined) return `${other} (${optionName("algorithm")} auto)`;
  return deterministic ? null : `${other}, with more time (${optionName("timeLimitMs")}),`;
}

/** Returns how to try more chunks, where that was not done and `auto` can. */
function moreChunks({ synthesis, schedule, collective }: Chained): string | null {
  if (synthesis.isRead === true) return "more chunks";
  const { transfers } = schedule;
  const canTry =
    synthesis.choseChunks !== true &&
    transfers !== null &&
    collective !== undefined &&
    collective.kind !== "custom" &&
    triesMoreChunks(transfers, collective.chunksPerNpu);
  return canTry ? `more chunks (${optionName("chunks")} auto)` : null;
}

function priceOfRoutes(gap: string, report: Chained): string {
  const other = untried(report, "another algorithm");
  return `${gap} is the cost of these routes, which leave bandwidth unused${other === null ? "" : `: ${other} need not pay it`}`;
}

function priceOfChunks(gap: string, report: Chained): string {
  const cost = `${gap} is the cost of whole chunks of this size`;
  if (report.synthesis.choseChunks === true) return `${cost}, the best of the sizes tried`;
  const more = moreChunks(report);
  return more === null ? cost : `${cost}: ${more} reduce it`;
}

/** What schedules of a class pay beyond what is possible, and who does not. */
const PRICE: Readonly<Record<ScheduleClass, (gap: string, report: Chained) => string>> = {
  "whole chunks": priceOfChunks,
  "forwarding switches": (gap) =>
    `${gap} is what only switches that copy and sum can save: algorithms that let them need not pay it`,
  "sums at one NPU": (gap) =>
    `${gap} is proved for everything that sums each byte at one NPU, as trees do; no schedule is known that gains by spreading a sum`,
  phases: (gap) => `${gap} is the cost of going dimension by dimension: algorithms that mix dimensions need not pay it`,
};

/** Returns what the part of a schedule's time beyond its limits is, and what would make it less. */
function restOf(report: Chained, gap: string, restUs: number): string {
  const { throughput, traffic, schedule, collective, details, direct, auto } = report;
  if (throughput !== undefined) {
    const trees = untried(report, "other trees") ?? "other trees";
    const others = traffic === undefined ? `more copies per root (${optionName("k")}) or ${trees}` : trees;
    return restOfTrees(throughput, others, schedule.pieces ?? 1, gap, restUs);
  }
  if (schedule.kind === "phases")
    return `${gap} is the time that the first and last chunks take through the dimensions, and waiting in between: it matters less with more chunks (${optionName("chunks")}) or at a larger size`;
  if (schedule.kind === "periods")
    return `${gap} is the time that a round takes through its trees, and what its period leaves of links: it matters less with more chunks (${optionName("chunks")}) or at a larger size`;
  const isLatency = restUs <= 2 * details.latencyUs;
  if (isLatency)
    return `${gap} is about the latency (${timeText(details.latencyUs)} for one byte), on top of the time for the bytes: it matters less at larger sizes`;
  const chunks = collective?.chunksPerNpu === 1 && direct === undefined ? moreChunks(report) : null;
  const others = [chunks, untried(report, "another algorithm")].filter((other) => other !== null);
  const rest = `${gap} is not proved to be necessary`;
  if (others.length > 0) return `${rest}: ${others.join(" or ")} may save some of it`;
  return auto === undefined ? rest : `${rest}; of the ${count(auto.tried.length, "algorithm")} tried none takes less`;
}

function restOfTrees(
  { bound, ofBound, height }: NonNullable<Report["throughput"]>,
  others: string,
  pieces: number,
  gap: string,
  restUs: number,
): string {
  const slowerUs = Math.min(restUs, bound.us / ofBound - bound.us);
  const filling = `the time that ${count(pieces, "piece")} ${pieces === 1 ? "takes" : "take"} through trees of height ${height}, latencies and waiting: it matters less at larger sizes`;
  if (slowerUs <= LEAST_GAP * bound.us) return `${gap} is ${filling}`;
  const slower = `${timeText(slowerUs)} of ${gap} is bandwidth that these trees leave unused: ${others} may use it`;
  return restUs - slowerUs <= LEAST_GAP * bound.us ? slower : `${slower}; the rest is ${filling}`;
}

/** Returns a report with what is proved of its class and of planned times, and what follows from that. */
export function withBounds<AReport extends Chained>(
  report: AReport,
  { topology, sizeBytes }: Pick<Subject, "topology" | "sizeBytes">,
  { classLimit, plannedBound }: Pick<JudgedFigures, "classLimit" | "plannedBound">,
): AReport {
  const planned = plannedBound === null ? null : boundReport(topology, { sizeBytes }, plannedBound);
  return chained({
    ...report,
    classLimit: classLimit === null ? null : classLimitReport(topology, { sizeBytes }, classLimit),
    details: { ...report.details, plannedBound: planned },
  });
}
