import { PS_PER_SECOND, toUs } from "../../model/numbers/units.ts";
import { PHASE_ALL_GATHER, PHASE_REDUCE_SCATTER, type PhaseSchedule } from "../../model/phases/phase-schedule.ts";
import type { Recorder, Violation } from "../violation.ts";
import { stepCount } from "./phases-lines.ts";

/** What the times of phases are held against. */
interface PhaseClock {
  /** Returns how long a dimension serialises what an NPU sends of `blocks` N-th parts of a chunk, picoseconds rounded up. */
  serialisationPs(dimension: number, blocks: number): number;
  /** [dimensions] all steps of a phase */
  readonly latencyPs: readonly number[];
}

function clockOf({ collective, dimensions, algorithms }: PhaseSchedule): PhaseClock {
  const { num, den } = collective.chunkBytes;
  const known = dimensions.map(() => new Map<number, number>());
  return {
    latencyPs: dimensions.map(({ size, stepPs }, d) => stepCount(algorithms[d], size) * stepPs),
    serialisationPs(dimension, blocks) {
      const own = known[dimension].get(blocks);
      if (own !== undefined) return own;
      const bytes = BigInt(blocks) * num * BigInt(PS_PER_SECOND);
      const rate = den * BigInt(dimensions[dimension].bytesPerSecond);
      const ps = Number((bytes + rate - 1n) / rate);
      known[dimension].set(blocks, ps);
      return ps;
    },
  };
}

const OPS = { [PHASE_REDUCE_SCATTER]: "reduce-scatter", [PHASE_ALL_GATHER]: "all-gather" } as Readonly<
  Record<number, string>
>;

/**
 * Records chunks that do not pass through the phases of their collective, or too fast, and dimensions that serialise two
 * phases at once. Between phases an NPU holds N-th parts of a chunk: a reduce-scatter over P NPUs leaves a P-th of them and
 * sends the others; an all-gather makes P times as many. Where switches sum, a reduce-scatter sends all of them up and gets
 * what is left, an all-gather the reverse: the two kinds may run at once, so either is counted with what it takes of the
 * other's direction. O(phases + chunks * dimensions).
 */
export function checkPhases(schedule: PhaseSchedule, recorder: Recorder): void {
  const { topology, collective, dimensions, algorithms, chunk, dimension, op, startPs, endPs } = schedule;
  const { kind, chunksPerNpu } = collective;
  const clock = clockOf(schedule);
  const scatters = kind !== "allgather";
  const gathers = kind !== "reducescatter";
  const blocks = new Float64Array(chunksPerNpu).fill(scatters ? topology.npuCount : 1);
  const endOfChunk = new Float64Array(chunksPerNpu);
  const scattered = new Uint8Array(chunksPerNpu * dimensions.length);
  const gathered = new Uint8Array(chunksPerNpu * dimensions.length);
  const phasesLeft = new Int32Array(chunksPerNpu).fill(scatters ? dimensions.length : 0);
  const busyUntil = new Float64Array(2 * dimensions.length);

  const fault = (kind: Violation["kind"], row: number, text: string): void =>
    recorder.record(() => {
      const name = `the ${OPS[op[row]]} of chunk ${chunk[row]} in dimension ${dimension[row]} (phase ${row})`;
      const place = { phase: row, chunk: chunk[row], dimension: dimension[row], timePs: startPs[row] };
      return { kind, ...place, message: `${name} ${text}` };
    });

  for (let row = 0; row < chunk.length; row++) {
    const [c, d] = [chunk[row], dimension[row]];
    const isScatter = op[row] === PHASE_REDUCE_SCATTER;
    const done = isScatter ? scattered : gathered;
    const { size } = dimensions[d];
    if (!(isScatter ? scatters : gathers)) {
      fault("wrong-phases", row, `has no place in ${kind}`);
      continue;
    }
    if (done[c * dimensions.length + d]++ > 0) {
      fault("wrong-phases", row, "comes a second time");
      continue;
    }
    if (isScatter) phasesLeft[c]--;
    else if (phasesLeft[c] > 0) {
      fault("wrong-phases", row, `comes before ${phasesLeft[c]} of its reduce-scatters`);
      continue;
    }
    if (startPs[row] < endOfChunk[c])
      fault(
        "wrong-phases",
        row,
        `begins at ${toUs(startPs[row])} us, before the chunk is there at ${toUs(endOfChunk[c])} us`,
      );
    const after = isScatter ? blocks[c] / size : blocks[c] * size;
    const sums = algorithms[d] === "offload";
    const serialisation = clock.serialisationPs(d, sums ? blocks[c] + after : Math.abs(blocks[c] - after));
    const needed = serialisation + clock.latencyPs[d];
    if (endPs[row] - startPs[row] < needed)
      fault("too-fast", row, `takes ${toUs(endPs[row] - startPs[row])} us, less than the ${toUs(needed)} us it needs`);
    const resource = sums && !isScatter ? dimensions.length + d : d;
    if (startPs[row] < busyUntil[resource]) {
      const until = `while the dimension is busy until ${toUs(busyUntil[resource])} us`;
      fault("dimension-conflict", row, `begins at ${toUs(startPs[row])} us, ${until}`);
    }
    busyUntil[resource] = Math.max(busyUntil[resource], startPs[row] + serialisation);
    blocks[c] = after;
    endOfChunk[c] = endPs[row];
  }

  for (let i = 0; i < scattered.length; i++) {
    const missing =
      scatters && scattered[i] === 0
        ? OPS[PHASE_REDUCE_SCATTER]
        : gathers && gathered[i] === 0
          ? OPS[PHASE_ALL_GATHER]
          : null;
    if (missing === null) continue;
    const c = Math.floor(i / dimensions.length);
    const d = i % dimensions.length;
    recorder.record(() => ({
      kind: "wrong-phases",
      chunk: c,
      dimension: d,
      message: `chunk ${c} has no ${missing} in dimension ${d}`,
    }));
  }
}
