import type { Moves } from "./moves.ts";

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
 * every block are numbered anew such that chunks of one course follow each other, and then those whose courses have more of
 * their first messages in common. Which bytes of a block are which chunk is free.
 *
 * Moves join a message where nothing else can tell: its source has held the same version of their chunk since the message left,
 * and nothing happens to the chunk at the target, but other contributions, between the first arrival of the message and theirs.
 * Then messages can happen in the order of their first departures and first arrivals: whatever one depends on comes before it.
 * O(moves) and two tables of ranks x chunks.
 */
export function joinedMoves(moves: Moves, joining: Joining): Moves {
  const isTooLarge = moves.rankCount * moves.chunkCount > MOST_CELLS;
  const joined = joining === "apart" || isTooLarge ? moves : inMessages(moves, joining);
  return renumbered(joined);
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
  const { source, target, chunk, reduces, departsAt, arrivesAt, rankCount } = moves;
  const count = source.length;
  const events = eventsInOrder(moves);
  const { versionAt, settledAt } = historyOf(moves, events);
  const message = new Int32Array(count);
  const leavesAt: number[] = [];
  const comesAt: number[] = [];
  /** [messages] last event that must come before its arrival. */
  const settled: number[] = [];
  const open = new Map<number, number>();
  for (const event of events) {
    if (event % 2 === 1) continue;
    const m = event >> 1;
    const connection = (source[m] * rankCount + target[m]) * 2 + reduces[m];
    const last = open.get(connection);
    if (last !== undefined) {
      const comes = Math.min(comesAt[last], arrivesAt[m]);
      const isReady = versionAt[m] < leavesAt[last] && Math.max(settled[last], settledAt[m]) < comes;
      if (isReady && (joining === "ready" || departsAt[m] < comes)) {
        message[m] = last;
        comesAt[last] = comes;
        settled[last] = Math.max(settled[last], settledAt[m]);
        continue;
      }
    }
    message[m] = leavesAt.push(departsAt[m]) - 1;
    comesAt.push(arrivesAt[m]);
    settled.push(settledAt[m]);
    open.set(connection, message[m]);
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

/**
 * Returns for each move the event that made the version it carries (-1: it was there at the start), and the last event at its
 * target that must come before its arrival: one of its chunk, but for a contribution before a contribution.
 */
function historyOf({ source, target, chunk, chunks, reduces, chunkCount, rankCount }: Moves, events: Int32Array) {
  const versionAt = new Int32Array(source.length).fill(-1);
  const settledAt = new Int32Array(source.length).fill(-1);
  const lastArrival = new Int32Array(rankCount * chunkCount).fill(-1);
  /** Last event, and last that is no contribution. */
  const lastEvent = new Int32Array(rankCount * chunkCount).fill(-1);
  const lastOther = new Int32Array(rankCount * chunkCount).fill(-1);
  for (let at = 0; at < events.length; at++) {
    const m = events[at] >> 1;
    const isArrival = events[at] % 2 === 1;
    const rank = isArrival ? target[m] : source[m];
    for (let c = chunk[m]; c < chunk[m] + chunks[m]; c++) {
      const cell = rank * chunkCount + c;
      if (isArrival) settledAt[m] = Math.max(settledAt[m], reduces[m] === 1 ? lastOther[cell] : lastEvent[cell]);
      else versionAt[m] = Math.max(versionAt[m], lastArrival[cell]);
      if (isArrival) lastArrival[cell] = at;
      lastEvent[cell] = at;
      if (!isArrival || reduces[m] === 0) lastOther[cell] = at;
    }
  }
  return { versionAt, settledAt };
}

/** Returns the moves with the chunks of every block in the order of their courses. Moves of several chunks stay as they are. */
function renumbered(moves: Moves): Moves {
  const { chunk, chunks, source, target, reduces, message, rankCount, chunkCount, chunksPerBlock } = moves;
  if (chunksPerBlock === 1 || chunks.some((many) => many > 1)) return moves;
  // a tree of courses: the child of a node for each message, or way, that comes next
  const node = new Int32Array(chunkCount);
  const parent: number[] = [-1];
  const nextOf = new Map<number, number>();
  const ways = new Map<number, number>();
  const wayOf = (m: number): number => {
    if (message !== undefined) return message[m];
    const key = (source[m] * rankCount + target[m]) * 2 + reduces[m];
    const known = ways.get(key) ?? ways.size;
    ways.set(key, known);
    return known;
  };
  const width = chunk.length + 1;
  for (const event of eventsInOrder(moves)) {
    if (event % 2 === 1) continue;
    const m = event >> 1;
    const key = node[chunk[m]] * width + wayOf(m);
    const known = nextOf.get(key) ?? parent.push(node[chunk[m]]) - 1;
    nextOf.set(key, known);
    node[chunk[m]] = known;
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
