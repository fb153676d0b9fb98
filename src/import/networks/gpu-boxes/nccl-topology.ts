import { InputError } from "../../../base/errors.ts";
import { boardOf, CUBE_MESH_PAIRS, type GpuModel, gpuModel } from "../../../model/topology/gpu-models.ts";
import type { Topology } from "../../../model/topology/topology.ts";
import { attributeOf, integerAttribute, readXml, type XmlElement, xmlPlace } from "../../text/xml.ts";
import { baseName } from "../topology-json.ts";
import type { TopologyOptions } from "../topology-options.ts";
import type { DirectPair, GpuHost } from "./gpu-box.ts";
import { wireGpuBox } from "./gpu-box-wiring.ts";
import { counted, directRate, givenModel } from "./gpu-figures.ts";
import { devicesOf, type GpuElement, plainBusid } from "./nccl-topology-devices.ts";

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
      ? { pairs: [], hubs: [], toCpu: [], inNetwork: false, notes: ["PCIe alone, as --gpu none says"] }
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
    `its model by --gpu, one with ${kind}, such as --gpu ${kind === "nvlink" ? "a100" : "mi300x"},`,
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
      "--gpu, such as a100, v100, h100, or none for PCIe alone,",
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
    throw new InputError(`--gpu ${name}`, `a known number of GPUs of one board (${known}) in ${fileName}`, n);
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
