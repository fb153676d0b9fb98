import { InputError } from "../../base/errors.ts";
import { scheduleBysParts } from "../../export/schedules/bys.ts";
import { phasesJsonParts } from "../../export/schedules/phases-json.ts";
import { scheduleJsonParts } from "../../export/schedules/schedule-json.ts";
import { treeFlowJsonParts } from "../../export/schedules/tree-flow-json.ts";
import { canExpand, expanded } from "../../kinds/expand.ts";
import type { PhaseSchedule } from "../../model/phases/phase-schedule.ts";
import type { Schedule } from "../../model/slots/slot-schedule.ts";
import { aboutBytes, bysBytesOf, type Estimate, jsonBytesOf } from "../../model/steps/estimate.ts";
import type { TreeFlow } from "../../model/trees/tree-flow.ts";
import type { OutputFile, World } from "./world.ts";

/** Who is shown how far the work is. */
type Watched = Pick<World, "progress">;

/** The formats of schedule files. */
export type ScheduleFormat = "json" | "bys";

/** Larger texts cannot be read back: about the longest text of V8. */
const MOST_JSON = 2 ** 29;
const MB = 1e6;

/** Returns the format that a name asks for. */
export const formatOf = (path: string): ScheduleFormat => (path.endsWith(".bys") ? "bys" : "json");

/** Returns whether the JSON of a schedule can be written, and read back. */
export const fitsJson = (schedule: Schedule): boolean => canExpand(schedule) && jsonBytesOf(schedule) <= MOST_JSON;

/** Throws InputError where a file of that size would have no room, or could not be read back. */
function refuse(output: OutputFile, format: ScheduleFormat, bytes: number): void {
  if (format === "json" && bytes > MOST_JSON) {
    const why = `JSON would take about ${aboutBytes(bytes)}, more than can be read back`;
    throw new InputError("-o", `a .bys file for so many transfers (${why})`, output.path);
  }
  output.refuseWithoutRoom(bytes);
}

/** Throws InputError where the file of a schedule that is yet to be made would be too large. */
export function refuseBefore(output: OutputFile, { jsonBytes, bysBytes }: Estimate): void {
  const format = formatOf(output.path);
  refuse(output, format, format === "json" ? jsonBytes : bysBytes);
}

/** Throws InputError where the file of a schedule would be too large. */
export function refuseSchedule(output: OutputFile, format: ScheduleFormat, schedule: Schedule): void {
  refuse(output, format, format === "json" ? jsonBytesOf(schedule) : bysBytesOf(schedule));
}

/** Writes a schedule file, showing how far it is; returns its bytes. */
export function writeSchedule(
  world: Watched,
  output: OutputFile,
  format: ScheduleFormat,
  schedule: Schedule,
  about?: Readonly<Record<string, unknown>>,
): number {
  return format === "json"
    ? writeShown(world, output, scheduleJsonParts(expanded(schedule, "-o"), about), jsonBytesOf(schedule))
    : writeShown(world, output, scheduleBysParts(schedule, about), bysBytesOf(schedule));
}

/** Characters of an edge in a file of trees: a list of a few link numbers. */
const EDGE_TEXT = 16;

/** Returns about how many bytes a file of trees has. */
export const treesJsonBytesOf = ({ forests }: TreeFlow): number =>
  forests.reduce((sum, { linkOffset }) => sum + linkOffset.length * EDGE_TEXT, 0);

/** Writes a file of trees; returns its bytes. */
export function writeTrees(
  world: Watched,
  output: OutputFile,
  flow: TreeFlow,
  about?: Readonly<Record<string, unknown>>,
): number {
  if (formatOf(output.path) === "bys") {
    throw new InputError(
      "-o",
      "a JSON file for trees (`banyan export FILE --to bys` writes their transfers)",
      output.path,
    );
  }
  const bytes = treesJsonBytesOf(flow);
  refuse(output, "json", bytes);
  return writeShown(world, output, treeFlowJsonParts(flow, about), bytes);
}

/** Characters of a phase in its file: five numbers, two of them times. */
const PHASE_TEXT = 40;
/** Characters of a link, or of an NPU in the list of members. */
const NETWORK_TEXT = 90;

/** Writes a file of phases; returns its bytes. */
export function writePhases(
  world: Watched,
  output: OutputFile,
  schedule: PhaseSchedule,
  about?: Readonly<Record<string, unknown>>,
): number {
  if (formatOf(output.path) === "bys") {
    const expected = "a JSON file for phases (`banyan export FILE --to steps`, then --to bys, writes their transfers)";
    throw new InputError("-o", expected, output.path);
  }
  const { linkSource, nodeNames } = schedule.topology;
  const bytes = schedule.chunk.length * PHASE_TEXT + (linkSource.length + nodeNames.length) * NETWORK_TEXT;
  refuse(output, "json", bytes);
  return writeShown(world, output, phasesJsonParts(schedule, about), bytes);
}

/** Writes parts of about so many bytes in all, showing how far it is; returns the bytes. */
export function writeShown(
  world: Watched,
  output: OutputFile,
  parts: Iterable<string | Uint8Array>,
  bytes: number,
): number {
  const what = `writing ${output.path}`;
  const total = Math.ceil(bytes / MB);
  world.progress({ what, done: 0, total, unit: "MB" });
  return output.write(parts, (done) =>
    world.progress({ what, done: Math.min(total, Math.floor(done / MB)), total, unit: "MB" }),
  );
}
