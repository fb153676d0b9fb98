import { InputError } from "../../base/errors.ts";
import { looksLikeBys, readBys } from "../../import/schedules/bys.ts";
import type { ReadScheduleOptions } from "../../import/schedules/schedule-header.ts";
import { readScheduleText } from "../../import/schedules/schedule-text.ts";
import { type GivenSchedule, isJoint } from "../../model/joint/joint-schedule.ts";
import type { AnySchedule } from "../../model/steps/schedule.ts";
import { NETWORK_OPTIONS, refuseOptions, textOf } from "../../request/option-table.ts";
import type { Context } from "../context.ts";
import { networkOf } from "../network.ts";
import { headOf, nameOf, openSource, textFrom } from "./input-file.ts";

/** Returns the schedule of a file that has one collective. Throws InputError. */
export async function scheduleOf(context: Context, file: string): Promise<AnySchedule> {
  const schedule = await anyScheduleOf(context, file);
  if (!isJoint(schedule)) return schedule;
  throw new InputError(file, "a schedule of one collective", `one of ${schedule.tenants.length} at once`);
}

/**
 * Returns the schedule of a JSON or .bys file, recognized by its content, for the network of --topology where that is given; a
 * JSON file may be of trees, of phases, or of several collectives at once. Throws InputError.
 */
export async function anyScheduleOf(
  context: Context,
  file: string,
  heard: Pick<ReadScheduleOptions, "onClaims"> = {},
): Promise<GivenSchedule> {
  const { options } = context;
  const wanted = textOf(options, "topology");
  if (wanted === undefined) refuseOptions(options, NETWORK_OPTIONS, "--topology beside it", "not-alone");
  context.progress({ what: `reading ${file}` });
  const given: ReadScheduleOptions =
    wanted === undefined ? heard : { ...heard, topology: await networkOf(wanted, options) };
  const source = openSource(file, "the schedule");
  if (looksLikeBys(headOf(source))) return readBys(source, file, given);
  return readScheduleText(textFrom(source, file, "the schedule"), nameOf(file), given);
}
