import type { RouteSet } from "../../model/routes/routes.ts";
import { type ArrivalLog, portsOf } from "../../model/slots/slot-schedule.ts";
import { indexColumn } from "../../model/steps/step-schedule.ts";
import { translateAll } from "../../model/symmetry/translation.ts";
import { type InvariantProblem, type Spread, spread } from "./invariant-spread.ts";

/** Visits of elements that all trials together may take, beyond the first. */
const MOST_WORK = 2e7;
const MOST_TRIALS = 64;

/** An all-gather that is the same for every NPU, up to translation. */
export interface InvariantAllGather {
  /** Log of NPU 0; the others are its translations (model/symmetry/translated-rows.ts). */
  readonly row: ArrivalLog;
  readonly slots: number;
  /** Proved least number of slots of any all-gather over these routes. */
  readonly bound: number;
  readonly policy: string;
  readonly trials: number;
}

/**
 * Returns an all-gather in slots on a network whose routes are invariant under translations by `sizes` (translation.ts), all
 * equally long and never in each other's way, every NPU with `chunksPerNpu` chunks; null when an NPU cannot be reached.
 *
 * All NPUs have the same set of offsets to what they hold, so one of them is synthesized: O(NPUs * chunks * ports) instead of
 * NPUs times that. The first trial takes what the fewest ports could bring, oldest first; where it misses the bound, others
 * draw among equals, until one meets it or `trials` (default 64, fewer when large) are spent. Each trial matches ports to
 * chunks at its best per slot (Alg. 1 of TACOS 2024 visits them in random order). Beyond the paper.
 */
export function invariantAllGather(
  routes: RouteSet,
  npuCount: number,
  sizes: readonly number[],
  chunksPerNpu: number,
  options: { readonly seed: number; readonly trials?: number | null },
): InvariantAllGather | null {
  const problem = invariantProblem(routes, npuCount, sizes, chunksPerNpu);
  const bound = leastSlots(problem);
  if (bound === null) return null;
  let best = spread(problem, "oldest", options.seed, Number.POSITIVE_INFINITY);
  if (best === null) return null;
  let policy = "rarest, oldest first";
  const affordable = Math.ceil(MOST_WORK / (npuCount * chunksPerNpu * problem.ports));
  const most = options.trials ?? Math.min(MOST_TRIALS, 1 + affordable);
  let trials = 1;
  for (; best.slots > bound && trials < most; trials++) {
    const found = spread(problem, "random", options.seed + trials, best.slots - 1);
    if (found === null) continue;
    best = found;
    policy = "rarest, drawn among equals";
  }
  return { row: rowOf(best), slots: best.slots, bound, policy, trials };
}

function rowOf({ log, bits }: Spread): ArrivalLog {
  const chunk = indexColumn(log.length, log.length);
  chunk.set(log);
  return { chunk, ports: bits };
}

function invariantProblem(
  routes: RouteSet,
  npuCount: number,
  sizes: readonly number[],
  chunksPerNpu: number,
): InvariantProblem {
  const { offset, items } = portsOf(routes, npuCount);
  const ports = offset[1];
  const shifted = new Int32Array(ports * npuCount);
  for (let p = 0; p < ports; p++) {
    translateAll(sizes, routes.source[items[p]], shifted.subarray(p * npuCount, (p + 1) * npuCount));
  }
  return { npuCount, chunksPerNpu, ports, shifted };
}

/**
 * Returns a lower bound on the slots of an all-gather, or null when some NPU is out of reach. Chunks from more than t hops
 * away have all slots but the first t, whatever the schedule; and in the first slot a source has its own chunks only.
 */
function leastSlots({ npuCount, chunksPerNpu, ports, shifted }: InvariantProblem): number | null {
  if (npuCount === 1) return 0;
  if (ports === 0) return null;
  const hops = new Int32Array(npuCount).fill(-1);
  const queue = new Int32Array(npuCount);
  hops[0] = 0;
  let reached = 1;
  for (let i = 0; i < reached; i++) {
    for (let p = 0; p < ports; p++) {
      const next = shifted[p * npuCount + queue[i]];
      if (hops[next] >= 0) continue;
      hops[next] = hops[queue[i]] + 1;
      queue[reached++] = next;
    }
  }
  if (reached < npuCount) return null;
  let bound = 0;
  for (let i = 0; i < npuCount; i++) {
    const nearer = hops[queue[i]] - 1;
    if (nearer < 0 || hops[queue[i - 1]] > nearer) continue;
    bound = Math.max(bound, nearer + Math.ceil(((npuCount - i) * chunksPerNpu) / ports));
  }
  const parallel = new Map<number, number>();
  for (let p = 0; p < ports; p++) {
    const source = shifted[p * npuCount];
    parallel.set(source, (parallel.get(source) ?? 0) + 1);
  }
  let first = 0;
  for (const among of parallel.values()) first += Math.min(among, chunksPerNpu);
  return Math.max(bound, 1 + Math.ceil(((npuCount - 1) * chunksPerNpu - first) / ports));
}
