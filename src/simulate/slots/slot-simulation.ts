import { InputError } from "../../base/errors.ts";
import { routeTimes } from "../../model/routes/routes.ts";
import { expandSlots } from "../../model/slots/slot-expansion.ts";
import { mirrorRoutes, type SlotSchedule, slotTransferCount } from "../../model/slots/slot-schedule.ts";
import type { StepSchedule } from "../../model/steps/step-schedule.ts";
import type { Simulation, Switching } from "../simulation.ts";
import { simulateSchedule } from "../steps/replay.ts";
import { replayPass } from "./slot-replay.ts";
import { forwardStreams, noMirror, portQueues, reversedStreams, routesAreLinks } from "./slot-streams.ts";
import { replaySymmetric } from "./slot-symmetry.ts";

/** Beyond so many transfers a schedule is not expanded: 20 bytes each and as much again for the replay. */
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
  const { ps, busyPs } =
    (schedule.symmetry === null ? null : replaySymmetric(schedule, times)) ?? replayAll(schedule, times, options);
  if (ps > Number.MAX_SAFE_INTEGER) {
    throw new InputError("the simulated time", "less than 2^53 ps (2.5 hours)", ps);
  }
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
