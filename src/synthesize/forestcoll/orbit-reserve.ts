import type { Level } from "./orbit-levels.ts";

/** What a growing tree has entered, and what it must leave of the orbits for components that wait. */
export interface Reserve {
  /** [levels][components] depth at which each was entered; -1: not yet. */
  readonly entered: readonly Int32Array[];
  /**
   * Takes a way over these orbits into an NPU at a depth. Returns false, and takes nothing, when an orbit would be used up
   * beyond its end, or when the links that lead into (or out of) the components of some level would be fewer than those that
   * still wait. O(levels * orbits of the way).
   */
  take(used: readonly number[], npu: number, depth: number): boolean;
}

/** Returns the reserve of a tree that has only its root, NPU 0, and writes to `left`; null when it has too few ways already. */
export function reserve(levels: readonly Level[], left: Float64Array): Reserve | null {
  const entered = levels.map(({ group, groups }) => {
    const depths = new Int32Array(groups).fill(-1);
    depths[group[0]] = 0;
    return depths;
  });
  const waiting = levels.map(({ groups }) => groups - 1);
  const sumOver = (mask: Uint8Array): number => left.reduce((sum, uses, o) => sum + (mask[o] !== 0 ? uses : 0), 0);
  const waysIn = levels.map(({ enters }) => sumOver(enters));
  const waysOut = levels.map(({ leaves }) => sumOver(leaves));
  const fewer = (i: number, others: number): boolean => Math.min(waysIn[i], waysOut[i]) < others;
  if (levels.some((_, i) => fewer(i, waiting[i]))) return null;

  /** Uses orbits so often (-1: gives them back). */
  const use = (used: readonly number[], times: number): void => {
    for (const o of used) {
      left[o] -= times;
      levels.forEach(({ enters, leaves }, i) => {
        waysIn[i] -= times * enters[o];
        waysOut[i] -= times * leaves[o];
      });
    }
  };
  const take = (used: readonly number[], npu: number, depth: number): boolean => {
    use(used, 1);
    const isNew = (i: number): boolean => entered[i][levels[i].group[npu]] < 0;
    if (used.some((o) => left[o] < 0) || levels.some((_, i) => fewer(i, waiting[i] - (isNew(i) ? 1 : 0)))) {
      use(used, -1);
      return false;
    }
    levels.forEach(({ group }, i) => {
      if (!isNew(i)) return;
      entered[i][group[npu]] = depth;
      waiting[i]--;
    });
    return true;
  };
  return { entered, take };
}
