import { InputError, inWords } from "../../base/errors.ts";
import { oppositeLinks } from "../../model/topology/link-classes.ts";
import { inLinks, linkCount, nodeCount, switchCount, type Topology } from "../../model/topology/topology.ts";

/**
 * Returns the topology text of ASTRA-sim's ns-3 back end: `nodes switches links`, the switches' ids, a line for each pair of
 * opposite links. Node ids are our node indices. Throws InputError for a network with a one-way link. O(links log links).
 */
export function ns3Topology(topology: Topology): string {
  const cables = cablesOf(topology);
  const { npuCount } = topology;
  const ids = Array.from({ length: switchCount(topology) }, (_, i) => npuCount + i);
  return textOf([nodeCount(topology), ids.length, cables.length], ids, cables);
}

/**
 * Returns the topology text of SimAI: `nodes gpus_per_server nvswitches other_switches links gpu_type`, the ids of the
 * switches, NVSwitches first, then the links as for ns-3. A server is a group of NPUs; an NVSwitch is a switch all of whose
 * links are to NPUs of one server. Throws InputError where servers differ in size or are not consecutive NPUs, and for a
 * network with a one-way link. O(links log links).
 */
export function simaiTopology(topology: Topology, gpuType = "H100"): string {
  const { npuCount } = topology;
  const perServer = serverSize(topology);
  const isNvSwitch = nvSwitches(topology);
  const order = Array.from({ length: switchCount(topology) }, (_, i) => npuCount + i).sort(
    (a, b) => Number(isNvSwitch(b)) - Number(isNvSwitch(a)) || a - b,
  );
  const idOf = Int32Array.from({ length: nodeCount(topology) }, (_, node) => node);
  order.forEach((node, i) => {
    idOf[node] = npuCount + i;
  });
  const nv = order.filter(isNvSwitch).length;
  const cables = cablesOf(topology, idOf);
  const counts = [nodeCount(topology), perServer, nv, order.length - nv, cables.length, gpuType];
  return textOf(
    counts,
    order.map((_, i) => npuCount + i),
    cables,
  );
}

const textOf = (counts: readonly (string | number)[], ids: readonly number[], cables: readonly string[]): string =>
  `${[counts.join(" "), ids.join(" "), ...cables].join("\n")}\n`;

/** Returns the line of each pair of opposite links, in the order of the first of them. */
function cablesOf(topology: Topology, idOf?: Int32Array): string[] {
  const { linkSource, linkTarget, linkBytesPerSecond, linkLatencyPs } = topology;
  const opposite = oppositeLinks(linkSource, linkTarget, [linkBytesPerSecond, linkLatencyPs]);
  if (opposite === null) {
    const expected = "links in equal pairs, one each way (those of ns-3 run both ways)";
    throw new InputError(`the links of ${topology.name}`, expected, inWords("a link without its opposite"));
  }
  const lines: string[] = [];
  for (let link = 0; link < linkCount(topology); link++) {
    if (opposite[link] < link) continue;
    const [a, b] = [linkSource[link], linkTarget[link]].map((node) => idOf?.[node] ?? node);
    lines.push(`${a} ${b} ${rateText(linkBytesPerSecond[link])} ${latencyText(linkLatencyPs[link])} 0`);
  }
  return lines;
}

/** Returns the largest unit of ns-3's rates that gives a whole number. */
function rateText(bytesPerSecond: number): string {
  const bits = BigInt(bytesPerSecond) * 8n;
  if (bits % 1_000_000_000n === 0n) return `${bits / 1_000_000_000n}Gbps`;
  return bits % 1_000_000n === 0n ? `${bits / 1_000_000n}Mbps` : `${bits}bps`;
}

/** Returns the time in ms, as SimAI's files have it: exactly, as ps are 1e-9 of it. */
function latencyText(ps: number): string {
  const digits = String(ps).padStart(10, "0");
  const fraction = digits.slice(-9).replace(/0+$/, "");
  return `${digits.slice(0, -9)}${fraction === "" ? "" : `.${fraction}`}ms`;
}

function serverSize({ name, npuCount, nodeTraits }: Topology): number {
  const groups: (string | undefined)[] = nodeTraits.slice(0, npuCount).map(({ group }) => group);
  const change = groups.findIndex((group, npu) => npu > 0 && group !== groups[npu - 1]);
  const size = groups[0] === undefined ? 1 : change < 0 ? npuCount : change;
  const regular = groups.every(
    (group, npu) => (size === 1 && group === undefined) || group === groups[npu - (npu % size)],
  );
  const count = new Set(groups).size;
  if (!regular || npuCount % size !== 0 || (groups[0] !== undefined && count !== npuCount / size)) {
    throw new InputError(
      `the groups of ${name}`,
      "servers of equally many consecutive NPUs",
      inWords(`${count} groups`),
    );
  }
  return size;
}

/** Returns whether all links of a switch come from NPUs of one group. */
function nvSwitches(topology: Topology): (node: number) => boolean {
  const { npuCount, nodeTraits, linkSource } = topology;
  const { offset, links } = inLinks(topology);
  return (node) => {
    const below = Array.from(links.subarray(offset[node], offset[node + 1]), (link) => linkSource[link]);
    const group = below.length === 0 ? undefined : nodeTraits[below[0]].group;
    return group !== undefined && below.every((npu) => npu < npuCount && nodeTraits[npu].group === group);
  };
}
