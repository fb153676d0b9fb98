import type { ScheduleView, TreeView, WireColumns } from "../../protocol.ts";
import { ask } from "../../state/client.ts";
import { addTree, noUses, type Uses } from "./trees.ts";

/** Trees on their way from the worker at a time. */
const AT_ONCE = 8;
/** Pictures of what there is so far, while the rest comes. */
const EVERY_MS = 200;

/** Returns one tree. Rejects with RequestError. */
export const loadTree = ({ ref }: ScheduleView, forest: number, tree: number, signal: AbortSignal): Promise<TreeView> =>
  ask("tree", { schedule: ref, forest, tree }, { signal });

/**
 * Returns what trees of a forest together do to wires; `soFar` gets what there is after some of them. Rejects with
 * RequestError.
 */
export async function loadUses(
  schedule: ScheduleView,
  wires: WireColumns,
  forest: number,
  trees: readonly number[],
  signal: AbortSignal,
  soFar: (uses: Uses, done: number) => void,
): Promise<Uses> {
  const uses = noUses(wires);
  let [next, done, told] = [0, 0, performance.now()];
  const work = async (): Promise<void> => {
    while (next < trees.length) {
      const tree = trees[next++];
      addTree(wires, uses, await loadTree(schedule, forest, tree, signal));
      done++;
      if (performance.now() - told < EVERY_MS) continue;
      told = performance.now();
      soFar({ trees: uses.trees.slice(), copies: uses.copies.slice() }, done);
    }
  };
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, trees.length) }, work));
  return uses;
}
