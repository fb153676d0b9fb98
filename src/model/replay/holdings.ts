import type { Plan } from "./plan.ts";
import type { ReplayProblem } from "./problem.ts";

/** When a transfer's chunk is at its source as planned; keeps count while transfers arrive. */
export interface Holdings {
  isReady(row: number): boolean;
  arrive(row: number): void;
}

/**
 * Returns the holdings of a plan. A departure with n planned arrivals before it at its place is ready, in a reduction,
 * when those n have arrived (arrivals planned for later are set aside, so the payload is the planned one), else when any of
 * them has. Returns a row whose chunk is never at its source where there is one: the first.
 */
export function holdingsOf(problem: ReplayProblem, plan: Plan): Holdings | number {
  const { sourcePlace, targetPlace, initial, byArrival, collective } = plan;
  const { plannedStart, plannedEnd, reduces } = problem;
  const count = plannedStart.length;
  const places = initial.length;
  /** [transfers] arrivals planned at the source by the departure, and the turn of the transfer's own arrival. */
  const needed = new Int32Array(count);
  const turn = new Int32Array(count);
  const arrivals = new Int32Array(places);
  let next = 0;
  const takeTurn = (row: number): void => {
    turn[row] = arrivals[targetPlace[row]]++;
    next++;
  };
  for (let i = 0; i < count; i++) {
    while (next < count && plannedEnd[byArrival[next]] <= plannedStart[i]) takeTurn(byArrival[next]);
    needed[i] = arrivals[sourcePlace[i]];
    if (needed[i] === 0 && initial[sourcePlace[i]] === 0) return i;
  }
  while (next < count) takeTurn(byArrival[next]);
  /** First of the planned arrivals to have come, of each place; for reductions how many have come without a gap. */
  const earliest = new Int32Array(reduces.includes(0) ? places : 0).fill(count);
  const sums = reduces.includes(1);
  const offset = new Int32Array(sums ? places + 1 : 0);
  for (let place = 0; place < offset.length - 1; place++) offset[place + 1] = offset[place] + arrivals[place];
  const arrived = new Uint8Array(sums ? count : 0);
  const complete = new Int32Array(sums ? places : 0);
  const isSum = (row: number): boolean => reduces[collective === null ? 0 : collective[row]] === 1;
  return {
    isReady: (row) => {
      const place = sourcePlace[row];
      if (isSum(row)) return complete[place] >= needed[row];
      return initial[place] === 1 || earliest[place] < needed[row];
    },
    arrive: (row) => {
      const place = targetPlace[row];
      if (!isSum(row)) {
        if (turn[row] < earliest[place]) earliest[place] = turn[row];
        return;
      }
      arrived[offset[place] + turn[row]] = 1;
      while (complete[place] < arrivals[place] && arrived[offset[place] + complete[place]] === 1) complete[place]++;
    },
  };
}
