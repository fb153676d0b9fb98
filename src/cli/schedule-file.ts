import { InputError } from "../errors.ts";
import { readSchedule } from "../import/schedule-json.ts";
import type { StepSchedule } from "../model/step-schedule.ts";
import type { Context } from "./context.ts";
import { readText } from "./input-file.ts";
import { networkOf } from "./network.ts";
import { textOf } from "./values.ts";

/** Returns the schedule of a file, for the network of --topology where that is given. Throws InputError. */
export async function scheduleOf(context: Context, file: string): Promise<StepSchedule> {
  const { options } = context;
  const wanted = textOf(options, "topology");
  if (wanted === undefined) {
    for (const option of ["without", "degrade", "nodes", "profileSize", "profileScale"]) {
      const value = textOf(options, option);
      const name = option.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
      if (value !== undefined) throw new InputError(`--${name}`, "--topology beside it", value);
    }
  }
  context.progress({ what: `reading ${file}` });
  const topology = wanted === undefined ? {} : { topology: await networkOf(wanted, options) };
  return readSchedule(readText(file, "the schedule"), file, topology);
}
