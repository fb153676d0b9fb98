import type { Sketch } from "./sketch.ts";

/**
 * Returns whether an NPU may send chunks that `owner` had at the start to other boxes (TACCL, appendix A, chunk_to_relay_map;
 * gpus_to_sender_rev_map in its files). The local ranks decide, so boxes on the way pass a chunk on through the same relay.
 */
export function mayCarry({ internode, npusPerBox }: Sketch, owner: number, sender: number): boolean {
  const relays = internode?.relays;
  if (relays === undefined || relays === null) return true;
  return relays.get(owner % npusPerBox)?.includes(sender % npusPerBox) ?? false;
}
