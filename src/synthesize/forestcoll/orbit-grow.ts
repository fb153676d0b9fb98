import type { Topology } from "../../model/topology/topology.ts";
import { entriesFrom, entryInto, entryPrice, type Meter } from "./orbit-entries.ts";
import type { Level } from "./orbit-levels.ts";
import { extended, type Paths } from "./orbit-paths.ts";
import { reserve } from "./orbit-reserve.ts";

/** A tree of root 0: the path into each NPU, [NPUs]. */
export interface GrownTree {
  readonly into: Int32Array;
  readonly height: number;
}

/**
 * Returns a tree of root 0 within what is left of each orbit, or null when growth gets stuck; what it uses is taken off.
 *
 * Depth by depth, and at each depth component by component, coarse ones first: a component whose parent had been entered
 * before is entered at one NPU over the cheapest way. One whose parent was only entered at this very depth is entered too if
 * otherwise the tree would be higher than `aim`, one hop for each level; where it cannot be, `strict` growth ends. Ways that others need (orbit-reserve.ts) are not
 * taken. O(levels * height * (nodes + links)), and once more whenever an orbit is used up.
 */
export function growTree(
  topology: Topology,
  paths: Paths,
  levels: readonly Level[],
  meter: Meter,
  aim: number,
  strict: boolean,
): GrownTree | null {
  const { npuCount, linkSource } = topology;
  const { orbit, left } = meter;
  const kept = reserve(levels, left);
  if (kept === null) return null;
  const into = new Int32Array(npuCount).fill(-1);
  const reached = new Int32Array(npuCount);
  let count = 1;
  let depth = 0;
  while (count < npuCount) {
    depth++;
    const sources = reached.subarray(0, count);
    let entries = entriesFrom(topology, paths, sources, meter);

    /** Returns the last link of the cheapest way into one of some NPUs, the first of equals; -1 where there is none. */
    const cheapest = (npus: Int32Array): number => {
      let best = -1;
      let least = Number.POSITIVE_INFINITY;
      for (let j = 0; j < npus.length; j++) {
        const last = entryInto(topology, entries, meter, npus[j]);
        const price = last < 0 ? least : entryPrice(topology, entries, meter, last);
        if (price >= least) continue;
        best = last;
        least = price;
      }
      return best;
    };
    const enter = (last: number): void => {
      const npu = topology.linkTarget[last];
      const from = linkSource[last];
      const before = from < npuCount ? -1 : entries.path[from];
      const used = [orbit[last]];
      for (let p = before; p >= 0; p = paths.before[p]) used.push(orbit[paths.link[p]]);
      if (!kept.take(used, npu, depth)) return;
      into[npu] = extended(paths, before, last);
      reached[count++] = npu;
      if (used.some((o) => left[o] < 1)) entries = entriesFrom(topology, paths, sources, meter);
    };

    for (let i = 0; i < levels.length; i++) {
      const { members, groups } = levels[i];
      const late = depth >= aim - (levels.length - 1 - i);
      for (let g = 0; g < groups; g++) {
        if (kept.entered[i][g] >= 0) continue;
        const npus = members.items.subarray(members.offset[g], members.offset[g + 1]);
        const parent = i === 0 ? 0 : kept.entered[i - 1][levels[i - 1].group[npus[0]]];
        if (parent < 0 || (parent === depth && !late)) continue;
        const last = cheapest(npus);
        if (last >= 0) enter(last);
        if (strict && late && kept.entered[i][g] < 0) return null;
      }
    }
    if (count === sources.length) return null;
  }
  return { into, height: depth };
}
