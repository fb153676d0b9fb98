import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { optionName } from "../../base/option-names.ts";
import type { Backend, Kernels } from "../contract/kernels.ts";
import { type Candidate, chooseKernels, type LoadedKernels, parseBackend } from "./choose.ts";
import { addonArguments } from "./fields.ts";
import { compiledKernels, type KernelName } from "./problems.ts";
import { wasmKernels } from "./wasm.ts";

// The same depth below the package's root in src/ and in dist/.
const ADDON = new URL("../../../native/build/Release/banyan.node", import.meta.url);
const MODULE = new URL("../../../wasm/build/banyan.wasm", import.meta.url);

type Environment = Readonly<Record<string, string | undefined>>;

/** BANYAN_ADDON names another build of the add-on, for example one with sanitizers. */
function loadNative(env: Environment): Kernels {
  const file = env["BANYAN_ADDON"] ?? fileURLToPath(ADDON);
  if (!existsSync(file)) throw new Error("the native add-on is not built");
  try {
    return nativeKernels(createRequire(import.meta.url)(file) as Addon);
  } catch (error) {
    throw new Error(`the native add-on does not load: ${error instanceof Error ? error.message : error}`);
  }
}

async function loadWasm(): Promise<Kernels> {
  const file = fileURLToPath(MODULE);
  if (!existsSync(file)) throw new Error("the WebAssembly module is not built");
  try {
    return wasmKernels(await WebAssembly.compile(await readFile(file)));
  } catch (error) {
    throw new Error(`the WebAssembly module does not load: ${error instanceof Error ? error.message : error}`);
  }
}

/** Returns every backend of this platform, the fastest first. */
export function candidates(env: Environment = process.env): readonly Candidate[] {
  return [
    { backend: "native", load: async () => loadNative(env), remedy: "build it with `npm run build:native`" },
    { backend: "wasm", load: loadWasm, remedy: "build it with `npm run build:wasm`" },
    { backend: "js", load: async () => (await import("./js/kernels.ts")).jsKernels, remedy: "it is always there" },
  ];
}

/**
 * Returns the kernels of the first backend that loads: native, wasm, js. `wanted` or else BANYAN_BACKEND forces one and
 * throws an InputError when it is unknown or cannot be had.
 */
export async function loadKernels(wanted?: Backend, env: Environment = process.env): Promise<LoadedKernels> {
  const [text, place] =
    wanted === undefined ? [env["BANYAN_BACKEND"], "BANYAN_BACKEND"] : [wanted, optionName("backend")];
  const choice = text === undefined || text === "" ? undefined : { backend: parseBackend(text, place), place };
  return chooseKernels(candidates(env), choice);
}

/** What native/node/addon.cpp exports: flat arguments (`addonArguments`), the status back. */
export type Addon = Readonly<Record<KernelName, (...args: unknown[]) => number>>;

/** Returns the kernels of a loaded add-on. They read and write the caller's arrays in place, shared memory too. */
export const nativeKernels = (addon: Addon): Kernels =>
  compiledKernels("native", (name, takes, gives, cancel) => addon[name](...addonArguments(takes, gives, cancel)));
