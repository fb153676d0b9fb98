import { type AxisSet, groupSize, type Mesh, meshGroups } from "../../model/tensor-plan/mesh.ts";
import type { MoveKind } from "../../model/tensor-plan/patterns.ts";
import type { CostOf } from "../training/costs.ts";

/** A collective by all groups of some axes, with so many bytes in the buffer of an NPU. */
export interface MoveAsked {
  readonly kind: MoveKind;
  readonly axes: AxisSet;
  readonly bytes: number;
}

/** Costs of collectives on a mesh that are asked for many times and made once. */
export interface MoveCosts {
  /**
   * Returns picoseconds, interpolated between sizes that are powers of COARSE, or, once it was refined, of FINE; 0 where these were
   * not made yet, which `make` then does.
   */
  readonly movePs: (kind: MoveKind, axes: AxisSet, bytes: number) => number;
  /** Makes what was asked for and is not there; returns how many collectives that took. */
  make(onProgress?: (done: number, total: number) => void): Promise<number>;
  /** Has a collective counted by the finer sizes around its own; returns whether it was not yet. */
  refine(asked: MoveAsked): boolean;
}

/** Ratios of the sizes of which schedules are made: for all moves that are possible, and for those that plans take. */
const COARSE = 1024;
const FINE = 4;

/** Returns the power of a ratio at or below so many bytes. */
function sizeBelow(bytes: number, ratio: number): number {
  let size = 1;
  while (size * ratio <= bytes) size *= ratio;
  return size;
}

/** Returns costs that come from `costOf`, all groups of the axes at the same time. */
export function moveCosts(mesh: Mesh, costOf: CostOf): MoveCosts {
  const known = new Map<string, number>();
  const wanted = new Map<string, MoveAsked>();
  const refined = new Set<string>();
  const at = (kind: MoveKind, axes: AxisSet, bytes: number): number => {
    const key = `${kind} ${axes} ${bytes}`;
    const ps = known.get(key);
    if (ps === undefined) wanted.set(key, { kind, axes, bytes });
    return ps ?? 0;
  };
  const around = ({ kind, axes, bytes }: MoveAsked): string => `${kind} ${axes} ${sizeBelow(bytes, FINE)}`;
  return {
    movePs(kind, axes, bytes) {
      const ratio = refined.has(around({ kind, axes, bytes })) ? FINE : COARSE;
      const low = sizeBelow(bytes, ratio);
      const [below, above] = [at(kind, axes, low), at(kind, axes, ratio * low)];
      return below + ((above - below) * (bytes - low)) / ((ratio - 1) * low);
    },
    async make(onProgress) {
      const list = [...wanted];
      for (const [done, [key, { kind, axes, bytes }]] of list.entries()) {
        onProgress?.(done, list.length);
        const { ps } = await costOf(kind, { size: groupSize(mesh, axes), members: meshGroups(mesh, axes) }, bytes);
        known.set(key, ps);
      }
      wanted.clear();
      return list.length;
    },
    refine(asked) {
      const key = around(asked);
      if (refined.has(key)) return false;
      refined.add(key);
      return true;
    },
  };
}
