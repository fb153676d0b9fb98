import type { PlacementSets } from "../replay/steps-problem.ts";
import { type Collective, groupOfChunk, type Placement } from "./collective.ts";

/** Returns a placement of the collective, on so many NPUs, as sets. O(chunks + members + NPUs). */
export function placementSets(collective: Collective, placement: Placement, npus: number): PlacementSets {
  const { chunkCount, groupCount, groupSize, groupMembers } = collective;
  const counted = (count: number, step = 1): Int32Array => Int32Array.from({ length: count }, (_, i) => i * step);
  if (placement.kind === "one") return { setOf: placement.npu, offset: counted(npus + 1), members: counted(npus) };
  if (placement.kind === "sets") {
    return { setOf: counted(chunkCount), offset: placement.offset, members: placement.members };
  }
  const members = groupMembers.slice();
  for (let g = 0; g < groupCount; g++) members.subarray(g * groupSize, (g + 1) * groupSize).sort();
  const setOf = new Int32Array(chunkCount);
  for (let c = 0; c < chunkCount; c++) setOf[c] = groupOfChunk(collective, c);
  return { setOf, offset: counted(groupCount + 1, groupSize), members };
}
