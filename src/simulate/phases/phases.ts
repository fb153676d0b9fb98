import { InputError, inWords } from "../../base/errors.ts";
import { add, divide, multiply, type Rational, rational } from "../../model/numbers/rational.ts";
import { demandExactPs, PS_PER_SECOND } from "../../model/numbers/units.ts";
import { PHASE_REDUCE_SCATTER, type PhaseSchedule } from "../../model/phases/phase-schedule.ts";
import { type PhaseTimes, phaseLane, phaseTimes } from "../../model/phases/phase-times.ts";

/** What one dimension did. */
export interface DimensionUse {
  /** By each NPU. */
  readonly bytesSent: Rational;
  /** Bytes sent / (time x bandwidth of the dimension). */
  readonly utilisation: Rational;
}

/** A schedule of phases replayed dimension by dimension. Times are exact integers, picoseconds. */
export interface PhaseSimulation {
  readonly model: "dimensions";
  readonly ps: number;
  /** [phases] */
  readonly startPs: Float64Array;
  /** [phases] when the phase's chunk is done. */
  readonly endPs: Float64Array;
  readonly dimensions: readonly DimensionUse[];
  /** Themis, section 3: bytes sent / (time x sum of the dimensions' bandwidths). */
  readonly utilisation: Rational;
}

/**
 * Returns the phases replayed in their order (Themis, 4.6.2): a phase starts when its chunk is there and its dimension has
 * serialised everything before it, occupies the dimension while it serialises, and is done the latencies of its steps later
 * (4.4). Dimensions do not wait for each other. Throws InputError for times that leave 2^53 ps. O(phases).
 */
export function simulatePhases(schedule: PhaseSchedule): PhaseSimulation {
  const { collective, dimensions, algorithms, chunk, dimension, op } = schedule;
  const count = chunk.length;
  const { chunksPerNpu, groupSize } = collective;
  const whole = multiply(collective.chunkBytes, rational(groupSize));
  /** [chunks] how many NPUs share what the collective moves of the chunk. */
  const holders = new Float64Array(chunksPerNpu).fill(collective.kind === "allgather" ? groupSize : 1);
  const readyPs = new Float64Array(chunksPerNpu);
  const freePs = new Float64Array(2 * dimensions.length);
  const startPs = new Float64Array(count);
  const endPs = new Float64Array(count);
  const kinds = new Map<number, { readonly times: PhaseTimes; phases: number; readonly dimension: number }>();
  let ps = 0;
  for (let i = 0; i < count; i++) {
    const [c, d] = [chunk[i], dimension[i]];
    const { size } = dimensions[d];
    const scatters = op[i] === PHASE_REDUCE_SCATTER;
    if (scatters ? groupSize % (holders[c] * size) !== 0 : holders[c] % size !== 0) {
      const expected = `a chunk that can be ${scatters ? "scattered" : "gathered"} over ${size} NPUs`;
      throw new InputError(`phase ${i} (simulate needs a valid schedule)`, expected, inWords(`chunk ${c}`));
    }
    if (!scatters) holders[c] /= size;
    const key = (holders[c] * dimensions.length + d) * 2 + op[i];
    let kind = kinds.get(key);
    if (kind === undefined) {
      const bytes = divide(whole, rational(holders[c]));
      kind = { times: phaseTimes(dimensions[d], algorithms[d], op[i], bytes), phases: 0, dimension: d };
      kinds.set(key, kind);
    }
    kind.phases++;
    if (scatters) holders[c] *= size;
    const lane = 2 * d + phaseLane(algorithms[d], op[i]);
    startPs[i] = Math.max(readyPs[c], freePs[lane]);
    freePs[lane] = startPs[i] + kind.times.serialPs;
    endPs[i] = freePs[lane] + kind.times.latencyPs;
    readyPs[c] = endPs[i];
    if (endPs[i] > ps) ps = endPs[i];
  }
  demandExactPs(ps, "the simulated time");
  const sent = dimensions.map(() => rational(0));
  for (const { times, phases, dimension: d } of kinds.values()) {
    sent[d] = add(sent[d], multiply(times.bytesSent, rational(phases)));
  }
  const used = (bytes: Rational, bytesPerSecond: bigint): Rational =>
    ps === 0 ? rational(0) : divide(bytes, rational(BigInt(ps) * bytesPerSecond, BigInt(PS_PER_SECOND)));
  return {
    model: "dimensions",
    ps,
    startPs,
    endPs,
    dimensions: dimensions.map(({ bytesPerSecond }, d) => ({
      bytesSent: sent[d],
      utilisation: used(sent[d], BigInt(bytesPerSecond)),
    })),
    utilisation: used(
      sent.reduce(add, rational(0)),
      dimensions.reduce((sum, { bytesPerSecond }) => sum + BigInt(bytesPerSecond), 0n),
    ),
  };
}
