import { InputError } from "../../base/errors.ts";
import { type JointSchedule, jointEndPs, jointTransferCount } from "../../model/joint/joint-schedule.ts";
import type { Replay } from "../../model/replay/problem.ts";
import { count } from "../../report/amounts.ts";
import { jointTiming, tenantReport } from "../../report/joint-result.ts";
import { topologySummary } from "../../report/result.ts";
import { networkText } from "../../report/subject-text.ts";
import { switchingFor } from "../../simulate/simulate.ts";
import type { Switching } from "../../simulate/simulation.ts";
import { simulateJoint } from "../../simulate/steps/replay.ts";
import { utilisation } from "../../simulate/steps/utilisation.ts";
import { verifyJoint } from "../../verify/joint.ts";
import { type Context, outJson, outLines } from "../context.ts";
import { tenantLines, timeLines } from "../reports/joint-report.ts";
import { labelled, linksJson, linksText } from "../reports/text.ts";
import { wrongText } from "./verdict.ts";

const summaries = (joint: JointSchedule) => joint.tenants.map((_, t) => tenantReport(joint, t));

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
