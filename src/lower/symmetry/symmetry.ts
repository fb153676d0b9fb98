import type { StepSchedule } from "../../model/steps/step-schedule.ts";
import { isOneToOne } from "../../model/symmetry/network-maps.ts";
import { type Departures, departuresOf, edgesOf } from "./departures.ts";
import { groupsOf } from "./generators.ts";

/** A permutation of the ranks, and one of the chunks that goes with it. */
export interface Renaming {
  /** [ranks] [chunks] */
  readonly rank: Int32Array;
  readonly chunk: Int32Array;
}

/**
 * Permutations of the ranks, each with one of the chunks, under which a schedule stays as it is; their products take rank 0 to
 * every rank. The image of something under rank r is its image under `generators[by[r]]` of what it is under `from[r]`.
 */
export interface Symmetry {
  readonly generators: readonly Renaming[];
  /** [ranks] in an order in which `from[r]` comes before r; 0 first. */
  readonly order: Int32Array;
  readonly from: Int32Array;
  readonly by: Int32Array;
}

/** What a schedule moves from and to rank 0, which stands for all: columns, [its transfers]. */
export interface RankZero {
  readonly departures: Departures;
  readonly symmetry: Symmetry;
  /** The rank that it is sent to, and the one that sends rank 0 the like. */
  readonly sendsTo: Int32Array;
  readonly comesFrom: Int32Array;
  /** The chunk as rank 0 calls it that sends it, and as rank 0 calls the like that it receives. */
  readonly chunk: Int32Array;
  readonly comesAs: Int32Array;
}

/**
 * Returns what rank 0 sends and receives under permutations that take it to every other rank and keep the schedule, or null
 * where none are found. That they keep all transfers, and that both ends of each call it by the same name, is held against every
 * transfer: how they were found does not matter. O(transfers log transfers of a rank).
 */
export function rankZeroOf(schedule: StepSchedule): RankZero | null {
  const departures = departuresOf(schedule);
  if (departures === null || !hasExactKeys(departures)) return null;
  const sorted = keysOf(departures);
  for (const ranks of groupsOf(edgesOf(departures))) {
    const generators = ranks.map((rank) => renamingOf(departures, sorted, rank));
    if (!generators.every((one): one is Renaming => one !== null)) continue;
    const symmetry = productsOf(generators);
    const zero = rankZeroUnder(departures, symmetry);
    if (keepsAll(zero, sorted)) return zero;
  }
  return null;
}

const hasExactKeys = ({ ranks, leaves, chunkCount }: Departures): boolean =>
  ranks * leaves.length * chunkCount <= Number.MAX_SAFE_INTEGER;

/** Returns a number for a transfer of a rank that no other has which differs from it. */
const keyOf = ({ leaves, chunkCount }: Departures, target: number, manner: number, chunk: number): number =>
  (target * leaves.length + manner) * chunkCount + chunk;

/** Returns the keys of the transfers of each rank in order, [ranks * perRank]. */
function keysOf(departures: Departures): Float64Array {
  const { target, manner, chunk, ranks, perRank } = departures;
  const keys = Float64Array.from(target, (to, at) => keyOf(departures, to, manner[at], chunk[at]));
  for (let rank = 0; rank < ranks; rank++) keys.subarray(rank * perRank, (rank + 1) * perRank).sort();
  return keys;
}

/** Returns a permutation of the ranks with one of the chunks under which rank 0 sends what its image does; null for none. */
function renamingOf(departures: Departures, sorted: Float64Array, rank: Int32Array): Renaming | null {
  const byBlocks = chunksByBlocks(departures, rank);
  if (keepsFirst(departures, sorted, { rank, chunk: byBlocks })) return { rank, chunk: byBlocks };
  if (!departures.oneBlock) return null;
  const chunk = chunksByTransfers(departures, sorted, rank);
  return chunk !== null && keepsFirst(departures, sorted, { rank, chunk }) ? { rank, chunk } : null;
}

/** Returns the chunks of blocks that belong to ranks, or pairs of ranks, when these are renamed. */
function chunksByBlocks({ ranks, chunkCount, schedule }: Departures, rank: Int32Array): Int32Array {
  const pairs = schedule.collective.kind === "alltoall";
  const perBlock = chunkCount / (pairs ? ranks * ranks : ranks);
  return Int32Array.from({ length: chunkCount }, (_, chunk) => {
    const block = Math.floor(chunk / perBlock);
    const image = pairs ? rank[Math.floor(block / ranks)] * ranks + rank[block % ranks] : rank[block];
    return image * perBlock + (chunk % perBlock);
  });
}

/** Returns the chunks that ranks' images send where the ranks send theirs; null where they do not send alike. O(transfers). */
function chunksByTransfers(departures: Departures, sorted: Float64Array, rank: Int32Array): Int32Array | null {
  const { target, manner, chunk, ranks, perRank, chunkCount } = departures;
  const images = new Int32Array(chunkCount).fill(-1);
  let missing = chunkCount;
  const mine = new Float64Array(perRank);
  for (let r = 0; r < ranks && missing > 0; r++) {
    for (let i = 0; i < perRank; i++) {
      const at = r * perRank + i;
      mine[i] = keyOf(departures, rank[target[at]], manner[at], chunk[at]);
    }
    mine.sort();
    for (let i = 0; i < perRank; i++) {
      const theirs = sorted[rank[r] * perRank + i];
      if (Math.floor(mine[i] / chunkCount) !== Math.floor(theirs / chunkCount)) return null;
      const own = mine[i] % chunkCount;
      if (images[own] < 0) {
        images[own] = theirs % chunkCount;
        missing--;
      }
    }
  }
  return isOneToOne(images) ? images : null;
}

/** Returns whether the image of rank 0 sends the image of what rank 0 sends. */
function keepsFirst(departures: Departures, sorted: Float64Array, { rank, chunk }: Renaming): boolean {
  const { target, manner, chunk: own, perRank } = departures;
  const keys = new Float64Array(perRank);
  for (let i = 0; i < perRank; i++) keys[i] = keyOf(departures, rank[target[i]], manner[i], chunk[own[i]]);
  keys.sort();
  return keys.every((key, i) => key === sorted[rank[0] * perRank + i]);
}

function productsOf(generators: readonly Renaming[]): Symmetry {
  const ranks = generators[0].rank.length;
  const from = new Int32Array(ranks).fill(-1);
  const by = new Int32Array(ranks);
  const order = [0];
  from[0] = 0;
  for (const rank of order) {
    generators.forEach((one, g) => {
      const image = one.rank[rank];
      if (from[image] >= 0) return;
      from[image] = rank;
      by[image] = g;
      order.push(image);
    });
  }
  return { generators, order: Int32Array.from(order), from, by };
}

/** Returns the images of values under every rank, [ranks * values]: under rank r those that `image` makes of those under from[r]. */
export function imagesOf(
  { order, from, by, generators }: Symmetry,
  values: Int32Array,
  image: (one: Renaming, value: number) => number,
): Int32Array {
  const many = values.length;
  const images = new Int32Array(order.length * many);
  images.set(values);
  for (const rank of order.subarray(1)) {
    const one = generators[by[rank]];
    for (let i = 0; i < many; i++) images[rank * many + i] = image(one, images[from[rank] * many + i]);
  }
  return images;
}

export const imageOfRank = ({ rank }: Renaming, value: number): number => rank[value];
export const imageOfChunk = ({ chunk }: Renaming, value: number): number => chunk[value];

/** Returns what rank 0 sends and receives, were the symmetry one of the schedule. */
function rankZeroUnder(departures: Departures, symmetry: Symmetry): RankZero {
  const { perRank } = departures;
  const backwards = symmetry.generators.map(({ rank, chunk }) => ({ rank: inverse(rank), chunk: inverse(chunk) }));
  const sendsTo = departures.target.slice(0, perRank);
  const chunk = departures.chunk.slice(0, perRank);
  const comesFrom = new Int32Array(perRank);
  const comesAs = chunk.slice();
  for (let i = 0; i < perRank; i++) {
    for (let rank = sendsTo[i]; rank !== 0; rank = symmetry.from[rank]) {
      const back = backwards[symmetry.by[rank]];
      comesFrom[i] = back.rank[comesFrom[i]];
      comesAs[i] = back.chunk[comesAs[i]];
    }
  }
  return { departures, symmetry, sendsTo, comesFrom, chunk, comesAs };
}

function inverse(images: Int32Array): Int32Array {
  const origin = new Int32Array(images.length);
  images.forEach((image, value) => {
    origin[image] = value;
  });
  return origin;
}

/** Returns whether every rank sends the image of what rank 0 sends, and both ends of it call it the same. O(transfers log). */
function keepsAll({ departures, symmetry, ...zero }: RankZero, sorted: Float64Array): boolean {
  const { ranks, perRank, manner } = departures;
  if (symmetry.order.length !== ranks) return false;
  const sendsTo = imagesOf(symmetry, zero.sendsTo, imageOfRank);
  const comesFrom = imagesOf(symmetry, zero.comesFrom, imageOfRank);
  const chunk = imagesOf(symmetry, zero.chunk, imageOfChunk);
  const comesAs = imagesOf(symmetry, zero.comesAs, imageOfChunk);
  const keys = new Float64Array(perRank);
  for (let rank = 0; rank < ranks; rank++) {
    for (let i = 0; i < perRank; i++) {
      const at = rank * perRank + i;
      const there = sendsTo[at] * perRank + i;
      if (comesFrom[there] !== rank || comesAs[there] !== chunk[at]) return false;
      keys[i] = keyOf(departures, sendsTo[at], manner[i], chunk[at]);
    }
    keys.sort();
    for (let i = 0; i < perRank; i++) if (keys[i] !== sorted[rank * perRank + i]) return false;
  }
  return true;
}

/**
 * Returns the transfers of a rank that are the images of those of rank 0, [its transfers] places among those of the rank.
 * O(transfers of a rank, log).
 */
export function transfersLikeZero({ departures, symmetry, ...zero }: RankZero, rank: number): Int32Array {
  const { perRank, target, manner, chunk } = departures;
  const sendsTo = imagesOf(symmetry, zero.sendsTo, imageOfRank).subarray(rank * perRank);
  const chunks = imagesOf(symmetry, zero.chunk, imageOfChunk).subarray(rank * perRank);
  const own = rank * perRank;
  const byKey = (keys: Float64Array) => Int32Array.from(keys.keys()).sort((a, b) => keys[a] - keys[b]);
  const places = new Float64Array(perRank);
  const images = places.map((_, i) => keyOf(departures, sendsTo[i], manner[i], chunks[i]));
  const theirs = places.map((_, i) => keyOf(departures, target[own + i], manner[own + i], chunk[own + i]));
  const order = byKey(theirs);
  const found = new Int32Array(perRank);
  byKey(images).forEach((i, place) => {
    found[i] = order[place];
  });
  return found;
}

/** Returns whether runs of this many chunks, the first at a multiple, stay runs in order under all renamings. O(chunks). */
export const keepsRuns = ({ generators }: Symmetry, size: number): boolean =>
  generators.every(({ chunk }) =>
    chunk.every((image, c) => (c % size === 0 ? image % size === 0 : image === chunk[c - 1] + 1)),
  );
