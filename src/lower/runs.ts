import { type Collective, membersOf, type Placement, placementOfLists } from "../model/collective/collective.ts";
import { eventsInOrder } from "./messages.ts";
import type { Moves, UnequalBlocks } from "./moves.ts";

/** How runs are cut. */
export interface RunCut {
  /** Pieces of a run, which follow each other, so that nobody waits for a whole one. */
  readonly pieces: number;
  /** Chunks of a piece at most, unless one block has more. */
  readonly mostChunks: number;
}

/**
 * Returns the moves of a custom collective with neighbouring blocks made one where they are alike: the same ranks have them and
 * want them, and they take the same course. What was sent block by block then is one message, sent and received when the last of
 * them was; so nothing is sent before it is there, and what happens to each chunk keeps its order. O(moves log moves).
 */
export function joinedRuns(moves: Moves, blocks: UnequalBlocks, { pieces, mostChunks }: RunCut): Moves {
  const { start, sums } = blocks;
  const course = coursesOf(moves, blocks);
  const { pre, post } = moves.collective;
  const alike = (b: number): boolean =>
    sums[b] === sums[b - 1] &&
    sameMembers(moves.collective, pre, b) &&
    sameMembers(moves.collective, post, b) &&
    course.same(b);
  /** Last block of each run. */
  const last: number[] = [];
  for (let b = 0; b < sums.length; ) {
    const first = b++;
    while (b < sums.length && alike(b)) b++;
    const most = Math.min(mostChunks, Math.ceil((start[b] - start[first]) / pieces));
    for (let from = first; from < b; ) {
      let to = from + 1;
      while (to < b && start[to + 1] - start[from] <= most) to++;
      last.push(to - 1);
      from = to;
    }
  }
  return last.length === sums.length ? { ...moves, blocks } : withRuns(moves, blocks, last, course.moves);
}

/** Returns the moves with the blocks up to each of `last` as one. */
function withRuns(
  moves: Moves,
  { start, sums }: UnequalBlocks,
  last: readonly number[],
  movesOf: (block: number) => Int32Array,
): Moves {
  const kept = last.flatMap((b, run) => Array.from(movesOf(b), (move) => ({ move, run })));
  kept.sort((a, b) => a.move - b.move);
  const of = (column: Int32Array): Int32Array => Int32Array.from(kept, ({ move }) => column[move]);
  const begin = Int32Array.from([0, ...last.map((b) => start[b + 1])]);
  const events = new Int32Array(2 * moves.source.length).fill(-1);
  kept.forEach(({ move }, i) => {
    events[moves.departsAt[move]] = 2 * i;
    events[moves.arrivesAt[move]] = 2 * i + 1;
  });
  const departsAt = new Int32Array(kept.length);
  const arrivesAt = new Int32Array(kept.length);
  events
    .filter((event) => event >= 0)
    .forEach((event, at) => {
      (event % 2 === 0 ? departsAt : arrivesAt)[event >> 1] = at;
    });
  const { collective } = moves;
  return {
    ...moves,
    collective: {
      ...collective,
      chunkCount: last.length,
      pre: picked(collective, collective.pre, last),
      post: picked(collective, collective.post, last),
    },
    blocks: { start: begin, sums: Uint8Array.from(last, (b) => sums[b]) },
    source: of(moves.source),
    target: of(moves.target),
    chunk: Int32Array.from(kept, ({ run }) => begin[run]),
    chunks: Int32Array.from(kept, ({ run }) => begin[run + 1] - begin[run]),
    reduces: Uint8Array.from(kept, ({ move }) => moves.reduces[move]),
    lane: of(moves.lane),
    departsAt,
    arrivesAt,
  };
}

/** Returns the placement of some chunks only. */
function picked(collective: Collective, placement: Placement, chunks: readonly number[]): Placement {
  if (placement.kind === "one") return { kind: "one", npu: Int32Array.from(chunks, (c) => placement.npu[c]) };
  return placementOfLists(chunks.map((c) => membersOf(collective, placement, c)));
}

/** Returns whether a chunk has the members of the chunk before it. */
function sameMembers(collective: Collective, placement: Placement, chunk: number): boolean {
  const [one, other] = [chunk, chunk - 1].map((c) => membersOf(collective, placement, c)) as [Int32Array, Int32Array];
  return one.length === other.length && one.every((npu, i) => npu === other[i]);
}

/** What happens to each block, in order. */
interface Courses {
  /** Returns whether a block takes the course of the block before it. */
  readonly same: (block: number) => boolean;
  /** Moves of a block, by departure. */
  readonly moves: (block: number) => Int32Array;
}

/** Returns the courses of blocks that are moved as a whole. */
function coursesOf(moves: Moves, { start, sums }: UnequalBlocks): Courses {
  const { source, target, chunk, reduces, rankCount } = moves;
  const blockAt = new Map(Array.from(start.subarray(0, sums.length), (first, b) => [first, b]));
  const order = eventsInOrder(moves);
  const offset = new Int32Array(sums.length + 1);
  const block = Int32Array.from(chunk, (first) => blockAt.get(first) as number);
  for (const b of block) offset[b + 1] += 2;
  for (let b = 0; b < sums.length; b++) offset[b + 1] += offset[b];
  const next = offset.slice();
  const events = new Int32Array(order.length);
  for (const event of order) events[next[block[event >> 1]]++] = event;
  const code = (event: number): number => {
    const m = event >> 1;
    return ((source[m] * rankCount + target[m]) * 2 + reduces[m]) * 2 + (event & 1);
  };
  return {
    same(b) {
      const many = offset[b + 1] - offset[b];
      if (offset[b] - offset[b - 1] !== many) return false;
      for (let i = 0; i < many; i++) if (code(events[offset[b] + i]) !== code(events[offset[b - 1] + i])) return false;
      return true;
    },
    moves: (b) =>
      events
        .subarray(offset[b], offset[b + 1])
        .filter((event) => event % 2 === 0)
        .map((event) => event >> 1),
  };
}
