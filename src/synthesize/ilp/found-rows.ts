import type { Collective } from "../../model/collective/collective.ts";
import type { RouteSet } from "../../model/routes/routes.ts";
import { emptyRows, OP_COPY, OP_REDUCE, type StepSchedule } from "../../model/steps/step-schedule.ts";
import type { Topology } from "../../model/topology/topology.ts";
import type { FlowProblem, Resource } from "./problem.ts";
import { COPY, type Columns, EXCHANGE, MEET } from "./windows.ts";

/** A transfer of a flow over a route, at a time in units of the problem. */
export interface Move {
  readonly flow: number;
  readonly route: number;
  readonly start: number;
  readonly reduces: boolean;
}

/** Returns the transfers of a point of the program, in order of start; `pruned`: without those that nobody needs. */
export function movesOf(
  problem: FlowProblem,
  columns: Columns,
  point: (column: number) => number,
  pruned = true,
): Move[] {
  const moves: Move[] = [];
  for (const { flow, side, place, low, high, first } of columns.blocks) {
    if (side === MEET) continue;
    for (let k = low; k <= high; k++) {
      if (point(first + k - low) < 0.5) continue;
      const start = columns.ticks[k];
      moves.push({ flow, route: place, start, reduces: side !== COPY });
      if (side === EXCHANGE) moves.push({ flow, route: columns.opposite[place], start, reduces: true });
    }
  }
  moves.sort((a, b) => a.start - b.start || a.route - b.route || a.flow - b.flow);
  return pruned ? neededMoves(problem, moves) : moves;
}

/**
 * Returns the moves, in order of start, without copies that bring a chunk where it neither is wanted nor leaves from, and
 * without sums of nothing.
 */
export function neededMoves({ npuCount, routes, durations, flows }: FlowProblem, moves: readonly Move[]): Move[] {
  const key = (flow: number, npu: number): number => flow * npuCount + npu;
  /** Since when: of an exchange with an NPU that has nothing, its half is no sum of what comes at the same time. */
  const holds = new Map<number, number>();
  const wanted = new Set<number>();
  for (const [f, { kind, from, to }] of flows.entries()) {
    if (kind !== "copy") for (const v of from) holds.set(key(f, v), 0);
    if (kind !== "reduce") for (const v of to) wanted.add(key(f, v));
  }
  const needed = new Uint8Array(moves.length);
  for (const [i, { flow, route, start, reduces }] of moves.entries()) {
    if (!reduces || !((holds.get(key(flow, routes.source[route])) ?? Number.POSITIVE_INFINITY) <= start)) continue;
    const target = key(flow, routes.target[route]);
    const end = start + durations[flows[flow].size][route];
    holds.set(target, Math.min(holds.get(target) ?? end, end));
    needed[i] = 1;
  }
  for (let i = moves.length - 1; i >= 0; i--) {
    const { flow, route, reduces } = moves[i];
    if (reduces || !wanted.has(key(flow, routes.target[route]))) continue;
    wanted.add(key(flow, routes.source[route]));
    needed[i] = 1;
  }
  return moves.filter((_, i) => needed[i] === 1);
}

interface Interval {
  readonly start: number;
  readonly end: number;
  readonly units: number;
}

/**
 * Returns the moves, given in order of start, each as early as what it carries and the resources let it start after those
 * before it: none later than it was, also where the durations are shorter than those it was planned with. Then in order of
 * start again. The two sums of an exchange start together. O(moves x moves on a resource).
 */
export function earliest(problem: FlowProblem, resources: readonly Resource[], moves: readonly Move[]): Move[] {
  const { npuCount, routes, durations, flows } = problem;
  const uses: { readonly busy: Interval[]; readonly units: number; readonly capacity: number }[][] = Array.from(
    routes.source,
    () => [],
  );
  for (const { route, units, capacity } of resources) {
    const busy: Interval[] = [];
    for (const [i, r] of route.entries()) uses[r].push({ busy, units: units[i], capacity });
  }
  const summed = new Map<number, number>();
  const copied = new Map<number, number>();
  const other = exchangedWith(problem, moves);
  const moved: Move[] = [];
  moves.forEach((move, i) => {
    if (other[i] !== -1 && other[i] < i) return;
    const { flow, reduces } = move;
    const pair = other[i] === -1 ? [move] : [move, moves[other[i]]];
    const duration = durations[flows[flow].size][move.route];
    let start = 0;
    for (const { route } of pair) {
      const from = flow * npuCount + routes.source[route];
      start = Math.max(start, (reduces ? undefined : copied.get(from)) ?? summed.get(from) ?? 0);
    }
    const users = pair.flatMap(({ route }) => uses[route]);
    start = firstFree(users, start, duration);
    const end = start + duration;
    for (const { busy, units } of users) busy.push({ start, end, units });
    for (const one of pair) {
      const to = flow * npuCount + routes.target[one.route];
      if (reduces) summed.set(to, Math.max(summed.get(to) ?? 0, end));
      else copied.set(to, end);
      moved.push({ ...one, start });
    }
  });
  return moved.sort((a, b) => a.start - b.start || a.route - b.route || a.flow - b.flow);
}

/** Returns for each move the one that goes the other way in an exchange (of the same duration); -1 for all others. */
function exchangedWith({ routes, npuCount }: FlowProblem, moves: readonly Move[]): Int32Array {
  const key = (flow: number, u: number, v: number, start: number): string => `${flow * npuCount + u};${v};${start}`;
  const sums = new Map<string, number>();
  for (const [i, { flow, route, start, reduces }] of moves.entries()) {
    if (reduces) sums.set(key(flow, routes.source[route], routes.target[route], start), i);
  }
  return Int32Array.from(moves, ({ flow, route, start, reduces }) =>
    reduces ? (sums.get(key(flow, routes.target[route], routes.source[route], start)) ?? -1) : -1,
  );
}

function firstFree(
  uses: readonly { readonly busy: readonly Interval[]; readonly units: number; readonly capacity: number }[],
  ready: number,
  duration: number,
): number {
  for (let start = ready; ; ) {
    let next = Number.POSITIVE_INFINITY;
    for (const { busy, units, capacity } of uses) {
      const beside = busy.filter((one) => one.start < start + duration && one.end > start);
      const most = beside.reduce((peak, { start: at }) => Math.max(peak, loadAt(beside, Math.max(at, start))), 0);
      if (most + units <= capacity) continue;
      for (const { end } of beside) next = Math.min(next, end);
    }
    if (next === Number.POSITIVE_INFINITY) return start;
    start = next;
  }
}

const loadAt = (intervals: readonly Interval[], time: number): number =>
  intervals.reduce((sum, { start, end, units }) => (start <= time && time < end ? sum + units : sum), 0);

/** Returns when the last move ends. */
export const endOfMoves = ({ durations, flows }: FlowProblem, moves: readonly Move[]): number =>
  moves.reduce((last, { flow, route, start }) => Math.max(last, start + durations[flows[flow].size][route]), 0);

/** Returns moves, in order of start, as a schedule; flow f is chunk f - `firstFlow`. */
export function scheduleOf(
  topology: Topology,
  collective: Collective,
  routes: RouteSet,
  durationPs: Float64Array,
  moves: readonly Move[],
  firstFlow = 0,
): StepSchedule {
  const schedule = emptyRows(topology, collective, routes, moves.length);
  for (const [i, { flow, route, start, reduces }] of moves.entries()) {
    schedule.chunk[i] = flow - firstFlow;
    schedule.route[i] = route;
    schedule.startPs[i] = start;
    schedule.endPs[i] = start + durationPs[route];
    schedule.op[i] = reduces ? OP_REDUCE : OP_COPY;
  }
  return schedule;
}
