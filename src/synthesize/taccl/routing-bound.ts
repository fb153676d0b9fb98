import { type Collective, membersOf } from "../../model/collective/collective.ts";
import { routeCount } from "../../model/routes/routes.ts";
import type { SketchNetwork } from "../../model/sketch/sketch-network.ts";
import type { RoutingCosts } from "./routing-costs.ts";

/**
 * Returns a time below which no routing loads links, exact integer picoseconds: chunks that must enter, or leave, an NPU or a
 * box pass one of the routes across, and a link that takes `once + n * each` carries whole numbers of them. Of a route's links
 * the one that counts is the first, second .. or the last, second last .., whichever proves most. Sound for any schedule where
 * `costs` has latencies once for each route. O((NPUs + boxes) * routes * route length).
 */
export function loadBound(network: SketchNetwork, whole: Collective, costs: RoutingCosts): number {
  const { boxOf, topology } = network;
  const { npuCount } = topology;
  const boxes = boxOf.reduce((most, box) => Math.max(most, box + 1), 0);
  const npus = crossings(whole, npuCount, (npu) => npu);
  const groups = crossings(whole, boxes, (npu) => boxOf[npu]);
  const { source, target } = network.routes;
  const sides: Cut[] = [];
  const add = (counts: Crossings, of: (npu: number) => number, sets: number): void => {
    const into: number[][] = Array.from({ length: sets }, () => []);
    const outOf: number[][] = Array.from({ length: sets }, () => []);
    for (let route = 0; route < routeCount(network.routes); route++) {
      if (of(source[route]) === of(target[route])) continue;
      into[of(target[route])].push(route);
      outOf[of(source[route])].push(route);
    }
    for (let set = 0; set < sets; set++) {
      sides.push({ chunks: counts.into[set], routes: into[set] }, { chunks: counts.outOf[set], routes: outOf[set] });
    }
  };
  add(npus, (npu) => npu, npuCount);
  if (boxes > 1) add(groups, (npu) => boxOf[npu], boxes);
  return sides.reduce((most, cut) => Math.max(most, cutBound(network, cut, costs)), 0);
}

interface Crossings {
  /** [sets] chunks that must enter, and leave. */
  readonly into: Float64Array;
  readonly outOf: Float64Array;
}

interface Cut {
  readonly chunks: number;
  readonly routes: readonly number[];
}

function crossings(whole: Collective, sets: number, of: (npu: number) => number): Crossings {
  const into = new Float64Array(sets);
  const outOf = new Float64Array(sets);
  for (let chunk = 0; chunk < whole.chunkCount; chunk++) {
    const held = new Set(Array.from(membersOf(whole, whole.pre, chunk), of));
    const wanted = new Set(Array.from(membersOf(whole, whole.post, chunk), of));
    for (const set of wanted) if (!held.has(set)) into[set]++;
    if (held.size !== 1) continue;
    const [only] = held;
    if (wanted.size > 1 || !wanted.has(only)) outOf[only]++;
  }
  return { into, outOf };
}

/** Cheapest chunk of the routes over one link. */
interface Port {
  each: number;
  once: number;
}

function cutBound({ routes }: SketchNetwork, { chunks, routes: across }: Cut, costs: RoutingCosts): number {
  if (chunks === 0 || across.length === 0) return 0;
  const { linkOffset, links } = routes;
  const longest = across.reduce((most, route) => Math.max(most, linkOffset[route + 1] - linkOffset[route]), 0);
  let most = 0;
  for (let step = 0; step < 2 * longest; step++) {
    const ports = new Map<number, Port>();
    for (const route of across) {
      const last = linkOffset[route + 1] - linkOffset[route] - 1;
      const k = linkOffset[route] + (step < longest ? Math.min(step, last) : Math.max(0, last - (step - longest)));
      const each = Math.floor(costs.eachPs[route] * costs.share[k]);
      const once = Math.floor(costs.oncePs[route] * costs.share[k]);
      const port = ports.get(links[k]);
      if (port === undefined) ports.set(links[k], { each, once });
      else {
        port.each = Math.min(port.each, each);
        port.once = Math.min(port.once, once);
      }
    }
    most = Math.max(most, leastTime([...ports.values()], chunks));
  }
  return most;
}

/** Returns the least whole time in which the ports carry so many chunks. */
function leastTime(ports: readonly Port[], chunks: number): number {
  const carried = (time: number): number => {
    let total = 0;
    for (const { each, once } of ports) {
      if (time >= once + each) total += each === 0 ? chunks : Math.floor((time - once) / each);
    }
    return total;
  };
  let low = 0;
  let high = ports.reduce((most, { each, once }) => Math.min(most, once + chunks * each), Number.POSITIVE_INFINITY);
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (carried(middle) >= chunks) high = middle;
    else low = middle + 1;
  }
  return high;
}
