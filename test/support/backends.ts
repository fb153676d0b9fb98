import { BACKENDS, type Backend, type Kernels } from "../../src/engine/contract/kernels.ts";
import { loadKernels } from "../../src/engine/kernels/load.ts";

/** Returns a backend's kernels, or why they cannot be had on this machine. */
export async function kernelsOrReason(backend: Backend): Promise<{ kernels?: Kernels; reason: string }> {
  try {
    return { kernels: (await loadKernels(backend)).kernels, reason: "" };
  } catch (error) {
    return { reason: error instanceof Error ? error.message : String(error) };
  }
}

/** Returns the kernels of every backend that this machine has; js is always among them. */
export async function availableKernels(): Promise<Kernels[]> {
  const all = await Promise.all(BACKENDS.map((backend) => kernelsOrReason(backend)));
  return all.flatMap(({ kernels }) => (kernels === undefined ? [] : [kernels]));
}
