import type { MilpRunner } from "../../src/engine/contract/programs.ts";
import { bytesForMilp, loadInstance, MILP_BYTES } from "../../src/engine/milp/instance.ts";
import { solveMilp } from "../../src/engine/milp/job.ts";

/** Returns a runner that solves on the calling thread. */
export async function milpHere(): Promise<MilpRunner> {
  await loadInstance();
  return {
    maxBytes: MILP_BYTES,
    bytesFor: bytesForMilp,
    solve: async (problem, options) => solveMilp(await loadInstance(), problem, options),
  };
}
