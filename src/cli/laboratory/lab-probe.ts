import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Inferred } from "../../infer/infer.ts";
import { readTimings, spreadOf } from "../../lab/timings.ts";
import type { NamedCollective } from "../../model/collective/collective.ts";
import { formatSize } from "../../model/numbers/units.ts";
import type { Prober } from "../../model/probe/measurements.ts";
import type { Topology } from "../../model/topology/topology.ts";
import { openJobProber, type ProberOptions } from "../../probe/job-prober.ts";
import { timeText } from "../../report/amounts.ts";
import type { Context } from "../context.ts";
import { table } from "../reports/table.ts";
import { askedLaboratory, mpiCollective } from "./asked.ts";
import { pacedLaboratory } from "./paced.ts";
import { sizesAsked, writePlans } from "./plans.ts";
import { byPlans, timeCalls, USUAL_REPEATS } from "./timed-calls.ts";

/** A collective on the network as it was found, and on the network as it was built, in the same laboratory. */
interface LoopRow {
  readonly sizeBytes: number;
  readonly found: LoopTimes;
  readonly built: LoopTimes;
}

interface LoopTimes {
  readonly algorithm: string;
  readonly predictedUs: number;
  /** The median; null where the job failed, or a result was wrong. */
  readonly measuredUs: number | null;
}

/** A laboratory that is probed, and what can be done with what was found. */
export interface LabProbe {
  readonly prober: Prober;
  readonly by: string;
  /** With --collective: runs it by plans for the network that was found, and by plans for the one that was built. */
  compare(found: Inferred): Promise<{ readonly report: object; readonly lines: readonly string[] } | undefined>;
  close(): Promise<void>;
}

/** Builds a laboratory and returns a prober of it. Throws InputError where this machine can have none. */
export async function openLabProbe(context: Context, name: string, options: ProberOptions): Promise<LabProbe> {
  const collective = mpiCollective(context.options);
  const first = await askedLaboratory(context, name);
  const folder = mkdtempSync(join(tmpdir(), "banyan-loop-"));
  context.temporary.add(folder);
  const removeFolder = (): void => {
    rmSync(folder, { recursive: true, force: true });
    context.temporary.remove(folder);
  };
  const opened = async () => {
    const { asked, laboratory, job } = await pacedLaboratory(context, first, folder);
    const prober = await openJobProber(job, options).catch(async (error: unknown) => {
      await laboratory.close();
      throw error;
    });
    return { asked, laboratory, prober };
  };
  const { asked, laboratory, prober } = await opened().catch((error: unknown) => {
    removeFolder();
    throw error;
  });
  const { topology, network, toolchain } = asked;
  const { npuCount } = topology;
  const close = async (): Promise<void> => {
    removeFolder();
    await laboratory.close();
  };
  const sizesBytes = sizesAsked(context.options);
  const times = async (kind: NamedCollective, on: Topology, what: string): Promise<LoopTimes[]> => {
    const plans = join(folder, what);
    const { planned } = await writePlans(context, on, kind, { sizesBytes, folder: plans });
    context.progress({ what: `running the plans for the network as it was ${what}` });
    const calls = { toolchain, npuCount, collective: kind, planned, repeats: USUAL_REPEATS, signal: context.signal };
    const { out } = await timeCalls(laboratory, calls, await byPlans(toolchain, plans));
    const timed = readTimings(out);
    return planned.map(({ sizeBytes, algorithm, predictedSeconds }) => {
      const own = timed.find((one) => one.sizeBytes === sizeBytes);
      const isRight = own !== undefined && own.right === true && own.seconds.length > 0;
      const measuredUs = isRight ? spreadOf(own.seconds).median * 1e6 : null;
      return { algorithm, predictedUs: predictedSeconds * 1e6, measuredUs };
    });
  };
  return {
    prober,
    by: `${toolchain.version} in a laboratory of ${topology.name}, ${network.fastestBitsPerSecond / 1e6} Mbit/s`,
    async compare({ topology: found }) {
      if (collective === undefined) return undefined;
      const own = await times(collective, found, "found");
      const built = await times(collective, network.topology, "built");
      const rows = sizesBytes.map(
        (sizeBytes, i): LoopRow => ({ sizeBytes, found: own[i] as LoopTimes, built: built[i] as LoopTimes }),
      );
      return { report: { collective, rows }, lines: loopLines(collective, rows) };
    },
    close,
  };
}

function loopLines(collective: string, rows: readonly LoopRow[]): string[] {
  const text = (us: number | null): string => (us === null ? "failed" : timeText(us));
  const cells = rows.map(({ sizeBytes, found, built }) => [
    formatSize(sizeBytes),
    ...[found.algorithm, text(found.predictedUs), text(found.measuredUs)],
    ...[built.algorithm, text(built.measuredUs)],
  ]);
  return table([collective, "as found", "predicted", "measured", "as built", "measured"], cells, [
    ...(["right", "left", "right", "right", "left", "right"] as const),
  ]);
}
