import { InternalError } from "../base/errors.ts";
import { openHighs } from "../engine/milp/highs.ts";
import type { Engine } from "../engine/types.ts";
import type { Bound } from "../model/bounds/witness.ts";
import type { Collective } from "../model/collective/collective.ts";
import { type Traffic, trafficOf } from "../model/collective/traffic.ts";
import { compare, divide, multiply, rational, toNumber } from "../model/numbers/rational.ts";
import { PS_PER_SECOND } from "../model/numbers/units.ts";
import { networkSymmetry } from "../model/symmetry/network-symmetry.ts";
import { linkCount, type Topology } from "../model/topology/topology.ts";
import type { NetworkSymmetry } from "../model/trees/tree-flow.ts";
import { flowBound } from "../synthesize/alltoall/alltoall.ts";
import { sampledLengths } from "../synthesize/alltoall/dual.ts";
import { type AllToAllFlow, allToAllFlow, type FlowRunner } from "../synthesize/alltoall/flow.ts";
import { orbitsFor } from "../synthesize/alltoall/orbits.ts";
import { provenLimitPs } from "../verify/flows/flow-limit.ts";
import { partitionFaults } from "../verify/flows/partition-limit.ts";
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

/**
 * NPUs by links. Up to the first the flow of all NPUs is found, up to the second that of one for each orbit where these are no
 * more than the first, up to the third that of a sample, in seconds.
 */
const MOST_FLOWS = 3e5;
const MOST_WITH_ORBITS = 1.5e6;
const MOST_SAMPLED = 1.2e9;
/** Sampled lengths that seem to prove less than this part of what cuts prove are not judged. */
const WORTH_JUDGING = 0.9;

/** The greatest limit that was found in seconds. */
export interface KnownLimit {
  readonly limit: Bound;
  /** In words: what it was found by, where that leaves open whether a greater one may be provable; null elsewhere. */
  readonly foundBy: string | null;
}

/**
 * Returns the limit of a collective: where it is an all-to-all(v), the greater one of what cuts (limitWithBottleneck) and what a
 * flow proves: that of all NPUs where it takes seconds, or few stand for all by symmetry, else that of a sample, which
 * `foundBy` says. Throws InfeasibleError, CancelledError.
 */
export async function limitWithFlow(
  engine: Engine,
  topology: Topology,
  collective: Collective,
  signal?: AbortSignal,
): Promise<KnownLimit> {
  const cut = limitWithBottleneck(engine.kernels, topology, collective);
  const { kind, groupSize } = collective;
  const { npuCount } = topology;
  if (kind !== "custom" && (kind !== "alltoall" || groupSize < 2)) return { limit: cut, foundBy: null };
  const traffic = trafficOf(collective, npuCount);
  if (traffic === null) return { limit: cut, foundBy: null };
  const flows = npuCount * linkCount(topology);
  const symmetry = traffic.each === null ? null : networkSymmetry(topology);
  const orbits =
    traffic.each !== null && symmetry === null && flows <= MOST_WITH_ORBITS ? orbitsFor(topology, null) : undefined;
  const standing = orbits === undefined ? npuCount : orbits.sources.length;
  const isWhole = symmetry !== null || standing * linkCount(topology) <= MOST_FLOWS;
  if (!isWhole && flows > MOST_SAMPLED)
    return {
      limit: cut,
      foundBy: `cuts alone: a flow of ${npuCount} NPUs over ${linkCount(topology)} links takes long, and a greater one may be provable`,
    };
  const { runner, dispose } = runnerFor(engine, flows, signal, () => undefined);
  try {
    if (!isWhole) return await sampledLimit(topology, collective, traffic, cut, runner);
    const flow = await flowBound(topology, collective, traffic, { runner, lp: openHighs }, { symmetry, orbits });
    return { limit: flow === null ? cut : greaterLimit(topology, collective, cut, flow, symmetry), foundBy: null };
  } finally {
    dispose();
  }
}

/** Returns the greater one of a limit by cuts and what lengths prove that the flow of a sample gives; the judge says what that is. */
async function sampledLimit(
  topology: Topology,
  collective: Collective,
  traffic: Traffic,
  cut: Bound,
  runner: FlowRunner,
): Promise<KnownLimit> {
  const perChunk = multiply(collective.chunkBytes, rational(PS_PER_SECOND));
  const known = toNumber(divide(perChunk, cut.ps));
  const found = await sampledLengths(topology, traffic, known, runner);
  if (found === null) return { limit: cut, foundBy: null };
  const { lengths, sources, senders, about, isNear } = found;
  const few =
    sources < senders ? `a flow in which ${sources} NPUs stand for ${senders}` : "a flow that is not the greatest";
  const foundBy = isNear ? null : `cuts and ${few}: a greater one may be provable`;
  const proven = about * WORTH_JUDGING > known ? null : provenLimitPs(topology, collective, lengths);
  if (proven === null || compare(proven, cut.ps) <= 0) return { limit: cut, foundBy };
  return { limit: { ps: proven, witness: { kind: "lengths", lengths: Array.from(lengths) } }, foundBy };
}

/**
 * Returns the greater of two limits, the second proved by the lengths of an all-to-all(v) or by a partition, which are judged.
 * Throws InternalError where they prove less than is said.
 */
export function greaterLimit(
  topology: Topology,
  collective: Collective,
  cut: Bound,
  found: Bound,
  symmetry: NetworkSymmetry | null = null,
): Bound {
  const { witness, ps } = found;
  if (compare(ps, cut.ps) <= 0) return cut;
  if (witness.kind === "partition") {
    const [fault] = partitionFaults(topology, collective, found);
    if (fault !== undefined) throw new InternalError(`a limit that its partition does not prove: ${fault}`);
    return found;
  }
  const proven =
    witness.kind === "lengths" ? provenLimitPs(topology, collective, Int32Array.from(witness.lengths), symmetry) : null;
  if (proven === null || compare(proven, ps) < 0) throw new InternalError("a limit that its lengths do not prove");
  return found;
}
