import { greatestCommon, startsOfCourses } from "../courses.ts";
import type { Moves } from "../moves.ts";

/** Moves of whole parts: a part is a run of chunks that take the same course, or a piece of one. A hop moves one. */
export interface PlanParts {
  readonly moves: Moves;
  /** Chunks of the plan to a block, and over all blocks. */
  readonly chunksPerBlock: number;
  readonly chunkCount: number;
  /** [parts] first chunk, and number of chunks. */
  readonly first: Int32Array;
  readonly size: Int32Array;
  /** [hops] */
  readonly source: Int32Array;
  readonly target: Int32Array;
  readonly reduces: Uint8Array;
  readonly part: Int32Array;
  /** [2 x hops] what happens, in order: 2 x hop is a departure, 2 x hop + 1 an arrival. */
  readonly events: Int32Array;
}

/**
 * Returns moves by parts: runs of chunks of one course, each in at most `pieces`. Chunks are as coarse as that allows. A part
 * departs and arrives when its last chunk does: what happens to each part keeps its order, and parts do not depend on each
 * other. O(moves log moves).
 */
export function planPartsOf(moves: Moves, pieces: number): PlanParts {
  const { chunk, chunks, chunkCount, chunksPerBlock } = moves;
  const starts = Array.from(startsOfCourses(moves));
  const cut: number[] = [];
  starts.forEach((start, i) => {
    const many = (starts[i + 1] ?? chunkCount) - start;
    const each = Math.ceil(many / Math.min(pieces, many));
    for (let done = 0; done < many; done += each) cut.push(start + done);
  });
  const coarser = cut.reduce(greatestCommon, chunksPerBlock);
  const first = Int32Array.from(cut, (at) => at / coarser);
  const whole = chunkCount / coarser;
  const size = first.map((at, p) => (p + 1 < first.length ? first[p + 1] : whole) - at);

  /** [chunks of the moves + 1] parts that end before it. */
  const partFrom = new Int32Array(chunkCount + 1);
  for (let p = 0; p < first.length; p++) partFrom[(first[p] + size[p]) * coarser]++;
  for (let c = 0; c < chunkCount; c++) partFrom[c + 1] += partFrom[c];
  const hopsOf = (m: number): number => partFrom[chunk[m] + chunks[m]] - partFrom[chunk[m]];
  const hopFrom = new Int32Array(chunk.length + 1);
  for (let m = 0; m < chunk.length; m++) hopFrom[m + 1] = hopFrom[m] + hopsOf(m);
  const hops = hopFrom[chunk.length];
  const moveOf = new Int32Array(hops);
  const part = new Int32Array(hops);
  for (let m = 0; m < chunk.length; m++) {
    for (let hop = hopFrom[m]; hop < hopFrom[m + 1]; hop++) {
      moveOf[hop] = m;
      part[hop] = partFrom[chunk[m]] + hop - hopFrom[m];
    }
  }
  return {
    moves,
    chunksPerBlock: chunksPerBlock / coarser,
    chunkCount: whole,
    first,
    size,
    source: moveOf.map((m) => moves.source[m]),
    target: moveOf.map((m) => moves.target[m]),
    reduces: Uint8Array.from(moveOf, (m) => moves.reduces[m]),
    part,
    events: eventsOf(moves, hopFrom),
  };
}

/** Returns the events of hops in the order of those of their moves. */
function eventsOf({ departsAt, arrivesAt }: Moves, hopFrom: Int32Array): Int32Array {
  const at = new Int32Array(2 * departsAt.length);
  for (let m = 0; m < departsAt.length; m++) {
    at[departsAt[m]] = 2 * m;
    at[arrivesAt[m]] = 2 * m + 1;
  }
  const events = new Int32Array(2 * hopFrom[departsAt.length]);
  let next = 0;
  for (const event of at) {
    const m = event >> 1;
    for (let hop = hopFrom[m]; hop < hopFrom[m + 1]; hop++) events[next++] = 2 * hop + (event & 1);
  }
  return events;
}
