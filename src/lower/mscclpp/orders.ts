import { orderByColumns } from "../../model/numbers/ordering.ts";
import type { Levels, Problem } from "./layout.ts";

/** Moves in the order in which they are sent, and in that in which they are received. */
export interface Orders {
  readonly sent: Int32Array;
  readonly received: Int32Array;
}

/** By levels: each is of one list of moves, however that is laid out. */
const ordersOfLevels = new WeakMap<Levels, Orders>();

/** Returns moves by their levels, those that are sent then by the turns of their targets, all then by targets and chunks. O(moves). */
export function ordersOf({ moves: { source, target, chunk }, levels, turn }: Problem): Orders {
  const known = ordersOfLevels.get(levels);
  if (known !== undefined) return known;
  const turns = source.map((from, move) => turn(from, target[move]));
  const orders = {
    sent: orderByColumns([chunk, target, turns, levels.sent]),
    received: orderByColumns([chunk, target, levels.received]),
  };
  ordersOfLevels.set(levels, orders);
  return orders;
}

/** Returns the moves of each slice in both orders. O(moves). */
export function ordersOfSlices(problem: Problem, sliceOfMove: Int32Array, slices: number): Orders[] {
  const count = new Int32Array(slices);
  for (let move = 0; move < sliceOfMove.length; move++) count[sliceOfMove[move]]++;
  const deal = (order: Int32Array): Int32Array[] => {
    const lists = Array.from(count, (many) => new Int32Array(many));
    const next = new Int32Array(slices);
    for (let k = 0; k < order.length; k++) {
      const slice = sliceOfMove[order[k]];
      lists[slice][next[slice]++] = order[k];
    }
    return lists;
  };
  const { sent, received } = ordersOf(problem);
  const arrivals = deal(received);
  return deal(sent).map((departures, slice) => ({ sent: departures, received: arrivals[slice] }));
}

/** Calls with the moves that are sent, and then with those that are received, at each level. O(moves). */
export function byLevel(
  { levels: { sent, received } }: Problem,
  { sent: departures, received: arrivals }: Orders,
  use: { readonly send: (level: Int32Array) => void; readonly receive: (level: Int32Array) => void },
): void {
  let [d, a] = [0, 0];
  while (a < arrivals.length) {
    const level = d < departures.length ? Math.min(sent[departures[d]], received[arrivals[a]]) : received[arrivals[a]];
    let [nextD, nextA] = [d, a];
    while (nextD < departures.length && sent[departures[nextD]] === level) nextD++;
    while (nextA < arrivals.length && received[arrivals[nextA]] === level) nextA++;
    use.send(departures.subarray(d, nextD));
    use.receive(arrivals.subarray(a, nextA));
    [d, a] = [nextD, nextA];
  }
}
