import { routeTimes } from "../routes/routes.ts";
import { emptyRows, inRowOrder, OP_COPY, OP_REDUCE, type StepSchedule } from "../steps/step-schedule.ts";
import { inwardRoute, outwardRoute, type PeriodSchedule, periodTransfers, treesOf } from "./period-schedule.ts";

/**
 * Returns the rounds as transfers, in the order that the periods give each route, each as early as route and data allow in the
 * link-busy model. The schedule must be correct. O(transfers log transfers); about 40 bytes a transfer.
 */
export function stepsOfPeriods(schedule: PeriodSchedule): StepSchedule {
  const { topology, collective, routes, entry, startPs: plannedPs, periodPs } = schedule;
  const { npuCount } = topology;
  const { chunkCount } = collective;
  const trees = treesOf(schedule);
  const rows = emptyRows(topology, collective, routes, periodTransfers(schedule));
  let row = 0;
  for (let chunk = 0; chunk < chunkCount; chunk++) {
    const tree = chunk % trees;
    const basePs = Math.floor(chunk / trees) * periodPs;
    for (let npu = 0; npu < npuCount; npu++) {
      const edge = entry[tree * npuCount + npu];
      if (edge < 0) continue;
      const job = 2 * tree * npuCount + npu;
      rows.chunk.fill(chunk, row, row + 2);
      rows.route[row] = outwardRoute(schedule, edge, npu);
      rows.op[row] = OP_REDUCE;
      rows.startPs[row++] = basePs + plannedPs[job];
      rows.route[row] = inwardRoute(schedule, edge, npu);
      rows.op[row] = OP_COPY;
      rows.startPs[row++] = basePs + plannedPs[job + npuCount];
    }
  }
  const ordered = inRowOrder(rows);
  const { chunk, route, startPs, endPs } = ordered;
  const { slotPs } = routeTimes(topology, routes, collective.chunkBytes);
  const freePs = new Float64Array(slotPs.length);
  const readyPs = new Float64Array(chunkCount * npuCount);
  for (let i = 0; i < startPs.length; i++) {
    const r = route[i];
    const [from, to] = [chunk[i] * npuCount + routes.source[r], chunk[i] * npuCount + routes.target[r]];
    startPs[i] = Math.max(freePs[r], readyPs[from]);
    endPs[i] = startPs[i] + slotPs[r];
    freePs[r] = endPs[i];
    readyPs[to] = Math.max(readyPs[to], endPs[i]);
  }
  return inRowOrder(ordered);
}
