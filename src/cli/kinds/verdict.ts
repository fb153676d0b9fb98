import type { Collective } from "../../model/collective/collective.ts";
import type { JointSchedule } from "../../model/joint/joint-schedule.ts";
import { formatTime, toUs } from "../../model/numbers/units.ts";
import type { AnySchedule } from "../../model/steps/schedule.ts";
import { linkCount, linkNames, type Topology, topologyHash } from "../../model/topology/topology.ts";
import { count } from "../../report/amounts.ts";
import { topologySummary } from "../../report/result.ts";
import { recordOfJudged } from "../../run/record.ts";
import { collectiveFacts } from "../../report/collective-facts.ts";
import type { Verification } from "../../verify/steps/schedule.ts";
import { KEPT, type Violation } from "../../verify/violation.ts";
import { type Context, outJson, outRows } from "../context.ts";
import type { Recorded, Recording } from "../files/record-file.ts";
import { collectiveText } from "../reports/synthesis-report.ts";
import { version } from "../version.ts";

/** The first so many violations are shown; --json has more. */
const SHOWN = 20;

export { KEPT };

/** What was judged, of one collective or of several. */
export interface Judged {
  readonly file: string;
  readonly schedule: AnySchedule | JointSchedule;
  /** The collectives, as --json names them: `collective` or `collectives`. */
  readonly about: Readonly<Record<string, unknown>>;
  /** The collectives and who takes part, in words. */
  readonly what: string;
  /** null where it has none: switches sum. */
  readonly transfers: number | null;
  /** What does it, where transfers do not: "512 phases of 64 chunks". */
  readonly counted?: string;
  readonly ps: number;
}

/** A violation; of one of several collectives with the number of the collective. */
type Found = Violation & { readonly tenant?: number };

/** Returns the violations as --json has them. */
export function violationJson(topology: Topology, violations: readonly Found[]): readonly unknown[] {
  const links = violations.some(({ link }) => link !== undefined) ? linkNames(topology) : [];
  return violations.map(({ kind, message, tenant, npu, chunk, link, transfer, timePs }) => ({
    kind,
    message,
    ...(tenant === undefined ? {} : { collective: tenant }),
    ...(npu === undefined ? {} : { npu: topology.nodeNames[npu] }),
    ...(chunk === undefined ? {} : { chunk }),
    ...(link === undefined ? {} : { link: links[link] }),
    ...(transfer === undefined ? {} : { transfer }),
    ...(timePs === undefined ? {} : { timeUs: toUs(timePs) }),
  }));
}

/** Returns the first violations as lines, and how many more there are. */
export function violationLines(violations: readonly Found[], violationCount: number, truncated: boolean): string[] {
  const lines = violations.slice(0, SHOWN).map(({ message }) => `  ${message}`);
  const rest = violationCount - lines.length;
  if (rest > 0)
    lines.push(`  ... and ${rest} more${truncated ? ` (--json has the first ${KEPT})` : " (--json has them all)"}`);
  return lines;
}

/** Returns "all-reduce of 9 MiB, 9 chunks of 1 MiB, among all 9 NPUs": what a schedule was proved to make. */
export function provedText(topology: Topology, collective: Collective): string {
  const { participants, deliveries } = collectiveFacts(topology, collective);
  const who = participants === topology.npuCount ? "all" : `${participants} of`;
  const custom = deliveries === undefined ? "" : `, ${count(deliveries, "delivery", "deliveries")}`;
  return `${collectiveText(topology, collective)}${custom}, among ${who} ${count(topology.npuCount, "NPU")}`;
}

/** Returns "of mesh:3x3 (24 links, hash ef1df2e5bb323451)": a name is what a file says, the hash is what it has. */
export const provedNetworkText = (topology: Topology): string =>
  `of ${topology.name} (${count(linkCount(topology), "link")}, hash ${topologyHash(topology)})`;

/** Returns what is said of a wrong schedule by those who were not asked to judge it. */
export const wrongText = (what: string, violationCount: number, file: string): string =>
  `${what} wrong (${count(violationCount, "violation")}; \`banyan verify ${file}\` lists them)`;

/** Writes the verdict, and records where they are asked for; returns the exit code. */
export function writeVerdict(
  context: Context,
  { file, schedule, about, what, transfers, counted, ps }: Judged,
  {
    violations,
    violationCount,
    truncated,
  }: Omit<Verification, "violations"> & { readonly violations: readonly Found[] },
  record: Recording,
): number {
  const { json, quiet, style } = context;
  const { topology } = schedule;
  const correct = violationCount === 0;
  const recorded = record(correct, () => recordOfJudged(schedule, version));
  if (json) {
    outJson(context, {
      schema: "banyan/verification@1",
      file,
      topology: topologySummary(topology),
      ...about,
      transfers,
      correct,
      ...recorded.json,
      violationCount,
      truncated,
      violations: violationJson(topology, violations),
    });
  } else if (correct) {
    const verdict = `${style.good("correct")}: ${counted ?? count(transfers ?? 0, "transfer")} make ${what}`;
    if (!quiet) outRows(context, [`${verdict} ${provedNetworkText(topology)} in ${formatTime(ps)}`]);
  } else {
    const lines = violationLines(violations, violationCount, truncated);
    outRows(context, [`${style.bad("wrong")}: ${count(violationCount, "violation")} in ${file}`, ...lines]);
  }
  return writeRecorded(context, correct, recorded);
}

/** Writes what records came to, below the verdict; returns the exit code. */
export function writeRecorded(context: Context, correct: boolean, { lines, same }: Recorded): number {
  if (!context.json && lines.length > 0 && !(context.quiet && same)) outRows(context, lines);
  return correct && same ? 0 : 1;
}
