import type { Collective } from "../../model/collective/collective.ts";
import { fromTheRoot } from "../../model/graph/double-binary-tree.ts";
import { blocksOf, type Messages, messages } from "../../model/messages/messages.ts";
import { orderByTime } from "../../model/numbers/ordering.ts";
import { shortestRoutes } from "../../model/routes/list-routes.ts";
import { routeTimes } from "../../model/routes/routes.ts";
import { linkCount, type Topology } from "../../model/topology/topology.ts";
import { cycleOf } from "./tree-slots.ts";

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
