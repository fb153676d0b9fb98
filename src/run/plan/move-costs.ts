import { type AxisSet, groupSize, type Mesh, meshGroups } from "../../model/tensor-plan/mesh.ts";
import type { MoveKind } from "../../model/tensor-plan/patterns.ts";
import type { NpuGroups } from "../../model/workload/layer-work.ts";
import type { CostOf } from "../training/costs.ts";

/** A collective by all groups of some axes, with so many bytes in the buffer of an NPU. */
export interface MoveAsked {
  readonly kind: MoveKind;
  readonly axes: AxisSet;
  readonly bytes: number;
}

/** Returns picoseconds that no schedule of a collective takes less than; not less for more bytes, not more a byte. */
export type LeastOf = (kind: MoveKind, groups: NpuGroups, bytes: number) => number;

/** Costs of collectives on a mesh, of which only those are scheduled that a plan takes. */
export interface MoveCosts {
  /** Returns picoseconds: of its schedule where one was made, else what any takes at least. */
  readonly movePs: (kind: MoveKind, axes: AxisSet, bytes: number) => number;
  /** Returns for how many collectives schedules were made: what costs are told by changes with it. */
  madeCount(): number;
  /** Returns whether a schedule of all of them was made. */
  areMade(asked: readonly MoveAsked[]): boolean;
  /** Has schedules made of what has none yet; returns of how many. */
  make(asked: readonly MoveAsked[], onProgress?: (done: number, total: number) => void): Promise<number>;
}

/** Ratio of the sizes of which it is worked out what is taken at least. */
const RATIO = 1024;

/**
 * Returns costs that come from `costOf`, all groups of the axes at the same time, and are what `leastOf` says before: so what is
 * proved of plans before all is scheduled stays true.
 */
export function moveCosts(mesh: Mesh, costOf: CostOf, leastOf: LeastOf): MoveCosts {
  const made = new Map<string, number>();
  const least = new Map<string, number>();
  const groups = new Map<AxisSet, NpuGroups>();
  const groupsOf = (axes: AxisSet): NpuGroups => {
    const known = groups.get(axes) ?? { size: groupSize(mesh, axes), members: meshGroups(mesh, axes) };
    groups.set(axes, known);
    return known;
  };
  const keyOf = ({ kind, axes, bytes }: MoveAsked): string => `${kind} ${axes} ${bytes}`;
  const leastAt = (kind: MoveKind, axes: AxisSet, bytes: number): number => {
    const key = keyOf({ kind, axes, bytes });
    const ps = least.get(key) ?? leastOf(kind, groupsOf(axes), bytes);
    least.set(key, ps);
    return ps;
  };
  return {
    movePs(kind, axes, bytes) {
      const ps = made.get(keyOf({ kind, axes, bytes }));
      if (ps !== undefined) return ps;
      let below = groupSize(mesh, axes);
      while (below * RATIO <= bytes) below *= RATIO;
      const above = below * RATIO;
      return Math.max(leastAt(kind, axes, below), (leastAt(kind, axes, above) * bytes) / above);
    },
    madeCount: () => made.size,
    areMade: (asked) => asked.every((one) => made.has(keyOf(one))),
    async make(asked, onProgress) {
      const wanted = new Map(asked.filter((one) => !made.has(keyOf(one))).map((one) => [keyOf(one), one]));
      let done = 0;
      for (const [key, { kind, axes, bytes }] of wanted) {
        onProgress?.(done++, wanted.size);
        made.set(key, (await costOf(kind, groupsOf(axes), bytes)).ps);
      }
      return wanted.size;
    },
  };
}
