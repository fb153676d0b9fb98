import { InputError } from "../../base/errors.ts";
import { type RingSlots, ringSlots } from "../slots/ring-slots.ts";
import type { Topology } from "../topology/topology.ts";

/**
 * Returns what a network needs and does not have for rings through all NPUs (`ringDecomposition`), as a noun phrase; null where
 * there is one. O(2^npus) for the at most 16 NPUs of direct links, else O(links).
 */
export function whyNoRing(topology: Topology): string | null {
  try {
    const box = ringSlots(topology);
    if ("rings" in box || hasRing(box)) return null;
    return "a network with a ring of links through all NPUs, each once, for rings";
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    return "2 to 16 NPUs with direct links, or switches that all NPUs are linked to, for rings";
  }
}

/** Whether slots lead through all NPUs once and back: for every set with NPU 0, at which NPUs a path through it can end. */
function hasRing({ npus, slots }: RingSlots): boolean {
  const next = Int32Array.from({ length: npus }, (_, from) => {
    let targets = 0;
    for (let to = 0; to < npus; to++) if (slots[from * npus + to] > 0) targets |= 1 << to;
    return targets;
  });
  const ends = new Int32Array(2 ** npus);
  ends[1] = 1;
  for (let set = 1; set < ends.length; set += 2) {
    for (let left = ends[set]; left !== 0; left &= left - 1) {
      const at = 31 - Math.clz32(left & -left);
      for (let open = next[at] & ~set; open !== 0; open &= open - 1) ends[set | (open & -open)] |= open & -open;
    }
  }
  for (let left = ends[ends.length - 1]; left !== 0; left &= left - 1) {
    if ((next[31 - Math.clz32(left & -left)] & 1) !== 0) return true;
  }
  return false;
}
