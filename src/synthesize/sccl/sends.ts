import type { Item, SyncProblem } from "./problem.ts";
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
