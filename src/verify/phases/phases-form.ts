import type { LineAlgorithm, LineKind, NetworkDimension } from "../../model/dimensions/dimensions.ts";
import { PHASE_ALL_GATHER, type PhaseSchedule } from "../../model/phases/phase-schedule.ts";
import { type Faults, isBelow, isCount } from "../well-formed.ts";

/** Which algorithms make the best of which lines. */
const ALGORITHMS: Readonly<Record<LineKind, readonly LineAlgorithm[]>> = {
  ring: ["ring"],
  line: ["line"],
  fc: ["direct"],
  switch: ["ring", "direct", "halving-doubling", "offload"],
};

/**
 * Yields what keeps the data from being a schedule of phases at all; the network and the collective must be in order. The
 * later checks trust lengths, ranges and order. O(phases + chunks).
 */
export function* phaseFaults(schedule: PhaseSchedule): Faults {
  yield* collectiveFaults(schedule);
  yield* dimensionFaults(schedule);
  yield* columnFaults(schedule);
}

function* collectiveFaults({ topology, collective }: PhaseSchedule): Faults {
  const { kind, groupCount, groupSize, groupMembers } = collective;
  if (kind !== "allreduce" && kind !== "reducescatter" && kind !== "allgather") {
    yield { message: `phases make an all-reduce, a reduce-scatter or an all-gather, not ${kind}` };
    return;
  }
  const all = groupCount === 1 && groupSize === topology.npuCount && groupMembers.every((npu, rank) => npu === rank);
  if (!all) yield { message: "phases are for one group of all NPUs in their order" };
  const { chunkCount, chunksPerNpu, sizeBytes } = collective;
  if (chunkCount !== groupSize * chunksPerNpu) {
    yield { message: `the collective has ${chunkCount} chunks, not ${chunksPerNpu} for each of ${groupSize} NPUs` };
  }
  if (sizeBytes === 0) yield { message: "the collective has no bytes" };
}

function* dimensionFaults({ topology, dimensions, algorithms }: PhaseSchedule): Faults {
  if (dimensions.length === 0 || dimensions.length > 255 || algorithms.length !== dimensions.length) {
    yield { message: `the schedule has ${dimensions.length} dimensions and ${algorithms.length} algorithms for them` };
    return;
  }
  let npus = 1;
  for (const [d, dimension] of dimensions.entries()) {
    const message = dimensionFault(dimension, algorithms[d]);
    if (message !== null) yield { dimension: d, message: `dimension ${d} ${message}` };
    npus *= dimension.size;
  }
  if (npus !== topology.npuCount) {
    const product = dimensions.map(({ size }) => size).join(" x ");
    yield { message: `the dimensions ${product} make ${npus} NPUs, not ${topology.npuCount}` };
  }
}

function dimensionFault(
  { kind, size, bytesPerSecond, stepPs }: NetworkDimension,
  algorithm: LineAlgorithm,
): string | null {
  if (!Object.hasOwn(ALGORITHMS, kind)) return `is of no known kind: ${kind}`;
  if (!isCount(size) || size < 2) return `has lines of ${size} NPUs`;
  if (!isCount(bytesPerSecond) || bytesPerSecond === 0) return `has ${bytesPerSecond} bytes/s, no whole number above 0`;
  if (!isCount(stepPs)) return `has a latency of ${stepPs} ps, no whole number from 0 on`;
  if (!ALGORITHMS[kind].includes(algorithm)) return `is a ${kind}, on which ${algorithm} is not used`;
  const isPower = Number.isInteger(2 ** 52 / size);
  if (algorithm === "halving-doubling" && !isPower) return `has ${size} NPUs, no power of two as ${algorithm} needs`;
  return null;
}

function* columnFaults({ collective, dimensions, chunk, dimension, op, startPs, endPs }: PhaseSchedule): Faults {
  const rows = chunk.length;
  if ([dimension, op, startPs, endPs].some((column) => column.length !== rows)) {
    yield { message: "the columns of the phases differ in length" };
    return;
  }
  // each has one at least; the later checks need room for every chunk
  if (rows < collective.chunksPerNpu) yield { message: `${collective.chunksPerNpu} chunks have only ${rows} phases` };
  for (let row = 0; row < rows; row++) {
    const isPhase =
      isBelow(chunk[row], collective.chunksPerNpu) &&
      isBelow(dimension[row], dimensions.length) &&
      isBelow(op[row], PHASE_ALL_GATHER + 1) &&
      isCount(startPs[row]) &&
      isCount(endPs[row]) &&
      startPs[row] <= endPs[row];
    if (!isPhase) yield { phase: row, message: `phase ${row} has no chunk, dimension, kind and times of a phase` };
    if (row === 0) continue;
    const order = startPs[row] - startPs[row - 1] || dimension[row] - dimension[row - 1] || chunk[row] - chunk[row - 1];
    if (order < 0) yield { phase: row, message: `phase ${row} stands behind one that is carried out after it` };
  }
}
