import { disjointSets } from "../../model/graph/disjoint-sets.ts";
import type { FlowProblem, Resource } from "./problem.ts";
import { classesOf, type FlowMap, resourceKey } from "./symmetries.ts";
import { COPY, type Columns, EXCHANGE, MEET, REDUCE } from "./windows.ts";

/**
 * All-reduce schedules that are their own mirror: played backwards, with links turned around and sums for copies, they are
 * the same but for an exchange of chunks, so that the halves of different chunks overlap. Half as many columns again; the
 * 4x4 mesh with one chunk per NPU in 14 slots (matching and overlap: 15), in 960 columns instead of 15,360.
 */

/** Returns orbits joined with their mirrors, as `orbit`; null where routes, ticks or flows have none. O(columns). */
export function withMirror(
  problem: FlowProblem,
  resources: readonly Resource[],
  columns: Columns,
  group: readonly FlowMap[],
  orbit: Int32Array,
): Int32Array | null {
  const { ticks, horizon, blocks, block, opposite } = columns;
  if (!isReversible(opposite, resources)) return null;
  if (problem.flows.some(({ kind, from, to }) => kind !== "both" || from.join() !== to.join())) return null;
  const tickAt = new Map(Array.from(ticks, (time, k) => [time, k]));
  const partner = partnersOf(problem, group.length);
  const sets = disjointSets(columns.count);
  for (let c = 0; c < columns.count; c++) sets.join(c, orbit[c]);
  for (const { flow, side, place, low, high, first } of blocks) {
    const meets = side === MEET;
    const image =
      meets || side === EXCHANGE
        ? block(partner[flow], side, place)
        : block(partner[flow], side === COPY ? REDUCE : COPY, opposite[place]);
    if (image === undefined) return null;
    const duration = meets ? 0 : problem.durations[problem.flows[flow].size][place];
    for (let k = low; k <= high; k++) {
      const at = tickAt.get(horizon - ticks[k] - duration);
      if (at === undefined || at < image.low || at > image.high) return null;
      sets.join(first + k - low, image.first + at - image.low);
    }
  }
  return Int32Array.from({ length: columns.count }, (_, column) => sets.least(column));
}

/** Returns for each flow the one it is exchanged with: of alike flows, those that maps exchange, with the next ones. */
function partnersOf({ flows }: FlowProblem, maps: number): Int32Array {
  const partner = Int32Array.from(flows, (_, f) => f);
  for (const list of classesOf(flows).values()) {
    if (list.length % maps !== 0) continue;
    for (const [i, f] of list.entries()) {
      const other = (Math.floor(i / maps) ^ 1) * maps + (i % maps);
      partner[f] = list[other] ?? f;
    }
  }
  return partner;
}

/** Returns whether every route has one the other way, and shared links are shared by those too. */
function isReversible(opposite: Int32Array, resources: readonly Resource[]): boolean {
  if (opposite.includes(-1)) return false;
  const known = new Set(resources.map(resourceKey));
  return resources.every(({ route, units, capacity }) =>
    known.has(resourceKey({ route: route.map((r) => opposite[r]), units, capacity })),
  );
}
