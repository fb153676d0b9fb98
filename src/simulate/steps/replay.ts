import { InputError } from "../../base/errors.ts";
import type { JointSchedule } from "../../model/joint/joint-schedule.ts";
import { accepted, type Rows, replayProblem, rowsOf, rowsOfJoint } from "../../model/replay/columns.ts";
import { REPLAY_MODE, REPLAY_WANTS, type Replay } from "../../model/replay/problem.ts";
import { replayJs } from "../../model/replay/replay.ts";
import { type RouteSet, routeTimes } from "../../model/routes/routes.ts";
import type { StepSchedule } from "../../model/steps/step-schedule.ts";
import { linkCount, linkNames, type Topology } from "../../model/topology/topology.ts";
import type { Simulation, Switching } from "../simulation.ts";

export interface SimulationOptions {
  /** Default: cut-through. */
  readonly switching?: Switching;
  /** Also return when each transfer starts and arrives. */
  readonly timeline?: boolean;
  /** Does the work: the kernel of that name of an engine, which gives the same numbers sooner. Default: in JavaScript. */
  readonly replay?: Replay;
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
 * A merged send (rows of equal route, start and end) is replayed chunk by chunk: serialisations follow each other as they do
 * within one message, latency holds no link, and so switches pass on its first chunk while the last is still to leave. On
 * links that routes share each chunk keeps its turn of its own; see `spreadMerged`.
 *
 * A valid schedule simulates to at most its planned time in cut-through, and in store-and-forward where all routes are
 * single links: by induction nothing starts later than planned, the chunks of a merged send one serialisation after the
 * other. Neither mode looks at postconditions.
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
  const spread = spreadMerged(rows);
  return spread === null ? replayed(rows, options) : inOriginalOrder(spread, replayed(spread, options));
}

function replayed(rows: Rows, options: SimulationOptions): Simulation {
  const { switching = "cut-through", timeline = false, replay = replayJs } = options;
  if (switching !== "cut-through" && switching !== "store-and-forward") {
    throw new InputError("options.switching", '"cut-through" or "store-and-forward"', switching);
  }
  const isCutThrough = switching === "cut-through";
  const mode = isCutThrough ? REPLAY_MODE.cutThrough : REPLAY_MODE.storeAndForward;
  const detail = isCutThrough ? REPLAY_WANTS.times : REPLAY_WANTS.hops;
  const problem = replayProblem(rows, mode, timeline ? detail : REPLAY_WANTS.nothing);
  const { last, linkBusy, start, end, hopStart } = accepted(rows, replay(problem));
  return {
    model: `network/${switching}`,
    ps: last,
    linkBusyPs: linkBusy,
    ...(timeline ? { startPs: start, endPs: end } : {}),
    ...(timeline && !isCutThrough ? { hopStartPs: hopStart } : {}),
  };
}

/** Rows in another order, with new planned times. */
interface SpreadRows extends Rows {
  /** [rows] which row of the original each is. */
  readonly from: Uint32Array;
}

/**
 * Returns rows in which the chunks of a merged send (rows of equal route, start and end) follow each other, each planned for
 * when those before it are serialised, in order of their starts; null where that changes nothing: without merged sends, and
 * where no link is shared, since then nothing else is planned on the links meanwhile.
 *
 * Without this, what is planned on another share of a link during a merged send would wait for the last chunk of it to start.
 * A contribution that arrives in that time counts for the chunks that leave after it. O(rows log rows), and O(rows) for null.
 */
function spreadMerged(rows: Rows): SpreadRows | null {
  const { topology, routes, route, startPs, endPs, collectives, firstChunk } = rows;
  if (routes.shareNum.every((num, p) => num === routes.shareDen[p])) return null;
  const isNext = (i: number): boolean =>
    route[i] === route[i - 1] && startPs[i] === startPs[i - 1] && endPs[i] === endPs[i - 1];
  let merged = false;
  for (let i = 1; i < route.length && !merged; i++) merged = isNext(i);
  if (!merged) return null;
  const serials = collectives.map(({ chunkBytes }) => routeTimes(topology, routes, chunkBytes).serialPs);
  const spread = startPs.slice();
  for (let i = 1; i < route.length; i++) {
    if (!isNext(i)) continue;
    const k = firstChunk.findLastIndex((first) => rows.chunk[i] >= first);
    // a plan too short for its chunks is no valid one: starts stay before ends
    spread[i] = Math.min(spread[i - 1] + (serials[k]?.[route[i]] ?? 0), endPs[i] - 1);
  }
  const from = Uint32Array.from(route, (_, i) => i).sort((a, b) => spread[a] - spread[b] || a - b);
  return {
    ...rows,
    from,
    chunk: rows.chunk.map((_, i) => rows.chunk[from[i]]),
    route: route.map((_, i) => route[from[i]]),
    startPs: spread.map((_, i) => spread[from[i]]),
    endPs: endPs.map((_, i) => endPs[from[i]]),
  };
}

/** Returns the simulation of spread rows with its timeline in the order of the original. O(rows x links of a route). */
function inOriginalOrder({ from, route, routes }: SpreadRows, simulation: Simulation): Simulation {
  const { startPs, endPs, hopStartPs } = simulation;
  const restored = (times: Float64Array): Float64Array => {
    const all = new Float64Array(times.length);
    for (let i = 0; i < times.length; i++) all[from[i]] = times[i];
    return all;
  };
  return {
    ...simulation,
    ...(startPs === undefined ? {} : { startPs: restored(startPs) }),
    ...(endPs === undefined ? {} : { endPs: restored(endPs) }),
    ...(hopStartPs === undefined ? {} : { hopStartPs: restoredHops(from, route, routes, hopStartPs) }),
  };
}

function restoredHops(
  from: Uint32Array,
  route: Rows["route"],
  { linkOffset }: RouteSet,
  hops: Float64Array,
): Float64Array {
  const hopsOf = (row: number): number => linkOffset[route[row] + 1] - linkOffset[route[row]];
  const offset = new Float64Array(from.length + 1);
  for (let i = 0; i < from.length; i++) offset[from[i] + 1] = hopsOf(i);
  for (let row = 0; row < from.length; row++) offset[row + 1] += offset[row];
  const all = new Float64Array(hops.length);
  for (let i = 0, at = 0; i < from.length; at += hopsOf(i), i++) {
    all.set(hops.subarray(at, at + hopsOf(i)), offset[from[i]]);
  }
  return all;
}

/** How busy the links were. */
export interface Utilisation {
  /** Mean over all links of busy time / makespan, 0 .. 1. */
  readonly mean: number;
  /** The same of the busiest link. */
  readonly max: number;
  /** The busiest link, lowest index first; null where nothing moved. */
  readonly bottleneck: { readonly link: number; readonly name: string } | null;
}

/** Returns the utilisation of the links from their busy times and the makespan, both in the same unit. O(links). */
export function utilisation(topology: Topology, makespan: number, linkBusy: Float64Array): Utilisation {
  let total = 0;
  let busiest = -1;
  for (let link = 0; link < linkCount(topology); link++) {
    total += linkBusy[link];
    if (linkBusy[link] > (busiest < 0 ? 0 : linkBusy[busiest])) busiest = link;
  }
  if (busiest < 0 || makespan <= 0) return { mean: 0, max: 0, bottleneck: null };
  return {
    mean: total / makespan / linkCount(topology),
    max: linkBusy[busiest] / makespan,
    bottleneck: { link: busiest, name: linkNames(topology)[busiest] },
  };
}
