import type { Laboratory } from "../../lab/laboratory.ts";
import type { LabNetwork } from "../../lab/network.ts";
import {
  hopFlows,
  predictedTopology,
  type StartUpFigures,
  startUpExperiments,
  startUpFigures,
} from "../../lab/start-up.ts";
import { PS_PER_SECOND } from "../../model/numbers/units.ts";
import type { Topology } from "../../model/topology/topology.ts";
import { type JobOf, measuredBy } from "../../probe/job-prober.ts";
import type { Context } from "../context.ts";
import { type AskedLaboratory, atRate, built } from "./asked.ts";
import { measuringJob } from "./measuring-job.ts";

/** A laboratory that runs, and what was measured at its start. */
export interface PacedLaboratory {
  /** As it was built in the end. */
  readonly asked: AskedLaboratory;
  readonly laboratory: Laboratory;
  readonly job: JobOf;
  readonly figures: StartUpFigures;
  /** The network as it is predicted to work. */
  readonly working: Topology;
}

/** Links carry what they should where so much of it is payload; the most is 0.956, less acknowledgements of the other direction. */
const CARRIED = 0.92;
const SLOWER = 2 / 3;
const MOST_STEPS = 4;

/**
 * Builds a laboratory whose links the machine carries, all at once: where they carry less than their rate it is built again, slower
 * by a third, and once more for room, up to four times in all; not where --rate says the rate. Its lists are written to a folder. Throws as `built` does.
 */
export async function pacedLaboratory(
  context: Pick<Context, "progress" | "signal">,
  first: AskedLaboratory,
  folder: string,
): Promise<PacedLaboratory> {
  const { signal } = context;
  let hasRoom = false;
  for (let asked = first, steps = 0; ; steps++) {
    const { network, toolchain, topology, forwarding } = asked;
    const laboratory = await built(context, asked);
    let isCarried = false;
    try {
      const places = { toolchain, npuCount: topology.npuCount, name: topology.name };
      const job = await measuringJob(laboratory, places, folder);
      context.progress({ what: "measuring messages between neighbours" });
      const flows = hopFlows(network.topology, forwarding);
      const measured = await measuredBy(job, startUpExperiments(flows, network.fastestBitsPerSecond), { signal });
      const delaySeconds = delayOf(laboratory, network);
      const figures = startUpFigures(measured, flows, network, delaySeconds);
      isCarried = figures.payloadShare >= CARRIED;
      if (asked.isRateGiven || !network.isTimed || (isCarried && (steps === 0 || hasRoom)) || steps === MOST_STEPS) {
        const working = predictedTopology(network.topology, figures, delaySeconds);
        return { asked, laboratory, job, figures, working };
      }
    } catch (error) {
      await laboratory.close();
      throw error;
    }
    await laboratory.close();
    // plans ask more of the machine than messages do: one step below what it just carries
    hasRoom = isCarried;
    asked = atRate(asked, network.fastestBitsPerSecond * SLOWER);
  }
}

/** Returns the seconds that each link delays what it carries. */
const delayOf =
  ({ hasDelays }: Laboratory, { topology, factor }: LabNetwork) =>
  (link: number): number =>
    hasDelays ? (topology.linkLatencyPs[link] * factor) / PS_PER_SECOND : 0;
