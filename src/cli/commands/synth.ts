import { InputError } from "../../base/errors.ts";
import { jointScheduleJsonParts } from "../../export/schedules/joint-schedule-json.ts";
import { readCollectives } from "../../import/collectives/collectives-json.ts";
import { treesAsSteps } from "../../kinds/expand.ts";
import { jointTransferCount } from "../../model/joint/joint-schedule.ts";
import { isPhaseSchedule } from "../../model/phases/phase-schedule.ts";
import { estimateOf } from "../../model/steps/estimate.ts";
import type { AnySchedule } from "../../model/steps/schedule.ts";
import { isTreeFlow, type TreeFlow } from "../../model/trees/tree-flow.ts";
import { aboutOf, type Report } from "../../report/result.ts";
import { problemOf } from "../../request/problem.ts";
import { refuseSolverOptions, withSketchSize } from "../../request/solver-options.ts";
import { progressOf, synthesisOptions, withoutAuto } from "../../request/synthesis-options.ts";
import { refuseOptions, textOf } from "../../request/values.ts";
import {
  formatOf,
  refuseBefore,
  refuseSchedule,
  writePhases,
  writeSchedule,
  writeShown,
  writeTrees,
} from "../../run/export/schedule-output.ts";
import type { OutputFile } from "../../run/export/world.ts";
import { synthesizeJoint } from "../../run/joint.ts";
import { synthesize } from "../../run/pipeline.ts";
import { AUTO, algorithmNamed, isPhaseMaker, isTreeMaker } from "../../synthesize/catalog.ts";
import { verifyTreeFlow } from "../../verify/trees/tree-flow.ts";
import { type Context, outJson, outLines } from "../context.ts";
import { withEngine } from "../engine.ts";
import { readText } from "../files/input-file.ts";
import { outputFile } from "../files/output-file.ts";
import { anyScheduleOf } from "../files/schedule-file.ts";
import { readSketchFile, sketchFileNodes } from "../files/sketch-file.ts";
import { networkOf } from "../network.ts";
import { autoLines } from "../reports/auto-report.ts";
import { jointReportLines } from "../reports/joint-report.ts";
import { phasesReportLines } from "../reports/phases-report.ts";
import { synthesisReport } from "../reports/synthesis-report.ts";
import { treesReportLines } from "../reports/trees-report.ts";
import { collectiveRequest } from "../request.ts";

/** Whether the schedule is one of transfers from the start, so that the size of its file can be told before it is made. */
function makesTransfers(algorithm: string | undefined): boolean {
  if (algorithm === undefined) return true;
  if (algorithm === AUTO) return false;
  const named = algorithmNamed(algorithm);
  return !isTreeMaker(named) && !isPhaseMaker(named);
}

/** Returns the trees of a file. Throws InputError. */
async function treesToRepair(context: Context, file: string): Promise<TreeFlow> {
  const { topology: _, without: _w, degrade: _d, ...options } = context.options;
  const schedule = await anyScheduleOf({ ...context, options }, file);
  if (isTreeFlow(schedule)) {
    const { violations, violationCount } = verifyTreeFlow(schedule, { limit: 1 });
    if (violationCount === 0) return schedule;
    throw new InputError("--repair", "trees without a fault", `${file}: ${violations[0]?.message}`);
  }
  throw new InputError("--repair", "a file of trees (synth --algorithm forestcoll -o FILE)", file);
}

/** Trees that were chosen among schedules of steps are written as steps where a .bys file is asked for. */
function writeTreesAs(context: Context, output: OutputFile, flow: TreeFlow, report: Report): number {
  return report.auto !== undefined && formatOf(output.path) === "bys"
    ? writeSchedule(context, output, "bys", treesAsSteps(flow, "-o"), aboutOf(report))
    : writeTrees(context, output, flow, aboutOf(report));
}

/** Writes a schedule of any kind; returns the bytes. */
function written(context: Context, output: OutputFile, schedule: AnySchedule, report: Report): number {
  if (isTreeFlow(schedule)) return writeTreesAs(context, output, schedule, report);
  if (isPhaseSchedule(schedule)) return writePhases(context, output, schedule, aboutOf(report));
  const format = formatOf(output.path);
  refuseSchedule(output, format, schedule);
  return writeSchedule(context, output, format, schedule, aboutOf(report));
}

/** `banyan synth TOPO --collective C`: a schedule, verified, simulated and bounded. */
export async function run(context: Context, args: readonly string[]): Promise<number> {
  const { options, json, quiet, signal } = context;
  if (textOf(options, "collectives") !== undefined) return synthesizeSeveral(context, args);
  if (textOf(options, "collective") === undefined)
    throw new InputError("--collective", "a collective, or --collectives FILE,");
  const path = textOf(options, "output");
  const output = path === undefined ? undefined : outputFile(context, path, "-o");
  const wanted = synthesisOptions(options);
  const sketchPath = textOf(options, "sketch");
  if (sketchPath !== undefined) refuseSolverOptions(wanted.algorithm ?? "tacos", { sketch: { name: sketchPath } });
  const boxes = sketchPath === undefined ? null : await sketchFileNodes(sketchPath);
  const usual = boxes === null ? {} : { usualNodes: String(boxes) };
  const topology = await networkOf(args[0] as string, { ...options, ...usual });
  const sketch = sketchPath === undefined ? undefined : await readSketchFile(sketchPath, topology);
  const request = collectiveRequest(withoutAuto(options), topology);
  const old = textOf(options, "repair");
  const repair = old === undefined ? undefined : await treesToRepair(context, old);
  if (output !== undefined && makesTransfers(wanted.algorithm)) {
    const problem = problemOf(topology, withSketchSize({ ...request, ...(sketch && { sketch }) }));
    refuseBefore(output, estimateOf(problem.topology, problem.collective));
  }
  const { schedule, report } = await withEngine(context, (engine) =>
    synthesize(engine, topology, {
      ...request,
      ...wanted,
      ...(repair === undefined ? {} : { repair }),
      ...(sketch === undefined ? {} : { sketch }),
      ...(options["simulate"] === true ? { simulate: true } : {}),
      signal,
      onProgress: (step) => context.progress(progressOf(step)),
    }),
  );
  const bytes = output === undefined ? undefined : written(context, output, schedule, report);
  const shown: Report = { ...report, schedule: { ...report.schedule, file: output?.path ?? null } };
  if (json) outJson(context, shown);
  else if (!(quiet && output !== undefined)) {
    const lines = isTreeFlow(schedule)
      ? treesReportLines
      : isPhaseSchedule(schedule)
        ? phasesReportLines
        : synthesisReport;
    const report = [
      ...lines(shown, schedule, context.style, bytes, textOf(options, "chunks") === "auto"),
      ...autoLines(shown, context.style),
    ];
    outLines(context, report);
  }
  return 0;
}

/** About so many bytes a transfer takes as text. */
const BYTES_PER_TRANSFER = 50;

/** `banyan synth TOPO --collectives FILE`: one schedule of several collectives at once. */
async function synthesizeSeveral(context: Context, args: readonly string[]): Promise<number> {
  const { options, json, quiet, signal } = context;
  for (const option of ["collective", "size", "chunks", "root", "group", "outsiders"]) {
    const value = textOf(options, option);
    if (value !== undefined)
      throw new InputError(`--${option}`, "nothing beside --collectives, whose file says it all,", value);
  }
  for (const option of ["k", "eulerian", "repair"]) {
    const value = textOf(options, option);
    if (value !== undefined)
      throw new InputError(`--${option}`, "nothing beside --collectives (it is for trees)", value);
  }
  refuseOptions(options, ["offload"], "nothing beside --collectives (it is for phases)");
  if (options["nvls"] === false)
    throw new InputError("--no-nvls", "nothing beside --collectives (it is for trees)", true);
  const file = textOf(options, "collectives") as string;
  const path = textOf(options, "output");
  if (path !== undefined && formatOf(path) !== "json")
    throw new InputError("-o", "a .json file for several collectives at once", path);
  const output = path === undefined ? undefined : outputFile(context, path, "-o");
  const topology = await networkOf(args[0] as string, options);
  const { entries, placeOf } = readCollectives(readText(file, "--collectives"), file, topology);
  const { schedule, report } = await withEngine(context, (engine) =>
    synthesizeJoint(engine, topology, {
      ...synthesisOptions(options),
      ...(options["simulate"] === true ? { simulate: true } : {}),
      collectives: entries,
      placeOf,
      signal,
      onProgress: (step) => context.progress(progressOf(step)),
    }),
  );
  let bytes: number | undefined;
  if (output !== undefined) {
    const about = BYTES_PER_TRANSFER * jointTransferCount(schedule);
    bytes = writeShown(context, output, jointScheduleJsonParts(schedule, aboutOf(report)), about);
  }
  const shown = { ...report, schedule: { ...report.schedule, file: output?.path ?? null } };
  if (json) outJson(context, shown);
  else if (!(quiet && output !== undefined)) {
    outLines(context, jointReportLines(shown, schedule, context.style, bytes));
  }
  return 0;
}
