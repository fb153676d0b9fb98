import type { FlowProblem } from "./problem.ts";
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
