import type { Collective } from "../../model/collective.ts";
import { groupedBy } from "../../model/graph.ts";
import { orderByTime } from "../../model/ordering.ts";
import { ceil } from "../../model/rational.ts";
import { routeCount, routeTimes, serializationPs } from "../../model/routes.ts";
import { indexColumn, type StepSchedule } from "../../model/step-schedule.ts";
import type { Topology } from "../../model/topology.ts";
import type { Messages } from "./messages.ts";
import { pathsAlong, type SourceFlow, shortestPaths } from "./paths.ts";
import { balanced, busiestOf, TOLERANCE } from "./rounding.ts";
import { type Timed, type TimingOptions, timed } from "./slots.ts";
import { type Hops, hopsOf } from "./transfers.ts";

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
  // Where the shortest ways are as good as any, nothing is relayed for the sake of a flow that is one of many.
  const shortest = shortestPaths(topology, messages, costPs);
  const suffices = busiestOf(shortest, costPs) <= fractionPs * (1 + TOLERANCE);
  const paths = suffices ? shortest : along;
  const busiestPs = balanced(topology, messages, paths, costPs, fractionPs);
  const hops = hopsOf(topology, paths);
  const times = routeTimes(topology, hops.routes, collective.chunkBytes);
  const found = await timed(topology, hops, times, options);
  const schedule = scheduleOf(topology, collective, messages, hops, times.slotPs, found);
  return { schedule, fractionPs, busiestPs, tries: found.tries };
}

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
  { routes, message, route }: Hops,
  slotPs: Float64Array,
  { startPs }: Timed,
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
  const schedule = {
    topology,
    collective,
    routes,
    chunk: indexColumn(order.length, collective.chunkCount),
    route: indexColumn(order.length, routeCount(routes)),
    startPs: new Float64Array(order.length),
    endPs: new Float64Array(order.length),
    op: new Uint8Array(order.length),
  };
  for (let row = 0; row < order.length; row++) {
    const i = byRoute[order[row]];
    schedule.chunk[row] = messages.chunk[message[i]];
    schedule.route[row] = route[i];
    schedule.startPs[row] = startPs[i];
    schedule.endPs[row] = startPs[i] + slotPs[route[i]];
  }
  return schedule;
}
