import type { Sketch } from "./sketch.ts";

/**
 * Returns whether an NPU may send chunks that `owner` had at the start to other boxes (TACCL, appendix A, chunk_to_relay_map;
 * gpus_to_sender_rev_map in its files). Only the owner's box has relays: where a chunk passes through another one, any NPU that
 * is connected may send it on.
 */
export function mayCarry({ internode, npusPerBox }: Sketch, owner: number, sender: number): boolean {
  const relays = internode?.relays;
  if (relays === undefined || relays === null) return true;
  if (Math.floor(owner / npusPerBox) !== Math.floor(sender / npusPerBox)) return true;
  return relays.get(owner % npusPerBox)?.includes(sender % npusPerBox) ?? false;
}
