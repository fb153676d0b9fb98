import { csvCell } from "../../base/csv-cell.ts";
import { InputError } from "../../base/errors.ts";
import { optionName } from "../../base/option-names.ts";
import { visible } from "../../base/visible.ts";
import { linkCount, nodeCount, switchCount, type Topology } from "../../model/topology/topology.ts";

/** Links between two nodes that are alike. */
interface Cables {
  readonly from: number;
  readonly to: number;
  readonly link: number;
  /** Links that lead from `from` to `to`, and back. */
  there: number;
  back: number;
}

/** Returns the links in groups of equal ends, bandwidth and latency, in order of their first. O(links). */
function cablesOf(topology: Topology): Cables[] {
  const { linkSource, linkTarget, linkBytesPerSecond, linkLatencyPs } = topology;
  const found = new Map<string, Cables>();
  for (let link = 0; link < linkCount(topology); link++) {
    const [from, to] = [linkSource[link], linkTarget[link]];
    const ends = from < to ? `${from} ${to}` : `${to} ${from}`;
    const key = `${ends} ${linkBytesPerSecond[link]} ${linkLatencyPs[link]}`;
    const cables = found.get(key);
    if (cables === undefined) found.set(key, { from, to, link, there: 1, back: 0 });
    else if (cables.from === from) cables.there++;
    else cables.back++;
  }
  return [...found.values()];
}

/** Returns a whole number of units of which 10 ^ `digits` are one, exactly: "12.5". */
function decimal(value: number, digits: number): string {
  const text = BigInt(value)
    .toString()
    .padStart(digits + 1, "0");
  return `${text.slice(0, -digits)}.${text.slice(-digits)}`.replace(/\.?0+$/, "");
}

/** Returns a name as a cell. Throws InputError for one that would be read back as another. */
function cell(name: string): string {
  const text = csvCell(name);
  if (text === name || text === `"${name.replaceAll('"', '""')}"`) return text;
  throw new InputError(optionName("output"), "a name that ends in .json, for no table can hold the node's name", name);
}

/** Whether readers number NPUs by their names. */
const isNumbered = ({ nodeNames, npuCount }: Topology): boolean =>
  nodeNames.slice(0, npuCount).every((name, npu) => name === String(npu));

/**
 * Yields a network as a CSV edge list, as spreadsheets and those who lay cables take it: a line for the cables between two
 * nodes that are alike, `from,to,bandwidthGBps,latencyUs,bidirectional,count`, after the kinds of nodes that a name does not
 * tell. `readEdgeList` reads the same nodes and links, links in another order; boxes, the grid and what switches can do are
 * not in it. Throws InputError for a name that a table cannot hold: hidden characters, what a spreadsheet would compute. O(links).
 */
export function* edgeListParts(topology: Topology): Generator<string> {
  const { nodeNames, npuCount, linkBytesPerSecond, linkLatencyPs } = topology;
  const nodes = nodeCount(topology);
  const linked = new Uint8Array(nodes);
  const cables = cablesOf(topology);
  for (const { from, to } of cables) linked[from] = linked[to] = 1;
  yield visible(
    `# ${topology.name}: ${npuCount} NPUs, ${switchCount(topology)} switches, ${linkCount(topology)} links`,
  );
  yield "\n";
  const told = isNumbered(topology) ? linked : new Uint8Array(nodes);
  for (let node = 0; node < nodes; node++) {
    if (node >= npuCount || told[node] === 0)
      yield `kind,${cell(nodeNames[node])},${node < npuCount ? "npu" : "switch"}\n`;
  }
  yield "from,to,bandwidthGBps,latencyUs,bidirectional,count\n";
  for (const { from, to, link, there, back } of cables) {
    const figures = `${decimal(linkBytesPerSecond[link], 9)},${decimal(linkLatencyPs[link], 6)}`;
    const line = (a: number, b: number, both: boolean, count: number): string =>
      `${cell(nodeNames[a])},${cell(nodeNames[b])},${figures},${both},${count}\n`;
    const both = Math.min(there, back);
    if (both > 0) yield line(from, to, true, both);
    if (there > both) yield line(from, to, false, there - both);
    if (back > both) yield line(to, from, false, back - both);
  }
}
