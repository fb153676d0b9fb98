import { type Collective, membersOf } from "../../src/model/collective/collective.ts";
import { linksOfRoute, routeCount, routeTimes } from "../../src/model/routes/routes.ts";
import { mayCarry, type SketchNetwork } from "../../src/model/sketch/sketch.ts";
import type { Sends } from "../../src/synthesize/taccl/stages.ts";

/** What sends take, worked out anew. */
export interface RoutingTimes {
  /** Of the busiest link; latencies count for every chunk inside boxes, once for each route between them. */
  readonly busiestPs: number;
  /** Of the busiest link where latencies count once for each route everywhere. */
  readonly mergedPs: number;
  /** Until the last chunk arrives, if nothing waits. */
  readonly lastPs: number;
}

/** Returns the times of sends; infinite where a chunk's sends form a cycle, so that it never arrives. Routes have whole links. */
export function routingTimes(network: SketchNetwork, whole: Collective, { chunk, route }: Sends): RoutingTimes {
  const { routes, leavesBox, topology } = network;
  const times = routeTimes(topology, routes, whole.chunkBytes);
  const busy = new Map<number, number>();
  const merged = new Map<number, number>();
  const used = new Set<number>();
  const parent = new Map<string, number>();
  for (let i = 0; i < chunk.length; i++) {
    const r = route[i];
    parent.set(`${chunk[i]}:${routes.target[r]}`, r);
    const first = !used.has(r);
    used.add(r);
    const serial = times.serialPs[r];
    const each = leavesBox[r] === 1 ? serial + (first ? times.latencyPs[r] : 0) : times.slotPs[r];
    for (const link of linksOfRoute(routes, r)) {
      busy.set(link, (busy.get(link) ?? 0) + each);
      merged.set(link, (merged.get(link) ?? 0) + serial + (first ? times.latencyPs[r] : 0));
    }
  }
  let lastPs = 0;
  for (const key of parent.keys()) {
    const [c, npu] = key.split(":").map(Number) as [number, number];
    let at = npu;
    let time = 0;
    for (let hops = 0; ; hops++) {
      const r = parent.get(`${c}:${at}`);
      if (r === undefined) break;
      if (hops > topology.npuCount) return { busiestPs: Infinity, mergedPs: Infinity, lastPs: Infinity };
      time += times.slotPs[r];
      at = routes.source[r];
    }
    lastPs = Math.max(lastPs, time);
  }
  return { busiestPs: Math.max(0, ...busy.values()), mergedPs: Math.max(0, ...merged.values()), lastPs };
}

/** Returns what is wrong with sends: each chunk's must be a tree out of a holder that reaches all targets, and no more than that. */
export function routingFaults(network: SketchNetwork, whole: Collective, { chunk, route }: Sends): string[] {
  const { routes, leavesBox } = network;
  const faults: string[] = [];
  for (let i = 1; i < chunk.length; i++) {
    if (chunk[i - 1] > chunk[i] || (chunk[i - 1] === chunk[i] && route[i - 1] >= route[i]))
      faults.push(`row ${i}: order`);
  }
  for (let c = 0; c < whole.chunkCount; c++) {
    const holders = membersOf(whole, whole.pre, c);
    const targets = [...membersOf(whole, whole.post, c)];
    const own = [...route].filter((_, i) => chunk[i] === c);
    const has = new Set(holders);
    const passed = new Set<number>();
    for (const r of own) {
      passed.add(routes.source[r]);
      if (leavesBox[r] === 1 && ![...holders].some((owner) => mayCarry(network, owner, routes.source[r])))
        faults.push(`chunk ${c}: relay of route ${r}`);
    }
    const entered = own.map((r) => routes.target[r]);
    if (new Set(entered).size < entered.length) faults.push(`chunk ${c}: an NPU gets it twice`);
    if (entered.some((npu) => has.has(npu))) faults.push(`chunk ${c}: a holder gets it`);
    for (const npu of entered)
      if (!targets.includes(npu) && !passed.has(npu)) faults.push(`chunk ${c}: ${npu} keeps it`);
    for (let grown = true; grown; ) {
      grown = false;
      for (const r of own) {
        if (!has.has(routes.source[r]) || has.has(routes.target[r])) continue;
        has.add(routes.target[r]);
        grown = true;
      }
    }
    if (own.some((r) => !has.has(routes.target[r]))) faults.push(`chunk ${c}: a cycle`);
    if (targets.some((npu) => !has.has(npu))) faults.push(`chunk ${c}: a target without it`);
  }
  return faults;
}

/** Returns the least max(busiestPs, lastPs) over all trees of all chunks, by trying every one; for the smallest networks, one box. */
export function leastRoutingTime(network: SketchNetwork, whole: Collective): number {
  const trees = Array.from({ length: whole.chunkCount }, (_, chunk) => treesOf(network, whole, chunk));
  const times = routeTimes(network.topology, network.routes, whole.chunkBytes);
  const busy = new Map<number, number>();
  let best = Number.POSITIVE_INFINITY;
  const add = (tree: Tree, sign: 1 | -1): number => {
    let most = tree.lastPs;
    for (const route of tree.routes) {
      for (const link of linksOfRoute(network.routes, route)) {
        const load = (busy.get(link) ?? 0) + sign * times.slotPs[route];
        busy.set(link, load);
        most = Math.max(most, load);
      }
    }
    return most;
  };
  const tryChunk = (chunk: number, most: number): void => {
    if (most >= best) return;
    if (chunk === trees.length) {
      best = most;
      return;
    }
    for (const tree of trees[chunk]) {
      tryChunk(chunk + 1, Math.max(most, add(tree, 1)));
      add(tree, -1);
    }
  };
  tryChunk(0, 0);
  return best;
}

interface Tree {
  readonly routes: Int32Array;
  readonly lastPs: number;
}

/** Returns all trees of a chunk that are without fault, shortest first. */
function treesOf(network: SketchNetwork, whole: Collective, chunk: number): Tree[] {
  const { routes, topology } = network;
  const holders = membersOf(whole, whole.pre, chunk);
  const targets = membersOf(whole, whole.post, chunk);
  const only: Collective = {
    ...whole,
    kind: "custom",
    chunkCount: 1,
    groupCount: 1,
    pre: { kind: "sets", offset: Int32Array.of(0, holders.length), members: holders },
    post: { kind: "sets", offset: Int32Array.of(0, targets.length), members: targets },
  };
  const found: Tree[] = [];
  const chosen: number[] = [];
  const choose = (npu: number): void => {
    if (npu < topology.npuCount) {
      if (holders.includes(npu) || !targets.includes(npu)) choose(npu + 1);
      for (let route = 0; !holders.includes(npu) && route < routeCount(routes); route++) {
        if (routes.target[route] !== npu) continue;
        chosen.push(route);
        choose(npu + 1);
        chosen.pop();
      }
      return;
    }
    const tree = Int32Array.from(chosen).sort();
    const sends = { chunk: new Int32Array(tree.length), route: tree };
    if (routingFaults(network, only, sends).length > 0) return;
    found.push({ routes: tree, lastPs: routingTimes(network, only, sends).lastPs });
  };
  choose(0);
  return found.sort((a, b) => a.lastPs - b.lastPs);
}
