import type { Mesh } from "./mesh.ts";
import { type Move, movesBetween, type Pattern } from "./patterns.ts";

/** The collectives of a copy, whatever it is a copy of; equal lists are the same object. */
export type MoveList = readonly Omit<Move, "to">[];

/** What gives the list of a pair of patterns; null where nothing brings a tensor from one to the other. */
export type ListOf = (from: Pattern) => (to: Pattern) => MoveList | null;

const remembered = new WeakMap<Mesh, (sizes: readonly number[]) => ListOf>();

/**
 * Returns `movesBetween` without what lies where meanwhile, of tensors whose dimensions have some sizes; worked out once for each
 * mesh, sizes and pair of patterns.
 */
export function moveLists(mesh: Mesh): (sizes: readonly number[]) => ListOf {
  const known = remembered.get(mesh) ?? listsOn(mesh);
  remembered.set(mesh, known);
  return known;
}

function listsOn(mesh: Mesh): (sizes: readonly number[]) => ListOf {
  const lists = new Map<string, MoveList>();
  const once = (moves: readonly Move[]): MoveList => {
    const key = moves.map(({ kind, axes, parts }) => `${kind} ${axes} ${parts}`).join();
    const list = lists.get(key) ?? moves.map(({ kind, axes, parts }) => ({ kind, axes, parts }));
    lists.set(key, list);
    return list;
  };
  const bySizes = new Map<string, ListOf>();
  const made = (sizes: readonly number[]): ListOf => {
    const known = new Map<Pattern, (to: Pattern) => MoveList | null>();
    const listsFrom = (from: Pattern): ((to: Pattern) => MoveList | null) => {
      const row = new Map<Pattern, MoveList | null>();
      return (to) => {
        let list = row.get(to);
        if (list === undefined) {
          const moves = movesBetween(mesh, sizes, from, to);
          list = moves === null ? null : once(moves);
          row.set(to, list);
        }
        return list;
      };
    };
    return (from) => {
      const row = known.get(from) ?? listsFrom(from);
      known.set(from, row);
      return row;
    };
  };
  return (sizes) => {
    const key = sizes.join();
    const list = bySizes.get(key) ?? made(sizes);
    bySizes.set(key, list);
    return list;
  };
}
