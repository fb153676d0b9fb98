import type { Mesh } from "./mesh.ts";
import { type Move, movesBetween, type Pattern } from "./patterns.ts";

/** The collectives of a copy, whatever it is a copy of; equal lists are the same object. */
export type MoveList = readonly Omit<Move, "to">[];

/**
 * Returns `movesBetween` without what lies where meanwhile, of tensors whose dimensions have some sizes; worked out once for each
 * sizes and pair of patterns.
 */
export function moveLists(mesh: Mesh): (sizes: readonly number[]) => (from: Pattern, to: Pattern) => MoveList | null {
  const lists = new Map<string, MoveList>();
  const once = (moves: readonly Move[]): MoveList => {
    const key = moves.map(({ kind, axes, parts }) => `${kind} ${axes} ${parts}`).join();
    const list = lists.get(key) ?? moves.map(({ kind, axes, parts }) => ({ kind, axes, parts }));
    lists.set(key, list);
    return list;
  };
  const bySizes = new Map<string, Map<Pattern, Map<Pattern, MoveList | null>>>();
  return (sizes) => {
    const known = bySizes.get(sizes.join()) ?? new Map<Pattern, Map<Pattern, MoveList | null>>();
    bySizes.set(sizes.join(), known);
    return (from, to) => {
      let row = known.get(from);
      if (row === undefined) {
        row = new Map();
        known.set(from, row);
      }
      let list = row.get(to);
      if (list === undefined) {
        const moves = movesBetween(mesh, sizes, from, to);
        list = moves === null ? null : once(moves);
        row.set(to, list);
      }
      return list;
    };
  };
}
