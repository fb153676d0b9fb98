import type { Collective } from "../../src/model/collective/collective.ts";
import type { RouteSet } from "../../src/model/routes/routes.ts";
import { indexColumn, type StepSchedule } from "../../src/model/steps/step-schedule.ts";
import type { Topology } from "../../src/model/topology/topology.ts";

/** One transfer as an object; times in picoseconds. */
export interface Row {
  readonly chunk: number;
  readonly route: number;
  readonly start: number;
  readonly end: number;
  readonly op: number;
}

/** Returns the schedule with these rows, in this order. */
export function scheduleOfRows(
  topology: Topology,
  collective: Collective,
  routes: RouteSet,
  rows: readonly Row[],
): StepSchedule {
  const chunk = indexColumn(rows.length, collective.chunkCount);
  const route = indexColumn(rows.length, routes.source.length);
  chunk.set(rows.map((row) => row.chunk));
  route.set(rows.map((row) => row.route));
  return {
    topology,
    collective,
    routes,
    chunk,
    route,
    startPs: Float64Array.from(rows, (row) => row.start),
    endPs: Float64Array.from(rows, (row) => row.end),
    op: Uint8Array.from(rows, (row) => row.op),
  };
}

/** Returns the schedule's transfers as objects. */
export function rowsOf({ chunk, route, startPs, endPs, op }: StepSchedule): Row[] {
  return Array.from(startPs, (start, i) => ({ chunk: chunk[i], route: route[i], start, end: endPs[i], op: op[i] }));
}

/** Returns the rows in order of (start, route, chunk). */
export const inOrder = (rows: readonly Row[]): Row[] =>
  [...rows].sort((a, b) => a.start - b.start || a.route - b.route || a.chunk - b.chunk);

/** A route written out: its nodes' walk as link ids, and one share for all of them. */
export interface WrittenRoute {
  readonly links: readonly number[];
  readonly share?: readonly [number, number];
}

/** Returns the routes; source and target follow from the links. */
export function routeSet(topology: Topology, written: readonly WrittenRoute[]): RouteSet {
  const links = written.flatMap((route) => route.links);
  const shares = written.flatMap(({ links: own, share }) => own.map(() => share ?? ([1, 1] as const)));
  const linkOffset = new Int32Array(written.length + 1);
  written.forEach((route, r) => {
    linkOffset[r + 1] = linkOffset[r] + route.links.length;
  });
  return {
    source: Int32Array.from(written, (route) => topology.linkSource[route.links[0]]),
    target: Int32Array.from(written, (route) => topology.linkTarget[route.links.at(-1) as number]),
    linkOffset,
    links: Int32Array.from(links),
    shareNum: Float64Array.from(shares, ([num]) => num),
    shareDen: Float64Array.from(shares, ([, den]) => den),
  };
}
