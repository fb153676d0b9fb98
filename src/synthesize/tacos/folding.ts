import { automorphismsOf } from "../../model/automorphisms.ts";
import type { Holdings } from "./demand.ts";

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
 */
export function foldingMaps({ source, target, slotPs }: Routes, held: Holdings, npuCount: number): Int32Array | null {
  if (held.offset.some((end, v) => end !== v * held.offset[1])) return null;
  const lengths = slotPs === null ? [] : [...new Set(slotPs)];
  const kind = slotPs === null ? null : Int32Array.from(slotPs, (slot) => lengths.indexOf(slot));
  const maps = automorphismsOf(npuCount, source, target, kind) ?? [];
  if (maps.length < 2) return null;
  const columns = new Int32Array(maps.length * npuCount);
  for (const [g, map] of maps.entries()) columns.set(map, g * npuCount);
  return columns;
}
