import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Laboratory } from "../../lab/laboratory.ts";
import { launchCommand } from "../../lab/launch.ts";
import type { Prober } from "../../model/probe/measurements.ts";
import { builtMpi, type MpiToolchain } from "../../mpi/toolchain.ts";
import { openJobProber, type ProberOptions } from "../../probe/job-prober.ts";

/** Returns a prober whose processes are the NPUs of a laboratory, and what removes its files. Throws as openJobProber does. */
export async function openLabProber(
  laboratory: Laboratory,
  { toolchain, npuCount, name }: { readonly toolchain: MpiToolchain; readonly npuCount: number; readonly name: string },
  options: ProberOptions,
): Promise<{ readonly prober: Prober; close(): void }> {
  const folder = mkdtempSync(join(tmpdir(), "banyan-probe-"));
  const close = (): void => rmSync(folder, { recursive: true, force: true });
  const list = join(folder, "list");
  try {
    const program = [await builtMpi(toolchain, "probe"), list];
    const { command, env } = launchCommand({ toolchain, npuCount, program });
    const prober = await openJobProber((text) => {
      writeFileSync(list, text);
      return {
        name: `the laboratory of ${name}`,
        start: () => laboratory.start(command, { npu: 0, env }),
        leadsGroup: true,
      };
    }, options);
    return { prober, close };
  } catch (error) {
    close();
    throw error;
  }
}
