import { OP_REDUCE } from "../../model/steps/step-schedule.ts";
import { type MoveTimes, retimed } from "../messages.ts";
import type { Moves } from "../moves.ts";
import type { Departures } from "./departures.ts";
import { type RankZero, transfersLikeZero } from "./symmetry.ts";

/**
 * Returns the moves of rank 0, which stands for all ranks, in the order of the times when transfers really depart and arrive, or
 * else of those that they are planned for: times of the rank that has most of them under way at once, for others can do as it
 * does. Of chunks that are planned to leave together each is there before the next leaves,
 * as in `movesOf`.
 */
export function rankZeroMoves(rankZero: RankZero, times?: MoveTimes): Moves {
  const { departures, symmetry, ...zero } = rankZero;
  const { schedule, perRank, ranks, chunkCount, chunksPerBlock, row, manner, leaves, comes } = departures;
  const { collective, op } = schedule;
  const rows = row.subarray(0, perRank);
  const levelOf = (event: number): number =>
    event % 2 === 1 ? 2 * comes[manner[event >> 1]] : 2 * leaves[manner[event >> 1]] + 1;
  const events = Int32Array.from({ length: 2 * perRank }, (_, event) => event);
  events.sort((a, b) => levelOf(a) - levelOf(b) || a - b);
  const departsAt = new Int32Array(perRank);
  const arrivesAt = new Int32Array(perRank);
  events.forEach((event, place) => {
    (event % 2 === 0 ? departsAt : arrivesAt)[event >> 1] = place;
  });
  const { chunk, sendsTo, comesFrom, comesAs } = zero;
  const moves: Moves = {
    collective,
    rankCount: ranks,
    rootRank: collective.rootRank,
    chunksPerBlock,
    chunkCount,
    source: new Int32Array(perRank),
    target: new Int32Array(perRank),
    chunk,
    chunks: new Int32Array(perRank).fill(1),
    reduces: Uint8Array.from(rows, (i) => (op[i] === OP_REDUCE ? 1 : 0)),
    lane: new Int32Array(perRank).fill(-1),
    departsAt,
    arrivesAt,
    folded: { symmetry, sendsTo, comesFrom, comesAs },
  };
  const { startPs, endPs } = times ?? schedule;
  const busiest = busiestRank(departures, times ?? schedule);
  const like = transfersLikeZero(rankZero, busiest).map((i) => row[busiest * perRank + i]);
  const own: MoveTimes = {
    startPs: Float64Array.from(like, (i) => startPs[i]),
    endPs: Float64Array.from(like, (i) => endPs[i]),
  };
  if (times === undefined) followEachOther(own, sendsTo);
  return retimed(moves, own);
}

/** Returns the first rank most of whose transfers depart while the one before for the same rank is under way. O(transfers). */
function busiestRank({ ranks, perRank, row, target }: Departures, { startPs, endPs }: MoveTimes): number {
  let [busiest, most] = [0, 0];
  const until = new Float64Array(ranks);
  for (let rank = 0; rank < ranks; rank++) {
    let many = 0;
    until.fill(-1);
    for (let at = rank * perRank; at < (rank + 1) * perRank; at++) {
      if (until[target[at]] > startPs[row[at]]) many++;
      until[target[at]] = Math.max(until[target[at]], endPs[row[at]]);
    }
    if (many > most) [busiest, most] = [rank, many];
  }
  return busiest;
}

/** Makes what leaves for a rank with others come as it leaves, but for the last of them. */
function followEachOther({ startPs, endPs }: MoveTimes, sendsTo: Int32Array): void {
  const latest = new Map<number, number>();
  for (let i = 0; i < sendsTo.length; i++) {
    const before = latest.get(sendsTo[i]);
    latest.set(sendsTo[i], i);
    if (before !== undefined && startPs[before] === startPs[i] && endPs[before] === endPs[i])
      endPs[before] = startPs[i];
  }
}
