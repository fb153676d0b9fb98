import { describe, expect, it } from "vitest";
import { looksLikeEdgeList } from "../../src/import/networks/edge-list.ts";
import { looksLikeForestCapacity } from "../../src/import/networks/forest-capacity.ts";
import { looksLikeIbnetdiscover } from "../../src/import/networks/ibnetdiscover/ibnetdiscover.ts";
import { looksLikeInfragraph, looksLikeInfragraphYaml } from "../../src/import/networks/infragraph.ts";
import { looksLikeMscclTools } from "../../src/import/networks/msccl-tools.ts";
import { looksLikeAstraNetwork, looksLikeLogicalDims } from "../../src/import/networks/network-formats.ts";
import { looksLikeNs3 } from "../../src/import/networks/ns3.ts";
import { looksLikeSlurm, looksLikeSlurmYaml } from "../../src/import/networks/slurm.ts";
import { looksLikeTaccl } from "../../src/import/networks/taccl-topology.ts";
import { looksLikeTeCcl } from "../../src/import/networks/te-ccl.ts";
import { looksLikeTopograph } from "../../src/import/networks/topograph.ts";
import { hasSharedData, sharedFiles, sharedText } from "../support/shared-data.ts";

const TEXTS: Readonly<Record<string, (text: string) => boolean>> = {
  "astra-network": looksLikeAstraNetwork,
  "edge-list": looksLikeEdgeList,
  ibnetdiscover: looksLikeIbnetdiscover,
  "infragraph-yaml": looksLikeInfragraphYaml,
  ns3: looksLikeNs3,
  slurm: looksLikeSlurm,
  "slurm-yaml": looksLikeSlurmYaml,
  topograph: looksLikeTopograph,
};
const VALUES: Readonly<Record<string, (value: unknown) => boolean>> = {
  "forest-capacity": looksLikeForestCapacity,
  infragraph: looksLikeInfragraph,
  "logical-dims": looksLikeLogicalDims,
  "msccl-tools": looksLikeMscclTools,
  taccl: looksLikeTaccl,
  "te-ccl": looksLikeTeCcl,
};
/** Returns the formats that claim a text. */
const claims = (text: string): string[] => {
  const json = /^\s*[{[]/.test(text);
  const tests = json ? VALUES : TEXTS;
  const subject = json ? JSON.parse(text) : text;
  return Object.keys(tests).filter((name) => (tests[name] as (subject: unknown) => boolean)(subject));
};

describe("formats of networks tell themselves apart", () => {
  it.each([
    ["slurm", "\ufeff# comment\r\n\r\nSwitchName=s Nodes=n\r\n"],
    ["slurm", "  BlockSizes=4\nBlockName=b Nodes=n\n"],
    ["slurm-yaml", "---\n- topology: a\n  cluster_default: true\n  tree:\n    switches: []\n"],
    ["slurm-yaml", "- cluster_default: true\n  topology: a\n  flat: true\n"],
    ["topograph", "# model\nswitches:\n  a:\n    switches: [b]\n"],
    ["astra-network", "# x\nlatency: [1]\nnpus_count: [8]\ntopology: [Ring]\nbandwidth: [1]\n"],
    ["ns3", "3 1 2\n2\n0 2 200Gbps 0.005ms 0\n1 2 1bps 1ns 0\n"],
    ["ns3", "\n3 2 1 0 2 H100\n2\n0 2 200Gbps 0.005ms 0\n1 2 1bps 1ns 0\n"],
    ["ibnetdiscover", '# x\nvendid=0x1\nCa\t1 "H-01"\t# "a b"\n'],
    ["edge-list", "from,to,bandwidthGBps\na,b,1\n"],
    ["infragraph", '{"devices": [], "instances": [], "edges": [], "links": []}'],
    ["infragraph", '{"infrastructure": {"devices": [], "instances": []}, "annotations": {}}'],
    ["infragraph-yaml", "description: x\ndevices:\n- name: a\nedges: []\ninstances: []\n"],
    ["infragraph-yaml", "annotations: {}\ninfrastructure:\n  devices: []\n  instances: []\n"],
    ["forest-capacity", '{"nodes": [], "edges": [{"src": "a", "dst": "b", "capacity": 1}]}'],
    ["logical-dims", '{"logical-dims": ["8"]}'],
    ["msccl-tools", '{"name": "a", "links": [[0]], "switches": []}'],
    ["msccl-tools", '{"sccl_type": "algorithm", "topology": {}, "steps": []}'],
    ["te-ccl", '{"TopologyParams": {"name": "DGX1"}, "capacity": []}'],
    ["taccl", '{"name": "a", "gpus_per_node": 2, "alpha": 1, "links": [[0, 1], [1, 0]]}'],
  ])("%s: %j", (format, text) => {
    expect(claims(text)).toEqual([format]);
  });

  it.each([
    "",
    "{}",
    "[]",
    "hello",
    "a: b\n",
    "GPU0 GPU1\n",
    "<system/>",
    '{"format": "banyan-topology", "links": [], "nodes": []}',
  ])("%j is none of them", (text) => {
    expect(claims(text)).toEqual([]);
  });

  it("with sixty comments between Windows line ends too (each once doubled the time)", () => {
    const comments = "# 8 hosts\r\n\r\n".repeat(60);
    expect(claims(`${comments}SwitchName=s0 Nodes=n[0-3]\r\n`)).toEqual(["slurm"]);
    expect(claims(`${comments}topology: [ Ring ]\r\nnpus_count: [ 4 ]\r\n`)).toEqual(["astra-network"]);
  });

  it.skipIf(!hasSharedData)("and real files too", () => {
    const claimed = (folder: string): string[] =>
      [
        ...new Set(sharedFiles(folder).flatMap((file) => claims(sharedText(`${folder}/${file}`)).join() || `${file}?`)),
      ].sort();
    expect(claimed("astra-sim/network")).toEqual(["astra-network", "logical-dims"]);
    expect(claimed("forest-topologies")).toEqual(["forest-capacity"]);
    expect(claimed("taccl/topo")).toEqual(["taccl"]);
    expect(claims(sharedText("taccl/example-algorithm-ndv2-n1.sccl.json"))).toEqual(["msccl-tools"]);
    expect(claims(sharedText("nccl-topo/other/ibnetdiscover-example.txt"))).toEqual(["ibnetdiscover"]);
    expect(claims(sharedText("nccl-topo/other/slurm-testcase1-topology.conf"))).toEqual(["slurm"]);
    for (const folder of ["nvidia-smi", "rocm-smi", "nccl-xml"]) {
      for (const file of sharedFiles(`nccl-topo/${folder}`))
        expect(claims(sharedText(`nccl-topo/${folder}/${file}`))).toEqual([]);
    }
  });
});
