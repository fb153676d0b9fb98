import type { TrafficView } from "../protocol.ts";
import type { Moves } from "./moves.ts";

/** Returns what NPUs send each other in all, pair by pair. O(moves + ways log ways). */
export function trafficView({ topology: { npuCount }, chunk, way, ways, chunkBytes, weight }: Moves): TrafficView {
  const { source, target } = ways;
  const chunks = new Float64Array(source.length);
  for (let move = 0; move < chunk.length; move++) chunks[way[move]] += weight === null ? 1 : weight[chunk[move]];
  const used = new Map<number, number>();
  for (let w = 0; w < chunks.length; w++) {
    if (chunks[w] === 0) continue;
    const pair = source[w] * npuCount + target[w];
    used.set(pair, (used.get(pair) ?? 0) + chunks[w]);
  }
  const pairs = Float64Array.from(used.keys()).sort();
  return {
    source: Int32Array.from(pairs, (pair) => Math.floor(pair / npuCount)),
    target: Int32Array.from(pairs, (pair) => pair % npuCount),
    bytes: Float64Array.from(pairs, (pair) => (used.get(pair) as number) * chunkBytes),
  };
}
