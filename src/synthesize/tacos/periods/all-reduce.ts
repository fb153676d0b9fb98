import { withChunks } from "../../../model/collective/collective.ts";
import { toNumber } from "../../../model/numbers/rational.ts";
import type { PeriodSchedule } from "../../../model/periods/period-schedule.ts";
import { stepsOfPeriods } from "../../../model/periods/period-steps.ts";
import { routeTimes } from "../../../model/routes/routes.ts";
import { routesOf } from "../../../model/routes/routing.ts";
import { leastTransfers } from "../../../model/steps/estimate.ts";
import type { StepSchedule } from "../../../model/steps/step-schedule.ts";
import { switchCount } from "../../../model/topology/topology.ts";
import type { Synthesis, SynthesisContext, SynthesisRequest } from "../../synthesizer.ts";
import { type Periods, periodsOf, scheduleOfPeriods } from "./periods.ts";

/** Periods of more transfers than this stay periods. */
const MOST_LISTED = 1e7;
/** Twice the chunks are worth it where they save this share of the time; the more, the more transfers they make. */
const WORTH_TWICE: readonly (readonly [transfers: number, share: number])[] = [
  [5e5, 0.01],
  [2e6, 0.02],
  [MOST_LISTED, 0.04],
  [Number.POSITIVE_INFINITY, 0.01],
];
/** Overlapped halves come no nearer to what spanning trees reach without beginning and end: from measurements. */
const OVERLAPPED_SHARE = 0.85;

/** Returns an all-reduce in periods, and whether matching may be faster; null where the network or the request is not for it. */
export async function periodicAllReduce(
  request: SynthesisRequest,
  context: SynthesisContext,
): Promise<
  (Synthesis & { readonly schedule: StepSchedule | PeriodSchedule; readonly gainsFromMatching: boolean }) | null
> {
  const found = await findPeriods(request, context);
  if (found === null) return null;
  const { routes, periods } = found;
  const schedule = scheduleOfPeriods(request.topology, request.collective, routes, periods);
  return {
    schedule: leastTransfers(request.collective) > MOST_LISTED ? schedule : stepsOfPeriods(schedule),
    policy: `${periods.packing.trees.length} spanning trees, up and down, one round each period`,
    trials: periods.tables,
    gainsFromMatching: gainsFromMatching(periods),
  };
}

/** Returns the chunks per NPU with which an all-reduce in periods is fastest, where that is faster than matching; else null. */
export async function autoChunks(request: SynthesisRequest, context: SynthesisContext): Promise<number | null> {
  if (request.collective.kind !== "allreduce") return null;
  let best: { readonly chunks: number; readonly periods: Periods } | null = null;
  for (let chunks = 1; ; chunks *= 2) {
    const collective = withChunks(request.collective, chunks);
    const found = toNumber(collective.chunkBytes) < 1 ? null : await findPeriods({ ...request, collective }, context);
    // what trees reach at best, halves one after the other reach as well
    if (found === null || found.periods.halvesPs <= found.periods.idealPs) break;
    const [, share] = WORTH_TWICE.find(([transfers]) => leastTransfers(collective) <= transfers) ?? [0, 1];
    if (best !== null && found.periods.endPs > (1 - share) * best.periods.endPs) break;
    best = { chunks, periods: found.periods };
  }
  return best === null || gainsFromMatching(best.periods) ? null : best.chunks;
}

async function findPeriods({ topology, collective, seed, policy }: SynthesisRequest, context: SynthesisContext) {
  if (collective.kind !== "allreduce" || collective.groupSize < topology.npuCount || policy !== null) return null;
  if (switchCount(topology) > 0) return null;
  const routes = routesOf(topology, 1);
  const times = routeTimes(topology, routes, collective.chunkBytes);
  const periods = await periodsOf(topology, collective, routes, times, seed, context);
  return periods === null ? null : { routes, periods };
}

/** Returns whether matching may be faster: halves one after the other, or overlapped ones where few rounds leave much room. */
const gainsFromMatching = ({ endPs, idealPs, halvesPs }: Periods): boolean =>
  halvesPs < endPs || idealPs < OVERLAPPED_SHARE * endPs;
