import { InputError } from "../../base/errors.ts";
import type { Collective } from "../../model/collective/collective.ts";
import type { LineAlgorithm, NetworkDimension } from "../../model/dimensions/dimensions.ts";
import { dimensionsOf } from "../../model/dimensions/dimensions-of.ts";
import { topologyAware } from "../../model/dimensions/line-steps.ts";
import { divide, multiply, rational } from "../../model/numbers/rational.ts";
import { PHASE_ALL_GATHER, PHASE_REDUCE_SCATTER } from "../../model/phases/phase-schedule.ts";
import { type PhaseTimes, phaseTimes } from "../../model/phases/phase-times.ts";
import type { Topology } from "../../model/topology/topology.ts";
import type { PhaseRequest } from "../phase-maker.ts";

/** Chunks that are worth having one by one: beyond, a chunk is smaller than a message's header. */
const MOST_CHUNKS = 2 ** 16;

/** A collective over dimensions, with what its phases cost. */
export interface PhaseProblem {
  readonly topology: Topology;
  readonly collective: Collective;
  readonly dimensions: readonly NetworkDimension[];
  /** [dimensions] */
  readonly algorithms: readonly LineAlgorithm[];
  readonly chunks: number;
  /** Phases of a chunk that are reduce-scatters; they come first. */
  readonly scatters: number;
  /** Phases of a chunk: one or two a dimension. */
  readonly perChunk: number;
  /** Returns what a phase costs where `holders` NPUs share what is moved of a chunk (before it scatters, after it gathers). */
  costs(dimension: number, op: number, holders: number): PhaseTimes;
}

/** Returns the op of the k-th phase of a chunk. */
export const opAt = ({ scatters }: PhaseProblem, k: number): number =>
  k < scatters ? PHASE_REDUCE_SCATTER : PHASE_ALL_GATHER;

/** Returns what a schedule of phases needs and does not find; null where it can be made. */
export function refusal(topology: Topology, { groupCount, groupSize, groupMembers }: Collective): string | null {
  if (dimensionsOf(topology) === null) {
    return "a product of rings, lines, fully connected and switch dimensions with equal links in each";
  }
  const everyone =
    groupCount === 1 && groupSize === topology.npuCount && groupMembers.every((npu, rank) => npu === rank);
  return everyone ? null : "one group of all NPUs in their order";
}

/** Returns the problem of a request. Throws InputError where there are no dimensions, and for offload without switches that sum. */
export function phaseProblem({ topology, collective, offload }: PhaseRequest, name: string): PhaseProblem {
  const missing = refusal(topology, collective);
  const dimensions = dimensionsOf(topology);
  if (missing !== null || dimensions === null)
    throw new InputError("the topology", `${missing} (${name})`, topology.name);
  if (!["allgather", "reducescatter", "allreduce"].includes(collective.kind)) {
    throw new InputError("the collective", `all-gather, reduce-scatter or all-reduce (${name})`, collective.kind);
  }
  if (offload && !dimensions.some(({ inNetwork }) => inNetwork)) {
    throw new InputError("--offload", "a dimension whose switches sum and duplicate", topology.name);
  }
  if (collective.chunksPerNpu > MOST_CHUNKS) {
    throw new InputError("--chunks", `at most ${MOST_CHUNKS} (${name})`, collective.chunksPerNpu);
  }
  return problemOf(topology, collective, dimensions, offload);
}

/** Returns the problem of dimensions that are known. */
export function problemOf(
  topology: Topology,
  collective: Collective,
  dimensions: readonly NetworkDimension[],
  offload: boolean,
): PhaseProblem {
  const algorithms = dimensions.map((dimension) => topologyAware(dimension, offload));
  const whole = multiply(collective.chunkBytes, rational(collective.groupSize));
  const known = new Map<number, PhaseTimes>();
  return {
    topology,
    collective,
    dimensions,
    algorithms,
    chunks: collective.chunksPerNpu,
    scatters: collective.kind === "allgather" ? 0 : dimensions.length,
    perChunk: collective.kind === "allreduce" ? 2 * dimensions.length : dimensions.length,
    costs(dimension, op, holders) {
      const key = (holders * dimensions.length + dimension) * 2 + op;
      let times = known.get(key);
      if (times === undefined) {
        times = phaseTimes(dimensions[dimension], algorithms[dimension], op, divide(whole, rational(holders)));
        known.set(key, times);
      }
      return times;
    },
  };
}
