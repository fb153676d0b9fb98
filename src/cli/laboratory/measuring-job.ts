import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Laboratory } from "../../lab/laboratory.ts";
import { launchCommand } from "../../lab/launch.ts";
import { builtMpi, type MpiToolchain } from "../../mpi/toolchain.ts";
import type { JobOf } from "../../probe/job-prober.ts";

/** Returns the job that measures between the NPUs of a laboratory; its lists are written to a folder. Throws as builtMpi does. */
export async function measuringJob(
  laboratory: Laboratory,
  { toolchain, npuCount, name }: { readonly toolchain: MpiToolchain; readonly npuCount: number; readonly name: string },
  folder: string,
): Promise<JobOf> {
  const list = join(folder, "list");
  const program = [await builtMpi(toolchain, "probe"), list];
  const { command, env } = launchCommand({ toolchain, npuCount, program });
  return (text) => {
    writeFileSync(list, text);
    return {
      name: `the laboratory of ${name}`,
      start: () => laboratory.start(command, { npu: 0, env }),
      leadsGroup: true,
    };
  };
}
