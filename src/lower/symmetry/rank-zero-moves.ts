import { OP_REDUCE } from "../../model/steps/step-schedule.ts";
import type { MoveTimes } from "../messages.ts";
import type { Moves } from "../moves.ts";
import type { RankZero } from "./symmetry.ts";

/**
 * Returns the moves of rank 0, which stands for all ranks, in the order of their times: at each time arrivals, then departures.
 * Where several chunks leave together and are only copied, each is there before the next leaves, as in `movesOf`.
 */
export function rankZeroMoves({ departures, symmetry, ...zero }: RankZero): Moves {
  const { schedule, perRank, ranks, chunkCount, chunksPerBlock, row, manner } = departures;
  const { collective, startPs, endPs, op } = schedule;
  const rows = row.subarray(0, perRank);
  const arrivesAtOnce = new Uint8Array(perRank);
  if (!collective.reduces) {
    const latest = new Map<number, number>();
    for (let i = 0; i < perRank; i++) {
      const send = zero.sendsTo[i] * departures.manners + manner[i];
      const before = latest.get(send);
      if (before !== undefined) arrivesAtOnce[before] = 1;
      latest.set(send, i);
    }
  }
  const timeOf = (event: number): number => {
    const i = event >> 1;
    return event % 2 === 1 && arrivesAtOnce[i] === 0 ? endPs[rows[i]] : startPs[rows[i]];
  };
  const isLate = (event: number): number => (event % 2 === 1 && arrivesAtOnce[event >> 1] === 0 ? 0 : 1);
  const events = Int32Array.from({ length: 2 * perRank }, (_, event) => event);
  events.sort((a, b) => timeOf(a) - timeOf(b) || isLate(a) - isLate(b) || a - b);
  const departsAt = new Int32Array(perRank);
  const arrivesAt = new Int32Array(perRank);
  events.forEach((event, place) => {
    (event % 2 === 0 ? departsAt : arrivesAt)[event >> 1] = place;
  });
  const { chunk, sendsTo, comesFrom, comesAs } = zero;
  return {
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
}

/** Returns the times of the transfers of rank 0, of those of all. */
export const timesOfRankZero = ({ departures }: RankZero, { startPs, endPs }: MoveTimes): MoveTimes => {
  const rows = departures.row.subarray(0, departures.perRank);
  return { startPs: Float64Array.from(rows, (i) => startPs[i]), endPs: Float64Array.from(rows, (i) => endPs[i]) };
};
