import type { Kind } from "../../kinds/kind.ts";
import { toUs } from "../../model/numbers/units.ts";
import type { JudgeSteps } from "../../model/replay/steps-problem.ts";
import { linkNames, type Topology } from "../../model/topology/topology.ts";
import { count } from "../../report/amounts.ts";
import { topologySummary } from "../../report/result.ts";
import { provedNetworkText, provedText } from "../../report/subject-text.ts";
import type { RowViolation } from "../../run/own/own-sends.ts";
import { recordOfJudged } from "../../run/record.ts";
import { KEPT } from "../../verify/violation.ts";
import { type Context, outJson, outRows } from "../context.ts";
import type { Recorded, Recording } from "../files/record-file.ts";
import { version } from "../version.ts";

/** The first few violations are shown; --json has more. */
const SHOWN = 20;

export { KEPT };

/** A violation; of sends with their row, of one of several collectives with the number of the collective. */
type Found = RowViolation & { readonly tenant?: number };

/** Returns the violations as --json has them. */
export function violationJson(topology: Topology, violations: readonly Found[]): readonly unknown[] {
  const links = violations.some(({ link }) => link !== undefined) ? linkNames(topology) : [];
  return violations.map(({ kind, message, row, tenant, npu, chunk, link, transfer, timePs }) => ({
    kind,
    message,
    ...(row === undefined ? {} : { row }),
    ...(tenant === undefined ? {} : { collective: tenant }),
    ...(npu === undefined ? {} : { npu: topology.nodeNames[npu] }),
    ...(chunk === undefined ? {} : { chunk }),
    ...(link === undefined ? {} : { link: links[link] }),
    ...(transfer === undefined ? {} : { transfer }),
    ...(timePs === undefined ? {} : { timeUs: toUs(timePs) }),
  }));
}

/** Returns the first violations as lines, and how many more there are. */
function violationLines(violations: readonly Found[], violationCount: number, truncated: boolean): string[] {
  const lines = violations.slice(0, SHOWN).map(({ message }) => `  ${message}`);
  const rest = violationCount - lines.length;
  if (rest > 0)
    lines.push(`  ... and ${rest} more${truncated ? ` (--json has the first ${KEPT})` : " (--json has them all)"}`);
  return lines;
}

/** Returns what is said of a wrong schedule by those who were not asked to judge it. */
export const wrongText = (what: string, violationCount: number, file: string): string =>
  `${what} wrong (${count(violationCount, "violation")}; \`banyan verify ${file}\` lists them)`;

/**
 * `banyan verify FILE`: judges a schedule, writes the verdict, and records where they are asked for; returns the exit code.
 * `claims`: the file claims something of itself, which is not judged here; `judge`: the kernel that looks first.
 */
export function writeVerdict(
  context: Context,
  file: string,
  kind: Kind<unknown>,
  record: Recording,
  claims: boolean,
  judge: JudgeSteps | undefined,
): number {
  const { json, quiet, style } = context;
  const { topology } = kind.schedule;
  context.progress({ what: "verifying" });
  const verdict = kind.judge({
    limit: KEPT,
    judge,
    onProgress: (done, total) => context.progress({ what: "verifying", done, total, unit: "NPUs" }),
  });
  const { violations, violationCount, truncated } = verdict;
  const correct = violationCount === 0;
  const recorded = record(correct, () => recordOfJudged(kind, verdict, version));
  if (json) {
    outJson(
      context,
      {
        schema: "banyan/verification@1",
        file,
        topology: topologySummary(topology),
        ...kind.facts(verdict),
        correct,
        ...(claims ? { claims } : {}),
        ...recorded.json,
        violationCount,
        truncated,
        violations: violationJson(topology, violations),
      },
      correct && recorded.same,
    );
  } else if (correct) {
    const { by, end } = kind.deed(verdict);
    const what = kind.collectives.map((one) => provedText(topology, one)).join("; ");
    const more = claims
      ? [`the times and limits written in the file were not re-checked; \`banyan verify ${file} --independent\` does`]
      : [];
    if (!quiet)
      outRows(context, [`${style.good("correct")}: ${by} make ${what} ${provedNetworkText(topology)} ${end}`, ...more]);
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
