import type { Moves } from "../moves/moves.ts";

/**
 * When moves are sent and received: at each level a rank sends what it sends then, and afterwards receives what it receives
 * then. A move is received at the level at which it is sent or at a later one, so doing everything level by level, all sends
 * of a level before its receptions, is an order in which nobody waits for what comes later: plans that keep it cannot deadlock.
 */
export interface Levels {
  /** [moves] */
  readonly sent: Int32Array;
  readonly received: Int32Array;
}

const MOST_PASSES = 8;

/** Returns the moves, departures and arrivals in their order: event 2 m is the departure of move m, 2 m + 1 its arrival. */
function eventsInOrder({ departsAt, arrivesAt }: Moves): Int32Array {
  const order = new Int32Array(2 * departsAt.length);
  departsAt.forEach((at, move) => {
    order[at] = 2 * move;
  });
  arrivesAt.forEach((at, move) => {
    order[at] = 2 * move + 1;
  });
  return order;
}

/**
 * Returns the lowest levels that keep the order of the moves at each rank and chunk: what arrives before a departure is
 * received at a lower level, what arrives after it not at a lower one. Where no such levels are found (sums that are exchanged
 * again and again before they are complete), each event has a level of its own. O(chunks of all moves).
 */
export function levelsOf(moves: Moves): Levels {
  const { source, target, chunk, chunks, rankCount, chunkCount } = moves;
  const order = eventsInOrder(moves);
  const level = new Int32Array(source.length);
  const arrived = new Int32Array(rankCount * chunkCount);
  const departed = new Int32Array(rankCount * chunkCount);
  for (let pass = 0; pass < MOST_PASSES; pass++) {
    let raised = false; // a level that an earlier event of this pass or the last one may have relied on
    arrived.fill(0);
    departed.fill(0);
    for (const event of order) {
      const move = event >> 1;
      const departs = (event & 1) === 0;
      const first = (departs ? source : target)[move] * chunkCount + chunk[move];
      const end = first + chunks[move];
      let least = level[move];
      for (let at = first; at < end; at++) least = Math.max(least, departs ? arrived[at] + 1 : departed[at]);
      if (least > level[move] && (pass > 0 || !departs)) raised = true;
      level[move] = least;
      const last = departs ? departed : arrived;
      for (let at = first; at < end; at++) if (last[at] < least) last[at] = least;
    }
    if (!raised) return { sent: level, received: level };
  }
  return { sent: moves.departsAt, received: moves.arrivesAt };
}
