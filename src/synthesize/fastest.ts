import { passesNpus } from "../model/messages/list-schedule.ts";
import { replayedPs } from "../model/replay/columns.ts";
import { REPLAY_MODE } from "../model/replay/problem.ts";
import type { StepSchedule } from "../model/steps/step-schedule.ts";

/** Returns the item of the least number, the first of equal ones; of a single one the number is not asked. */
export function leastOf<Item>(items: readonly Item[], numberOf: (item: Item) => number): Item {
  const [first, ...others] = items as readonly [Item, ...Item[]];
  if (others.length === 0) return first;
  let [best, least] = [first, numberOf(first)];
  for (const item of others) {
    const number = numberOf(item);
    if (number < least) [best, least] = [item, number];
  }
  return best;
}

/** Returns how long a schedule takes as it is simulated where nobody says how. */
export const simulatedPs = (schedule: StepSchedule): number =>
  replayedPs(schedule, passesNpus(schedule.topology, schedule) ? REPLAY_MODE.storeAndForward : REPLAY_MODE.cutThrough);
