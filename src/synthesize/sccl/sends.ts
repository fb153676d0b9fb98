import { groupedBy } from "../../model/graph/graph.ts";
import type { Item, SyncProblem, Window } from "./problem.ts";
import type { Folded } from "./symmetry.ts";

/** So many chunks of an item over an arc in a step, the first of which is step 1. */
export interface Flow {
  readonly item: number;
  readonly arc: number;
  readonly step: number;
  readonly count: number;
}

/** One chunk over an arc. */
export interface Send {
  readonly chunk: number;
  readonly arc: number;
  readonly step: number;
}

/** Returns the flows of all items, from those of one of each orbit. */
export const unfolded = ({ item, maps }: Folded, flows: readonly Flow[]): Flow[] =>
  maps.flatMap((map) => flows.map((flow) => ({ ...flow, item: map.item[item[flow.item]], arc: map.arc[flow.arc] })));

/** Returns the sends of each chunk, by steps, arcs, chunks, without those that lead nowhere. O(flows x steps). */
export function sendsOf(problem: SyncProblem, flows: readonly Flow[], steps: number): Send[] {
  const byItem: Flow[][] = problem.items.map(() => []);
  for (const flow of flows) byItem[flow.item]?.push(flow);
  const sends = problem.items.flatMap((item, i) => {
    const own = (byItem[i] as Flow[]).sort((a, b) => a.step - b.step || a.arc - b.arc);
    return item.demand === null ? treeOf(problem, item, own) : pathsOf(problem, item, own, steps);
  });
  return sends.sort((a, b) => a.step - b.step || a.arc - b.arc || a.chunk - b.chunk);
}

/** Returns the sends of a chunk that lead to a target, each NPU's first delivery only. */
function treeOf({ npuCount, arcs }: SyncProblem, item: Item, flows: readonly Flow[]): Send[] {
  const needed = new Uint8Array(npuCount);
  for (const v of item.targets) needed[v] = 1;
  const came = new Int32Array(npuCount).fill(-1);
  for (const v of item.sources) came[v] = flows.length;
  flows.forEach((flow, f) => {
    if (came[arcs.target[flow.arc]] < 0) came[arcs.target[flow.arc]] = f;
  });
  const sends: Send[] = [];
  for (let f = flows.length - 1; f >= 0; f--) {
    const { arc, step } = flows[f] as Flow;
    const target = arcs.target[arc];
    if (came[target] !== f || needed[target] === 0) continue;
    needed[arcs.source[arc]] = 1;
    sends.push({ chunk: item.chunks[0], arc, step });
  }
  return sends;
}

/** Returns the sends of an item's chunks: its flow, back from each target step by step, with turns left out. */
function pathsOf({ npuCount, arcs }: SyncProblem, item: Item, flows: readonly Flow[], steps: number): Send[] {
  const left = flows.map(({ count }) => count);
  /** [step][npu] flows into the NPU in that step. */
  const into: number[][][] = Array.from({ length: steps + 1 }, () => Array.from({ length: npuCount }, () => []));
  for (const [f, { arc, step }] of flows.entries()) into[step]?.[arcs.target[arc]]?.push(f);
  const sends: Send[] = [];
  let next = 0;
  const { targets, demand } = item;
  targets.forEach((target, t) => {
    for (let k = 0; k < (demand as Int32Array)[t]; k++, next++) {
      const path: Flow[] = [];
      for (let step = steps, at = target; step > 0; step--) {
        const f = into[step]?.[at]?.find((one) => (left[one] as number) > 0);
        if (f === undefined) continue;
        left[f] = (left[f] as number) - 1;
        path.push(flows[f] as Flow);
        at = arcs.source[(flows[f] as Flow).arc];
      }
      for (const { arc, step } of withoutTurns(arcs.source, path)) sends.push({ chunk: item.chunks[next], arc, step });
    }
  });
  return sends;
}

/** Returns a path, given from its end, without what lies between two visits of an NPU. */
function withoutTurns(source: Int32Array, path: readonly Flow[]): Flow[] {
  const kept: Flow[] = [];
  for (const flow of path) {
    const seen = kept.findIndex(({ arc }) => source[arc] === source[flow.arc]);
    if (seen >= 0) kept.length = seen + 1;
    else kept.push(flow);
  }
  return kept;
}

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
