import { InputError } from "../errors.ts";
import type { Collective } from "../model/collective.ts";
import type { JointSchedule } from "../model/joint-schedule.ts";
import { ceil } from "../model/rational.ts";
import { serializationPs } from "../model/routes.ts";
import type { StepSchedule } from "../model/step-schedule.ts";
import { replayCutThrough } from "./cut-through.ts";
import type { Ways } from "./message-network.ts";
import { replayEvents } from "./replay-events.ts";
import { type Rows, rowsOf, rowsOfJoint } from "./rows.ts";
import type { Simulation, Switching } from "./simulation.ts";

export interface SimulationOptions {
  /** Default: cut-through. */
  readonly switching?: Switching;
  /** Also return when each transfer starts and arrives. */
  readonly timeline?: boolean;
}

/** Returns serialisation (rounded up) and latency + serialisation of one chunk on each link of each route, share 1. */
function wholeLinkWays({ topology, routes }: Rows, collective: Collective): Ways {
  const classes = new Map<number, number>();
  const serial = Float64Array.from(routes.links, (link) => {
    const bandwidth = topology.linkBytesPerSecond[link];
    let ps = classes.get(bandwidth);
    if (ps === undefined) {
      ps = Number(ceil(serializationPs(collective.chunkBytes, bandwidth)));
      classes.set(bandwidth, ps);
    }
    return ps;
  });
  const delay = serial.map((ps, p) => ps + topology.linkLatencyPs[routes.links[p]]);
  return { offset: routes.linkOffset, links: routes.links, serial, delay };
}

/**
 * Returns the schedule replayed in the congestion-aware network, where serialisation occupies a link and latency does not.
 * The order of transfers on each link is kept, planned times are dropped: a transfer starts as soon as its chunk is at its
 * source, nothing planned before it on its links is in its way, and its route is free. In a reduction the chunk is there
 * when every contribution has arrived that had arrived in the plan by the planned departure, and later ones are set aside,
 * so payloads are as planned; otherwise when the first of those planned arrivals has come.
 *
 * `cut-through`: a transfer holds its share of all links of its route, from its start, for the serialisation at the
 * route's bottleneck, and arrives after that and the sum of the latencies. Transfers share a link while their shares sum to
 * at most 1; none starts before one that was planned before it on the same link.
 *
 * `store-and-forward`: a transfer takes the links of its route one after the other, each with its full bandwidth whatever
 * the share, one message at a time. The first link keeps the planned order of the transfers that begin there; beyond that
 * links are first come, first served, ties by the order in which events were scheduled.
 *
 * A valid schedule simulates to at most its planned time in cut-through, and in store-and-forward where all routes are
 * single links: by induction nothing starts later than planned. Neither mode looks at postconditions.
 *
 * Throws InputError for a schedule that is not valid (rows out of order, a chunk that is never at the source), and for times
 * that leave 2^53 ps. Time
 * O(transfers x links of a route) for cut-through, times log of the events in flight for store-and-forward; memory
 * O(transfers + NPUs + chunks + links).
 */
export function simulateSchedule(schedule: StepSchedule, options: SimulationOptions = {}): Simulation {
  return simulateRows(rowsOf(schedule), options);
}

/**
 * Returns the transfers of all tenants replayed together as `simulateSchedule` does: the order of transfers on each link is
 * kept, whoever's they are. Timelines are in the order of `jointRows`.
 */
export function simulateJoint(joint: JointSchedule, options: SimulationOptions = {}): Simulation {
  return simulateRows(rowsOfJoint(joint), options);
}

function simulateRows(rows: Rows, options: SimulationOptions): Simulation {
  const { switching = "cut-through", timeline = false } = options;
  if (switching !== "cut-through" && switching !== "store-and-forward") {
    throw new InputError("options.switching", '"cut-through" or "store-and-forward"', switching);
  }
  const simulation =
    switching === "cut-through" ? replayCutThrough(rows, timeline) : replayStoreAndForward(rows, timeline);
  if (simulation.ps > Number.MAX_SAFE_INTEGER) {
    throw new InputError("the simulated time", "less than 2^53 ps (2.5 hours)", simulation.ps);
  }
  return simulation;
}

function replayStoreAndForward(rows: Rows, timeline: boolean): Simulation {
  const ways = joined(rows.collectives.map((collective) => wholeLinkWays(rows, collective)));
  const { last, linkBusy, start, end, hopStart } = replayEvents(rows, ways, true, timeline);
  return {
    model: "network/store-and-forward",
    ps: last,
    linkBusyPs: linkBusy,
    ...(timeline && hopStart !== undefined ? { startPs: start, endPs: end, hopStartPs: hopStart } : {}),
  };
}

/** Returns the ways of several collectives as one, those of the first first. */
function joined(parts: readonly Ways[]): Ways {
  if (parts.length === 1) return parts[0];
  const { offset, links } = parts[0];
  const routes = offset.length - 1;
  const all = new Int32Array(parts.length * routes + 1);
  for (let way = 0; way < parts.length * routes; way++) {
    all[way + 1] = Math.floor(way / routes) * links.length + offset[(way % routes) + 1];
  }
  const column = (of: (part: Ways) => ArrayLike<number>) => parts.flatMap((part) => Array.from(of(part)));
  return {
    offset: all,
    links: Int32Array.from(column((part) => part.links)),
    serial: Float64Array.from(column((part) => part.serial)),
    delay: Float64Array.from(column((part) => part.delay)),
  };
}
