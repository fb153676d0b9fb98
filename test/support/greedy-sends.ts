import { type Collective, membersOf } from "../../src/model/collective/collective.ts";
import { routeTimes } from "../../src/model/routes/routes.ts";
import { mayCarry, type SketchNetwork } from "../../src/model/sketch/sketch.ts";
import type { Sends } from "../../src/synthesize/taccl/stages.ts";

/** Returns ways for all chunks, one after the other: whoever still wants a chunk gets it over the links that are least in use. */
export function greedySends(network: SketchNetwork, collective: Collective): Sends {
  const { routes, topology } = network;
  const { slotPs } = routeTimes(topology, routes, collective.chunkBytes);
  const load = new Float64Array(topology.linkSource.length);
  const rows: (readonly [number, number])[] = [];
  for (let chunk = 0; chunk < collective.chunkCount; chunk++) {
    const holders = membersOf(collective, collective.pre, chunk);
    const cost = new Float64Array(topology.npuCount).fill(Number.POSITIVE_INFINITY);
    for (const npu of holders) cost[npu] = 0;
    const taken = new Set<number>();
    for (const npu of membersOf(collective, collective.post, chunk)) {
      const reached = Float64Array.from(cost);
      const by = new Int32Array(topology.npuCount).fill(-1);
      for (let changed = true; changed; ) {
        changed = false;
        for (let route = 0; route < slotPs.length; route++) {
          const [from, to] = [routes.source[route], routes.target[route]];
          if (network.leavesBox[route] === 1 && !mayCarry(network, holders[0], from)) continue;
          let busy = 0;
          for (let i = routes.linkOffset[route]; i < routes.linkOffset[route + 1]; i++) {
            busy = Math.max(busy, load[routes.links[i]]);
          }
          const time = Math.max(reached[from], busy) + slotPs[route];
          if (time >= reached[to]) continue;
          reached[to] = time;
          by[to] = route;
          changed = true;
        }
      }
      for (let at = npu; by[at] >= 0; at = routes.source[by[at]]) {
        if (cost[at] < Number.POSITIVE_INFINITY || taken.has(at)) break;
        taken.add(at);
        cost[at] = reached[at];
        rows.push([chunk, by[at]]);
        for (let i = routes.linkOffset[by[at]]; i < routes.linkOffset[by[at] + 1]; i++) {
          load[routes.links[i]] += slotPs[by[at]];
        }
      }
    }
  }
  rows.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  return { chunk: Int32Array.from(rows, ([c]) => c), route: Int32Array.from(rows, ([, r]) => r) };
}
