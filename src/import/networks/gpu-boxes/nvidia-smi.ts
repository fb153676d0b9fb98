import { InputError, inWords } from "../../../base/errors.ts";
import { optionName } from "../../../base/option-names.ts";
import { disjointSets } from "../../../model/graph/graph.ts";
import { GPU_MODELS, type GpuModel, gpuModel } from "../../../model/topology/gpu-models.ts";
import type { Topology } from "../../../model/topology/topology.ts";
import { baseName } from "../topology-json.ts";
import type { TopologyOptions } from "../topology-options.ts";
import {
  type DirectPair,
  directRate,
  type GpuHost,
  givenModel,
  type HostLink,
  type HostNode,
  type Nic,
  pcieRate,
  socketRate,
  wireGpuBox,
} from "./gpu-box.ts";

/** Returns true where a text holds the matrix of `nvidia-smi topo -m`, whatever stands around it. */
export const looksLikeNvidiaSmi = (text: string): boolean => looksLikeMatrix(text);

/**
 * Returns the network of a machine by its `nvidia-smi topo -m`. The matrix has no bandwidths and hides NVSwitches: `--gpu`
 * names the GPUs (without it, their NVLinks tell, where they can), `--assume` the rest, and `sources` say what was assumed.
 * PCIe takes part where NVLink does not connect all GPUs; several boxes (`nodes`) meet through the NICs of the matrix.
 * Throws InputError with the line. O(text + devices^2).
 */
export function readNvidiaSmi(text: string, fileName: string, options: TopologyOptions = {}): Topology {
  const matrix = readMatrix(text, fileName);
  const { model, pairs, hubs, notes } = linksOf(matrix, fileName, options);
  const pcie = pcieRate(model, options);
  const socket = socketRate(options);
  const hosts = hostsOf(matrix, pcie.bytesPerSecond, socket.bytesPerSecond);
  return wireGpuBox(
    {
      name: baseName(fileName),
      gpus: matrix.gpus,
      pairs,
      hubs,
      inNetwork: model?.inNetwork ?? false,
      ...hosts,
      machineOf: null,
      sources: [`nvidia-smi topo -m in ${fileName}`, ...notes],
      hostSources: [pcie.note, ...(hosts.hostLinks.length > 0 ? [socket.note] : [])],
    },
    options,
  );
}

/** The PCIe tree that a matrix tells of. */
interface MatrixHosts {
  readonly hosts: readonly HostNode[];
  readonly hostLinks: readonly HostLink[];
  readonly gpuHosts: readonly GpuHost[];
  readonly nics: readonly Nic[];
}

/**
 * Returns the PCIe tree behind a matrix: devices joined by PIX hang on one PCIe switch, those joined by PIX or PXB below
 * another, which hangs on a CPU by one link; PHB, NODE and equal affinities mean one CPU; CPUs are joined pairwise. A pair of GPUs with
 * NVLink does not tell its way over PCIe; it counts as one CPU where no other cell or affinity speaks against it.
 * O(devices^2), as the matrix is.
 */
function hostsOf(matrix: DeviceMatrix, pcie: number, socket: number): MatrixHosts {
  const { devices, gpus } = matrix;
  const n = devices.length;
  const near = PCIE_CLASSES.slice(0, 3).map((limit) => joinedUpTo(matrix, PCIE_CLASSES.indexOf(limit)));
  const [pix, pxb, cpu] = near;
  joinAffinities(matrix, cpu);
  joinUndecided(matrix, cpu);

  const hosts: HostNode[] = [];
  const nodes = new Map<string, number>();
  const nodeOf = (name: string, parent: number): number => {
    const known = nodes.get(name);
    if (known !== undefined) return known;
    nodes.set(name, hosts.length);
    return hosts.push({ name, parent, bytesPerSecond: pcie }) - 1;
  };
  const cpus = new Map<number, number>();
  for (let d = 0; d < n; d++) {
    const least = cpu.least(d);
    if (!cpus.has(least)) cpus.set(least, nodeOf(`cpu${cpus.size}`, -1));
  }
  const hostOf = (d: number): number => {
    const root = cpus.get(cpu.least(d)) as number;
    return nodeOf(`pix.${devices[pix.least(d)]}`, nodeOf(`pxb.${devices[pxb.least(d)]}`, root));
  };
  const gpuHosts: GpuHost[] = [];
  const nics: Nic[] = [];
  for (let d = 0; d < n; d++) {
    const host = hostOf(d);
    if (d < gpus) gpuHosts.push({ gpu: d, host, bytesPerSecond: pcie, kind: "pcie" });
    else nics.push({ name: devices[d], host, bytesPerSecond: pcie, portBytesPerSecond: undefined });
  }
  const hostLinks: HostLink[] = [];
  for (let a = 0; a < cpus.size; a++) {
    for (let b = a + 1; b < cpus.size; b++) hostLinks.push({ a, b, bytesPerSecond: socket });
  }
  return { hosts, hostLinks, gpuHosts, nics };
}

type Sets = ReturnType<typeof disjointSets>;

/** Returns the sets of devices that ways of classes up to `limit` join. */
function joinedUpTo({ devices, cell }: DeviceMatrix, limit: number): Sets {
  const sets = disjointSets(devices.length);
  for (let a = 0; a < devices.length; a++) {
    for (let b = 0; b < a; b++) {
      const way = cell(a, b);
      if (typeof way === "string" && PCIE_CLASSES.indexOf(way) <= limit) sets.join(a, b);
    }
  }
  return sets;
}

function joinAffinities({ affinity }: DeviceMatrix, cpu: Sets): void {
  const first = new Map<string, number>();
  for (const [gpu, text] of affinity.entries()) {
    if (text === "") continue;
    const known = first.get(text);
    if (known === undefined) first.set(text, gpu);
    else cpu.join(known, gpu);
  }
}

/** Joins the CPUs of pairs with NVLink where nothing says that they are two. */
function joinUndecided({ gpus, cell, affinity }: DeviceMatrix, cpu: Sets): void {
  /** [gpus][gpus] whether members of two sets are known to be on different CPUs, at the sets' least members. */
  const apart = new Uint8Array(gpus * gpus);
  const known = (a: number, b: number): boolean =>
    cell(a, b) === "SYS" || (affinity[a] !== "" && affinity[b] !== "" && affinity[a] !== affinity[b]);
  for (let a = 0; a < gpus; a++) {
    for (let b = 0; b < gpus; b++) if (a !== b && known(a, b)) apart[cpu.least(a) * gpus + cpu.least(b)] = 1;
  }
  for (let a = 0; a < gpus; a++) {
    for (let b = 0; b < a; b++) {
      const [x, y] = [cpu.least(a), cpu.least(b)];
      if (x === y || typeof cell(a, b) !== "number" || apart[x * gpus + y] === 1) continue;
      cpu.join(a, b);
      const [to, from] = [Math.min(x, y), Math.max(x, y)];
      for (let c = 0; c < gpus; c++) {
        apart[to * gpus + c] |= apart[from * gpus + c];
        apart[c * gpus + to] |= apart[c * gpus + from];
      }
    }
  }
}

/** The NVLinks that a matrix tells of. */
interface MatrixLinks {
  readonly model: GpuModel | null;
  readonly pairs: readonly DirectPair[];
  readonly hubs: readonly Float64Array[];
  readonly notes: readonly string[];
}

/** NVLinks of the cells. */
interface Counts {
  readonly most: number;
  readonly least: number;
  /** [gpus] sum over the row. */
  readonly sum: Int32Array;
  /** [gpus] largest of the row. */
  readonly largest: Int32Array;
}

/**
 * Returns the NVLinks of a matrix. Cells NV# of a switched box show the links of a GPU, not of the pair: where a GPU's cells
 * add up to more links than it has, all GPUs that NVLink connects to it are on one switch, each with its largest cell.
 * Otherwise every cell is a bundle of links between two GPUs. Throws InputError, which asks for `--gpu`, where neither
 * option nor numbers tell the model.
 */
function linksOf(matrix: DeviceMatrix, fileName: string, options: TopologyOptions): MatrixLinks {
  const given = givenModel(options);
  const counts = countsOf(matrix);
  if (given === "none") {
    const notes = counts.most === 0 ? [] : [`NVLinks left out, as --gpu none says`];
    return { model: null, pairs: [], hubs: [], notes };
  }
  if (counts.most === 0) return { model: given, pairs: [], hubs: [], notes: [] };
  const guess = given === null ? guessOf(matrix.gpus, counts) : null;
  const model = given ?? (guess === null ? null : gpuModel(guess.name));
  const rate = directRate(model, "nvlink", options);
  if (rate === null || model === null) {
    const place = `the GPUs of ${fileName} (NV${counts.most} in line ${matrix.line + 1} or below)`;
    if (given !== null) throw tooFewLinks("no", counts.most, fileName, options);
    throw new InputError(
      place,
      `their model by ${optionName("gpu")}, such as ${optionName("gpu")} a100 or ${optionName("gpu")} h100,`,
    );
  }
  const notes = [rate.note, ...(guess === null ? [] : [guess.note])];
  if (counts.most > model.links && options.bandwidth?.nvlink === undefined)
    throw tooFewLinks(model.links, counts.most, fileName, options);
  const switched = counts.sum.findIndex((sum) => sum > model.links);
  if (switched >= 0) {
    if (counts.most < model.links)
      notes.push(
        `NVLinks are missing: ${counts.most} of a GPU, of the ${model.links} that ${model.name} has${withLinks(counts.most)}`,
      );
    notes.push(
      `NVSwitch: the ${counts.sum[switched]} links in the row of ${matrix.devices[switched]} are more than the ${model.links} ` +
        `of ${model.name}, so NV# is what a GPU has in all; one switch stands for all NVSwitches`,
    );
  }
  return { model, ...wired(matrix, counts, model, rate.bytesPerSecond), notes };
}

/** Returns the error for a GPU of --gpu that has `had` NVLinks where a matrix shows more. */
const tooFewLinks = (had: number | "no", most: number, fileName: string, { gpu }: TopologyOptions): InputError =>
  new InputError(optionName("gpu"), `one with ${most} NVLinks`, gpu)
    .as("not-applicable")
    .saying(
      `${optionName("gpu")} is ${gpu}, which has ${had} NVLinks, but ${fileName} shows ${most} (NV${most})${withLinks(most) || "; `banyan list gpus` lists all"}`,
    );

/** Returns "; a800 and h800 have 8 NVLinks"; nothing where no model has so many. */
function withLinks(links: number): string {
  const names = [...GPU_MODELS.values()].filter((model) => model.link === "nvlink" && model.links === links);
  const list = names.map(({ name }) => name).join(", ");
  return list === "" ? "" : `; GPUs with ${links}: ${list}`;
}

function countsOf({ gpus, cell }: DeviceMatrix): Counts {
  const sum = new Int32Array(gpus);
  const largest = new Int32Array(gpus);
  let least = Infinity;
  for (let a = 0; a < gpus; a++) {
    for (let b = 0; b < gpus; b++) {
      if (a === b) continue;
      const way = cell(a, b);
      const links = typeof way === "number" ? way : 0;
      sum[a] += links;
      largest[a] = Math.max(largest[a], links);
      least = Math.min(least, links);
    }
  }
  return { most: largest.reduce((most, links) => Math.max(most, links), 0), least, sum, largest };
}

/** Returns the model that the numbers tell: the sums are those of one model's board only, or of boards with equal links. */
function guessOf(gpus: number, { most, least, sum }: Counts): { readonly name: string; readonly note: string } | null {
  const uniform = most === least;
  const all = sum.reduce((largest, links) => Math.max(largest, links), 0);
  const taken = (name: string, why: string, other: string): { name: string; note: string } => ({
    name,
    note: `GPUs taken as ${name}: ${why} (${other})`,
  });
  if (most === 18) return taken("h100", "18 NVLinks", `B200 and B300 have 18 of 50 GB/s: --gpu b200`);
  if (most === 12) return taken("a100", "12 NVLinks", `else say --gpu`);
  if (uniform && most === 4 && gpus === 4) return taken("a100", "4 NVLinks to each of 3 others", `else say --gpu`);
  if (uniform && most === 6 && gpus > 4) return taken("v100", "6 NVLinks, all pairs", `else say --gpu`);
  if (most <= 2 && all === 6) return taken("v100", "6 NVLinks, one or two to a neighbour", `else say --gpu`);
  return null;
}

function wired(
  { gpus, cell }: DeviceMatrix,
  { sum, largest }: Counts,
  model: GpuModel,
  rate: number,
): Pick<MatrixLinks, "pairs" | "hubs"> {
  const sets = disjointSets(gpus);
  for (let a = 0; a < gpus; a++) for (let b = 0; b < a; b++) if (typeof cell(a, b) === "number") sets.join(a, b);
  const hubs = new Map<number, Float64Array>();
  for (let g = 0; g < gpus; g++) if (sum[g] > model.links) hubs.set(sets.least(g), new Float64Array(gpus));
  const pairs: DirectPair[] = [];
  for (let a = 0; a < gpus; a++) {
    const hub = hubs.get(sets.least(a));
    if (hub !== undefined) {
      hub[a] = largest[a] * rate;
      continue;
    }
    for (let b = a + 1; b < gpus; b++) {
      const links = cell(a, b);
      if (typeof links === "number") pairs.push({ a, b, bytesPerSecond: links * rate, kind: "nvlink" });
    }
  }
  return { pairs, hubs: [...hubs.values()] };
}

/** How two devices reach each other, nearest first: one PCIe switch, several, a CPU, several CPUs. */
const PCIE_CLASSES = ["PIX", "PXB", "CPU", "SYS"] as const;
type PcieClass = (typeof PCIE_CLASSES)[number];

/** A cell of the matrix: NVLinks, or a class of way over PCIe. */
type Cell = number | PcieClass;

/** What `nvidia-smi topo -m` prints. */
interface DeviceMatrix {
  /** GPUs come first. */
  readonly devices: readonly string[];
  readonly gpus: number;
  /** Returns the cell of two different devices. */
  readonly cell: (a: number, b: number) => Cell;
  /** [gpus] text of the NUMA (else CPU) affinity; "" where there is none. */
  readonly affinity: readonly string[];
  /** Line of the header, from 1. */
  readonly line: number;
}

const MOST_CHARACTERS = 16e6;
const MOST_DEVICES = 1024;
const CLASSES: ReadonlyMap<string, PcieClass> = new Map([
  ["PIX", "PIX"],
  ["PXB", "PXB"],
  ["PHB", "CPU"],
  ["NODE", "CPU"],
  ["SYS", "SYS"],
  ["SOC", "SYS"],
]);
const CELLS = "X, NV#, PIX, PXB, PHB, NODE or SYS";
const ANSI = new RegExp(`${String.fromCharCode(27)}\\[[0-9;?]*[A-Za-z]`, "g");

interface Line {
  readonly words: readonly string[];
  readonly line: number;
}

/** Returns the lines of a text by words, without colours of terminals and marks of quotation; empty ones are left out. */
function linesOf(text: string): Line[] {
  const plain = text.replace(/^\ufeff/, "").replace(ANSI, "");
  return plain
    .split(/\r\n|[\r\n]/)
    .map((line, i) => ({ words: line.split(/[\s|>]+/).filter((word) => word !== ""), line: i + 1 }))
    .filter(({ words }) => words.length > 0);
}

/** Names of columns behind the devices. */
const isAffinityWord = (word: string): boolean => /^(CPU|NUMA|GPU|Affinity|ID)$/i.test(word);
const isCell = (word: string): boolean => word === "X" || /^NV\d+$/.test(word) || CLASSES.has(word);
const isGpu = (word: string): boolean => /^GPU\d{1,6}$/.test(word);

/** A header has names of GPUs, then of other devices, then of affinities, and no cells. */
function isHeader({ words }: Line): boolean {
  if (!isGpu(words[0])) return false;
  return !words.some(isCell) && (words.length === 1 || isGpu(words[1]) || words.some(isAffinityWord));
}

/** Returns true where a text holds what `nvidia-smi topo -m` prints. O(text). */
function looksLikeMatrix(text: string): boolean {
  const head = linesOf(text.slice(0, 2 ** 16));
  const at = head.findIndex(isHeader);
  return at >= 0 && head.slice(at + 1).some(({ words }) => isGpu(words[0]) && words.some(isCell));
}

/**
 * Returns the matrix in a text, whatever stands around it: TABs or spaces, colours, any line ends, NICs or none, affinities
 * or none. Throws InputError with the line: rows missing, cells of no known class, cells that differ from their mirror
 * images. O(text).
 */
function readMatrix(text: string, fileName: string): DeviceMatrix {
  if (text.length > MOST_CHARACTERS) {
    throw new InputError(fileName, `a matrix of at most ${MOST_CHARACTERS} characters`, text.length);
  }
  const lines = linesOf(text);
  const at = lines.findIndex(isHeader);
  if (at < 0) throw new InputError(fileName, "the header of nvidia-smi topo -m (GPU0 GPU1 ...)");
  const { words, line } = lines[at];
  const end = words.findIndex(isAffinityWord);
  const devices = end < 0 ? words : words.slice(0, end);
  const place = (where: number): string => `${fileName} line ${where}`;
  if (devices.length > MOST_DEVICES) {
    throw new InputError(place(line), `at most ${MOST_DEVICES} devices`, devices.length).as("out-of-range");
  }
  const twice = devices.find((device, d) => devices.indexOf(device) !== d);
  if (twice !== undefined)
    throw new InputError(place(line), "each device once", words.join(" ")).saying(`${place(line)} has ${twice} twice`);
  const gpus = devices.filter(isGpu).length;
  if (!devices.slice(0, gpus).every(isGpu)) throw new InputError(place(line), "GPUs before NICs", words.join(" "));
  const rows = rowsOf(lines.slice(at + 1), devices, fileName, line);
  const cells = rows.map((row, a) => devices.map((_, b) => cellOf(row, a, b, devices, fileName)));
  for (let a = 0; a < devices.length; a++) {
    for (let b = 0; b < a; b++) {
      if (cells[a][b] === cells[b][a]) continue;
      const pair = `${devices[a]} to ${devices[b]} in ${place(rows[a].line)}`;
      const [own, other] = [rows[a].words[b + 1], rows[b].words[a + 1]];
      throw new InputError(pair, `${other} as in line ${rows[b].line}`, own).saying(
        `${fileName}: ${devices[b]} to ${devices[a]} is ${other} in line ${rows[b].line}, but ${devices[a]} to ${devices[b]} is ${own} in line ${rows[a].line}; one of the two is wrong`,
      );
    }
  }
  const numa = end >= 0 && words.slice(end).some((word) => /^NUMA$/i.test(word));
  return {
    devices,
    gpus,
    cell: (a, b) => cells[a][b],
    affinity: rows.slice(0, gpus).map((row) => affinityOf(row.words.slice(devices.length + 1), numa)),
    line,
  };
}

/** What most likely happened to a paste. */
const CUT_OFF = "the paste seems cut off: copy all that nvidia-smi topo -m prints";

/** Returns the rows by device. */
function rowsOf(lines: readonly Line[], devices: readonly string[], fileName: string, header: number): Line[] {
  const index = new Map(devices.map((name, i) => [name, i]));
  const rows: (Line | undefined)[] = devices.map(() => undefined);
  let missing = devices.length;
  for (const row of lines) {
    if (missing === 0) break;
    const device = index.get(row.words[0]);
    if (device === undefined || row.words.length < 2) {
      if (missing < devices.length) break;
      continue;
    }
    const place = `${fileName} line ${row.line}`;
    if (rows[device] !== undefined)
      throw new InputError(place, `one row for ${row.words[0]}`, inWords("another row for the same GPU"));
    if (row.words.length <= devices.length) {
      throw new InputError(place, `${devices.length} cells`, row.words.length - 1).saying(
        `${place}, the row of ${row.words[0]}, has ${row.words.length - 1} of the ${devices.length} cells that its header names; ${CUT_OFF}`,
      );
    }
    rows[device] = row;
    missing--;
  }
  return rows.map((row, i) => {
    if (row !== undefined) return row;
    const before = rows.slice(0, i).findLast((one) => one !== undefined)?.line ?? header;
    const after = rows.slice(i).find((one) => one !== undefined);
    throw new InputError(`${devices[i]} after ${fileName} line ${before}`, "a row of the matrix").saying(
      after === undefined
        ? `${fileName} has no row of ${devices[i]} behind line ${before}; ${CUT_OFF}`
        : `${fileName} has no row of ${devices[i]}, which belongs between lines ${before} and ${after.line}`,
    );
  });
}

function cellOf({ words, line }: Line, a: number, b: number, devices: readonly string[], fileName: string): Cell {
  const word = words[b + 1].toUpperCase();
  const place = (): string => `${devices[a]} to ${devices[b]} in ${fileName} line ${line}`;
  if (a === b) {
    if (word === "X") return 0;
    throw new InputError(place(), "X (a device and itself)", words[b + 1]);
  }
  const links = /^NV(\d{1,3})$/.exec(word);
  if (links !== null && Number(links[1]) > 0) return Number(links[1]);
  const known = CLASSES.get(word);
  if (known !== undefined) return known;
  throw new InputError(place(), CELLS, words[b + 1]);
}

/**
 * Returns the NUMA affinity, the CPU affinity where there is no such column or it says nothing, "" where neither does; a
 * GPU near several NUMA nodes tells nothing either.
 */
function affinityOf([cpu = "", node = ""]: readonly string[], numa: boolean): string {
  if (numa && /^\d/.test(node)) return /^\d+$/.test(node) ? node : "";
  return /^\d/.test(cpu) ? cpu : "";
}
