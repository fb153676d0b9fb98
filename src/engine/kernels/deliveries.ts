import type { MatchProblem, SpreadProblem } from "../contract/kernels.ts";

/** What NPUs hold and want, in the columns of a match or spread problem. */
type Demand = Pick<SpreadProblem, "npuCount" | "chunkCount" | "heldOffset" | "heldChunk" | "wanted">;

/** Returns the chunks that each NPU wants and those it wants and holds at the start. O(npus * chunks / 32 + held). */
export function demandOf(demand: Demand): { readonly wanted: Float64Array; readonly wantedAndHeld: Float64Array } {
  const { npuCount, chunkCount, heldOffset, heldChunk, wanted } = demand;
  const count = new Float64Array(npuCount).fill(chunkCount);
  const both = Float64Array.from({ length: npuCount }, (_, v) => heldOffset[v + 1] - heldOffset[v]);
  if (wanted === null) return { wanted: count, wantedAndHeld: both };
  const words = (chunkCount + 31) >>> 5;
  for (let v = 0; v < npuCount; v++) {
    count[v] = 0;
    for (let i = v * words; i < (v + 1) * words; i++) count[v] += popcount(wanted[i]);
    for (let i = heldOffset[v]; i < heldOffset[v + 1]; i++) {
      const c = heldChunk[i];
      if (((wanted[v * words + (c >>> 5)] >>> (c & 31)) & 1) === 0) both[v]--;
    }
  }
  return { wanted: count, wantedAndHeld: both };
}

/** Returns how many deliveries a match problem needs: wanted and not held at the start. O(npus * chunks / 32 + held). */
export function deliveriesOf(problem: MatchProblem): number {
  const { wanted, wantedAndHeld } = demandOf({ ...problem, npuCount: problem.network.npuCount });
  let count = 0;
  for (let v = 0; v < wanted.length; v++) count += wanted[v] - wantedAndHeld[v];
  return count;
}

/** Returns the number of one bits of a 32-bit word. */
export function popcount(word: number): number {
  let x = word - ((word >>> 1) & 0x55555555);
  x = (x & 0x33333333) + ((x >>> 2) & 0x33333333);
  return Math.imul((x + (x >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}
