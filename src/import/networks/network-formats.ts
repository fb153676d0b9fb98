import { InputError, inWords } from "../../base/errors.ts";
import { listed } from "../../base/listed.ts";
import { type OptionName, optionName } from "../../base/option-names.ts";
import { formatBandwidth, formatTime, PS_PER_US } from "../../model/numbers/units.ts";
import { type Dimension, type DimensionKind, productTopology } from "../../model/presets/product.ts";
import type { Topology } from "../../model/topology/topology.ts";
import { isPhasesJson, phasesTopology } from "../schedules/phases-json.ts";
import { embeddedTopology } from "../schedules/schedule-header.ts";
import { asInteger, asList, asObject, headerOf, parseJson, placeIn, refuse } from "../text/json.ts";
import { parseYaml, type Yaml } from "../text/yaml-text.ts";
import { looksLikeEdgeList, readEdgeList } from "./edge-list.ts";
import { looksLikeForestCapacity, readForestCapacity } from "./forest-capacity.ts";
import { looksLikeNcclTopology, readNcclTopology } from "./gpu-boxes/nccl-topology.ts";
import { looksLikeNvidiaSmi, readNvidiaSmi } from "./gpu-boxes/nvidia-smi.ts";
import { looksLikeRocmSmi, readRocmSmi } from "./gpu-boxes/rocm-smi.ts";
import { looksLikeIbnetdiscover, readIbnetdiscover } from "./ibnetdiscover/ibnetdiscover.ts";
import { looksLikeInfragraph, looksLikeInfragraphYaml, readInfragraph, readInfragraphYaml } from "./infragraph.ts";
import { looksLikeMscclTools, readMscclTools } from "./msccl-tools.ts";
import { looksLikeNs3, readNs3 } from "./ns3.ts";
import { looksLikeSlurm, looksLikeSlurmYaml, readSlurm, readSlurmYaml } from "./slurm.ts";
import { looksLikeTaccl, tacclTopologyFromJson } from "./taccl-topology.ts";
import { looksLikeTeCcl, readTeCcl } from "./te-ccl.ts";
import { looksLikeTopograph, readTopograph } from "./topograph.ts";
import { baseName, topologyFromJson } from "./topology-json.ts";
import type { TopologyOptions } from "./topology-options.ts";

type Fields = Readonly<Record<string, unknown>>;

const KINDS: Readonly<Record<string, DimensionKind>> = { Ring: "ring", FullyConnected: "fc", Switch: "switch" };
const BYTES_PER_GIB = 2 ** 30;
const MAX_DIMENSIONS = 32;
const DEFAULT_BYTES_PER_SECOND = 50e9;

/** Returns true where a text has the keys of an ASTRA-sim analytical network. */
export function looksLikeAstraNetwork(text: string): boolean {
  return /^npus_count[ \t]*:/m.test(text) && /^topology[ \t]*:/m.test(text);
}

/**
 * Returns the network of an ASTRA-sim analytical network file: the product of its Ring, Switch and FullyConnected
 * dimensions, first one fastest, as `productTopology`. Its "GB/s" are 2^30 bytes per second and its latency, in ns, is that
 * of a link, paid twice through a switch: both measured on the congestion-aware simulator. Throws InputError with the line.
 */
export function readAstraNetwork(text: string, fileName: string): Topology {
  const yaml = parseYaml(text, fileName);
  const fields = asObject<Fields>(yaml.value, fileName);
  const kinds = column(yaml, fields, "topology", null);
  const sizes = column(yaml, fields, "npus_count", kinds.length);
  const rates = column(yaml, fields, "bandwidth", kinds.length);
  const latencies = column(yaml, fields, "latency", kinds.length);
  const dimensions = kinds.map((kind, d): Dimension => {
    if (typeof kind !== "string" || !Object.hasOwn(KINDS, kind)) {
      refuse(yaml.at(kinds, d), `one of ${Object.keys(KINDS).join(", ")}`, kind);
    }
    return {
      kind: KINDS[kind],
      size: asInteger(sizes[d], yaml.at(sizes, d), 1, 1e7),
      bytesPerSecond: scaled(rates[d], BYTES_PER_GIB, 1, "a positive number of GB/s", yaml.at(rates, d)),
      latencyPs: scaled(latencies[d], 1000, 0, "a number of ns, 0 or more", yaml.at(latencies, d)),
    };
  });
  return productTopology(baseName(fileName), dimensions, [
    `ASTRA-sim network ${fileName}; its "GB/s" read as GiB/s, as the simulator computes`,
  ]);
}

function column(yaml: Yaml, fields: Fields, key: string, length: number | null): readonly unknown[] {
  const place = yaml.at(fields, key);
  const list = asList(fields[key], place, "a list with an entry for each dimension");
  if (list.length === 0 || list.length > MAX_DIMENSIONS) {
    throw new InputError(place, `1 to ${MAX_DIMENSIONS} dimensions`, inWords(`${list.length}`));
  }
  if (length !== null && list.length !== length) {
    throw new InputError(place, `${length} entries, one for each dimension,`, inWords(`${list.length}`));
  }
  return list;
}

function scaled(value: unknown, scale: number, least: number, expected: string, place: string): number {
  const whole = typeof value === "number" ? Math.round(value * scale) : Number.NaN;
  if (!Number.isSafeInteger(whole) || whole < least) refuse(place, expected, value);
  return whole;
}

/** Returns true where a parsed JSON value is the logical dimensions of ASTRA-sim's ns-3 back end. */
export function looksLikeLogicalDims(value: unknown): boolean {
  return typeof value === "object" && value !== null && "logical-dims" in value;
}

/**
 * Returns the network of the logical dimensions of ASTRA-sim's ns-3 back end, `{"logical-dims": ["8", "2"]}`, whose links
 * stand in another file: a ring in every dimension, at the options' NIC rate (else 50 GB/s) and latency (else 0.5 us), as
 * `sources` says. Throws InputError with the place.
 */
export function readLogicalDims(value: unknown, fileName: string, options: TopologyOptions = {}): Topology {
  const place = placeIn(fileName, "logical-dims");
  const { "logical-dims": dims } = asObject<{ readonly "logical-dims"?: unknown }>(value, fileName);
  const sizes = asList(dims, place).map((size, d) => {
    const number = typeof size === "string" && /^\d{1,9}$/.test(size) ? Number(size) : size;
    return asInteger(number, `${place}[${d}]`, 1, 1e7);
  });
  if (sizes.length === 0 || sizes.length > MAX_DIMENSIONS) {
    throw new InputError(place, `1 to ${MAX_DIMENSIONS} dimensions`, inWords(`${sizes.length}`));
  }
  const bytesPerSecond = options.bandwidth?.nic ?? DEFAULT_BYTES_PER_SECOND;
  const latencyPs = options.latencyPs ?? PS_PER_US / 2;
  return productTopology(
    baseName(fileName),
    sizes.map((size) => ({ kind: "ring", size, bytesPerSecond, latencyPs })),
    [
      `logical dimensions ${fileName}, which have no links: a ring in each dimension, ${formatBandwidth(bytesPerSecond)}, ${formatTime(latencyPs)} assumed`,
    ],
  );
}

/** A format of networks, recognized by its content: by the text, or where that is JSON by its value. */
interface NetworkFormat<Content> {
  readonly name: string;
  readonly description: string;
  looksLike(content: Content): boolean;
  read(content: Content, fileName: string, options: TopologyOptions): Topology;
  /** Options that say what its files leave open. */
  readonly takes: readonly Option[];
}

/** What a user can say of a network that its file leaves open. */
type Option = Exclude<keyof TopologyOptions, "usualNodes">;
const FIGURES: readonly Option[] = ["bandwidth", "latencyPs"];
const MACHINE: readonly Option[] = ["gpu", ...FIGURES];
const BOXES: readonly Option[] = [...MACHINE, "nodes"];

/** Returns the value of "format" in a JSON value. */
const format = (value: unknown): unknown => headerOf(value as object).format;

/** The first that looks right is asked; of JSON by its value. */
const JSON_FORMATS: readonly NetworkFormat<unknown>[] = [
  {
    name: "banyan-topology",
    description: "a network as JSON; `topology -o` writes it",
    looksLike: (value) => format(value) === "banyan-topology",
    read: (value, fileName) => topologyFromJson(value, fileName),
    takes: [],
  },
  {
    name: "banyan-schedule",
    description: "of a schedule, the network it is for",
    looksLike: (value) => format(value) === "banyan-schedule",
    read: embeddedTopology,
    takes: [],
  },
  {
    name: "banyan-phases",
    description: "of a schedule of phases, the network it is for",
    looksLike: isPhasesJson,
    read: (value, fileName) => phasesTopology(value, fileName),
    takes: [],
  },
  {
    name: "TACCL topology",
    description: "JSON with alpha and betas",
    looksLike: looksLikeTaccl,
    read: tacclTopologyFromJson,
    takes: ["nodes", "profileSizeBytes", "profileScale"],
  },
  {
    name: "TE-CCL",
    description: "JSON with TopologyParams of a known name, or matrices",
    looksLike: looksLikeTeCcl,
    read: readTeCcl,
    takes: [],
  },
  {
    name: "msccl-tools",
    description: "JSON with a matrix of links; also in its algorithm files",
    looksLike: looksLikeMscclTools,
    read: readMscclTools,
    takes: FIGURES,
  },
  {
    name: "ASTRA-sim logical dimensions",
    description: 'JSON with "logical-dims"; read as rings',
    looksLike: looksLikeLogicalDims,
    read: readLogicalDims,
    takes: FIGURES,
  },
  {
    name: "ForestColl capacities",
    description: "JSON of compute and switch nodes and edges with capacities",
    looksLike: looksLikeForestCapacity,
    read: readForestCapacity,
    takes: ["latencyPs"],
  },
  {
    name: "InfraGraph",
    description: "JSON of devices, instances and edges; `export --to infragraph` writes it",
    looksLike: looksLikeInfragraph,
    read: readInfragraph,
    takes: FIGURES,
  },
];

const TEXT_FORMATS: readonly NetworkFormat<string>[] = [
  {
    name: "NCCL topology",
    description: "XML of NCCL_TOPO_DUMP_FILE, NCCL or RCCL, and the files that clouds ship",
    looksLike: looksLikeNcclTopology,
    read: readNcclTopology,
    takes: BOXES,
  },
  {
    name: "nvidia-smi topo -m",
    description: `the matrix as pasted; one box, or several with --nodes`,
    looksLike: looksLikeNvidiaSmi,
    read: readNvidiaSmi,
    takes: BOXES,
  },
  {
    name: "rocm-smi --showtopo",
    description: `its tables as pasted; one box, or several with --nodes`,
    looksLike: looksLikeRocmSmi,
    read: readRocmSmi,
    takes: BOXES,
  },
  {
    name: "ibnetdiscover",
    description: "an InfiniBand fabric; an NPU for each adapter",
    looksLike: looksLikeIbnetdiscover,
    read: readIbnetdiscover,
    takes: MACHINE,
  },
  {
    name: "Slurm topology.yaml",
    description: "trees, blocks, rings and tori of hosts",
    looksLike: looksLikeSlurmYaml,
    read: readSlurmYaml,
    takes: FIGURES,
  },
  {
    name: "Slurm topology.conf",
    description: "trees, blocks and rings of hosts",
    looksLike: looksLikeSlurm,
    read: readSlurm,
    takes: FIGURES,
  },
  {
    name: "topograph",
    description: "YAML of switches and blocks",
    looksLike: looksLikeTopograph,
    read: readTopograph,
    takes: FIGURES,
  },
  {
    name: "InfraGraph YAML",
    description: "the same as YAML; blueprints of its library",
    looksLike: looksLikeInfragraphYaml,
    read: readInfragraphYaml,
    takes: FIGURES,
  },
  {
    name: "ASTRA-sim network",
    description: "YAML or JSON of rings, full meshes and switches, in GiB/s",
    looksLike: looksLikeAstraNetwork,
    read: readAstraNetwork,
    takes: [],
  },
  {
    name: "ns-3 or SimAI topology",
    description: "text of nodes, switches and links",
    looksLike: looksLikeNs3,
    read: readNs3,
    takes: [],
  },
  {
    name: "edge list",
    description: "CSV with a header; result files of TACOS too",
    looksLike: looksLikeEdgeList,
    read: readEdgeList,
    takes: [],
  },
];

/** What networks are read from, for people. */
export const NETWORK_FORMATS: readonly Pick<NetworkFormat<never>, "name" | "description" | "takes">[] = [
  ...JSON_FORMATS,
  ...TEXT_FORMATS,
];

const READABLE = "a network in a format of `banyan list formats`";

/** What errors call them. */
export const OPTION_NAMES: Readonly<Record<Option, OptionName>> = {
  nodes: optionName("nodes"),
  profileSizeBytes: optionName("profileSizeBytes"),
  profileScale: optionName("profileScale"),
  gpu: optionName("gpu"),
  bandwidth: optionName("bandwidth"),
  latencyPs: optionName("latencyPs"),
};

/** Returns the formats that take an option, for people. */
function takers(option: Option): string {
  const formats = NETWORK_FORMATS.filter(({ takes }) => takes.includes(option));
  return listed(
    formats.map(({ name }) => name),
    "or",
  );
}

/** Throws InputError where options are given that the network does not leave open. `place` names it. */
export function refuseOptions(options: TopologyOptions, place: string, taken: readonly Option[] = []): void {
  for (const option of Object.keys(OPTION_NAMES) as Option[]) {
    if (options[option] === undefined || taken.includes(option)) continue;
    throw new InputError(OPTION_NAMES[option], `a file (${takers(option)}) that leaves this open`, place).saying(
      `${OPTION_NAMES[option]} says nothing about ${place}; it is for files that leave this open (${takers(option)})`,
    );
  }
}

/**
 * Returns the network in a text whose format is recognized by its content; of a schedule, the network it is for. Throws InputError
 * where it is in no known format, and for options that mean nothing to its format.
 */
export function readTopology(text: string, fileName: string, options: TopologyOptions = {}): Topology {
  const asked = <Content>(formats: readonly NetworkFormat<Content>[], content: Content): Topology | null => {
    const found = formats.find(({ looksLike }) => looksLike(content));
    if (found === undefined) return null;
    refuseOptions(options, `${fileName} (${found.name})`, found.takes);
    return found.read(content, fileName, options);
  };
  const isJson = /^\ufeff?\s*[{[]/.test(text);
  const value = isJson ? parseJson(text, fileName) : undefined;
  const topology = isJson ? asked(JSON_FORMATS, value) : asked(TEXT_FORMATS, text);
  if (topology !== null) return topology;
  if (!isJson && text.trim() === "") throw new InputError(fileName, READABLE);
  const example = isJson ? " (`banyan topology mesh:2x2 -o example.json` writes one)" : "";
  throw new InputError(fileName, `${READABLE}${example}`, isJson ? described(value) : text.trimStart().slice(0, 40));
}

/** Returns the name of the format that a text seems to be in; "" for none. Throws InputError for JSON that is none. */
export function formatOf(text: string, fileName: string): string {
  const named = <Content>(formats: readonly NetworkFormat<Content>[], content: Content): string =>
    formats.find(({ looksLike }) => looksLike(content))?.name ?? "";
  return /^\ufeff?\s*[{[]/.test(text) ? named(JSON_FORMATS, parseJson(text, fileName)) : named(TEXT_FORMATS, text);
}

/** Returns what a JSON value seems to be. */
function described(value: unknown): unknown {
  if (format(value) !== undefined) return format(value);
  return inWords(Array.isArray(value) ? "a list" : `an object of ${keysOf(value as object)}`);
}

function keysOf(value: object): string {
  const keys = Object.keys(value);
  return keys.length === 0 ? "nothing" : keys.slice(0, 4).join(", ") + (keys.length > 4 ? " ..." : "");
}
