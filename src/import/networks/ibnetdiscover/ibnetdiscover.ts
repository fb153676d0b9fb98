import { InputError } from "../../../base/errors.ts";
import { optionName } from "../../../base/option-names.ts";
import { formatBandwidth, formatTime, PS_PER_US } from "../../../model/numbers/units.ts";
import {
  boardOf,
  CUBE_MESH_PAIRS,
  type GpuBoard,
  type GpuModel,
  gpuModel,
  pcieBytesPerSecond,
} from "../../../model/topology/gpu-models.ts";
import type { Topology } from "../../../model/topology/topology.ts";
import { type TopologyBuilder, topologyBuilder } from "../../../model/topology/topology-builder.ts";
import { baseName } from "../topology-json.ts";
import type { TopologyOptions } from "../topology-options.ts";

/** Returns true where a text has a Switch or Ca line of ibnetdiscover. */
export function looksLikeIbnetdiscover(text: string): boolean {
  return /^(?:Switch|Ca)[ \t]+\d+[ \t]+"[SHR]-[0-9a-f]+"/im.test(text);
}

/**
 * Returns the InfiniBand fabric in ibnetdiscover's output. Every linked port of a host's adapter is an NPU (the GPU beside
 * it), named `host/adapter` (`host/adapter:port` where several ports of it are linked), in the group of its host; NPUs of a
 * host are joined as `joinHosts` says. Cables run both ways at their rate (4xNDR: 400 Gb/s). Aggregation nodes (SHARP) are no
 * NPUs: their switch can duplicate and reduce. Latencies are the options' (else 0.5 us a link). Assumptions, and cables that
 * only one end lists, are in `sources`. Throws InputError with the line. O(text + n log n).
 */
export function readIbnetdiscover(text: string, fileName: string, options: TopologyOptions = {}): Topology {
  const fabric = parseFabric(text, fileName, options.bandwidth?.nic);
  const latencyPs = options.latencyPs ?? PS_PER_US / 2;
  const isAggregation = ({ kind, description }: FabricNode): boolean =>
    kind === "adapter" && /aggregation node/i.test(description);
  const all = [...fabric.nodes.values()];
  const dropped = new Set(all.filter(isAggregation).map(({ id }) => id));
  const links = fabric.links.filter(({ a, b }) => !dropped.has(a) && !dropped.has(b));
  const reducing = new Set(
    fabric.links.flatMap(({ a, b }) => [...(dropped.has(a) ? [b] : []), ...(dropped.has(b) ? [a] : [])]),
  );

  const builder = topologyBuilder(baseName(fileName), 2 * links.length);
  const portsOf = new Map<string, Set<number>>();
  for (const { a, portA, b, portB } of links) {
    for (const [id, port] of [
      [a, portA],
      [b, portB],
    ] as const) {
      const ports = portsOf.get(id);
      if (ports === undefined) portsOf.set(id, new Set([port]));
      else ports.add(port);
    }
  }
  const npuOf = new Map<string, number>();
  const hosts = new Map<string, number[]>();
  const adapters = all.filter(({ id, kind }) => kind === "adapter" && !dropped.has(id));
  let unlinked = 0;
  for (const { id, name, host } of adaptersInOrder(adapters)) {
    const ports = [...(portsOf.get(id) ?? [])].sort((p, q) => p - q);
    if (ports.length === 0) unlinked++;
    for (const port of ports) {
      const npu = builder.addNpu(ports.length === 1 ? name : `${name}:${port}`, host === null ? {} : { group: host });
      npuOf.set(`${id} ${port}`, npu);
      const beside = hosts.get(host ?? "");
      if (host !== null && beside === undefined) hosts.set(host, [npu]);
      else if (host !== null) beside?.push(npu);
    }
  }
  if (npuOf.size === 0) throw new InputError(fileName, "at least one host adapter (Ca) with a link");
  const switchOf = new Map<string, number>();
  for (const node of all) {
    if (node.kind !== "switch") continue;
    const able = reducing.has(node.id) ? { multicast: true, aggregation: true } : {};
    switchOf.set(
      node.id,
      builder.addSwitch(
        switchName(node, (name) => builder.indexOf(name) !== undefined),
        able,
      ),
    );
  }
  for (const { a, portA, b, portB, bytesPerSecond } of links) {
    const [from, to] = [switchOf.get(a) ?? npuOf.get(`${a} ${portA}`), switchOf.get(b) ?? npuOf.get(`${b} ${portB}`)];
    builder.addDuplex(from as number, to as number, bytesPerSecond, latencyPs);
  }
  const joined = joinHosts(builder, hosts, options, latencyPs);
  return builder.build({
    sources: [
      `ibnetdiscover ${fileName}: an NPU for each linked port of a host adapter`,
      `latency ${formatTime(latencyPs)} a link, assumed`,
      ...joined,
      ...notesOf(fabric, dropped.size, unlinked),
    ],
  });
}

/** Returns the name in a description such as `MF0;leaf-04:MQM9701/U1`, with the id where it is taken or empty. */
function switchName({ id, description }: FabricNode, taken: (name: string) => boolean): string {
  const name = /;([^:;]+):/.exec(description)?.[1] ?? description;
  if (name === "") return id;
  return taken(name) ? `${name}@${id}` : name;
}

function notesOf({ oneSided, unequal, loops }: Fabric, aggregation: number, unlinked: number): string[] {
  const notes: [number, string][] = [
    [aggregation, "aggregation nodes (SHARP) left out; their switches can duplicate and reduce"],
    [oneSided, "cables are listed by one end only; both ways assumed"],
    [unequal, "cables have ends of different rates; the lower one taken"],
    [loops, "cables from a node to itself left out"],
    [unlinked, "adapters without a link left out"],
  ];
  return notes.filter(([count]) => count > 0).map(([count, text]) => `${count} ${text}`);
}

/** A host adapter with the names of its host and of itself. */
interface Adapter {
  readonly id: string;
  readonly name: string;
  /** Null where the file does not tell which host it is in. */
  readonly host: string | null;
}

/** PCIe of a host whose GPUs are not named. */
const USUAL_PCIE = 5;
const natural = new Intl.Collator("en", { numeric: true });
const inOrder = (a: string, b: string): number => natural.compare(a, b) || (a < b ? -1 : a > b ? 1 : 0);

/**
 * Returns the adapters in the order of their hosts and names (numbers by value), those of unknown hosts last. A description
 * of two words is a host and an adapter (`dgx-01 mlx5_3`); where two adapters of a host have one name, hosts share the
 * host's name, and none of its adapters is said to be in a host. O(n log n).
 */
function adaptersInOrder(nodes: readonly FabricNode[]): Adapter[] {
  const words = nodes.map(({ description }) => /^(\S+)\s+(\S+)$/.exec(description));
  const uses = new Map<string, number>();
  for (const match of words) if (match !== null) uses.set(match[0], (uses.get(match[0]) ?? 0) + 1);
  const shared = new Set(words.flatMap((match) => (match !== null && uses.get(match[0]) !== 1 ? [match[1]] : [])));
  const adapters = nodes.map(({ id }, i): Adapter => {
    const [, host, device] = words[i] ?? [];
    if (host === undefined) return { id, name: id, host: null };
    return shared.has(host)
      ? { id, name: `${host}/${device}@${id}`, host: null }
      : { id, name: `${host}/${device}`, host };
  });
  return adapters.sort((a, b) => {
    if (a.host === null || b.host === null)
      return a.host === b.host ? inOrder(a.name, b.name) : a.host === null ? 1 : -1;
    return inOrder(a.host, b.host) || inOrder(a.name, b.name);
  });
}

/**
 * Joins the NPUs of each host that has several: as GPUs of the options' model are joined where such a board is known
 * (an NVSwitch, a mesh), else by a switch `host` at the rate of PCIe. Returns the notes for `sources`.
 */
function joinHosts(
  builder: TopologyBuilder,
  hosts: ReadonlyMap<string, readonly number[]>,
  options: TopologyOptions,
  latencyPs: number,
): string[] {
  const model = options.gpu === undefined ? null : gpuModel(options.gpu);
  const notes = new Set<string>();
  for (const [host, npus] of hosts)
    if (npus.length > 1) notes.add(joinHost(builder, host, npus, model, options, latencyPs));
  return [...notes];
}

function joinHost(
  builder: TopologyBuilder,
  host: string,
  npus: readonly number[],
  model: GpuModel | null,
  options: TopologyOptions,
  latencyPs: number,
): string {
  const board = model === null ? null : boardIn(model, npus.length);
  const { nvlink, xgmi, pcie } = options.bandwidth ?? {};
  if (model !== null && board !== null) {
    const link = (model.link === "xgmi" ? xgmi : nvlink) ?? model.linkBytesPerSecond;
    if (board.wiring === "switch") {
      const able = model.inNetwork ? { multicast: true, aggregation: true } : {};
      const hub = builder.addSwitch(`${host}/nvsw`, { group: host, ...able });
      for (const npu of npus) builder.addDuplex(npu, hub, model.links * link, latencyPs);
      return `GPUs of a host on one NVSwitch, ${formatBandwidth(model.links * link)} each (${model.name})`;
    }
    for (const [a, b, links] of pairsOf(npus.length, board.wiring, board.linksPerPair ?? 1)) {
      builder.addDuplex(npus[a], npus[b], links * link, latencyPs);
    }
    return `${npus.length} GPUs of a host joined as a ${board.wiring} of ${model.name}, ${formatBandwidth(link)} a link`;
  }
  const rate = pcie ?? pcieBytesPerSecond(model?.pcie ?? USUAL_PCIE);
  const hub = builder.addSwitch(`${host}/pcie`, { group: host });
  for (const npu of npus) builder.addDuplex(npu, hub, rate, latencyPs);
  return `NPUs of a host meet at a switch, ${formatBandwidth(rate)} each, as over PCIe (${pcie === undefined ? "assumed" : "as given"})`;
}

/** Returns the wiring of a host: an NVSwitch where the model has boards of any size with one, for adapters may be missing. */
const boardIn = (model: GpuModel, npus: number): GpuBoard | null =>
  model.boards.find(({ gpus, wiring }) => gpus === "any" && wiring === "switch") ?? boardOf(model, npus);

function* pairsOf(
  gpus: number,
  wiring: "mesh" | "cube-mesh",
  links: number,
): Generator<readonly [number, number, number]> {
  if (wiring === "cube-mesh") yield* CUBE_MESH_PAIRS;
  else for (let a = 0; a < gpus; a++) for (let b = a + 1; b < gpus; b++) yield [a, b, links];
}

/** A switch or host adapter, recognized by the id that ibnetdiscover quotes: `S-2c5e...`, `H-e09d...`. */
interface FabricNode {
  readonly id: string;
  readonly kind: "switch" | "adapter";
  readonly description: string;
}

/** A cable between two ports. */
interface FabricLink {
  readonly a: string;
  readonly portA: number;
  readonly b: string;
  readonly portB: number;
  readonly bytesPerSecond: number;
}

interface Fabric {
  /** By id, in the order of first appearance. */
  readonly nodes: ReadonlyMap<string, FabricNode>;
  readonly links: readonly FabricLink[];
  /** Cables that only one of their ends lists. */
  readonly oneSided: number;
  /** Cables whose ends disagree on the rate. */
  readonly unequal: number;
  /** Cables from a node to itself, which are left out. */
  readonly loops: number;
}

/** Gb/s of four lanes: InfiniBand Trade Association's roadmap. */
const GBPS_OF_4X: Readonly<Record<string, number>> = {
  SDR: 10,
  DDR: 20,
  QDR: 40,
  FDR10: 41.25,
  FDR: 56,
  EDR: 100,
  HDR: 200,
  NDR: 400,
  XDR: 800,
};
const NODE = /^(?:Switch|Ca|Rt)\s+\d+\s+"([SHR]-[0-9a-f]+)"\s*(?:#\s*"([^"]*)".*)?$/i;
const PORT =
  /^\[(\d+)\](?:\[ext [^\]]*\])?(?:\([0-9a-f]*\))?\s*"([SHR]-[0-9a-f]+)"\[(\d+)\](?:\[ext [^\]]*\])?(?:\([0-9a-f]*\))?\s*(?:#(.*))?$/i;
const OTHER = /^(?:#|[a-z]+=|Chassis\b|Spine\b|Leaf\b|Line\b|$)/i;

interface Seen {
  readonly link: FabricLink;
  readonly from: string;
  both: boolean;
}

/**
 * Returns the nodes and cables of ibnetdiscover's output, each cable once although both ends list it; where they disagree,
 * the lower rate. Ports without a rate have `otherwise`. Throws InputError with the line. O(text).
 */
function parseFabric(text: string, fileName: string, otherwise: number | undefined): Fabric {
  const nodes = new Map<string, FabricNode>();
  const seen = new Map<string, Seen>();
  let unequal = 0;
  let loops = 0;
  let current: string | null = null;
  text.split(/\r\n|\n|\r/).forEach((raw, index) => {
    const place = `${fileName} line ${index + 1}`;
    const line = raw.replace(/^\ufeff/, "").trim();
    const node = NODE.exec(line);
    if (node !== null) {
      const [, id, description = ""] = node as unknown as [string, string, string?];
      current = id;
      nodes.set(id, nodeOf(id, description));
      return;
    }
    const port = PORT.exec(line);
    if (port === null) {
      if (!OTHER.test(line)) throw new InputError(place, "a line of ibnetdiscover", line);
      return;
    }
    if (current === null) throw new InputError(place, "a Switch or Ca line above its ports", line);
    const [, here, id, there, comment = ""] = port as unknown as [string, string, string, string, string?];
    if (!nodes.has(id)) nodes.set(id, nodeOf(id, /"([^"]*)"/.exec(comment)?.[1] ?? ""));
    if (id === current) {
      loops++;
      return;
    }
    const bytesPerSecond = rateOf(comment, place, otherwise);
    const ends = [`${current} ${Number(here)}`, `${id} ${Number(there)}`];
    const key = ends.sort().join(" ");
    const known = seen.get(key);
    if (known === undefined) {
      const link = { a: current, portA: Number(here), b: id, portB: Number(there), bytesPerSecond };
      seen.set(key, { link, from: current, both: false });
    } else if (known.from !== current && !known.both) {
      const slower = Math.min(known.link.bytesPerSecond, bytesPerSecond);
      if (known.link.bytesPerSecond !== bytesPerSecond) unequal++;
      seen.set(key, { link: { ...known.link, bytesPerSecond: slower }, from: known.from, both: true });
    }
  });
  const cables = [...seen.values()];
  return {
    nodes,
    links: cables.map(({ link }) => link),
    oneSided: cables.filter(({ both }) => !both).length,
    unequal,
    loops: Math.ceil(loops / 2),
  };
}

const nodeOf = (id: string, description: string): FabricNode => ({
  id,
  kind: id.startsWith("H") || id.startsWith("h") ? "adapter" : "switch",
  description: description.trim(),
});

/** Returns the rate at the end of a port's comment: `... lid 5 4xNDR`. */
function rateOf(comment: string, place: string, otherwise: number | undefined): number {
  const match = /\b(\d{1,2})x([A-Z]+\d*)\s*$/.exec(comment);
  if (match === null) {
    if (otherwise !== undefined) return otherwise;
    throw new InputError(place, `a rate such as 4xNDR (or ${optionName("assume")} nic=400Gbps)`);
  }
  const [, lanes, name] = match as unknown as [string, string, string];
  const gbps = Object.hasOwn(GBPS_OF_4X, name) ? GBPS_OF_4X[name] : 0;
  const rate = (Number(lanes) * gbps * 1e9) / 32;
  if (rate < 1) throw new InputError(place, `lanes and one of ${Object.keys(GBPS_OF_4X).join(", ")}`, match[0].trim());
  return rate;
}
