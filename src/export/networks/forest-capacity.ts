import { jsonText } from "../../base/visible.ts";
import { BYTES_PER_GB } from "../../model/numbers/units.ts";
import { linkCount, nodeCount, type Topology } from "../../model/topology/topology.ts";

/**
 * Returns the text of a graph of capacities as ForestColl's topologies have them: compute and switch nodes, directed edges
 * in whole GB/s, or in B/s where some link's bandwidth is no whole number of GB/s. Latencies are not in it.
 */
export function forestCapacity(topology: Topology): string {
  const { name, npuCount, nodeNames, linkSource, linkTarget, linkBytesPerSecond } = topology;
  const whole = linkBytesPerSecond.every((rate) => rate % BYTES_PER_GB === 0);
  const scale = whole ? BYTES_PER_GB : 1;
  const lines = (count: number, line: (i: number) => object): string =>
    Array.from({ length: count }, (_, i) => `\n  ${jsonText(line(i))}`).join(",");
  const nodes = lines(nodeCount(topology), (node) => ({
    id: nodeNames[node],
    kind: node < npuCount ? "compute" : "switch",
  }));
  const edges = lines(linkCount(topology), (link) => ({
    src: nodeNames[linkSource[link]],
    dst: nodeNames[linkTarget[link]],
    capacity: linkBytesPerSecond[link] / scale,
  }));
  const head = `{\n "name": ${jsonText(name)},\n "unit": "${whole ? "GB/s" : "B/s"}",\n "directed": true,`;
  return `${head}\n "nodes": [${nodes}\n ],\n "edges": [${edges}\n ]\n}\n`;
}
