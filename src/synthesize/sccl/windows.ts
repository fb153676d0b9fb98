import { groupedBy } from "../../model/graph/graph.ts";
import type { Item, SyncProblem } from "./problem.ts";

const UNREACHED = 1_000_000;

/** Returns [from * NPUs + to] how many arcs apart NPUs are; more than any number of steps where there is no way. */
export function hopsOf({ npuCount, arcs }: Pick<SyncProblem, "npuCount" | "arcs">): Int32Array {
  const { offset, items: out } = groupedBy(arcs.source, npuCount);
  const hops = new Int32Array(npuCount * npuCount).fill(UNREACHED);
  const queue = new Int32Array(npuCount);
  for (let from = 0; from < npuCount; from++) {
    const row = hops.subarray(from * npuCount, (from + 1) * npuCount);
    row[from] = 0;
    queue[0] = from;
    for (let head = 0, tail = 1; head < tail; head++) {
      const v = queue[head];
      for (let i = offset[v]; i < offset[v + 1]; i++) {
        const w = arcs.target[out[i]];
        if (row[w] !== UNREACHED) continue;
        row[w] = row[v] + 1;
        queue[tail++] = w;
      }
    }
  }
  return hops;
}

/** When an item can be where, in steps. */
export interface Window {
  /** [npus] steps after which the item can be there at the earliest: arcs from the nearest source. */
  readonly early: Int32Array;
  /** [npus] steps that it needs from there to the nearest target. */
  readonly left: Int32Array;
}

/** Returns the window of each item; those with equal sources and targets share one. */
export function windowsOf({ npuCount, items }: SyncProblem, hops: Int32Array): Window[] {
  const known = new Map<string, Window>();
  const least = (ends: Int32Array, at: (end: number) => number): number =>
    ends.reduce((best, end) => Math.min(best, hops[at(end)]), UNREACHED);
  return items.map(({ sources, targets }) => {
    const key = `${sources.join()}>${targets.join()}`;
    let window = known.get(key);
    if (window === undefined) {
      window = {
        early: Int32Array.from({ length: npuCount }, (_, v) => least(sources, (s) => s * npuCount + v)),
        left: Int32Array.from({ length: npuCount }, (_, v) => least(targets, (t) => v * npuCount + t)),
      };
      known.set(key, window);
    }
    return window;
  });
}

/** Returns the fewest steps in which every target can be reached, and a pair that needs them; steps 0: nothing to send. */
export function leastSteps(items: readonly Item[], windows: readonly Window[]) {
  let far = { steps: 0, source: 0, target: 0 };
  items.forEach(({ sources, targets }, i) => {
    for (const target of targets) {
      const steps = (windows[i] as Window).early[target];
      if (steps > far.steps) far = { steps, source: sources[0], target };
    }
  });
  return { ...far, reachable: far.steps < UNREACHED };
}
