import { describe, expect, it } from "vitest";
import { InputError } from "../../src/base/errors.ts";
import type { Backend } from "../../src/engine/contract/kernels.ts";
import { chooseKernels } from "../../src/engine/kernels/choose.ts";
import { jsKernels } from "../../src/engine/kernels/js/kernels.ts";
import { loadKernels } from "../../src/engine/kernels/load.ts";
import { availableKernels } from "../support/backends.ts";
import { unexpected } from "../support/refusals.ts";

const NO_ADDON = { BANYAN_ADDON: "no/such/banyan.node" };

function candidate(backend: Backend, problem?: string) {
  const load = async () => {
    if (problem !== undefined) throw new Error(problem);
    return { ...jsKernels, backend };
  };
  return { backend, load, remedy: `make ${backend}` };
}

describe("loadKernels", () => {
  it("takes the first backend that is there, in the order native, wasm, js", async () => {
    const [first] = await availableKernels();
    const { backend, kernels } = await loadKernels(undefined, {});
    expect([backend, kernels.backend]).toEqual([first.backend, first.backend]);
  });

  it("says why it fell back", async () => {
    const { backend, reason } = await loadKernels(undefined, NO_ADDON);
    expect(backend).not.toBe("native");
    expect(reason).toContain("the native add-on is not built");
  });

  it("collects the reasons of every backend that it passed over", async () => {
    const loaded = await chooseKernels(
      [candidate("native", "no add-on"), candidate("wasm", "no module"), candidate("js")],
      undefined,
    );
    expect([loaded.backend, loaded.reason]).toEqual(["js", "no add-on; no module"]);
  });

  it("gives no reason when its first choice loaded", async () => {
    const loaded = await chooseKernels([candidate("native"), candidate("js")], undefined);
    expect(loaded).toEqual({ backend: "native", kernels: expect.anything() });
  });

  it("takes the backend that BANYAN_BACKEND names", async () => {
    expect((await loadKernels(undefined, { BANYAN_BACKEND: "js" })).kernels.backend).toBe("js");
  });

  it("lets the caller's choice win over BANYAN_BACKEND", async () => {
    expect((await loadKernels("js", { BANYAN_BACKEND: "wasm" })).kernels.backend).toBe("js");
  });

  it("fails loudly and says how to build a forced backend that is not there", async () => {
    const loading = loadKernels(undefined, { ...NO_ADDON, BANYAN_BACKEND: "native" });
    await expect(loading).rejects.toThrow(InputError);
    await expect(loading).rejects.toThrow(unexpected("BANYAN_BACKEND", "native"));
  });

  it("says when a file is there but is no add-on", async () => {
    const env = { BANYAN_ADDON: "package.json", BANYAN_BACKEND: "native" };
    await expect(loadKernels(undefined, env)).rejects.toThrow(unexpected("BANYAN_BACKEND", "native"));
  });

  it("refuses an unknown backend", async () => {
    const loading = loadKernels(undefined, { BANYAN_BACKEND: "gpu" });
    await expect(loading).rejects.toThrow(unexpected("BANYAN_BACKEND", "gpu"));
  });

  it("refuses a backend that this platform cannot have", async () => {
    const loading = chooseKernels([candidate("js")], { backend: "native", place: "backend" });
    await expect(loading).rejects.toThrow(InputError);
  });
});
