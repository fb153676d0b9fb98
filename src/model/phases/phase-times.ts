import type { LineAlgorithm, NetworkDimension } from "../dimensions/dimensions.ts";
import { ceil, multiply, type Rational, rational } from "../numbers/rational.ts";
import { serializationPs } from "../routes/routes.ts";
import { PHASE_REDUCE_SCATTER } from "./phase-schedule.ts";

/** What a phase of one chunk costs on every NPU of its dimension (Themis, 4.4). Times are exact integers, picoseconds. */
export interface PhaseTimes {
  /** n_K: what an NPU sends. */
  readonly bytesSent: Rational;
  /** n_K x B_K, rounded up: how long the phase occupies its dimension. */
  readonly serialPs: number;
  /** A_K: number of steps x latency of a step; the dimension may serialise the next phase meanwhile. */
  readonly latencyPs: number;
}

/** Returns how many messages of a line's algorithm follow each other, each waiting for the one before. */
export function lineStepCount(algorithm: LineAlgorithm, size: number): number {
  if (algorithm === "direct" || algorithm === "offload") return 1;
  return algorithm === "halving-doubling" ? 32 - Math.clz32(size - 1) : size - 1;
}

/**
 * Returns bytes, serialisation and latency of a phase; `bytes` is what an NPU of the line holds of the chunk before a
 * reduce-scatter or after an all-gather. Every algorithm sends (P-1)/P of it (Themis, footnote 7), except `offload`: a
 * reduce-scatter sends all of it up and receives 1/P, an all-gather the other way round, so that both may run at once if each
 * leaves the other its 1/P: either takes (P+1)/P of the bytes at the dimension's bandwidth, up for one and down for the other.
 */
export function phaseTimes(
  { size, bytesPerSecond, stepPs }: NetworkDimension,
  algorithm: LineAlgorithm,
  op: number,
  bytes: Rational,
): PhaseTimes {
  const share = (blocks: number): Rational => multiply(bytes, rational(blocks, size));
  const offload = algorithm === "offload";
  const bytesSent = share(offload ? (op === PHASE_REDUCE_SCATTER ? size : 1) : size - 1);
  const occupied = offload ? share(size + 1) : bytesSent;
  return {
    bytesSent,
    serialPs: Number(ceil(serializationPs(occupied, bytesPerSecond))),
    latencyPs: lineStepCount(algorithm, size) * stepPs,
  };
}

/** Returns which half of a dimension a phase occupies: 0, but 1 for the all-gathers of switches, which use the other direction. */
export const phaseLane = (algorithm: LineAlgorithm, op: number): number => (algorithm === "offload" ? op : 0);
