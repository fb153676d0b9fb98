import { InputError } from "../../base/errors.ts";
import { jsonText } from "../../base/visible.ts";
import { PS_PER_SECOND, toGBps } from "../../model/numbers/units.ts";
import { linkCount, nodeCount, type Topology } from "../../model/topology/topology.ts";

/** More nodes make a file of more than 100 MB. */
const MAX_NODES = 4096;

/**
 * Returns the text of the matrices of a TE-CCL topology (microsoft/TE-CCL, topology.py): `capacity` [from][to] in GB/s,
 * `alpha` [from][to] in seconds (-1 where there is no link), `switch_indices`, beside TopologyParams. Parallel links become
 * one of their sum. Throws InputError for more than 4,096 nodes and for parallel links of different latencies. O(nodes^2).
 */
export function teCclTopology(topology: Topology): string {
  const { name, npuCount, nodeNames, linkSource, linkTarget, linkBytesPerSecond, linkLatencyPs } = topology;
  const count = nodeCount(topology);
  if (count > MAX_NODES)
    throw new InputError(`TE-CCL matrices of ${name}`, `at most ${MAX_NODES} nodes`, count).as("out-of-range");
  const rate = new Float64Array(count * count);
  const latency = new Float64Array(count * count).fill(-1);
  for (let link = 0; link < linkCount(topology); link++) {
    const cell = linkSource[link] * count + linkTarget[link];
    if (rate[cell] > 0 && latency[cell] !== linkLatencyPs[link]) {
      const ends = `${nodeNames[linkSource[link]]}>${nodeNames[linkTarget[link]]}`;
      throw new InputError(`TE-CCL matrices of ${name}`, "parallel links of one latency", ends);
    }
    rate[cell] += linkBytesPerSecond[link];
    latency[cell] = linkLatencyPs[link];
  }
  const matrix = (cells: Float64Array, value: (cell: number) => number): string =>
    Array.from({ length: count }, (_, row) => {
      const line = cells.subarray(row * count, (row + 1) * count);
      return `\n  [${Array.from(line, value).join(", ")}]`;
    }).join(",");
  const params = { name, chassis: 1, chunk_size: 1 };
  const switches = Array.from({ length: count - npuCount }, (_, i) => npuCount + i);
  return [
    `{\n "TopologyParams": ${jsonText(params)},`,
    ` "capacity": [${matrix(rate, toGBps)}\n ],`,
    ` "alpha": [${matrix(latency, (ps) => (ps < 0 ? -1 : ps / PS_PER_SECOND))}\n ],`,
    ` "switch_indices": [${switches.join(", ")}]\n}\n`,
  ].join("\n");
}
