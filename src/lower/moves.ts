import { InputError, inWords } from "../base/errors.ts";
import { optionName } from "../base/option-names.ts";
import type { Collective } from "../model/collective/collective.ts";
import { orderByTime } from "../model/numbers/ordering.ts";
import { PairMap } from "../model/numbers/pairs.ts";
import type { Schedule } from "../model/slots/slot-schedule.ts";
import { stepsOf, transfersOf } from "../model/steps/schedule.ts";
import {
  goesWithPrevious,
  hasMergedSends,
  OP_COPY,
  OP_REDUCE,
  type StepSchedule,
  transferCount,
} from "../model/steps/step-schedule.ts";
import type { Topology } from "../model/topology/topology.ts";
import { expandTrees } from "../model/trees/tree-expansion.ts";
import {
  copiesOf,
  demandForwarding,
  type Forest,
  groupOrder,
  isTreeFlow,
  listedTrees,
  type TreeFlow,
  treeCount,
} from "../model/trees/tree-flow.ts";
import { type Chunking, carriedChunks, chunkingOf } from "../model/trees/tree-steps.ts";
import { blockShapeOf } from "./block-shape.ts";
import type { Symmetry } from "./symmetry/symmetry.ts";

/** Above this many moves nothing is lowered: no runtime takes a fraction of them. */
const MOST_MOVES = 4e6;

/**
 * Returns what a schedule moves between ranks, in an order in which it can happen one after the other. Steps: their order in
 * time, arrivals before departures of the same time. Trees as `lanes`: tree by tree, one move for each edge, of all chunks that
 * the tree carries; a contribution's way up before the sum's way down; else level by level of all trees, chunk by chunk. Links,
 * switches and NPUs that only forward disappear: runtimes route by themselves.
 *
 * An all-reduce, a broadcast and a reduce are one block of chunks.
 *
 * Throws InputError for more than 4e6 moves, for several process groups, for trees whose switches duplicate or sum, and for
 * transfers that end or begin outside of the group. O(moves log moves).
 */
export function movesOf(schedule: Schedule | TreeFlow, lanes = true): Moves {
  const groups = schedule.collective.groupCount;
  if (groups !== 1) throw new InputError("a schedule to be lowered", "one process group", inWords(`${groups} groups`));
  if (isTreeFlow(schedule)) demandForwarding(schedule, "messages between GPUs");
  const moves = isTreeFlow(schedule)
    ? listedTrees(schedule) * groupOrder(schedule.symmetry) * (schedule.collective.groupSize - 1)
    : transfersOf(schedule);
  refuseMany(moves);
  return isTreeFlow(schedule) ? movesOfTrees(schedule, lanes) : movesOfSteps(stepsOf(schedule));
}

/** Throws InputError for more moves than are lowered. */
export function refuseMany(moves: number): void {
  if (moves > MOST_MOVES)
    throw new InputError("a schedule to be lowered", `at most ${MOST_MOVES} transfers`, moves)
      .as("out-of-range")
      .saying(
        `${moves} transfers are too many for a program, which is made of at most ${MOST_MOVES}; fewer chunks (${optionName("chunks")}) make fewer`,
      );
}

/** Above this many copies chunks are not numbered. */
const MOST_COPIES = 1e6;

/** A run of chunks of one root, and the trees of each forest that carry it. */
interface Lane {
  readonly chunk: number;
  readonly chunks: number;
  readonly trees: readonly number[];
}

interface MoveLists {
  readonly source: number[];
  readonly target: number[];
  readonly chunk: number[];
  readonly chunks: number[];
  readonly reduces: number[];
  readonly lane: number[];
}

/**
 * Returns the moves of a tree flow: a lane for each tree, or, where the two forests of an all-reduce cut a root's chunks
 * differently, for each run of chunks that has one tree in both. Lane after lane, each move follows the arrival of the one before.
 * A chunk is one copy of a tree. O(edges log edges).
 */
function movesOfTrees(flow: TreeFlow, asLanes: boolean): Moves {
  const copies = Number(copiesOf(flow.forests[0], flow.symmetry));
  if (copies > MOST_COPIES)
    throw new InputError("trees to be lowered", `at most ${MOST_COPIES} copies`, copies).as("out-of-range");
  const whole = expandTrees(flow);
  const chunking = chunkingOf(whole, 1);
  const { collective } = chunking;
  const single = collective.kind === "custom" || !asLanes;
  const lists: MoveLists = { source: [], target: [], chunk: [], chunks: [], reduces: [], lane: [] };
  const forests = whole.forests.map((forest) => edgesOutwards(whole, forest));
  lanesOf(whole, chunking).forEach((lane, number) => {
    forests.forEach((edges, f) => {
      addMoves(lists, edges, lane, lane.trees[f], number, single);
    });
  });
  const count = lists.source.length;
  return {
    collective,
    rankCount: collective.groupSize,
    rootRank: collective.rootRank,
    chunksPerBlock: blockShapeOf(collective).chunksPerBlock,
    chunkCount: collective.chunkCount,
    source: Int32Array.from(lists.source),
    target: Int32Array.from(lists.target),
    chunk: Int32Array.from(lists.chunk),
    chunks: Int32Array.from(lists.chunks),
    reduces: Uint8Array.from(lists.reduces),
    ...(asLanes
      ? {
          lane: Int32Array.from(lists.lane),
          departsAt: Int32Array.from({ length: count }, (_, i) => 2 * i),
          arrivesAt: Int32Array.from({ length: count }, (_, i) => 2 * i + 1),
        }
      : { lane: new Int32Array(count).fill(-1), ...byLevels(lists, collective.groupSize, collective.chunkCount) }),
  };
}

/** Moves between two ranks under way at a time, at most: as many as runtimes have channels between them. */
const MOST_AT_ONCE = 32;

/**
 * Returns the places of events when every rank sends a chunk on as soon as it may, and every move takes as long: arrivals before
 * departures. Where two ranks have more than `MOST_AT_ONCE` moves at a level, one of each pair of ranks takes place after the
 * other. Moves are in an order in which they can happen. O(moves log moves) and a table of ranks x chunks.
 */
function byLevels({ source, target, chunk }: MoveLists, ranks: number, chunks: number) {
  const level = new Int32Array(source.length);
  const there = new Int32Array(ranks * chunks);
  for (let m = 0; m < source.length; m++) {
    level[m] = there[source[m] * chunks + chunk[m]];
    const at = target[m] * chunks + chunk[m];
    there[at] = Math.max(there[at], level[m] + 1);
  }
  const turn = new Int32Array(source.length);
  const pairs = new PairMap();
  for (let m = 0; m < source.length; m++) {
    const before = pairs.get(source[m] * ranks + target[m], level[m]);
    turn[m] = before + 1;
    pairs.set(source[m] * ranks + target[m], level[m], turn[m]);
  }
  const turns = 1 + turn.reduce((most, t) => Math.max(most, t), 0);
  if (turns > MOST_AT_ONCE) for (let m = 0; m < level.length; m++) level[m] = level[m] * turns + turn[m];
  const order = Float64Array.from({ length: 2 * source.length }, (_, i) => {
    const m = i >> 1;
    return (2 * level[m] + (i % 2)) * 2 * source.length + m;
  });
  const departsAt = new Int32Array(source.length);
  const arrivesAt = new Int32Array(source.length);
  order.sort().forEach((key, place) => {
    const isArrival = Math.floor(key / (2 * source.length)) % 2 === 1;
    (isArrival ? arrivesAt : departsAt)[key % (2 * source.length)] = place;
  });
  return { departsAt, arrivesAt };
}

/** Returns the runs of chunks that no forest cuts, in the order of chunks. */
function lanesOf({ forests }: TreeFlow, chunking: Chunking): Lane[] {
  const begun = forests.map((forest) => {
    const { offset, chunk } = carriedChunks(forest, chunking);
    const tree = new Int32Array(chunk.length).fill(-1);
    for (let t = 0; t < treeCount(forest); t++) tree[chunk[offset[t]]] = t;
    return tree;
  });
  const lanes: Lane[] = [];
  const trees = forests.map(() => -1);
  let first = 0;
  const { chunkCount } = chunking.collective;
  for (let chunk = 0; chunk <= chunkCount; chunk++) {
    if (chunk < chunkCount && begun.every((tree) => tree[chunk] < 0)) continue;
    if (chunk > first) lanes.push({ chunk: first, chunks: chunk - first, trees: trees.slice() });
    if (chunk === chunkCount) break;
    first = chunk;
    begun.forEach((tree, f) => {
      if (tree[chunk] >= 0) trees[f] = tree[chunk];
    });
  }
  return lanes;
}

/** Edges of a forest as ranks; those of a tree in the order in which data can move over them. */
interface Edges {
  readonly inwards: boolean;
  readonly perTree: number;
  readonly near: Int32Array;
  readonly far: Int32Array;
}

/** Returns a forest's edges: outwards by their distance from the root, inwards by the height of what is beyond them. */
function edgesOutwards({ topology, collective }: TreeFlow, { direction, root, linkOffset, links }: Forest): Edges {
  const { linkSource, linkTarget } = topology;
  const inwards = direction === "in";
  const [nearOf, farOf] = inwards ? [linkTarget, linkSource] : [linkSource, linkTarget];
  const ranks = ranksOf(collective, topology);
  const perTree = collective.groupSize - 1;
  const near = new Int32Array(root.length * perTree);
  const far = new Int32Array(root.length * perTree);
  const level = new Int32Array(collective.groupSize);
  const parent = new Int32Array(collective.groupSize);
  for (let tree = 0; tree < root.length; tree++) {
    const first = tree * perTree;
    for (let edge = first; edge < first + perTree; edge++) {
      near[edge] = rankOf(ranks, nearOf[links[linkOffset[edge]]], topology);
      far[edge] = rankOf(ranks, farOf[links[linkOffset[edge + 1] - 1]], topology);
    }
    level.fill(0);
    if (inwards)
      for (let edge = first + perTree - 1; edge >= first; edge--)
        level[near[edge]] = Math.max(level[near[edge]], level[far[edge]] + 1);
    else for (let edge = first; edge < first + perTree; edge++) level[far[edge]] = level[near[edge]] + 1;
    for (let edge = first; edge < first + perTree; edge++) parent[far[edge]] = near[edge];
    far.subarray(first, first + perTree).sort((a, b) => level[a] - level[b] || a - b);
    for (let edge = first; edge < first + perTree; edge++) near[edge] = parent[far[edge]];
  }
  return { inwards, perTree, near, far };
}

/** Adds the moves of one tree for the chunks of a lane; chunk by chunk where each is a block of its own. */
function addMoves(lists: MoveLists, edges: Edges, lane: Lane, tree: number, number: number, single: boolean): void {
  const { inwards, perTree, near, far } = edges;
  const each = single ? 1 : lane.chunks;
  for (let edge = tree * perTree; edge < (tree + 1) * perTree; edge++) {
    for (let chunk = lane.chunk; chunk < lane.chunk + lane.chunks; chunk += each) {
      lists.source.push(inwards ? far[edge] : near[edge]);
      lists.target.push(inwards ? near[edge] : far[edge]);
      lists.chunk.push(chunk);
      lists.chunks.push(each);
      lists.reduces.push(inwards ? 1 : 0);
      lists.lane.push(number);
    }
  }
}

/** Returns the transfers of a step schedule of one group as moves, in the order of its rows. O(transfers log transfers). */
function movesOfSteps(schedule: StepSchedule): Moves {
  const { topology, collective, routes, startPs, endPs } = schedule;
  const count = transferCount(schedule);
  const ranks = ranksOf(collective, topology);
  const source = new Int32Array(count);
  const target = new Int32Array(count);
  for (let i = 0; i < count; i++) {
    source[i] = rankOf(ranks, routes.source[schedule.route[i]], topology);
    target[i] = rankOf(ranks, routes.target[schedule.route[i]], topology);
    if (!(endPs[i] > startPs[i]))
      throw new InputError(`transfer ${i} of a schedule to be lowered`, "an end after its start", endPs[i]);
  }
  const order = eventsInOrder(schedule, source, target);
  return {
    collective,
    rankCount: collective.groupSize,
    rootRank: collective.rootRank,
    chunksPerBlock: blockShapeOf(collective).chunksPerBlock,
    chunkCount: collective.chunkCount,
    source,
    target,
    chunk: Int32Array.from(schedule.chunk),
    chunks: new Int32Array(count).fill(1),
    reduces: schedule.op.map((op) => (op === OP_REDUCE ? 1 : 0)),
    lane: new Int32Array(count).fill(-1),
    ...order,
  };
}

/** Returns the rank of each NPU in the one group, -1 for outsiders. */
function ranksOf({ groupMembers }: Collective, { npuCount }: Topology): Int32Array {
  const ranks = new Int32Array(npuCount).fill(-1);
  groupMembers.forEach((npu, rank) => {
    ranks[npu] = rank;
  });
  return ranks;
}

/** Returns the rank of an NPU; throws InputError for an outsider, with what avoids it. */
function rankOf(ranks: Int32Array, npu: number, topology: Topology): number {
  if (ranks[npu] >= 0) return ranks[npu];
  throw new InputError(
    "a schedule to be lowered",
    `transfers between members of its process group (synthesize with ${optionName("outsiders")} none)`,
    inWords(`one at ${topology.nodeNames[npu]}`),
  );
}

/**
 * Returns the places of departures and arrivals in the order of events: at each time arrivals first, then departures. Chunks of
 * a merged send follow each other, each there before the next departs, where that changes no payload (`mayArriveAtOnce`).
 */
function eventsInOrder(
  schedule: StepSchedule,
  source: Int32Array,
  target: Int32Array,
): Pick<Moves, "departsAt" | "arrivesAt"> {
  const { startPs, endPs } = schedule;
  const atOnce = mayArriveAtOnce(schedule, source, target);
  const departures = orderByTime(startPs);
  const arrivals = atOnce === null ? orderByTime(endPs) : orderByTime(endPs).filter((move) => atOnce[move] === 0);
  const departsAt = new Int32Array(startPs.length);
  const arrivesAt = new Int32Array(startPs.length);
  const inGroup = downstreamFirst(source, target);
  let event = 0;
  let next = 0;
  const depart = (): void => {
    const move = departures[next++];
    departsAt[move] = event++;
    if (atOnce !== null && atOnce[move] === 1) arrivesAt[move] = event++;
  };
  for (let from = 0; from < arrivals.length; ) {
    const time = endPs[arrivals[from]];
    while (next < departures.length && startPs[departures[next]] < time) depart();
    let to = from + 1;
    while (to < arrivals.length && endPs[arrivals[to]] === time) to++;
    for (const move of inGroup(arrivals.subarray(from, to))) arrivesAt[move] = event++;
    from = to;
  }
  return { departsAt, arrivesAt };
}

/**
 * Returns for each transfer whether it may count as arrived at once where it departs, [transfers]; null where none need be.
 * It is asked of the chunks of a merged send but the last, so that they follow each other on one connection: messages of a
 * runtime are of neighbouring chunks, and one at a time is under way. (Neighbours that always go together are made one chunk
 * later; see `partsOf`.)
 *
 * A copy may always come early: nobody's copies change. In a reduction nothing else may happen meanwhile to what the target
 * holds of the chunk, but for contributions of others. O(transfers), times those of a chunk at a rank in reductions.
 */
function mayArriveAtOnce(schedule: StepSchedule, source: Int32Array, target: Int32Array): Uint8Array | null {
  if (!hasMergedSends(schedule)) return null;
  const { collective, chunk, op, startPs, endPs } = schedule;
  const atOnce = new Uint8Array(chunk.length);
  for (let i = 1; i < chunk.length; i++) if (goesWithPrevious(schedule, i)) atOnce[i - 1] = 1;
  if (!collective.reduces) return atOnce;

  const visits = new Map<number, number[]>();
  const keyOf = (rank: number, row: number): number => rank * collective.chunkCount + chunk[row];
  const visit = (rank: number, row: number): void => {
    const known = visits.get(keyOf(rank, row));
    if (known === undefined) visits.set(keyOf(rank, row), [row]);
    else known.push(row);
  };
  for (let i = 0; i < chunk.length; i++) {
    visit(source[i], i);
    visit(target[i], i);
  }
  return atOnce.map((asked, i) => {
    if (asked === 0) return 0;
    const rank = target[i];
    const isInTheWay = (other: number): boolean => {
      if (other === i) return false;
      if (source[other] === rank) return startPs[other] >= startPs[i] && startPs[other] < endPs[i];
      const both = op[other] !== OP_COPY && op[i] !== OP_COPY;
      return !both && endPs[other] >= startPs[i] && endPs[other] <= endPs[i];
    };
    return visits.get(keyOf(rank, i))?.some(isInTheWay) ? 0 : 1;
  });
}

/** Blocks that differ in size: where they begin, and what is summed of them. */
export interface UnequalBlocks {
  /** [blocks + 1] first chunk of each, and behind the last. */
  readonly start: Int32Array;
  /** [blocks] 1: summed over all who have it. */
  readonly sums: Uint8Array;
}

/** Of moves of rank 0 alone, which stands for all ranks; columns, [moves]. */
export interface Folded {
  readonly symmetry: Symmetry;
  /** The rank to which rank 0 sends it, and the one from which the like comes to rank 0. */
  readonly sendsTo: Int32Array;
  readonly comesFrom: Int32Array;
  /** First chunk of the like that comes to rank 0. */
  readonly comesAs: Int32Array;
}

/**
 * What a schedule moves between the ranks of its one group, in chunks of the program to be made. Columns; chunks are numbered
 * as the collective numbers its own, block by block, with `chunksPerBlock` to a block.
 *
 * A move departs with what its source holds of its chunks at that moment, and is there when it arrives: these 2 x moves events
 * happen in the order of `departsAt` and `arrivesAt`, which are the numbers 0 .. 2 x moves - 1.
 */
export interface Moves {
  /** Of one group; its own number of chunks says nothing here. */
  readonly collective: Collective;
  readonly rankCount: number;
  readonly rootRank: number;
  readonly chunksPerBlock: number;
  /** Of a custom collective, in place of blocks of `chunksPerBlock`; `collective` has a chunk for each of them. */
  readonly blocks?: UnequalBlocks;
  /** Over all blocks. */
  readonly chunkCount: number;
  /** [moves] ranks. */
  readonly source: Int32Array;
  readonly target: Int32Array;
  /** [moves] first chunk and number of chunks, all of one block. */
  readonly chunk: Int32Array;
  readonly chunks: Int32Array;
  /** [moves] 1: added to what the target holds. */
  readonly reduces: Uint8Array;
  /** [moves] moves of one lane follow each other through ranks (a tree of a forest); -1: none in particular. */
  readonly lane: Int32Array;
  /** [moves] those of one message depart and arrive together; without it each is one of its own. See `joinedMoves`. */
  readonly message?: Int32Array;
  /** [moves] */
  readonly departsAt: Int32Array;
  readonly arrivesAt: Int32Array;
  /** `source` and `target` are 0 then: a move is one that rank 0 sends, and its like that rank 0 receives. */
  readonly folded?: Folded;
}

/** Returns the first chunk of each move where it arrives. */
export const arrivingChunks = ({ chunk, folded }: Pick<Moves, "chunk" | "folded">): Int32Array =>
  folded?.comesAs ?? chunk;

/** Returns how many ranks there are whose moves are told. */
export const toldRanks = ({ rankCount, folded }: Pick<Moves, "rankCount" | "folded">): number =>
  folded === undefined ? rankCount : 1;

/**
 * Returns a function that puts moves which arrive at the same time in order: where it can be had, those that come to a rank
 * after those that leave it, so that what the rank passes on finds its connection free. Where moves run in circles, one of the
 * circle comes too early. Deterministic: a depth-first search through ranks in ascending order. O(moves log moves).
 */
export function downstreamFirst(source: Int32Array, target: Int32Array): (moves: Uint32Array) => Uint32Array {
  const ranks = source.reduce((most, rank, i) => Math.max(most, rank + 1, target[i] + 1), 0);
  const firstFrom = new Int32Array(ranks).fill(-1);
  const cursor = new Int32Array(ranks);
  const place = new Int32Array(ranks);
  return (moves) => {
    if (moves.length < 2) return moves;
    const bySource = moves.slice().sort((a, b) => source[a] - source[b] || target[a] - target[b] || a - b);
    bySource.forEach((move, i) => {
      if (i === 0 || source[bySource[i - 1]] !== source[move]) firstFrom[source[move]] = i;
    });
    let placed = 0;
    const seen: number[] = [];
    const visit = (rank: number): void => {
      cursor[rank] = firstFrom[rank] < 0 ? moves.length : firstFrom[rank];
      place[rank] = -1;
      seen.push(rank);
    };
    for (const move of moves) {
      place[source[move]] = -2;
      place[target[move]] = -2;
    }
    for (const move of bySource) {
      if (place[source[move]] !== -2) continue;
      const stack = [source[move]];
      visit(source[move]);
      while (stack.length > 0) {
        const rank = stack[stack.length - 1];
        const next = bySource[cursor[rank]];
        if (cursor[rank] < moves.length && source[next] === rank) {
          cursor[rank]++;
          if (place[target[next]] !== -2) continue;
          stack.push(target[next]);
          visit(target[next]);
        } else {
          place[rank] = placed++;
          stack.pop();
        }
      }
    }
    for (const rank of seen) firstFrom[rank] = -1;
    return moves.slice().sort((a, b) => place[target[a]] - place[target[b]] || a - b);
  };
}
