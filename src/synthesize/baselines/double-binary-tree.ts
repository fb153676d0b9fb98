import type { Collective } from "../../model/collective/collective.ts";
import { doubleBinaryTree, fromTheRoot } from "../../model/graph/double-binary-tree.ts";
import { edgeColours } from "../../model/graph/edge-colouring.ts";
import { disjointSets, groupedBy } from "../../model/graph/graph.ts";
import { blocksOf, type Messages, messages } from "../../model/messages/messages.ts";
import { orderByTime } from "../../model/numbers/ordering.ts";
import { shortestRoutes } from "../../model/routes/list-routes.ts";
import { type RouteSet, type RouteTimes, routeTimes } from "../../model/routes/routes.ts";
import { linkCount, type Topology } from "../../model/topology/topology.ts";
import { fromBaseline } from "./baseline.ts";

/**
 * All-reduce over two binary trees, each of which sums half of the chunks at its root and sends the sums back down
 * (Zhao 2026, 3.8.2). Chunks follow each other through a tree as a pipeline; each hop takes a shortest path.
 */
export const doubleBinaryTrees = fromBaseline({
  name: "dbt",
  traits: { library: "in rank order", librariesOf: ["NCCL", "RCCL"] },
  description: "double binary tree: each tree reduces and broadcasts half of the chunks, pipelined (baseline)",
  collectives: ["allreduce"],
  lanes: () => 2,
  unit: () => 1,
  pipelines: () => true,
  issue: ({ topology, collective }) => treeMessages(topology, collective, doubleBinaryTree(collective.groupSize)),
  words: () => "two trees",
});

/** Adds the hops of a tree's first chunk: up, the deepest ranks first, then down from the root. */
function addHops(hops: Messages, parent: Int32Array, chunk: number, npu: (rank: number) => number): void {
  const below = [...fromTheRoot(parent)].filter((rank) => parent[rank] >= 0);
  for (const rank of below.toReversed()) hops.add(chunk, npu(rank), npu(parent[rank]), true);
  for (const rank of below) hops.add(chunk, npu(parent[rank]), npu(rank), false);
}

/** Returns [hops] when the first chunks are sent: as soon as what has to come before is there, at the hop's time of a cycle. */
function firstTimes(
  { chunk, source, target }: Messages,
  { ps, offsetPs }: ReturnType<typeof cycleOf>,
  slotPs: (hop: number) => number,
): Float64Array {
  const there = new Map<number, number>();
  let tree = -1;
  return offsetPs.map((offset, hop) => {
    if (chunk[hop] !== tree) there.clear();
    tree = chunk[hop];
    const ready = there.get(source[hop]) ?? 0;
    const start = offset + Math.max(0, Math.ceil((ready - offset) / ps)) * ps;
    const to = target[hop];
    there.set(to, Math.max(there.get(to) ?? 0, start + slotPs(hop)));
    return start;
  });
}

/**
 * Returns the messages of an all-reduce over trees of ranks ([ranks] parents, -1 at the root), each of which sums an equal part of
 * the chunks at its root and sends the sums back down. Chunks follow each other through a tree as a pipeline, and hops that share
 * a port take turns (Sanders, Speck and Traeff, 2009, colour the edges of two trees so): each sends once in a cycle, at its
 * own time of it. O(messages) beside the cycle.
 */
export function treeMessages(topology: Topology, collective: Collective, parents: readonly Int32Array[]): Messages {
  const blocks = blocksOf(collective);
  const perGroup = collective.chunkCount / blocks.groups;
  const trees = Math.min(parents.length, perGroup);
  const hops = messages();
  for (let group = 0; group < blocks.groups; group++) {
    for (let tree = 0; tree < trees; tree++) {
      addHops(hops, parents[tree] as Int32Array, group * perGroup + tree, (rank) => blocks.npu(group, rank));
    }
  }
  const { routes, routeOf } = shortestRoutes(topology, hops);
  const times = routeTimes(topology, routes, collective.chunkBytes);
  const cycle = cycleOf(linkCount(topology), routes, times, routeOf);
  const firstPs = firstTimes(hops, cycle, (hop) => times.slotPs[routeOf[hop]]);

  const count = hops.count;
  const turns = Math.ceil(perGroup / trees);
  const timePs = new Float64Array(count * turns);
  for (let i = 0; i < timePs.length; i++) timePs[i] = firstPs[i % count] + Math.floor(i / count) * cycle.ps;
  const list = messages();
  for (const i of orderByTime(timePs)) {
    const hop = i % count;
    const first = hops.chunk[hop];
    const later = Math.floor(i / count) * trees;
    if ((first % perGroup) + later >= perGroup) continue;
    list.add(first + later, hops.source[hop], hops.target[hop], hops.reduce[hop] === 1);
  }
  return list;
}

/** A cycle that repeats for ever: in each, every hop sends once, at its offset into the cycle. */
interface Cycle {
  readonly ps: number;
  /** [hops] 0 .. ps - 1. */
  readonly offsetPs: Float64Array;
}

/** Returns the most loaded link of the first half of each route, and of the second: the same where a route is a single link. */
function portsOf({ linkOffset, links }: RouteSet, load: Float64Array): { out: Int32Array; into: Int32Array } {
  const busiest = (from: number, to: number): number => {
    let best = links[from];
    for (let k = from + 1; k < to; k++) if (load[links[k]] > load[best]) best = links[k];
    return best;
  };
  const routes = linkOffset.length - 1;
  const out = new Int32Array(routes);
  const into = new Int32Array(routes);
  for (let route = 0; route < routes; route++) {
    const [from, to] = [linkOffset[route], linkOffset[route + 1]];
    const middle = Math.floor((from + to) / 2);
    out[route] = busiest(from, Math.max(middle, from + 1));
    into[route] = busiest(Math.min(middle, to - 1), to);
  }
  return { out, into };
}

/**
 * Returns a cycle as long as the busiest link is busy when every hop sends once, with offsets so that hops which leave through one
 * port, or arrive through one, take turns: ports that meet in hops are a bipartite graph, whose edges are coloured, and colours
 * are spread over the cycle. `routeOf`: [hops]. O(hops x ports) at most.
 */
function cycleOf(links: number, routes: RouteSet, { serialPs }: RouteTimes, routeOf: Int32Array): Cycle {
  const load = new Float64Array(links);
  for (const route of routeOf) {
    for (let k = routes.linkOffset[route]; k < routes.linkOffset[route + 1]; k++) {
      load[routes.links[k]] += serialPs[route];
    }
  }
  const ps = load.reduce((a, b) => Math.max(a, b), 0);
  const { out, into } = portsOf(routes, load);
  const together = disjointSets(2 * links);
  for (const route of routeOf) together.join(out[route], links + into[route]);
  const part = routeOf.map((route) => together.least(out[route]));
  const { offset, items } = groupedBy(part, links);
  const offsetPs = new Float64Array(routeOf.length);
  for (let first = 0; first < links; first++) {
    const hops = items.subarray(offset[first], offset[first + 1]);
    if (hops.length === 0) continue;
    const { colour, count } = edgeColours(
      compact(hops.map((hop) => out[routeOf[hop]])),
      compact(hops.map((hop) => into[routeOf[hop]])),
    );
    hops.forEach((hop, i) => {
      offsetPs[hop] = Math.floor((colour[i] * ps) / count);
    });
  }
  return { ps, offsetPs };
}

/** Returns numbers 0, 1, ... in the order in which they first occur. */
function compact(numbers: Int32Array): Int32Array {
  const known = new Map<number, number>();
  return numbers.map((number) => {
    const seen = known.get(number) ?? known.size;
    known.set(number, seen);
    return seen;
  });
}
