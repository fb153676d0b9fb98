import { gcd } from "../../model/numbers/integers.ts";
import type { Topology } from "../../model/topology/topology.ts";
import { fromBaseline, refuseGroups } from "./baseline.ts";
import { ordersOfRanks } from "./npu-ranks.ts";
import { ringMessages } from "./ring-lanes.ts";

/** Returns the steps a, ascending, for which every NPU i has a link to i + a and these links make one ring. O(links). */
export function shiftsOf(topology: Topology): number[] {
  const { npuCount, linkSource, linkTarget } = topology;
  const seen = new Map<number, Set<number>>();
  for (let link = 0; link < linkSource.length; link++) {
    if (linkSource[link] >= npuCount || linkTarget[link] >= npuCount) continue;
    const shift = (linkTarget[link] - linkSource[link] + npuCount) % npuCount;
    const from = seen.get(shift) ?? new Set();
    seen.set(shift, from.add(linkSource[link]));
  }
  const rings = [...seen].filter(([shift, from]) => from.size === npuCount && gcd(shift, npuCount) === 1);
  return rings.map(([shift]) => shift).sort((a, b) => a - b);
}

/**
 * Rings i -> i + a side by side, one for every step a that has links everywhere and is prime to N, each with an equal part of the
 * chunks (the ShiftedRing of Zhao 2026, 3.8.2, where there are two such steps and their opposites).
 */
export const shiftedRings = fromBaseline({
  name: "shifted-rings",
  description: "rings i -> i + a side by side, for every step a the network has, both ways (baseline)",
  collectives: ["allgather", "reducescatter", "allreduce"],
  refuses(topology, collective) {
    if (shiftsOf(topology).length > 0) return refuseGroups("shifted-rings", topology, collective);
    return "a network in which links from every NPU i to i + a make a ring, such as ring:8, circulant:16,1,3";
  },
  lanes: ({ topology }) => shiftsOf(topology).length,
  issue({ topology, collective }) {
    const { npuCount } = topology;
    const orders = shiftsOf(topology).map((shift) =>
      Array.from({ length: npuCount }, (_, i) => (i * shift) % npuCount),
    );
    return ringMessages(collective, ordersOfRanks(collective, orders));
  },
  words({ topology, collective }) {
    const used = shiftsOf(topology).slice(0, collective.chunksPerNpu);
    return used.length === 1 ? `1 ring: step ${used[0]}` : `${used.length} rings: steps ${used.join(", ")}`;
  },
});
