import { InputError } from "../../base/errors.ts";
import type { Told } from "../../export/schedules/schedule-header.ts";
import { canExpand } from "../../kinds/expand.ts";
import type { Kind } from "../../kinds/kind.ts";
import { isSlotSchedule } from "../../model/slots/slot-schedule.ts";
import { aboutBytes, type Estimate } from "../../model/steps/estimate.ts";
import { placeOf } from "../../request/option-table.ts";
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
export const fitsJson = ({ schedule, forms }: Kind): boolean =>
  !(isSlotSchedule(schedule) && !canExpand(schedule)) && forms.json.bytes <= MOST_JSON;

/** Throws InputError where a file of that size would have no room, or could not be read back. */
function refuse(output: OutputFile, format: ScheduleFormat, bytes: number): void {
  if (format === "json" && bytes > MOST_JSON) {
    const why = `JSON would take about ${aboutBytes(bytes)}, more than can be read back`;
    throw new InputError(placeOf("output"), `a .bys file for so many transfers (${why})`, output.path);
  }
  output.refuseWithoutRoom(bytes);
}

/** Throws InputError where the file of a schedule that is yet to be made would be too large. */
export function refuseBefore(output: OutputFile, { jsonBytes, bysBytes }: Estimate): void {
  const format = formatOf(output.path);
  refuse(output, format, format === "json" ? jsonBytes : bysBytes);
}

/** Writes the file of a schedule of any kind, showing how far it is; returns its bytes. Throws InputError where it has none. */
export function writeSchedule(
  world: Watched,
  output: OutputFile,
  { forms }: Pick<Kind<unknown>, "forms">,
  told?: Told,
  format = formatOf(output.path),
): number {
  const form = forms[format];
  if (typeof form === "string") throw new InputError(placeOf("output"), form, output.path).as("not-applicable");
  refuse(output, format, form.bytes);
  return writeShown(world, output, form.parts(told), form.bytes);
}

/** Writes parts of about this many bytes in all, showing how far it is; returns the bytes. */
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
