import { type Collective, membersOf } from "../../model/collective/collective.ts";
import { groupedOnce } from "../../model/graph/graph.ts";
import type { SketchNetwork } from "../../model/sketch/sketch-network.ts";
import { mayCarry } from "../../model/sketch/sketch-relays.ts";
import type { Reroute } from "./scheduling-search.ts";
import { copyTasks, type Tasks } from "./scheduling-tasks.ts";
import type { Sends } from "./stages.ts";

/** More sends are not worth it: each change builds the tasks anew. */
const MOST_SENDS = 2000;

/**
 * Returns whether every NPU that gets a chunk wants it, so that a send can be replaced by any other to the same NPU: one that
 * only passes a chunk on would be left with what it has no use for, and a sum with nothing in it once turned around.
 */
function everyoneWants(collective: Collective, { chunk, route }: Sends, target: Int32Array): boolean {
  return chunk.every((c, i) => membersOf(collective, collective.post, c).includes(target[route[i]]));
}

/**
 * Returns a way to let a chunk reach an NPU from another neighbour that has it, or undefined where that is not allowed: a
 * sketch with symmetries fixes what stage 1 chose. The paper never looks back at stage 1; on one NDv2 box the routing decides
 * whether an order without gaps exists, which its relaxed bandwidth constraints cannot see.
 */
export function rerouting(
  network: SketchNetwork,
  collective: Collective,
  sends: Sends,
  finish: (tasks: Tasks) => Tasks,
): Reroute | undefined {
  const { routes, sketch, leavesBox } = network;
  const npus = network.topology.npuCount;
  if (network.symmetries.length > 0 || sends.chunk.length > MOST_SENDS) return undefined;
  if (!everyoneWants(collective, sends, routes.target)) return undefined;
  const into = groupedOnce(routes.target, npus);
  return (tasks, task, draws) => {
    const { chunk, route } = tasks;
    const c = chunk[task];
    let first = task;
    let behind = task;
    while (first > 0 && chunk[first - 1] === c) first--;
    while (behind < tasks.count && chunk[behind] === c) behind++;
    const bringer = new Int32Array(npus).fill(-1);
    for (let other = first; other < behind; other++) bringer[routes.target[route[other]]] = other;
    const holders = membersOf(collective, collective.pre, c);
    const npu = routes.target[route[task]];
    const from = into.offset[npu];
    const found = into.items[from + draws.below(into.offset[npu + 1] - from)];
    if (found === route[task]) return null;
    if (leavesBox[found] === 1 && !mayCarry(sketch, holders[0], routes.source[found])) return null;
    // the new source must have the chunk, and not by way of this NPU
    let at = routes.source[found];
    while (at !== npu && bringer[at] >= 0) at = routes.source[route[bringer[at]]];
    if (at === npu || !holders.includes(at)) return null;
    const changed = route.slice();
    changed[task] = found;
    return finish(copyTasks({ chunk, route: changed }, routes, tasks.times, tasks.lanes, npus));
  };
}
