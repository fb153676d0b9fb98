import type { Laboratory } from "../../lab/laboratory.ts";
import type { LabNetwork } from "../../lab/network.ts";
import {
  hopFlows,
  nextRate,
  predictedTopology,
  type StartUpFigures,
  startUpExperiments,
  startUpFigures,
} from "../../lab/start-up.ts";
import { PS_PER_SECOND } from "../../model/numbers/units.ts";
import type { Topology } from "../../model/topology/topology.ts";
import { type JobOf, measuredBy } from "../../probe/job-prober.ts";
import type { Context } from "../context.ts";
import { type AskedLaboratory, built, laboratoryOf } from "./asked.ts";
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

/**
 * Builds a laboratory whose links the machine carries, all at once (`nextRate`); where --rate says the rate, at that. Lists of
 * what is measured are written to a folder. Throws as `built` does.
 */
export async function pacedLaboratory(
  context: Pick<Context, "progress" | "signal">,
  first: AskedLaboratory,
  folder: string,
): Promise<PacedLaboratory> {
  const { signal } = context;
  const shares: number[] = [];
  for (let asked = first; ; ) {
    const { network, toolchain, topology, forwarding } = asked;
    const laboratory = await built(context, asked);
    let slower: number | null;
    try {
      const places = { toolchain, npuCount: topology.npuCount, name: topology.name };
      const job = await measuringJob(laboratory, places, folder);
      context.progress({ what: "measuring messages between neighbours" });
      const flows = hopFlows(network.topology, forwarding);
      const measured = await measuredBy(job, startUpExperiments(flows, network.fastestBitsPerSecond), { signal });
      const delaySeconds = delayOf(laboratory, network);
      const figures = startUpFigures(measured, flows, network, delaySeconds);
      shares.push(figures.payloadShare);
      slower = first.isRateGiven ? null : nextRate(network, shares);
      if (slower === null) {
        const working = predictedTopology(network.topology, figures, delaySeconds);
        return { asked, laboratory, job, figures, working };
      }
    } catch (error) {
      await laboratory.close();
      throw error;
    }
    await laboratory.close();
    asked = laboratoryOf(topology, toolchain, slower);
  }
}

/** Returns the seconds that each link delays what it carries. */
const delayOf =
  ({ hasDelays }: Laboratory, { topology, factor }: LabNetwork) =>
  (link: number): number =>
    hasDelays ? (topology.linkLatencyPs[link] * factor) / PS_PER_SECOND : 0;
