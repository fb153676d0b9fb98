import { draw } from "../../base/random.ts";
import { distancesFrom, graph } from "../../model/graph/graph.ts";
import { inLinks, linkCount, nodeCount, outLinks, type Topology } from "../../model/topology/topology.ts";
import type { Messages } from "./messages.ts";

/** [messages] the links of each message's path, in order. */
export type Paths = Int32Array[];

/** The flow of all messages of a source over each link, [links]: conserved at every node, without circles. */
export type SourceFlow = (source: number) => Float64Array;

/** Flows of fewer messages are numerical dust. */
const DUST = 1e-6;

const NO_PATH = new Int32Array(0);
/** States of a depth-first search. */
const OPEN = 1;
const CLOSED = 2;

/**
 * Returns one path for every message, all along links that the flow of its source uses, such that as many messages take a
 * link as flow does, up to rounding. The decomposition is made backwards, node by node from the last: what must reach a node
 * enters it over its links in proportion to their flow, so that the mean of all choices is the flow itself (Raghavan and
 * Thompson 1987). Instead of a coin, the link decides to which the sources so far owe most; sources come in an order that the
 * seed draws. A message whose target the flow does not reach gets an empty path. Also returns the sum of the flows, [links].
 * O(sources * links + path links).
 */
export function pathsAlong(
  topology: Topology,
  messages: Messages,
  flowOf: SourceFlow,
  seed: number,
): { readonly paths: Paths; readonly total: Float64Array } {
  const { linkSource } = topology;
  const { bySource, target } = messages;
  const into = inLinks(topology);
  const total = new Float64Array(linkCount(topology));
  const debt = new Float64Array(linkCount(topology));
  const paths: Paths = Array.from(target, () => NO_PATH);
  const tail: number[][] = Array.from(target, () => []);
  const waiting: number[][] = Array.from({ length: nodeCount(topology) }, () => []);
  const drawn = Uint32Array.from({ length: bySource.length - 1 }, (_, v) => draw(seed, 0, v));
  const sources = [...drawn.keys()].sort((a, b) => drawn[a] - drawn[b] || a - b);

  for (const source of sources) {
    if (bySource[source] === bySource[source + 1]) continue;
    const flow = flowOf(source);
    const { order, mark } = visitedBy(topology, flow, source);
    for (let link = 0; link < flow.length; link++) {
      debt[link] += flow[link];
      total[link] += flow[link];
    }
    for (let m = bySource[source]; m < bySource[source + 1]; m++) waiting[target[m]].push(m);
    for (const node of order) {
      if (node === source) continue;
      for (const m of waiting[node]) {
        let best = -1;
        for (let k = into.offset[node]; k < into.offset[node + 1]; k++) {
          const link = into.links[k];
          if (mark[link] === 1 && (best < 0 || debt[link] > debt[best])) best = link;
        }
        debt[best]--;
        (tail[m] as number[]).push(best);
        waiting[linkSource[best]].push(m);
      }
      waiting[node].length = 0;
    }
    for (const m of waiting[source]) paths[m] = Int32Array.from(tail[m] as number[]).reverse();
    for (let m = bySource[source]; m < bySource[source + 1]; m++) waiting[target[m]].length = 0;
    waiting[source].length = 0;
  }
  return { paths, total };
}

/**
 * Returns the shortest path of every message, links being as long as they are busy with it; where a target cannot be reached
 * the path is empty. O(sources * links * log nodes + path links).
 */
export function shortestPaths(topology: Topology, messages: Messages, costPs: Float64Array): Paths {
  const { linkSource, linkTarget } = topology;
  const { bySource, target } = messages;
  const network = graph(nodeCount(topology), linkSource, linkTarget, costPs);
  const via = new Int32Array(network.nodes);
  const paths: Paths = Array.from(target, () => NO_PATH);
  for (let source = 0; source + 1 < bySource.length; source++) {
    if (bySource[source] === bySource[source + 1]) continue;
    const distance = distancesFrom(network, [source], via);
    for (let m = bySource[source]; m < bySource[source + 1]; m++) {
      if (distance[target[m]] === Number.POSITIVE_INFINITY) continue;
      const path: number[] = [];
      for (let node = target[m]; node !== source; node = linkSource[via[node]]) path.push(via[node]);
      paths[m] = Int32Array.from(path.reverse());
    }
  }
  return paths;
}

/**
 * Returns the nodes that the flow visits, every one before those that it comes from, and [links] 1 for the links on which it
 * comes. A link that would close a circle is left out. O(nodes + links).
 */
function visitedBy(
  topology: Topology,
  flow: Float64Array,
  source: number,
): { readonly order: readonly number[]; readonly mark: Uint8Array } {
  const { linkTarget } = topology;
  const out = outLinks(topology);
  const mark = new Uint8Array(flow.length);
  const state = new Uint8Array(nodeCount(topology));
  const next = out.offset.slice(0, state.length);
  const order: number[] = [];
  const stack = [source];
  state[source] = OPEN;
  while (stack.length > 0) {
    const node = stack.at(-1) as number;
    if (next[node] === out.offset[node + 1]) {
      state[node] = CLOSED;
      order.push(node);
      stack.pop();
      continue;
    }
    const link = out.links[next[node]++];
    const to = linkTarget[link];
    if (flow[link] <= DUST || state[to] === OPEN) continue;
    mark[link] = 1;
    if (state[to] === CLOSED) continue;
    state[to] = OPEN;
    stack.push(to);
  }
  return { order, mark };
}
