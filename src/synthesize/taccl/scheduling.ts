import type { Collective } from "../../model/collective/collective.ts";
import { membersOf } from "../../model/collective/collective.ts";
import { type RouteTimes, routeTimes } from "../../model/routes/routes.ts";
import type { SketchNetwork } from "../../model/sketch/sketch.ts";
import { emptyRows, type StepSchedule } from "../../model/steps/step-schedule.ts";
import type { Topology } from "../../model/topology/topology.ts";
import { clockOf, type Plan } from "./scheduling-clock.ts";
import { type Lanes, lanesOf } from "./scheduling-lanes.ts";
import { copyTasks, inOrderOf, type Tasks } from "./scheduling-tasks.ts";
import type { Sends } from "./stages.ts";

/** Returns what turns sends into tasks on a sketch's network. */
export function timing(
  network: SketchNetwork,
  collective: Collective,
): { readonly times: RouteTimes; readonly lanes: Lanes } {
  const times = routeTimes(network.topology, network.routes, collective.chunkBytes);
  return { times, lanes: lanesOf(network.topology, network.routes, times) };
}

/** Returns the sends as tasks, in the order of owners where the sketch enforces it. O(sends log sends). */
export function tasksOf(
  network: SketchNetwork,
  collective: Collective,
  sends: Sends,
  { times, lanes }: ReturnType<typeof timing>,
): Tasks {
  const tasks = copyTasks(sends, network.routes, times, lanes, network.topology.npuCount);
  return finished(network, collective, tasks);
}

/** Returns the tasks with what the sketch says about their order. */
export function finished(network: SketchNetwork, collective: Collective, tasks: Tasks): Tasks {
  if (network.sketch.internode?.enforceOrdering !== true) return tasks;
  const ownerOf = (chunk: number): number => membersOf(collective, collective.pre, chunk)[0];
  return inOrderOf(tasks, (route) => network.leavesBox[route] === 1, ownerOf);
}

/** Returns the schedule of a plan. O(tasks log tasks). */
export function stepsOfPlan(topology: Topology, collective: Collective, tasks: Tasks, plan: Plan): StepSchedule {
  const clock = clockOf(tasks);
  clock.run(plan);
  const { chunk, route, op, routes } = tasks;
  const start =
    plan.leader.length === 0 ? new Float64Array(0) : Float64Array.from(plan.leader, (m) => clock.startPs[m]);
  const order = Int32Array.from(start, (_, task) => task).sort(
    (a, b) => start[a] - start[b] || route[a] - route[b] || chunk[a] - chunk[b],
  );
  const schedule = emptyRows(topology, collective, routes, order.length);
  for (let row = 0; row < order.length; row++) {
    const task = order[row];
    schedule.chunk[row] = chunk[task];
    schedule.route[row] = route[task];
    schedule.op[row] = op[task];
    schedule.startPs[row] = start[task];
    schedule.endPs[row] = clock.endPs[plan.leader[task]];
  }
  return schedule;
}

/** Returns how many messages carry more than one chunk. */
export function mergedSends({ leader, next }: Plan): number {
  let many = 0;
  for (let task = 0; task < leader.length; task++) if (leader[task] === task && next[task] !== task) many++;
  return many;
}
