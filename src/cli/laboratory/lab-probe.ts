import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { InputError } from "../../base/errors.ts";
import type { Inferred } from "../../infer/infer.ts";
import { runJob } from "../../lab/job.ts";
import { openLaboratory } from "../../lab/laboratory.ts";
import { labNetwork } from "../../lab/network.ts";
import { forwardingOf } from "../../lab/paths.ts";
import { buildScript } from "../../lab/script.ts";
import { readTimings, spreadOf } from "../../lab/timings.ts";
import { formatSize } from "../../model/numbers/units.ts";
import type { Prober } from "../../model/probe/measurements.ts";
import { MPI_COLLECTIVES } from "../../model/program/mpi-plan.ts";
import type { Topology } from "../../model/topology/topology.ts";
import { builtMpi, type MpiToolchain } from "../../mpi/toolchain.ts";
import type { ProberOptions } from "../../probe/job-prober.ts";
import { timeText } from "../../report/amounts.ts";
import { optionValue, placeOf } from "../../request/option-table.ts";
import { namedCollective } from "../../request/values.ts";
import type { Context } from "../context.ts";
import { networkOf } from "../network.ts";
import { table } from "../reports/table.ts";
import { openLabProber } from "./lab-prober.ts";
import { simulatedPaths, sizesAsked, writePlans } from "./plans.ts";

const MOST_JOB_SECONDS = 180;
const CALLS = 5;

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
export async function openLabProbe(
  context: Context,
  name: string,
  toolchain: MpiToolchain,
  options: ProberOptions,
): Promise<LabProbe> {
  const asked = optionValue(context.options, "collective");
  const collective = asked === undefined ? null : namedCollective(asked, placeOf("collective"));
  if (collective !== null && !(MPI_COLLECTIVES as readonly string[]).includes(collective))
    throw new InputError(placeOf("collective"), `one that MPI has (${MPI_COLLECTIVES.join(", ")})`, collective).as(
      "not-applicable",
    );
  const topology = await networkOf(name, context.options);
  const rate = optionValue(context.options, "rate");
  const network = labNetwork(topology, rate === undefined ? null : rate * 8);
  const { npuCount } = topology;
  context.progress({ what: "building the laboratory" });
  const script = buildScript(network, forwardingOf(network.topology, simulatedPaths(network.topology)));
  const laboratory = await openLaboratory(topology.name, script, context.signal);
  const folder = mkdtempSync(join(tmpdir(), "banyan-loop-"));
  context.temporary.add(folder);
  const close = async (): Promise<void> => {
    opened?.close();
    rmSync(folder, { recursive: true, force: true });
    context.temporary.remove(folder);
    await laboratory.close();
  };
  let opened: Awaited<ReturnType<typeof openLabProber>> | undefined;
  try {
    opened = await openLabProber(laboratory, { toolchain, npuCount, name: topology.name }, options);
  } catch (error) {
    await close();
    throw error;
  }
  const times = async (on: Topology, what: string): Promise<LoopTimes[]> => {
    const sizesBytes = sizesAsked(context.options);
    const plans = join(folder, what);
    const { planned } = await writePlans(context, on, collective as NonNullable<typeof collective>, {
      ...{ sizesBytes, folder: plans },
    });
    context.progress({ what: `running the plans for the network as it was ${what}` });
    const root = `${planned[0]?.rootRank ?? 0}`;
    const sizes = sizesBytes.flatMap((bytes) => ["--bytes", `${bytes}`]);
    const program = [
      ...[await builtMpi(toolchain, "time-calls"), "--collective", `${collective}`, "--root", root, "--check"],
      ...[...sizes, "--warmup", "1", "--repeats", `${CALLS}`],
    ];
    const env = { LD_PRELOAD: await builtMpi(toolchain, "runtime"), BANYAN_PLANS: plans };
    const limits = { seconds: MOST_JOB_SECONDS, signal: context.signal };
    const { out } = await runJob(laboratory, { toolchain, npuCount, program, env }, limits);
    const timed = readTimings(out);
    return planned.map(({ sizeBytes, algorithm, predictedSeconds }) => {
      const own = timed.find((one) => one.sizeBytes === sizeBytes);
      const isRight = own !== undefined && own.right === true && own.seconds.length > 0;
      const measuredUs = isRight ? spreadOf(own.seconds).median * 1e6 : null;
      return { algorithm, predictedUs: predictedSeconds * 1e6, measuredUs };
    });
  };
  return {
    prober: opened.prober,
    by: `${toolchain.version} in a laboratory of ${topology.name}, ${network.fastestBitsPerSecond / 1e6} Mbit/s`,
    async compare({ topology: found }) {
      if (collective === null) return undefined;
      const own = await times(found, "found");
      const built = await times(network.topology, "built");
      const rows = sizesAsked(context.options).map(
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
