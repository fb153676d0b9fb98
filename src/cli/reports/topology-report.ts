import type { DirectFacts } from "../../model/direct/facts.ts";
import { formatTime, toGBps } from "../../model/numbers/units.ts";
import { unreachablePair } from "../../model/topology/modify.ts";
import {
  type Adjacency,
  inLinks,
  isNpu,
  linkCount,
  nodeCount,
  outLinks,
  switchCount,
  type Topology,
  topologyHash,
} from "../../model/topology/topology.ts";
import { count, significant } from "../../report/amounts.ts";
import { bandwidthText, describeGraph } from "./direct-report.ts";
import type { Style } from "./style.ts";
import { aligned, labelled } from "./text.ts";

/** Networks of up to this many nodes are shown whole; of larger ones the first few nodes. */
const ALL_NODES = 40;
const FIRST_NODES = 12;
const MOST_NEIGHBOURS = 16;
const MOST_GROUPS = 6;

/** What the lines of a network tell besides the network. */
export interface TopologyNotes {
  /** Where it was written. */
  readonly file?: string | undefined;
  /** Of its best breadth-first broadcast. */
  readonly broadcast: Omit<DirectFacts, "predictedUs"> | null;
}

/** Returns the lines of `banyan topology`. O(nodes + links), and the diameter of direct links. */
export function describeTopology(topology: Topology, style: Style, { file, broadcast }: TopologyNotes): string[] {
  const { name, npuCount, shape, sources } = topology;
  const out = outLinks(topology);
  const into = inLinks(topology);
  const pair = unreachablePair(topology);
  const names = topology.nodeNames;
  const label = (key: string, text: string): string => `  ${labelled(key, text)}`;
  const further = (lines: readonly string[], key: string): string[] =>
    lines.map((line, i) => label(i === 0 ? key : "", line));

  const lines = [style.bold(name), ""];
  lines.push(label("NPUs", `${npuCount}${shape.length > 1 ? ` (${shape.join(" x ")})` : ""}${groupsText(topology)}`));
  lines.push(label("switches", String(switchCount(topology))));
  lines.push(...further(linkClasses(topology), "links"));
  lines.push(label("per NPU", `${nodeRange(topology, out, "out")}; ${nodeRange(topology, into, "in")}`));
  if (pair === null) {
    lines.push(label("connected", "every NPU reaches every other"));
    lines.push(...describeGraph(topology).map((line) => `  ${line}`));
    if (broadcast !== null) lines.push(label("broadcast", `${bandwidthText(broadcast)}, by --algorithm bfb`));
  } else {
    const text = `no: NPU ${names[pair[0]]} cannot reach NPU ${names[pair[1]]}`;
    lines.push(label("connected", style.bad(text)));
  }
  lines.push(label("hash", topologyHash(topology)));
  lines.push(...further(sources, "sources"));
  if (file !== undefined) lines.push(label("file", file));
  lines.push("", ...wiring(topology, out).map((line) => `  ${line}`));
  return lines;
}

function groupsText(topology: Topology): string {
  const sizes = new Map<string, number>();
  for (let npu = 0; npu < topology.npuCount; npu++) {
    const { group } = topology.nodeTraits[npu];
    if (group !== undefined) sizes.set(group, (sizes.get(group) ?? 0) + 1);
  }
  if (sizes.size === 0) return "";
  const all = [...sizes.values()];
  const low = Math.min(...all);
  const high = Math.max(...all);
  const shown = [...sizes.keys()].slice(0, MOST_GROUPS).join(", ");
  const more = sizes.size > MOST_GROUPS ? ", ..." : "";
  return ` in ${count(sizes.size, "group")} of ${low === high ? low : `${low} to ${high}`}: ${shown}${more}`;
}

/** Returns a line per class of equal links: how many, between what, bandwidth, latency; the fastest first. */
function linkClasses(topology: Topology): string[] {
  const { linkSource, linkTarget, linkBytesPerSecond, linkLatencyPs } = topology;
  const classes = new Map<string, { links: number; kind: string; bytesPerSecond: number; latencyPs: number }>();
  const kindOf = (node: number): string => (isNpu(topology, node) ? "NPU" : "switch");
  for (let link = 0; link < linkCount(topology); link++) {
    const kind = `${kindOf(linkSource[link])} > ${kindOf(linkTarget[link])}`;
    const bytesPerSecond = linkBytesPerSecond[link];
    const latencyPs = linkLatencyPs[link];
    const key = `${kind} ${bytesPerSecond} ${latencyPs}`;
    const found = classes.get(key);
    if (found === undefined) classes.set(key, { links: 1, kind, bytesPerSecond, latencyPs });
    else found.links++;
  }
  const order = [...classes.values()].sort(
    (a, b) => b.bytesPerSecond - a.bytesPerSecond || a.latencyPs - b.latencyPs || (a.kind < b.kind ? -1 : 1),
  );
  const total = `${linkCount(topology)}, one direction each`;
  const rows = order.map(({ links, kind, bytesPerSecond, latencyPs }) => [
    String(links),
    kind,
    `${significant(toGBps(bytesPerSecond), 6)} GB/s`,
    formatTime(latencyPs),
  ]);
  return [total, ...aligned(rows, ["right", "left", "right", "right"])];
}

/** Returns "2 to 4 links out, 100 to 200 GB/s". */
function nodeRange(topology: Topology, { offset, links }: Adjacency, direction: string): string {
  let [fewest, most, slowest, fastest] = [Number.POSITIVE_INFINITY, 0, Number.POSITIVE_INFINITY, 0];
  for (let npu = 0; npu < topology.npuCount; npu++) {
    const degree = offset[npu + 1] - offset[npu];
    let bandwidth = 0;
    for (let i = offset[npu]; i < offset[npu + 1]; i++) bandwidth += topology.linkBytesPerSecond[links[i]];
    fewest = Math.min(fewest, degree);
    most = Math.max(most, degree);
    slowest = Math.min(slowest, bandwidth);
    fastest = Math.max(fastest, bandwidth);
  }
  const gbps = (bandwidth: number): string => significant(toGBps(bandwidth), 6);
  const degrees = fewest === most ? count(most, "link") : `${fewest} to ${most} links`;
  return `${degrees} ${direction}, ${slowest === fastest ? "" : `${gbps(slowest)} to `}${gbps(fastest)} GB/s`;
}

/** Returns a line per node: its name and where its links go. */
function wiring(topology: Topology, { offset, links }: Adjacency): string[] {
  const nodes = nodeCount(topology);
  const shown = nodes <= ALL_NODES ? nodes : FIRST_NODES;
  const rows = Array.from({ length: shown }, (_, node) => {
    const targets = new Map<number, number>();
    for (let i = offset[node]; i < offset[node + 1]; i++) {
      const target = topology.linkTarget[links[i]];
      targets.set(target, (targets.get(target) ?? 0) + 1);
    }
    const words = [...targets].map(([target, times]) => topology.nodeNames[target] + (times > 1 ? ` x${times}` : ""));
    const more = words.length > MOST_NEIGHBOURS ? `, ... (${words.length})` : "";
    const far = words.slice(0, MOST_NEIGHBOURS).join(", ") + more;
    return [topology.nodeNames[node], `> ${far === "" ? "(nothing)" : far}`];
  });
  const rest = nodes - shown;
  return [...aligned(rows), ...(rest > 0 ? [`... and ${rest} more nodes (-o or --json has them all)`] : [])];
}
