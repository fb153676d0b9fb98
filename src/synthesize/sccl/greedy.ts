import { groupedBy } from "../../model/graph/graph.ts";
import type { SyncProblem } from "./problem.ts";
import type { Flow } from "./sends.ts";
import type { Window } from "./windows.ts";

/** What is sent in how many rounds of each step. */
export interface SyncPlan {
  readonly flows: readonly Flow[];
  /** [steps] */
  readonly rounds: readonly number[];
}

export const roundsIn = ({ rounds }: SyncPlan): number => rounds.reduce((sum, count) => sum + count, 0);

/** Returns the fewest rounds of each step in which the flows fit; at least one. O(flows + loads x steps). */
export function roundsFor({ arcs, loads }: SyncProblem, flows: readonly Flow[], steps: number): number[] {
  const count = arcs.source.length;
  const sent = new Float64Array(steps * count);
  for (const flow of flows) sent[(flow.step - 1) * count + flow.arc] += flow.count;
  return Array.from({ length: steps }, (_, s) =>
    loads.reduce((most, load) => {
      const chunks = load.arcs.reduce((sum, a) => sum + sent[s * count + a], 0) * load.weight;
      return Math.max(most, Math.ceil(chunks / load.capacity));
    }, 1),
  );
}

/**
 * Returns a plan of the fewest steps: every chunk takes shortest ways, found back from its targets, each step of them over
 * the arc whose loads have least to carry in that step. O(chunks x NPUs x degree x loads of an arc).
 */
export function greedyPlan(problem: SyncProblem, windows: readonly Window[], steps: number): SyncPlan {
  const { npuCount, arcs, loads, items } = problem;
  const into = groupedBy(arcs.target, npuCount);
  const carried = loads.map(() => new Float64Array(steps + 1));
  const loadsOf: number[][] = Array.from(arcs.source, () => []);
  loads.forEach((load, l) => {
    for (const a of load.arcs) loadsOf[a]?.push(l);
  });
  const flows: Flow[] = [];
  const costOf = (arc: number, step: number): number =>
    (loadsOf[arc] as number[]).reduce((most, l) => {
      const { weight, capacity } = loads[l] as (typeof loads)[number];
      return Math.max(most, (carried[l][step] + weight) / capacity);
    }, 0);
  /** Sends one chunk of an item to an NPU from one that is a step nearer, which it returns. */
  const bring = (item: number, { early }: Window, v: number): number => {
    const step = early[v];
    let best = -1;
    let bestCost = Number.POSITIVE_INFINITY;
    for (let i = into.offset[v]; i < into.offset[v + 1]; i++) {
      const arc = into.items[i];
      if (early[arcs.source[arc]] !== step - 1) continue;
      const cost = costOf(arc, step);
      if (cost < bestCost) [best, bestCost] = [arc, cost];
    }
    for (const l of loadsOf[best] as number[])
      (carried[l] as Float64Array)[step] += (loads[l] as { weight: number }).weight;
    flows.push({ item, arc: best, step, count: 1 });
    return arcs.source[best];
  };
  items.forEach(({ targets, demand }, i) => {
    const window = windows[i] as Window;
    if (demand !== null) {
      targets.forEach((target, t) => {
        for (let k = 0; k < demand[t]; k++) for (let v = target; window.early[v] > 0; ) v = bring(i, window, v);
      });
      return;
    }
    const needed = new Uint8Array(npuCount);
    for (const v of targets) needed[v] = 1;
    for (let step = steps; step > 0; step--) {
      for (let v = 0; v < npuCount; v++)
        if (needed[v] === 1 && window.early[v] === step) needed[bring(i, window, v)] = 1;
    }
  });
  const merged = mergedFlows(flows);
  return { flows: merged, rounds: roundsFor(problem, merged, steps) };
}

/** Returns the flows with equal item, arc and step as one. */
function mergedFlows(flows: readonly Flow[]): Flow[] {
  const merged = new Map<string, Flow>();
  for (const flow of flows) {
    const key = `${flow.item} ${flow.arc} ${flow.step}`;
    merged.set(key, { ...flow, count: (merged.get(key)?.count ?? 0) + flow.count });
  }
  return [...merged.values()];
}
