import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { looksLikeRocmSmi, readRocmSmi } from "../../../../src/import/networks/gpu-boxes/rocm-smi.ts";
import type { TopologyOptions } from "../../../../src/import/networks/topology-options.ts";
import { presetTopology } from "../../../../src/model/presets/preset.ts";
import { topologyHash } from "../../../../src/model/topology/topology.ts";
import { anyTextChange, changedText } from "../../../support/changed-text.ts";
import {
  expectConnected,
  fixtureText,
  linkList,
  type RealFile,
  summaryOf,
  testRealFiles,
} from "../../../support/gpu-machines.ts";
import { missing, refusalFrom, unexpected } from "../../../support/refusals.ts";
import { runs } from "../../../support/runs.ts";
import { hasSharedData, sharedFiles, sharedText } from "../../../support/shared-data.ts";
import { isRefused } from "../../support.ts";

const fixture = fixtureText("chain-of-three.rocm-smi.txt");
const read = (text: string, options?: TopologyOptions) => readRocmSmi(text, "r.txt", options);

/** Returns the tables of a machine whose pairs are all alike. */
function uniform(gpus: number, weight: number, type: string): string {
  const names = Array.from({ length: gpus }, (_, g) => `GPU${g}`);
  const table = (title: string, cell: string): string =>
    `==== ${title} between two GPUs ====\n       ${names.join("   ")}\n${names
      .map((name, a) => [name, ...names.map((__, b) => (a === b ? "0" : cell))].join("   "))
      .join("\n")}\n\n`;
  return table("Weight", `${weight}`) + table("Link Type", type);
}

describe("rocm-smi --showtopo", () => {
  it("has a link for each xGMI pair of one hop by weight, and PCIe for the rest", () => {
    const topology = read(fixture, { gpu: "MI210" });
    expect(linkList(topology)).toEqual([
      "gpu0>gpu1 50",
      "gpu1>gpu0 50",
      "gpu1>gpu2 50",
      "gpu2>gpu1 50",
      "gpu0>cpu0 24",
      "cpu0>gpu0 24",
      "gpu1>cpu0 24",
      "cpu0>gpu1 24",
      "gpu2>cpu0 24",
      "cpu0>gpu2 24",
      "gpu3>cpu1 24",
      "cpu1>gpu3 24",
      "cpu0>cpu1 16",
      "cpu1>cpu0 16",
    ]);
    expect(topology.sources).toEqual([
      "rocm-smi --showtopo in r.txt",
      "each xGMI link at the maker's 50 GB/s of mi210, each way (RCCL counts 36 GB/s: --assume xgmi=36GB/s)",
      "1 link a pair: rocm-smi does not tell their number, topologies that RCCL dumps do",
      "1 pair of a weight of 30 or more, without a link of their own",
      "PCIe and CPUs: included",
      "PCIe 4.0 x16 of mi210, 24 GB/s as NCCL counts (--assume pcie=)",
      "CPU to CPU 16 GB/s, assumed: NCCL counts 16 for AMD, 6 to 40 for Intel (--assume socket=)",
      "latencies are model figures, not measured: xgmi 1 us, pcie 0.5 us, socket 0.5 us a link (--assume latency=)",
    ]);
  });

  it("is the network of the preset where 8 MI300X are fully connected", () => {
    for (const preset of ["mi300x", "mi325x", "mi355x"]) {
      expect(topologyHash(read(uniform(8, 15, "XGMI"), { gpu: preset }))).toBe(topologyHash(presetTopology(preset)));
    }
  });

  it("takes two links a pair for 4 MI300A, what --assume says for a link, and none with --gpu none", () => {
    const text = uniform(4, 15, "XGMI");
    expect(summaryOf(read(text, { gpu: "mi300a" }))).toEqual([4, 0, 12, 1536]);
    expect(summaryOf(read(text, { bandwidth: { xgmi: 10e9 } }))).toEqual([4, 0, 12, 120]);
    expect(summaryOf(read(text, { gpu: "none" }))).toEqual([4, 1, 8, 192]);
    expect(summaryOf(read(text, { gpu: "mi300a", nodes: 3, bandwidth: { nic: 25e9 } }))).toEqual([12, 1, 60, 5208]);
  });

  it("needs no model where there is no xGMI, and puts GPUs of no known NUMA node on one CPU", () => {
    expect(summaryOf(read(uniform(3, 40, "PCIE")))).toEqual([3, 1, 6, 144]);
    const untold = read(`${uniform(3, 40, "PCIE")}GPU[1]\t\t: (Topology) Numa Node: -1\n`);
    expect(summaryOf(untold)).toEqual([3, 1, 6, 144]);
    expect(untold.nodeNames[3]).toBe("cpu0");
  });

  it("reads Windows line ends and text around the tables", () => {
    const hash = topologyHash(read(fixture, { gpu: "mi210" }));
    for (const text of [fixture.replaceAll("\n", "\r\n"), `$ rocm-smi --showtopo\n${fixture}$\n`]) {
      expect(looksLikeRocmSmi(text)).toBe(true);
      expect(topologyHash(read(text, { gpu: "mi210" }))).toBe(hash);
    }
  });

  const two = uniform(2, 15, "XGMI");
  const three = uniform(3, 15, "XGMI");
  it.each([
    ["no tables", "x", missing("r.txt", "Weight between two GPUs")],
    ["no types", two.slice(0, two.indexOf("==== Link")), missing("r.txt", "Link Type between two GPUs")],
    [
      "no header",
      "Weight between two GPUs\nLink Type between two GPUs",
      unexpected("r.txt line 2", "Link Type between two GPUs"),
    ],
    ["nothing below", "Link Type between two GPUs\nWeight between two GPUs", unexpected("r.txt line 2", "the end")],
    [
      "a row missing",
      two.replace(/GPU1.*15.*\n/, ""),
      unexpected("r.txt line 5", "==== Link Type between two GPUs ===="),
    ],
    ["a cell missing", two.replace("GPU0   0   15", "GPU0   0"), unexpected("r.txt line 3", 1, 2)],
    ["no weight", two.replace("15", "-1"), unexpected("GPU0 to GPU1 in r.txt line 3", "-1")],
    ["no type", two.replace("XGMI", "X"), unexpected("GPU0 to GPU1 in r.txt line 8", "X")],
    ["asymmetry", two.replace("15", "72"), unexpected("GPU1 to GPU0 in r.txt line 4", "15", 72, 3)],
    [
      "tables of two sizes",
      two.slice(0, two.indexOf("==== Link")) + three.slice(three.indexOf("==== Link")),
      unexpected("the table of link types in r.txt line 8", 3, 2),
    ],
    ["no model", two, missing("the GPUs of r.txt", "--gpu")],
  ])("refuses %s in one sentence", (_, text, sentence) => {
    expect(refusalFrom(() => read(text))).toEqual(sentence);
  });

  it("refuses a model without xGMI", () => {
    expect(refusalFrom(() => read(two, { gpu: "h100" }))).toEqual(unexpected("gpu", "h100"));
  });

  it("answers any change of a file with a network or an InputError", () => {
    const files = sharedFiles("nccl-topo/rocm-smi").map((name) => sharedText(`nccl-topo/rocm-smi/${name}`));
    const texts = [fixture, uniform(3, 15, "XGMI"), ...files];
    const words = fc.constantFrom("XGMI", "PCIE", "GPU0", "\n", "\r", "Numa Node: 999999", "15", "between two GPUs");
    const changes = fc.array(anyTextChange(words), { minLength: 1, maxLength: 4 });
    const property = fc.property(fc.nat(), changes, (file, list) => {
      const text = list.reduce((now, change) => changedText(now, change, null), texts[file % texts.length]);
      isRefused(() => expectConnected(readRocmSmi(text, "r.txt", { gpu: "mi100" })));
    });
    fc.assert(property, { numRuns: runs(600), seed: 35 });
  });
});

describe.skipIf(!hasSharedData)("real tables of rocm-smi", () => {
  const real: readonly RealFile[] = [
    ["4gpu-pcie-showtopo.txt", {}, [4, 1, 8, 192]],
    ["mi100-8gpu-2hives-showtopo.txt", { gpu: "mi100" }, [8, 2, 42, 1520]],
    ["mi300a-4gpu-showtopo.txt", { gpu: "mi300a" }, [4, 0, 12, 1536]],
  ];

  testRealFiles("nccl-topo/rocm-smi", real, looksLikeRocmSmi, readRocmSmi);
});
