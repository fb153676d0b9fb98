import type { LpSolver } from "../../engine/milp/lp.ts";
import { InternalError } from "../../errors.ts";
import type { Topology } from "../../model/topology.ts";
import type { NetworkSymmetry } from "../../model/tree-flow.ts";
import type { AllToAllFlow, FlowRunner } from "./flow-types.ts";

export type { AllToAllFlow, FlowRunner } from "./flow-types.ts";

export interface FlowOptions {
  /** A group of maps that takes every NPU to every other; undefined: looked for. Not used with demands. */
  readonly symmetry?: NetworkSymmetry | null;
}

/**
 * Returns the maximum concurrent flow of an all-to-all, proved to be within `gap` (0.01: 1 %) of the optimum. `demand` [NPUs *
 * NPUs], row by source, whole numbers, the diagonal does not count; null: one unit to every other NPU. Throws InfeasibleError
 * where a demand has no path, or none is above 0.
 */
export async function allToAllFlow(
  topology: Topology,
  demand: Float64Array | null,
  gap: number,
  runner: FlowRunner,
  lp: LpSolver | null,
  options: FlowOptions = {},
): Promise<AllToAllFlow> {
  throw new InternalError(`no flow yet of ${topology.name} ${demand} ${gap} ${runner} ${lp} ${options.symmetry}`);
}
