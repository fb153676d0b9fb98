import { InputError } from "../errors.ts";
import { jointTiming, tenantReport } from "../joint-result.ts";
import { type JointSchedule, jointEndPs, jointTransferCount } from "../model/joint-schedule.ts";
import { linkNames, topologyHash } from "../model/topology.ts";
import { formatTime, toUs } from "../model/units.ts";
import { switchingFor } from "../pipeline.ts";
import { topologySummary } from "../result.ts";
import { simulateJoint } from "../simulate/replay.ts";
import type { Switching } from "../simulate/simulation.ts";
import { utilisation } from "../simulate/utilisation.ts";
import { verifyJoint } from "../verify/joint.ts";
import { type Context, outJson } from "./context.ts";
import { tenantLines, timeLines } from "./joint-report.ts";
import { collectiveText, networkText } from "./synthesis-report.ts";
import { count, labelled, percent } from "./text.ts";

/** The first so many violations are shown; --json has more. */
const SHOWN = 20;
const KEPT = 1000;

const summaries = (joint: JointSchedule) => joint.tenants.map((_, t) => tenantReport(joint, t));

/** `banyan verify FILE` for a file of several collectives. */
export function verifyJointFile(context: Context, file: string, joint: JointSchedule): number {
  const { json, quiet, style } = context;
  const { topology } = joint;
  context.progress({ what: "verifying" });
  const { violations, violationCount, truncated } = verifyJoint(joint, { limit: KEPT });
  const correct = violationCount === 0;
  if (json) {
    const links = violations.some(({ link }) => link !== undefined) ? linkNames(topology) : [];
    outJson(context, {
      schema: "banyan/verification@1",
      file,
      topology: { name: topology.name, hash: topologyHash(topology) },
      collectives: summaries(joint),
      transfers: jointTransferCount(joint),
      correct,
      violationCount,
      truncated,
      violations: violations.map(({ kind, message, tenant, npu, chunk, link, transfer, timePs }) => ({
        kind,
        message,
        collective: tenant,
        ...(npu === undefined ? {} : { npu: topology.nodeNames[npu] }),
        ...(chunk === undefined ? {} : { chunk }),
        ...(link === undefined ? {} : { link: links[link] }),
        ...(transfer === undefined ? {} : { transfer }),
        ...(timePs === undefined ? {} : { timeUs: toUs(timePs) }),
      })),
    });
  } else if (correct) {
    const what = joint.tenants.map(({ collective }) => collectiveText(collective)).join("; ");
    const verdict = `${style.good("correct")}: ${count(jointTransferCount(joint), "transfer")} make ${what}`;
    if (!quiet) context.out(`${verdict} on ${topology.name} in ${formatTime(jointEndPs(joint))}\n`);
  } else {
    const lines = violations.slice(0, SHOWN).map(({ message }) => `  ${message}`);
    const rest = violationCount - lines.length;
    if (rest > 0)
      lines.push(`  ... and ${rest} more${truncated ? ` (--json has the first ${KEPT})` : " (--json has them all)"}`);
    context.out(`${style.bad("wrong")}: ${count(violationCount, "violation")} in ${file}\n${lines.join("\n")}\n`);
  }
  return correct ? 0 : 1;
}

/** `banyan simulate FILE` for a file of several collectives. Throws InputError for --reference and --trace. */
export function simulateJointFile(context: Context, file: string, joint: JointSchedule, asked?: Switching): number {
  const { options, json, style } = context;
  for (const option of ["reference", "trace"]) {
    if (options[option] !== undefined)
      throw new InputError(`--${option}`, "a schedule of one collective", `one of ${joint.tenants.length} at once`);
  }
  const { topology } = joint;
  context.progress({ what: "verifying" });
  const { violationCount } = verifyJoint(joint, { limit: 0 });
  if (violationCount > 0) {
    const words = count(violationCount, "violation");
    context.note(`this schedule is wrong (${words}; \`banyan verify ${file}\` lists them)`);
  }
  context.progress({ what: "simulating" });
  const { ps, model, linkBusyPs } = simulateJoint(joint, { switching: asked ?? switchingFor(joint) });
  const planned = { ...jointTiming(joint, jointEndPs(joint)), model: "link-busy" };
  const simulated = { ...jointTiming(joint, ps), model };
  const links = utilisation(topology, ps, linkBusyPs);
  const code = violationCount === 0 ? 0 : 1;
  if (json) {
    outJson(context, {
      schema: "banyan/simulation@1",
      file,
      topology: topologySummary(topology),
      collectives: summaries(joint),
      transfers: jointTransferCount(joint),
      verified: code === 0,
      time: planned,
      simulated,
      links: { meanUtilisation: links.mean, maxUtilisation: links.max, busiest: links.bottleneck?.name ?? null },
      trace: null,
    });
    return code;
  }
  const busiest = links.bottleneck === null ? "" : `, busiest ${percent(links.max)} (${links.bottleneck.name})`;
  const verdict = code === 0 ? style.good("verified") : style.bad("NOT correct");
  const label = (key: string, text: string): string => `  ${labelled(key, text)}`;
  const lines = [
    "",
    label("topology", networkText(topologySummary(topology))),
    ...tenantLines(joint),
    label("schedule", `${count(jointTransferCount(joint), "transfer")}, ${verdict}`),
    "",
    ...timeLines(
      [
        ["planned", planned],
        ["simulated", simulated],
      ],
      style,
    ),
    "",
    label("links", `busy ${percent(links.mean)} on average${busiest}`),
  ];
  context.out(`${lines.map((line) => line.trimEnd()).join("\n")}\n`);
  return code;
}
