import { existsSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { parseProfileSize, readTacclTopology, type TacclOptions } from "../../../src/import/networks/taccl-topology.ts";
import { linkNames, type Topology } from "../../../src/model/topology/topology.ts";

import { missing, type Refusal, refusalFrom, unexpected } from "../../support/refusals.ts";

const MB = 2 ** 20;
const ndv2 = {
  name: "NDv2_1MB",
  gpus_per_node: 8,
  nics_per_node: 1,
  alpha: 0.3,
  node_betas_list: [23, 46],
  node_invbws_list: [23, 46],
  remote_alpha: 2.6,
  remote_beta: 105,
  remote_invbw: 107,
};
const dgx2 = {
  ...ndv2,
  name: "DGX2_1MB",
  gpus_per_node: 16,
  nics_per_node: 8,
  node_betas_list: [8],
  node_invbws_list: [8],
};
const custom = {
  name: "line",
  gpus_per_node: 3,
  alpha: 1,
  links: [
    [0, 1, 0],
    [0, 0, 1],
    [0, 0, 0],
  ],
  betas: [
    [0, 10, 0],
    [0, 0, 20],
    [0, 0, 0],
  ],
};
const read = (fields: object, options?: TacclOptions): Topology =>
  readTacclTopology(JSON.stringify(fields), "t.json", options);
const rate = (topology: Topology, name: string): number =>
  topology.linkBytesPerSecond[linkNames(topology).indexOf(name)];
const latency = (topology: Topology, name: string): number => topology.linkLatencyPs[linkNames(topology).indexOf(name)];

describe("reading a TACCL topology", () => {
  it("wires one NDv2 node as its hybrid cube mesh: 4 neighbours each, 6 NVLinks each", () => {
    const topology = read(ndv2);
    expect([topology.npuCount, topology.nodeNames.length, topology.linkSource.length]).toEqual([8, 8, 32]);
    const double = Math.round((MB * 1e6) / 23);
    const single = Math.round((MB * 1e6) / 46);
    for (let gpu = 0; gpu < 8; gpu++) {
      const rates = [...topology.linkBytesPerSecond].filter((_, link) => topology.linkSource[link] === gpu).sort();
      expect(rates).toEqual([single, single, double, double]);
    }
    expect(rate(topology, "0>1")).toBe(double);
    expect(rate(topology, "3>0")).toBe(single);
    expect(new Set(topology.linkLatencyPs)).toEqual(new Set([300_000]));
  });

  it("joins NDv2 nodes by one NIC each to one switch, half of remote_alpha on each side", () => {
    const topology = read(ndv2, { nodes: 2 });
    expect(topology.name).toBe("NDv2_1MB:2");
    expect(topology.nodeNames.slice(16)).toEqual(["ib", "nic0", "nic1"]);
    expect(topology.nodeTraits[9]).toEqual({ group: "box1" });
    const nic = Math.round((MB * 1e6) / 105);
    expect([rate(topology, "15>nic1"), rate(topology, "nic1>ib"), rate(topology, "ib>nic0")]).toEqual([nic, nic, nic]);
    expect(latency(topology, "nic0>ib") + latency(topology, "ib>nic1")).toBe(2_600_000);
    expect(latency(topology, "0>nic0")).toBe(0);
    expect(topology.linkSource.length).toBe(64 + 32 + 4);
  });

  it("puts 16 DGX2 GPUs on one switch and two on each of 8 NICs", () => {
    const topology = read(dgx2, { nodes: 2 });
    expect(topology.npuCount).toBe(32);
    expect(rate(topology, "17>nvsw1")).toBe(MB * 125_000);
    expect(latency(topology, "17>nvsw1") + latency(topology, "nvsw1>18")).toBe(300_000);
    const names = linkNames(topology);
    expect(names.filter((name) => name.endsWith(">nic1.3"))).toEqual(["22>nic1.3", "23>nic1.3", "ib>nic1.3"]);
    expect(topology.nodeNames.filter((name) => name.startsWith("nic"))).toHaveLength(16);
  });

  it("reads a profile with one beta and another name as GPUs on one switch", () => {
    expect(linkNames(read({ ...dgx2, name: "box", gpus_per_node: 2, nics_per_node: undefined }))).toEqual([
      "0>nvsw0",
      "nvsw0>0",
      "1>nvsw0",
      "nvsw0>1",
    ]);
  });

  it("reads custom matrices as [destination][source]", () => {
    const topology = read(custom);
    expect(linkNames(topology)).toEqual(["1>0", "2>1"]);
    expect([...topology.linkBytesPerSecond]).toEqual([Math.round((MB * 1e6) / 10), Math.round((MB * 1e6) / 20)]);
  });

  it("takes scales of the public profiles from their names, and options before names", () => {
    const small = { ...ndv2, name: "NDv2_1KB", alpha: 30, node_betas_list: [2.24, 4.5] };
    const expected = Math.round((1024 * 100 * 1e6) / 2.24);
    expect(rate(read(small), "0>1")).toBe(expected);
    expect(latency(read(small), "0>1")).toBe(300_000);
    expect(
      rate(
        read({ ...small, name: "mine", node_betas_list: [2.24] }, { profileSizeBytes: 1024, profileScale: 100 }),
        "0>nvsw0",
      ),
    ).toBe(expected);
    expect(rate(read(small, { profileScale: 1 }), "0>1")).toBe(Math.round((MB * 1e6) / 2.24));
    expect(refusalFrom(() => read({ ...ndv2, name: "NDv2_64KB" }))).toEqual(
      unexpected("t.json: name", "NDv2_64KB", "--profile-size", "--profile-scale"),
    );
  });

  it("reads KB and MB of profile sizes as powers of two", () => {
    expect(["1KB", "32kb", "1 MB", "1KiB", "4096"].map((text) => parseProfileSize(text))).toEqual([
      1024,
      32768,
      MB,
      1024,
      4096,
    ]);
    expect(refusalFrom(() => parseProfileSize("x"))).toEqual(unexpected("profileSizeBytes", "x"));
  });

  it.each<[string, object, TacclOptions, Refusal]>([
    ["no name", { ...ndv2, name: undefined }, {}, missing("t.json: name")],
    ["no GPUs", { ...ndv2, gpus_per_node: 0 }, {}, unexpected("t.json: gpus_per_node", 0, 65536)],
    ["no alpha", { ...ndv2, alpha: undefined }, {}, missing("t.json: alpha")],
    ["negative alpha", { ...ndv2, alpha: -1 }, {}, unexpected("t.json: alpha", -1)],
    ["zero beta", { ...ndv2, node_betas_list: [23, 0] }, {}, unexpected("t.json: node_betas_list[1]", 0)],
    ["text beta", { ...dgx2, node_betas_list: ["8"] }, {}, unexpected("t.json: node_betas_list[0]", "8")],
    ["no betas", { ...ndv2, node_betas_list: undefined }, {}, missing("t.json: node_betas_list")],
    ["one NDv2 beta", { ...ndv2, node_betas_list: [1] }, {}, unexpected("t.json: node_betas_list", [1])],
    ["two betas", { ...ndv2, name: "x" }, {}, unexpected("t.json: node_betas_list", [23, 46])],
    ["NDv2 GPUs", { ...ndv2, gpus_per_node: 4 }, {}, unexpected("t.json: gpus_per_node", 4, 8)],
    ["DGX2 GPUs", { ...dgx2, gpus_per_node: 8 }, {}, unexpected("t.json: gpus_per_node", 8, 16)],
    ["NICs", { ...dgx2, nics_per_node: 17 }, {}, unexpected("t.json: nics_per_node", 17, 16)],
    ["no remote", { ...ndv2, remote_beta: undefined }, { nodes: 2 }, missing("t.json: remote_beta")],
    ["nodes", ndv2, { nodes: 0 }, unexpected("the number of nodes", 0, 65536)],
    ["size", ndv2, { profileSizeBytes: 0 }, unexpected("profileSizeBytes", 0)],
    ["scale", ndv2, { profileScale: Number.NaN }, unexpected("profileScale", NaN)],
    ["rows", { ...custom, links: [[0, 1, 0]] }, {}, unexpected("t.json: links", "one of 1 rows", 3)],
    ["cells", { ...custom, betas: [[0, 1], [], []] }, {}, unexpected("t.json: betas[0]", "2", 3)],
    ["no betas matrix", { ...custom, betas: undefined }, {}, missing("t.json: betas", 3)],
    [
      "link entry",
      {
        ...custom,
        links: [
          [0, -1, 0],
          [0, 0, 1],
          [0, 0, 0],
        ],
      },
      {},
      unexpected("t.json: links[0][1]", -1),
    ],
    [
      "self-loop",
      {
        ...custom,
        links: [
          [1, 1, 0],
          [0, 0, 1],
          [0, 0, 0],
        ],
      },
      {},
      unexpected("t.json: links[0][0]", 1),
    ],
    [
      "custom beta",
      {
        ...custom,
        betas: [
          [0, 10, 0],
          [0, 0, 0],
          [0, 0, 0],
        ],
      },
      {},
      unexpected("t.json: betas[1][2]", 0),
    ],
  ])("refuses %s", (_, fields, options, sentence) => {
    expect(refusalFrom(() => read(fields, options))).toEqual(sentence);
  });

  const shared = new URL("../../../../shared/data/taccl/topo/", import.meta.url);
  it.skipIf(!existsSync(shared)).each([
    ["topo-ndv2-1MB.json", 16, 45.6],
    ["topo-ndv2-32KB.json", 16, 45.6],
    ["topo-ndv2-1KB.json", 16, 45.7],
    ["topo-dgx2-1MB.json", 32, 131.1],
    ["topo-dgx2-1KB.json", 32, 102.4],
  ])("reads the public profile %s (skipped without the shared data)", (name, npus, gbps) => {
    const topology = readTacclTopology(readFileSync(new URL(name, shared), "utf8"), name, { nodes: 2 });
    expect(topology.npuCount).toBe(npus);
    expect(Math.max(...topology.linkBytesPerSecond) / 1e9).toBeCloseTo(gbps, 1);
  });
});
