import { InputError, WrongScheduleError } from "../../base/errors.ts";
import type { Kernels } from "../../engine/contract/kernels.ts";
import { loadKernels } from "../../engine/kernels/load.ts";
import { type PerfettoOptions, perfettoTrace } from "../../export/schedules/perfetto.ts";
import { expanded } from "../../kinds/expand.ts";
import type { Kind, Simulated, SimulateOption, Verdict } from "../../kinds/kind.ts";
import { kindOf } from "../../kinds/kinds.ts";
import { formatSize, PS_PER_NS } from "../../model/numbers/units.ts";
import type { Replay } from "../../model/replay/problem.ts";
import type { JudgeSteps } from "../../model/replay/steps-problem.ts";
import type { Schedule } from "../../model/slots/slot-schedule.ts";
import type { JointReport } from "../../report/joint-result.ts";
import { type Report, topologySummary } from "../../report/result.ts";
import { type Options, optionValue, placeOf, refuseOptions, textOf } from "../../request/option-table.ts";
import { judgedReport } from "../../run/report-file.ts";
import { simulate, switchingFor } from "../../simulate/simulate.ts";
import type { Switching } from "../../simulate/simulation.ts";
import { simulateReference } from "../../simulate/steps/reference.ts";
import { utilisation } from "../../simulate/steps/replay.ts";
import { type Context, noteExtrapolation, outJson, outLines } from "../context.ts";
import { judgeHere } from "../engine.ts";
import { outputFile } from "../files/output-file.ts";
import { readScheduleFile } from "../files/schedule-file.ts";
import { programFileOf } from "../programs/program-file.ts";
import { simulateProgramFile } from "../programs/simulation.ts";
import { type ChainOfFile, simulationLines } from "../reports/simulation-report.ts";
import { linksJson, writtenText } from "../reports/text.ts";
import { wrongText } from "../reports/verdict.ts";

/** What a replay transfer by transfer gave: times in picoseconds. */
interface Replayed extends Simulated {
  readonly startPs?: Float64Array | undefined;
  readonly endPs?: Float64Array | undefined;
  readonly trace: PerfettoOptions;
}

const inPs = (ns: Float64Array): Float64Array => ns.map((time) => time * PS_PER_NS);

/** Replays transfers one by one: by the published analytical model, or with the times that a trace needs. */
function replayOf(
  context: Context,
  schedule: Schedule,
  switching: Switching | "reference",
  timeline: boolean,
  replay: Replay,
): Replayed {
  if (switching === "reference") {
    const steps = expanded(schedule, placeOf("reference"));
    const { model, ns, linkBusyNs, startNs, endNs } = simulateReference(steps, {}, replay);
    const times = timeline ? { startPs: inPs(startNs), endPs: inPs(endNs) } : {};
    return { model, ps: ns * PS_PER_NS, linkBusyPs: inPs(linkBusyNs), ...times, trace: {} };
  }
  const onProgress = (done: number, total: number): void =>
    context.progress({ what: "simulating", done, total, unit: "transfers" });
  const { hopStartPs, ...found } = simulate(schedule, { switching, timeline, onProgress, replay });
  return { ...found, trace: hopStartPs === undefined ? { occupancy: "serialisation" } : { hopStartPs } };
}

/** Throws InputError for options that say nothing for a schedule of this kind. */
function refuseIdle(kind: Kind<unknown>, options: Options, file: string): void {
  for (const option of ["reference", "trace", "switching", "chunks"] as const satisfies readonly SimulateOption[]) {
    if (options[option] === undefined) continue;
    const idle = kind.idle(option, textOf(options, option));
    if (idle !== null) throw new InputError(placeOf(option), idle.expected, idle.received ?? file).as("not-applicable");
  }
}

/** Returns the verdict on a schedule that is to be simulated; says what is wrong. Throws WrongScheduleError where it cannot be. */
function judged(context: Context, kind: Kind<unknown>, file: string, judge: JudgeSteps | undefined): Verdict {
  context.progress({ what: "verifying" });
  const verdict = kind.judge({
    limit: 0,
    judge,
    onProgress: (done, total) => context.progress({ what: "verifying", done, total, unit: "NPUs" }),
  });
  const wrong = wrongText(kind.these, verdict.violationCount, file);
  if (!kind.playable(verdict)) throw new WrongScheduleError(wrong);
  if (verdict.violationCount > 0) context.note(wrong);
  return verdict;
}

/** Returns how a correct schedule that was read stands to its limits. */
function chainOfFile(
  kind: Kind<Report | JointReport>,
  kernels: Kernels,
  verdict: Verdict,
  simulated: Simulated,
): ChainOfFile {
  const report = judgedReport(kind, kernels, verdict, simulated);
  const { time, limit, classLimit, ofLimit, ofClassLimit, gaps, details } = report;
  return { time, limit, classLimit, ofLimit, ofClassLimit, gaps, details };
}

/** `banyan simulate FILE`: the schedule's time in the congestion-aware network, and how busy the links were. */
export async function run(context: Context, args: readonly string[]): Promise<number> {
  const { options, json, quiet } = context;
  const file = args[0] as string;
  const asked = optionValue(options, "switching");
  const reference = options["reference"] === true;
  if (reference && asked === "cut-through")
    throw new InputError(placeOf("switching"), "store-and-forward, or nothing, beside --reference", asked).as(
      "not-together",
    );
  const tracePath = textOf(options, "trace");
  const trace = tracePath === undefined ? undefined : outputFile(context, tracePath, placeOf("trace"));
  const program = await programFileOf(context, file);
  if (program !== null) return simulateProgramFile(context, program);
  const { schedule: given, sends } = await readScheduleFile(context, file, { own: ["size", "group", "chunks"] });
  if (sends === null) {
    const size = textOf(options, "size");
    const has = kindOf(given).collectives[0]?.sizeBytes;
    if (size !== undefined)
      throw new InputError(placeOf("size"), "nothing beside a schedule", size)
        .as("not-together")
        .saying(
          `${placeOf("size")} is for programs and lists of sends; schedules have a fixed size (${has === undefined ? "their own" : `${formatSize(has)} here`})`,
        );
    refuseOptions(options, ["group"], "a program beside it; a schedule has its own,");
  }
  refuseIdle(kindOf(given), sends === null ? options : { ...options, chunks: undefined }, file);
  const { kernels } = await loadKernels();
  const { replay } = kernels;
  const single = trace === undefined ? (reference ? placeOf("reference") : undefined) : placeOf("trace");
  const kind = single === undefined ? kindOf(given) : kindOf(expanded(given as Schedule, single));
  const verdict = judged(context, kind, file, judgeHere(context, kernels));
  context.progress({ what: "simulating" });
  const pieces = optionValue(options, "chunks");
  let found: Simulated;
  let traceBytes: number | undefined;
  if (single === undefined) {
    const onProgress = (done: number, total: number): void =>
      context.progress({ what: "simulating", done, total, unit: "transfers" });
    const some = pieces === "auto" ? undefined : pieces;
    try {
      found = kind.simulate({ switching: asked, replay, onProgress, pieces: some }) as Simulated;
    } catch (error) {
      if (!(error instanceof InputError) || verdict.violationCount === 0) throw error;
      throw new WrongScheduleError(`${file} cannot be simulated: it moves what is not there`);
    }
  } else {
    const schedule = kind.schedule as Schedule;
    const switching = reference ? "reference" : (asked ?? switchingFor(schedule));
    const replayed = replayOf(context, schedule, switching, trace !== undefined, replay);
    found = replayed;
    if (trace !== undefined && replayed.startPs !== undefined && replayed.endPs !== undefined) {
      context.progress({ what: `writing ${trace.path}` });
      traceBytes = trace.write(
        perfettoTrace(expanded(schedule, placeOf("trace")), replayed.startPs, replayed.endPs, replayed.trace),
      );
    }
  }
  const { topology } = kind.schedule;
  const sizes = kind.collectives.map(({ sizeBytes }) => sizeBytes);
  noteExtrapolation(context, topology, sizes);
  const code = verdict.violationCount === 0 ? 0 : 1;
  const { about, counts, speeds } = kind.played(verdict, found);
  const time = { ...kind.timing(found.ps), model: found.model };
  // a wrong schedule can be faster than a right one, and the published model rounds down
  const chain =
    code === 0 && !reference ? chainOfFile(kind as Kind<Report | JointReport>, kernels, verdict, found) : null;
  const links = found.linkBusyPs === undefined ? null : utilisation(topology, found.ps, found.linkBusyPs);
  const { perDimension = null } = found;
  if (json) {
    outJson(
      context,
      {
        schema: "banyan/simulation@2",
        file,
        topology: topologySummary(topology),
        ...about,
        ...counts,
        verified: code === 0,
        time,
        ...(chain ?? { details: { planned: speeds.planned ?? null } }),
        ...(speeds.throughput === undefined ? {} : { throughput: speeds.throughput }),
        ...(links === null ? {} : { links: linksJson(links) }),
        ...(perDimension === null ? {} : { perDimension }),
        trace: trace?.path ?? null,
      },
      code === 0,
    );
  } else if (!(quiet && trace !== undefined)) {
    const details = options["details"] === true;
    const said = {
      verdict,
      found,
      time,
      chain,
      links,
      perDimension,
      trace: trace ? writtenText(trace.path, traceBytes) : null,
      details,
    };
    outLines(context, simulationLines(kind, said, context.style));
  }
  return code;
}
