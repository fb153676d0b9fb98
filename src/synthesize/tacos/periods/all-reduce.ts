import { limitOf } from "../../../model/bounds/bounds.ts";
import { type Collective, withChunks } from "../../../model/collective/collective.ts";
import { format, toNumber } from "../../../model/numbers/rational.ts";
import type { PeriodSchedule } from "../../../model/periods/period-schedule.ts";
import { stepsOfPeriods } from "../../../model/periods/period-steps.ts";
import { routeTimes } from "../../../model/routes/routes.ts";
import { routesOf } from "../../../model/routes/routing.ts";
import { type Estimate, leastTransfers } from "../../../model/steps/estimate.ts";
import type { StepSchedule } from "../../../model/steps/step-schedule.ts";
import { placesOf, switchCount, type Topology } from "../../../model/topology/topology.ts";
import type { Synthesis, SynthesisContext, SynthesisRequest } from "../../synthesizer.ts";
import { combPlaces, halvesReachTrees, MOST_TRIED_PLACES, type Periods, periodsOf } from "./periods.ts";

/** Periods of more transfers than this stay periods. */
const MOST_LISTED = 1e7;
/** Of a tree and an NPU, while periods are made and judged, and in files. */
const PLACE_MEMORY = 80;
const PLACE_BYS = 9;
const PLACE_TEXT = 14;
/** Where timetables take long, the number of chunks is chosen by one, for about so many rounds. */
const MANY_ROUNDS = 1024;
/** Twice the chunks are worth it where they save this share of the time; the more, the more transfers they make. */
const WORTH_TWICE: readonly (readonly [transfers: number, share: number])[] = [
  [5e5, 0.01],
  [2e6, 0.02],
  [MOST_LISTED, 0.04],
  [Number.POSITIVE_INFINITY, 0.01],
];
/** Overlapped halves come no nearer to what spanning trees reach without beginning and end: from measurements. */
const OVERLAPPED_SHARE = 0.85;

/** Returns an all-reduce of periods, transfer by transfer, and whether matching may be faster; null where it is not to be made or listed. */
export async function fewRounds(
  request: SynthesisRequest,
  context: SynthesisContext,
): Promise<(Synthesis & { readonly schedule: StepSchedule; readonly gainsFromMatching: boolean }) | null> {
  if (leastTransfers(request.collective) > MOST_LISTED) return null;
  const found = await findPeriods(request, context);
  if (found === null) return null;
  const { schedule, ...made } = synthesisOf(request, found);
  return { ...made, schedule: stepsOfPeriods(schedule), gainsFromMatching: gainsFromMatching(found) };
}

/** Returns an all-reduce of periods that are too many to be listed; null where it is not to be made, or halves are faster. */
export async function manyRounds(
  request: SynthesisRequest,
  context: SynthesisContext,
): Promise<Synthesis<PeriodSchedule> | null> {
  const { topology, collective } = request;
  if (!isWhole(topology, collective) || leastTransfers(collective) <= MOST_LISTED) return null;
  if (combPlaces(topology) === null || isForHalves(request)) return null;
  const found = await findPeriods(request, context);
  return found === null || found.halvesPs < found.endPs ? null : synthesisOf(request, found);
}

function synthesisOf({ topology, collective }: SynthesisRequest, periods: Periods): Synthesis<PeriodSchedule> {
  const { narrowest } = periods.packing;
  return {
    ...(narrowest === null ? {} : { limit: limitOf(topology, collective, { cuts: [], partitions: [narrowest] }) }),
    schedule: periods.schedule,
    policy: `${periods.packing.trees.length} spanning trees, up and down, one round each period`,
    trials: periods.tables,
  };
}

/** Returns what an all-reduce takes as periods that are too many to be listed, about; null where it is none. */
export function periodsEstimate(topology: Topology, collective: Collective): Estimate | null {
  const transfers = leastTransfers(collective);
  const places = isWhole(topology, collective) && transfers > MOST_LISTED ? combPlaces(topology) : null;
  return places === null
    ? null
    : { transfers, memoryBytes: places * PLACE_MEMORY, bysBytes: places * PLACE_BYS, jsonBytes: places * PLACE_TEXT };
}

/** Returns the chunks per NPU with which an all-reduce in periods is fastest, where that is faster than matching; else null. */
export async function autoChunks(request: SynthesisRequest, context: SynthesisContext): Promise<number | null> {
  const { topology, collective } = request;
  if (!isWhole(topology, collective) || request.policy !== null) return null;
  if (leastTransfers(collective) > MOST_LISTED && isForHalves(request)) return null;
  const mayStay = combPlaces(topology) !== null;
  const guess = await guessFor(request, context);
  let best: { readonly chunks: number; readonly periods: Ends } | null = null;
  for (let chunks = 1; ; chunks *= 2) {
    const cut = withChunks(collective, chunks);
    const transfers = leastTransfers(cut);
    if (toNumber(cut.chunkBytes) < 1 || (transfers > MOST_LISTED && !mayStay)) break;
    const periods = guess === null ? await findPeriods({ ...request, collective: cut }, context) : guess.endsOf(cut);
    // what trees reach at best, halves one after the other reach as well
    if (periods === null || periods.halvesPs <= periods.idealPs) break;
    const [, share] = WORTH_TWICE.find(([most]) => transfers <= most) ?? [0, 1];
    if (best !== null && periods.endPs > (1 - share) * best.periods.endPs) break;
    best = { chunks, periods };
  }
  if (best === null || gainsFromMatching(best.periods)) return null;
  const stays = leastTransfers(withChunks(collective, best.chunks)) > MOST_LISTED;
  // whose timetable is there already: more rounds take no more room
  return stays && guess !== null ? Math.max(best.chunks, guess.chunks) : best.chunks;
}

type Ends = Pick<Periods, "endPs" | "idealPs" | "halvesPs">;

/**
 * Returns a number of chunks per NPU for many rounds, where timetables take long, and when periods with other chunks end, about:
 * all but latency is proportional to the chunks. Null where they do not take long.
 */
async function guessFor(request: SynthesisRequest, context: SynthesisContext) {
  const { topology, collective } = request;
  const places = combPlaces(topology);
  if (places === null || places <= MOST_TRIED_PLACES) return null;
  const trees = places / topology.npuCount;
  let chunks = 1;
  while (chunks * topology.npuCount < MANY_ROUNDS * trees) chunks *= 2;
  while (toNumber(withChunks(collective, chunks).chunkBytes) < 1 && chunks > 1) chunks /= 2;
  const cut = withChunks(collective, chunks);
  const found = await findPeriods({ ...request, collective: cut }, context);
  if (found === null) return null;
  const { packing, endPs, idealPs, halvesPs } = found;
  const roundsOf = ({ chunkCount }: Collective): number => Math.ceil(chunkCount / trees) - 1;
  // up and down again, from the corners to a root in the middle
  const waysPs = topology.linkLatencyPs[0] * (placesOf(topology)?.shape ?? []).reduce((sum, size) => sum + size, 0);
  const lastPs = endPs - roundsOf(cut) * packing.periodPs - waysPs;
  const endsOf = (other: Collective): Ends => {
    const scale = cut.chunkCount / other.chunkCount;
    return { endPs: (roundsOf(other) * packing.periodPs + lastPs) * scale + waysPs, idealPs, halvesPs };
  };
  return { chunks, endsOf };
}

/** Returns whether halves one after the other may take no longer than any periods do, as on tori. */
function isForHalves({ topology, collective }: SynthesisRequest): boolean {
  const routes = routesOf(topology, 1);
  return halvesReachTrees(topology, routes, routeTimes(topology, routes, collective.chunkBytes));
}

/** Returns whether it is an all-reduce of all NPUs, which are linked directly. */
const isWhole = (topology: Topology, { kind, groupSize }: Collective): boolean =>
  kind === "allreduce" && groupSize === topology.npuCount && switchCount(topology) === 0;

/** The periods that were made last on a network: whoever chose their chunks is to have them again. */
const lastMade = new WeakMap<Topology, { readonly key: string; readonly periods: Periods | null }>();

async function findPeriods({ topology, collective, seed, policy }: SynthesisRequest, context: SynthesisContext) {
  if (!isWhole(topology, collective) || policy !== null) return null;
  const key = `${seed} ${collective.chunkCount} ${format(collective.chunkBytes)}`;
  const last = lastMade.get(topology);
  if (last?.key === key) return last.periods;
  const routes = routesOf(topology, 1);
  const times = routeTimes(topology, routes, collective.chunkBytes);
  const periods = await periodsOf(topology, collective, routes, times, seed, context);
  lastMade.set(topology, { key, periods });
  return periods;
}

/** Returns whether matching may be faster: halves one after the other, or overlapped ones where few rounds leave much room. */
const gainsFromMatching = ({ endPs, idealPs, halvesPs }: Ends): boolean =>
  halvesPs < endPs || idealPs < OVERLAPPED_SHARE * endPs;
