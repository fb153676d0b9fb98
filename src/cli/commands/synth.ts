import { InputError } from "../../base/errors.ts";
import { optionName } from "../../base/option-names.ts";
import { readCollectives } from "../../import/collectives/collective.ts";
import { treesAsSteps } from "../../kinds/expand.ts";
import { kindOf } from "../../kinds/kinds.ts";
import { estimateOf } from "../../model/steps/estimate.ts";
import type { AnySchedule } from "../../model/steps/schedule.ts";
import { isTreeFlow, type TreeFlow } from "../../model/trees/tree-flow.ts";
import { toldOf } from "../../report/claims.ts";
import { aboutOf, type Report } from "../../report/result.ts";
import { synthesisOptions } from "../../request/from-texts.ts";
import { refuseBesideSeveral, refuseUntaken, withSketchSize } from "../../request/maker-options.ts";
import { placeOf, refuseOptions, textOf } from "../../request/option-table.ts";
import { problemOf } from "../../request/problem.ts";
import { progressOf } from "../../request/progress.ts";
import { formatOf, refuseBefore, writeSchedule } from "../../run/export/schedule-output.ts";
import type { OutputFile } from "../../run/export/world.ts";
import { synthesizeJoint } from "../../run/joint.ts";
import { synthesize } from "../../run/synthesize.ts";
import { AUTO, algorithmNamed, USUAL_ALGORITHM } from "../../synthesize/catalog.ts";
import { verifyTreeFlow } from "../../verify/trees/tree-flow.ts";
import { collectiveRequest } from "../collective-option.ts";
import { type Context, outJson, outLines } from "../context.ts";
import { withEngine } from "../engine.ts";
import { readText } from "../files/input-file.ts";
import { outputFile } from "../files/output-file.ts";
import { anyScheduleOf } from "../files/schedule-file.ts";
import { readSketchFile, sketchFileNodes } from "../files/sketch-file.ts";
import { networkOf } from "../network.ts";
import { autoLines } from "../reports/auto-report.ts";
import { jointReportLines } from "../reports/joint-report.ts";
import { synthesisReport } from "../reports/synthesis-report.ts";

/** Whether the schedule is one of transfers from the start, so that the size of its file can be told before it is made. */
const makesTransfers = (algorithm = USUAL_ALGORITHM): boolean =>
  algorithm !== AUTO && algorithmNamed(algorithm).makes === "steps";

/** Returns the trees of a file. Throws InputError. */
async function treesToRepair(context: Context, file: string): Promise<TreeFlow> {
  const { topology: _, without: _w, degrade: _d, ...options } = context.options;
  const schedule = await anyScheduleOf({ ...context, options }, file);
  if (isTreeFlow(schedule)) {
    const { violations, violationCount } = verifyTreeFlow(schedule, { limit: 1 });
    if (violationCount === 0) return schedule;
    throw new InputError(optionName("repair"), "trees without a fault", `${file}: ${violations[0]?.message}`);
  }
  throw new InputError(optionName("repair"), "a file of trees (synth --algorithm forestcoll -o FILE)", file);
}

/** Writes a schedule of any kind; returns the bytes. What "auto" chose is written as steps where a .bys file is asked for. */
function written(context: Context, output: OutputFile, schedule: AnySchedule, report: Report): number {
  const isCompact = formatOf(output.path) === "bys";
  const kept =
    isCompact && report.auto !== undefined && isTreeFlow(schedule)
      ? treesAsSteps(schedule, placeOf("output"))
      : schedule;
  return writeSchedule(context, output, kindOf(kept), kept === schedule ? toldOf(report) : { about: aboutOf(report) });
}

/** `banyan synth TOPO --collective C`: a schedule, verified, simulated and bounded. */
export async function run(context: Context, args: readonly string[]): Promise<number> {
  const { options, json, quiet, signal } = context;
  if (textOf(options, "collectives") !== undefined) return synthesizeSeveral(context, args);
  if (textOf(options, "collective") === undefined)
    throw new InputError(optionName("collective"), "a collective, or --collectives FILE,");
  const path = textOf(options, "output");
  const output = path === undefined ? undefined : outputFile(context, path, placeOf("output"));
  const wanted = synthesisOptions(options);
  const sketchPath = textOf(options, "sketch");
  if (sketchPath !== undefined)
    refuseUntaken({ ...(wanted.algorithm && { algorithm: wanted.algorithm }), sketch: sketchPath });
  const boxes = sketchPath === undefined ? null : await sketchFileNodes(sketchPath);
  const topology = await networkOf(args[0] as string, options, boxes === null ? {} : { usualNodes: boxes });
  const sketch = sketchPath === undefined ? undefined : await readSketchFile(sketchPath, topology);
  const request = collectiveRequest(options, topology);
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
      signal,
      onProgress: (step) => context.progress(progressOf(step)),
    }),
  );
  const bytes = output === undefined ? undefined : written(context, output, schedule, report);
  const shown: Report = { ...report, schedule: { ...report.schedule, file: output?.path ?? null } };
  if (json) outJson(context, shown);
  else if (!(quiet && output !== undefined)) {
    const lines = synthesisReport(shown, schedule, context.style, {
      fileBytes: bytes,
      details: options["details"] === true,
    });
    outLines(context, [...lines, ...autoLines(shown, context.style)]);
  }
  return 0;
}

/** `banyan synth TOPO --collectives FILE`: one schedule of several collectives at once. */
async function synthesizeSeveral(context: Context, args: readonly string[]): Promise<number> {
  const { options, json, quiet, signal } = context;
  refuseOptions(
    options,
    ["collective", "size", "chunks", "root", "group", "outsiders"],
    "nothing beside --collectives, whose file says it all,",
  );
  const wanted = synthesisOptions(options);
  refuseBesideSeveral({ ...wanted, sketch: textOf(options, "sketch"), repair: textOf(options, "repair") });
  const file = textOf(options, "collectives") as string;
  const path = textOf(options, "output");
  if (path !== undefined && formatOf(path) !== "json")
    throw new InputError(placeOf("output"), "a .json file for several collectives at once", path);
  const output = path === undefined ? undefined : outputFile(context, path, placeOf("output"));
  const topology = await networkOf(args[0] as string, options);
  const { entries, placeOf: placeOfEntry } = readCollectives(readText(file, optionName("collectives")), file, topology);
  const { schedule, report } = await withEngine(context, (engine) =>
    synthesizeJoint(engine, topology, {
      ...wanted,
      collectives: entries,
      placeOf: placeOfEntry,
      signal,
      onProgress: (step) => context.progress(progressOf(step)),
    }),
  );
  const bytes = output === undefined ? undefined : writeSchedule(context, output, kindOf(schedule), toldOf(report));
  const shown = { ...report, schedule: { ...report.schedule, file: output?.path ?? null } };
  if (json) outJson(context, shown);
  else if (!(quiet && output !== undefined)) {
    const told = { fileBytes: bytes, details: options["details"] === true };
    outLines(context, jointReportLines(shown, schedule, context.style, told));
  }
  return 0;
}
