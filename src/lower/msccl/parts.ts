import { growingInt32 } from "../../model/numbers/column.ts";
import { PairMap } from "../../model/numbers/pairs.ts";
import { greatestCommon, startsOfCourses } from "../courses.ts";
import { blockOfChunk, cutBlocks } from "../custom.ts";
import { eventsInOrder } from "../messages.ts";
import { type Moves, toldRanks, type UnequalBlocks } from "../moves.ts";
import { keepsRuns } from "../symmetry/symmetry.ts";

/**
 * Moves of whole parts: a part is a run of chunks that always travel together. Chunks are those of the program. A hop is what one
 * instruction sends: a part, or several that are neighbours at both ends (see `joinNeighbours`).
 */
export interface Parts {
  readonly moves: Moves;
  /** Ranks that are lowered: all, or rank 0 for all where moves are folded; then peers are told by pairs alone. */
  readonly ranks: number;
  /** Parts follow lanes: trees. */
  readonly laned: boolean;
  /** Between the way up of a part and its way down there are others in the order of events. */
  readonly sumsLast: boolean;
  /** Chunks of the program to a block, and in all. */
  readonly chunksPerBlock: number;
  readonly blocks?: UnequalBlocks;
  readonly chunkCount: number;
  /** Chunks of the moves to a chunk of the program, were these not cut. */
  readonly coarser: number;
  readonly instances: number;
  /** Chunks from one multiple of this to the next are neighbours in the same order at all ranks that rank 0 stands for. */
  readonly unit: number;
  /** [parts] first chunk, number of chunks, and which of the instances. */
  readonly first: Int32Array;
  readonly size: Int32Array;
  readonly instance: Int32Array;
  /** [parts] first part of its run, whose parts all take the same course. */
  readonly leader: Int32Array;
  /** [hops] ranks, first part, chunks of all its parts, 1: added to what the target holds. */
  readonly source: Int32Array;
  readonly target: Int32Array;
  readonly part: Int32Array;
  readonly chunks: Int32Array;
  readonly reduces: Uint8Array;
  /** [hops] the pair of ranks; [pairs] its ranks, and what each calls the other. */
  readonly pair: Int32Array;
  readonly pairSource: Int32Array;
  readonly pairTarget: Int32Array;
  readonly sendsTo: Int32Array;
  readonly comesFrom: Int32Array;
  /** [hops + 1] parts of a hop, in order: hopParts[hopFrom[h]] .. hopParts[hopFrom[h + 1] - 1]. */
  readonly hopFrom: Int32Array;
  readonly hopParts: Int32Array;
  /** The same as the ranks call them to which they come: other numbers only where moves are folded. */
  readonly comingParts: Int32Array;
  /** [hops] message to which it belongs. */
  readonly message: Int32Array;
  /** [2 x hops] what happens, in order: 2 x hop is a departure, 2 x hop + 1 an arrival. */
  readonly events: Int32Array;
  /** [hops] their places in `events`. */
  readonly departsAt: Int32Array;
  readonly arrivesAt: Int32Array;
}

/** How parts of lanes are cut and ordered. */
export interface Pace {
  /** Chunks of a part at most. */
  readonly mostChunks: number;
  /** Every chunk is cut into this many, which are of one run. */
  readonly finer: number;
  /** All contributions come before all sums, unless lanes have one part; else a part goes down as soon as it is up. */
  readonly sumsLast: boolean;
}

/**
 * Returns the moves by parts. Neighbouring chunks with the same course are one run where lanes are given, cut into parts of at
 * most `mostChunks`; else all chunks are made as much coarser as their courses allow, and each is a part. Every chunk is cut into
 * `instances`, which do not meet, and these are cut by the pace: those of a block follow each other, so that parts stay in one
 * piece.
 *
 * Lanes: parts do not depend on each other, so events are ordered such that all lanes are through with the same share of their
 * parts at any time. Else events are ordered as the moves are.
 * O(hops log hops).
 */
export function partsOf(moves: Moves, instances: number, pace: Pace): Parts {
  const { chunk, chunks, lane, source, chunksPerBlock, folded } = moves;
  const cuts = instances * pace.finer;
  const laned = lane.length > 0 && lane[0] >= 0;
  // chunks that go together at rank 0 need not be neighbours at others
  const starts =
    folded === undefined ? startsOfCourses(moves) : Int32Array.from({ length: moves.chunkCount }, (_, c) => c);
  const coarser = starts.reduce(greatestCommon, moves.blocks === undefined ? chunksPerBlock : moves.chunkCount);
  const firsts =
    laned || moves.blocks !== undefined
      ? starts
      : Int32Array.from({ length: moves.chunkCount / coarser }, (_, i) => i * coarser);
  const perBlock = chunksPerBlock / coarser;

  const chunkCount = (moves.chunkCount / coarser) * cuts;
  const unit = folded === undefined ? chunkCount : keepsRuns(folded.symmetry, chunksPerBlock) ? perBlock * cuts : 1;
  const { first, size, instance, leader, share, partsFrom } = cutRuns(firsts, moves, coarser, instances, pace);
  const hops = growingInt32();
  const part = growingInt32();
  const coming = growingInt32();
  const message = growingInt32();
  const hopsFrom = new Int32Array(source.length + 1);
  for (let m = 0; m < source.length; m++) {
    let run = lowerBound(firsts, chunk[m]);
    const partsOn = folded === undefined ? 0 : partsFrom[lowerBound(firsts, folded.comesAs[m])] - partsFrom[run];
    for (; run < firsts.length && firsts[run] < chunk[m] + chunks[m]; run++) {
      for (let p = partsFrom[run]; p < partsFrom[run + 1]; p++) {
        hops.push(m);
        part.push(p);
        coming.push(p + partsOn);
        message.push((moves.message?.[m] ?? m) * instances + instance[p]);
      }
    }
    hopsFrom[m + 1] = hops.length;
  }
  const moveOfHop = hops.whole();
  const partOfHop = part.whole();
  const sumsLast = laned && pace.sumsLast && leader.some((lead, p) => lead < p);
  const reduces = new Uint8Array(moveOfHop.length);
  moveOfHop.forEach((m, hop) => {
    reduces[hop] = moves.reduces[m];
  });
  const unordered = eventsOf(moves, hopsFrom);
  const events = laned ? inStep(unordered, partOfHop, share, (hop) => sumsLast && reduces[hop] === 0) : unordered;
  const pairs = new PairMap();
  const sendsTo = folded?.sendsTo ?? moves.target;
  const comesFrom = folded?.comesFrom ?? source;
  const pairOfMove = source.map((rank, m) => pairs.number(rank, sendsTo[m]));
  const ofPairs = (ofMoves: Int32Array): Int32Array => {
    const values = new Int32Array(pairs.size);
    pairOfMove.forEach((pair, m) => {
      values[pair] = ofMoves[m];
    });
    return values;
  };
  return {
    moves,
    ranks: toldRanks(moves),
    laned,
    pair: moveOfHop.map((m) => pairOfMove[m]),
    pairSource: ofPairs(source),
    pairTarget: ofPairs(moves.target),
    sendsTo: ofPairs(sendsTo),
    comesFrom: ofPairs(comesFrom),
    sumsLast,
    chunksPerBlock: perBlock * cuts,
    ...(moves.blocks === undefined ? {} : { blocks: cutBlocks(moves.blocks, cuts, coarser) }),
    chunkCount,
    coarser,
    instances,
    unit,
    first: Int32Array.from(first),
    size: Int32Array.from(size),
    instance: Int32Array.from(instance),
    leader: Int32Array.from(leader),
    source: moveOfHop.map((m) => source[m]),
    target: moveOfHop.map((m) => moves.target[m]),
    part: partOfHop,
    chunks: partOfHop.map((p) => size[p]),
    reduces,
    hopFrom: Int32Array.from({ length: moveOfHop.length + 1 }, (_, hop) => hop),
    hopParts: partOfHop,
    comingParts: folded === undefined ? partOfHop : coming.whole(),
    message: message.whole(),
    ...placedIn(events),
  };
}

/** Returns events with their places. */
export function placedIn(events: Int32Array): Pick<Parts, "events" | "departsAt" | "arrivesAt"> {
  const departsAt = new Int32Array(events.length / 2);
  const arrivesAt = new Int32Array(events.length / 2);
  events.forEach((event, at) => {
    (event % 2 === 0 ? departsAt : arrivesAt)[event >> 1] = at;
  });
  return { events, departsAt, arrivesAt };
}

/** Returns the parts of the runs that begin at these chunks; those of run i are partsFrom[i] .. partsFrom[i + 1] - 1. */
function cutRuns(
  firsts: Int32Array,
  { chunkCount, chunksPerBlock, blocks }: Moves,
  coarser: number,
  instances: number,
  { mostChunks, finer }: Pace,
) {
  const cuts = instances * finer;
  const blockAt = (at: number): readonly [first: number, chunks: number] => {
    if (blocks === undefined) return [at - (at % (chunksPerBlock / coarser)), chunksPerBlock / coarser];
    const b = blockOfChunk(blocks, at * coarser);
    return [blocks.start[b] / coarser, (blocks.start[b + 1] - blocks.start[b]) / coarser];
  };
  const first: number[] = [];
  const size: number[] = [];
  const instance: number[] = [];
  const leader: number[] = [];
  /** [parts] share of its run that is through when half of it is. */
  const share: number[] = [];
  const partsFrom = new Int32Array(firsts.length + 1);
  firsts.forEach((begin, i) => {
    const many = ((firsts[i + 1] ?? chunkCount) - begin) / coarser;
    const at = begin / coarser;
    const [blockFirst, perBlock] = blockAt(at);
    const inBlock = at - blockFirst;
    for (let k = 0, lead = 0; k < cuts; k++) {
      if (k % finer === 0) lead = first.length;
      for (let done = 0; done < many; done += mostChunks) {
        const chunksHere = Math.min(mostChunks, many - done);
        first.push(blockFirst * cuts + k * perBlock + inBlock + done);
        size.push(chunksHere);
        instance.push(Math.floor(k / finer));
        leader.push(lead);
        share.push(((k % finer) * many + done + chunksHere / 2) / (many * finer));
      }
    }
    partsFrom[i + 1] = first.length;
  });
  return { first, size, instance, leader, share, partsFrom };
}

/** Returns the events of hops in the order of those of the moves. */
function eventsOf(moves: Moves, hopsFrom: Int32Array): Int32Array {
  const events = new Int32Array(2 * hopsFrom[hopsFrom.length - 1]);
  let next = 0;
  for (const event of eventsInOrder(moves)) {
    const m = event >> 1;
    for (let hop = hopsFrom[m]; hop < hopsFrom[m + 1]; hop++) events[next++] = 2 * hop + (event & 1);
  }
  return events;
}

/**
 * Returns events by the shares of their parts, those that are `late` after all others, then by parts; those of a part and a time
 * in the order in which they are. O(events + parts log parts).
 */
function inStep(
  events: Int32Array,
  part: Int32Array,
  share: readonly number[],
  late: (hop: number) => boolean,
): Int32Array {
  const timeOf = (place: number): number => share[place >> 1] + (place & 1);
  const places = Int32Array.from({ length: 2 * share.length }, (_, i) => i);
  places.sort((a, b) => timeOf(a) - timeOf(b) || a - b);
  const placeOf = (hop: number): number => 2 * part[hop] + (late(hop) ? 1 : 0);
  const next = new Int32Array(2 * share.length);
  for (const event of events) next[placeOf(event >> 1)]++;
  let from = 0;
  for (const place of places) {
    const many = next[place];
    next[place] = from;
    from += many;
  }
  const ordered = new Int32Array(events.length);
  for (const event of events) ordered[next[placeOf(event >> 1)]++] = event;
  return ordered;
}

/** Returns the index of the first value that is at least `least`. */
function lowerBound(values: Int32Array, least: number): number {
  let [low, high] = [0, values.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[middle] < least) low = middle + 1;
    else high = middle;
  }
  return low;
}
