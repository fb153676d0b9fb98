import { makespanOf, transfersOf } from "../../model/schedule.ts";
import { isTreeFlow } from "../../model/tree-flow.ts";
import { verify } from "../../verify/verify.ts";
import type { Context } from "../context.ts";
import { verifyJointFile } from "../joint-files.ts";
import { anyScheduleOf, isJoint } from "../schedule-file.ts";
import { collectiveText } from "../synthesis-report.ts";
import { verifyTreesFile } from "../tree-files.ts";
import { KEPT, writeVerdict } from "../verdict.ts";

/** `banyan verify FILE`: exit code 1 and the violations where the schedule is wrong. */
export async function run(context: Context, args: readonly string[]): Promise<number> {
  const file = args[0] as string;
  const schedule = await anyScheduleOf(context, file);
  if (isJoint(schedule)) return verifyJointFile(context, file, schedule);
  if (isTreeFlow(schedule)) return verifyTreesFile(context, file, schedule);
  context.progress({ what: "verifying" });
  const verification = verify(schedule, {
    limit: KEPT,
    onProgress: (done, total) => context.progress({ what: "verifying", done, total, unit: "NPUs" }),
  });
  const { topology, collective } = schedule;
  const { kind, sizeBytes, chunksPerNpu } = collective;
  const judged = {
    file,
    topology,
    about: { collective: { kind, sizeBytes, chunksPerNpu } },
    what: `${collectiveText(collective)} on ${topology.name}`,
    transfers: transfersOf(schedule),
    ps: makespanOf(schedule),
  };
  return writeVerdict(context, judged, verification);
}
