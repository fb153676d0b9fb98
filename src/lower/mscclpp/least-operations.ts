import { NOWHERE, type Problem } from "./layout.ts";

/** Returns a thread block that has many operations where moves are dealt to so many slices: how many at least, and its rank. */
export type LeastOperations = (
  sliceOfMove: Int32Array,
  slices: number,
) => { readonly need: number; readonly rank: number };

/** Operations of a level at which a rank writes into memory of its box: threads meet, put, meet, signal; over a port meet, put. */
const MEMORY_PUT = 4;
const PORT_PUT = 2;

/**
 * Returns what bounds the operations of thread blocks from below without making them, null where nothing does: ranks that are spread
 * over several blocks, and moves of which some bring nothing. A level at which a rank receives takes a wait, one at which it sends
 * what is written or a signal. O(moves) for each deal.
 */
export function leastOperationsOf({ moves, layout, levels, via, reads, spread }: Problem): LeastOperations | null {
  const { source, target, chunk, chunks, reduces, rankCount, chunkCount } = moves;
  if (spread) return null;
  const given = new Uint8Array(rankCount * chunkCount);
  for (let m = 0; m < source.length; m++) {
    if (reduces[m] === 1) continue;
    for (let c = chunk[m]; c < chunk[m] + chunks[m]; c++) {
      const isThere = given[target[m] * chunkCount + c] === 1;
      if (isThere || (!moves.collective.reduces && layout.start(target[m], c) !== NOWHERE)) return null;
      given[target[m] * chunkCount + c] = 1;
    }
  }
  const sendCost = Uint8Array.from(source, (from, m) => {
    if (via(from, target[m]) === "port") return PORT_PUT;
    return reduces[m] === 1 && reads ? 1 : MEMORY_PUT;
  });
  const bySent = inOrderOf(levels.sent);
  const byReceived = inOrderOf(levels.received);
  return (sliceOfMove, slices) => {
    const operations = new Int32Array(rankCount * slices);
    const levelAt = new Int32Array(rankCount * slices).fill(-1);
    const costAt = new Uint8Array(rankCount * slices);
    const take = (block: number, level: number, cost: number): void => {
      if (levelAt[block] !== level) {
        levelAt[block] = level;
        costAt[block] = 0;
      }
      if (cost <= costAt[block]) return;
      operations[block] += cost - costAt[block];
      costAt[block] = cost;
    };
    for (const m of bySent) take(sliceOfMove[m] * rankCount + source[m], levels.sent[m], sendCost[m]);
    // before the first its threads need not meet
    for (let block = 0; block < operations.length; block++) if (operations[block] > 1) operations[block]--;
    levelAt.fill(-1);
    for (const m of byReceived) take(sliceOfMove[m] * rankCount + target[m], levels.received[m], 1);
    let worst = 0;
    for (let block = 1; block < operations.length; block++) if (operations[block] > operations[worst]) worst = block;
    return { need: operations[worst], rank: worst % rankCount };
  };
}

/** Returns indices by their values. */
function inOrderOf(values: Int32Array): Int32Array {
  const next = new Int32Array(values.reduce((most, value) => Math.max(most, value), 0) + 2);
  for (const value of values) next[value + 1]++;
  for (let value = 1; value < next.length; value++) next[value] += next[value - 1];
  const order = new Int32Array(values.length);
  values.forEach((value, i) => {
    order[next[value]++] = i;
  });
  return order;
}
