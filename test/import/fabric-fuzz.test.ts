import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { InputError } from "../../src/base/errors.ts";
import { readForestCapacity } from "../../src/import/networks/forest-capacity.ts";
import { readIbnetdiscover } from "../../src/import/networks/ibnetdiscover/ibnetdiscover.ts";
import { readMscclTools } from "../../src/import/networks/msccl-tools.ts";
import { readAstraNetwork } from "../../src/import/networks/network-formats.ts";
import { readNs3 } from "../../src/import/networks/ns3.ts";
import { readSlurm, readSlurmYaml } from "../../src/import/networks/slurm.ts";
import { readTeCcl } from "../../src/import/networks/te-ccl.ts";
import { readTopograph } from "../../src/import/networks/topograph.ts";
import { parseJson } from "../../src/import/text/json.ts";
import { nodeCount, type Topology } from "../../src/model/topology/topology.ts";
import { anyTextChange, changedText } from "../support/changed-text.ts";
import { runs } from "../support/runs.ts";
import { hasSharedData, sharedText } from "../support/shared-data.ts";

type Reader = (text: string) => Topology;
const ofJson =
  (read: (value: unknown, fileName: string) => Topology): Reader =>
  (text) =>
    read(parseJson(text, "f"), "f");

const OWN: readonly (readonly [name: string, text: string, read: Reader])[] = [
  [
    "Slurm",
    "SwitchName=s0 Nodes=n[00-03,7]\nSwitchName=s1 Nodes=m[1-2]x[1-2]\nSwitchName=t Switches=s[0-1]\n",
    (t) => readSlurm(t, "f"),
  ],
  ["Slurm blocks", "BlockName=b0 Nodes=n[0-3]\nBlockName=b1 Nodes=m[0-3]\nBlockSizes=4\n", (t) => readSlurm(t, "f")],
  [
    "Slurm YAML",
    "- topology: t\n  torus3d:\n    toruses:\n      - name: a\n        dims: {x: 2, y: 2, z: 1}\n        nodes: n[0-3]\n- topology: u\n  tree:\n    switches:\n      - switch: s\n        nodes: n\n",
    (t) => readSlurmYaml(t, "f"),
  ],
  [
    "topograph",
    "switches:\n  S1:\n    switches: [S2]\n  S2: &s\n    nodes: ['I[1-3]']\n    capacity_blocks: [cb]\ncapacity_blocks:\n- name: cb\n  nodes: [x]\nblocks:\n- switch: S2\n  nodes: [y]\n",
    (t) => readTopograph(t, "f"),
  ],
  [
    "ASTRA-sim",
    "topology: [ Ring, Switch ]\nnpus_count: [ 4, 2 ]\nbandwidth: [ 50, 25.5 ]\nlatency: [ 500, 1 ]\n",
    (t) => readAstraNetwork(t, "f"),
  ],
  ["ns-3", "4 1 3\n3\n0 3 200Gbps 0.005ms 0\n1 3 200Gbps 0.005ms 0\n2 3 1bps 1ns 0\n", (t) => readNs3(t, "f")],
  [
    "SimAI",
    "5 2 1 0 4 H100\n4\n0 4 200Gbps 0.005ms 0\n1 4 2Gbps 0ms 0\n2 4 1Gbps 1ns 0\n3 4 1Gbps 1ns 0\n",
    (t) => readNs3(t, "f"),
  ],
  [
    "TE-CCL",
    '{"TopologyParams": {"name": "AMD", "chassis": 2, "alpha": [1e-6, 0], "side_length": 3}}',
    ofJson(readTeCcl),
  ],
  [
    "TE-CCL matrices",
    '{"TopologyParams": {"name": "m"}, "capacity": [[0, 5], [2.5, 0]], "alpha": [[-1, 1e-6], [0, -1]], "switch_indices": []}',
    ofJson(readTeCcl),
  ],
  [
    "msccl-tools",
    '{"name": "s", "links": [[0, 1], [1, 0]], "switches": [[[0], [1], 1, "a"], [[1], [0], 2, "b"]]}',
    ofJson(readMscclTools),
  ],
  [
    "capacities",
    '{"unit": "GB/s", "nodes": [{"id": "a", "tuple": [0, "GPU", 0], "kind": "compute"}, {"id": "s", "kind": "switch"}], "edges": [{"src": "a", "dst": "s", "capacity": 3}]}',
    ofJson(readForestCapacity),
  ],
  [
    "ibnetdiscover",
    'Switch\t65 "S-05"\t# "MF0;LEAF:Q/U1" enhanced port 0\n[1]\t"H-01"[1](01) # "h mlx5_1" lid 1 4xNDR\n[2]\t"H-02"[1](02) # "h mlx5_2" lid 2 4xNDR\nCa\t1 "H-01"\t# "h mlx5_1"\n[1](01) "S-05"[1] # lid 1 "L" lid 5 4xNDR\n',
    (t) => readIbnetdiscover(t, "f"),
  ],
];
const REAL: readonly (readonly [string, string, Reader])[] = [
  ["astra-sim/network/hgx_h100_16gpu.yml", "", (t) => readAstraNetwork(t, "f")],
  ["forest-topologies/a100-2.json", "", ofJson(readForestCapacity)],
  ["taccl/example-algorithm-ndv2-n1.sccl.json", "", ofJson(readMscclTools)],
  ["nccl-topo/other/slurm-testcase1-topology.conf", "", (t) => readSlurm(t, "f")],
  ["nccl-topo/other/ibnetdiscover-example.txt", "", (t) => readIbnetdiscover(t, "f")],
];

const parts = fc.constantFrom(
  "[0-999999999]",
  "[",
  "- ",
  "&a ",
  "*a",
  ": ",
  "\n",
  "\t",
  '"',
  "1e99",
  "NaN",
  "=",
  ",",
  "4xNDR",
  "S-05",
  "{",
  "__proto__",
);

/** Expects a sound network or an InputError of one short line. */
function expectReadOrRefused(read: Reader, text: string): void {
  let topology: Topology;
  try {
    topology = read(text);
  } catch (error) {
    expect(error).toBeInstanceOf(InputError);
    expect((error as Error).message.length).toBeLessThan(2000);
    return;
  }
  const nodes = nodeCount(topology);
  expect(topology.npuCount).toBeGreaterThan(0);
  expect(topology.linkSource.every((node, link) => node < nodes && topology.linkTarget[link] < nodes)).toBe(true);
  expect(topology.linkBytesPerSecond.every((rate) => Number.isSafeInteger(rate) && rate >= 1)).toBe(true);
  expect(topology.linkLatencyPs.every((ps) => Number.isSafeInteger(ps) && ps >= 0)).toBe(true);
}

const changes = fc.array(anyTextChange(parts), { minLength: 1, maxLength: 4 });

describe("readers of fabrics and of other tools", () => {
  it.each(OWN)("read or refuse any change of a %s file", (_, text, read) => {
    expectReadOrRefused(read, text);
    fc.assert(
      fc.property(changes, (all) => {
        expectReadOrRefused(
          read,
          all.reduce((changed, change) => changedText(changed === "" ? text : changed, change, null), text),
        );
      }),
      { numRuns: runs(300) },
    );
  });

  it.skipIf(!hasSharedData).each(REAL)("read or refuse any change of %s", (path, _, read) => {
    const text = sharedText(path);
    fc.assert(
      fc.property(changes, (all) => {
        expectReadOrRefused(
          read,
          all.reduce((changed, change) => changedText(changed, change, null), text),
        );
      }),
      { numRuns: runs(15) },
    );
  });
});
