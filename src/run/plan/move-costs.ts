import { type AxisSet, groupSize, type Mesh, meshGroups } from "../../model/tensor-plan/mesh.ts";
import type { MoveKind } from "../../model/tensor-plan/patterns.ts";
import type { CostOf } from "../training/costs.ts";

/** Costs of collectives on a mesh that are asked for many times and made once. */
export interface MoveCosts {
  /**
   * Returns picoseconds of a collective by all groups of some axes, interpolated between sizes that are powers of four; 0 where
   * these were not made yet, which `make` then does.
   */
  readonly movePs: (kind: MoveKind, axes: AxisSet, bytes: number) => number;
  /** Makes what was asked for and is not there; returns how many collectives that took. */
  make(onProgress?: (done: number, total: number) => void): Promise<number>;
}

/** Returns the power of four at or below so many bytes. */
const sizeBelow = (bytes: number): number => 4 ** Math.floor(Math.log2(Math.max(1, bytes)) / 2);

/** Returns costs that come from `costOf`, all groups of the axes at the same time. */
export function moveCosts(mesh: Mesh, costOf: CostOf): MoveCosts {
  const known = new Map<string, number>();
  const wanted = new Map<string, { readonly kind: MoveKind; readonly axes: AxisSet; readonly bytes: number }>();
  const at = (kind: MoveKind, axes: AxisSet, bytes: number): number => {
    const key = `${kind} ${axes} ${bytes}`;
    const ps = known.get(key);
    if (ps === undefined) wanted.set(key, { kind, axes, bytes });
    return ps ?? 0;
  };
  return {
    movePs(kind, axes, bytes) {
      const low = sizeBelow(bytes);
      const [below, above] = [at(kind, axes, low), at(kind, axes, 4 * low)];
      return below + ((above - below) * (bytes - low)) / (3 * low);
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
  };
}
