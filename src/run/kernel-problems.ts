import { InternalError } from "../base/errors.ts";
import type { Kernels } from "../engine/contract/kernels.ts";
import type { KernelName } from "../engine/kernels/problems.ts";
import { inlinePool } from "../engine/pool/inline.ts";
import type { Engine } from "../engine/types.ts";
import type { CollectiveKind } from "../model/collective/collective.ts";
import { presetTopology } from "../model/presets/preset.ts";
import type { SynthesizeOptions } from "../request/options.ts";
import { synthesize } from "./synthesize.ts";

/** What is asked of a kernel in a benchmark: the first problem that making a schedule hands to it. */
export interface KernelCase extends Pick<SynthesizeOptions, "algorithm" | "policy" | "chunks" | "switchDegree"> {
  readonly kernel: KernelName;
  readonly network: string;
  readonly collective: Exclude<CollectiveKind, "custom">;
  /** A backend that has no answer of its own: JavaScript leaves judging to `verifySchedule`. */
  readonly without?: "js";
}

/** A problem for each kernel that has a part in making schedules; none takes a backend more than a second or two. */
export const KERNEL_CASES: readonly KernelCase[] = [
  { kernel: "spread", network: "mesh:32x32", collective: "allgather", algorithm: "tacos", policy: "oldest" },
  { kernel: "match", network: "mesh:24x24@50,75GB/s", collective: "allgather", algorithm: "tacos", policy: "oldest" },
  { kernel: "relay", network: "mesh:10x10", collective: "alltoall", algorithm: "tacos", policy: "farthest" },
  { kernel: "place", network: "mesh:8x8", collective: "allreduce", algorithm: "tacos", policy: "oldest", chunks: 4 },
  { kernel: "period", network: "mesh:16x16", collective: "allreduce", algorithm: "tacos", chunks: 64 },
  { kernel: "rate", network: "mesh:16x16", collective: "allgather", algorithm: "forestcoll" },
  { kernel: "pack", network: "mesh:6x6", collective: "allgather", algorithm: "forestcoll" },
  { kernel: "partition", network: "dgx-a100:8", collective: "allreduce", algorithm: "ring" },
  { kernel: "balance", network: "torus:16x16", collective: "allgather", algorithm: "bfb" },
  { kernel: "concurrent", network: "mesh:6x6", collective: "alltoall", algorithm: "mcf" },
  { kernel: "replay", network: "mesh:24x24@50,75GB/s", collective: "allgather", algorithm: "tacos", policy: "oldest" },
  {
    ...{ kernel: "judge", network: "mesh:24x24@50,75GB/s", collective: "allgather", algorithm: "tacos" },
    ...{ policy: "oldest", without: "js" },
  },
];

class Found extends Error {
  readonly problem: object;
  constructor(problem: object) {
    super("the problem is known");
    this.problem = problem;
  }
}

/**
 * Returns the problem of a case, for one thread, and runs what comes before it on the kernels of the engine.
 * Throws InternalError where the kernel is not asked, CancelledError when `signal` aborts.
 */
export async function kernelProblem(
  engine: Engine,
  { kernel, network, without: _, ...options }: KernelCase,
  signal?: AbortSignal,
): Promise<object> {
  const kernels: Kernels = {
    ...engine.kernels,
    [kernel]: (problem: object) => {
      throw new Found("threads" in problem ? { ...problem, threads: 1 } : problem);
    },
  };
  const recording: Engine = { ...engine, kernels, pool: () => pool };
  const pool = inlinePool(kernels);
  try {
    await synthesize(recording, presetTopology(network), { ...options, sizeBytes: 2 ** 30, ...(signal && { signal }) });
  } catch (error) {
    if (error instanceof Found) return error.problem;
    throw error;
  }
  throw new InternalError(`${kernel} has no part in ${options.algorithm} on ${network}`);
}
