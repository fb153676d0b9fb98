import { expect, it } from "vitest";
import { gpuModelNamedIn } from "../../../src/model/topology/gpu-models.ts";

it.each([
  ["NVIDIA A100-SXM4-80GB", "A100"],
  ["H200x8 NVLink4", "H200"],
  ["dgx-h100:4", "H100"],
  ["p4d:2", "A100"],
  ["dgx1", "V100"],
  ["AMD Instinct MI300X", "MI300"],
  ["mi300x", "MI300"],
  ["NVIDIA GB200", "GB200"],
  ["gb200-nvl72", "GB200"],
  ["torus:8x8x8", null],
  ["switch:8@100GB/s", null],
  ["a1000-box", null],
])("gpuModelNamedIn of %s is %s", (name, model) => {
  expect(gpuModelNamedIn(name)).toBe(model);
});
