import { describe, expect, it } from "vitest";
import type { InputError } from "../../src/base/errors.ts";
import { loadKernels } from "../../src/engine/kernels/load.ts";
import { forestCapacity } from "../../src/export/networks/forest-capacity.ts";
import { ns3Topology, simaiTopology } from "../../src/export/networks/ns3.ts";
import { teCclTopology } from "../../src/export/networks/te-ccl.ts";
import { astraBackendFor, astraFiles, astraNetwork } from "../../src/export/simulators/astra.ts";
import { readForestCapacity } from "../../src/import/networks/forest-capacity.ts";
import { readAstraNetwork } from "../../src/import/networks/network-formats.ts";
import { looksLikeNs3, readNs3 } from "../../src/import/networks/ns3.ts";
import { readTeCcl } from "../../src/import/networks/te-ccl.ts";
import { presetTopology } from "../../src/model/presets/preset.ts";
import { without } from "../../src/model/topology/modify.ts";
import type { Topology } from "../../src/model/topology/topology.ts";
import { topologyBuilder } from "../../src/model/topology/topology-builder.ts";
import { outOfRange, refusalFrom, unexpected } from "../support/refusals.ts";
import { synthesizeWith, wholeCollective } from "../support/synthesis.ts";

/** Links as rows, in order of their ends, for comparison. */
const rowsOf = ({ linkSource, linkTarget, linkBytesPerSecond, linkLatencyPs }: Topology): number[][] =>
  Array.from(linkSource, (from, i) => [from, linkTarget[i], linkBytesPerSecond[i], linkLatencyPs[i]]).sort((a, b) =>
    a.reduce((order, value, i) => order || value - b[i], 0),
  );

/** Returns the network with its switches in the opposite order. */
function turnedSwitches(topology: Topology): Topology {
  const last = topology.nodeNames.length - 1;
  const turn = (node: number): number => (node < topology.npuCount ? node : last - (node - topology.npuCount));
  return { ...topology, linkSource: topology.linkSource.map(turn), linkTarget: topology.linkTarget.map(turn) };
}

describe("ASTRA-sim's network files", () => {
  it.each([
    "ring:8",
    "ring:2",
    "switch:8",
    "fc:5",
    "torus:4x8",
    "hypercube:3",
    "switch:8*ring:2@400,50GB/s",
    "ring:4*switch:3*fc:4@200,100,50GB/s,0.7us",
    "switch:2*switch:3",
  ])("of %s read back to the same links", (preset) => {
    const topology = presetTopology(preset);
    const text = astraNetwork(topology);
    expect(rowsOf(readAstraNetwork(text, "n.yml"))).toEqual(rowsOf(topology));
    expect(astraNetwork(turnedSwitches(topology))).toBe(text);
  });

  it("have a line for each key, bandwidths in GiB/s, latencies in ns", () => {
    expect(astraNetwork(presetTopology("switch:8*ring:2@50GiB/s,0.7us"))).toBe(
      "topology: [ Switch, Ring ]\nnpus_count: [ 8, 2 ]\nbandwidth: [ 50, 50 ]  # GiB/s a link\nlatency: [ 700, 700 ]  # ns a link\n",
    );
  });

  it.each([
    ["mesh:4x4", "dimension 0 is no ring, full mesh or switch"],
    ["dgx-a100:2", "0 has a switch and further links in dimension 0"],
    ["dgx1", "dimension 0 is no ring, full mesh or switch"],
    ["circulant:8,1,3", "dimension 0 is no ring, full mesh or switch"],
  ])("are refused for %s with the reason", (preset, reason) => {
    expect(refusalFrom(() => astraNetwork(presetTopology(preset)))).toEqual(
      unexpected("the network of ASTRA-sim's analytical back end", `${preset}: ${reason}`),
    );
  });

  it("are refused where a link in the middle differs from those of NPU 0", () => {
    const topology = presetTopology("torus:4x4");
    const slower = topology.linkBytesPerSecond.with(21, 1e9);
    expect(refusalFrom(() => astraNetwork({ ...topology, linkBytesPerSecond: slower }))).toEqual(
      unexpected(
        "the network of ASTRA-sim's analytical back end",
        "torus:4x4: its links are not the same for all NPUs",
      ),
    );
  });

  it("come with what runs a schedule: traces, workload, system, memory, command", async () => {
    const topology = presetTopology("ring:4");
    const { kernels } = await loadKernels("js");
    const { schedule } = await synthesizeWith(kernels, {
      topology,
      collective: wholeCollective(topology, "reducescatter", 2 ** 20),
      trials: 1,
    });
    const backend = astraBackendFor(schedule);
    const files = new Map(
      [...astraFiles(schedule, "rs", backend, "expected: 1 cycle")].map(({ name, bytes }) => [name, bytes]),
    );
    const text = (name: string): string => new TextDecoder().decode(files.get(name));
    expect([...files.keys()].sort()).toEqual(
      [0, 1, 2, 3]
        .flatMap((npu) => [`rs.${npu}.et`, `rs-workload.${npu}.et`])
        .concat(["rs-memory.json", "rs-network.yml", "rs-run.txt", "rs-system.json"])
        .sort(),
    );
    expect(JSON.parse(text("rs-system.json"))).toEqual({
      "scheduling-policy": "FIFO",
      "preferred-dataset-splits": 1,
      "reduce-scatter-implementation-custom": ["rs"],
      "local-mem-bw": 50,
    });
    expect(JSON.parse(text("rs-memory.json"))).toEqual({ "memory-type": "NO_MEMORY_EXPANSION" });
    for (const name of ["rs-system.json", "rs-network.yml", "rs-memory.json"]) {
      expect(text("rs-run.txt")).toContain(`=${name}`);
    }
    const broadcast = { ...schedule, collective: wholeCollective(topology, "broadcast", 2 ** 20) };
    const system = [...astraFiles(broadcast, "b", backend, "")].find(({ name }) => name === "b-system.json");
    expect(JSON.parse(new TextDecoder().decode(system?.bytes))).toHaveProperty("all-reduce-implementation-custom", [
      "b",
    ]);
    expect(text("rs-run.txt")).toContain("--workload-configuration=rs-workload \\\n");
    expect(text("rs-run.txt")).toMatch(/^AstraSim_Analytical_Congestion_Aware \\\n/);
    expect(text("rs-run.txt")).toMatch(/\n# expected: 1 cycle\n$/);
  });

  const scheduleOf = async (topology: Topology, algorithm = "tacos", kind: "allgather" | "alltoall" = "allgather") => {
    const { kernels } = await loadKernels("js");
    const collective = wholeCollective(topology, kind, 2 ** 20);
    return (await synthesizeWith(kernels, { topology, collective, trials: 1 }, { algorithm })).schedule;
  };

  it.each([
    // what it is, where it has one dimension
    ["ring:6", "aware", "Ring 6 50"],
    ["switch:5", "aware", "Switch 5 50"],
    // a full mesh of alike links, most of which carry nothing
    ["torus:3x3", "aware", "FullyConnected 9 50"],
    ["mesh:2x4", "aware", "FullyConnected 8 50"],
    ["dragonfly:3x2@20GiB/s", "aware", "FullyConnected 6 20"],
    // messages that are alike dimension by dimension
    ["torus:3x3@100,50GiB/s", "unaware", "Ring 3 100, Ring 3 50"],
    ["mesh:2x4@100,50GiB/s", "unaware", "FullyConnected 2 100, FullyConnected 4 50"],
  ] as const)("say which back end takes %s, and as what", async (preset, congestion, dimensions) => {
    const text = preset.includes("@") ? preset : `${preset}@50GiB/s`;
    const backend = astraBackendFor(await scheduleOf(presetTopology(text)));
    expect(backend.congestion).toBe(congestion);
    const names = { ring: "Ring", fc: "FullyConnected", switch: "Switch", line: "" };
    const rows = backend.dimensions.map((d) => `${names[d.kind]} ${d.size} ${d.bytesPerSecond / 2 ** 30}`);
    expect(rows.join(", ")).toBe(dimensions);
  });

  it("take networks with failures", async () => {
    const part = without(presetTopology("torus:3x3@100,50GiB/s"), ["0-1", "4>7"]);
    const backend = astraBackendFor(await scheduleOf(part));
    expect(backend.dimensions.map(({ kind, size }) => [kind, size])).toEqual([
      ["fc", 3],
      ["fc", 3],
    ]);
  });

  it.each([
    [
      "dgx1",
      "tacos",
      /^dgx1: dimension 0 is no ring, full mesh or switch, and messages between \d and \d are not as fast as others/,
    ],
    [
      "dgx-a100:2",
      "tacos",
      /^dgx-a100:2: 0 has a switch and further links in dimension 0, and \d+ and \d+ differ in several/,
    ],
    ["mesh:3x3", "direct", /^mesh:3x3: a message from \d to \d passes NPUs on its way$/],
  ] as const)("are refused for a schedule that no back end takes: %s by %s", async (preset, algorithm, reason) => {
    const schedule = await scheduleOf(presetTopology(preset), algorithm, "alltoall");
    const { expected, received } = refusalFrom(() => astraBackendFor(schedule)) as InputError;
    expect(expected).toContain("its ns-3 back end takes any network: chakra and ns3 write what it reads");
    expect(received).toMatch(reason);
  });
});

const NETWORKS = [
  "ring:5",
  "dgx-a100:2",
  "dgx-h100:2",
  "mi250:2",
  "fat-tree:4x2",
  "switch:3@12.5GB/s,936.25ns",
  "torus:3x4",
];

describe("topologies for ns-3 and SimAI", () => {
  it.each(NETWORKS)("of %s read back to the same links", (preset) => {
    const topology = presetTopology(preset);
    for (const text of [ns3Topology(topology), simaiTopology(topology)]) {
      expect(looksLikeNs3(text)).toBe(true);
      expect(rowsOf(readNs3(text, "n.txt"))).toEqual(rowsOf(topology));
    }
  });

  it("are written as ASTRA-sim and SimAI read them", () => {
    const topology = presetTopology("switch:2@200Gbps,5us");
    expect(ns3Topology(topology)).toBe("3 1 2\n2\n0 2 200Gbps 0.005ms 0\n1 2 200Gbps 0.005ms 0\n");
    const boxes = presetTopology("dgx-h100:2");
    const lines = simaiTopology(boxes, "H100").split("\n");
    expect(lines.slice(0, 3)).toEqual([
      "26 8 2 8 32 H100",
      "16 17 18 19 20 21 22 23 24 25",
      "0 16 3600Gbps 0.0005ms 0",
    ]);
    expect(readNs3(lines.join("\n"), "n.txt").nodeTraits.slice(0, 18)).toEqual(
      [...boxes.nodeTraits.slice(0, 18)].map(({ group }) => ({ group })),
    );
  });

  it("put NVSwitches before other switches", () => {
    const builder = topologyBuilder("mixed");
    const npus = ["a", "b", "c", "d"].map((name, i) => builder.addNpu(name, { group: `box${i >> 1}` }));
    const leaf = builder.addSwitch("leaf");
    const hubs = [builder.addSwitch("h0"), builder.addSwitch("h1")];
    npus.forEach((npu, i) => {
      builder.addDuplex(npu, leaf, 25e9, 0);
      builder.addDuplex(npu, hubs[i >> 1] as number, 300e9, 1);
    });
    const text = simaiTopology(builder.build());
    expect(text.split("\n").slice(0, 4)).toEqual([
      "7 2 2 1 8 H100",
      "4 5 6",
      "0 6 200Gbps 0ms 0",
      "0 4 2400Gbps 0.000000001ms 0",
    ]);
  });

  it("are refused for one-way links and for servers of unequal size", () => {
    const builder = topologyBuilder("odd");
    for (const [name, group] of [
      ["a", "x"],
      ["b", "x"],
      ["c", "y"],
    ] as const)
      builder.addNpu(name, { group });
    builder.addLink(0, 1, 1e9, 0);
    const odd = builder.build();
    expect(refusalFrom(() => ns3Topology(odd))).toEqual(unexpected("the links of odd", "a link without its opposite"));
    expect(refusalFrom(() => simaiTopology(odd))).toEqual(unexpected("the groups of odd", "2 groups"));
  });
});

describe("graphs of capacities and TE-CCL matrices", () => {
  it.each(NETWORKS)("of %s read back to the same links", (preset) => {
    const topology = presetTopology(preset);
    const capacity = readForestCapacity(JSON.parse(forestCapacity(topology)), "g.json", { latencyPs: 7 });
    expect(rowsOf(capacity)).toEqual(rowsOf({ ...topology, linkLatencyPs: topology.linkLatencyPs.map(() => 7) }));
    expect(capacity.nodeNames).toEqual(topology.nodeNames);
    expect(rowsOf(readTeCcl(JSON.parse(teCclTopology(topology)), "m.json"))).toEqual(rowsOf(topology));
  });

  it("have whole GB/s where all links do, else bytes per second", () => {
    expect(JSON.parse(forestCapacity(presetTopology("ring:3")))).toMatchObject({ unit: "GB/s", directed: true });
    expect(JSON.parse(forestCapacity(presetTopology("ring:3@12.5GB/s")))).toMatchObject({
      unit: "B/s",
      edges: expect.arrayContaining([{ src: "0", dst: "1", capacity: 12_500_000_000 }]),
    });
  });

  it("of parallel links are one of their sum, refused where latencies differ", () => {
    const builder = topologyBuilder("pair");
    for (const name of ["a", "b"]) builder.addNpu(name);
    builder.addLink(0, 1, 2e9, 5);
    builder.addLink(0, 1, 3e9, 5);
    expect(JSON.parse(teCclTopology(builder.build()))).toMatchObject({
      capacity: [
        [0, 5],
        [0, 0],
      ],
      alpha: [
        [-1, 5e-12],
        [-1, -1],
      ],
      switch_indices: [],
    });
    const other = topologyBuilder("pair");
    for (const name of ["a", "b"]) other.addNpu(name);
    other.addLink(0, 1, 2e9, 5);
    other.addLink(0, 1, 3e9, 6);
    expect(refusalFrom(() => teCclTopology(other.build()))).toEqual(unexpected("TE-CCL matrices of pair", "a>b"));
    expect(refusalFrom(() => teCclTopology(presetTopology("ring:5000")))).toEqual(
      outOfRange("TE-CCL matrices of ring:5000", 5000, 4096),
    );
  });
});
