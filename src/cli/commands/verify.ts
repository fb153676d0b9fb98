import { InputError } from "../../base/errors.ts";
import { isJoint } from "../../import/schedules/schedule-text.ts";
import { isPhaseSchedule } from "../../model/phases/phase-schedule.ts";
import { makespanOf, transfersOf } from "../../model/steps/schedule.ts";
import { isTreeFlow } from "../../model/trees/tree-flow.ts";
import { refuseOptions, textOf } from "../../request/values.ts";
import { collectiveFacts } from "../../report/collective-facts.ts";
import { verify } from "../../verify/verify.ts";
import type { Context } from "../context.ts";
import { recording } from "../files/record-file.ts";
import { anyScheduleOf } from "../files/schedule-file.ts";
import { verifyJointFile } from "../kinds/joint-files.ts";
import { verifyPhasesFile } from "../kinds/phase-files.ts";
import { programFileOf, verifyProgramFile } from "../kinds/program-files.ts";
import { isFolder, verifyProgramFolder } from "../kinds/program-folder.ts";
import { verifyTreesFile } from "../kinds/tree-files.ts";
import { KEPT, provedText, writeVerdict } from "../kinds/verdict.ts";

/** `banyan verify FILE`: exit code 1 and the violations where the schedule or program is wrong. */
export async function run(context: Context, args: readonly string[]): Promise<number> {
  const file = args[0] as string;
  if (isFolder(file)) {
    refuseOptions(context.options, ["record", "recordOf"], "a file of a schedule or program in place of a folder");
    return verifyProgramFolder(context, file);
  }
  const record = recording(context);
  const found = programFileOf(context, file);
  if (found !== null) return verifyProgramFile(context, found, record);
  const target = textOf(context.options, "target");
  if (target !== undefined) throw new InputError("--target", "a program beside it, not a schedule,", file);
  const schedule = await anyScheduleOf(context, file);
  if (isJoint(schedule)) return verifyJointFile(context, file, schedule, record);
  if (isPhaseSchedule(schedule)) return verifyPhasesFile(context, file, schedule, record);
  if (isTreeFlow(schedule)) return verifyTreesFile(context, file, schedule, record);
  context.progress({ what: "verifying" });
  const verification = verify(schedule, {
    limit: KEPT,
    onProgress: (done, total) => context.progress({ what: "verifying", done, total, unit: "NPUs" }),
  });
  const { topology, collective } = schedule;
  const judged = {
    file,
    schedule,
    about: { collective: collectiveFacts(topology, collective) },
    what: provedText(topology, collective),
    transfers: transfersOf(schedule),
    ps: makespanOf(schedule),
  };
  return writeVerdict(context, judged, verification, record);
}
