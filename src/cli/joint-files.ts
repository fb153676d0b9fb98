import { InputError } from "../errors.ts";
import { jointTiming, tenantReport } from "../joint-result.ts";
import { type JointSchedule, jointEndPs, jointTransferCount } from "../model/joint-schedule.ts";
import type { Replay } from "../model/replay/problem.ts";
import { switchingFor } from "../pipeline.ts";
import { topologySummary } from "../result.ts";
import { simulateJoint } from "../simulate/replay.ts";
import type { Switching } from "../simulate/simulation.ts";
import { utilisation } from "../simulate/utilisation.ts";
import { verifyJoint } from "../verify/joint.ts";
import { count } from "../words/amounts.ts";
import { type Context, outJson, outLines } from "./context.ts";
import { tenantLines, timeLines } from "./joint-report.ts";
import type { Recording } from "./record-file.ts";
import { networkText } from "./synthesis-report.ts";
import { labelled, linksJson, linksText } from "./text.ts";
import { KEPT, provedText, writeVerdict, wrongText } from "./verdict.ts";

const summaries = (joint: JointSchedule) => joint.tenants.map((_, t) => tenantReport(joint, t));

/** `banyan verify FILE` for a file of several collectives. */
export function verifyJointFile(context: Context, file: string, joint: JointSchedule, record: Recording): number {
  const { topology } = joint;
  context.progress({ what: "verifying" });
  const judged = {
    file,
    schedule: joint,
    about: { collectives: summaries(joint) },
    what: joint.tenants.map(({ collective }) => provedText(topology, collective)).join("; "),
    transfers: jointTransferCount(joint),
    ps: jointEndPs(joint),
  };
  return writeVerdict(context, judged, verifyJoint(joint, { limit: KEPT }), record);
}

/** `banyan simulate FILE` for a file of several collectives. Throws InputError for --reference and --trace. */
export function simulateJointFile(
  context: Context,
  file: string,
  joint: JointSchedule,
  replay: Replay,
  asked?: Switching,
): number {
  const { options, json, style } = context;
  for (const option of ["reference", "trace"]) {
    if (options[option] !== undefined)
      throw new InputError(`--${option}`, "a schedule of one collective", `one of ${joint.tenants.length} at once`);
  }
  const { topology } = joint;
  context.progress({ what: "verifying" });
  const { violationCount } = verifyJoint(joint, { limit: 0 });
  if (violationCount > 0) context.note(wrongText("this schedule is", violationCount, file));
  context.progress({ what: "simulating" });
  const { ps, model, linkBusyPs } = simulateJoint(joint, { switching: asked ?? switchingFor(joint), replay });
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
      links: linksJson(links),
      trace: null,
    });
    return code;
  }
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
    label("links", linksText(links)),
  ];
  outLines(context, lines);
  return code;
}
