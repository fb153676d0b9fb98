import { InputError } from "../../base/errors.ts";
import { groupedBy } from "../../model/graph/graph.ts";
import { demandExactPs } from "../../model/numbers/units.ts";
import { type RouteTimes, routeTimes } from "../../model/routes/routes.ts";
import {
  expandSlots,
  mirrorRoutes,
  portsOf,
  type SlotSchedule,
  slotTransferCount,
  translationsFor,
} from "../../model/slots/slot-schedule.ts";
import type { StepSchedule } from "../../model/steps/step-schedule.ts";
import { portTranslation, translated } from "../../model/symmetry/translation.ts";
import type { Simulation, Switching } from "../simulation.ts";
import { simulateSchedule } from "../steps/replay.ts";
import {
  type Arrivals,
  arrivalReader,
  forwardStreams,
  noMirror,
  portQueues,
  replayPass,
  reversedStreams,
  routesAreLinks,
} from "./replay.ts";

/** Beyond this many transfers a schedule is not expanded: 20 bytes each and as much again for the replay. */
const MOST_EXPANDED = 5e7;

export interface SlotSimulationOptions {
  /** Default: cut-through. Over single links both are the same but in name. */
  readonly switching?: Switching;
  /** Called now and then with the transfers that have started. */
  readonly onProgress?: (done: number, total: number) => void;
  /** Transfers of the fastest link that a window of time holds; the result does not depend on it. */
  readonly starts?: number;
}

/**
 * Returns what simulateSchedule returns for the expanded schedule, without its timeline: the order on each link is kept,
 * planned times are dropped. Where routes are links of their own, in O(transfers) with about 2 bytes per transfer beside the
 * logs, a bit per NPU and chunk (reductions: as many as count the links of an NPU) and 4 KB per link; each row is asked for once.
 * Where the schedule is symmetric and so are the links, O(chunks). Other schedules are expanded.
 *
 * The chunk of a transfer is there when everything has come that the log says will come: for a valid schedule that is what
 * had come in the plan. Slots are not looked at, only the order that they give.
 *
 * Throws InputError for a schedule that is not valid (a log that is not well-formed, a chunk that never comes), for one with
 * shared routes or unusual passes that has more than 5e7 transfers, and for times that leave 2^53 ps.
 */
export function simulateSlots(schedule: SlotSchedule, options: SlotSimulationOptions = {}): Simulation {
  const { switching = "cut-through" } = options;
  if (switching !== "cut-through" && switching !== "store-and-forward") {
    throw new InputError("options.switching", '"cut-through" or "store-and-forward"', switching);
  }
  if (!routesAreLinks(schedule) || !passesAreUsual(schedule)) {
    const steps = expandedForReplay(
      schedule,
      "the simulation",
      "routes that are single links, with share 1, and not shared",
    );
    return simulateSchedule(steps, { switching });
  }
  const times = routeTimes(schedule.topology, schedule.routes, schedule.collective.chunkBytes);
  const { ps, busyPs } = replaySymmetric(schedule, times) ?? replayAll(schedule, times, options);
  demandExactPs(ps, "the simulated time");
  const linkBusyPs = new Float64Array(schedule.topology.linkSource.length);
  busyPs.forEach((busy, route) => {
    linkBusyPs[schedule.routes.links[schedule.routes.linkOffset[route]]] = busy;
  });
  return { ps, model: `network/${switching}`, linkBusyPs };
}

/** Returns whether the passes are those of an all-gather, a reduce-scatter or an all-reduce, and of such a collective. */
function passesAreUsual({ passes, collective }: SlotSchedule): boolean {
  const text = passes.map(({ reversed, reduces }) => `${reversed}:${reduces}`).join(" ");
  if (text === "false:false") return !collective.reduces;
  return collective.reduces && (text === "true:true" || text === "true:true false:false");
}

/**
 * Returns the schedule transfer by transfer, for the replay of those. Throws InputError for more than 5e7 transfers, with
 * `place` and `expected`, and for a pass that runs backwards over a route without mirror.
 */
export function expandedForReplay(schedule: SlotSchedule, place: string, expected: string): StepSchedule {
  const transfers = slotTransferCount(schedule);
  if (transfers > MOST_EXPANDED) {
    throw new InputError(`${place} of more than ${MOST_EXPANDED} transfers in slots`, expected, transfers);
  }
  const { routes, topology, passes } = schedule;
  if (passes.some(({ reversed }) => reversed) && mirrorRoutes(routes, topology.npuCount) === null) throw noMirror();
  return expandSlots(schedule);
}

function replayAll(
  schedule: SlotSchedule,
  times: ReturnType<typeof routeTimes>,
  { onProgress, starts }: SlotSimulationOptions,
): { ps: number; busyPs: Float64Array } {
  const { origin, passes } = schedule;
  const total = slotTransferCount(schedule);
  const queues = portQueues(schedule);
  const freePs = new Float64Array(times.serialPs.length);
  const busyPs = new Float64Array(freePs.length);
  const readyPs = new Float64Array(origin.length);
  let ps = 0;
  passes.forEach(({ reversed }, p) => {
    const streams = reversed ? reversedStreams(schedule, queues, times) : forwardStreams(schedule, queues, times);
    const { route, count, serialPs } = streams;
    const free = Float64Array.from(route, (r) => freePs[r]);
    const last = replayPass({
      streams,
      origin,
      merges: reversed,
      readyPs,
      freePs: free,
      starts,
      onProgress: onProgress && ((done) => onProgress((p * total) / passes.length + done, total)),
    });
    if (last > ps) ps = last;
    for (let s = 0; s < route.length; s++) {
      freePs[route[s]] = free[s];
      busyPs[route[s]] += count[s] * serialPs[s];
    }
  });
  return { ps, busyPs };
}

/** NPU 0 of a network in which all behave alike. A class holds the links into all NPUs that translations take to a port of 0. */
interface Representative {
  /** [routes] */
  readonly classOf: Int32Array;
  /** [classes] class of the mirrors; empty where no pass needs them. */
  readonly back: Int32Array;
  readonly serialPs: Float64Array;
  readonly travelPs: Float64Array;
  readonly freePs: Float64Array;
  readonly transfers: Float64Array;
  /** Returns the chunk that the translation which takes the sender of a class to 0 takes a chunk to. */
  readonly seenFrom: (port: number, chunk: number) => number;
  readonly arrivals: Arrivals;
}

interface SymmetricReplay {
  readonly ps: number;
  /** [routes] */
  readonly busyPs: Float64Array;
}

/**
 * Returns when the last chunk arrives and how long each route is busy, from NPU 0 alone; null where translations do not take
 * links to equal links and mirrors to mirrors, or owners to owners of as many chunks.
 *
 * Translations take the schedule to itself (`symmetry`; verify checks it): NPU u does with chunk c what NPU 0 does with c
 * translated by -u, in the same order. With equal links it does so at the same time: by induction over the transfers in
 * order of time, a transfer's link is freed and its chunk arrives when the link and the chunk that the translation takes them
 * to do.
 *
 * Throws InputError for a log that is not well-formed and where a chunk leaves before it comes. O((chunks + routes) x dimensions).
 */
function replaySymmetric(schedule: SlotSchedule, times: RouteTimes): SymmetricReplay | null {
  const { origin, passes } = schedule;
  const zero = representative(schedule, times);
  if (zero === null) return null;
  const readyPs = new Float64Array(origin.length);
  let ps = 0;
  for (const { reversed } of passes) {
    if (reversed) {
      ps = Math.max(ps, gather(zero, readyPs));
    } else {
      for (let c = 0; c < origin.length; c++) if (origin[c] !== 0) readyPs[c] = -1;
      ps = Math.max(ps, spread(zero, readyPs));
    }
  }
  const { classOf, serialPs, transfers } = zero;
  return { ps, busyPs: Float64Array.from(classOf, (k) => serialPs[k] * transfers[k]) };
}

function representative(schedule: SlotSchedule, times: RouteTimes): Representative | null {
  const { topology, routes, origin, passes } = schedule;
  const { npuCount } = topology;
  const symmetry = translationsFor(schedule);
  if (symmetry === null || symmetry.reduce((product, size) => product * size, 1) !== npuCount) return null;
  const translation = portTranslation(topology, routes, symmetry);
  if (translation === null) return null;
  const ports = portsOf(routes, npuCount);
  const classOf = new Int32Array(ports.items.length);
  const port = new Int32Array(translation.ports);
  for (let v = 0; v < npuCount; v++) {
    if (!translation.portsAt(v, port)) return null;
    for (let p = 0; p < port.length; p++) classOf[ports.items[ports.offset[v] + port[p]]] = p;
  }

  const ofZero = ports.items.subarray(0, port.length);
  let back = new Int32Array(0);
  if (passes.some(({ reversed }) => reversed)) {
    const mirror = mirrorRoutes(routes, npuCount);
    if (mirror === null) return null;
    back = ofZero.map((route) => classOf[mirror[route]]);
    if (mirror.some((other, route) => classOf[other] !== back[classOf[route]])) return null;
  }

  const owned = groupedBy(origin, npuCount);
  const each = origin.length / npuCount;
  const rank = new Int32Array(origin.length);
  for (let v = 0; v < npuCount; v++) {
    if (owned.offset[v] !== v * each) return null;
    for (let i = 0; i < each; i++) rank[owned.items[v * each + i]] = i;
  }
  const toZero = ofZero.map((route) => negated(symmetry, routes.source[route]));
  return {
    classOf,
    back,
    serialPs: Float64Array.from(ofZero, (route) => times.serialPs[route]),
    travelPs: Float64Array.from(ofZero, (route) => times.slotPs[route]),
    freePs: new Float64Array(port.length),
    transfers: new Float64Array(port.length),
    seenFrom: (p, chunk) => owned.items[translated(symmetry, origin[chunk], toZero[p]) * each + rank[chunk]],
    arrivals: arrivalReader(schedule, ports)(0),
  };
}

/** Returns the NPU whose coordinates are the negatives of another's. */
function negated(sizes: readonly number[], npu: number): number {
  let image = 0;
  let stride = 1;
  for (const size of sizes) {
    image += ((size - (Math.floor(npu / stride) % size)) % size) * stride;
    stride *= size;
  }
  return image;
}

const tooEarly = (chunk: number): InputError =>
  new InputError(`chunk ${chunk} at NPU 0 (simulate needs a valid schedule)`, "its arrival before it is sent on");

/** Runs through the log. readyPs [chunks]: when the chunk is at NPU 0, -1 before it comes. Returns the last arrival. */
function spread(
  { freePs, serialPs, travelPs, transfers, seenFrom, arrivals }: Representative,
  readyPs: Float64Array,
): number {
  const { chunk, held, count, port } = arrivals;
  let last = 0;
  for (let i = 0; i < count; i++) {
    const p = port[i];
    const c = chunk[held + i];
    const there = seenFrom(p, c);
    if (readyPs[there] < 0) throw tooEarly(there);
    const start = Math.max(freePs[p], readyPs[there]);
    freePs[p] = start + serialPs[p];
    transfers[p]++;
    readyPs[c] = start + travelPs[p];
    last = Math.max(last, readyPs[c]);
  }
  return last;
}

/** Runs through the log backwards. readyPs [chunks]: when all contributions to the chunk are at NPU 0. Returns the last arrival. */
function gather(
  { freePs, serialPs, travelPs, transfers, seenFrom, arrivals, back }: Representative,
  readyPs: Float64Array,
): number {
  const { chunk, held, count, port } = arrivals;
  const sent = new Uint8Array(chunk.length);
  let last = 0;
  for (let i = count - 1; i >= 0; i--) {
    const k = back[port[i]];
    const c = chunk[held + i];
    const there = seenFrom(port[i], c);
    if (sent[there] === 1) throw tooEarly(there);
    const start = Math.max(freePs[k], readyPs[c]);
    freePs[k] = start + serialPs[k];
    transfers[k]++;
    sent[c] = 1;
    readyPs[there] = Math.max(readyPs[there], start + travelPs[k]);
    last = Math.max(last, start + travelPs[k]);
  }
  return last;
}
