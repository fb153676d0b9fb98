import type { Backend, Kernels } from "../contract/kernels.ts";
import { chooseKernels, type LoadedKernels, parseBackend } from "./choose.ts";
import { wasmKernels } from "./wasm.ts";

async function loadWasm(): Promise<Kernels> {
  // Written so that bundlers see the file and ship it.
  const response = await fetch(new URL("../../../wasm/build/banyan.wasm", import.meta.url));
  if (!response.ok) throw new Error(`the WebAssembly module does not load: ${response.status} ${response.url}`);
  return wasmKernels(await WebAssembly.compile(await response.arrayBuffer()));
}

/** Returns the kernels of the first backend that loads in a browser: wasm, js. See load.ts. */
export async function loadKernels(wanted?: Backend): Promise<LoadedKernels> {
  return chooseKernels(
    [
      { backend: "wasm", load: loadWasm, remedy: "serve banyan.wasm beside the bundle" },
      { backend: "js", load: async () => (await import("./js/kernels.ts")).jsKernels, remedy: "it is always there" },
    ],
    wanted === undefined ? undefined : { backend: parseBackend(wanted, "backend"), place: "backend" },
  );
}
