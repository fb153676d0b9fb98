import { openHighs } from "./engine/milp/highs.ts";
import type { Engine } from "./engine/types.ts";
import { linkCount, type Topology } from "./model/topology.ts";
import { runnerFor } from "./runner.ts";
import { type AllToAllFlow, allToAllFlow } from "./synthesize/alltoall/flow.ts";

export interface AllToAllOptions {
  /** How near to the optimum the flow has to be proved: 0.01 for 1 %. */
  readonly gap?: number;
  /** [NPUs * NPUs] what each NPU sends to each, row by source, whole numbers; one unit to every other without it. */
  readonly demand?: Float64Array | null;
  readonly signal?: AbortSignal;
}

const DEFAULT_GAP = 0.01;

/**
 * Returns the flow of an all-to-all on a network with its rate and the bound that no flow beats, both exact, in bytes per second
 * for one unit of demand (allToAllFlow). Throws InputError, InfeasibleError, CancelledError.
 */
export async function allToAllOn(
  engine: Engine,
  topology: Topology,
  { gap = DEFAULT_GAP, demand = null, signal }: AllToAllOptions = {},
): Promise<AllToAllFlow> {
  const { runner, dispose } = runnerFor(engine, topology.npuCount * linkCount(topology), signal, () => undefined);
  try {
    return await allToAllFlow(topology, demand, gap, runner, await openHighs());
  } finally {
    dispose();
  }
}
