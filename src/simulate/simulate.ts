import { isSlotSchedule, type Schedule } from "../model/slots/slot-schedule.ts";
import type { Simulation } from "./simulation.ts";
import { expandedForReplay, simulateSlots } from "./slots/slot-simulation.ts";
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
