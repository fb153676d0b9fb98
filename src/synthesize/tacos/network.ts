import type { TenNetwork } from "../../engine/contract/kernels.ts";
import { type Collective, groupOfChunk, membersOf, type Placement } from "../../model/collective/collective.ts";
import { gcd } from "../../model/numbers/integers.ts";
import { type RouteSet, type RouteTimes, routeCount } from "../../model/routes/routes.ts";
import { linkCount, type Topology } from "../../model/topology/topology.ts";

const MOST_UNITS = 2 ** 30;

/** Returns the least common multiple, or 0 once it passes MOST_UNITS. */
function lcm(a: number, b: number): number {
  if (a === 0 || b === 0) return 0;
  const multiple = (a / gcd(a, b)) * b;
  return multiple > MOST_UNITS ? 0 : multiple;
}

/**
 * Returns the time-expanded network of the routes: a resource for every physical link whose routes could together ask for
 * more than the whole of it. Shares become integer units of a common denominator; where that would pass 2^30 a share is
 * rounded up to 1/2^30, which wastes a little and never overfills the link. O(route links).
 */
export function tenNetwork(topology: Topology, routes: RouteSet, times: RouteTimes): TenNetwork {
  const links = linkCount(topology);
  const denominator = new Float64Array(links).fill(1);
  for (let i = 0; i < routes.links.length; i++) {
    const link = routes.links[i];
    denominator[link] = lcm(denominator[link], routes.shareDen[i]);
  }
  const capacityOf = (link: number): number => denominator[link] || MOST_UNITS;
  const unitsOf = (i: number): number =>
    Math.ceil((routes.shareNum[i] * capacityOf(routes.links[i])) / routes.shareDen[i]);
  const asked = new Float64Array(links);
  for (let i = 0; i < routes.links.length; i++) asked[routes.links[i]] += unitsOf(i);
  const resource = new Int32Array(links).fill(-1);
  const capacity: number[] = [];
  for (let link = 0; link < links; link++) {
    if (asked[link] <= capacityOf(link)) continue;
    resource[link] = capacity.length;
    capacity.push(capacityOf(link));
  }
  const count = routeCount(routes);
  const useOffset = new Int32Array(count + 1);
  const useResource: number[] = [];
  const useUnits: number[] = [];
  for (let route = 0; route < count; route++) {
    for (let i = routes.linkOffset[route]; i < routes.linkOffset[route + 1]; i++) {
      const shared = resource[routes.links[i]];
      if (shared < 0) continue;
      useResource.push(shared);
      useUnits.push(unitsOf(i));
    }
    useOffset[route + 1] = useResource.length;
  }
  return {
    npuCount: topology.npuCount,
    routeSource: routes.source,
    routeTarget: routes.target,
    slotPs: times.slotPs,
    useOffset,
    useResource: Int32Array.from(useResource),
    useUnits: Int32Array.from(useUnits),
    capacity: Int32Array.from(capacity),
  };
}

/**
 * A phase is a collective without reduction, synthesized on the topology or on the topology with its links turned around;
 * in the second case its transfers are run backwards in time and add up instead of copying (TACOS 2024, section IV-E,
 * figure 11: reduce is a broadcast reversed, reduce-scatter an all-gather reversed, all-reduce the one after the other).
 */
export interface Phase {
  readonly name: string;
  readonly reversed: boolean;
  /** Transfers of the final schedule reduce. */
  readonly reduces: boolean;
  /** Every chunk has one source and one target, and NPUs that do not want it may pass it on. */
  readonly unicast: boolean;
  /** Precondition and postcondition of the phase, in the direction in which it is synthesized. */
  readonly collective: Collective;
}

function firstMembers(collective: Collective, placement: Placement): Placement {
  const npu = Int32Array.from({ length: collective.chunkCount }, (_, c) => membersOf(collective, placement, c)[0]);
  return { kind: "one", npu };
}

/** Returns the owner of each chunk of an all-reduce: rank b of its group for the chunks of block b. */
function blockOwners(collective: Collective): Placement {
  const perGroup = collective.chunkCount / collective.groupCount;
  const npu = Int32Array.from({ length: collective.chunkCount }, (_, c) => {
    const rank = Math.floor((c % perGroup) / collective.chunksPerNpu);
    return collective.groupMembers[groupOfChunk(collective, c) * collective.groupSize + rank];
  });
  return { kind: "one", npu };
}

/** Returns the phases of a collective, in the order in which they run. */
export function phasesOf(collective: Collective): Phase[] {
  const { kind, pre, post, reduces } = collective;
  const plain = (from: Placement, to: Placement): Collective => ({
    ...collective,
    kind:
      from.kind === "one" && to.kind === "group" && kind !== "broadcast" && kind !== "reduce" ? "allgather" : "custom",
    reduces: false,
    pre: from,
    post: to,
  });
  const forward = (name: string, from: Placement, to: Placement): Phase => ({
    name,
    reversed: false,
    reduces: false,
    unicast: from.kind === "one" && to.kind === "one",
    collective: plain(from, to),
  });
  const backward = (name: string, from: Placement, to: Placement): Phase => ({
    name,
    reversed: true,
    reduces,
    unicast: from.kind === "one" && to.kind === "one",
    collective: plain(to, from),
  });
  if (kind === "gather") return [backward("gather", pre, post)];
  if (!reduces) return [forward(kind, pre, post)];
  if (post.kind === "one") return [backward(kind, pre, post)];
  const owners = kind === "allreduce" ? blockOwners(collective) : firstMembers(collective, post);
  return [backward("reduce-scatter", pre, owners), forward("all-gather", owners, post)];
}
