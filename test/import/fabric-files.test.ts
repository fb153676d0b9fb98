import { describe, expect, it } from "vitest";
import { loadKernels } from "../../src/engine/kernels/load.ts";
import { readForestCapacity } from "../../src/import/networks/forest-capacity.ts";
import { readIbnetdiscover } from "../../src/import/networks/ibnetdiscover/ibnetdiscover.ts";
import { readMscclTools } from "../../src/import/networks/msccl-tools.ts";
import { readAstraNetwork, readLogicalDims } from "../../src/import/networks/network-formats.ts";
import { readSlurm } from "../../src/import/networks/slurm.ts";
import { collective } from "../../src/model/collective/collective.ts";
import { rational } from "../../src/model/numbers/rational.ts";
import { presetTopology } from "../../src/model/presets/preset.ts";
import { linkCount, switchCount, type Topology } from "../../src/model/topology/topology.ts";
import { verify } from "../../src/verify/verify.ts";
import { rateOfTopology } from "../support/rate-problems.ts";
import { hasSharedData, sharedText } from "../support/shared-data.ts";
import { synthesizeWith } from "../support/synthesis.ts";

const json = (path: string): unknown => JSON.parse(sharedText(path));
const astra = (name: string) => () => readAstraNetwork(sharedText(`astra-sim/network/${name}`), name);
const dims = (name: string) => () => readLogicalDims(json(`astra-sim/network/${name}`), name);
const forest = (name: string) => () => readForestCapacity(json(`forest-topologies/${name}`), name);
const fabric = (gpu?: string) => () =>
  readIbnetdiscover(
    sharedText("nccl-topo/other/ibnetdiscover-example.txt"),
    "ib.txt",
    gpu === undefined ? {} : { gpu },
  );
const GIB = 2 ** 30;

/** Real files: NPUs, switches, links, bytes per second of all links, counted by other means (grep, sums by hand). */
const FILES: readonly [
  file: string,
  read: () => Topology,
  npus: number,
  switches: number,
  links: number,
  rate: number,
][] = [
  ["HGX-H100-validated.yml", astra("HGX-H100-validated.yml"), 8, 1, 16, 16 * 400 * GIB],
  ["hgx_h100_8gpu.yml", astra("hgx_h100_8gpu.yml"), 8, 1, 16, 16 * 400 * GIB],
  ["hgx_h100_16gpu.yml", astra("hgx_h100_16gpu.yml"), 16, 2, 48, (32 * 400 + 16 * 50) * GIB],
  ["Ring_4npus.yml", astra("Ring_4npus.yml"), 4, 0, 8, 8 * 50 * GIB],
  ["Ring_8npus.yml", astra("Ring_8npus.yml"), 8, 0, 16, 16 * 50 * GIB],
  ["Ring_16npus.yml", astra("Ring_16npus.yml"), 16, 0, 32, 32 * 50 * GIB],
  ["tpu_v3_8.yml", astra("tpu_v3_8.yml"), 8, 0, 16, 16 * 80 * GIB],
  ["tpu_v3_32_2dtorus.yml", astra("tpu_v3_32_2dtorus.yml"), 32, 0, 128, 128 * 80 * GIB],
  ["sample_4nodes_1D.json", dims("sample_4nodes_1D.json"), 4, 0, 8, 8 * 50e9],
  ["sample_8nodes_1D.json", dims("sample_8nodes_1D.json"), 8, 0, 16, 16 * 50e9],
  ["sample_16nodes_1D.json", dims("sample_16nodes_1D.json"), 16, 0, 32, 32 * 50e9],
  ["sample_16nodes_2D.json", dims("sample_16nodes_2D.json"), 16, 0, 48, 48 * 50e9],
  ["a100-1.json", forest("a100-1.json"), 8, 1, 16, 16 * 300e9],
  ["a100-2.json", forest("a100-2.json"), 16, 20, 96, (32 * 300 + 64 * 25) * 1e9],
  ["a100-3.json", forest("a100-3.json"), 24, 29, 144, (48 * 300 + 96 * 25) * 1e9],
  ["a100-4.json", forest("a100-4.json"), 32, 38, 192, (64 * 300 + 128 * 25) * 1e9],
  ["a100-16.json", forest("a100-16.json"), 128, 146, 768, (256 * 300 + 512 * 25) * 1e9],
  ["a100-128.json", forest("a100-128.json"), 1024, 1154, 6144, (2048 * 300 + 4096 * 25) * 1e9],
  ["mi250-1.json", forest("mi250-1.json"), 16, 0, 56, 56 * 100e9],
  [
    "example-algorithm-ndv2-n1.sccl.json",
    () => readMscclTools(json("taccl/example-algorithm-ndv2-n1.sccl.json"), "algorithm.json"),
    8,
    0,
    32,
    16 * (Math.round((2 ** 20 * 1e6) / 23) + Math.round((2 ** 20 * 1e6) / 46)),
  ],
  // 582 Ca blocks less 40 aggregation nodes; 40 switches and 122 hosts with several adapters; cables: (2228 - 2 * 40) / 2
  ["ibnetdiscover-example.txt", fabric(), 542, 40 + 122, 2148 + 946, 2148 * 50e9 + 946 * 48e9],
  ["ibnetdiscover-example.txt --gpu h100", fabric("h100"), 542, 40 + 122, 2148 + 946, 2148 * 50e9 + 946 * 450e9],
  // 500 leaves of 20 hosts; 500 + 26 + 2 links up; every level carries what 10,000 hosts send
  [
    "slurm-testcase1-topology.conf",
    () => readSlurm(sharedText("nccl-topo/other/slurm-testcase1-topology.conf"), "topology.conf"),
    10_000,
    529,
    2 * (10_000 + 528),
    2 * 4 * 10_000 * 50e9,
  ],
];

describe.skipIf(!hasSharedData)("real files of fabrics and of other tools", () => {
  it.each(FILES)("%s", (_, read, npus, switches, links, rate) => {
    const topology = read();
    expect([topology.npuCount, switchCount(topology), linkCount(topology)]).toEqual([npus, switches, links]);
    expect(topology.linkBytesPerSecond.reduce((sum, value) => sum + value, 0)).toBe(rate);
  });

  it.each(FILES.filter(([file]) => file !== "a100-128.json"))(
    "an all-gather on %s, of up to 16 NPUs, passes the verifier",
    async (_, read) => {
      const topology = read();
      const stride = Math.max(1, Math.floor(topology.npuCount / 16));
      const members = Int32Array.from({ length: Math.min(16, topology.npuCount) }, (_, i) => i * stride);
      const request = { kind: "allgather", sizeBytes: 2 ** 20, chunksPerNpu: 1, rootRank: 0 } as const;
      const { kernels } = await loadKernels("js");
      const { schedule } = await synthesizeWith(kernels, {
        topology,
        collective: collective({ ...request, groups: [members] }),
        trials: 1,
      });
      expect(verify(schedule).violations).toEqual([]);
    },
    60_000,
  );

  it.each([1, 2, 3, 4, 16])("a100-%i.json has the optimum of our preset", async (boxes) => {
    const { kernels } = await loadKernels("js");
    const rateIn = (topology: Topology) => {
      const { shards, capacity } = kernels.rate(rateOfTopology(topology));
      return rational(shards, capacity);
    };
    expect(rateIn(forest(`a100-${boxes}.json`)())).toEqual(rateIn(presetTopology(`dgx-a100:${boxes}`)));
  });
});
