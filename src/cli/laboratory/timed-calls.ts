import { type JobResult, runJob } from "../../lab/job.ts";
import type { Laboratory } from "../../lab/laboratory.ts";
import type { Launch } from "../../lab/launch.ts";
import { readTimings } from "../../lab/timings.ts";
import type { NamedCollective } from "../../model/collective/collective.ts";
import { builtMpi, type MpiToolchain } from "../../mpi/toolchain.ts";
import type { Planned } from "./plans.ts";

/** Jobs are ended after so long. */
const MOST_JOB_SECONDS = 180;
/** Calls before those that are timed: connections are made then. */
const WARM_UP = 1;
export const USUAL_REPEATS = 5;

/** Calls of a collective of some sizes, `repeats` of each, one process per NPU. */
export interface TimedCalls {
  readonly toolchain: MpiToolchain;
  readonly npuCount: number;
  readonly collective: NamedCollective;
  readonly planned: readonly Planned[];
  readonly repeats: number;
  readonly signal: AbortSignal;
}

/** Times calls, whose results are checked. `more`: what a library is told, or what it is to run by. */
export async function timeCalls(
  laboratory: Laboratory,
  { toolchain, npuCount, collective, planned, repeats, signal }: TimedCalls,
  more: Pick<Launch, "env" | "parameters">,
): Promise<JobResult> {
  const program = [
    ...[await builtMpi(toolchain, "time-calls"), "--collective", collective, "--root", `${planned[0]?.rootRank ?? 0}`],
    ...planned.flatMap(({ sizeBytes }) => ["--bytes", `${sizeBytes}`]),
    ...["--one-clock", "--check", "--warmup", `${WARM_UP}`, "--repeats", `${repeats}`],
  ];
  const isDone = (out: string): boolean => readTimings(out).length === planned.length;
  return runJob(laboratory, { toolchain, npuCount, program, ...more }, { seconds: MOST_JOB_SECONDS, signal, isDone });
}

/** Returns what makes processes run by the plans of a folder. */
export const byPlans = async (toolchain: MpiToolchain, folder: string): Promise<Pick<Launch, "env">> => ({
  env: { LD_PRELOAD: await builtMpi(toolchain, "runtime"), BANYAN_PLANS: folder },
});
