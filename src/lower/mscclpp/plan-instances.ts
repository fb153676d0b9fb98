import type { Moves } from "../moves/moves.ts";
import { layoutOf } from "./plan-layout.ts";
import type { Levels } from "./plan-levels.ts";
import type { Problem } from "./plan-state.ts";

/**
 * Returns a problem in which every chunk is cut into equal parts that move alike, and the slices of its moves: those of part j
 * are j * slices onwards. In every block of chunks the first parts of all come first, then the second. O(instances * moves).
 */
export function instancesOf(
  problem: Problem,
  sliceOfMove: Int32Array,
  slices: number,
  instances: number,
  inPlace: boolean,
): { problem: Problem; sliceOfMove: Int32Array } {
  if (instances === 1) return { problem, sliceOfMove };
  const { moves, levels } = problem;
  const { chunksPerBlock, chunkCount } = moves;
  const repeat = (column: ArrayLike<number>, of: (value: number, part: number) => number): Int32Array => {
    const whole = new Int32Array(column.length * instances);
    for (let k = 0; k < whole.length; k++) {
      whole[k] = of(column[k % column.length], Math.floor(k / column.length));
    }
    return whole;
  };
  const same = (value: number): number => value;
  const partOf = (c: number, part: number): number =>
    (Math.floor(c / chunksPerBlock) * instances + part) * chunksPerBlock + (c % chunksPerBlock);
  const inTurns = (at: number, part: number): number => at * instances + part;
  const whole: Moves = {
    ...moves,
    chunksPerBlock: chunksPerBlock * instances,
    chunkCount: chunkCount * instances,
    source: repeat(moves.source, same),
    target: repeat(moves.target, same),
    chunk: repeat(moves.chunk, partOf),
    chunks: repeat(moves.chunks, same),
    reduces: Uint8Array.from(repeat(moves.reduces, same)),
    lane: repeat(moves.lane, same),
    departsAt: repeat(moves.departsAt, inTurns),
    arrivesAt: repeat(moves.arrivesAt, inTurns),
  };
  const wholeLevels: Levels = { sent: repeat(levels.sent, same), received: repeat(levels.received, same) };
  return {
    problem: { ...problem, moves: whole, layout: layoutOf(whole, inPlace), levels: wholeLevels },
    sliceOfMove: repeat(sliceOfMove, (slice, part) => part * slices + slice),
  };
}
