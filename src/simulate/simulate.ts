import { routeCount } from "../model/routes/routes.ts";
import { isSlotSchedule, type Schedule } from "../model/slots/slot-schedule.ts";
import type { StepSchedule } from "../model/steps/step-schedule.ts";
import { isNpu } from "../model/topology/topology.ts";
import type { Simulation } from "./simulation.ts";
import { expandedForReplay, simulateSlots } from "./slots/simulation.ts";
import { type SimulationOptions, simulateSchedule } from "./steps/replay.ts";

export interface AnySimulationOptions extends SimulationOptions {
  /** Slot schedules: called now and then with the transfers that have started. */
  readonly onProgress?: (done: number, total: number) => void;
}

/**
 * Returns the schedule, of either kind, replayed in the congestion-aware network: see simulateSchedule and simulateSlots.
 * A timeline is of the expanded schedule, row by row. Throws InputError as they do, and for the timeline of a slot schedule
 * of more than 5e7 transfers.
 */
export function simulate(schedule: Schedule, options: AnySimulationOptions = {}): Simulation {
  if (!isSlotSchedule(schedule)) return simulateSchedule(schedule, options);
  if (options.timeline !== true) return simulateSlots(schedule, options);
  return simulateSchedule(expandedForReplay(schedule, "a timeline", "a shorter schedule"), options);
}

/**
 * Returns how messages travel where the caller does not say: cut-through, unless some pass NPUs on their way (as baselines
 * do that ignore the network): an NPU stores a message before it forwards it.
 */
export function switchingFor({
  routes,
  topology,
}: Pick<StepSchedule, "routes" | "topology">): "cut-through" | "store-and-forward" {
  for (let route = 0; route < routeCount(routes); route++) {
    for (let i = routes.linkOffset[route] + 1; i < routes.linkOffset[route + 1]; i++) {
      if (isNpu(topology, topology.linkSource[routes.links[i]])) return "store-and-forward";
    }
  }
  return "cut-through";
}
