import { InternalError } from "../base/errors.ts";
import { openHighs } from "../engine/milp/highs.ts";
import type { Engine } from "../engine/types.ts";
import type { Bound } from "../model/bounds/witness.ts";
import { type Collective, membersOf } from "../model/collective/collective.ts";
import { compare } from "../model/numbers/rational.ts";
import { networkSymmetry } from "../model/symmetry/network-symmetry.ts";
import { linkCount, type Topology } from "../model/topology/topology.ts";
import { flowBound } from "../synthesize/alltoall/alltoall.ts";
import { type AllToAllFlow, allToAllFlow } from "../synthesize/alltoall/flow.ts";
import { provenLimitPs } from "../verify/flows/flow-limit.ts";
import { limitWithBottleneck } from "./bottleneck.ts";
import { runnerFor } from "./threads/runner.ts";

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

/** Flows of larger problems take too long for a limit in passing: chunks, and NPUs by links, more where one NPU stands for all. */
const MOST_CHUNKS = 4e6;
const MOST_FLOWS = 3e5;
const MOST_SYMMETRIC_FLOWS = 5e6;

/**
 * Returns the limit of a collective: where it is an all-to-all(v) of a size that takes seconds, the greater one of what cuts
 * (limitWithBottleneck) and what the flow proves. Throws InfeasibleError, CancelledError.
 */
export async function limitWithFlow(
  engine: Engine,
  topology: Topology,
  collective: Collective,
  signal?: AbortSignal,
): Promise<Bound> {
  const cut = limitWithBottleneck(engine.kernels, topology, collective);
  const { kind, chunkCount, groupSize } = collective;
  if (kind !== "custom" && (kind !== "alltoall" || groupSize < 2)) return cut;
  const flows = topology.npuCount * linkCount(topology);
  if (chunkCount > MOST_CHUNKS || flows > MOST_SYMMETRIC_FLOWS || !isUnicast(collective)) return cut;
  if (flows > MOST_FLOWS && networkSymmetry(topology) === null) return cut;
  const { runner, dispose } = runnerFor(engine, flows, signal, () => undefined);
  try {
    const flow = await flowBound(topology, collective, { runner, lp: openHighs });
    return flow === null ? cut : greaterLimit(topology, collective, cut, flow);
  } finally {
    dispose();
  }
}

/**
 * Returns the greater of two limits of an all-to-all(v), the second proved by lengths, which are judged. Throws InternalError where
 * they prove less than is said.
 */
export function greaterLimit(topology: Topology, collective: Collective, cut: Bound, flow: Bound): Bound {
  const { witness, ps } = flow;
  if (compare(ps, cut.ps) <= 0) return cut;
  const proven =
    witness.kind === "lengths" ? provenLimitPs(topology, collective, Int32Array.from(witness.lengths)) : null;
  if (proven === null || compare(proven, ps) < 0) throw new InternalError("a limit that its lengths do not prove");
  return flow;
}

/** Returns whether every chunk goes from one NPU to one. */
function isUnicast(collective: Collective): boolean {
  const { chunkCount, pre, post, reduces } = collective;
  for (let chunk = 0; chunk < chunkCount; chunk++) {
    if (membersOf(collective, pre, chunk).length !== 1 || membersOf(collective, post, chunk).length !== 1) return false;
  }
  return !reduces;
}
