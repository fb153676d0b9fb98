import type { Moves } from "../moves/moves.ts";
import { type Layout, NOWHERE } from "./plan-layout.ts";
import type { Levels } from "./plan-levels.ts";
import type { PeerVia } from "./plan-phases.ts";

/** What is to be made a plan, and how. */
export interface Problem {
  readonly moves: Moves;
  readonly layout: Layout;
  readonly levels: Levels;
  readonly via: (rank: number, peer: number) => PeerVia;
  /** Ranks read contributions from memory in their reach; else all are written into scratch. */
  readonly reads: boolean;
  /** Ranks with too many peers for one thread block are spread over several. */
  readonly spread: boolean;
}

/** What the slices of a plan share while they are made one after the other. */
export interface PlanState extends Problem {
  /** [ranks x chunks] place of the rank's version of the chunk. */
  readonly at: Int32Array;
  /** [ranks x chunks] 1: the rank has, or is being sent, what others hold of it. */
  readonly given: Uint8Array;
  /** [ranks x chunks] when the last contribution and the last copy arrive; -1: never. */
  readonly lastSum: Int32Array;
  readonly lastCopy: Int32Array;
  /** [ranks] */
  readonly scratchChunks: Int32Array;
}

/** Returns the state before the first slice. O(ranks * chunks + chunks of all moves). */
export function planState(problem: Problem): PlanState {
  const { moves, layout } = problem;
  const { rankCount, chunkCount, target, chunk, chunks, reduces, arrivesAt, collective } = moves;
  const at = new Int32Array(rankCount * chunkCount);
  for (let k = 0; k < at.length; k++) at[k] = layout.start(Math.floor(k / chunkCount), k % chunkCount);
  const lastSum = new Int32Array(at.length).fill(-1);
  const lastCopy = new Int32Array(at.length).fill(-1);
  for (let move = 0; move < target.length; move++) {
    const last = reduces[move] === 1 ? lastSum : lastCopy;
    const first = target[move] * chunkCount + chunk[move];
    for (let k = first; k < first + chunks[move]; k++) last[k] = Math.max(last[k], arrivesAt[move]);
  }
  const given = Uint8Array.from(at, (place) => (place === NOWHERE || collective.reduces ? 0 : 1));
  return { ...problem, at, given, lastSum, lastCopy, scratchChunks: new Int32Array(rankCount) };
}
