import { InputError } from "../../../base/errors.ts";
import { optionName } from "../../../base/option-names.ts";
import { disjointSets } from "../../../model/graph/graph.ts";
import { addTo } from "../../../model/numbers/ordering.ts";
import { formatBandwidth, formatTime, PS_PER_US } from "../../../model/numbers/units.ts";
import { type GpuModel, gpuModel, pcieBytesPerSecond } from "../../../model/topology/gpu-models.ts";
import type { Topology } from "../../../model/topology/topology.ts";
import { type TopologyBuilder, topologyBuilder } from "../../../model/topology/topology-builder.ts";
import type { TopologyOptions } from "../topology-options.ts";

/** A machine with GPUs, as far as its tools describe it; what the readers of such descriptions have in common. */
interface GpuBox {
  readonly name: string;
  readonly gpus: number;
  /** Direct links between GPUs, each way. */
  readonly pairs: readonly DirectPair[];
  /** One column [gpus] for each set of NVSwitches: bytes per second of each GPU's ports, 0 where it has none. */
  readonly hubs: readonly Float64Array[];
  /** The NVSwitches duplicate and reduce. */
  readonly inNetwork: boolean;
  /** PCIe switches and CPUs; a parent stands before its children. */
  readonly hosts: readonly HostNode[];
  /** Links between hosts beside the tree: sockets. */
  readonly hostLinks: readonly HostLink[];
  /** Links of GPUs to hosts; the first of a GPU is its PCIe, others are NVLink to the CPU. None where nothing is known. */
  readonly gpuHosts: readonly GpuHost[];
  readonly nics: readonly Nic[];
  /** [gpus] machine of each GPU, where the description is of several; null for one. */
  readonly machineOf: Int32Array | null;
  /** Where the figures come from. */
  readonly sources: readonly string[];
  /** Those of hosts and their links: given where PCIe takes part. */
  readonly hostSources: readonly string[];
}

/** `count` links between two GPUs. */
export interface DirectPair {
  readonly a: number;
  readonly b: number;
  readonly bytesPerSecond: number;
  readonly kind: "nvlink" | "xgmi";
}

export interface HostNode {
  readonly name: string;
  /** -1 for a CPU. */
  readonly parent: number;
  /** Of the link to the parent. */
  readonly bytesPerSecond: number;
}

export interface HostLink {
  readonly a: number;
  readonly b: number;
  readonly bytesPerSecond: number;
}

export interface GpuHost {
  readonly gpu: number;
  readonly host: number;
  readonly bytesPerSecond: number;
  readonly kind: "pcie" | "nvlink";
}

export interface Nic {
  readonly name: string;
  readonly host: number;
  /** Of its PCIe. */
  readonly bytesPerSecond: number;
  /** Of its port; undefined where the description does not tell. */
  readonly portBytesPerSecond: number | undefined;
}

/** A figure with the sentence that says where it comes from. */
interface Figure {
  readonly bytesPerSecond: number;
  readonly note: string;
}

/** Links of a box of GPUs by what they are, for their latencies. */
type BoxLink = "nvlink" | "nvswitch" | "xgmi" | "pcie" | "socket" | "nic";

/** Model figures, not measured: as those of the presets, PCIe and sockets per link of a way of two to five. */
const LATENCY_US: Readonly<Record<BoxLink, number>> = {
  nvlink: 0.7,
  nvswitch: 0.5,
  xgmi: 1,
  pcie: 0.5,
  socket: 0.5,
  nic: 2.5,
};

/** What NCCL counts between AMD CPUs; between others 6 to 40 GB/s. */
const SOCKET_BYTES_PER_SECOND = 16e9;
const USUAL_PCIE = 4;

/** Returns the model that `--gpu` names; "none" for PCIe alone, null where the option is absent. Throws InputError. */
export function givenModel({ gpu }: TopologyOptions): GpuModel | "none" | null {
  if (gpu === undefined) return null;
  return gpu.trim().toLowerCase() === "none" ? "none" : gpuModel(gpu);
}

const assumed = (kind: string, bytesPerSecond: number): string =>
  `${kind} at ${formatBandwidth(bytesPerSecond)}, as --assume says`;

/** Returns the rate of one NVLink or xGMI link: what --assume says, else the model's. */
export function directRate(model: GpuModel | null, kind: "nvlink" | "xgmi", options: TopologyOptions): Figure | null {
  const word = kind === "nvlink" ? "NVLink" : "xGMI link";
  const given = options.bandwidth?.[kind];
  if (given !== undefined) return { bytesPerSecond: given, note: assumed(`each ${word}`, given) };
  if (model === null || model.link !== kind) return null;
  const { linkBytesPerSecond, countedBytesPerSecond, name } = model;
  const library = kind === "nvlink" ? "NCCL" : "RCCL";
  const counted = formatBandwidth(countedBytesPerSecond);
  return {
    bytesPerSecond: linkBytesPerSecond,
    note:
      `each ${word} at the maker's ${formatBandwidth(linkBytesPerSecond)} of ${name}, each way ` +
      `(${library} counts ${counted}: --assume ${kind}=${counted.replace(" ", "")})`,
  };
}

/** Returns the rate of 16 lanes of PCIe where the file does not tell: what --assume says, else by the model, else 4.0. */
export function pcieRate(model: GpuModel | null, options: TopologyOptions): Figure {
  const given = options.bandwidth?.pcie;
  if (given !== undefined) return { bytesPerSecond: given, note: assumed("PCIe", given) };
  const generation = model?.pcie ?? USUAL_PCIE;
  const bytesPerSecond = pcieBytesPerSecond(generation);
  const why = model === null ? "assumed" : `of ${model.name}`;
  const note = `PCIe ${generation}.0 x16 ${why}, ${formatBandwidth(bytesPerSecond)} as NCCL counts (--assume pcie=)`;
  return { bytesPerSecond, note };
}

/** Returns the rate between two CPUs where the file does not tell. */
export function socketRate(options: TopologyOptions): Figure {
  const given = options.bandwidth?.socket;
  if (given !== undefined) return { bytesPerSecond: given, note: assumed("CPU to CPU", given) };
  const bytesPerSecond = SOCKET_BYTES_PER_SECOND;
  const note = `CPU to CPU ${formatBandwidth(bytesPerSecond)}, assumed: NCCL counts 16 for AMD, 6 to 40 for Intel (--assume socket=)`;
  return { bytesPerSecond, note };
}

/** Returns the picoseconds of a link. */
const latencyOf = (kind: BoxLink, { latencyPs }: TopologyOptions): number =>
  latencyPs ?? Math.round(LATENCY_US[kind] * PS_PER_US);

/** Returns the sentence about the latencies of these kinds of links. */
function latencyNote(kinds: ReadonlySet<BoxLink>, { latencyPs }: TopologyOptions): string {
  if (latencyPs !== undefined) return `latency ${formatTime(latencyPs)} a link, as --assume says`;
  const order = Object.keys(LATENCY_US) as BoxLink[];
  const list = order.filter((kind) => kinds.has(kind)).map((kind) => `${kind} ${LATENCY_US[kind]} us`);
  return `latencies are model figures, not measured: ${list.join(", ")} a link (--assume latency=)`;
}

/** Returns "1 pair", "2 pairs". */
export const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? "" : "s"}`;

/** Returns the number of boxes that `--nodes` says, 1 where it is absent. Throws InputError. */
function boxesOf({ nodes = 1 }: TopologyOptions): number {
  if (Number.isInteger(nodes) && nodes >= 1 && nodes <= 65536) return nodes;
  throw new InputError(optionName("nodes"), "a number of boxes from 1 to 65536", nodes);
}

const MOST_LINKS = 2 ** 26;

/** What becomes of a box: its part over PCIe (null: none), its NICs (null: none), how many boxes. */
interface Plan {
  readonly box: GpuBox;
  readonly boxes: number;
  readonly hosts: HostPart | null;
  readonly nics: readonly NicUse[] | null;
}

/**
 * Returns the network of `options.nodes` boxes. GPUs `gpu0` ..., GPU id = g + gpus x box; switches `nvsw`, PCIe switches,
 * CPUs, shared NICs and, between boxes, `net`; of several boxes, names of switches end in `-box<b>`.
 *
 * PCIe takes part where NVLink or xGMI does not connect all GPUs, or where `options.bandwidth.pcie` is given. Several boxes
 * meet in one switch through their NICs: a NIC that one GPU uses is a link of that GPU, a shared one is a node.
 * `sources` say which. Throws InputError where a port's bandwidth is not known. O(nodes + links).
 */
export function wireGpuBox(box: GpuBox, options: TopologyOptions): Topology {
  const plan = planOf(box, options);
  const { boxes } = plan;
  const perBox =
    2 *
    (box.pairs.length + box.gpus * (box.hubs.length + 3) + box.hosts.length + box.hostLinks.length + box.nics.length);
  if (boxes * perBox > MOST_LINKS)
    throw new InputError(optionName("nodes"), `at most ${MOST_LINKS} links`, boxes).as("out-of-range");
  const builder = topologyBuilder(boxes > 1 ? `${box.name}:${boxes}` : box.name);
  const kinds = new Set<BoxLink>();
  const join = (a: number, b: number, bytesPerSecond: number, kind: BoxLink): void => {
    kinds.add(kind);
    builder.addDuplex(a, b, Math.max(1, Math.round(bytesPerSecond)), latencyOf(kind, options));
  };
  const machines = 1 + (box.machineOf?.reduce((most, machine) => Math.max(most, machine), 0) ?? 0);
  const groupOf = (b: number, gpu: number): string => `box${b * machines + (box.machineOf?.[gpu] ?? 0)}`;
  for (let npu = 0; npu < boxes * box.gpus; npu++) {
    const [b, gpu] = [Math.floor(npu / box.gpus), npu % box.gpus];
    builder.addNpu(`gpu${npu}`, { group: groupOf(b, gpu) });
  }
  const net = plan.nics === null ? -1 : builder.addSwitch("net");
  for (let b = 0; b < boxes; b++) addBox(builder, plan, b, net, join);
  const used = plan.hosts === null ? [] : box.hostSources;
  const notes = [...box.sources, ...notesOf(plan, options), ...used, latencyNote(kinds, options)];
  return builder.build({ shape: boxes > 1 ? [box.gpus, boxes] : [box.gpus], sources: notes });
}

type Join = (a: number, b: number, bytesPerSecond: number, kind: BoxLink) => void;

/** Adds the switches and links of one box. */
function addBox(builder: TopologyBuilder, { box, boxes, hosts, nics }: Plan, b: number, net: number, join: Join): void {
  const traits = boxes > 1 || box.machineOf === null ? { group: `box${b}` } : {};
  const name = (text: string): string => (boxes > 1 ? `${text}-box${b}` : text);
  const gpu = (g: number): number => b * box.gpus + g;
  for (const { a, b: other, bytesPerSecond, kind } of box.pairs) join(gpu(a), gpu(other), bytesPerSecond, kind);
  const able = box.inNetwork ? { multicast: true, aggregation: true } : {};
  for (const [i, ports] of box.hubs.entries()) {
    const hub = builder.addSwitch(name(box.hubs.length > 1 ? `nvsw.${i}` : "nvsw"), { ...traits, ...able });
    for (let g = 0; g < box.gpus; g++) if (ports[g] > 0) join(gpu(g), hub, ports[g], "nvswitch");
  }
  if (hosts !== null) {
    const nodes = hosts.hosts.map((host) => builder.addSwitch(name(host.name), traits));
    for (const port of hosts.gpuHosts) join(gpu(port.gpu), nodes[port.host], port.bytesPerSecond, port.kind);
    for (const [h, { parent, bytesPerSecond }] of hosts.hosts.entries()) {
      if (parent >= 0) join(nodes[h], nodes[parent], bytesPerSecond, "pcie");
    }
    for (const { a, b: other, bytesPerSecond } of hosts.hostLinks)
      join(nodes[a], nodes[other], bytesPerSecond, "socket");
    for (const nic of hosts.nics) {
      const node = builder.addSwitch(name(nic.name), traits);
      join(node, nodes[nic.host], nic.bytesPerSecond, "pcie");
      join(node, net, portOf(nic), "nic");
    }
  }
  if (nics === null || (hosts !== null && box.nics.length > 0)) return;
  const own = new Float64Array(box.gpus);
  for (const { nic, gpus } of nics) if (gpus.length === 1) own[gpus[0]] += portOf(nic);
  for (let g = 0; g < box.gpus; g++) if (own[g] > 0) join(gpu(g), net, own[g], "nic");
  for (const { nic, gpus } of nics) {
    if (gpus.length < 2) continue;
    const node = builder.addSwitch(name(nic.name), traits);
    for (const g of gpus) join(gpu(g), node, nic.bytesPerSecond, "pcie");
    join(node, net, portOf(nic), "nic");
  }
}

const portOf = ({ portBytesPerSecond }: Nic): number => portBytesPerSecond as number;

function planOf(box: GpuBox, options: TopologyOptions): Plan {
  const boxes = boxesOf(options);
  const whole = isConnected(box);
  const networked = boxes > 1 || (box.machineOf !== null && !whole);
  const nics = networked ? withRates(box.nics.length > 0 ? nicUses(box) : ownNics(box), options) : null;
  const overPcie = box.gpuHosts.length > 0 && (!whole || options.bandwidth?.pcie !== undefined);
  const inTree = nics === null || box.nics.length === 0 ? [] : nics.map(({ nic }) => nic);
  return { box, boxes, nics, hosts: overPcie ? usefulHosts(box, inTree) : null };
}

/** Returns whether NVLink and xGMI connect all GPUs. */
function isConnected({ gpus, pairs, hubs }: GpuBox): boolean {
  const sets = disjointSets(gpus + hubs.length);
  for (const { a, b } of pairs) sets.join(a, b);
  for (const [i, ports] of hubs.entries()) for (let g = 0; g < gpus; g++) if (ports[g] > 0) sets.join(g, gpus + i);
  for (let g = 1; g < gpus; g++) if (sets.least(g) !== 0) return false;
  return true;
}

/** Returns a NIC for each GPU, where the description has none. */
const ownNics = ({ gpus }: GpuBox): NicUse[] =>
  Array.from({ length: gpus }, (_, g) => ({
    nic: { name: `nic${g}`, host: -1, bytesPerSecond: Infinity, portBytesPerSecond: undefined },
    gpus: [g],
  }));

/** Returns the NICs with the rates of their ports: what --assume says, else the description's. Throws InputError. */
const withRates = (uses: readonly NicUse[], options: TopologyOptions): NicUse[] =>
  uses.map(({ nic, gpus }) => {
    const portBytesPerSecond = options.bandwidth?.nic ?? nic.portBytesPerSecond;
    if (portBytesPerSecond !== undefined) return { nic: { ...nic, portBytesPerSecond }, gpus };
    throw new InputError(`the bandwidth of ${nic.name}`, `${optionName("assume")} nic=, such as nic=200Gbps,`).saying(
      `the bandwidth of ${nic.name} is not known; add ${optionName("assume")} nic=400Gbps (or the rate of your NICs)`,
    );
  });

function notesOf({ box, boxes, hosts, nics }: Plan, options: TopologyOptions): string[] {
  const direct = box.pairs.length > 0 || box.hubs.length > 0;
  const notes: string[] = [];
  if (direct && box.gpuHosts.length > 0) {
    const only =
      hosts === null ? `left out, as direct links connect all GPUs (--assume pcie= brings it in)` : "included";
    notes.push(`PCIe and CPUs: ${only}`);
  }
  if (nics === null) {
    if (box.nics.length > 0) notes.push(`${counted(box.nics.length, "NIC")} left out: there is one box (--nodes)`);
    return notes;
  }
  const shared = nics.filter(({ gpus }) => gpus.length > 1).length;
  const rates = [...new Set(nics.map(({ nic }) => portOf(nic)))].sort((a, b) => a - b).map(formatBandwidth);
  const figure = `${rates.join(", ")} each${options.bandwidth?.nic === undefined ? "" : `, as --assume says`}`;
  const who = box.nics.length === 0 ? "one for each GPU, assumed," : "each GPU on the nearest,";
  const share = shared > 0 ? `${shared} of them shared` : "none of them shared";
  const many = boxes > 1 ? `${boxes} boxes` : "hosts";
  notes.push(`${many} meet in one switch, NICs of a box: ${nics.length}, ${who} ${share}; ${figure}`);
  return notes;
}

/** The part of a box's PCIe tree that carries traffic between GPUs and the NICs in use. */
interface HostPart {
  readonly hosts: readonly HostNode[];
  readonly hostLinks: readonly HostLink[];
  readonly gpuHosts: readonly GpuHost[];
  readonly nics: readonly Nic[];
}

/**
 * Returns the box's PCIe switches and CPUs less those that make no choice: without a GPU or NIC below, or, other than CPUs,
 * with a single one (the slower of its two links stays), and a last CPU with one child. `nics` are those in use.
 * O(hosts + GPUs + links).
 */
function usefulHosts(box: GpuBox, nics: readonly Nic[]): HostPart {
  const { hosts } = box;
  const below = new Int32Array(hosts.length);
  for (const { host } of box.gpuHosts) below[host]++;
  for (const { host } of nics) below[host]++;
  const linked = new Uint8Array(hosts.length);
  for (const { a, b } of box.hostLinks) if (hosts[a].parent >= 0 || hosts[b].parent >= 0) linked[a] = linked[b] = 1;
  const hostsBelow = new Int32Array(hosts.length);
  for (let h = hosts.length - 1; h >= 0; h--) {
    const { parent } = hosts[h];
    if (parent < 0 || (below[h] === 0 && linked[h] === 0)) continue;
    below[parent]++;
    hostsBelow[parent]++;
  }
  const roots = hosts.filter(({ parent }, h) => parent < 0 && below[h] > 0).length;

  /** For each host the kept one that stands for it (-1: none) and the slowest link on the way up to that. */
  const stand = new Int32Array(hosts.length).fill(-1);
  const slowest = new Float64Array(hosts.length).fill(Infinity);
  const kept: HostNode[] = [];
  for (const [h, { name, parent, bytesPerSecond }] of hosts.entries()) {
    if (below[h] === 0 && linked[h] === 0) continue;
    const up = parent < 0 ? -1 : stand[parent];
    const narrow = parent < 0 ? Infinity : Math.min(bytesPerSecond, slowest[parent]);
    const top = up < 0 && (roots > 1 || below[h] > hostsBelow[h]);
    if (below[h] > 1 || linked[h] === 1 || top) {
      stand[h] = kept.push({ name, parent: up, bytesPerSecond: narrow }) - 1;
    } else {
      stand[h] = up;
      slowest[h] = up < 0 ? Infinity : narrow;
    }
  }
  const narrowed = (host: number, bytesPerSecond: number): number => Math.min(bytesPerSecond, slowest[host]);
  return {
    hosts: kept,
    hostLinks: box.hostLinks
      .map(({ a, b, bytesPerSecond }) => ({ a: stand[a], b: stand[b], bytesPerSecond }))
      .filter(({ a, b }) => a >= 0 && b >= 0 && a !== b),
    gpuHosts: box.gpuHosts.map((port) => ({
      ...port,
      host: stand[port.host],
      bytesPerSecond: narrowed(port.host, port.bytesPerSecond),
    })),
    nics: nics.map((nic) => ({
      ...nic,
      host: stand[nic.host],
      bytesPerSecond: narrowed(nic.host, nic.bytesPerSecond),
    })),
  };
}

/** NICs, each with the GPUs that use it. */
interface NicUse {
  readonly nic: Nic;
  readonly gpus: readonly number[];
}

/**
 * Returns which NICs the GPUs use: a GPU's are those nearest in the tree (under the lowest PCIe switch above it that has
 * any, else its CPU's, else all); GPUs with the same choice share it evenly, neighbours together. O((GPUs + NICs) x depth).
 */
function nicUses(box: GpuBox): NicUse[] {
  const { hosts, nics } = box;
  const under = new Map<number, number[]>();
  for (const [i, nic] of nics.entries()) {
    for (let h = nic.host; h >= 0; h = hosts[h].parent) {
      addTo(under, h, i);
    }
  }
  /** GPUs by the host whose NICs they use; -1: all. */
  const sharers = new Map<number, number[]>();
  const done = new Uint8Array(box.gpus);
  for (const { gpu, host } of box.gpuHosts) {
    if (done[gpu] === 1) continue;
    done[gpu] = 1;
    let h = host;
    while (h >= 0 && !under.has(h)) h = hosts[h].parent;
    addTo(sharers, h, gpu);
  }
  const users: number[][] = nics.map(() => []);
  for (const [host, gpus] of sharers) {
    const choice = under.get(host) ?? [...nics.keys()];
    const [m, n] = [gpus.length, choice.length];
    if (n >= m) for (const [i, nic] of choice.entries()) users[nic].push(gpus[Math.floor((i * m) / n)]);
    else for (const [g, gpu] of gpus.entries()) users[choice[Math.floor((g * n) / m)]].push(gpu);
  }
  return nics.map((nic, i) => ({ nic, gpus: users[i] })).filter(({ gpus }) => gpus.length > 0);
}
