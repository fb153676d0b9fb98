import type { Collective } from "../../model/collective/collective.ts";
import { groupedBy } from "../../model/graph/graph.ts";
import { orderByTime } from "../../model/numbers/ordering.ts";
import { ceil } from "../../model/numbers/rational.ts";
import { routeCount, routeTimes, serializationPs } from "../../model/routes/routes.ts";
import { emptyRows, type StepSchedule } from "../../model/steps/step-schedule.ts";
import type { Topology } from "../../model/topology/topology.ts";
import type { Messages } from "./messages.ts";
import { type Paths, pathsAlong, type SourceFlow, shortestPaths } from "./paths.ts";
import { balanced, busiestOf, TOLERANCE } from "./rounding.ts";
import { type Timed, type TimingOptions, timed } from "./slots.ts";
import { type Hops, hopsOf } from "./transfers.ts";

/**
 * Where a schedule along the flow takes so much longer than its busiest link and the longest way, its paths are too long for so
 * few messages, and shorter ones are tried that fill links for longer, up to that time.
 */
const LONG = 0.02;
const SHORTENINGS = 4;

/** A schedule of messages on one path each, and what held it up. */
export interface Unicast {
  readonly schedule: StepSchedule;
  /** How long the busiest link would be busy if messages could be split as the flow says. */
  readonly fractionPs: number;
  /** How long it is busy with whole messages. */
  readonly busiestPs: number;
  readonly tries: number;
}

/**
 * Returns the schedule of messages along a flow: paths, then balanced loads, then times. Throws InfeasibleError for a message
 * that cannot reach its target.
 */
export async function unicastSchedule(
  topology: Topology,
  collective: Collective,
  messages: Messages,
  flowOf: SourceFlow,
  options: TimingOptions,
): Promise<Unicast> {
  const costPs = linkCosts(topology, collective);
  const { paths: along, total } = pathsAlong(topology, messages, flowOf, options.seed);
  let fractionPs = 0;
  for (let link = 0; link < total.length; link++) fractionPs = Math.max(fractionPs, total[link] * costPs[link]);
  const planned = async (paths: Paths, targetPs: number): Promise<Plan> => {
    const busiestPs = balanced(topology, messages, paths, costPs, targetPs);
    const hops = hopsOf(topology, paths);
    const times = routeTimes(topology, hops.routes, collective.chunkBytes);
    return { busiestPs, hops, slotPs: times.slotPs, found: await timed(topology, hops, times, options) };
  };
  const shortest = shortestPaths(topology, messages, costPs);
  const leastWayPs = longestOf(shortest, costPs);
  // Where the shortest ways are as good as any, nothing is relayed for the sake of a flow that is one of many.
  const suffices = busiestOf(shortest, costPs) <= fractionPs * (1 + TOLERANCE);
  let best = await planned(suffices ? shortest.slice() : along, fractionPs);
  let { tries } = best.found;
  const leastPs = Math.max(fractionPs, leastWayPs);
  const firstPs = best.found.endPs;
  const isLong = (): boolean => best.found.endPs > Math.max(best.busiestPs, leastWayPs) * (1 + LONG);
  for (let k = 1; k <= SHORTENINGS && !suffices && isLong(); k++) {
    const other = await planned(shortest.slice(), leastPs + ((firstPs - leastPs) * k) / SHORTENINGS);
    tries += other.found.tries;
    if (other.found.endPs < best.found.endPs) best = other;
  }
  const schedule = scheduleOf(topology, collective, messages, best);
  return { schedule, fractionPs, busiestPs: best.busiestPs, tries };
}

/** Messages on their paths, in time. */
interface Plan {
  readonly busiestPs: number;
  readonly hops: Hops;
  /** [routes] */
  readonly slotPs: Float64Array;
  readonly found: Timed;
}

/** Returns how long the longest path takes on free links. */
const longestOf = (paths: Paths, costPs: Float64Array): number =>
  paths.reduce(
    (most, path) =>
      Math.max(
        most,
        path.reduce((sum, link) => sum + costPs[link], 0),
      ),
    0,
  );

/** Returns how long a chunk keeps each link busy, [links]. */
function linkCosts({ linkBytesPerSecond, linkLatencyPs }: Topology, { chunkBytes }: Collective): Float64Array {
  const known = new Map<number, number>();
  return linkBytesPerSecond.map((rate, link) => {
    let ps = known.get(rate);
    if (ps === undefined) {
      ps = Number(ceil(serializationPs(chunkBytes, rate)));
      known.set(rate, ps);
    }
    return ps + linkLatencyPs[link];
  });
}

/** Returns the hops as a schedule: rows ascend by (start, route, chunk). */
function scheduleOf(
  topology: Topology,
  collective: Collective,
  messages: Messages,
  { hops: { routes, message, route }, slotPs, found: { startPs } }: Plan,
): StepSchedule {
  const byChunk = groupedBy(
    message.map((m) => messages.chunk[m]),
    collective.chunkCount,
  ).items;
  const byRoute = groupedBy(
    byChunk.map((i) => route[i]),
    routeCount(routes),
  ).items.map((k) => byChunk[k]);
  const order = orderByTime(Float64Array.from(byRoute, (i) => startPs[i]));
  const schedule = emptyRows(topology, collective, routes, order.length);
  for (let row = 0; row < order.length; row++) {
    const i = byRoute[order[row]];
    schedule.chunk[row] = messages.chunk[message[i]];
    schedule.route[row] = route[i];
    schedule.startPs[row] = startPs[i];
    schedule.endPs[row] = startPs[i] + slotPs[route[i]];
  }
  return schedule;
}
