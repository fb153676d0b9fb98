import { InputError } from "../errors.ts";
import type { Topology } from "../model/topology.ts";
import { looksLikeAstraNetwork, looksLikeLogicalDims, readAstraNetwork, readLogicalDims } from "./astra-network.ts";
import { looksLikeEdgeList, readEdgeList } from "./edge-list.ts";
import { looksLikeForestCapacity, readForestCapacity } from "./forest-capacity.ts";
import { looksLikeIbnetdiscover, readIbnetdiscover } from "./ibnetdiscover.ts";
import { parseJson } from "./json-text.ts";
import { looksLikeMscclTools, readMscclTools } from "./msccl-tools.ts";
import { looksLikeNcclTopology, readNcclTopology } from "./nccl-topology.ts";
import { looksLikeNs3, readNs3 } from "./ns3.ts";
import { looksLikeNvidiaSmi, readNvidiaSmi } from "./nvidia-smi.ts";
import { looksLikeRocmSmi, readRocmSmi } from "./rocm-smi.ts";
import { embeddedTopology } from "./schedule-header.ts";
import { looksLikeSlurm, readSlurm } from "./slurm.ts";
import { looksLikeSlurmYaml, readSlurmYaml } from "./slurm-yaml.ts";
import { looksLikeTaccl, tacclTopologyFromJson } from "./taccl-topology.ts";
import { looksLikeTeCcl, readTeCcl } from "./te-ccl.ts";
import { looksLikeTopograph, readTopograph } from "./topograph.ts";
import { topologyFromJson } from "./topology-json.ts";
import type { TopologyOptions } from "./topology-options.ts";

const READABLE = "a network in a format of `banyan list formats`";

/** A format of networks, told by its content: by the text, or where that is JSON by its value. */
interface NetworkFormat<Content> {
  readonly name: string;
  looksLike(content: Content): boolean;
  read(content: Content, fileName: string, options: TopologyOptions): Topology;
  /** Options that say what its files leave open. */
  readonly takes: readonly Option[];
}

type Option = keyof TopologyOptions;
const FIGURES: readonly Option[] = ["bandwidth", "latencyPs"];
const MACHINE: readonly Option[] = ["gpu", ...FIGURES];

const format = (value: unknown): unknown => (value as { readonly format?: unknown }).format;

/** The first that looks right is asked. */
const JSON_FORMATS: readonly NetworkFormat<unknown>[] = [
  {
    name: "banyan-topology",
    looksLike: (value) => format(value) === "banyan-topology",
    read: (value, fileName) => topologyFromJson(value, fileName),
    takes: [],
  },
  {
    name: "banyan-schedule",
    looksLike: (value) => format(value) === "banyan-schedule",
    read: embeddedTopology,
    takes: [],
  },
  {
    name: "TACCL topology",
    looksLike: looksLikeTaccl,
    read: tacclTopologyFromJson,
    takes: ["nodes", "profileSizeBytes", "profileScale"],
  },
  { name: "TE-CCL", looksLike: looksLikeTeCcl, read: readTeCcl, takes: [] },
  { name: "msccl-tools", looksLike: looksLikeMscclTools, read: readMscclTools, takes: FIGURES },
  { name: "ASTRA-sim logical dimensions", looksLike: looksLikeLogicalDims, read: readLogicalDims, takes: FIGURES },
  { name: "ForestColl capacities", looksLike: looksLikeForestCapacity, read: readForestCapacity, takes: ["latencyPs"] },
];

const TEXT_FORMATS: readonly NetworkFormat<string>[] = [
  { name: "NCCL topology", looksLike: looksLikeNcclTopology, read: readNcclTopology, takes: MACHINE },
  { name: "nvidia-smi topo -m", looksLike: looksLikeNvidiaSmi, read: readNvidiaSmi, takes: [...MACHINE, "nodes"] },
  { name: "rocm-smi --showtopo", looksLike: looksLikeRocmSmi, read: readRocmSmi, takes: [...MACHINE, "nodes"] },
  { name: "ibnetdiscover", looksLike: looksLikeIbnetdiscover, read: readIbnetdiscover, takes: MACHINE },
  { name: "Slurm topology.yaml", looksLike: looksLikeSlurmYaml, read: readSlurmYaml, takes: FIGURES },
  { name: "Slurm topology.conf", looksLike: looksLikeSlurm, read: readSlurm, takes: FIGURES },
  { name: "topograph", looksLike: looksLikeTopograph, read: readTopograph, takes: FIGURES },
  { name: "ASTRA-sim network", looksLike: looksLikeAstraNetwork, read: readAstraNetwork, takes: [] },
  { name: "ns-3 or SimAI topology", looksLike: looksLikeNs3, read: readNs3, takes: [] },
  { name: "edge list", looksLike: looksLikeEdgeList, read: readEdgeList, takes: [] },
];

const OPTION_NAMES: Readonly<Record<Option, string>> = {
  nodes: "--nodes",
  profileSizeBytes: "--profile-size",
  profileScale: "--profile-scale",
  gpu: "--gpu",
  bandwidth: "--assume",
  latencyPs: "--assume latency",
};

/** Returns the formats that take an option, for people. */
function takers(option: Option): string {
  const names = [...JSON_FORMATS, ...TEXT_FORMATS]
    .filter(({ takes }) => takes.includes(option))
    .map(({ name }) => name);
  return names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} or ${names.at(-1)}`;
}

/** Throws InputError where options are given that the network does not leave open. `place` names it. */
export function refuseOptions(options: TopologyOptions, place: string, taken: readonly Option[] = []): void {
  for (const option of Object.keys(OPTION_NAMES) as Option[]) {
    if (options[option] === undefined || taken.includes(option)) continue;
    throw new InputError(OPTION_NAMES[option], `a file (${takers(option)}) that leaves this open`, place);
  }
}

/**
 * Returns the network in a text whose format is told by its content; of a schedule, the network it is for. Throws InputError
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
  throw new InputError(fileName, READABLE, isJson ? described(value) : text.trimStart().slice(0, 40));
}

/** Returns what a JSON value seems to be. */
function described(value: unknown): unknown {
  if (format(value) !== undefined) return format(value);
  return Array.isArray(value) ? "a list" : `an object of ${keysOf(value as object)}`;
}

function keysOf(value: object): string {
  const keys = Object.keys(value);
  return keys.length === 0 ? "nothing" : keys.slice(0, 4).join(", ") + (keys.length > 4 ? " ..." : "");
}
