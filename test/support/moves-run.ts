import type { Moves } from "../../src/lower/moves.ts";

/**
 * Returns what each rank holds of each chunk once all moves have happened in order, as a count for each contributor: a plain
 * interpreter of what src/lower/moves.ts promises. `initial` tells whether a rank starts with a contribution.
 */
export function runMoves(moves: Moves, initial: (rank: number, chunk: number) => boolean): Map<number, number>[][] {
  const held = Array.from({ length: moves.rankCount }, (_, rank) =>
    Array.from({ length: moves.chunkCount }, (_, chunk) => new Map(initial(rank, chunk) ? [[rank, 1]] : [])),
  );
  const count = moves.source.length;
  const events = Array.from<readonly [move: number, arrives: boolean]>({ length: 2 * count });
  for (let m = 0; m < count; m++) {
    events[moves.departsAt[m]] = [m, false];
    events[moves.arrivesAt[m]] = [m, true];
  }
  const flying = new Map<number, Map<number, number>[]>();
  for (const [move, arrives] of events) {
    const from = moves.chunk[move];
    if (!arrives) {
      flying.set(
        move,
        held[moves.source[move]].slice(from, from + moves.chunks[move]).map((what) => new Map(what)),
      );
      continue;
    }
    const brought = flying.get(move);
    if (brought === undefined) throw new Error(`move ${move} arrives before it departs`);
    brought.forEach((what, k) => {
      const here = held[moves.target[move]];
      if (moves.reduces[move] === 0) here[from + k] = new Map(what);
      else for (const [rank, many] of what) here[from + k].set(rank, (here[from + k].get(rank) ?? 0) + many);
    });
  }
  return held;
}
