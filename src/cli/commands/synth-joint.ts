import { InputError } from "../../base/errors.ts";
import { jointScheduleJsonParts } from "../../export/schedules/joint-schedule-json.ts";
import { readCollectives } from "../../import/collectives/collectives-json.ts";
import { jointTransferCount } from "../../model/joint/joint-schedule.ts";
import { aboutOf } from "../../report/result.ts";
import { progressOf, synthesisOptions } from "../../request/synthesis-options.ts";
import { refuseOptions, textOf } from "../../request/values.ts";
import { formatOf, writeShown } from "../../run/export/schedule-output.ts";
import { synthesizeJoint } from "../../run/joint.ts";
import { type Context, outJson, outLines } from "../context.ts";
import { withEngine } from "../engine.ts";
import { readText } from "../files/input-file.ts";
import { outputFile } from "../files/output-file.ts";
import { networkOf } from "../network.ts";
import { jointReportLines } from "../reports/joint-report.ts";

/** About so many bytes a transfer takes as text. */
const BYTES_PER_TRANSFER = 50;

/** `banyan synth TOPO --collectives FILE`: one schedule of several collectives at once. */
export async function synthesizeSeveral(context: Context, args: readonly string[]): Promise<number> {
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
