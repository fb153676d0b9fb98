import { orderByColumns } from "../../model/numbers/ordering.ts";
import { MSCCLPP_RUNTIME } from "../../model/program/runtimes.ts";
import { bufferOf, indexOf, NOWHERE, type Problem, place } from "./layout.ts";
import { ordersOf } from "./orders.ts";

/** Returns a thread block that has many operations where moves are dealt to so many slices: how many at least, and its rank. */
export type LeastOperations = (
  sliceOfMove: Int32Array,
  slices: number,
) => { readonly need: number; readonly rank: number };

const WIDEST = MSCCLPP_RUNTIME.channelsPerOp;
const widely = (many: number): number => Math.ceil(many / WIDEST);

/**
 * Returns what bounds the operations of thread blocks from below without making them, null where nothing does: ranks that are spread
 * over several blocks, and moves of which some bring nothing. At each level a rank waits for peers, `WIDEST` in an operation; it puts
 * what is written, as many runs of places as there are at least, after its threads have met; where the puts do not say so themselves
 * they meet again and signal. What it sums for the first time takes an operation for each run of chunks, after a meeting. O(moves) for
 * each deal.
 */
export function leastOperationsOf(problem: Problem): LeastOperations | null {
  const { moves, levels, spread } = problem;
  if (spread || !allBringSomething(problem)) return null;
  const { source, target, rankCount } = moves;
  const isPort = source.map((from, m) => (problem.via(from, target[m]) === "port" ? 1 : 0));
  const { isPut, first, past } = putsOf(problem);
  // in the order in which they are walked through
  const bySent = ordersOf(problem).sent;
  const byReceived = orderByColumns([source, levels.received]);
  const inOrder = (order: Int32Array, columns: Readonly<Record<"rank" | "peer" | "level", Int32Array>>): Walked => ({
    order,
    port: order.map((m) => isPort[m]),
    rank: order.map((m) => columns.rank[m]),
    peer: order.map((m) => columns.peer[m]),
    level: order.map((m) => columns.level[m]),
  });
  const sends = inOrder(bySent, { rank: source, peer: target, level: levels.sent });
  const receipts = inOrder(byReceived, { rank: target, peer: source, level: levels.received });
  const [put, from, to] = [isPut, first, past].map((column) => bySent.map((m) => column[m]));
  const sums = firstSumsOf(problem);
  return (sliceOfMove, slices) => {
    const blocks = rankCount * slices;
    const operations = new Int32Array(blocks);
    const [level, last] = [new Int32Array(blocks).fill(-1), new Int32Array(blocks)];
    // of the level that a block is at: puts, and peers, by memory and by port
    const [puts, peers] = [new Int32Array(2 * blocks), new Int32Array(2 * blocks)];
    const sent = (block: number): void => {
      const [memory, port] = [2 * block, 2 * block + 1];
      const isTold = puts[port] === peers[port];
      const meetsToTell = puts[memory] > 0 || !isTold ? 1 : 0;
      const meets = (puts[memory] + puts[port] > 0 ? 1 : 0) + meetsToTell;
      const signals = widely(peers[memory]) + (isTold ? 0 : widely(peers[port]));
      operations[block] += widely(puts[memory]) + widely(puts[port]) + meets + signals;
      puts[memory] = puts[port] = peers[memory] = peers[port] = 0;
    };
    const received = (block: number): void => {
      const [memory, port] = [2 * block, 2 * block + 1];
      operations[block] += widely(peers[memory]) + widely(peers[port]);
      peers[memory] = peers[port] = 0;
    };
    for (let k = 0; k < sends.order.length; k++) {
      const block = sliceOfMove[sends.order[k]] * rankCount + sends.rank[k];
      const isNext = sends.level[k] !== level[block];
      if (isNext) sent(block);
      level[block] = sends.level[k];
      const before = last[block];
      const channel = 2 * block + sends.port[k];
      const samePeer = !isNext && sends.peer[before] === sends.peer[k];
      if (!samePeer) peers[channel]++;
      const joins = samePeer && (from[k] === NOWHERE || to[before] === NOWHERE || to[before] === from[k]);
      if (put[k] === 1 && !joins) puts[channel]++;
      last[block] = k;
    }
    for (let block = 0; block < blocks; block++) {
      sent(block);
      // before the first its threads need not meet
      if (operations[block] > 1) operations[block]--;
    }
    level.fill(-1);
    for (let k = 0; k < receipts.order.length; k++) {
      const block = sliceOfMove[receipts.order[k]] * rankCount + receipts.rank[k];
      const isNext = receipts.level[k] !== level[block];
      if (isNext) received(block);
      level[block] = receipts.level[k];
      if (isNext || receipts.peer[last[block]] !== receipts.peer[k]) peers[2 * block + receipts.port[k]]++;
      last[block] = k;
    }
    for (let block = 0; block < blocks; block++) received(block);
    level.fill(-1);
    for (let k = 0; k < sums.move.length; k++) {
      const block = sliceOfMove[sums.move[k]] * rankCount + sums.rank[k];
      const isNext = sums.level[k] !== level[block];
      level[block] = sums.level[k];
      if (isNext) operations[block] += 2;
      else if (sums.chunk[last[block]] + 1 !== sums.chunk[k]) operations[block]++;
      last[block] = k;
    }
    let worst = 0;
    for (let block = 1; block < blocks; block++) if (operations[block] > operations[worst]) worst = block;
    return { need: operations[worst], rank: worst % rankCount };
  };
}

/** Moves in the order of their levels, as columns. */
interface Walked {
  /** Which moves. */
  readonly order: Int32Array;
  /** 1: over a port. */
  readonly port: Int32Array;
  readonly rank: Int32Array;
  readonly peer: Int32Array;
  readonly level: Int32Array;
}

/** Returns whether every move brings what its target does not have. O(ranks * chunks + chunks of all moves). */
function allBringSomething({ moves, layout }: Problem): boolean {
  const { source, target, chunk, chunks, reduces, rankCount, chunkCount } = moves;
  const given = new Uint8Array(rankCount * chunkCount);
  for (let m = 0; m < source.length; m++) {
    if (reduces[m] === 1) continue;
    for (let c = chunk[m]; c < chunk[m] + chunks[m]; c++) {
      const isThere = given[target[m] * chunkCount + c] === 1;
      if (isThere || (!moves.collective.reduces && layout.start(target[m], c) !== NOWHERE)) return false;
      given[target[m] * chunkCount + c] = 1;
    }
  }
  return true;
}

/**
 * Returns, by level and chunk, the first contributions that ranks add to what they have from the start: one for each rank and chunk.
 * Those of chunks that are no neighbours are summed apart, for their own parts lie apart.
 */
function firstSumsOf({ moves, layout, levels }: Problem) {
  const { target, chunk, chunks, reduces, rankCount, chunkCount } = moves;
  const first = new Int32Array(rankCount * chunkCount).fill(-1);
  for (let m = 0; m < target.length; m++) {
    if (reduces[m] === 0) continue;
    for (let at = target[m] * chunkCount + chunk[m], k = 0; k < chunks[m]; k++, at++)
      if (first[at] < 0 || levels.received[m] < levels.received[first[at]]) first[at] = m;
  }
  const places = Int32Array.from(first.keys()).filter(
    (at) => first[at] >= 0 && layout.start(Math.floor(at / chunkCount), at % chunkCount) !== NOWHERE,
  );
  const chunkOf = places.map((at) => at % chunkCount);
  const order = orderByColumns([chunkOf, places.map((at) => levels.received[first[at]])]);
  return {
    move: order.map((k) => first[places[k]]),
    rank: order.map((k) => Math.floor(places[k] / chunkCount)),
    chunk: order.map((k) => chunkOf[k]),
    level: order.map((k) => levels.received[first[places[k]]]),
  };
}

/** Returns which moves are certainly written, from which place at the end and up to which one; NOWHERE: who knows. */
function putsOf({ moves, layout, via, reads }: Problem) {
  const { source, target, chunk, chunks, reduces } = moves;
  const isPut = source.map((from, m) => (reduces[m] === 0 || !reads || via(from, target[m]) === "port" ? 1 : 0));
  const home = (m: number, c: number): number => (layout.free && reduces[m] === 0 ? layout.end(target[m], c) : NOWHERE);
  const first = source.map((_, m) => home(m, chunk[m]));
  const past = source.map((_, m) => {
    const end = home(m, chunk[m] + chunks[m] - 1);
    return end === NOWHERE ? NOWHERE : place(bufferOf(end), indexOf(end) + 1);
  });
  return { isPut, first, past };
}
