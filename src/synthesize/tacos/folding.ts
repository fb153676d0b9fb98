import { automorphismsOf } from "../../model/symmetry/automorphisms.ts";
import type { Holdings } from "./demand.ts";

/** With more lengths of routes there is hardly a symmetry. */
const MOST_LENGTHS = 64;

/** Routes, and, where they are not equal, how long each is occupied. */
interface Routes {
  readonly source: Int32Array;
  readonly target: Int32Array;
  readonly slotPs: Float64Array | null;
}

/**
 * Returns the maps of the network onto itself, as the matching kernels take them: then one NPU of each orbit is matched (an
 * eighth of a square mesh, a 48th of a cube), and the others follow. Null where only the identity is found, or NPUs do not
 * hold equally many chunks.
 *
 * Symmetry costs no slots and mends some: where the oldest choice misses the bound, the best of five seeds with and without it
 * needs 655 and 706 slots on a 10x100 mesh (bound 500), 617 and 730 on 4x200 (400), 66 and 89 on a ring of 4 by a line of 30
 * (40), 400 and 406 on a 3x20x20 grid (400); it met every bound that the plain choice met (20x60, 31x33, 9x10x11, 12x12x12).
 */
export function foldingMaps({ source, target, slotPs }: Routes, held: Holdings, npuCount: number): Int32Array | null {
  if (held.offset.some((end, v) => end !== v * held.offset[1])) return null;
  const lengths = slotPs === null ? [] : [...new Set(slotPs)];
  if (lengths.length > MOST_LENGTHS) return null;
  const kind = slotPs === null ? null : Int32Array.from(slotPs, (slot) => lengths.indexOf(slot));
  const maps = automorphismsOf(npuCount, source, target, kind) ?? [];
  if (maps.length < 2) return null;
  const columns = new Int32Array(maps.length * npuCount);
  for (const [g, map] of maps.entries()) columns.set(map, g * npuCount);
  return columns;
}
