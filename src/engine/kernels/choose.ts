import { InputError } from "../../base/errors.ts";
import type { Place } from "../../base/option-names.ts";
import { BACKENDS, type Backend, type Kernels } from "../contract/kernels.ts";

/** The kernels that were loaded, and why not a faster backend: absent when the first choice loaded. */
export interface LoadedKernels {
  readonly kernels: Kernels;
  readonly backend: Backend;
  readonly reason?: string;
}

/** A backend and how to load it; `load` rejects with an error whose message says why it cannot be had. */
export interface Candidate {
  readonly backend: Backend;
  load(): Promise<Kernels>;
  /** The command that makes it. */
  readonly remedy: string;
}

/** Returns a backend's name, checked; throws an InputError for an unknown one. `place` is where it was written. */
export function parseBackend(text: string, place: Place): Backend {
  const backend = BACKENDS.find((name) => name === text);
  if (backend === undefined) throw new InputError(place, "native, wasm or js", text);
  return backend;
}

/**
 * Returns the kernels of the first candidate that loads, or of the one that is wanted. Throws an InputError that names
 * the remedy when the wanted one does not load.
 */
export async function chooseKernels(
  candidates: readonly Candidate[],
  wanted: { readonly backend: Backend; readonly place: Place } | undefined,
): Promise<LoadedKernels> {
  const reasons: string[] = [];
  for (const candidate of candidates) {
    const { backend, remedy } = candidate;
    if (wanted !== undefined && wanted.backend !== backend) continue;
    try {
      const kernels = await candidate.load();
      return reasons.length === 0 ? { kernels, backend } : { kernels, backend, reason: reasons.join("; ") };
    } catch (error) {
      reasons.push(error instanceof Error ? error.message.split("\n")[0] : String(error));
      if (wanted === undefined) continue;
      throw new InputError(wanted.place, `a backend that loads (${reasons.join("; ")}: ${remedy})`, backend);
    }
  }
  throw new InputError(wanted?.place ?? "backend", "a backend that runs here", wanted?.backend);
}
