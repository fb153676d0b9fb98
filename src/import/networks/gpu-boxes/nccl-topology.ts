import { InputError } from "../../../base/errors.ts";
import { optionName } from "../../../base/option-names.ts";
import { BYTES_PER_GB } from "../../../model/numbers/units.ts";
import { boardOf, CUBE_MESH_PAIRS, type GpuModel, gpuModel } from "../../../model/topology/gpu-models.ts";
import type { Topology } from "../../../model/topology/topology.ts";
import { attributeOf, integerAttribute, readXml, type XmlElement, xmlPlace } from "../../text/xml.ts";
import { baseName } from "../topology-json.ts";
import type { TopologyOptions } from "../topology-options.ts";
import {
  counted,
  type DirectPair,
  directRate,
  type GpuHost,
  givenModel,
  type HostLink,
  type HostNode,
  type Nic,
  wireGpuBox,
} from "./gpu-box.ts";

/** Many times what machines of thousands of GPUs take. */
const LIMITS = { characters: 64e6, elements: 5e5, depth: 64 };

/** Returns true where an XML text's first element is <system>: a topology of NCCL or RCCL. O(text before it). */
export function looksLikeNcclTopology(text: string): boolean {
  let at = text.startsWith("\ufeff") ? 1 : 0;
  for (;;) {
    while (/\s/.test(text.charAt(at))) at++;
    const end = text.startsWith("<!--", at) ? "-->" : text.startsWith("<?", at) ? "?>" : null;
    if (end === null) return /^<system[\s/>]/.test(text.slice(at, at + 8));
    const stop = text.indexOf(end, at + 2);
    if (stop < 0) return false;
    at = stop + end.length;
  }
}

/**
 * Returns the network of a NCCL or RCCL topology file (NCCL_TOPO_DUMP_FILE, NCCL_TOPO_FILE; version 1 and 2). GPUs are
 * numbered by rank, else by dev, else by bus id. NVLinks and xGMI have the maker's bandwidths, PCIe and sockets those that
 * NCCL counts, NICs those of the file. Files of clouds list no NVLinks: `--gpu` says which board it is (`none`: PCIe alone).
 * PCIe takes part where direct links do not connect all GPUs; several boxes (`nodes`) meet through the file's NICs.
 * Throws InputError with the line. O(text + CPUs^2 of a host).
 */
export function readNcclTopology(text: string, fileName: string, options: TopologyOptions = {}): Topology {
  const system = readXml(text, fileName, LIMITS);
  if (system.name !== "system") throw new InputError(xmlPlace(fileName, system), "<system>", `<${system.name}>`);
  const devices = devicesOf(system, fileName, options);
  const gpus = inOrder(devices.gpus);
  const model = givenModel(options);
  const listed = gpus[0].gpu !== null;
  const links: XmlLinks =
    model === "none"
      ? { pairs: [], hubs: [], toCpu: [], inNetwork: false, notes: [`PCIe alone, as --gpu none says`] }
      : (listed ? listedLinks : boardLinks)(gpus, model, fileName, options);
  const overPcie = gpus.map(({ host, bytesPerSecond }, gpu): GpuHost => ({ gpu, host, bytesPerSecond, kind: "pcie" }));
  const version = system.attributes.get("version");
  return wireGpuBox(
    {
      name: baseName(fileName),
      gpus: gpus.length,
      pairs: links.pairs,
      hubs: links.hubs,
      inNetwork: links.inNetwork,
      hosts: devices.hosts,
      hostLinks: devices.hostLinks,
      gpuHosts: [...overPcie, ...links.toCpu],
      nics: devices.nics,
      machineOf: devices.machines > 1 ? Int32Array.from(gpus, ({ machine }) => machine) : null,
      sources: [`NCCL topology${version === undefined ? "" : ` version ${version}`} in ${fileName}`, ...links.notes],
      hostSources: devices.notes,
    },
    options,
  );
}

/** Returns the GPUs by rank where all have one of their own, else by dev, else by machine and bus id. */
function inOrder(gpus: readonly GpuElement[]): GpuElement[] {
  for (const key of ["rank", "dev"]) {
    const numbers = gpus.map(({ gpu }) => Number(gpu?.attributes.get(key) || Number.NaN));
    if (!numbers.every((value) => Number.isInteger(value) && value >= 0)) continue;
    if (new Set(numbers).size < gpus.length) continue;
    const order = [...gpus.keys()].sort((a, b) => numbers[a] - numbers[b]);
    return order.map((g) => gpus[g]);
  }
  const text = ({ busid }: GpuElement): string => busid;
  return [...gpus].sort((a, b) => a.machine - b.machine || (text(a) < text(b) ? -1 : text(a) > text(b) ? 1 : 0));
}

/** NVLinks and xGMI of a file. */
interface XmlLinks {
  readonly pairs: readonly DirectPair[];
  readonly hubs: readonly Float64Array[];
  /** NVLink or C2C to CPUs. */
  readonly toCpu: readonly GpuHost[];
  readonly inNetwork: boolean;
  readonly notes: readonly string[];
}

/** By CUDA's compute capability and by AMD's gfx number: models with the same links. */
const BY_SM: ReadonlyMap<string, string> = new Map(
  Object.entries({
    60: "p100",
    70: "v100",
    80: "a100",
    86: "rtx-a6000",
    90: "h100",
    100: "b200",
    103: "b300",
  }),
);
const BY_GFX: ReadonlyMap<string, string> = new Map(
  Object.entries({
    906: "mi60",
    908: "mi100",
    910: "mi250",
    "90a": "mi250",
    940: "mi300x",
    941: "mi300x",
    942: "mi300x",
    950: "mi355x",
  }),
);
const NVSWITCH = /^0x0680(00)?$/i;
const CPU_CLASS = /^0x068001$/i;
const VIRTUAL_SWITCH = /^f+:f+:f+/i;

/** Links from one GPU to another. */
interface Bundle {
  readonly count: number;
  /** Of one link. */
  readonly rate: number;
  readonly kind: "nvlink" | "xgmi";
}

/** Returns the model that a <gpu> tells of by `gcn` or `sm`; null where it does not. */
function toldModel(gpu: XmlElement): GpuModel | null {
  const gcn = gpu.attributes.get("gcn");
  const name =
    gcn === undefined ? BY_SM.get(gpu.attributes.get("sm") ?? "") : BY_GFX.get(gcn.toLowerCase().replace(/^gfx/, ""));
  return name === undefined ? null : gpuModel(name);
}

/** Returns what a <gpu> says of its kind: "sm 90", "gcn gfx942". */
function toldBy({ attributes }: XmlElement): string {
  const gcn = attributes.get("gcn");
  return gcn === undefined ? `sm ${attributes.get("sm") ?? "?"}` : `gcn ${gcn}`;
}

/**
 * Returns the NVLinks and xGMI that <gpu> elements list. NVSwitches are one switch. A bundle that one end lists holds both
 * ways; where the ends list different numbers, the lesser counts. Links to a GPU itself (a quirk of Azure's ncv4 file) and
 * to devices that the file lacks are left out. Throws InputError with the line. O(links).
 */
function listedLinks(
  gpus: readonly GpuElement[],
  model: GpuModel | null,
  fileName: string,
  options: TopologyOptions,
): XmlLinks {
  const n = gpus.length;
  const index = new Map(gpus.map(({ machine, busid }, g) => [`${machine} ${busid}`, g]));
  const ports = new Float64Array(n);
  /** By n * from + to. */
  const bundles = new Map<number, Bundle>();
  const toCpu: GpuHost[] = [];
  const notes = new Set<string>();
  let [selves, strangers, unequal, inNetwork] = [0, 0, 0, false];

  for (const [g, { gpu, machine, cpu }] of gpus.entries()) {
    if (gpu === null) continue;
    const own = model ?? toldModel(gpu);
    const rates = new Map<string, number>();
    for (const link of gpu.children) {
      if (link.name === "c2c") {
        const rate = integerAttribute(link, "bw", fileName) * integerAttribute(link, "count", fileName) * 1e6;
        if (rate > 0) toCpu.push({ gpu: g, host: cpu, bytesPerSecond: rate, kind: "nvlink" });
      }
      if (link.name !== "nvlink" && link.name !== "xgmi") continue;
      const count = integerAttribute(link, "count", fileName, [0, 1024]);
      if (count === 0) continue;
      if (!rates.has(link.name)) {
        const figure = directRate(own, link.name, options);
        if (figure === null) throw unknownModel(gpu, link.name, model, fileName);
        rates.set(link.name, figure.bytesPerSecond);
        if (model === null && own !== null) notes.add(`GPUs of ${toldBy(gpu)} have the links of ${own.name}`);
        notes.add(figure.note);
      }
      const rate = rates.get(link.name) as number;
      const target = attributeOf(link, "target", fileName);
      const kind = link.attributes.get("tclass") ?? "";
      const other = index.get(`${machine} ${plainBusid(target)}`);
      if (other === g) selves += count;
      else if (other !== undefined) {
        const before = bundles.get(n * g + other)?.count ?? 0;
        bundles.set(n * g + other, { count: before + count, rate, kind: link.name });
      } else if (NVSWITCH.test(kind) || VIRTUAL_SWITCH.test(target)) {
        ports[g] += count * rate;
        if (own?.inNetwork === true) inNetwork = true;
      } else if (CPU_CLASS.test(kind)) {
        toCpu.push({ gpu: g, host: cpu, bytesPerSecond: count * rate, kind: "nvlink" });
      } else strangers += count;
    }
  }
  const pairs: DirectPair[] = [];
  for (const [key, { count, rate, kind }] of bundles) {
    const [a, b] = [Math.floor(key / n), key % n];
    const back = bundles.get(n * b + a);
    if (back !== undefined && a > b) continue;
    if (back !== undefined && back.count !== count) unequal++;
    const bytesPerSecond = Math.min(rate, back?.rate ?? rate) * Math.min(count, back?.count ?? count);
    pairs.push({ a, b, bytesPerSecond, kind });
  }
  if (selves > 0) notes.add(`${counted(selves, "link")} from a GPU to itself left out`);
  if (strangers > 0) notes.add(`${counted(strangers, "link")} to devices that the file lacks left out`);
  if (unequal > 0)
    notes.add(`${counted(unequal, "pair")} whose ends list different numbers of links: the lesser counts`);
  const switched = ports.some((rate) => rate > 0);
  if (switched) notes.add("NVSwitches taken as one switch, as NCCL does");
  return { pairs, hubs: switched ? [ports] : [], toCpu, inNetwork, notes: [...notes] };
}

function unknownModel(gpu: XmlElement, kind: string, model: GpuModel | null, fileName: string): InputError {
  return new InputError(
    `the GPU at ${xmlPlace(fileName, gpu)}`,
    `its model by ${optionName("gpu")}, one with ${kind}, such as ${optionName("gpu")} ${kind === "nvlink" ? "a100" : "mi300x"},`,
    model?.name ?? toldBy(gpu),
  );
}

/**
 * Returns the links of GPUs of which the file tells their number only: those of the model's board. Throws InputError, which
 * asks for `--gpu`, without a model or for a number of GPUs that no known board of it has.
 */
function boardLinks(
  gpus: readonly GpuElement[],
  model: GpuModel | null,
  fileName: string,
  options: TopologyOptions,
): XmlLinks {
  const n = gpus.length;
  if (model === null) {
    const device = gpus[0].pci.attributes.get("device");
    const seen = `${n} GPUs${device === undefined ? "" : ` (PCI device ${device})`} without <gpu>`;
    throw new InputError(
      `the NVLinks that ${fileName} does not list`,
      `${optionName("gpu")}, such as a100, v100, h100, or none for PCIe alone,`,
      seen,
    );
  }
  const rate = model.link === null ? null : directRate(model, model.link, options);
  const none = { pairs: [], hubs: [], toCpu: [], inNetwork: false };
  if (rate === null || model.link === null || n === 1) return { ...none, notes: [`${n} ${model.name} on PCIe`] };
  const { name, links, link: kind } = model;
  const board = boardOf(model, n);
  if (board === null) {
    const known = model.boards.map(({ gpus: count }) => count).join(" or ") || "none from a file without their links";
    throw new InputError(
      optionName("gpu", ` ${name}`),
      `a known number of GPUs of one board (${known}) in ${fileName}`,
      n,
    );
  }
  if (board.wiring === "switch") {
    const hub = new Float64Array(n).fill(links * rate.bytesPerSecond);
    const notes = [rate.note, `the file lists no NVLinks: ${n} ${name} taken as on NVSwitch with ${links} links each`];
    return { ...none, hubs: [hub], inNetwork: model.inNetwork, notes };
  }
  const pair = (a: number, b: number, count: number): DirectPair => ({
    a,
    b,
    bytesPerSecond: count * rate.bytesPerSecond,
    kind,
  });
  if (board.wiring === "cube-mesh") {
    const order = "their order by bus id taken as that of nvidia-smi";
    const notes = [rate.note, `the file lists no NVLinks: ${n} ${name} taken as a hybrid cube mesh, ${order}`];
    return { ...none, pairs: CUBE_MESH_PAIRS.map(([a, b, count]) => pair(a, b, count)), notes };
  }
  const each = board.linksPerPair ?? 1;
  const pairs = gpus.flatMap((_, a) => gpus.slice(a + 1).map((_, past) => pair(a, a + 1 + past, each)));
  const notes = [rate.note, `the file lists no links: ${n} ${name} taken as a full mesh, ${each} to each other`];
  return { ...none, pairs, notes };
}

/** A GPU of the file: its <pci> and, where there is one, its <gpu>. */
interface GpuElement {
  readonly pci: XmlElement;
  readonly gpu: XmlElement | null;
  readonly busid: string;
  readonly machine: number;
  readonly host: number;
  /** The CPU above it. */
  readonly cpu: number;
  /** Of its PCIe. */
  readonly bytesPerSecond: number;
}

/** What the file has, in its order. */
interface Devices {
  readonly gpus: readonly GpuElement[];
  readonly hosts: readonly HostNode[];
  readonly hostLinks: readonly HostLink[];
  readonly nics: readonly Nic[];
  readonly machines: number;
  readonly notes: readonly string[];
}

const MOST_GPUS = 8192;
const MOST_CPUS = 512;
/** What NCCL counts within a device. */
const LOCAL_BYTES_PER_SECOND = 5000 * BYTES_PER_GB;
const GPU_CLASS = /^0x(0300|0302|0380|1200)/i;
const NIC_CLASS = /^0x02/i;

/** Returns a bus id in one form: small letters, a domain of eight digits. */
function plainBusid(text: string): string {
  const parts = text.trim().toLowerCase().split(":");
  return parts.length < 3
    ? parts.join(":")
    : [parts[0].replace(/^0+/, "").padStart(8, "0"), ...parts.slice(1)].join(":");
}

/**
 * Returns GPUs, NICs and the PCIe tree of a <system>; bandwidths as NCCL counts them, or as --assume says. A <pci> without
 * <gpu> is a GPU where its class says so and the file has no <gpu> at all. Throws InputError with the line. O(elements +
 * CPUs^2 of a machine).
 */
function devicesOf(system: XmlElement, fileName: string, options: TopologyOptions): Devices {
  const tree: Tree = {
    fileName,
    options,
    hosts: [],
    gpus: [],
    nics: [],
    names: new Map(),
    bridges: new Map(),
    pciLinks: [],
    untold: 0,
  };
  const machines = readMachines(tree, system);
  const withGpu = tree.gpus.filter(({ gpu }) => gpu !== null);
  const gpus = withGpu.length > 0 ? withGpu : tree.gpus;
  if (gpus.length === 0) throw new InputError(fileName, "GPUs in the topology: <gpu>, or <pci> of a GPU's class,");
  if (gpus.length > MOST_GPUS)
    throw new InputError(fileName, `at most ${MOST_GPUS} GPUs`, gpus.length).as("out-of-range");
  const hostLinks: HostLink[] = [];
  joinPciLinks(tree.pciLinks, tree.bridges, hostLinks);
  const kinds = joinCpus(machines, options, hostLinks);
  const notes =
    options.bandwidth?.pcie !== undefined
      ? [`PCIe: as --assume says`]
      : ["PCIe: GT/s x lanes as NCCL counts them, 16 GT/s x 16 = 24 GB/s"];
  if (tree.untold > 0 && options.bandwidth?.pcie === undefined)
    notes.push(`${counted(tree.untold, "device")} without speed or lanes: 8 GT/s, 16 lanes, as NCCL takes them`);
  if (kinds.size > 0) notes.push(`CPU to CPU: ${[...kinds].join(", ")}`);
  return { gpus, hosts: tree.hosts, hostLinks, nics: tree.nics, machines: machines.length, notes };
}

/** The PCIe tree while it is read. */
interface Tree {
  readonly fileName: string;
  readonly options: TopologyOptions;
  readonly hosts: HostNode[];
  readonly gpus: GpuElement[];
  readonly nics: Nic[];
  /** How often names were used. */
  readonly names: Map<string, number>;
  /** By machine and bus id. */
  readonly bridges: Map<string, number>;
  readonly pciLinks: { readonly host: number; readonly target: string }[];
  /** Devices that do not tell how fast they are. */
  untold: number;
}

interface Machine {
  readonly id: number;
  readonly cpus: { host: number; element: XmlElement }[];
}

/** Reads all CPUs and what is below them; returns the machines that they are in. */
function readMachines(tree: Tree, system: XmlElement): readonly Machine[] {
  const machines = new Map<string, Machine>();
  for (const cpu of system.children) {
    if (cpu.name !== "cpu") continue;
    const hash = cpu.attributes.get("host_hash") ?? "";
    const machine = machines.get(hash) ?? { id: machines.size, cpus: [] };
    machines.set(hash, machine);
    const name = fresh(tree, `cpu${cpu.attributes.get("numaid") ?? ""}`);
    const host = tree.hosts.push({ name, parent: -1, bytesPerSecond: 1 }) - 1;
    machine.cpus.push({ host, element: cpu });
    if (machine.cpus.length > MOST_CPUS) {
      throw new InputError(
        xmlPlace(tree.fileName, cpu),
        `at most ${MOST_CPUS} <cpu> of a host`,
        machine.cpus.length,
      ).as("out-of-range");
    }
    for (const child of cpu.children) {
      if (child.name === "pci") addPci(tree, child, host, host, machine.id);
      else if (child.name === "nic") addNics(tree, child, host, LOCAL_BYTES_PER_SECOND);
    }
  }
  return [...machines.values()];
}

/** Returns the name, or with a number behind it where it was used before. */
function fresh({ names }: Tree, name: string): string {
  const times = names.get(name) ?? 0;
  names.set(name, times + 1);
  return times === 0 ? name : `${name}.${times}`;
}

function addNics(tree: Tree, nic: XmlElement, host: number, bytesPerSecond: number): void {
  for (const net of nic.children) {
    if (net.name !== "net") continue;
    const megabits = Number(net.attributes.get("speed"));
    const portBytesPerSecond = megabits >= 1 && megabits <= 1e9 ? Math.round(megabits * 125_000) : undefined;
    const name = fresh(tree, net.attributes.get("name") || "nic");
    tree.nics.push({ name, host, bytesPerSecond, portBytesPerSecond });
  }
}

function addPci(tree: Tree, pci: XmlElement, host: number, cpu: number, machine: number): void {
  const link = pciLink(pci, tree.fileName);
  if (!link.told) tree.untold++;
  const bytesPerSecond = tree.options.bandwidth?.pcie ?? link.bytesPerSecond;
  const busid = plainBusid(pci.attributes.get("busid") ?? "");
  const kind = pci.attributes.get("class") ?? "";
  const gpu = pci.children.find(({ name }) => name === "gpu") ?? null;
  if (gpu !== null || (GPU_CLASS.test(kind) && pci.children.length === 0)) {
    tree.gpus.push({ pci, gpu, busid, machine, host, cpu, bytesPerSecond });
    return;
  }
  const nic = pci.children.filter(({ name }) => name === "nic");
  for (const part of nic) addNics(tree, part, host, bytesPerSecond);
  if (nic.length > 0) return;
  if (NIC_CLASS.test(kind)) {
    const name = fresh(tree, `nic.${pci.attributes.get("busid")}`);
    tree.nics.push({ name, host, bytesPerSecond, portBytesPerSecond: undefined });
    return;
  }
  const name = fresh(tree, `pci.${pci.attributes.get("busid")}`);
  const bridge = tree.hosts.push({ name, parent: host, bytesPerSecond }) - 1;
  tree.bridges.set(`${machine} ${busid}`, bridge);
  for (const child of pci.children) {
    if (child.name === "pci") addPci(tree, child, bridge, cpu, machine);
    const target = child.name === "pcilink" ? child.attributes.get("target") : undefined;
    if (target !== undefined) tree.pciLinks.push({ host: bridge, target: `${machine} ${plainBusid(target)}` });
  }
}

/** Adds the links that <pcilink> names: parts of one PCIe switch. */
function joinPciLinks(
  links: readonly { readonly host: number; readonly target: string }[],
  bridges: ReadonlyMap<string, number>,
  hostLinks: HostLink[],
): void {
  const seen = new Set<string>();
  for (const { host, target } of links) {
    const other = bridges.get(target);
    if (other === undefined || other === host) continue;
    const [a, b] = [Math.min(host, other), Math.max(host, other)];
    if (seen.has(`${a} ${b}`)) continue;
    seen.add(`${a} ${b}`);
    hostLinks.push({ a, b, bytesPerSecond: LOCAL_BYTES_PER_SECOND });
  }
}

/** Adds a link between any two CPUs of a machine; returns the words for them. */
function joinCpus(
  machines: readonly { readonly cpus: readonly { readonly host: number; readonly element: XmlElement }[] }[],
  options: TopologyOptions,
  hostLinks: HostLink[],
): Set<string> {
  const kinds = new Set<string>();
  for (const { cpus } of machines) {
    for (let i = 0; i < cpus.length; i++) {
      const { bytesPerSecond, kind } = socketOf(cpus[i].element);
      const rate = options.bandwidth?.socket ?? bytesPerSecond;
      const why =
        options.bandwidth?.socket === undefined ? `as NCCL counts for ${kind} (--assume socket=)` : `as --assume says`;
      for (let j = 0; j < i; j++) {
        kinds.add(`${rate / BYTES_PER_GB} GB/s ${why}`);
        hostLinks.push({ a: cpus[j].host, b: cpus[i].host, bytesPerSecond: rate });
      }
    }
  }
  return kinds;
}

/** Figures of PCIe and of CPUs as NCCL counts them (NCCL's topo.cc, topo.h). */

/** 100 Mb/s of a lane, by GT/s. */
const LANES: ReadonlyMap<number, number> = new Map([
  [2.5, 15],
  [5, 30],
  [8, 60],
  [16, 120],
  [32, 240],
  [64, 480],
]);
const USUAL_LANE = 60;
const USUAL_WIDTH = 16;

/** A link of a PCI device. */
interface PciLink {
  readonly bytesPerSecond: number;
  /** The file gives both speed and width. */
  readonly told: boolean;
}

/**
 * Returns the link of a <pci> element: "16 GT/s", "16.0 GT/s PCIe" ... times lanes; as NCCL, 8 GT/s for a speed of no known
 * generation and 16 lanes where the width is 0 or absent. Throws InputError for a width that is no number.
 */
function pciLink(element: XmlElement, fileName: string): PciLink {
  const speed = /^\s*(\d+(?:\.\d+)?)\s*GT\/s/i.exec(element.attributes.get("link_speed") ?? "");
  const lane = speed === null ? undefined : LANES.get(Number(speed[1]));
  const hasWidth = (element.attributes.get("link_width") ?? "").trim() !== "";
  const width = hasWidth ? integerAttribute(element, "link_width", fileName, [0, 64]) : 0;
  return {
    bytesPerSecond: ((width === 0 ? USUAL_WIDTH : width) * (lane ?? USUAL_LANE) * BYTES_PER_GB) / 80,
    told: lane !== undefined && width > 0,
  };
}

/** Returns what stands between two CPUs like this one: bytes per second, and the name of the kind. */
function socketOf({ attributes }: XmlElement): { readonly bytesPerSecond: number; readonly kind: string } {
  const arch = attributes.get("arch") ?? "";
  const vendor = attributes.get("vendor") ?? "";
  const family = Number(attributes.get("familyid"));
  const model = Number(attributes.get("modelid"));
  const of = (gbps: number, kind: string) => ({ bytesPerSecond: gbps * BYTES_PER_GB, kind });
  if (/^ppc/i.test(arch)) return of(32, "POWER9");
  if (/^(arm|aarch)/i.test(arch)) return of(6, "Arm");
  if (vendor === "AuthenticAMD") return of(16, "AMD");
  if (vendor === "CentaurHauls" || vendor.trim() === "Shanghai")
    return of(family === 7 && model === 0x5b ? 9 : 6, "Zhaoxin");
  if (vendor === "GenuineIntel" && family === 6) {
    if (model >= 0xcf) return of(40, "Intel Emerald Rapids");
    if (model >= 0x8f) return of(22, "Intel Sapphire Rapids");
    if (model >= 0x55) return of(10, "Intel Skylake");
  }
  return of(6, vendor === "GenuineIntel" ? "Intel Broadwell" : "unknown CPU");
}
