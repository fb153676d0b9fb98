import { inLinks, nodeCount, outLinks, type Topology } from "../../model/topology/topology.ts";
import { extended, type Paths } from "./orbit-paths.ts";

/** What links cost and what is left of them, by orbit. */
export interface Meter {
  /** [links] */
  readonly orbit: Int32Array;
  /** [orbits] uses that are left. */
  readonly left: Float64Array;
  /** [orbits] exact integers >= 1. */
  readonly price: Float64Array;
}

/** The cheapest ways from some NPUs to all switches, through switches, over orbits with uses left. */
export interface Entries {
  /** [NPUs] 1 where ways may start. */
  readonly isSource: Uint8Array;
  /** [nodes] price of the way to each switch; Infinity: none. */
  readonly price: Float64Array;
  /** [nodes] its path (orbit-paths.ts). */
  readonly path: Int32Array;
}

/** Returns the cheapest ways from `sources`. Dijkstra 1959, switches of one price at a time: prices are few. */
export function entriesFrom(topology: Topology, paths: Paths, sources: Int32Array, meter: Meter): Entries {
  const { npuCount, linkTarget } = topology;
  const { orbit, left, price } = meter;
  const { offset, links } = outLinks(topology);
  const nodes = nodeCount(topology);
  const isSource = new Uint8Array(npuCount);
  const best = new Float64Array(nodes).fill(Number.POSITIVE_INFINITY);
  const path = new Int32Array(nodes).fill(-1);
  const via = new Int32Array(nodes).fill(-1);
  let open: number[] = [];
  const relax = (v: number, cost: number): void => {
    for (let i = offset[v]; i < offset[v + 1]; i++) {
      const w = linkTarget[links[i]];
      const o = orbit[links[i]];
      if (w < npuCount || left[o] < 1 || cost + price[o] >= best[w]) continue;
      if (best[w] === Number.POSITIVE_INFINITY) open.push(w);
      best[w] = cost + price[o];
      via[w] = links[i];
    }
  };
  for (let i = 0; i < sources.length; i++) {
    isSource[sources[i]] = 1;
    relax(sources[i], 0);
  }
  while (open.length > 0) {
    let least = Number.POSITIVE_INFINITY;
    for (const w of open) least = Math.min(least, best[w]);
    const settled = open.filter((w) => best[w] === least);
    open = open.filter((w) => best[w] > least);
    for (const w of settled) {
      const before = topology.linkSource[via[w]];
      path[w] = extended(paths, before < npuCount ? -1 : path[before], via[w]);
      relax(w, least);
    }
  }
  return { isSource, price: best, path };
}

/** Returns the last link of the cheapest way into an NPU that has uses left, the first of equals; -1 where there is none. */
export function entryInto(topology: Topology, entries: Entries, meter: Meter, npu: number): number {
  const { offset, links } = inLinks(topology);
  let entry = -1;
  let least = Number.POSITIVE_INFINITY;
  for (let i = offset[npu]; i < offset[npu + 1]; i++) {
    const price = entryPrice(topology, entries, meter, links[i]);
    if (price >= least) continue;
    least = price;
    entry = links[i];
  }
  return entry;
}

/** Returns the price of the cheapest way that ends with a link into an NPU; Infinity where there is none. */
export function entryPrice(topology: Topology, entries: Entries, { orbit, left, price }: Meter, link: number): number {
  const from = topology.linkSource[link];
  const o = orbit[link];
  if (left[o] < 1) return Number.POSITIVE_INFINITY;
  if (from >= topology.npuCount) return entries.price[from] + price[o];
  return entries.isSource[from] !== 0 ? price[o] : Number.POSITIVE_INFINITY;
}
