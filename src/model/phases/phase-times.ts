import { InternalError } from "../../base/errors.ts";
import type { LineAlgorithm, NetworkDimension } from "../dimensions/dimensions.ts";
import { isPowerOfTwo } from "../numbers/integers.ts";
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

/**
 * The reduce-scatter of one line as columns, one row a message, ascending by step: position `from` sends position `to` what it
 * has of the block that is to end at position `block`. The all-gather is the same with steps and ends reversed.
 */
export interface LineSteps {
  readonly steps: number;
  /** 2 where every block is cut in two that go round a ring in opposite directions; else 1. */
  readonly parts: number;
  /** [steps + 1] rows of step s: firstRow[s] .. firstRow[s + 1]. */
  readonly firstRow: Int32Array;
  readonly from: Int32Array;
  readonly to: Int32Array;
  readonly block: Int32Array;
  /** [messages] below `parts` */
  readonly part: Uint8Array;
}

type Add = (step: number, from: number, to: number, block: number, part?: number) => void;

/** Returns the algorithm of table 1 of Themis for a dimension; a switch whose lines halving-doubling does not fit passes a ring. */
export function topologyAware({ kind, size, inNetwork }: NetworkDimension, offload: boolean): LineAlgorithm {
  if (kind === "ring") return "ring";
  if (kind === "line") return "line";
  if (kind === "fc") return "direct";
  if (offload && inNetwork) return "offload";
  return isPowerOfTwo(size) ? "halving-doubling" : "ring";
}

/** Returns in how many parts a dimension's algorithm cuts each block. */
export const partsOf = ({ kind, size }: NetworkDimension, algorithm: LineAlgorithm): 1 | 2 =>
  algorithm === "ring" && kind === "ring" && size > 2 ? 2 : 1;

/** In step s every position passes on a block that has P - 1 - s positions to go. */
function ringRows(size: number, parts: 1 | 2, add: Add): void {
  for (let step = 0; step < size - 1; step++) {
    for (let i = 0; i < size; i++) {
      const left = size - 1 - step;
      add(step, i, (i + 1) % size, (i + left) % size);
      if (parts === 2) add(step, i, (i + size - 1) % size, (i + step + 1) % size, 1);
    }
  }
}

/** Sweeps from both ends, neighbours only; each position sends on what has farthest to go first. */
function sweepRows(size: number, add: Add): void {
  for (let step = 0; step < size - 1; step++) {
    for (let i = 0; i < size; i++) {
      const right = size - 1 - (step - i);
      if (step >= i && right > i) add(step, i, i + 1, right);
      const left = step - (size - 1 - i);
      if (left >= 0 && left < i) add(step, i, i - 1, left);
    }
  }
}

function directRows(size: number, add: Add): void {
  for (let distance = 1; distance < size; distance++) {
    for (let i = 0; i < size; i++) add(0, i, (i + distance) % size, (i + distance) % size);
  }
}

/** Recursive halving: partners half the line apart first; each gets all blocks of its own half. */
function halvingRows(size: number, add: Add): void {
  if (!isPowerOfTwo(size)) throw new InternalError(`halving-doubling on a line of ${size}`);
  for (let half = size / 2, step = 0; half >= 1; half /= 2, step++) {
    for (let i = 0; i < size; i++) {
      const partner = i ^ half;
      const first = partner - (partner % half);
      for (let block = first; block < first + half; block++) add(step, i, partner, block);
    }
  }
}

/** Returns the messages of a line's reduce-scatter: P (P-1) of each part. `offload` has none: InternalError. O(messages). */
export function lineSteps(algorithm: LineAlgorithm, size: number, parts: 1 | 2 = 1): LineSteps {
  if (algorithm === "offload") throw new InternalError("what a switch sums has no steps between NPUs");
  const rows = size * (size - 1) * parts;
  const steps = lineStepCount(algorithm, size);
  const columns = {
    firstRow: new Int32Array(steps + 1),
    from: new Int32Array(rows),
    to: new Int32Array(rows),
    block: new Int32Array(rows),
    part: new Uint8Array(rows),
  };
  let row = 0;
  const add: Add = (step, from, to, block, part = 0) => {
    columns.from[row] = from;
    columns.to[row] = to;
    columns.block[row] = block;
    columns.part[row] = part;
    columns.firstRow[step + 1] = ++row;
  };
  if (algorithm === "ring") ringRows(size, parts, add);
  else if (algorithm === "line") sweepRows(size, add);
  else if (algorithm === "direct") directRows(size, add);
  else halvingRows(size, add);
  return { steps, parts, ...columns };
}
