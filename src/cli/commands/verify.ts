import { makespanOf, transfersOf } from "../../model/schedule.ts";
import { linkNames, topologyHash } from "../../model/topology.ts";
import { formatTime, toUs } from "../../model/units.ts";
import { verify } from "../../verify/verify.ts";
import { type Context, outJson } from "../context.ts";
import { verifyJointFile } from "../joint-files.ts";
import { anyScheduleOf, isJoint } from "../schedule-file.ts";
import { collectiveText } from "../synthesis-report.ts";
import { count } from "../text.ts";

/** The first so many violations are shown; --json has more. */
const SHOWN = 20;
const KEPT = 1000;

/** `banyan verify FILE`: exit code 1 and the violations where the schedule is wrong. */
export async function run(context: Context, args: readonly string[]): Promise<number> {
  const { json, quiet, style } = context;
  const file = args[0] as string;
  const schedule = await anyScheduleOf(context, file);
  if (isJoint(schedule)) return verifyJointFile(context, file, schedule);
  context.progress({ what: "verifying" });
  const { violations, violationCount, truncated } = verify(schedule, {
    limit: KEPT,
    onProgress: (done, total) => context.progress({ what: "verifying", done, total, unit: "NPUs" }),
  });
  const { topology, collective } = schedule;
  const correct = violationCount === 0;
  if (json) {
    const links = violations.some(({ link }) => link !== undefined) ? linkNames(topology) : [];
    outJson(context, {
      schema: "banyan/verification@1",
      file,
      topology: { name: topology.name, hash: topologyHash(topology) },
      collective: { kind: collective.kind, sizeBytes: collective.sizeBytes, chunksPerNpu: collective.chunksPerNpu },
      transfers: transfersOf(schedule),
      correct,
      violationCount,
      truncated,
      violations: violations.map(({ kind, message, npu, chunk, link, transfer, timePs }) => ({
        kind,
        message,
        ...(npu === undefined ? {} : { npu: topology.nodeNames[npu] }),
        ...(chunk === undefined ? {} : { chunk }),
        ...(link === undefined ? {} : { link: links[link] }),
        ...(transfer === undefined ? {} : { transfer }),
        ...(timePs === undefined ? {} : { timeUs: toUs(timePs) }),
      })),
    });
  } else if (correct) {
    const what = `${collectiveText(collective)} on ${topology.name}`;
    const verdict = `${style.good("correct")}: ${count(transfersOf(schedule), "transfer")} make ${what}`;
    if (!quiet) context.out(`${verdict} in ${formatTime(makespanOf(schedule))}\n`);
  } else {
    const lines = violations.slice(0, SHOWN).map(({ message }) => `  ${message}`);
    const rest = violationCount - lines.length;
    if (rest > 0)
      lines.push(`  ... and ${rest} more${truncated ? ` (--json has the first ${KEPT})` : " (--json has them all)"}`);
    context.out(`${style.bad("wrong")}: ${count(violationCount, "violation")} in ${file}\n${lines.join("\n")}\n`);
  }
  return correct ? 0 : 1;
}
