import { describe, expect, it } from "vitest";
import { presetTopology } from "../../../src/model/presets/preset.ts";
import {
  boardOf,
  CUBE_MESH_PAIRS,
  GPU_MODELS,
  gpuModel,
  pcieBytesPerSecond,
} from "../../../src/model/topology/gpu-models.ts";
import { refused } from "../../support/refusals.ts";

describe("gpuModel", () => {
  it.each([
    ["a100", "a100"],
    ["A100-SXM4-80GB", "a100"],
    ["NVIDIA A100-SXM4-40GB", "a100"],
    ["NVIDIA A100 80GB PCIe", "a100-pcie"],
    ["A100-PCIE-40GB", "a100-pcie"],
    ["NVIDIA H100 80GB HBM3", "h100"],
    ["H100 NVL", "h100-nvl"],
    ["NVIDIA H200", "h200"],
    ["Tesla V100-SXM2-16GB", "v100"],
    ["Tesla V100-PCIE-32GB", "v100-pcie"],
    ["NVIDIA A10G", "a10g"],
    ["NVIDIA A10", "a10"],
    ["NVIDIA GeForce RTX 3090", "rtx-3090"],
    ["rtx3090", "rtx-3090"],
    ["NVIDIA RTX A6000", "rtx-a6000"],
    ["a6000", "rtx-a6000"],
    ["rtx_pro_6000", "rtx-pro-6000"],
    ["AMD Instinct MI300X OAM", "mi300x"],
    ["AMD Instinct MI250X/MI250", "mi250"],
    ["mi-100", "mi100"],
    ["GB200", "gb200"],
  ])("knows %s as %s", (text, name) => {
    expect(gpuModel(text).name).toBe(name);
  });

  it("knows every model by its own name", () => {
    for (const [name, model] of GPU_MODELS) expect(gpuModel(name)).toBe(model);
  });

  it.each(["", "a1000", "x", "sxm4", "none", "h-"])("refuses %j with the list", (text) => {
    expect(() => gpuModel(text)).toThrow(refused("unknown-name", "gpu", text, "p100, v100, v100-pcie, t4, a100,"));
  });

  it("has a rate for links where there are links, and no board that takes more links than a GPU has", () => {
    for (const { link, links, linkBytesPerSecond, countedBytesPerSecond, boards } of GPU_MODELS.values()) {
      expect([links > 0, linkBytesPerSecond > 0, countedBytesPerSecond > 0]).toEqual(Array(3).fill(link !== null));
      expect(countedBytesPerSecond).toBeLessThanOrEqual(linkBytesPerSecond);
      expect(Number.isInteger(linkBytesPerSecond)).toBe(true);
      for (const { gpus, wiring, linksPerPair = 0 } of boards) {
        if (wiring === "mesh") expect(linksPerPair * ((gpus as number) - 1)).toBeLessThanOrEqual(links);
        else expect(linksPerPair).toBe(0);
      }
    }
  });

  it("has the ports of the presets' NVSwitches and the cables of DGX-1", () => {
    for (const [name, preset] of [
      ["a100", "dgx-a100"],
      ["h100", "dgx-h100"],
      ["h200", "hgx-h200"],
      ["b200", "hgx-b200"],
      ["b300", "hgx-b300"],
      ["gb200", "gb200-nvl72"],
      ["v100", "dgx2"],
    ]) {
      const { links, linkBytesPerSecond } = gpuModel(name);
      const { linkBytesPerSecond: ports, nodeTraits, npuCount } = presetTopology(preset);
      expect(links * linkBytesPerSecond).toBe(ports[0]);
      expect(gpuModel(name).inNetwork).toBe(nodeTraits[npuCount].multicast === true);
    }
    const used = new Int32Array(8);
    for (const [a, b, count] of CUBE_MESH_PAIRS) for (const gpu of [a, b]) used[gpu] += count;
    expect([...used]).toEqual(Array(8).fill(6));
  });

  it("knows boards by the number of GPUs", () => {
    const wiring = (name: string, gpus: number) => boardOf(gpuModel(name), gpus)?.wiring ?? null;
    expect([wiring("v100", 8), wiring("v100", 16), wiring("v100", 5)]).toEqual(["cube-mesh", "switch", null]);
    expect([wiring("a100", 4), wiring("a100", 8), wiring("mi300x", 8), wiring("mi250", 8)]).toEqual([
      "mesh",
      "switch",
      "mesh",
      null,
    ]);
  });

  it("counts PCIe as NCCL does: 12 GB/s for 3.0, twice as much a generation", () => {
    expect([3, 4, 5, 6].map(pcieBytesPerSecond)).toEqual([12e9, 24e9, 48e9, 96e9]);
  });
});
