import { InputError } from "../../base/errors.ts";
import type { LineAlgorithm, LineKind, NetworkDimension } from "../../model/dimensions/dimensions.ts";
import { type LineSteps, lineSteps, partsOf } from "../../model/dimensions/line-steps.ts";
import { PS_PER_SECOND, toUs } from "../../model/numbers/units.ts";
import { PHASE_ALL_GATHER, PHASE_REDUCE_SCATTER, type PhaseSchedule } from "../../model/phases/phase-schedule.ts";
import { NO_ROUTES } from "../../model/routes/routes.ts";
import type { Verification } from "../steps/schedule.ts";
import { type Recorder, recorder, type Violation } from "../violation.ts";
import { checkParts, type Faults, isBelow, isCount } from "../well-formed.ts";
import { checkProduct } from "./phases-network.ts";

/**
 * Returns everything that is wrong with a schedule of phases, by nothing that its maker says:
 *
 * 0. it is well-formed; where it is not, nothing further is judged;
 * 1. the network has the dimensions that it states: their links, at their rates and latencies;
 * 2. the algorithm of every dimension's lines does its work in its time: its messages are carried out;
 * 3. every chunk passes through the phases of its collective, one after the other, reduce-scatters before all-gathers;
 * 4. a phase takes at least its serialisation and latency, and no dimension serialises two at once.
 *
 * Throws InputError for a limit that is no whole number; never for a schedule, however wrong. O(links * dimensions + phases).
 */
export function verifyPhases(schedule: PhaseSchedule, options: { readonly limit?: number } = {}): Verification {
  const limit = options.limit ?? 100;
  if (!Number.isSafeInteger(limit) || limit < 0)
    throw new InputError("options.limit", "a whole number, 0 or more", limit);
  const found = recorder(limit);
  const { topology, collective, dimensions, algorithms } = schedule;
  if (checkParts({ topology, collective, routes: NO_ROUTES }, () => phaseFaults(schedule), found)) {
    checkProduct(schedule, found);
    checkLines(dimensions, algorithms, found);
    checkPhases(schedule, found);
  }
  const violationCount = found.count();
  return { violations: found.kept, violationCount, truncated: violationCount > found.kept.length };
}

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
function* phaseFaults(schedule: PhaseSchedule): Faults {
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
function checkPhases(schedule: PhaseSchedule, recorder: Recorder): void {
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

/** Longer lines are judged by what their algorithm does on one of this length. */
const LONGEST = 256;

/** Returns how many messages of a line follow each other: each of them waits a latency for the one before. */
function stepCount(algorithm: LineAlgorithm, size: number): number {
  if (algorithm === "direct" || algorithm === "offload") return 1;
  if (algorithm !== "halving-doubling") return size - 1;
  let steps = 0;
  for (let reached = 1; reached < size; reached *= 2) steps++;
  return steps;
}

/**
 * Records dimensions whose lines do not do their work. The messages of one line are carried out: its reduce-scatter must leave
 * every contribution once, at the position that is to have the block; the same messages backwards must bring every block
 * everywhere, once. Messages go between neighbours where the line has only these, and per step, busiest port after busiest
 * port, no more than P - 1 blocks pass. What switches sum has no messages. O(P^3 / 32) up to 256 NPUs, no more for longer lines.
 */
function checkLines(
  dimensions: readonly NetworkDimension[],
  algorithms: readonly LineAlgorithm[],
  recorder: Recorder,
): void {
  for (const [d, dimension] of dimensions.entries()) {
    if (algorithms[d] === "offload") continue;
    const size = Math.min(dimension.size, LONGEST);
    const steps = lineSteps(algorithms[d], size, partsOf({ ...dimension, size }, algorithms[d]));
    const fault = lineFault({ ...dimension, size }, algorithms[d], steps);
    if (fault === null) continue;
    const name = `${algorithms[d]} on the ${dimension.kind}s of ${size} NPUs in dimension ${d}`;
    recorder.record(() => ({ kind: "wrong-line", dimension: d, message: `${name} ${fault}` }));
  }
}

/** Returns what is wrong with the messages of a line; null where they do their work in their time. */
export function lineFault(
  dimension: Pick<NetworkDimension, "kind" | "size">,
  algorithm: LineAlgorithm,
  steps: LineSteps,
): string | null {
  return (
    formFault(dimension.size, steps) ??
    scatterFault(dimension.size, steps) ??
    gatherFault(dimension.size, steps) ??
    timeFault(dimension, algorithm, steps)
  );
}

function formFault(size: number, { steps, parts, firstRow, from, to, block, part }: LineSteps): string | null {
  const rows = from.length;
  const ascends = firstRow.every((row, s) => row >= (s === 0 ? 0 : firstRow[s - 1]));
  if (firstRow.length !== steps + 1 || firstRow[0] !== 0 || firstRow[steps] !== rows || !ascends)
    return "has no rows for each step";
  for (let i = 0; i < rows; i++) {
    const isMessage =
      [from[i], to[i], block[i]].every((x) => x >= 0 && x < size) && from[i] !== to[i] && part[i] < parts;
    if (!isMessage) return `has no message ${i}`;
  }
  return null;
}

/** Returns the step of each message. */
function stepOfRows({ steps, firstRow, from }: LineSteps): Int32Array {
  const step = new Int32Array(from.length);
  for (let s = 0; s < steps; s++) step.fill(s, firstRow[s], firstRow[s + 1]);
  return step;
}

/** Calls `visit` with the messages of each step that are of one block and part, first step first. */
function eachBlock(
  size: number,
  { parts, block, part }: LineSteps,
  visit: (rows: number[]) => string | null,
): string | null {
  const rows = Array.from({ length: size * parts }, (): number[] => []);
  for (let i = 0; i < block.length; i++) rows[block[i] * parts + part[i]].push(i);
  for (const own of rows) {
    const fault = visit(own);
    if (fault !== null) return fault;
  }
  return null;
}

/** Carries the reduce-scatter out, block by block: sums are sets of contributions, sent as they were when the step began. */
function scatterFault(size: number, steps: LineSteps): string | null {
  const { from, to } = steps;
  const step = stepOfRows(steps);
  const words = Math.ceil(size / 32);
  const sums = new Int32Array(size * words);
  let wanted = -1;
  return eachBlock(size, steps, (rows) => {
    wanted++;
    const target = Math.floor(wanted / steps.parts);
    sums.fill(0);
    for (let x = 0; x < size; x++) sums[x * words + (x >> 5)] = 1 << (x & 31);
    for (let first = 0; first < rows.length; ) {
      let last = first;
      while (last < rows.length && step[rows[last]] === step[rows[first]]) last++;
      const sent = rows.slice(first, last).map((i) => sums.slice(from[i] * words, (from[i] + 1) * words));
      for (const [k, sum] of sent.entries()) {
        const at = to[rows[first + k]] * words;
        for (let w = 0; w < words; w++) {
          if ((sums[at + w] & sum[w]) !== 0) return `adds a contribution to block ${target} twice`;
          sums[at + w] |= sum[w];
        }
      }
      first = last;
    }
    for (let x = 0; x < size; x++) {
      if (((sums[target * words + (x >> 5)] >>> (x & 31)) & 1) === 0)
        return `leaves block ${target} without what position ${x} has of it`;
    }
    return null;
  });
}

/** Carries the all-gather out: the messages backwards in time, each the other way. */
function gatherFault(size: number, steps: LineSteps): string | null {
  const { from, to } = steps;
  const step = stepOfRows(steps);
  let wanted = -1;
  return eachBlock(size, steps, (rows) => {
    wanted++;
    const source = Math.floor(wanted / steps.parts);
    // -1: held from the start
    const since = new Int32Array(size).fill(steps.steps);
    since[source] = -1;
    for (let k = rows.length - 1; k >= 0; k--) {
      const i = rows[k];
      const now = steps.steps - 1 - step[i];
      if (since[to[i]] >= now) return `sends block ${source} on before it is there`;
      if (since[from[i]] < steps.steps) return `brings block ${source} to position ${from[i]} twice`;
      since[from[i]] = now;
    }
    const without = since.indexOf(steps.steps);
    return without < 0 ? null : `does not bring block ${source} to position ${without}`;
  });
}

/** Holds messages against neighbours, and the steps' busiest ports against the time of P - 1 blocks at the whole rate. */
function timeFault(
  { kind, size }: Pick<NetworkDimension, "kind" | "size">,
  algorithm: LineAlgorithm,
  { steps, parts, firstRow, from, to }: LineSteps,
): string | null {
  if (steps > stepCount(algorithm, size)) return `takes ${steps} steps`;
  // an NPU's rate is shared evenly by its ports: those to neighbours, to all others, or one to the switch
  const ports = kind === "fc" ? size - 1 : kind === "ring" && size > 2 ? 2 : 1;
  const portOf = (distance: number): number => {
    if (kind === "switch") return 0;
    return kind === "fc" ? distance - 1 : distance === 1 ? 0 : 1;
  };
  const width = Math.max(2, ports);
  const sent = new Int32Array(size * width);
  const received = new Int32Array(size * width);
  let blocks = 0;
  for (let s = 0; s < steps; s++) {
    let busiest = 0;
    sent.fill(0);
    received.fill(0);
    for (let i = firstRow[s]; i < firstRow[s + 1]; i++) {
      const distance = (to[i] - from[i] + size) % size;
      const isNear = kind === "line" ? Math.abs(to[i] - from[i]) === 1 : distance === 1 || distance === size - 1;
      if ((kind === "ring" || kind === "line") && !isNear) return `sends from ${from[i]} to ${to[i]}, no neighbours`;
      const port = portOf(distance);
      busiest = Math.max(busiest, ++sent[from[i] * width + port], ++received[to[i] * width + port]);
    }
    blocks += busiest * ports;
  }
  return blocks <= (size - 1) * parts ? null : `takes the time of ${blocks / parts} blocks, more than ${size - 1}`;
}
