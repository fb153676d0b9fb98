import { distancesFrom, graph } from "../../model/graph/graph.ts";
import type { Move } from "./found-rows.ts";
import type { FlowProblem } from "./problem.ts";

/** Returns the NPUs that hold each flow after the moves; copies only. */
export function holdersAfter({ routes, flows }: FlowProblem, moves: readonly Move[]): Set<number>[] {
  const holders = flows.map(({ from }) => new Set(from));
  for (const { flow, route } of moves) holders[flow].add(routes.target[route]);
  return holders;
}

/**
 * Returns the moves with what is missing added behind them (TACOS 2023, section V-B): every flow comes to those that want it
 * on shortest ways from those that hold it, the nearest first. Starts only say the order; `earliest` finds times. Of copies.
 */
export function completed(problem: FlowProblem, moves: readonly Move[], end: number): Move[] {
  const { npuCount, routes, durations, flows } = problem;
  const holders = holdersAfter(problem, moves);
  const added: Move[] = [];
  for (const [f, { to, size }] of flows.entries()) {
    const missing = new Set([...to].filter((v) => !holders[f].has(v)));
    if (missing.size === 0) continue;
    const previous = new Int32Array(npuCount).fill(-1);
    const network = graph(npuCount, routes.source, routes.target, durations[size]);
    const distance = distancesFrom(network, [...holders[f]], previous);
    for (const wanter of missing) {
      for (let v = wanter; !holders[f].has(v); v = routes.source[previous[v]]) {
        holders[f].add(v);
        const route = previous[v];
        added.push({ flow: f, route, start: end + distance[routes.source[route]], reduces: false });
      }
    }
  }
  added.sort((a, b) => a.start - b.start || a.route - b.route || a.flow - b.flow);
  return [...moves, ...added];
}
