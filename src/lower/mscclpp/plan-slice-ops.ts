import type { Moves } from "../moves/moves.ts";
import { type Layout, NOWHERE } from "./plan-layout.ts";
import { operationsOf } from "./plan-ops.ts";
import { addCopy, type RankPhases } from "./plan-phases.ts";
import type { SliceOps } from "./plan-program.ts";
import { phasesOf, rankIn } from "./plan-slice.ts";
import { movesOfSlices } from "./plan-slices.ts";
import { spreadOverBlocks } from "./plan-spread.ts";
import { type Problem, planState } from "./plan-state.ts";

/**
 * Returns the operations of the thread blocks of every slice, and the scratch of every rank, where the moves are dealt to slices
 * like that. O(ranks * chunks + chunks of all moves).
 */
export function sliceOpsOf(
  problem: Problem,
  sliceOfMove: Int32Array,
  slices: number,
): { ops: SliceOps[]; scratchChunks: Int32Array } {
  const state = planState(problem);
  const ranks = movesOfSlices(sliceOfMove, slices).map((own) => phasesOf(state, own));
  addOwnCopies(problem.moves, problem.layout, sliceOfMove, ranks);
  const blocksOf = (rank: RankPhases): RankPhases[] => (problem.spread ? spreadOverBlocks(rank) : [rank]);
  const ops = ranks.map(
    (slice) => new Map([...slice].map(([rank, phases]) => [rank, blocksOf(phases).map(operationsOf)])),
  );
  return { ops, scratchChunks: state.scratchChunks };
}

/** Adds the copies of what ranks have from the start and must have elsewhere: in the slice that sends it, else in turns. */
function addOwnCopies(
  { source, chunk, chunks, rankCount, chunkCount, target }: Moves,
  { start, end }: Layout,
  sliceOfMove: Int32Array,
  ranks: readonly Map<number, RankPhases>[],
): void {
  const arrives = new Uint8Array(rankCount * chunkCount);
  const slice = Int32Array.from(arrives, (_, k) => (k % chunkCount) % ranks.length);
  for (let move = source.length - 1; move >= 0; move--) {
    const [from, to] = [source[move] * chunkCount, target[move] * chunkCount];
    for (let c = chunk[move]; c < chunk[move] + chunks[move]; c++) {
      arrives[to + c] = 1;
      slice[from + c] = sliceOfMove[move];
    }
  }
  for (let k = 0; k < arrives.length; k++) {
    const [rank, c] = [Math.floor(k / chunkCount), k % chunkCount];
    const [from, to] = [start(rank, c), end(rank, c)];
    if (arrives[k] === 1 || from === NOWHERE || to === NOWHERE || from === to) continue;
    addCopy(rankIn(ranks[slice[k]], rank).first, from, to);
  }
}
