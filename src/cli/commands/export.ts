import { InputError } from "../../errors.ts";
import { perfettoTrace } from "../../export/perfetto.ts";
import { aboutBytes } from "../../model/estimate.ts";
import { transfersOf } from "../../model/schedule.ts";
import type { Schedule } from "../../model/slot-schedule.ts";
import { isTreeFlow, listedTrees } from "../../model/tree-flow.ts";
import { type Context, outJson } from "../context.ts";
import { type OutputFile, outputFile } from "../output-file.ts";
import { expanded, scheduleOf } from "../schedule-file.ts";
import { refuseSchedule, writeSchedule, writeShown, writeTrees } from "../schedule-output.ts";
import { count, roundedSize } from "../text.ts";
import { stepsOfTreesFile } from "../tree-files.ts";
import { oneOf, textOf } from "../values.ts";

/** Bytes of a slice of a trace, and the longest trace that its viewer opens. */
const SLICE_BYTES = 200;
const MOST_TRACE = 2 ** 31;

/** Writes the timeline of the plan. */
function writeTrace(context: Context, output: OutputFile, schedule: Schedule): number {
  const { routes } = schedule;
  const bytes = transfersOf(schedule) * SLICE_BYTES * (routes.links.length / Math.max(1, routes.source.length));
  if (bytes > MOST_TRACE) {
    const most = `a schedule whose trace has at most ${aboutBytes(MOST_TRACE)}`;
    throw new InputError("--to", most, `perfetto, about ${aboutBytes(bytes)}`);
  }
  output.refuseWithoutRoom(bytes);
  const steps = expanded(schedule, "--to perfetto");
  return writeShown(context, output, perfettoTrace(steps, steps.startPs, steps.endPs), bytes);
}

/** `banyan export FILE --to FORMAT -o OUT`: the schedule in another format. */
export async function run(context: Context, args: readonly string[]): Promise<number> {
  const { options, json, quiet } = context;
  const file = args[0] as string;
  const asked = oneOf(textOf(options, "to"), ["json", "bys", "perfetto", "steps"] as const, "--to") ?? "json";
  const to = asked === "steps" ? "json" : asked;
  const output = outputFile(context, textOf(options, "output") as string, "-o");
  const read = await scheduleOf(context, file);
  if (isTreeFlow(read) && asked === "json") {
    const bytes = writeTrees(context, output, read);
    const trees = listedTrees(read);
    if (json) outJson(context, { schema: "banyan/export@1", file, to, output: output.path, trees, bytes });
    else if (!quiet) context.out(`${output.path}: ${count(trees, "tree")}, ${roundedSize(bytes)}\n`);
    return 0;
  }
  const schedule = isTreeFlow(read) ? stepsOfTreesFile(read, `--to ${asked}`) : read;
  if (to !== "perfetto") refuseSchedule(output, to, schedule);
  const bytes =
    to === "perfetto" ? writeTrace(context, output, schedule) : writeSchedule(context, output, to, schedule);
  const transfers = transfersOf(schedule);
  if (json) outJson(context, { schema: "banyan/export@1", file, to: asked, output: output.path, transfers, bytes });
  else if (!quiet) context.out(`${output.path}: ${count(transfers, "transfer")}, ${roundedSize(bytes)}\n`);
  return 0;
}
