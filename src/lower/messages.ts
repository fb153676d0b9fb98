import { PairMap } from "../model/numbers/pairs.ts";
import { EventQueue } from "../model/replay/message-network.ts";
import { arrivingChunks, type Moves, toldRanks } from "./moves.ts";

/**
 * Which moves between two ranks become one message: none; those that leave while the first is still under way; or all whose
 * data is there when the first leaves. The later ones of a message leave earlier than the schedule says, the earlier ones
 * arrive later: good where latency counts, bad where bandwidth does.
 */
export type Joining = "apart" | "under way" | "ready";

/** Cells of a table of all chunks at all ranks at most; beyond, moves stay apart. */
const MOST_CELLS = 2 ** 27;

/**
 * Returns moves with neighbours made of what goes together: those of one message depart and arrive together, and the chunks of
 * every block are renumbered such that chunks of one course follow each other, and then those whose courses have more of
 * their first messages in common. Which bytes of a block are which chunk is free.
 *
 * A message leaves when the first of its moves does, and comes when the first does. A move joins one that leaves after all has come
 * that made its version of the chunk, so messages can happen in that order. One thing else can tell: where two ranks exchange
 * contributions, each must have left before the other comes. Elsewhere a rank sends a contribution once all that it adds up has
 * come, so what comes to it later of that chunk is the sum, which comes after the contribution left.
 * O(moves) and three tables of ranks x chunks.
 */
export function joinedMoves(moves: Moves, joining: Joining): Moves {
  const isTooLarge = moves.rankCount * moves.chunkCount > MOST_CELLS;
  const joined = joining === "apart" || isTooLarge ? moves : inMessages(moves, joining);
  return renumbered(joined);
}

/** When moves depart and arrive, picoseconds. */
export interface MoveTimes {
  readonly startPs: Float64Array;
  readonly endPs: Float64Array;
}

/**
 * Returns moves in the order of other times than those they were planned for, as far as no rank then sends another version of a
 * chunk than planned: what happens to a chunk at a rank keeps its order, but for departures among themselves and contributions
 * among themselves. Kahn's algorithm, the earliest event that can happen first. O(moves log moves) and a table of ranks x chunks.
 */
export function retimed(moves: Moves, { startPs, endPs }: MoveTimes): Moves {
  if (toldRanks(moves) * moves.chunkCount > MOST_CELLS) return moves;
  const count = moves.source.length;
  const { missing, first, next, after } = orderOf(moves);
  const queue = new EventQueue();
  const departsAt = new Int32Array(count);
  const arrivesAt = new Int32Array(count);
  const release = (node: number): void => {
    const m = node >> 1;
    if (node >= 2 * count) end(node);
    else if (node % 2 === 1) queue.push(endPs[m], node - 2 * count, node);
    else queue.push(startPs[m], node, node);
  };
  const end = (node: number): void => {
    for (let k = first[node]; k >= 0; k = next[k]) if (--missing[after[k]] === 0) release(after[k]);
  };
  for (let node = 0; node < 2 * count; node++) if (missing[node] === 0) release(node);
  for (let place = 0; queue.next(); place++) {
    const event = queue.payload;
    (event % 2 === 1 ? arrivesAt : departsAt)[event >> 1] = place;
    end(event);
  }
  return { ...moves, departsAt, arrivesAt };
}

/** Events in partial order: 2 x moves of them, then nodes that stand between two groups of events of a chunk at a rank. */
interface PartialOrder {
  /** [nodes] how many come right before it. */
  readonly missing: number[];
  /** [nodes] first of the pairs that it is the earlier of, -1: none; [pairs] the one after that; the later of the two. */
  readonly first: number[];
  readonly next: number[];
  readonly after: number[];
}

/** Returns which events must come before which: departures before arrivals, and group after group of a chunk at a rank. O(moves). */
function orderOf(moves: Moves): PartialOrder {
  const { source, target, chunk, chunks, reduces, chunkCount } = moves;
  const cells = toldRanks(moves) * chunkCount;
  const comesAs = arrivingChunks(moves);
  const events = eventsInOrder(moves);
  const missing = new Array<number>(events.length).fill(0);
  const first = new Array<number>(events.length).fill(-1);
  const next: number[] = [];
  const after: number[] = [];
  const orders = (before: number, later: number): void => {
    missing[later]++;
    after.push(later);
    first[before] = next.push(first[before]) - 1;
  };
  /** [ranks x chunks] what the group under way is of (departures 0, contributions 1), and the nodes before and after it. */
  const kindOf = new Int8Array(cells).fill(-1);
  const before = new Int32Array(cells).fill(-1);
  const behind = new Int32Array(cells).fill(-1);
  for (const event of events) {
    const m = event >> 1;
    const isArrival = event % 2 === 1;
    if (isArrival) orders(2 * m, event);
    const kind = isArrival ? (reduces[m] === 1 ? 1 : 2) : 0;
    const at = (isArrival ? target[m] : source[m]) * chunkCount + (isArrival ? comesAs[m] : chunk[m]);
    for (let cell = at; cell < at + chunks[m]; cell++) {
      if (kindOf[cell] !== kind || kind === 2) {
        kindOf[cell] = kind;
        before[cell] = behind[cell];
        behind[cell] = missing.push(0) - 1;
        first.push(-1);
      }
      if (before[cell] >= 0) orders(before[cell], event);
      orders(event, behind[cell]);
    }
  }
  return { missing, first, next, after };
}

/** Returns the moves of events in order: 2 x move for a departure, 2 x move + 1 for an arrival. */
export function eventsInOrder({ departsAt, arrivesAt }: Pick<Moves, "departsAt" | "arrivesAt">): Int32Array {
  const events = new Int32Array(2 * departsAt.length);
  for (let m = 0; m < departsAt.length; m++) {
    events[departsAt[m]] = 2 * m;
    events[arrivesAt[m]] = 2 * m + 1;
  }
  return events;
}

function inMessages(moves: Moves, joining: Exclude<Joining, "apart">): Moves {
  const { source, target, chunk, chunks, reduces, departsAt, arrivesAt, rankCount, chunkCount } = moves;
  const events = eventsInOrder(moves);
  const message = new Int32Array(source.length);
  /** [messages] first departure and first arrival of its moves. */
  const leavesAt: number[] = [];
  const comesAt: number[] = [];
  /** [ranks x chunks] arrival of the last message of those that made what is there; -1: it was there at the start. */
  const readyAt = new Int32Array(rankCount * chunkCount).fill(-1);
  /** [ranks x chunks] when the rank's contribution departs. */
  const contributesAt = new Int32Array(rankCount * chunkCount).fill(-1);
  for (let m = 0; m < source.length; m++) {
    const cell = source[m] * chunkCount + chunk[m];
    if (reduces[m] === 1) contributesAt.fill(departsAt[m], cell, cell + chunks[m]);
  }
  /** Returns the last departure of its target's contributions that a move comes after; -1: none. */
  const contributedBefore = (m: number): number => {
    const cell = target[m] * chunkCount + chunk[m];
    let latest = -1;
    for (let c = cell; reduces[m] === 1 && c < cell + chunks[m]; c++)
      if (contributesAt[c] < arrivesAt[m]) latest = Math.max(latest, contributesAt[c]);
    return latest;
  };
  /** [messages] what all of its moves come after. */
  const comesAfter: number[] = [];
  const open = new PairMap();
  for (const event of events) {
    const m = event >> 1;
    const cell = (event % 2 === 1 ? target[m] : source[m]) * chunkCount + chunk[m];
    if (event % 2 === 1) {
      for (let c = cell; c < cell + chunks[m]; c++)
        readyAt[c] = Math.max(reduces[m] === 1 ? readyAt[c] : -1, comesAt[message[m]]);
      continue;
    }
    const ready = readyAt.subarray(cell, cell + chunks[m]).reduce((last, at) => Math.max(last, at), -1);
    const from = source[m] * 2 + reduces[m];
    const last = open.get(from, target[m]);
    const after = contributedBefore(m);
    if (last >= 0) {
      const comes = Math.min(comesAt[last], arrivesAt[m]);
      const bothAfter = Math.max(comesAfter[last], after);
      if (ready < leavesAt[last] && bothAfter < comes && (joining === "ready" || departsAt[m] < comes)) {
        message[m] = last;
        comesAt[last] = comes;
        comesAfter[last] = bothAfter;
        continue;
      }
    }
    message[m] = leavesAt.push(departsAt[m]) - 1;
    comesAt.push(arrivesAt[m]);
    comesAfter.push(after);
    open.set(from, target[m], message[m]);
  }
  return { ...moves, message, ...inOrderOf(message, leavesAt, comesAt, chunk) };
}

/** Returns the places of events when messages depart and arrive as a whole; members in the order of their chunks. */
function inOrderOf(
  message: Int32Array,
  leavesAt: readonly number[],
  comesAt: readonly number[],
  chunk: Int32Array,
): Pick<Moves, "departsAt" | "arrivesAt"> {
  const count = message.length;
  const offset = new Int32Array(leavesAt.length + 1);
  for (const m of message) offset[m + 1]++;
  for (let m = 0; m < leavesAt.length; m++) offset[m + 1] += offset[m];
  const members = new Int32Array(count);
  const next = offset.slice();
  for (let move = 0; move < count; move++) members[next[message[move]]++] = move;
  const at = new Int32Array(2 * count).fill(-1);
  leavesAt.forEach((place, m) => {
    members.subarray(offset[m], offset[m + 1]).sort((a, b) => chunk[a] - chunk[b]);
    at[place] = 2 * m;
    at[comesAt[m]] = 2 * m + 1;
  });
  const departsAt = new Int32Array(count);
  const arrivesAt = new Int32Array(count);
  let event = 0;
  for (const one of at) {
    if (one < 0) continue;
    const places = one % 2 === 0 ? departsAt : arrivesAt;
    for (let k = offset[one >> 1]; k < offset[(one >> 1) + 1]; k++) places[members[k]] = event++;
  }
  return { departsAt, arrivesAt };
}

/** Returns the moves with the chunks of every block in the order of their courses. Moves of several chunks stay as they are. */
function renumbered(moves: Moves): Moves {
  const { chunk, chunks, source, target, reduces, message, chunkCount, chunksPerBlock } = moves;
  if (chunksPerBlock === 1 || chunks.some((many) => many > 1)) return moves;
  // a tree of courses: the child of a node for each message, or way, that comes next
  const node = new Int32Array(chunkCount);
  const parent: number[] = [-1];
  const nextOf = new PairMap();
  const ways = new PairMap();
  const wayOf = (m: number): number => message?.[m] ?? ways.number(source[m] * 2 + reduces[m], target[m]);
  for (const event of eventsInOrder(moves)) {
    if (event % 2 === 1) continue;
    const m = event >> 1;
    const next = 1 + nextOf.number(node[chunk[m]], wayOf(m));
    if (next === parent.length) parent.push(node[chunk[m]]);
    node[chunk[m]] = next;
  }
  const rank = ranksInTree(parent);
  const order = Int32Array.from({ length: chunkCount }, (_, c) => c);
  for (let first = 0; first < chunkCount; first += chunksPerBlock)
    order.subarray(first, first + chunksPerBlock).sort((a, b) => rank[node[a]] - rank[node[b]] || a - b);
  const number = new Int32Array(chunkCount);
  order.forEach((c, place) => {
    number[c] = place;
  });
  return { ...moves, chunk: chunk.map((c) => number[c]) };
}

/** Returns the number of each node of a tree when it is walked depth first, children in the order of their numbers. */
function ranksInTree(parent: readonly number[]): Int32Array {
  const size = new Int32Array(parent.length).fill(1);
  for (let node = parent.length - 1; node > 0; node--) size[parent[node]] += size[node];
  const rank = new Int32Array(parent.length);
  const next = new Int32Array(parent.length).fill(1);
  for (let node = 1; node < parent.length; node++) {
    rank[node] = rank[parent[node]] + next[parent[node]];
    next[parent[node]] += size[node];
  }
  return rank;
}
