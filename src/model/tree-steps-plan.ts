import type { TreeFlow } from "./tree-flow.ts";
import type { Carried } from "./tree-steps-chunks.ts";
import type { EdgeTimes } from "./tree-steps-edges.ts";

const PARTS = 2 ** 20;

/**
 * Returns when a start at a time of the closed form is planned: at the time stretched by 1 + m / 2^20, rounded up, m the
 * least for which no route gets its next chunk before latency and serialisation of the one before are over. Exact while
 * the result is below 2^53.
 *
 * Such a plan is valid in the link-busy model: let F be the stretch. Chunks of a route start s apart in the closed form and F s
 * >= s + latency; what follows a transfer starts no earlier than s + latency after it, and F >= 1. Rounding up keeps both,
 * since ceil(F (a + b)) - ceil(F a) >= floor(F b). And as F >= 1 earlier starts stay earlier, ties stay ties.
 */
export function planClock(forests: readonly EdgeTimes[]): (ps: number) => number {
  const m = forests.reduce((most, times) => Math.max(most, stretchOf(times)), 0);
  return (ps) => {
    const whole = Math.floor(ps / PARTS);
    return ps + whole * m + Math.ceil(((ps - whole * PARTS) * m) / PARTS);
  };
}

/** Above 2^30 m is rounded up to a multiple of 2^20, so that products of 20 bits with it are exact. */
function stretchOf({ forest, serialPs, latencyPs }: EdgeTimes): number {
  const trees = forest.root.length;
  const edges = trees === 0 ? 0 : latencyPs.length / trees;
  let most = 0n;
  for (let tree = 0; tree < trees; tree++) {
    let longest = 0;
    for (let edge = tree * edges; edge < (tree + 1) * edges; edge++) longest = Math.max(longest, latencyPs[edge]);
    const serial = BigInt(serialPs[tree]);
    const m = (BigInt(longest) * BigInt(PARTS) + serial - 1n) / serial;
    if (m > most) most = m;
  }
  return most <= 2n ** 30n ? Number(most) : Number((most + BigInt(PARTS) - 1n) / BigInt(PARTS)) * PARTS;
}

/**
 * Returns, for each forest, when the first senders of each of its trees send each chunk that it carries, in the closed
 * form: back to back from 0. Where the forests of an all-reduce run side by side, a root broadcasts a chunk when it
 * is complete there and the tree has sent the one before. O(chunks).
 */
export function departuresOf(flow: TreeFlow, times: readonly EdgeTimes[], carried: readonly Carried[]): Float64Array[] {
  const backToBack = carried.map(({ offset, chunk }, f) => {
    const departure = new Float64Array(chunk.length);
    times[f].serialPs.forEach((serial, tree) => {
      for (let i = offset[tree]; i < offset[tree + 1]; i++) departure[i] = (i - offset[tree]) * serial;
    });
    return departure;
  });
  if (!flow.concurrent) return backToBack;
  const complete = new Float64Array(carried[0].chunk.length);
  times[0].fillPs.forEach((fill, tree) => {
    const { offset, chunk } = carried[0];
    for (let i = offset[tree]; i < offset[tree + 1]; i++) complete[chunk[i]] = backToBack[0][i] + fill;
  });
  const broadcast = backToBack[1];
  times[1].serialPs.forEach((serial, tree) => {
    const { offset, chunk } = carried[1];
    let free = 0;
    for (let i = offset[tree]; i < offset[tree + 1]; i++) {
      broadcast[i] = Math.max(free, complete[chunk[i]]);
      free = broadcast[i] + serial;
    }
  });
  return backToBack;
}
