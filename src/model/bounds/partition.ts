import type { Collective } from "../collective/collective.ts";
import { toGBps } from "../numbers/units.ts";
import { nodeCount, type Topology } from "../topology/topology.ts";
import { type Charged, capacityOf, smallestTime, transfersBy } from "./capacity.ts";
import type { RouteView } from "./graph.ts";
import { type Best, offerWhole } from "./witness.ts";

/** The nodes in disjoint parts; every NPU is in one. */
export interface Partition {
  /** [nodes] The part of a node, -1 for switches in none. */
  readonly part: Int32Array;
  readonly parts: number;
}

/** Partitions that one bound looks at; each costs O(links + routes). */
const MOST_PARTITIONS = 16;
/** Layers of switches that are placed with the NPUs below them. */
const MOST_LAYERS = 4;

/** Limit and bound of one problem ask for the same partitions. */
const remembered = new WeakMap<Topology, Partition[]>();

/**
 * Returns partitions whose parts are likely to be joined by few links: by node group, and by place in the group; of a product by
 * each coordinate, by the first few together and by the last few. They do not depend on bandwidths. Any partition gives a valid bound.
 */
export function fixedPartitions(topology: Topology): Partition[] {
  const known = remembered.get(topology);
  if (known !== undefined) return known;
  const found = findFixedPartitions(topology);
  remembered.set(topology, found);
  return found;
}

function findFixedPartitions(topology: Topology): Partition[] {
  const { npuCount, shape, nodeTraits } = topology;
  const groups = new Map<string, number>();
  const group = (npu: number): number => {
    const name = nodeTraits[npu].group;
    if (name === undefined) return npuCount + npu;
    const number = groups.get(name) ?? groups.size;
    if (number === groups.size) groups.set(name, number);
    return number;
  };
  const places = new Map<string, number>();
  const place = (npu: number): number => {
    const name = nodeTraits[npu].group;
    if (name === undefined) return npuCount + npu;
    const number = places.get(name) ?? 0;
    places.set(name, number + 1);
    return number;
  };
  const labels: Label[] = [group, place];
  if (shape.reduce((a, b) => a * b, 1) === npuCount && shape.length > 1) {
    let stride = 1;
    for (const size of shape) {
      const [inner, outer] = [stride, stride * size];
      labels.push((npu) => Math.floor(npu / inner) % size);
      labels.push((npu) => Math.floor(npu / outer));
      labels.push((npu) => npu % outer);
      stride = outer;
    }
  }
  return distinct(topology, labels);
}

/** Returns the partitions that runs of disjoint sets form, each NPU in none of a run by itself. O(nodes) each, and the sets. */
export function partitionsInto(topology: Topology, sets: readonly Int32Array[]): Partition[] {
  const runs: Int32Array[] = [];
  let run = new Int32Array(topology.npuCount);
  let last = 0;
  for (const set of sets) {
    if (last === 0 || set.some((node) => run[node] > 0)) {
      if (runs.length === MOST_PARTITIONS) break;
      run = new Int32Array(topology.npuCount);
      runs.push(run);
      last = 0;
    }
    last++;
    for (const node of set) if (node < run.length) run[node] = last;
  }
  return distinct(
    topology,
    runs.map((parts) => (npu: number) => (parts[npu] > 0 ? parts[npu] : topology.npuCount + npu)),
  );
}

/** Returns a number in 0 .. 2 * NPUs. */
type Label = (npu: number) => number;

/** Returns the partitions of NPUs with equal labels, equal partitions once, none of one part or of single NPUs. */
function distinct(topology: Topology, labels: readonly Label[]): Partition[] {
  const { npuCount } = topology;
  const found: Partition[] = [];
  const numbers = new Int32Array(2 * npuCount + 1);
  for (const label of labels) {
    if (found.length === MOST_PARTITIONS) break;
    numbers.fill(-1);
    let parts = 0;
    const part = new Int32Array(nodeCount(topology)).fill(-1);
    for (let npu = 0; npu < npuCount; npu++) {
      const own = label(npu);
      if (numbers[own] < 0) numbers[own] = parts++;
      part[npu] = numbers[own];
    }
    if (parts === 1 || parts === npuCount) continue;
    placeSwitches(topology, part);
    if (!found.some((other) => other.parts === parts && other.part.every((p, node) => p === part[node]))) {
      found.push({ part, parts });
    }
  }
  return found;
}

/** Puts switches with neighbours in one part only into that part, layer by layer. */
function placeSwitches({ linkSource, linkTarget, npuCount }: Topology, part: Int32Array): void {
  const SEVERAL = -2;
  for (let layer = 0; layer < MOST_LAYERS && part.length > npuCount; layer++) {
    const next = part.slice();
    const see = (node: number, neighbour: number): void => {
      if (part[node] !== -1 || part[neighbour] < 0) return;
      if (next[node] !== part[neighbour]) next[node] = next[node] === -1 ? part[neighbour] : SEVERAL;
    };
    for (let link = 0; link < linkSource.length; link++) {
      see(linkSource[link], linkTarget[link]);
      see(linkTarget[link], linkSource[link]);
    }
    for (let node = npuCount; node < part.length; node++) part[node] = next[node] === SEVERAL ? -1 : next[node];
  }
}

/**
 * Returns how often the chunks of an all-reduce must go from one part to another: 2(P-1) times a chunk whose contributions
 * start in P parts.
 *
 * Proof: let an NPU of part A be the first with the whole sum, at time t. The contributions of the P-1 other parts left
 * these parts over a tree into A by t. Each of the other parts then still has to get the sum, by a transfer that enters it
 * and ends at t or later; on the tree it would have had to end before t, to be passed on.
 */
function crossings(collective: Collective, { part, parts }: Partition): number {
  const { groupCount, groupSize, groupMembers, chunksPerNpu } = collective;
  /** [parts] the last group that has a member in it. */
  const seen = new Int32Array(parts).fill(-1);
  let count = 0;
  for (let group = 0; group < groupCount; group++) {
    let touched = 0;
    for (let i = group * groupSize; i < (group + 1) * groupSize; i++) {
      const own = part[groupMembers[i]];
      if (seen[own] === group) continue;
      seen[own] = group;
      touched++;
    }
    count += 2 * (touched - 1) * groupSize * chunksPerNpu;
  }
  return count;
}

/** Offers the bounds of an all-reduce from what all parts together must send, and receive, in whole transfers. */
export function tryRoutePartition(best: Best, view: RouteView, collective: Collective, partition: Partition): void {
  const count = crossings(collective, partition);
  if (count === 0 || (view.direct && fitsBetween(view, partition, count, best.wholePs))) return;
  const { routes, topology } = view;
  const { linkSource, linkTarget } = topology;
  const { part, parts } = partition;
  const leaving: Charged = { route: [], position: [] };
  const entering: Charged = { route: [], position: [] };
  for (let route = 0; route < view.slotPs.length; route++) {
    const from = part[routes.source[route]];
    const to = part[routes.target[route]];
    if (from === to) continue;
    let first = routes.linkOffset[route];
    while (part[linkTarget[routes.links[first]]] === from) first++;
    let last = routes.linkOffset[route + 1] - 1;
    while (part[linkSource[routes.links[last]]] === to) last--;
    leaving.route.push(route);
    leaving.position.push(first);
    entering.route.push(route);
    entering.position.push(last);
  }
  for (const charged of [leaving, entering]) {
    const [inside, beyond] = charged === leaving ? [linkSource, linkTarget] : [linkTarget, linkSource];
    const capacity = capacityOf(view, charged, null);
    if (transfersBy(capacity, best.wholePs) >= count) continue;
    const time = smallestTime(best.wholePs, (t) => transfersBy(capacity, t) >= count);
    offerWhole(best, time, () => {
      const used = new Set(charged.position.map((i) => routes.links[i]));
      let [own, all] = [0, 0];
      topology.linkBytesPerSecond.forEach((bytesPerSecond, link) => {
        if (used.has(link)) own += bytesPerSecond;
        if (part[inside[link]] >= 0 && part[beyond[link]] !== part[inside[link]]) all += bytesPerSecond;
      });
      return {
        kind: "work",
        demand: `${count} transfers between ${parts} sets of NPUs`,
        part: Array.from(part),
        totalGBps: toGBps(own),
        ...(own < all ? { networkGBps: toGBps(all) } : {}),
      };
    });
  }
}

/** Returns whether this many transfers can end by a time over the routes between parts, each of which has its link for itself. */
function fitsBetween(view: RouteView, { part }: Partition, transfers: number, time: number): boolean {
  const { routes, pacePs, leadPs } = view;
  const { source, target } = routes;
  let sum = 0;
  for (let route = 0; route < pacePs.length && sum < transfers; route++) {
    if (part[source[route]] === part[target[route]]) continue;
    sum += Math.max(0, Math.floor((time - (leadPs === null ? 0 : leadPs[route])) / pacePs[route]));
  }
  return sum >= transfers;
}
