import type { Parts } from "./parts.ts";
import type { Versions } from "./versions.ts";
import { freeChannels, mayFuse, type WireLimits, type Wires } from "./wires.ts";

/**
 * Returns wires for parts that follow trees, each run in one channel, or null where `most` runs to a connection are too few: the
 * first channel in which blocks can pass on all that the tree passes on, else the one in which fewest hops need another block.
 * Messages of one connection are in the order of events. O(hops + hops of leaders x channels).
 */
export function laneWires(parts: Parts, versions: Versions, limits: WireLimits, most: number): Wires | null {
  const { source, target, part, first, leader, moves } = parts;
  const channels = freeChannels(moves.rankCount, limits);
  const channel = new Int32Array(source.length);
  const fused = new Int32Array(source.length).fill(-1);
  const offset = new Int32Array(first.length + 1);
  for (const p of part) offset[p + 1]++;
  for (let p = 0; p < first.length; p++) offset[p + 1] += offset[p];
  const hops = new Int32Array(source.length);
  const next = offset.slice();
  for (let hop = 0; hop < source.length; hop++) hops[next[part[hop]]++] = hop;

  /** Returns how many hops of a part could not be passed on by the block that receives them; -1: the channel is full. */
  const conflicts = (mine: Int32Array, c: number): number => {
    let many = 0;
    for (const hop of mine) {
      if (channels.uses(c, source[hop], target[hop]) >= most || !channels.hasRoom(c, source[hop], target[hop]))
        return -1;
      const on = versions.onward[hop];
      if (mayFuse(parts, versions, hop, on) && !channels.mayMatch(c, target[hop], source[hop], target[on])) many++;
    }
    return many;
  };

  let channelCount = 1;
  for (let p = 0; p < first.length; p++) {
    const mine = hops.subarray(offset[p], offset[p + 1]);
    if (leader[p] < p) {
      const first = offset[leader[p]];
      mine.forEach((hop, i) => {
        channel[hop] = channel[hops[first + i]];
        fused[hop] = fused[hops[first + i]] < 0 ? -1 : versions.onward[hop];
      });
      continue;
    }
    let [best, fewest] = [-1, Number.POSITIVE_INFINITY];
    for (let c = 0; c < limits.channels && fewest > 0; c++) {
      const many = conflicts(mine, c);
      if (many >= 0 && many < fewest) [best, fewest] = [c, many];
      if (c >= channelCount) break;
    }
    if (best < 0) return null;
    channelCount = Math.max(channelCount, best + 1);
    for (const hop of mine) {
      channel[hop] = best;
      channels.use(best, source[hop], target[hop]);
      const on = versions.onward[hop];
      if (!mayFuse(parts, versions, hop, on)) continue;
      if (!channels.mayMatch(best, target[hop], source[hop], target[on])) continue;
      channels.match(best, target[hop], source[hop], target[on]);
      fused[hop] = on;
    }
  }
  return { channelCount, channel, fused };
}
