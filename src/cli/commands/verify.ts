import { InputError } from "../../base/errors.ts";
import { optionName } from "../../base/option-names.ts";
import { kindOf } from "../../kinds/kinds.ts";
import { refuseOptions, textOf } from "../../request/option-table.ts";
import type { Context } from "../context.ts";
import { recording } from "../files/record-file.ts";
import { anyScheduleOf } from "../files/schedule-file.ts";
import { isFolder, verifyProgramFolder } from "../programs/folder.ts";
import { programFileOf, verifyProgramFile } from "../programs/program-file.ts";
import { writeVerdict } from "../reports/verdict.ts";

/** `banyan verify FILE`: exit code 1 and the violations where the schedule or program is wrong. */
export async function run(context: Context, args: readonly string[]): Promise<number> {
  const file = args[0] as string;
  if (isFolder(file)) {
    refuseOptions(
      context.options,
      ["record", "recordOf"],
      "a file of a schedule or program in place of a folder",
      "not-alone",
    );
    return verifyProgramFolder(context, file);
  }
  const record = recording(context);
  const found = programFileOf(context, file);
  if (found !== null) return verifyProgramFile(context, found, record);
  const target = textOf(context.options, "target");
  if (target !== undefined)
    throw new InputError(optionName("target"), "a program beside it, not a schedule,", file).as("not-alone");
  return writeVerdict(context, file, kindOf(await anyScheduleOf(context, file)), record);
}
