import type { Digraph } from "../direct/digraph.ts";
import { type Rational, rational } from "../numbers/rational.ts";
import type { CommSchedule } from "./schedule.ts";

/** T_L and T_B of an all-gather in comm steps (Zhao 2026, 3.3.2). */
export interface CommTimes {
  /** T_L / alpha. */
  readonly steps: number;
  /** T_B in units of M / B, where B is what the links of a node carry together, self-loops counted. */
  readonly bandwidth: Rational;
}

/** Returns the most arcs that leave or enter a node: d, for graphs in which all have as many. O(arcs). */
export function degreeOf({ nodes, offset, target }: Digraph): number {
  const entering = new Int32Array(nodes);
  for (const to of target) entering[to]++;
  let most = 0;
  for (let v = 0; v < nodes; v++) most = Math.max(most, offset[v + 1] - offset[v], entering[v]);
  return most;
}

/** Returns the greatest load of an arc in each step, in parts, [steps]. O(rows). */
export function stepLoads({ steps, step, arc, from, to }: CommSchedule): Float64Array {
  const most = new Float64Array(steps);
  let load = 0;
  for (let i = 0; i < step.length; i++) {
    if (i === 0 || step[i] !== step[i - 1] || arc[i] !== arc[i - 1]) load = 0;
    load += to[i] - from[i];
    if (load > most[step[i]]) most[step[i]] = load;
  }
  return most;
}

/** Returns the times of steps whose busiest arcs carry so many shards each. */
export function timesOfLoads(graph: Digraph, loads: readonly Rational[]): CommTimes {
  let sum = rational(0);
  for (const load of loads) sum = rational(sum.num * load.den + load.num * sum.den, sum.den * load.den);
  const perShard = rational(degreeOf(graph), graph.nodes);
  return { steps: loads.length, bandwidth: rational(sum.num * perShard.num, sum.den * perShard.den) };
}

/**
 * Returns the times of a schedule: a step takes alpha and what its busiest arc carries (Zhao 2026, 3.3.2). Of a symmetric
 * schedule the arcs into node 0 stand for all. O(rows).
 */
export function commTimes(schedule: CommSchedule): CommTimes {
  const loads = Array.from(stepLoads(schedule), (load) => rational(load, schedule.parts));
  return timesOfLoads(schedule.graph, loads);
}
