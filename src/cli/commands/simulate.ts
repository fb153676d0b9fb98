import { InputError } from "../../base/errors.ts";
import { loadKernels } from "../../engine/kernels/load.ts";
import { type PerfettoOptions, perfettoTrace } from "../../export/schedules/perfetto.ts";
import { expanded } from "../../kinds/expand.ts";
import { isJoint } from "../../model/joint/joint-schedule.ts";
import { isPhaseSchedule } from "../../model/phases/phase-schedule.ts";
import type { Replay } from "../../model/replay/problem.ts";
import type { Schedule } from "../../model/slots/slot-schedule.ts";
import { makespanOf, transfersOf } from "../../model/steps/schedule.ts";
import { isTreeFlow, type TreeFlow } from "../../model/trees/tree-flow.ts";
import { count } from "../../report/amounts.ts";
import { collectiveSummary, timingOf, topologySummary } from "../../report/result.ts";
import { collectiveText, networkText } from "../../report/subject-text.ts";
import { oneOf, refuseOptions, textOf } from "../../request/values.ts";
import { simulate, switchingFor } from "../../simulate/simulate.ts";
import type { Switching } from "../../simulate/simulation.ts";
import { simulateReference } from "../../simulate/steps/reference.ts";
import { utilisation } from "../../simulate/steps/utilisation.ts";
import { verify } from "../../verify/verify.ts";
import { type Context, outJson, outLines } from "../context.ts";
import { outputFile } from "../files/output-file.ts";
import { anyScheduleOf } from "../files/schedule-file.ts";
import { simulateJointFile } from "../kinds/joint-files.ts";
import { simulatePhasesFile } from "../kinds/phase-files.ts";
import { programFileOf } from "../kinds/program-files.ts";
import { simulateProgramFile } from "../kinds/program-simulation.ts";
import { simulateTreesFile } from "../kinds/tree-files.ts";
import { wrongText } from "../kinds/verdict.ts";
import { labelled, labelledTable, linksJson, linksText, timingCells } from "../reports/text.ts";

/** What a replay gave: times in picoseconds. */
interface Found {
  readonly model: string;
  readonly ps: number;
  readonly linkBusyPs: Float64Array;
  readonly startPs?: Float64Array | undefined;
  readonly endPs?: Float64Array | undefined;
  readonly trace: PerfettoOptions;
}

const PS_PER_NS = 1000;
const inPs = (ns: Float64Array): Float64Array => ns.map((time) => time * PS_PER_NS);

function find(
  context: Context,
  schedule: Schedule,
  switching: Switching | "reference",
  timeline: boolean,
  replay: Replay,
): Found {
  if (switching === "reference") {
    const steps = expanded(schedule, "--reference");
    const { model, ns, linkBusyNs, startNs, endNs } = simulateReference(steps, {}, replay);
    const times = timeline ? { startPs: inPs(startNs), endPs: inPs(endNs) } : {};
    return { model, ps: ns * PS_PER_NS, linkBusyPs: inPs(linkBusyNs), ...times, trace: {} };
  }
  const onProgress = (done: number, total: number): void =>
    context.progress({ what: "simulating", done, total, unit: "transfers" });
  const { hopStartPs, ...found } = simulate(schedule, { switching, timeline, onProgress, replay });
  return { ...found, trace: hopStartPs === undefined ? { occupancy: "serialisation" } : { hopStartPs } };
}

const STEPS_OF_PHASES = "a schedule of transfers beside it (`banyan export FILE --to steps` makes one of phases)";

/** Trees, which travel cut-through and have no timeline of their own. */
function simulateTrees(
  context: Context,
  file: string,
  flow: TreeFlow,
  asked: Switching | undefined,
  chunks: string | undefined,
): number {
  for (const option of ["reference", "trace"]) {
    if (context.options[option] === undefined) continue;
    const steps = "a schedule of transfers (`banyan export FILE --to steps` makes one of trees)";
    throw new InputError(`--${option}`, steps, file);
  }
  if (asked === "store-and-forward") throw new InputError("--switching", "cut-through, or nothing, for trees", asked);
  return simulateTreesFile(context, file, flow, chunks);
}

/** `banyan simulate FILE`: the schedule's time in the congestion-aware network, and how busy the links were. */
export async function run(context: Context, args: readonly string[]): Promise<number> {
  const { options, json, quiet, style } = context;
  const file = args[0] as string;
  const asked = oneOf(textOf(options, "switching"), ["cut-through", "store-and-forward"] as const, "--switching");
  const reference = options["reference"] === true;
  if (reference && asked === "cut-through")
    throw new InputError("--switching", "store-and-forward, or nothing, beside --reference", asked);
  const tracePath = textOf(options, "trace");
  const trace = tracePath === undefined ? undefined : outputFile(context, tracePath, "--trace");
  const program = programFileOf(context, file);
  if (program !== null) return simulateProgramFile(context, program);
  refuseOptions(options, ["size", "group"], "a program beside it; a schedule has its own,");
  const whole = await anyScheduleOf(context, file);
  const chunks = textOf(options, "chunks");
  if (isPhaseSchedule(whole)) {
    refuseOptions(options, ["reference", "trace", "switching", "chunks"], STEPS_OF_PHASES);
    return simulatePhasesFile(context, file, whole);
  }
  if (isTreeFlow(whole)) return simulateTrees(context, file, whole, asked, chunks);
  if (chunks !== undefined) throw new InputError("--chunks", "a file of trees beside it", file);
  const { replay } = (await loadKernels()).kernels;
  if (isJoint(whole)) return simulateJointFile(context, file, whole, replay, asked);
  const single = trace === undefined ? (reference ? "--reference" : undefined) : "--trace";
  const schedule = single === undefined ? whole : expanded(whole, single);
  context.progress({ what: "verifying" });
  const { violationCount } = verify(schedule, {
    limit: 0,
    onProgress: (done, total) => context.progress({ what: "verifying", done, total, unit: "NPUs" }),
  });
  if (violationCount > 0) context.note(wrongText("this schedule is", violationCount, file));
  context.progress({ what: "simulating" });
  const code = violationCount === 0 ? 0 : 1;
  const switching = reference ? "reference" : (asked ?? switchingFor(schedule));
  const found = find(context, schedule, switching, trace !== undefined, replay);
  if (trace !== undefined && found.startPs !== undefined && found.endPs !== undefined) {
    context.progress({ what: `writing ${trace.path}` });
    trace.write(perfettoTrace(expanded(schedule, "--trace"), found.startPs, found.endPs, found.trace));
  }
  const { topology, collective } = schedule;
  const planned = { ...timingOf(collective, makespanOf(schedule)), model: "link-busy" };
  const simulated = { ...timingOf(collective, found.ps), model: found.model };
  const links = utilisation(topology, found.ps, found.linkBusyPs);
  const network = topologySummary(topology);
  if (json) {
    outJson(context, {
      schema: "banyan/simulation@1",
      file,
      topology: network,
      collective: collectiveSummary(topology, collective),
      transfers: transfersOf(schedule),
      verified: violationCount === 0,
      time: planned,
      simulated,
      links: linksJson(links),
      trace: trace?.path ?? null,
    });
    return code;
  }
  if (quiet && trace !== undefined) return code;
  const speeds = [
    ["", "time", "algbw", "busbw", ""],
    ["planned", ...timingCells(planned), planned.model],
    ["simulated", ...timingCells(simulated), simulated.model],
  ];
  const [head, ...rows] = labelledTable(speeds, ["left", "right", "right", "right", "left"]);
  const verdict = violationCount === 0 ? style.good("verified") : style.bad("NOT correct");
  const lines = [
    "",
    labelled("topology", networkText(network)),
    labelled("collective", collectiveText(topology, collective)),
    labelled("schedule", `${count(transfersOf(schedule), "transfer")}, ${verdict}`),
    "",
    style.dim(head as string),
    ...rows,
    "",
    labelled("links", linksText(links)),
    ...(trace === undefined ? [] : [labelled("trace", trace.path)]),
  ];
  outLines(
    context,
    lines.map((line) => `  ${line}`),
  );
  return code;
}
