import { InfeasibleError } from "../../errors.ts";
import { linkCount, nodeCount, outLinks, type Topology } from "../../model/topology.ts";
import type { Messages } from "./messages.ts";
import type { Paths } from "./paths.ts";

/**
 * Problem: whole messages on one path each, so that the busiest link is busy for as short as possible.
 *
 * Local search: a message that takes a link pays costPs * (FLAT + (busy / B)^16), where busy counts the message itself and B is
 * the time to be reached. A message on a link above B leaves its path and takes the cheapest one (Dijkstra), which may be the
 * old one. What all messages would pay, added one after the other, falls with every change, so the search ends. FLAT keeps
 * paths short where links have room.
 */

const FLAT = 1e-3;
/** Rounds over all links above the target. */
const MOST_ROUNDS = 12;
/** Links looked at by all searches together: some seconds. */
const MOST_STEPS = 1.5e8;

/** What `balanced` found. */
export interface Balanced {
  /** [links] messages on each. */
  readonly load: Int32Array;
  /** Time that the busiest link is busy. */
  readonly busiestPs: number;
  /** Messages that changed their path. */
  readonly moved: number;
}

/**
 * Changes `paths` until no link is busy for more than `targetPs` or no message gains by another path, and gives a path to
 * messages without; returns the loads. `costPs` [links] is how long one message keeps a link busy. Throws InfeasibleError for
 * a message that cannot reach its target.
 */
export function balanced(
  topology: Topology,
  messages: Messages,
  paths: Paths,
  costPs: Float64Array,
  targetPs: number,
): Balanced {
  const load = new Int32Array(linkCount(topology));
  for (const path of paths) for (const link of path) load[link]++;
  const search = pathSearch(topology, costPs, load, targetPs);
  let moved = 0;
  const route = (m: number): boolean => {
    const old = paths[m] as Int32Array;
    for (const link of old) load[link]--;
    const before = search.costOf(old);
    const found = search.cheapest(messages.source[m], messages.target[m]);
    const better = old.length === 0 || search.costOf(found) < before * (1 - 1e-9);
    if (better) paths[m] = found;
    for (const link of paths[m] as Int32Array) load[link]++;
    return better;
  };
  for (let m = 0; m < paths.length; m++) if ((paths[m] as Int32Array).length === 0) route(m);

  const isAbove = (link: number): boolean => load[link] * costPs[link] > targetPs * (1 + 1e-9);
  for (let round = 0; round < MOST_ROUNDS && search.steps() < MOST_STEPS; round++) {
    const busy = Uint8Array.from(load, (_, link) => (isAbove(link) ? 1 : 0));
    let changed = 0;
    for (let m = 0; m < paths.length && search.steps() < MOST_STEPS; m++) {
      if (!(paths[m] as Int32Array).some((link) => busy[link] === 1 && isAbove(link))) continue;
      if (route(m)) changed++;
    }
    moved += changed;
    if (changed === 0) break;
  }
  let busiestPs = 0;
  for (let link = 0; link < load.length; link++) busiestPs = Math.max(busiestPs, load[link] * costPs[link]);
  return { load, busiestPs, moved };
}

interface PathSearch {
  /** Returns the links of the cheapest path, ties by the order of links. */
  cheapest(source: number, target: number): Int32Array;
  /** Returns what one more message pays for a path. */
  costOf(path: Int32Array): number;
  /** Links looked at so far. */
  steps(): number;
}

function pathSearch(topology: Topology, costPs: Float64Array, load: Int32Array, targetPs: number): PathSearch {
  const { linkTarget, linkSource } = topology;
  const { offset, links } = outLinks(topology);
  const nodes = nodeCount(topology);
  const distance = new Float64Array(nodes);
  const via = new Int32Array(nodes);
  const stamp = new Int32Array(nodes);
  const heapKey = new Float64Array(linkCount(topology) + 1);
  const heapNode = new Int32Array(heapKey.length);
  const perTarget = targetPs > 0 ? 1 / targetPs : 0;
  let searches = 0;
  let steps = 0;
  let size = 0;

  const price = (link: number): number => {
    const x = (load[link] + 1) * costPs[link] * perTarget;
    const x2 = x * x;
    const x4 = x2 * x2;
    const x8 = x4 * x4;
    return costPs[link] * (FLAT + x8 * x8);
  };
  const push = (key: number, node: number): void => {
    let i = size++;
    while (i > 0) {
      const up = (i - 1) >> 1;
      if (heapKey[up] <= key) break;
      heapKey[i] = heapKey[up];
      heapNode[i] = heapNode[up];
      i = up;
    }
    heapKey[i] = key;
    heapNode[i] = node;
  };
  const removeTop = (): void => {
    const key = heapKey[--size];
    const node = heapNode[size];
    let i = 0;
    for (let child = 1; child < size; child = 2 * i + 1) {
      if (child + 1 < size && heapKey[child + 1] < heapKey[child]) child++;
      if (heapKey[child] >= key) break;
      heapKey[i] = heapKey[child];
      heapNode[i] = heapNode[child];
      i = child;
    }
    heapKey[i] = key;
    heapNode[i] = node;
  };

  const cheapest = (source: number, target: number): Int32Array => {
    searches++;
    size = 0;
    distance[source] = 0;
    stamp[source] = searches;
    push(0, source);
    while (size > 0 && heapNode[0] !== target) {
      const key = heapKey[0];
      const node = heapNode[0];
      removeTop();
      if (key > distance[node]) continue;
      steps += offset[node + 1] - offset[node];
      for (let k = offset[node]; k < offset[node + 1]; k++) {
        const link = links[k];
        const next = linkTarget[link];
        const reach = key + price(link);
        if (stamp[next] === searches && distance[next] <= reach) continue;
        stamp[next] = searches;
        distance[next] = reach;
        via[next] = link;
        push(reach, next);
      }
    }
    if (size === 0) {
      const [from, to] = [source, target].map((npu) => topology.nodeNames[npu]);
      throw new InfeasibleError(`NPU ${from} cannot reach NPU ${to}`, { from: source, to: target });
    }
    const path: number[] = [];
    for (let node = target; node !== source; node = linkSource[via[node]]) path.push(via[node]);
    return Int32Array.from(path.reverse());
  };
  const costOf = (path: Int32Array): number => path.reduce((sum, link) => sum + price(link), 0);
  return { cheapest, costOf, steps: () => steps };
}
