import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import type { Kernels } from "../../../../src/engine/contract/kernels.ts";
import { looksLikeNvidiaSmi, readNvidiaSmi } from "../../../../src/import/networks/gpu-boxes/nvidia-smi.ts";
import type { TopologyOptions } from "../../../../src/import/networks/topology-options.ts";
import { presetTopology } from "../../../../src/model/presets/preset.ts";
import { topologyHash } from "../../../../src/model/topology/topology.ts";
import { limitWithBottleneck } from "../../../../src/run/bottleneck.ts";
import { availableKernels } from "../../../support/backends.ts";
import { anyTextChange, changedText } from "../../../support/changed-text.ts";
import {
  expectConnected,
  fixtureText,
  isomorphic,
  linkList,
  type RealFile,
  summaryOf,
  testRealFiles,
} from "../../../support/gpu-machines.ts";
import { missing, refusalFrom, refused, unexpected } from "../../../support/refusals.ts";
import { runs } from "../../../support/runs.ts";
import { hasSharedData, sharedFiles, sharedText } from "../../../support/shared-data.ts";
import { wholeCollective } from "../../../support/synthesis.ts";
import { isRefused } from "../../support.ts";

let kernels: Kernels;
beforeAll(async () => {
  kernels = (await availableKernels())[0] as Kernels;
});

/** Returns a matrix as printed, of the cells above the diagonal, row by row. */
function matrixText(gpus: number, cell: (a: number, b: number) => string, gap = "\t", affinity = ""): string {
  const names = Array.from({ length: gpus }, (_, g) => `GPU${g}`);
  const row = (a: number): string[] => names.map((_, b) => (a === b ? " X " : cell(Math.min(a, b), Math.max(a, b))));
  const rows = names.map((name, a) => [name, ...row(a), ...(affinity === "" ? [] : [affinity])].join(gap));
  return `${["", ...names, ...(affinity === "" ? [] : ["CPU Affinity"])].join(gap)}\n${rows.join("\n")}\n`;
}
const switched = (gpus: number, links: number, gap?: string): string => matrixText(gpus, () => `NV${links}`, gap);
const read = (text: string, options?: TopologyOptions) => readNvidiaSmi(text, "m.txt", options);
const fixture = fixtureText("two-boards.nvidia-smi.txt");

describe("nvidia-smi topo -m", () => {
  it("is the network of the preset where all pairs show the links of a GPU: one switch", () => {
    for (const [text, preset, options] of [
      [switched(8, 12), "dgx-a100:1", {}],
      [switched(8, 18, "     "), "dgx-h100:1", {}],
      [switched(8, 18), "hgx-b200:1", { gpu: "NVIDIA B200" }],
      [switched(16, 6), "dgx2:1", {}],
    ] as const) {
      expect(topologyHash(read(text, options))).toBe(topologyHash(presetTopology(preset)));
    }
    expect(read(switched(8, 18)).nodeTraits[8]).toMatchObject({ multicast: true, aggregation: true });
    expect(read(switched(8, 12)).nodeTraits[8]).not.toHaveProperty("multicast");
  });

  it("has links between pairs where the cells of a GPU add up to no more than it has", () => {
    expect(linkList(read(switched(2, 12)))).toEqual(["gpu0>gpu1 300", "gpu1>gpu0 300"]);
    expect(summaryOf(read(switched(4, 4)))).toEqual([4, 0, 12, 1200]);
    expect(summaryOf(read(switched(4, 6), { gpu: "h100" }))).toEqual([4, 0, 12, 1800]);
    expect(summaryOf(read(switched(4, 6), { gpu: "v100" }))).toEqual([4, 1, 8, 1200]);
  });

  it("gives a GPU with fewer NVLinks to the switch a slower port", () => {
    const text = matrixText(4, (a) => (a === 0 ? "NV16" : "NV18"));
    const rates = linkList(read(text, { gpu: "h100" })).filter((link) => link.endsWith("0") && link.includes(">nvsw"));
    expect(rates).toEqual(["gpu0>nvsw 400", "gpu1>nvsw 450", "gpu2>nvsw 450", "gpu3>nvsw 450"]);
  });

  it("takes what --assume says before all else", () => {
    const options = { bandwidth: { nvlink: 20e9 }, latencyPs: 7 };
    const topology = read(switched(8, 12), options);
    expect(linkList(topology)[0]).toBe("gpu0>nvsw 240");
    expect(new Set(topology.linkLatencyPs)).toEqual(new Set([7]));
    expect(topology.sources.join("\n")).toContain("each NVLink at 20 GB/s, as --assume says");
  });

  it("models PCIe where NVLink does not connect all GPUs, switch by switch", () => {
    const topology = read(fixture, { gpu: "a40" });
    expect(linkList(topology)).toEqual([
      "gpu0>gpu1 56.25",
      "gpu1>gpu0 56.25",
      "gpu0>pix.GPU0 24",
      "pix.GPU0>gpu0 24",
      "gpu1>pix.GPU0 24",
      "pix.GPU0>gpu1 24",
      "gpu2>pxb.GPU0 24",
      "pxb.GPU0>gpu2 24",
      "gpu3>cpu1 24",
      "cpu1>gpu3 24",
      "pxb.GPU0>cpu0 24",
      "cpu0>pxb.GPU0 24",
      "pix.GPU0>pxb.GPU0 24",
      "pxb.GPU0>pix.GPU0 24",
      "cpu0>cpu1 16",
      "cpu1>cpu0 16",
    ]);
    expect(topology.sources).toEqual([
      "nvidia-smi topo -m in m.txt",
      "each NVLink at the maker's 14.063 GB/s of a40, each way (NCCL counts 12 GB/s: --assume nvlink=12GB/s)",
      "PCIe and CPUs: included",
      "2 NICs left out: there is one box (--nodes)",
      "PCIe 4.0 x16 of a40, 24 GB/s as NCCL counts (--assume pcie=)",
      "CPU to CPU 16 GB/s, assumed: NCCL counts 16 for AMD, 6 to 40 for Intel (--assume socket=)",
      "latencies are model figures, not measured: nvlink 0.7 us, pcie 0.5 us, socket 0.5 us a link (--assume latency=)",
    ]);
  });

  it("leaves NVLink out with --gpu none, and brings PCIe in with --assume pcie", () => {
    expect(linkList(read(fixture, { gpu: "none" })).filter((link) => link.startsWith("gpu0>"))).toEqual([
      "gpu0>pix.GPU0 24",
    ]);
    const both = read(switched(2, 12), { bandwidth: { pcie: 12e9 } });
    expect(linkList(both).slice(2)).toEqual(["gpu0>cpu0 12", "cpu0>gpu0 12", "gpu1>cpu0 12", "cpu0>gpu1 12"]);
  });

  it("joins boxes by their nearest NICs; a shared one is a node", () => {
    const topology = read(fixture, { gpu: "a40", nodes: 2, bandwidth: { nic: 25e9 } });
    expect(topology.name).toBe("m:2");
    expect(topology.shape).toEqual([4, 2]);
    expect(topology.nodeTraits[7]).toEqual({ group: "box1" });
    const nics = linkList(topology).filter((link) => /NIC|net/.test(link) && !/box1/.test(link));
    expect(nics).toEqual([
      "NIC0-box0>pix.GPU0-box0 24",
      "pix.GPU0-box0>NIC0-box0 24",
      "NIC0-box0>net 25",
      "net>NIC0-box0 25",
      "NIC1-box0>cpu1-box0 24",
      "cpu1-box0>NIC1-box0 24",
      "NIC1-box0>net 25",
      "net>NIC1-box0 25",
    ]);
    expectConnected(topology);
  });

  it("gives each GPU a NIC of its own where the matrix has none", () => {
    const topology = read(switched(8, 12), { nodes: 2, bandwidth: { nic: 25e9 } });
    expect(isomorphic(topology, presetTopology("dgx-a100:2"))).toBe(true);
    expect(refusalFrom(() => read(switched(8, 12), { nodes: 2 }))).toEqual(
      missing("the bandwidth of nic0", "--assume"),
    );
    expect(refusalFrom(() => read(switched(8, 12), { nodes: 0 }))).toEqual(unexpected("nodes", 0, 65536));
  });

  it("reads the same whatever stands around and between the cells", () => {
    const plain = matrixText(4, () => "NV4", "\t", "0-15");
    const hash = topologyHash(read(plain));
    const esc = String.fromCharCode(27);
    const variants = [
      plain.replaceAll("\n", "\r\n"),
      plain.replaceAll("\t", "    "),
      plain.replace(
        /^\t(.*)$/m,
        (_, head: string) => `\t${head.replace(/GPU\d/g, (name) => `${esc}[4m${name}${esc}[0m`)}`,
      ),
      `\ufeff$ nvidia-smi topo -m\n\n${plain}\nLegend:\n\n  X    = Self\n$ ls\nGPU0 file\n`,
      plain.replace(/^/gm, "> "),
      plain.replaceAll("\n", "\n\n"),
      plain.replace("\tCPU Affinity", "").replaceAll("\t0-15", ""),
      plain.replace("CPU Affinity", "CPU Affinity\tNUMA Affinity\tGPU NUMA ID").replaceAll("0-15", "0-15\t0\t\tN/A"),
      plain.toUpperCase().replace("CPU AFFINITY", "CPU Affinity"),
    ];
    for (const text of variants) {
      expect(looksLikeNvidiaSmi(text)).toBe(true);
      expect(topologyHash(read(text))).toBe(hash);
    }
  });

  it("reads old names of NICs and of classes, without a legend", () => {
    const text =
      "\tGPU0\tGPU1\tmlx5_0\tCPU Affinity\nGPU0\tX\tSOC\tPHB\t0-7\nGPU1\tSOC\tX\tSOC\t8-15\nmlx5_0\tPHB\tSOC\tX\n";
    const topology = read(text, { nodes: 2, bandwidth: { nic: 12.5e9 } });
    expect(topology.nodeNames.filter((name) => name.endsWith("box1"))).toEqual([
      "cpu0-box1",
      "cpu1-box1",
      "mlx5_0-box1",
    ]);
  });

  it("puts a pair with NVLink on one CPU unless something says that it is on two", () => {
    const cpus = (cells: Record<string, string>): number =>
      read(
        matrixText(4, (a, b) => cells[`${a}${b}`] ?? "SYS"),
        { gpu: "a40", bandwidth: { pcie: 24e9 } },
      ).nodeNames.filter((name) => name.startsWith("cpu")).length;
    expect(cpus({ "01": "NV4", "23": "NV4" })).toBe(2);
    expect(cpus({ "01": "NV4", "23": "NV4", "02": "NODE", "13": "NODE" })).toBe(2);
    expect(cpus({})).toBe(4);
    expect(cpus({ "01": "NV1", "02": "NV1" })).toBe(3);
    expect(cpus({ "01": "NV1", "02": "NV1", "03": "NV1", "13": "NV1", "23": "NV1" })).toBe(2);
  });

  it("takes equal affinities for one CPU, and those to several NUMA nodes for none", () => {
    const cpus = (affinity: string): number => {
      const rows = matrixText(4, () => "SYS", "\t", affinity).split("\n");
      const header = rows[0].replace("CPU Affinity", "CPU Affinity\tNUMA Affinity\tGPU NUMA ID");
      const text = [header, ...rows.slice(1)].join("\n").replace(/^(GPU3.*\t)0-7/m, "$18-15");
      return read(text).nodeNames.filter((name) => name.startsWith("cpu")).length;
    };
    expect([cpus("0-7\t0\t\tN/A"), cpus("0-7\tN/A\tN/A"), cpus("0-7\t0-1\tN/A"), cpus("N/A\tN/A\tN/A")]).toEqual([
      1, 2, 4, 4,
    ]);
  });

  const two = "\tGPU0\tGPU1\nGPU0\tX\tNV2\nGPU1\tNV2\tX\n";
  it.each([
    ["no matrix", "hello", missing("m.txt")],
    ["a row missing", two.replace(/GPU1\tNV2.*\n/, ""), missing("GPU1 after m.txt line 2")],
    [
      "a row missing between others",
      matrixText(4, () => "NV4").replace(/\nGPU2.*/, ""),
      missing("GPU2 after m.txt line 3"),
    ],
    ["no rows", "\tGPU0\tGPU1\n", missing("GPU0 after m.txt line 1")],
    [
      "a row twice",
      `${two.replace("GPU1\tNV2\tX\n", "")}GPU0\tX\tNV2\n`,
      unexpected("m.txt line 3", "another row for the same GPU"),
    ],
    ["a cell missing", two.replace("X\tNV2", "X"), unexpected("m.txt line 2", 1, 2)],
    ["an unknown cell", two.replace("X\tNV2", "X\tFOO"), unexpected("GPU0 to GPU1 in m.txt line 2", "FOO")],
    ["no links in a cell", two.replaceAll("NV2", "NV0"), unexpected("GPU0 to GPU1 in m.txt line 2", "NV0")],
    ["a diagonal", two.replace("NV2\tX", "NV2\tNV2"), unexpected("GPU1 to GPU1 in m.txt line 3", "NV2")],
    ["asymmetry", two.replace("NV2\tX", "SYS\tX"), unexpected("GPU1 to GPU0 in m.txt line 3", "SYS", 2)],
    ["a name twice", "GPU0 GPU0\nGPU0 X SYS\n", unexpected("m.txt line 1", "GPU0 GPU0")],
    ["no model", two, missing("the GPUs of m.txt (NV2 in line 2 or below)", "--gpu")],
  ])("refuses %s in one sentence", (_, text, sentence) => {
    expect(refusalFrom(() => read(text))).toEqual(sentence);
  });

  it.each([
    ["bundles of three links, which no V100 has", "NV3", switched(3, 3)],
    ["six links to some and none to others", "NV6", matrixText(6, (a, b) => (a % 2 === b % 2 ? "NV6" : "SYS"))],
  ])("does not guess the model from %s", (_, bundle, text) => {
    expect(refusalFrom(() => read(text))).toEqual(missing(`the GPUs of m.txt (${bundle} in line 2 or below)`, "--gpu"));
  });

  it("refuses a GPU without NVLinks where the matrix shows some, and an unknown one", () => {
    expect(refusalFrom(() => read(two, { gpu: "l40s" }))).toEqual(refused("not-applicable", "gpu", "l40s"));
    expect(refusalFrom(() => read(two, { gpu: "a1000" }))).toEqual(refused("unknown-name", "gpu", "a1000", "a100"));
  });

  it("says which two cells differ, and between which lines a row is missing", () => {
    expect(() => read(two.replace("NV2\tX", "SYS\tX"))).toThrow(
      "m.txt: GPU0 to GPU1 is NV2 in line 2, but GPU1 to GPU0 is SYS in line 3; one of the two is wrong",
    );
    expect(() => read(matrixText(4, () => "NV4").replace(/\nGPU2.*/, ""))).toThrow(
      "m.txt has no row of GPU2, which belongs between lines 3 and 4",
    );
  });

  it("refuses a GPU with fewer NVLinks than the matrix shows, and says where it has more", () => {
    expect(refusalFrom(() => read(switched(8, 18), { gpu: "v100" }))).toEqual(
      refused("not-applicable", "gpu", "v100", 18),
    );
    expect(read(switched(8, 18), { gpu: "v100", bandwidth: { nvlink: 25e9 } }).npuCount).toBe(8);
    expect(() => read(switched(8, 18), { gpu: "v100" })).toThrow(/v100, which has 6 NVLinks.*GPUs with 18: h100/);
    const lacking = (gpu: string): boolean =>
      read(switched(8, 8), { gpu }).sources.join().includes("NVLinks are missing: 8");
    expect([lacking("h100"), lacking("h800")]).toEqual([true, false]);
  });

  it("is not taken for other tables", () => {
    expect(looksLikeNvidiaSmi(fixtureText("chain-of-three.rocm-smi.txt"))).toBe(false);
    expect(looksLikeNvidiaSmi("GPU0,GPU1,25\n")).toBe(false);
    expect(looksLikeNvidiaSmi("")).toBe(false);
  });

  it("answers any change of a file with a network or an InputError", () => {
    const files = sharedFiles("nccl-topo/nvidia-smi").map((name) => sharedText(`nccl-topo/nvidia-smi/${name}`));
    const texts = [fixture, switched(4, 12), ...files];
    const words = fc.constantFrom("NV18", "SYS", "X", "\n", "\t", "GPU9", "NV99999999", "PIX", "CPU Affinity", "\r");
    const changes = fc.array(anyTextChange(words), { minLength: 1, maxLength: 4 });
    const property = fc.property(fc.nat(), changes, fc.nat(2), (file, list, gpu) => {
      const text = list.reduce((now, change) => changedText(now, change, null), texts[file % texts.length]);
      const options = [{}, { gpu: "a100" }, { gpu: "none", nodes: 2, bandwidth: { nic: 25e9 } }][gpu];
      isRefused(() => expectConnected(readNvidiaSmi(text, "m.txt", options)));
    });
    fc.assert(property, { numRuns: runs(600), seed: 34 });
  });
});

describe.skipIf(!hasSharedData)("real matrices", () => {
  const real: readonly RealFile[] = [
    ["4gpu-node.txt", {}, [4, 1, 8, 192]],
    ["aws-p4d-8xa100.txt", {}, [8, 1, 16, 4800]],
    ["dgx-a100-8gpu-10nic.txt", {}, [8, 1, 16, 4800]],
    ["dgx-a100-8gpu-10nic.txt", { nodes: 2, bandwidth: { nic: 25e9 } }, [16, 3, 64, 10_400]],
    ["hgx-h100-8gpu.txt", {}, [8, 1, 16, 7200]],
    ["hgx-h100-8gpu.txt", { gpu: "b200" }, [8, 1, 16, 14_400]],
    ["pcie-8gpu-sys-tabs.txt", {}, [8, 2, 18, 416]],
    ["v100-sxm2-hybrid-cube-mesh-1nic-oldformat.txt", {}, [8, 0, 32, 1200]],
    ["v100-sxm2-hybrid-cube-mesh-1nic-oldformat.txt", { nodes: 2, bandwidth: { nic: 12.5e9 } }, [16, 3, 100, 2834]],
  ];
  const load = (name: string, options: TopologyOptions) =>
    readNvidiaSmi(sharedText(`nccl-topo/nvidia-smi/${name}`), name, options);

  testRealFiles("nccl-topo/nvidia-smi", real, looksLikeNvidiaSmi, readNvidiaSmi);

  it("have the optimum of the preset of the same machine", () => {
    for (const [name, preset] of [
      ["dgx-a100-8gpu-10nic.txt", "dgx-a100:1"],
      ["v100-sxm2-hybrid-cube-mesh-1nic-oldformat.txt", "dgx1"],
    ] as const) {
      const [mine, theirs] = [load(name, {}), presetTopology(preset)];
      const limit = (topology: typeof mine) =>
        limitWithBottleneck(kernels, topology, wholeCollective(topology, "allgather", 8 * 2 ** 20)).ps;
      expect(limit(mine)).toEqual(limit(theirs));
      expect(topologyHash(mine)).toBe(topologyHash(theirs));
    }
    const boxes = load("dgx-a100-8gpu-10nic.txt", { nodes: 2, bandwidth: { nic: 25e9 } });
    expect(isomorphic(boxes, presetTopology("dgx-a100:2"))).toBe(true);
  });
});
