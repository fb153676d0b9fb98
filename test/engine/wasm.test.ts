import { describe, expect, it, vi } from "vitest";
import { jsKernels } from "../../src/engine/kernels/js/kernels.ts";
import { wasmKernels } from "../../src/engine/kernels/wasm.ts";
import { availableKernels } from "../support/backends.ts";
import { allGather, mesh } from "../support/networks.ts";
import { kernelContract } from "./kernels.contract.ts";

await kernelContract("wasm");

const module = (await availableKernels()).find(({ backend }) => backend === "wasm")?.module;

describe.runIf(module !== undefined)("WebAssembly without memory", () => {
  const problem = allGather(mesh(4, 3, 1000), 1);
  const expected = jsKernels.match(problem);

  it("says so where there is no room for an instance, and works once there is", () => {
    const kernels = wasmKernels(module as WebAssembly.Module);
    const refused = vi.spyOn(WebAssembly, "Instance").mockImplementation(function refuse(): never {
      throw new RangeError("no room");
    });
    expect(() => kernels.match(problem)).toThrow("ran out of memory");
    refused.mockRestore();
    expect(kernels.match(problem)).toEqual(expected);
  });

  it("takes a fresh instance after one whose memory was full", () => {
    const kernels = wasmKernels(module as WebAssembly.Module);
    const Real = WebAssembly.Instance;
    let instances = 0;
    const made = vi.spyOn(WebAssembly, "Instance").mockImplementation(function make(compiled, imports) {
      const { exports } = new Real(compiled, imports);
      return { exports: instances++ === 0 ? { ...exports, banyan_alloc: () => 0 } : exports };
    } as (compiled: WebAssembly.Module, imports?: WebAssembly.Imports) => WebAssembly.Instance);
    expect(() => kernels.match(problem)).toThrow("ran out of memory");
    expect(kernels.match(problem)).toEqual(expected);
    expect(kernels.match(problem)).toEqual(expected);
    made.mockRestore();
    expect(instances).toBe(2);
  });
});
