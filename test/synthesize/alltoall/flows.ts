import { inLinks, linkCount, nodeCount, outLinks, type Topology } from "../../../src/model/topology/topology.ts";
import type { Messages } from "../../../src/synthesize/alltoall/paths.ts";

/**
 * Returns the flow of a source that splits every demand equally over all paths of fewest links, [links]: what tests feed the
 * way from flows to schedules.
 */
export function equalSplit(topology: Topology, demandTo: (target: number) => number, source: number): Float64Array {
  const out = outLinks(topology);
  const into = inLinks(topology);
  const hops = new Int32Array(nodeCount(topology)).fill(-1);
  const ways = new Float64Array(hops.length);
  hops[source] = 0;
  ways[source] = 1;
  const order = [source];
  for (const node of order) {
    for (const link of out.links.subarray(out.offset[node], out.offset[node + 1])) {
      const next = topology.linkTarget[link];
      if (hops[next] < 0) {
        hops[next] = hops[node] + 1;
        order.push(next);
      }
      if (hops[next] === hops[node] + 1) ways[next] += ways[node];
    }
  }
  const flow = new Float64Array(linkCount(topology));
  const wanted = hops.map((_, node) => (node < topology.npuCount && node !== source ? 1 : 0));
  const through = Float64Array.from(wanted, (one, node) => (one === 0 ? 0 : demandTo(node)));
  for (const node of order.reverse()) {
    if (node === source) continue;
    for (const link of into.links.subarray(into.offset[node], into.offset[node + 1])) {
      const previous = topology.linkSource[link];
      if (hops[previous] !== hops[node] - 1) continue;
      const part = (through[node] * ways[previous]) / ways[node];
      flow[link] += part;
      through[previous] += part;
    }
  }
  return flow;
}

/** Returns how many messages each NPU has for each, [npus * npus], row by source, message by message. */
export function demandMatrix({ source, target }: Messages, npuCount: number): Float64Array {
  const demand = new Float64Array(npuCount * npuCount);
  for (let m = 0; m < source.length; m++) demand[source[m] * npuCount + target[m]]++;
  return demand;
}
