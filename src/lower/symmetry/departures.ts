import { orderByTime } from "../../model/numbers/ordering.ts";
import { PairMap } from "../../model/numbers/pairs.ts";
import { OP_REDUCE, type StepSchedule, transferCount } from "../../model/steps/step-schedule.ts";
import { type BlockShape, blockShapeOf } from "../block-shape.ts";

/** The transfers of a step schedule of one group, rank by rank; those of a rank in the order of the schedule. Columns. */
export interface Departures extends BlockShape {
  readonly ranks: number;
  readonly chunkCount: number;
  readonly schedule: StepSchedule;
  /** Of every rank. */
  readonly perRank: number;
  /** [ranks * perRank] row of the schedule, target, chunk. */
  readonly row: Int32Array;
  readonly target: Int32Array;
  readonly chunk: Int32Array;
  /** [ranks * perRank] number of what it is else: on which levels it departs and arrives, and whether it is added. */
  readonly manner: Int32Array;
  /** [manners] those levels. */
  readonly leaves: Int32Array;
  readonly comes: Int32Array;
}

/** Kinds of collectives in which all ranks are alike. */
const ALIKE: ReadonlySet<string> = new Set(["allgather", "reducescatter", "alltoall", "allreduce"]);

/**
 * Returns the transfers of a schedule by rank, or null where its ranks cannot be alike: their numbers of transfers differ, or the
 * collective has a root.
 *
 * Of times only the order counts in which things happen to a chunk at a rank, for it says what transfers carry. It is told by
 * levels: a transfer departs on the level of what it carries, and arrives on a higher one, above all departures of the chunk from
 * there until then; what is added at once may be on one level. So arrivals, then departures, level by level, is an order in which
 * everything carries what it is to. Levels are those of longest ways through what must precede, hence the same for ranks that are
 * alike, however long their links are. O(transfers), and sorting them by their ends.
 */
export function departuresOf(schedule: StepSchedule): Departures | null {
  const { collective, topology, routes, route, chunk, startPs, endPs } = schedule;
  const count = transferCount(schedule);
  const ranks = collective.groupSize;
  if (!ALIKE.has(collective.kind) || collective.groupCount !== 1) return null;
  if (count === 0 || ranks < 2 || count % ranks !== 0) return null;
  const perRank = count / ranks;
  const rankOf = new Int32Array(topology.npuCount).fill(-1);
  collective.groupMembers.forEach((npu, rank) => {
    rankOf[npu] = rank;
  });

  const row = new Int32Array(count);
  const source = new Int32Array(count);
  const target = new Int32Array(count);
  const filled = new Int32Array(ranks);
  for (let i = 0; i < count; i++) {
    source[i] = rankOf[routes.source[route[i]]];
    target[i] = rankOf[routes.target[route[i]]];
    if (!(endPs[i] > startPs[i]) || source[i] < 0 || target[i] < 0 || filled[source[i]] === perRank) return null;
    row[source[i] * perRank + filled[source[i]]++] = i;
  }
  const { manner, leaves, comes } = levelsOf(schedule, source, target);
  return {
    ranks,
    schedule,
    chunkCount: collective.chunkCount,
    ...blockShapeOf(collective),
    perRank,
    row,
    target: row.map((i) => target[i]),
    chunk: row.map((i) => chunk[i]),
    manner: row.map((i) => manner[i]),
    leaves,
    comes,
  };
}

/** Cells of a table of all chunks at all ranks at most; beyond, those are numbered that are come across. */
const MOST_CELLS = 2 ** 26;

/** Returns the levels of transfers, numbered together with whether they are added. See `departuresOf`. */
function levelsOf({ collective, chunk, op, startPs, endPs }: StepSchedule, source: Int32Array, target: Int32Array) {
  const count = chunk.length;
  const { chunkCount, groupSize } = collective;
  const isDense = groupSize * chunkCount <= MOST_CELLS;
  const numbers = new PairMap();
  const cellOf = (rank: number, c: number): number => (isDense ? rank * chunkCount + c : numbers.number(rank, c));
  const cells = isDense ? groupSize * chunkCount : 2 * count;
  /** [cells] highest level of an arrival, of a departure, and of an arrival that was not added. */
  const there = new Int32Array(cells);
  const gone = new Int32Array(cells).fill(-1);
  const copied = new Int32Array(cells).fill(-1);
  const departs = new Int32Array(count);
  const kinds = new PairMap();
  const leaves: number[] = [];
  const comes: number[] = [];
  const manner = new Int32Array(count);
  const arrive = (i: number): void => {
    const cell = cellOf(target[i], chunk[i]);
    const adds = op[i] === OP_REDUCE ? 1 : 0;
    const before = Math.max(departs[i], gone[cell], adds === 1 ? copied[cell] : there[cell]);
    const level = before + 1;
    there[cell] = Math.max(there[cell], level);
    if (adds === 0) copied[cell] = level;
    manner[i] = kinds.number(2 * departs[i] + adds, level);
    if (manner[i] < leaves.length) return;
    leaves.push(departs[i]);
    comes.push(level);
  };
  const arrivals = orderByTime(endPs);
  let next = 0;
  for (let i = 0; i < count; i++) {
    while (next < count && endPs[arrivals[next]] <= startPs[i]) arrive(arrivals[next++]);
    const cell = cellOf(source[i], chunk[i]);
    departs[i] = there[cell];
    gone[cell] = Math.max(gone[cell], there[cell]);
  }
  while (next < count) arrive(arrivals[next++]);
  return { manner, leaves: Int32Array.from(leaves), comes: Int32Array.from(comes) };
}

/** Pairs of ranks of which one sends to the other, and a number for what it sends. */
export interface Edges {
  /** [ranks + 1] edges that leave a rank. */
  readonly offset: Int32Array;
  /** [edges] */
  readonly target: Int32Array;
  /** [edges] equal where two pairs send alike: as much, on the same levels, in the same ways. */
  readonly label: Int32Array;
  /** Returns the label between two ranks, -1: the one sends nothing to the other. */
  readonly labelOf: (source: number, target: number) => number;
}

/** Returns who sends to whom. Labels are by sums of hashes, so unequal edges may, if rarely, look equal. O(transfers). */
export function edgesOf({ ranks, perRank, target, chunk, manner, chunksPerBlock, oneBlock }: Departures): Edges {
  const numbers = new PairMap();
  const edgeOf = new Int32Array(target.length);
  const source: number[] = [];
  const targets: number[] = [];
  for (let at = 0; at < target.length; at++) {
    const from = Math.floor(at / perRank);
    edgeOf[at] = numbers.number(from, target[at]);
    if (edgeOf[at] < source.length) continue;
    source.push(from);
    targets.push(target[at]);
  }
  const sums = new Int32Array(2 * source.length);
  for (let at = 0; at < target.length; at++) {
    const what = oneBlock ? manner[at] : manner[at] * chunksPerBlock + (chunk[at] % chunksPerBlock);
    const mixed = Math.imul(what + 1, 0x9e3779b1);
    sums[2 * edgeOf[at]] += Math.imul(mixed ^ (mixed >>> 15), 0x2c1b3c6d);
    sums[2 * edgeOf[at] + 1] += Math.imul(mixed ^ (mixed >>> 13), 0x85ebca6b) | 1;
  }
  const labels = new PairMap();
  const label = Int32Array.from(source, (_, e) => labels.number(sums[2 * e], sums[2 * e + 1]));
  const offset = new Int32Array(ranks + 1);
  for (const from of source) offset[from + 1]++;
  for (let r = 0; r < ranks; r++) offset[r + 1] += offset[r];
  return {
    offset,
    target: Int32Array.from(targets),
    label,
    labelOf(from, to) {
      const edge = numbers.get(from, to);
      return edge < 0 ? -1 : label[edge];
    },
  };
}
