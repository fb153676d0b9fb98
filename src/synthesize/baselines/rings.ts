import { whyNoRing } from "../../model/routes/no-ring.ts";
import { type RingDecomposition, ringDecomposition } from "../../model/routes/ring-decomposition.ts";
import type { Topology } from "../../model/topology/topology.ts";
import { fromBaseline, refuseGroups } from "./baseline.ts";
import { ordersOfRanks } from "./npu-ranks.ts";
import { ringMessages } from "./ring-lanes.ts";

const found = new WeakMap<Topology, RingDecomposition>();

/** Returns the rings of a network, looked for once. */
function ringsOf(topology: Topology): readonly Int32Array[] {
  const known = found.get(topology) ?? ringDecomposition(topology);
  found.set(topology, known);
  return known.rings;
}

/** Rings over all NPUs that share no bandwidth, as many as are found, each with an equal part of the chunks. */
export const rings = fromBaseline({
  name: "rings",
  description: "several rings that share no link, each with an equal part of the data (baseline)",
  collectives: ["allgather", "reducescatter", "allreduce", "broadcast", "reduce"],
  refuses: (topology, collective) => refuseGroups("rings", topology, collective) ?? whyNoRing(topology),
  lanes: ({ topology }) => ringsOf(topology).length,
  pipelines: () => true,
  issue: ({ topology, collective }) => ringMessages(collective, ordersOfRanks(collective, ringsOf(topology))),
  words({ topology, collective }) {
    const used = Math.min(ringsOf(topology).length, collective.chunksPerNpu);
    return used === 1 ? "1 ring" : `${used} rings`;
  },
});
