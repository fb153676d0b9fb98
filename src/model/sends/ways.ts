import type { RouteSet } from "../routes/routes.ts";
import { addRoute, type RouteDraft, withShares } from "../routes/routing.ts";
import { inLinks, isNpu, nodeCount, outLinks, type Topology } from "../topology/topology.ts";

/** The ways that sends may take: routes of the pairs that send. */
export interface Ways {
  readonly routes: RouteSet;
  /** [pairs + 1] routes offset[p] .. offset[p + 1] - 1 are those of pair p; a pair may have none. */
  readonly offset: Int32Array;
  /** [sends] */
  readonly pairOf: Int32Array;
}

/** Of more shortest ways through switches, so many are looked at, others for each pair. */
const MOST_WAYS = 16;

/**
 * Returns the ways of sends: every direct link between the two NPUs, else the shortest ways through switches (16 of more, which
 * differ from pair to pair), at the whole rate of the narrowest link of each. Never through NPUs. O(sends + sources x links + links of the routes).
 */
export function waysOf(topology: Topology, source: Int32Array, target: Int32Array): Ways {
  const { npuCount } = topology;
  const keys = Float64Array.from(source, (npu, i) => npu * npuCount + target[i]);
  const pairs = [...new Set(keys)].sort((a, b) => a - b);
  const numberOf = new Map(pairs.map((key, pair) => [key, pair]));
  const draft: RouteDraft = { source: [], target: [], linkOffset: [0], links: [] };
  const offset = new Int32Array(pairs.length + 1);
  let last = -1;
  let distance: Int32Array = new Int32Array(0);
  pairs.forEach((key, pair) => {
    const [from, to] = [Math.floor(key / npuCount), key % npuCount];
    if (from !== last) distance = switchDistances(topology, from);
    last = from;
    for (const links of shortestWays(topology, distance, from, to)) addRoute(draft, from, to, links);
    offset[pair + 1] = draft.source.length;
  });
  return {
    routes: withShares(topology, draft, false),
    offset,
    pairOf: Int32Array.from(keys, (key) => numberOf.get(key) as number),
  };
}

/** Returns [nodes] how many links from an NPU through switches each switch is; -1 where it is not reached, 0 for the NPU. */
function switchDistances(topology: Topology, from: number): Int32Array {
  const { offset, links } = outLinks(topology);
  const distance = new Int32Array(nodeCount(topology)).fill(-1);
  distance[from] = 0;
  const queue = [from];
  for (const node of queue) {
    for (let k = offset[node]; k < offset[node + 1]; k++) {
      const next = topology.linkTarget[links[k]];
      if (isNpu(topology, next) || distance[next] >= 0) continue;
      distance[next] = distance[node] + 1;
      queue.push(next);
    }
  }
  return distance;
}

/** Returns direct links, else the shortest ways through switches, each as its links in order. */
function shortestWays(topology: Topology, distance: Int32Array, from: number, to: number): number[][] {
  const { offset, links } = inLinks(topology);
  const into = (node: number, isBefore: (node: number) => boolean): number[] =>
    Array.from(links.subarray(offset[node], offset[node + 1])).filter((link) => isBefore(topology.linkSource[link]));
  const direct = into(to, (node) => node === from);
  if (direct.length > 0) return direct.map((link) => [link]);
  let nearest = Number.POSITIVE_INFINITY;
  for (const link of into(to, (node) => !isNpu(topology, node) && distance[node] > 0))
    nearest = Math.min(nearest, distance[topology.linkSource[link]]);
  const ways: number[][] = [];
  const back = (node: number, left: number, behind: readonly number[]): void => {
    if (left < 0) {
      ways.push([...behind]);
      return;
    }
    const options = into(node, (before) => distance[before] === left);
    for (let i = 0; i < options.length && ways.length < MOST_WAYS; i++) {
      const link = options[(i + from + to) % options.length] as number;
      back(topology.linkSource[link], left - 1, [link, ...behind]);
    }
  };
  if (nearest < Number.POSITIVE_INFINITY) back(to, nearest, []);
  return ways;
}

/** Returns the shortest way from one NPU to another through anything, as its nodes; null where there is none. O(nodes + links). */
export function shortestWalk(topology: Topology, from: number, to: number): number[] | null {
  const { offset, links } = outLinks(topology);
  const before = new Int32Array(nodeCount(topology)).fill(-1);
  before[from] = from;
  const queue = [from];
  for (const node of queue) {
    if (node === to) break;
    for (let k = offset[node]; k < offset[node + 1]; k++) {
      const next = topology.linkTarget[links[k]];
      if (before[next] >= 0) continue;
      before[next] = node;
      queue.push(next);
    }
  }
  if (before[to] < 0) return null;
  const walk = [to];
  for (let node = before[to]; walk.at(-1) !== from; node = before[node]) walk.push(node);
  return walk.reverse();
}
