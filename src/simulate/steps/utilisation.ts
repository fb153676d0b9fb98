import { linkCount, linkNames, type Topology } from "../../model/topology/topology.ts";

/** How busy the links were. */
export interface Utilisation {
  /** Mean over all links of busy time / makespan, 0 .. 1. */
  readonly mean: number;
  /** The same of the busiest link. */
  readonly max: number;
  /** The busiest link, lowest index first; null where nothing moved. */
  readonly bottleneck: { readonly link: number; readonly name: string } | null;
}

/** Returns the utilisation of the links from their busy times and the makespan, both in the same unit. O(links). */
export function utilisation(topology: Topology, makespan: number, linkBusy: Float64Array): Utilisation {
  let total = 0;
  let busiest = -1;
  for (let link = 0; link < linkCount(topology); link++) {
    total += linkBusy[link];
    if (linkBusy[link] > (busiest < 0 ? 0 : linkBusy[busiest])) busiest = link;
  }
  if (busiest < 0 || makespan <= 0) return { mean: 0, max: 0, bottleneck: null };
  return {
    mean: total / makespan / linkCount(topology),
    max: linkBusy[busiest] / makespan,
    bottleneck: { link: busiest, name: linkNames(topology)[busiest] },
  };
}
