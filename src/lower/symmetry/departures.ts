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
  /** [ranks * perRank] number of what it is else: when it departs and arrives, and whether it is added. */
  readonly manner: Int32Array;
  readonly manners: number;
}

/** Kinds of collectives in which all ranks are alike. */
const ALIKE: ReadonlySet<string> = new Set(["allgather", "reducescatter", "alltoall", "allreduce"]);

/**
 * Returns the transfers of a schedule by rank, or null where its ranks cannot be alike: their numbers of transfers differ, one
 * sends at a time or in a way in which others do not, or the collective has a root. O(transfers).
 */
export function departuresOf(schedule: StepSchedule): Departures | null {
  const { collective, topology, routes, route, chunk, startPs, endPs, op } = schedule;
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
  const manner = new Int32Array(count);
  const filled = new Int32Array(ranks);
  const numbers = new PairMap();
  const ends = new Map<number, number>();
  const endOf = (ps: number): number => {
    const known = ends.get(ps) ?? ends.size;
    if (known === ends.size) ends.set(ps, known);
    return known;
  };
  let start = 0;
  let now = -1;
  for (let i = 0; i < count; i++) {
    const from = rankOf[routes.source[route[i]]];
    const isSame = i > 0 && startPs[i] === startPs[i - 1];
    if (!(endPs[i] > startPs[i]) || from < 0 || rankOf[routes.target[route[i]]] < 0) return null;
    if (!isSame) start++;
    if (!isSame || endPs[i] !== endPs[i - 1] || op[i] !== op[i - 1])
      now = numbers.number(start, 2 * endOf(endPs[i]) + (op[i] === OP_REDUCE ? 1 : 0));
    if (filled[from] === perRank || numbers.size > perRank) return null;
    const at = from * perRank + filled[from]++;
    row[at] = i;
    manner[at] = now;
  }
  return {
    ranks,
    schedule,
    chunkCount: collective.chunkCount,
    ...blockShapeOf(collective),
    perRank,
    row,
    target: row.map((i) => rankOf[routes.target[route[i]]]),
    chunk: row.map((i) => chunk[i]),
    manner,
    manners: numbers.size,
  };
}

/** Pairs of ranks of which one sends to the other, and a number for what it sends. */
export interface Edges {
  /** [ranks + 1] edges that leave a rank. */
  readonly offset: Int32Array;
  /** [edges] */
  readonly target: Int32Array;
  /** [edges] equal where two pairs send alike: as much, at the same times, in the same ways. */
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
