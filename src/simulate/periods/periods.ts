import {
  inwardRoute,
  outwardRoute,
  type PeriodSchedule,
  periodEndPs,
  roundsOf,
  treesOf,
} from "../../model/periods/period-schedule.ts";
import { routeTimes } from "../../model/routes/routes.ts";
import { linkCount } from "../../model/topology/topology.ts";
import type { Simulation } from "../simulation.ts";

/**
 * Returns what periods do in the congestion-aware network, in which they are planned, so that it is their own time: cut-through, for
 * their routes pass no NPU. The replay of their transfers is never later. The schedule must be correct. O(trees x NPUs + route links).
 */
export function simulatePeriods(schedule: PeriodSchedule): Simulation {
  const { topology, collective, routes, entry } = schedule;
  const { npuCount } = topology;
  const { serialPs } = routeTimes(topology, routes, collective.chunkBytes);
  const chunks = new Float64Array(serialPs.length);
  for (let tree = 0; tree < treesOf(schedule); tree++) {
    const rounds = roundsOf(schedule, tree);
    for (let npu = 0; npu < npuCount; npu++) {
      const edge = entry[tree * npuCount + npu];
      if (edge < 0) continue;
      chunks[outwardRoute(schedule, edge, npu)] += rounds;
      chunks[inwardRoute(schedule, edge, npu)] += rounds;
    }
  }
  const linkBusyPs = new Float64Array(linkCount(topology));
  const { linkOffset, links, shareNum, shareDen } = routes;
  for (let route = 0; route < chunks.length; route++) {
    for (let i = linkOffset[route]; i < linkOffset[route + 1]; i++)
      linkBusyPs[links[i]] += (chunks[route] * serialPs[route] * shareNum[i]) / shareDen[i];
  }
  return { model: "network/cut-through", ps: periodEndPs(schedule), linkBusyPs };
}
