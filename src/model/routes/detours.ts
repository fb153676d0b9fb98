import { InfeasibleError } from "../../base/errors.ts";
import { heap } from "../graph/graph.ts";
import { ceil, type Rational } from "../numbers/rational.ts";
import { nodeCount, outLinks, pairName, type Topology } from "../topology/topology.ts";
import { serializationPs } from "./routes.ts";

/** Returns the links of a way from one NPU to another, around what failed. Throws InfeasibleError where there is none. */
export type Detours = (from: number, to: number) => readonly number[];

/**
 * Returns a function that finds detours, each the way with the least sum over its links of latency and of serialisation for a
 * chunk, the latter once more for every detour that was found before and takes the link: later ones go around earlier ones. Of
 * equal ways the one that is found first; NPUs on the way only forward. O(links log nodes) a call.
 */
export function detoursOn(topology: Topology, chunkBytes: Rational): Detours {
  const { linkTarget, linkLatencyPs, linkBytesPerSecond } = topology;
  const out = outLinks(topology);
  const taken = new Int32Array(linkTarget.length);
  const costOf = (link: number): number =>
    linkLatencyPs[link] + (1 + taken[link]) * Number(ceil(serializationPs(chunkBytes, linkBytesPerSecond[link])));
  return (from, to) => {
    const sum = new Float64Array(nodeCount(topology)).fill(Number.POSITIVE_INFINITY);
    const last = new Int32Array(sum.length).fill(-1);
    const next = heap();
    sum[from] = 0;
    next.add(0, from);
    while (next.size() > 0) {
      const reached = next.key();
      const node = next.take();
      if (node === to) break;
      if (reached > sum[node]) continue;
      for (let k = out.offset[node]; k < out.offset[node + 1]; k++) {
        const link = out.links[k];
        const ps = reached + costOf(link);
        if (ps >= sum[linkTarget[link]]) continue;
        sum[linkTarget[link]] = ps;
        last[linkTarget[link]] = link;
        next.add(ps, linkTarget[link]);
      }
    }
    if (last[to] < 0) throw new InfeasibleError(`no way is left: ${pairName(topology, from, to)}`, { from, to });
    const links: number[] = [];
    for (let node = to; node !== from; node = topology.linkSource[last[node]]) links.unshift(last[node]);
    for (const link of links) taken[link]++;
    return links;
  };
}
