import { InputError } from "../../../base/errors.ts";
import { optionName } from "../../../base/option-names.ts";
import { boardOf, type GpuModel } from "../../../model/topology/gpu-models.ts";
import type { Topology } from "../../../model/topology/topology.ts";
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
  pcieRate,
  socketRate,
  wireGpuBox,
} from "./gpu-box.ts";

/** A hop over xGMI weighs 15, so a way of two weighs 30 (KFD's io links). */
const TWO_HOPS = 30;

/** Returns true where a text holds what `rocm-smi --showtopo` prints. */
export const looksLikeRocmSmi = (text: string): boolean => looksLikeRocmTables(text);

/**
 * Returns the network of a machine by its `rocm-smi --showtopo`. Pairs of type XGMI with a weight below 30 are joined by
 * direct links; the hops are not used, for they are 1 for any xGMI pair. The number of links of a pair and all bandwidths
 * are absent: `--gpu` names the GPUs, `--assume` the rest, and `sources` say what was assumed. GPUs that xGMI does not
 * connect meet over PCIe and the CPUs of their NUMA nodes. Throws InputError with the line. O(text + GPUs^2).
 */
export function readRocmSmi(text: string, fileName: string, options: TopologyOptions = {}): Topology {
  const tables = readRocmTables(text, fileName);
  const given = givenModel(options);
  const model = given === "none" ? null : given;
  const { pairs, notes } = given === "none" ? { pairs: [], notes: [] } : pairsOf(tables, model, fileName, options);
  const pcie = pcieRate(model, options);
  const socket = socketRate(options);
  const { hosts, hostLinks, gpuHosts } = hostsOf(tables, pcie.bytesPerSecond, socket.bytesPerSecond);
  return wireGpuBox(
    {
      name: baseName(fileName),
      gpus: tables.gpus,
      pairs,
      hubs: [],
      inNetwork: false,
      hosts,
      hostLinks,
      gpuHosts,
      nics: [],
      machineOf: null,
      sources: [`rocm-smi --showtopo in ${fileName}`, ...notes],
      hostSources: [pcie.note, ...(hostLinks.length > 0 ? [socket.note] : [])],
    },
    options,
  );
}

function pairsOf(
  { gpus, weight, isXgmi }: RocmTables,
  model: GpuModel | null,
  fileName: string,
  options: TopologyOptions,
): { readonly pairs: readonly DirectPair[]; readonly notes: readonly string[] } {
  const joined: (readonly [number, number])[] = [];
  let indirect = 0;
  for (let a = 0; a < gpus; a++) {
    for (let b = a + 1; b < gpus; b++) {
      if (!isXgmi(a, b)) continue;
      if (weight(a, b) < TWO_HOPS) joined.push([a, b]);
      else indirect++;
    }
  }
  if (joined.length === 0) return { pairs: [], notes: [] };
  const rate = directRate(model, "xgmi", options);
  if (rate === null) {
    if (model !== null)
      throw new InputError(optionName("gpu"), `a GPU with xGMI, as ${fileName} shows some,`, model.name);
    throw new InputError(
      `the GPUs of ${fileName}`,
      `their model by ${optionName("gpu")}, such as mi300x, mi250 or mi100,`,
    );
  }
  const board = model === null ? null : boardOf(model, gpus);
  const complete = joined.length === (gpus * (gpus - 1)) / 2;
  const each = (complete ? board?.linksPerPair : undefined) ?? 1;
  const why = each > 1 ? `${each} links a pair, as boards of ${gpus} ${model?.name} have` : "1 link a pair";
  const notes = [rate.note, `${why}: rocm-smi does not tell their number, topologies that RCCL dumps do`];
  if (indirect > 0)
    notes.push(`${counted(indirect, "pair")} of a weight of ${TWO_HOPS} or more, without a link of their own`);
  const bytesPerSecond = each * rate.bytesPerSecond;
  return { pairs: joined.map(([a, b]) => ({ a, b, bytesPerSecond, kind: "xgmi" })), notes };
}

/** Returns a CPU for each NUMA node (all on one where none is given), joined pairwise. */
function hostsOf(
  { gpus, numa }: RocmTables,
  pcie: number,
  socket: number,
): { readonly hosts: HostNode[]; readonly hostLinks: HostLink[]; readonly gpuHosts: GpuHost[] } {
  const hosts: HostNode[] = [];
  const cpus = new Map<number, number>();
  const gpuHosts = Array.from({ length: gpus }, (_, gpu): GpuHost => {
    const node = Math.max(0, numa[gpu]);
    const host = cpus.get(node) ?? hosts.push({ name: `cpu${node}`, parent: -1, bytesPerSecond: pcie }) - 1;
    cpus.set(node, host);
    return { gpu, host, bytesPerSecond: pcie, kind: "pcie" };
  });
  const hostLinks: HostLink[] = [];
  for (let a = 0; a < hosts.length; a++) {
    for (let b = a + 1; b < hosts.length; b++) hostLinks.push({ a, b, bytesPerSecond: socket });
  }
  return { hosts, hostLinks, gpuHosts };
}

/** What `rocm-smi --showtopo` prints. */
interface RocmTables {
  readonly gpus: number;
  /** Returns the weight of the way between two GPUs. */
  readonly weight: (a: number, b: number) => number;
  readonly isXgmi: (a: number, b: number) => boolean;
  /** [gpus] NUMA node; -1 where none is given. */
  readonly numa: Int32Array;
}

const MOST_CHARACTERS = 16e6;
const MOST_GPUS = 1024;
const WEIGHTS = /\bWeight between two GPUs/i;
const TYPES = /\bLink Type between two GPUs/i;
const NUMA = /^\W*GPU\[(\d{1,6})\]\s*:.*\bNuma Node\s*:\s*(-?\d{1,6})/i;

interface Line {
  readonly text: string;
  readonly words: readonly string[];
  readonly line: number;
}

/** A square table of texts. */
interface Table {
  readonly gpus: number;
  readonly rows: readonly Line[];
}

/** Returns true where a text holds the tables of `rocm-smi --showtopo`. O(text). */
const looksLikeRocmTables = (text: string): boolean => WEIGHTS.test(text) || TYPES.test(text);

/**
 * Returns the tables of weights and of link types in a text, whatever stands around them, and the NUMA nodes. Throws
 * InputError with the line: a table missing, rows or cells missing, cells that differ from their mirror images. O(text).
 */
function readRocmTables(text: string, fileName: string): RocmTables {
  if (text.length > MOST_CHARACTERS) {
    throw new InputError(fileName, `tables of at most ${MOST_CHARACTERS} characters`, text.length);
  }
  const lines = text.split(/\r\n|[\r\n]/).map((line, i): Line => {
    return { text: line, words: line.split(/[\s|]+/).filter((word) => word !== ""), line: i + 1 };
  });
  const weights = tableAfter(lines, WEIGHTS, "Weight between two GPUs", fileName);
  const types = tableAfter(lines, TYPES, "Link Type between two GPUs", fileName);
  const { gpus } = weights;
  if (types.gpus !== gpus) {
    const place = `the table of link types in ${fileName} line ${types.rows[0].line}`;
    throw new InputError(place, `${gpus} GPUs, as in the table of weights,`, types.gpus);
  }
  const weight = checked(weights, fileName, "a weight", (word) => (/^\d{1,6}$/.test(word) ? Number(word) : null));
  const xgmi = checked(types, fileName, "XGMI or PCIE", (word) =>
    /^XGMI$/i.test(word) ? 1 : /^PCIE$/i.test(word) ? 0 : null,
  );
  const numa = new Int32Array(gpus).fill(-1);
  for (const { text: line } of lines) {
    const found = NUMA.exec(line);
    if (found !== null && Number(found[1]) < gpus) numa[Number(found[1])] = Math.max(-1, Number(found[2]));
  }
  return { gpus, weight: (a, b) => weight[a * gpus + b], isXgmi: (a, b) => xgmi[a * gpus + b] === 1, numa };
}

/** Returns the table below a title. */
function tableAfter(lines: readonly Line[], title: RegExp, name: string, fileName: string): Table {
  const at = lines.findIndex(({ text }) => title.test(text));
  if (at < 0) throw new InputError(fileName, `a table "${name}" (rocm-smi --showtopo)`);
  const rest = lines.slice(at + 1).filter(({ words }) => words.length > 0);
  const head = rest[0];
  const isHead = head?.words.every((word, i) => word === `GPU${i}`);
  if (head === undefined || !isHead) {
    const place = `${fileName} line ${head?.line ?? lines[at].line}`;
    throw new InputError(place, "the header GPU0 GPU1 ...", head?.text.trim() ?? "the end");
  }
  const gpus = head.words.length;
  if (gpus > MOST_GPUS)
    throw new InputError(`${fileName} line ${head.line}`, `at most ${MOST_GPUS} GPUs`, gpus).as("out-of-range");
  const rows = rest.slice(1, gpus + 1);
  for (let g = 0; g < gpus; g++) {
    const row = rows[g];
    const place = `${fileName} line ${row?.line ?? rest.at(-1)?.line}`;
    if (row === undefined)
      throw new InputError(place, `the row of GPU${g}`, "the end").saying(
        `${fileName} has no row of GPU${g} behind line ${rest.at(-1)?.line}; the paste seems cut off: copy all that rocm-smi --showtopo prints`,
      );
    if (row.words[0] !== `GPU${g}`) throw new InputError(place, `the row of GPU${g}`, row.text);
    if (row.words.length <= gpus) throw new InputError(place, `${gpus} cells`, row.words.length - 1);
  }
  return { gpus, rows };
}

/** Returns the cells [gpus x gpus] as numbers; those of the diagonal are 0 whatever stands there. */
function checked(
  { gpus, rows }: Table,
  fileName: string,
  expected: string,
  numberOf: (word: string) => number | null,
): Float64Array {
  const cells = new Float64Array(gpus * gpus);
  for (const [a, { words, line }] of rows.entries()) {
    for (let b = 0; b < gpus; b++) {
      if (a === b) continue;
      const value = numberOf(words[b + 1]);
      const place = `GPU${a} to GPU${b} in ${fileName} line ${line}`;
      if (value === null) throw new InputError(place, expected, words[b + 1]);
      cells[a * gpus + b] = value;
      if (b < a && cells[b * gpus + a] !== value) {
        throw new InputError(place, `${rows[b].words[a + 1]} as in line ${rows[b].line}`, words[b + 1]);
      }
    }
  }
  return cells;
}
