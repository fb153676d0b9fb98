import type { Collective } from "../collective/collective.ts";
import { distancesFrom, type Graph, graph } from "../graph/graph.ts";
import type { RouteSet } from "../routes/routes.ts";

/** Above this many (sources x arcs) hops are not counted. */
const DISTANCE_WORK = 20_000_000;

/**
 * Returns how many transfers a collective takes at least over these routes; 0 where that is not known (custom).
 *
 * Everyone but the holder receives an all-gathered or broadcast chunk, everyone but its NPU sends a contribution to a reduced
 * one, an all-reduced chunk takes both (see `deliveries` in work.ts), and a chunk with one target takes its hops.
 */
export function transfersNeeded(collective: Collective, routes: RouteSet, npuCount: number): number {
  const { kind, groupSize, groupCount, chunksPerNpu } = collective;
  const others = (groupSize - 1) * groupCount * chunksPerNpu;
  switch (kind) {
    case "allgather":
    case "reducescatter":
      return groupSize * others;
    case "allreduce":
      return 2 * groupSize * others;
    case "broadcast":
    case "reduce":
      return others;
    case "custom":
      return 0;
    default:
      return totalHops(collective, routes, npuCount) * chunksPerNpu;
  }
}

/** Returns the hops from root to members, members to root, or from everyone to everyone in a group, over all groups. */
function totalHops(
  { kind, groupCount, groupSize, groupMembers, rootRank }: Collective,
  routes: RouteSet,
  npus: number,
) {
  const ones = new Float64Array(routes.source.length).fill(1);
  const turned = kind === "gather";
  const hops: Graph = graph(npus, turned ? routes.target : routes.source, turned ? routes.source : routes.target, ones);
  const sources = kind === "alltoall" ? groupMembers.length : groupCount;
  if (sources * (ones.length + npus) > DISTANCE_WORK) return 0;
  let sum = 0;
  for (let group = 0; group < groupCount; group++) {
    const members = groupMembers.subarray(group * groupSize, (group + 1) * groupSize);
    for (const [rank, source] of members.entries()) {
      if (kind !== "alltoall" && rank !== rootRank) continue;
      const distance = distancesFrom(hops, [source]);
      for (const v of members) sum += distance[v];
    }
  }
  return Number.isFinite(sum) ? sum : 0;
}
