import { describe, expect, it } from "vitest";
import { looksLikeForestCapacity, readForestCapacity } from "../../src/import/networks/forest-capacity.ts";
import { looksLikeMscclTools, readMscclTools } from "../../src/import/networks/msccl-tools.ts";
import {
  looksLikeAstraNetwork,
  looksLikeLogicalDims,
  readAstraNetwork,
  readLogicalDims,
} from "../../src/import/networks/network-formats.ts";
import { looksLikeNs3, readNs3 } from "../../src/import/networks/ns3.ts";
import { looksLikeTeCcl, readTeCcl } from "../../src/import/networks/te-ccl.ts";
import { presetTopology } from "../../src/model/presets/preset.ts";
import { linkNames, type Topology } from "../../src/model/topology/topology.ts";

import { missing, outOfRange, refusalFrom, refused, unexpected } from "../support/refusals.ts";

const GIB = 2 ** 30;
/** Returns rate (GB/s) and latency (us) of a link. */
const link = (topology: Topology, name: string): [number, number] => {
  const index = linkNames(topology).indexOf(name);
  return [topology.linkBytesPerSecond[index] / 1e9, topology.linkLatencyPs[index] / 1e6];
};

describe("ASTRA-sim networks", () => {
  const text =
    "# comment\ntopology: [ Switch, Ring, FullyConnected ]\nnpus_count: [ 2, 3, 2 ]\nbandwidth: [400, 50.5, 1]  # GB/s\nlatency: [ 936.25, 1000, 0 ]\n";

  it("are products of their dimensions, with GiB/s and ns, and every figure a link's", () => {
    expect(looksLikeAstraNetwork(text)).toBe(true);
    const topology = readAstraNetwork(text, "n.yml");
    expect(topology.shape).toEqual([2, 3, 2]);
    expect([topology.npuCount, topology.nodeNames.length]).toEqual([12, 18]);
    expect(link(topology, "0>sw0")).toEqual([(400 * GIB) / 1e9, 0.93625]);
    expect(link(topology, "0>2")).toEqual([(50.5 * GIB) / 1e9, 1]);
    expect(link(topology, "0>6")).toEqual([GIB / 1e9, 0]);
  });

  it.each([
    ["topology: [ Torus ]\nnpus_count: [ 8 ]\nbandwidth: [1]\nlatency: [1]", unexpected("t line 1: 0", "Torus")],
    ["topology: [ Ring ]\nnpus_count: [ 8, 2 ]\nbandwidth: [1]\nlatency: [1]", unexpected("t line 2: npus_count", "2")],
    ["topology: [ Ring ]\nnpus_count: [ 8.5 ]\nbandwidth: [1]\nlatency: [1]", unexpected("t line 2: 0", 8.5, 10000000)],
    ["topology: [ Ring ]\nnpus_count: [ 8 ]\nbandwidth: [0]\nlatency: [1]", unexpected("t line 3: 0", 0)],
    ["topology: [ Ring ]\nnpus_count: [ 8 ]\nbandwidth: [1]", missing("t: latency")],
    [
      "topology: [ FullyConnected ]\nnpus_count: [ 100000 ]\nbandwidth: [1]\nlatency: [1]",
      outOfRange("t", "about 9999900000 links", 10000000),
    ],
    ["topology: Ring\nnpus_count: 8", unexpected("t line 1: topology", "Ring")],
    ["topology: []\nnpus_count: []", unexpected("t line 1: topology", "0", 32)],
  ])("%j is refused with its line", (bad, sentence) => {
    expect(refusalFrom(() => readAstraNetwork(bad, "t"))).toEqual(sentence);
  });

  it("may be logical dimensions, whose rings are assumed", () => {
    const value = { "logical-dims": ["8", "2"] };
    expect(looksLikeLogicalDims(value)).toBe(true);
    const topology = readLogicalDims(value, "d.json", { bandwidth: { nic: 25e9 }, latencyPs: 1e6 });
    expect(topology.shape).toEqual([8, 2]);
    expect(link(topology, "0>1")).toEqual([25, 1]);
    expect(refusalFrom(() => readLogicalDims({ "logical-dims": ["x"] }, "d.json"))).toEqual(
      unexpected("d.json: logical-dims[0]", "x", 10000000),
    );
  });
});

describe("graphs of capacities", () => {
  const graph = {
    name: "pair",
    unit: "GB/s",
    compute_order: ["b", "a"],
    nodes: [
      { id: "a", tuple: [0, "GPU", 0], kind: "compute" },
      { id: "s", tuple: [-1, "IB", 0], kind: "switch" },
      { id: "b", kind: "compute" },
    ],
    edges: [
      { src: "a", dst: "s", capacity: 300 },
      { src: "s", dst: "b", capacity: 25 },
    ],
  };

  it("order NPUs by compute_order, group them by boxes, and assume latencies", () => {
    expect(looksLikeForestCapacity(graph)).toBe(true);
    const topology = readForestCapacity(graph, "g.json");
    expect(topology.nodeNames).toEqual(["b", "a", "s"]);
    expect(topology.nodeTraits).toEqual([{}, { group: "box0" }, {}]);
    expect([link(topology, "a>s"), link(topology, "s>b")]).toEqual([
      [300, 0.5],
      [25, 0.5],
    ]);
    expect(readForestCapacity({ ...graph, directed: false }, "g.json").linkSource.length).toBe(4);
  });

  it.each([
    [{ ...graph, unit: "furlongs" }, unexpected("g.json: unit", "furlongs")],
    [{ ...graph, compute_order: ["a"] }, unexpected("g.json: compute_order", "1 ids", 2)],
    [{ ...graph, compute_order: ["a", "s"] }, unexpected("g.json: compute_order[1]", "s")],
    [{ ...graph, edges: [{ src: "a", dst: "z", capacity: 1 }] }, unexpected("g.json: edges[0].dst", "z")],
    [{ ...graph, edges: [{ src: "a", dst: "a", capacity: 1 }] }, unexpected("g.json: edges[0].dst", "a")],
    [{ ...graph, edges: [{ src: "a", dst: "s", capacity: 0 }] }, unexpected("g.json: edges[0].capacity", 0)],
    [{ ...graph, nodes: [...graph.nodes, { id: "a", kind: "switch" }] }, unexpected("g.json: nodes[3].id", "a")],
    [{ ...graph, nodes: [{ id: "a", kind: "nic" }] }, unexpected("g.json: nodes[0].kind", "nic")],
  ])("a wrong field is refused with its place", (value, sentence) => {
    expect(refusalFrom(() => readForestCapacity(value, "g.json"))).toEqual(sentence);
  });
});

describe("msccl-tools topologies", () => {
  const links = [
    [0, 2, 1],
    [2, 0, 0],
    [1, 0, 0],
  ];

  it("count links by destination and source, in units of an NVLink", () => {
    const value = {
      name: "three",
      links: [
        [0, 3, 0],
        [0, 0, 0],
        [1, 0, 0],
      ],
      switches: [],
    };
    expect(looksLikeMscclTools(value)).toBe(true);
    const topology = readMscclTools(value, "t.json");
    expect(linkNames(topology)).toEqual(["0>2", "1>0"]);
    expect(link(topology, "1>0")).toEqual([75, 0.5]);
    expect(link(readMscclTools(value, "t.json", { bandwidth: { nvlink: 1e9 }, latencyPs: 0 }), "1>0")).toEqual([3, 0]);
  });

  it("make ports of switches, which links below them do not widen", () => {
    const star = [0, 1, 2].flatMap((rank) => {
      const others = [0, 1, 2].filter((other) => other !== rank);
      return [
        [[rank], others, 2, `out${rank}`],
        [others, [rank], 1, `in${rank}`],
      ];
    });
    const full = [0, 1, 2].map((to) => [0, 1, 2].map((from) => (from === to ? 0 : 2)));
    const topology = readMscclTools({ name: "star", links: full, switches: star }, "t.json");
    expect(linkNames(topology)).toEqual(["0>sw0", "sw0>0", "1>sw0", "sw0>1", "2>sw0", "sw0>2"]);
    expect([link(topology, "1>sw0"), link(topology, "sw0>1")]).toEqual([
      [50, 0.25],
      [25, 0.25],
    ]);
    expect(refusalFrom(() => readMscclTools({ name: "s", links: full, switches: star.slice(1) }, "t.json"))).toEqual(
      unexpected("t.json: switches", "2 out, 3 in", 3),
    );
    const narrow = full.map((row) => row.map((count) => Math.min(count, 1)));
    const wide = star.map(([from, to, , name]) => [from, to, 2, name]);
    expect(refusalFrom(() => readMscclTools({ name: "s", links: narrow, switches: wide }, "t.json"))).toEqual(
      unexpected("t.json: links[1][0]", 1),
    );
  });

  it("are in TACCL's algorithm files as one or two nodes", () => {
    const node = {
      sccl_type: "topology",
      name: "pair",
      copies: 2,
      ngpus_per_node: 2,
      node_links: [
        [0, 1],
        [1, 0],
      ],
      node_invbws: [
        [0, 23],
        [46, 0],
      ],
      remote_invbw: 107,
      internode_conn: { "0": [1] },
      local_switches: [],
    };
    const topology = readMscclTools({ sccl_type: "algorithm", topology: node }, "a.json");
    expect(linkNames(topology)).toEqual(["0>1", "1>0", "2>3", "3>2", "0>3", "2>1"]);
    expect(link(topology, "1>0")[0]).toBe(Math.round((2 ** 20 * 1e6) / 23) / 1e9);
    expect(link(topology, "0>3")[0]).toBe(Math.round((2 ** 20 * 1e6) / 107) / 1e9);
    expect(topology.nodeTraits[3]).toEqual({ group: "box1" });
    expect(refusalFrom(() => readMscclTools({ topology: { ...node, copies: 3 } }, "a.json"))).toEqual(
      unexpected("a.json: topology.copies", 3, 2),
    );
    expect(refusalFrom(() => readMscclTools({ topology: { ...node, internode_conn: null } }, "a.json"))).toEqual(
      unexpected("a.json: topology.internode_conn", null),
    );
  });

  it.each([
    [{ name: "x", links: [[0, 1]] }, unexpected("t.json: links[0]", "2")],
    [{ name: "x", links: [[1]] }, unexpected("t.json: links[0][0]", 1)],
    [
      {
        name: "x",
        links: [
          [0, -1],
          [0, 0],
        ],
      },
      unexpected("t.json: links[0][1]", -1, 1000000),
    ],
    [{ name: "x", links, switches: [[[0, 1], [1, 2], 1, "s"]] }, unexpected("t.json: switches[0]", "2 to 2")],
    [{ name: "x", links, switches: [[[0], [7], 1, "s"]] }, unexpected("t.json: switches[0][1][0]", 7, 2)],
  ])("a wrong field is refused with its place", (value, sentence) => {
    expect(refusalFrom(() => readMscclTools(value, "t.json"))).toEqual(sentence);
  });
});

describe("TE-CCL inputs", () => {
  const input = (params: object): unknown => ({ TopologyParams: { chunk_size: 1, ...params }, GurobiParams: {} });

  it.each([
    ["DGX1", {}, 8, 0, 32],
    ["NDv2", { chassis: 1 }, 8, 0, 32],
    ["NDv2", { chassis: 2 }, 16, 0, 66],
    ["NDv2", { chassis: 4 }, 32, 1, 136],
    ["ndv2", { chassis: 2 }, 16, 0, 66],
    ["DGX2", { chassis: 2 }, 32, 2, 80],
    ["AMD", { chassis: 1, alpha: [0, 0] }, 16, 0, 56],
    ["AMD", { chassis: 2, alpha: [1e-6, 2e-6] }, 32, 17, 112 + 64 + 32],
    ["Mesh", { side_length: 3, alpha: [0] }, 9, 0, 2 * (8 + 6)],
  ])("%s %j", (name, params, npus, switches, links) => {
    expect(looksLikeTeCcl(input({ name }))).toBe(true);
    const topology = readTeCcl(input({ name, ...params }), "t.json");
    expect([topology.npuCount, topology.nodeNames.length - npus, topology.linkSource.length]).toEqual([
      npus,
      switches,
      links,
    ]);
  });

  it("has the figures of its Python files", () => {
    const ndv2 = readTeCcl(input({ name: "NDv2", chassis: 3 }), "t.json");
    expect([link(ndv2, "0>1"), link(ndv2, "0>2"), link(ndv2, "8>ib"), link(ndv2, "ib>9")]).toEqual([
      [50, 0.7],
      [25, 0.7],
      [12.5, 1.3],
      [12.5, 1.3],
    ]);
    const dgx2 = readTeCcl(input({ name: "DGX2" }), "t.json");
    expect([link(dgx2, "0>nvsw0"), link(dgx2, "17>0")]).toEqual([
      [125, 0.35],
      [12.5, 2.6],
    ]);
    expect(link(readTeCcl(input({ name: "AMD", chassis: 2, alpha: [1e-6, 2e-6] }), "t.json"), "1>nic0.0")).toEqual([
      25, 2,
    ]);
  });

  it("of one AMD chassis has the links of our MI250 box", () => {
    const degrees = (topology: Topology): number[] => [...topology.linkBytesPerSecond].sort((a, b) => a - b);
    expect(degrees(readTeCcl(input({ name: "AMD" }), "t.json"))).toEqual(degrees(presetTopology("mi250")));
  });

  it.each([
    [input({ name: "Torus" }), refused("unknown-name", "t.json: TopologyParams.name", "Torus")],
    [input({ name: "DGX2", chassis: 3 }), unexpected("t.json: TopologyParams.chassis", 3, 2)],
    [input({ name: "DGX1", alpha: [-1] }), unexpected("t.json: TopologyParams.alpha[0]", -1)],
    [{ TopologyParams: { name: "x" }, capacity: [[0, 1]], alpha: [] }, unexpected("t.json: capacity[0]", "2")],
    [
      {
        TopologyParams: { name: "x" },
        capacity: [
          [0, 1],
          [0, 0],
        ],
        alpha: [
          [-1, -1],
          [-1, -1],
        ],
      },
      unexpected("t.json: alpha[0][1]", -1),
    ],
  ])("%j is refused with its place", (value, sentence) => {
    expect(refusalFrom(() => readTeCcl(value, "t.json"))).toEqual(sentence);
  });
});

describe("ns-3 and SimAI topologies", () => {
  it("number NPUs by their ids and join both ends of a link", () => {
    const text = "4 1 3\n1\n0 1 200Gbps 0.005ms 0\r\n2 1 100Mbps 700ns 0\n3 1 1Gbps 1us 0.01\n";
    expect(looksLikeNs3(text)).toBe(true);
    const topology = readNs3(text, "t.txt");
    expect(topology.nodeNames).toEqual(["0", "2", "3", "1"]);
    expect([link(topology, "0>1"), link(topology, "1>2")]).toEqual([
      [25, 5],
      [0.0125, 0.7],
    ]);
    expect(topology.sources).toEqual(["ns-3 topology t.txt", "error rates of 1 links not used"]);
  });

  it("group SimAI's GPUs and NVSwitches by servers", () => {
    const text =
      "7 2 2 1 6 A100\n4 5 6\n0 4 2400Gbps 0ms 0\n1 4 2400Gbps 0ms 0\n2 5 2400Gbps 0ms 0\n3 5 2400Gbps 0ms 0\n0 6 1Gbps 1us 0\n2 6 1Gbps 1us 0\n";
    const topology = readNs3(text, "t.txt");
    expect(topology.nodeTraits.map(({ group }) => group)).toEqual([
      "box0",
      "box0",
      "box1",
      "box1",
      "box0",
      "box1",
      undefined,
    ]);
    expect(topology.sources[0]).toBe("SimAI (A100) topology t.txt");
  });

  it("may have no switches", () => {
    expect(linkNames(readNs3("2 0 1\n\n0 1 1Gbps 1us 0\n", "t"))).toEqual(["0>1", "1>0"]);
  });

  it.each([
    ["", missing("t")],
    ["3 1\n", unexpected("t line 1", "3 1", 3, 5)],
    ["3 1 5\n2\n0 2 1Gbps 1us 0", unexpected("t line 1", 5)],
    ["99999999 0 1\n0 1 1Gbps 1us 0", unexpected("t line 1", 99999999)],
    ["2 2 1\n0 1\n0 1 1Gbps 1us 0", unexpected("t line 1", "2 2 1")],
    ["3 1 1\n2 2\n0 2 1Gbps 1us 0", unexpected("t line 2", "2 ids")],
    ["3 1 1\n7\n0 2 1Gbps 1us 0", unexpected("t line 2", "7", 3)],
    ["3 1 1\n2\n0 2 1Gbps", unexpected("t line 3", "0 2 1Gbps", 8)],
    ["3 1 1\n2\n0 2 fast 1us 0", unexpected("t line 3", "fast")],
    ["3 1 1\n2\n0 0 1Gbps 1us 0", unexpected("t line 3", "0")],
    ["5 3 1 0 2 H100\n4\n0 4 1Gbps 1us 0\n1 4 1Gbps 1us 0", unexpected("t line 1", 3, 4)],
  ])("%j is refused with its line", (text, sentence) => {
    expect(refusalFrom(() => readNs3(text, "t"))).toEqual(sentence);
  });
});
