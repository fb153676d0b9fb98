import { orderByTime } from "../model/numbers/ordering.ts";
import { inRowOrder, OP_REDUCE, type StepSchedule } from "../model/steps/step-schedule.ts";

/**
 * Returns steps along trees with every contribution as late as what goes on from its target allows, by the schedule's own times.
 *
 * Trees that sum send all contributions of leaves at once, but the network has to take them one after the other: then those that come
 * first had better be the ones that have far to go. The other way round, an all-gather's trees, that is so by itself.
 * O(transfers log transfers) and a table of NPUs x chunks.
 */
export function lateSums(steps: StepSchedule): StepSchedule {
  const { topology, collective, routes, chunk, route, op } = steps;
  const { chunkCount } = collective;
  if (!op.includes(OP_REDUCE)) return steps;
  const startPs = steps.startPs.slice();
  const endPs = steps.endPs.slice();
  const last = endPs.reduce((most, end) => Math.max(most, end), 0);
  /** [NPUs x chunks] when the first leaves of those that are known, from the last on. */
  const leavesAt = new Float64Array(topology.npuCount * chunkCount).fill(last);
  for (const i of orderByTime(steps.endPs).reverse()) {
    const from = routes.source[route[i]] * chunkCount + chunk[i];
    if (op[i] === OP_REDUCE) {
      endPs[i] = leavesAt[routes.target[route[i]] * chunkCount + chunk[i]];
      startPs[i] += endPs[i] - steps.endPs[i];
    }
    leavesAt[from] = Math.min(leavesAt[from], startPs[i]);
  }
  return inRowOrder({ ...steps, startPs, endPs });
}
