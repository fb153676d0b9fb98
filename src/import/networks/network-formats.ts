import type { Topology } from "../../model/topology/topology.ts";
import { isPhasesJson, phasesTopology } from "../schedules/phases-json.ts";
import { embeddedTopology } from "../schedules/schedule-header.ts";
import { headerOf } from "../text/json-value.ts";
import { looksLikeAstraNetwork, looksLikeLogicalDims, readAstraNetwork, readLogicalDims } from "./astra-network.ts";
import { looksLikeEdgeList, readEdgeList } from "./edge-list.ts";
import { looksLikeForestCapacity, readForestCapacity } from "./forest-capacity.ts";
import { looksLikeNcclTopology, readNcclTopology } from "./gpu-boxes/nccl-topology.ts";
import { looksLikeNvidiaSmi, readNvidiaSmi } from "./gpu-boxes/nvidia-smi.ts";
import { looksLikeRocmSmi, readRocmSmi } from "./gpu-boxes/rocm-smi.ts";
import { looksLikeIbnetdiscover, readIbnetdiscover } from "./ibnetdiscover/ibnetdiscover.ts";
import { looksLikeMscclTools, readMscclTools } from "./msccl-tools.ts";
import { looksLikeNs3, readNs3 } from "./ns3.ts";
import { looksLikeSlurm, readSlurm } from "./slurm.ts";
import { looksLikeSlurmYaml, readSlurmYaml } from "./slurm-yaml.ts";
import { looksLikeTaccl, tacclTopologyFromJson } from "./taccl-topology.ts";
import { looksLikeTeCcl, readTeCcl } from "./te-ccl.ts";
import { looksLikeTopograph, readTopograph } from "./topograph.ts";
import { topologyFromJson } from "./topology-json.ts";
import type { TopologyOptions } from "./topology-options.ts";

/** A format of networks, told by its content: by the text, or where that is JSON by its value. */
export interface NetworkFormat<Content> {
  readonly name: string;
  readonly description: string;
  looksLike(content: Content): boolean;
  read(content: Content, fileName: string, options: TopologyOptions): Topology;
  /** Options that say what its files leave open. */
  readonly takes: readonly Option[];
}

/** What a user can say of a network that its file leaves open. */
export type Option = Exclude<keyof TopologyOptions, "usualNodes">;
const FIGURES: readonly Option[] = ["bandwidth", "latencyPs"];
const MACHINE: readonly Option[] = ["gpu", ...FIGURES];
const BOXES: readonly Option[] = [...MACHINE, "nodes"];

/** Returns the value of "format" in a JSON value. */
export const format = (value: unknown): unknown => headerOf(value as object).format;

/** The first that looks right is asked; of JSON by its value. */
export const JSON_FORMATS: readonly NetworkFormat<unknown>[] = [
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
];

export const TEXT_FORMATS: readonly NetworkFormat<string>[] = [
  {
    name: "NCCL topology",
    description: "XML of NCCL_TOPO_DUMP_FILE, NCCL or RCCL, and the files that clouds ship",
    looksLike: looksLikeNcclTopology,
    read: readNcclTopology,
    takes: BOXES,
  },
  {
    name: "nvidia-smi topo -m",
    description: "the matrix as pasted; one box, or several with --nodes",
    looksLike: looksLikeNvidiaSmi,
    read: readNvidiaSmi,
    takes: BOXES,
  },
  {
    name: "rocm-smi --showtopo",
    description: "its tables as pasted; one box, or several with --nodes",
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
