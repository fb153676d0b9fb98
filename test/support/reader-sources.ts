import { readdirSync, readFileSync } from "node:fs";
import { periodsToJson } from "../../src/export/schedules/periods-json.ts";
import { phasesToJson } from "../../src/export/schedules/phases-json.ts";
import { jointScheduleJsonParts, scheduleToJson } from "../../src/export/schedules/schedule-json.ts";
import { treeFlowToJson } from "../../src/export/schedules/tree-flow-json.ts";
import { ncclTestsJson, ncclTestsTable } from "../../src/export/tables/nccl-tests.ts";
import { OWN_MPI_PLANS } from "../import/mpi-plans.ts";
import { OWN_PLANS } from "../import/mscclpp-json-plans.ts";
import { HAND_MADE_TREES } from "./hand-made-trees.ts";
import { PHASE_NETWORKS, type PhaseNetwork } from "./phase-cases.ts";
import { builtPhases, plannedPhases } from "./phase-schedules.ts";
import { plainPeriods } from "./plain-periods.ts";
import { builtTrees } from "./plain-trees.ts";
import { ringSchedule } from "./ring-schedule.ts";
import { sharedFiles, sharedText } from "./shared-data.ts";

/** What a text is read as. */
export type ReaderName = "network" | "program" | "schedule" | "algorithm" | "log" | "measurements" | "sketch";

/** A good text, and the options that its file leaves open. */
export interface ReaderSource {
  readonly format: string;
  readonly reader: ReaderName;
  readonly name: string;
  readonly text: string;
  readonly gpu?: string;
}

const FIXTURES = new URL("../fixtures/", import.meta.url);

/** Formats told by the end of a name, in our fixtures; programs apart. */
const OWN_FILES: readonly (readonly [end: string, format: string, gpu?: string])[] = [
  [".nccl-topology.xml", "NCCL topology", "a100"],
  [".nvidia-smi.txt", "nvidia-smi", "v100"],
  [".rocm-smi.txt", "rocm-smi", "mi250"],
  [".csv", "edge list"],
  [".topology.json", "banyan-topology"],
  ["taccl-line.json", "TACCL"],
];

const ownFile = (name: string): ReaderSource | null => {
  const text = (): string => readFileSync(new URL(name, FIXTURES), "utf8");
  const found = OWN_FILES.find(([end]) => name.endsWith(end));
  if (found !== undefined) {
    const [, format, gpu] = found;
    return { format, reader: "network", name, text: text(), ...(gpu === undefined ? {} : { gpu }) };
  }
  if (name.endsWith(".sketch.json")) return { format: "TACCL sketch", reader: "sketch", name, text: text() };
  return name.endsWith(".xml") ? { format: "MSCCL XML", reader: "program", name, text: text() } : null;
};

/** Two hosts of composed devices at a switch, as InfraGraph's own library writes them. */
export const TWO_HOSTS = {
  name: "two-hosts",
  devices: [
    {
      name: "host",
      components: [
        { name: "gpu", count: 4, choice: "xpu" },
        { name: "nvsw", count: 1, choice: "switch" },
        { name: "nic", count: 2, choice: "device" },
        { name: "memory", count: 1, choice: "memory" },
      ],
      links: [
        { name: "nvlink", physical: { bandwidth: { choice: "gigatransfers_per_second" }, latency: { choice: "ns" } } },
        { name: "pcie", physical: { bandwidth: { choice: "gigatransfers_per_second", gigatransfers_per_second: 32 } } },
      ],
      edges: [
        { ep1: { component: "gpu" }, ep2: { component: "nvsw" }, scheme: "many2many", link: "nvlink" },
        { ep1: { component: "gpu[::2]" }, ep2: { component: "nic[0:2].bus[0]" }, scheme: "one2one", link: "pcie" },
        { ep1: { component: "memory" }, ep2: { component: "nvsw" }, scheme: "one2one", link: "pcie" },
      ],
    },
    {
      name: "nic",
      components: [
        { name: "bus", count: 1, choice: "custom", custom: { type: "pcie_endpoint" } },
        { name: "port", count: 1, choice: "port" },
      ],
      links: [{ name: "inside" }],
      edges: [{ ep1: { component: "bus" }, ep2: { component: "port" }, scheme: "one2one", link: "inside" }],
    },
    {
      name: "leaf",
      components: [
        { name: "asic", count: 1, choice: "cpu" },
        { name: "port", count: 8, choice: "port" },
      ],
      links: [{ name: "ic", physical: { latency: { choice: "us", us: 0.25 } } }],
      edges: [{ ep1: { component: "asic" }, ep2: { component: "port" }, scheme: "many2many", link: "ic" }],
    },
  ],
  links: [
    {
      name: "eth",
      physical: {
        bandwidth: { choice: "gigabits_per_second", gigabits_per_second: 200 },
        latency: { choice: "ns", ns: 900 },
      },
    },
  ],
  instances: [
    { name: "host", device: "host", count: 2 },
    { name: "leaf", device: "leaf", count: 1 },
  ],
  edges: [
    {
      ep1: { instance: "host[0]", component: "nic.port" },
      ep2: { instance: "leaf[0]", component: "port[0:2]" },
      scheme: "one2one",
      link: "eth",
    },
    {
      ep1: { instance: "host[1:2]", component: "nic[:].port[0]" },
      ep2: { instance: "leaf", component: "port[2:4]" },
      scheme: "one2one",
      link: "eth",
    },
  ],
};

const NETWORK_TEXTS: readonly (readonly [format: string, text: string])[] = [
  ["Slurm", "SwitchName=s0 Nodes=n[00-03,7]\nSwitchName=s1 Nodes=m[1-2]x[1-2]\nSwitchName=t Switches=s[0-1]\n"],
  ["Slurm", "BlockName=b0 Nodes=n[0-3]\nBlockName=b1 Nodes=m[0-3]\nBlockSizes=4\n"],
  [
    "Slurm YAML",
    "- topology: t\n  torus3d:\n    toruses:\n      - name: a\n        dims: {x: 2, y: 2, z: 1}\n        nodes: n[0-3]\n- topology: u\n  tree:\n    switches:\n      - switch: s\n        nodes: n\n",
  ],
  [
    "topograph",
    "switches:\n  S1:\n    switches: [S2]\n  S2: &s\n    nodes: ['I[1-3]']\n    capacity_blocks: [cb]\ncapacity_blocks:\n- name: cb\n  nodes: [x]\nblocks:\n- switch: S2\n  nodes: [y]\n",
  ],
  ["InfraGraph", JSON.stringify(TWO_HOSTS)],
  [
    "InfraGraph",
    "name: r\ndevices:\n- name: n\n  components:\n  - {name: x, count: 1, choice: xpu}\n  links: []\n  edges: []\nlinks:\n- name: l\n  physical:\n    bandwidth: {gigabits_per_second: 400}\n    latency: {us: 1}\ninstances:\n- {name: h, device: n, count: 4}\nedges:\n- {ep1: {instance: 'h[0:3]', component: 'x[0]'}, ep2: {instance: 'h[1:4]', component: x}, scheme: one2one, link: l}\n",
  ],
  ["ASTRA-sim", "topology: [ Ring, Switch ]\nnpus_count: [ 4, 2 ]\nbandwidth: [ 50, 25.5 ]\nlatency: [ 500, 1 ]\n"],
  ["ns-3, SimAI", "4 1 3\n3\n0 3 200Gbps 0.005ms 0\n1 3 200Gbps 0.005ms 0\n2 3 8Gbps 1ns 0\n"],
  [
    "TE-CCL",
    '{"TopologyParams": {"name": "m"}, "capacity": [[0, 5], [2.5, 0]], "alpha": [[-1, 1e-6], [0, -1]], "switch_indices": []}',
  ],
  [
    "msccl-tools",
    '{"name": "s", "links": [[0, 1, 0], [1, 0, 2], [0, 2, 0]], "switches": [[[0], [1], 1, "a"], [[1], [0], 1, "b"]]}',
  ],
  ["ASTRA-sim logical dimensions", '{"logical-dims": ["2", "4"]}'],
  [
    "ForestColl",
    '{"unit": "GB/s", "nodes": [{"id": "a", "tuple": [0, "GPU", 0], "kind": "compute"}, {"id": "s", "kind": "switch"}, {"id": "b", "kind": "compute"}], "edges": [{"src": "a", "dst": "s", "capacity": 3}, {"src": "s", "dst": "b", "capacity": 3}, {"src": "b", "dst": "a", "capacity": 3}]}',
  ],
  [
    "ibnetdiscover",
    'Switch\t65 "S-05"\t# "MF0;LEAF:Q/U1" enhanced port 0\n[1]\t"H-01"[1](01) # "h mlx5_1" lid 1 4xNDR\n[2]\t"H-02"[1](02) # "h mlx5_2" lid 2 4xNDR\nCa\t1 "H-01"\t# "h mlx5_1"\n[1](01) "S-05"[1] # lid 1 "L" lid 5 4xNDR\n',
  ],
];

const LOG = `NCCL version 2.12.12.MSCCL.0.7.4+cuda11.6
node1:812:812 [0] NCCL INFO Parsed MSCCL Algorithm /opt/x/ring.xml successfully.
node1:812:812 [0] misc/x.cc:31 NCCL WARN MSCCL: algorithm /opt/x/bad.xml failed to initialize. Will be ignored.
node1:812:812 [0] NCCL INFO Connected 1 MSCCL algorithms
node1:812:812 [0] NCCL INFO AllReduce: opCount 1f sendbuff 0x7f00 recvbuff 0x7f00 count 1024 datatype 7 op 0 root 0 comm 0x55d0 [nranks=8] stream 0x1
node1:812:812 [0] NCCL INFO mscclFuncAllGather: opCount 20 sendbuff 0x7f00 recvbuff 0x9f00 count 64 datatype 2 op 0 root 0 comm 0x55d0 [nranks=8] stream 0x1
`;

const PREDICTED = {
  collective: "allreduce",
  ranks: 8,
  network: "box",
  version: "1.0",
  rows: [10, 20, 30].map((power) => ({ sizeBytes: 2 ** power, us: 20 + 2 ** power / 1e5, algorithm: "ring" })),
} as const;
const POINTS = `# facts
# platform\tcollective\tgpus\tnodes\tbytes\tbusbw\tnote
box\tallreduce\t8\t1\t1048576\t39.93\tRing
box\tp2p\t2\t1\t0\t396.4\t
`;

const chunkOf = (rank: number) => ({ pre: [rank], post: [0, 1, 2], addr: rank });
const ALGORITHM = JSON.stringify({
  sccl_type: "algorithm",
  collective: { chunks: [0, 1, 2].map(chunkOf) },
  topology: {
    sccl_type: "topology",
    name: "ring",
    links: ["001", "100", "010"].map((row) => [...row].map(Number)),
    switches: [],
  },
  steps: ["001112220", "201012120"].map((sends) => ({
    rounds: 1,
    sends: [0, 3, 6].map((at) => [...sends.slice(at, at + 3)].map(Number)),
  })),
});

/** Returns the file of two chunks in two orders. */
function phasesText(name: string): string {
  const network = PHASE_NETWORKS[name] as PhaseNetwork;
  const order = network.dimensions.map((_, d) => d);
  const orders = [order, order.toReversed()];
  return phasesToJson(builtPhases(plannedPhases({ ...network, kind: "allreduce", sizeBytes: 2 ** 20, orders })));
}

/** Returns a good text of our own for every format that is read. */
export function ownSources(): ReaderSource[] {
  const ring = ringSchedule();
  const plans = Object.entries(OWN_PLANS).map(
    ([name, plan]): ReaderSource => ({
      format: "MSCCL++ plan",
      reader: "program",
      name,
      text: JSON.stringify(plan(), null, 1),
    }),
  );
  const trees = Object.entries(HAND_MADE_TREES).map(
    ([name, flow]): ReaderSource => ({
      format: "trees",
      reader: "schedule",
      name,
      text: treeFlowToJson(builtTrees(flow)),
    }),
  );
  const joint = { topology: ring.topology, routes: ring.routes, tenants: [ring, ring] };
  return [
    ...readdirSync(FIXTURES)
      .sort()
      .flatMap((name) => ownFile(name) ?? []),
    ...NETWORK_TEXTS.map(([format, text]): ReaderSource => ({ format, reader: "network", name: format, text })),
    ...plans,
    ...Object.entries(OWN_MPI_PLANS).map(
      ([name, plan]): ReaderSource => ({ format: "plan for MPI", reader: "program", name, text: plan() }),
    ),
    { format: "banyan-schedule", reader: "schedule", name: "ring", text: scheduleToJson(ring) },
    {
      format: "banyan-schedule",
      reader: "schedule",
      name: "two rings",
      text: [...jointScheduleJsonParts(joint)].join(""),
    },
    ...trees,
    ...Object.keys(PHASE_NETWORKS).map(
      (name): ReaderSource => ({ format: "phases", reader: "schedule", name, text: phasesText(name) }),
    ),
    { format: "periods", reader: "schedule", name: "chain", text: periodsToJson(plainPeriods()) },
    { format: "SCCL algorithm", reader: "algorithm", name: "algorithm", text: ALGORITHM },
    { format: "NCCL log", reader: "log", name: "log", text: LOG },
    { format: "nccl-tests", reader: "measurements", name: "text", text: ncclTestsTable(PREDICTED) },
    { format: "nccl-tests", reader: "measurements", name: "JSON", text: ncclTestsJson(PREDICTED) },
    { format: "nccl-tests", reader: "measurements", name: "points", text: POINTS },
  ];
}

const SHARED: readonly (readonly [folder: string, format: string, reader: ReaderName, gpu?: string])[] = [
  ["nccl-topo/nccl-xml", "NCCL topology", "network", "a100"],
  ["nccl-topo/nvidia-smi", "nvidia-smi", "network", "a100"],
  ["nccl-topo/rocm-smi", "rocm-smi", "network", "mi250"],
  ["nccl-topo/other", "ibnetdiscover, Slurm", "network"],
  ["astra-sim/network", "ASTRA-sim", "network"],
  ["taccl/topo", "TACCL", "network"],
  ["taccl/sketch", "TACCL sketch", "sketch"],
  ["forest-topologies", "ForestColl", "network"],
  ["msccl-xml", "MSCCL XML", "program"],
  ["mscclpp-json", "MSCCL++ plan", "program"],
];

const EXAMPLE = "example-algorithm-ndv2-n1.sccl.json";

/** Returns the texts of real files; none where they are absent. */
export const realSources = (): ReaderSource[] => [
  ...sharedFiles("taccl")
    .filter((name) => name === EXAMPLE)
    .map(
      (name): ReaderSource => ({
        format: "SCCL algorithm",
        reader: "algorithm",
        name,
        text: sharedText(`taccl/${name}`),
      }),
    ),
  ...SHARED.flatMap(([folder, format, reader, gpu]) =>
    sharedFiles(folder)
      .filter((name) => !name.startsWith("MANIFEST"))
      .map((name) => ({
        format,
        reader,
        name,
        text: sharedText(`${folder}/${name}`),
        ...(gpu === undefined ? {} : { gpu }),
      })),
  ),
];
