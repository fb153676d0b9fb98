import { linkNames, type Topology, topologyHash } from "../model/topology.ts";
import { formatTime, toUs } from "../model/units.ts";
import type { Verification } from "../verify/schedule.ts";
import { KEPT, type Violation } from "../verify/violation.ts";
import { count } from "../words/amounts.ts";
import { type Context, outJson, outRows } from "./context.ts";

/** The first so many violations are shown; --json has more. */
const SHOWN = 20;

export { KEPT };

/** What was judged, of one collective or of several. */
export interface Judged {
  readonly file: string;
  readonly topology: Topology;
  /** The collectives, as --json names them: `collective` or `collectives`. */
  readonly about: Readonly<Record<string, unknown>>;
  /** The collectives and their network in words. */
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

/** Writes the verdict; returns the exit code. */
export function writeVerdict(
  context: Context,
  { file, topology, about, what, transfers, counted, ps }: Judged,
  {
    violations,
    violationCount,
    truncated,
  }: Omit<Verification, "violations"> & { readonly violations: readonly Found[] },
): number {
  const { json, quiet, style } = context;
  const correct = violationCount === 0;
  if (json) {
    outJson(context, {
      schema: "banyan/verification@1",
      file,
      topology: { name: topology.name, hash: topologyHash(topology) },
      ...about,
      transfers,
      correct,
      violationCount,
      truncated,
      violations: violationJson(topology, violations),
    });
  } else if (correct) {
    const verdict = `${style.good("correct")}: ${counted ?? count(transfers ?? 0, "transfer")} make ${what}`;
    if (!quiet) outRows(context, [`${verdict} in ${formatTime(ps)}`]);
  } else {
    const lines = violationLines(violations, violationCount, truncated);
    outRows(context, [`${style.bad("wrong")}: ${count(violationCount, "violation")} in ${file}`, ...lines]);
  }
  return correct ? 0 : 1;
}
