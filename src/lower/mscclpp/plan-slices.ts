import { disjointSets } from "../../model/graph/disjoint-sets.ts";
import type { Moves } from "../moves/moves.ts";
import { type Layout, NOWHERE } from "./plan-layout.ts";

/** Sets of moves of which each can run in thread blocks of its own: no move waits for one of another set. */
export interface Units {
  /** Number of sets. */
  readonly count: number;
  /** [moves] set; numbered in the order of their first chunks. */
  readonly of: Int32Array;
}

/**
 * Returns the units of the moves, as few as chunks allow (`coarse`: what moves one chunk stays together) or as many as
 * dependencies allow: what a rank has from the start can be sent to each peer on its own. O(chunks of all moves).
 */
export function unitsOf(moves: Moves, layout: Layout, coarse: boolean): Units {
  const { source, target, chunk, chunks, rankCount, chunkCount } = moves;
  const sets = disjointSets(source.length);
  const arrival = new Int32Array(rankCount * chunkCount).fill(NOWHERE);
  const ofChunk = new Int32Array(chunkCount).fill(NOWHERE);
  const together = (first: Int32Array, at: number, move: number): void => {
    if (first[at] === NOWHERE) first[at] = move;
    else sets.join(first[at], move);
  };
  const follows = (at: number, move: number): void => {
    if (arrival[at] !== NOWHERE) sets.join(arrival[at], move);
  };
  const eachChunk = (use: (move: number, c: number) => void): void => {
    for (let move = 0; move < source.length; move++) {
      for (let c = chunk[move]; c < chunk[move] + chunks[move]; c++) use(move, c);
    }
  };
  eachChunk((move, c) => {
    together(arrival, target[move] * chunkCount + c, move);
    if (coarse) together(ofChunk, c, move);
  });
  eachChunk((move, c) => {
    const rank = source[move];
    follows(rank * chunkCount + c, move);
    const successor = layout.successor(rank, c);
    if (successor !== NOWHERE) follows(rank * chunkCount + successor, move);
  });
  return numbered(moves, sets.least);
}

function numbered({ chunk }: Moves, least: (move: number) => number): Units {
  const firstChunk = new Map<number, number>();
  chunk.forEach((c, move) => {
    const set = least(move);
    firstChunk.set(set, Math.min(c, firstChunk.get(set) ?? c));
  });
  const inOrder = [...firstChunk].sort(([a, c], [b, d]) => c - d || a - b);
  const number = new Map(inOrder.map(([set], index) => [set, index]));
  return { count: inOrder.length, of: Int32Array.from(chunk, (_, move) => number.get(least(move)) as number) };
}

/** Returns the slice of each move where units are dealt to so many: in turns, or in runs of units that follow each other. */
export function dealt({ count, of }: Units, slices: number, inTurns: boolean): Int32Array {
  return inTurns ? of.map((unit) => unit % slices) : of.map((unit) => Math.floor((unit * slices) / count));
}

/** Returns the moves of each slice, in the order of the moves. O(moves). */
export function movesOfSlices(sliceOfMove: Int32Array, slices: number): number[][] {
  const lists = Array.from({ length: slices }, () => [] as number[]);
  sliceOfMove.forEach((slice, move) => {
    lists[slice].push(move);
  });
  return lists;
}
