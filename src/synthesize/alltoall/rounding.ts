import { InfeasibleError } from "../../base/errors.ts";
import { linkCount, nodeCount, outLinks, type Topology } from "../../model/topology/topology.ts";
import type { Messages } from "./messages.ts";
import type { Paths } from "./paths.ts";

/**
 * Problem: whole messages on one path each, so that the busiest link is busy for as short as possible.
 *
 * Negotiated congestion (McMurchie and Ebeling 1995): a message that takes a link pays costPs * (FLAT + (busy / B)^16 + dues),
 * where busy counts the message itself and B is the time to be reached; a link above B raises its dues round by round. In a
 * round every message on a link above B leaves its path and takes the cheapest one (Dijkstra). The best state seen is the
 * answer. FLAT keeps paths short where links have room; dues let excess wander to where there is room, which prices alone do
 * not: 5-cube, 2 chunks: 33 messages on the busiest link without them, 32 (the mean of all links) with them.
 */

const FLAT = 1e-3;
const DUES = 0.1;
/** A link may be busy for so much longer than the flow asks for: a message more in 200. */
export const TOLERANCE = 0.005;
const MOST_ROUNDS = 100;
/** Rounds without a better state. */
const MOST_FRUITLESS = 25;
/** Links looked at by all searches together: some seconds. */
const MOST_STEPS = 1.5e8;

/**
 * Changes `paths` so that no link is busy for more than `targetPs`, or the busiest for as short as was found, and gives a path
 * to messages without; returns how long the busiest is busy. `costPs` [links] is how long one message keeps a link busy.
 * Throws InfeasibleError for a message that cannot reach its target.
 */
export function balanced(
  topology: Topology,
  messages: Messages,
  paths: Paths,
  costPs: Float64Array,
  targetPs: number,
): number {
  const load = new Int32Array(linkCount(topology));
  for (const path of paths) for (const link of path) load[link]++;
  const dues = new Float64Array(load.length);
  const search = pathSearch(topology, costPs, load, dues, targetPs);
  const route = (m: number): void => {
    for (const link of paths[m] as Int32Array) load[link]--;
    const found = search.cheapest(messages.source[m], messages.target[m]);
    for (const link of found) load[link]++;
    paths[m] = found;
  };
  for (let m = 0; m < paths.length; m++) if ((paths[m] as Int32Array).length === 0) route(m);

  const isAbove = (link: number): boolean => load[link] * costPs[link] > targetPs * (1 + TOLERANCE);
  let best = { ...worstOf(load, costPs, isAbove), paths: paths.slice() };
  let fruitless = 0;
  for (let round = 0; round < MOST_ROUNDS && best.above > 0; round++) {
    if (fruitless === MOST_FRUITLESS || search.steps() > MOST_STEPS) break;
    for (let link = 0; link < load.length; link++) if (isAbove(link)) dues[link] += DUES;
    for (let m = 0; m < paths.length; m++) if ((paths[m] as Int32Array).some(isAbove)) route(m);
    const now = worstOf(load, costPs, isAbove);
    const better = now.ps < best.ps || (now.ps === best.ps && now.above < best.above);
    fruitless = better ? 0 : fruitless + 1;
    if (better) best = { ...now, paths: paths.slice() };
  }
  for (let m = 0; m < paths.length; m++) paths[m] = best.paths[m] as Int32Array;
  return best.ps;
}

/** Returns how long the busiest link of these paths is busy. O(path links). */
export function busiestOf(paths: Paths, costPs: Float64Array): number {
  const load = new Int32Array(costPs.length);
  for (const path of paths) for (const link of path) load[link]++;
  return worstOf(load, costPs, () => false).ps;
}

/** Returns how long the busiest link is busy, and how many are above the target. */
function worstOf(load: Int32Array, costPs: Float64Array, isAbove: (link: number) => boolean) {
  let ps = 0;
  let above = 0;
  for (let link = 0; link < load.length; link++) {
    if (load[link] * costPs[link] > ps) ps = load[link] * costPs[link];
    if (isAbove(link)) above++;
  }
  return { ps, above };
}

interface PathSearch {
  /** Returns the links of the cheapest path, ties by the order of links. */
  cheapest(source: number, target: number): Int32Array;
  /** Links looked at so far. */
  steps(): number;
}

function pathSearch(
  topology: Topology,
  costPs: Float64Array,
  load: Int32Array,
  dues: Float64Array,
  targetPs: number,
): PathSearch {
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
    return costPs[link] * (FLAT + x8 * x8 + dues[link]);
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
  return { cheapest, steps: () => steps };
}
