import { InputError } from "../../base/errors.ts";
import type { Collective } from "../../model/collective/collective.ts";
import type { LineAlgorithm, LineKind, NetworkDimension } from "../../model/dimensions/dimensions.ts";
import { PS_PER_SECOND, toUs } from "../../model/numbers/units.ts";
import { PHASE_ALL_GATHER, PHASE_REDUCE_SCATTER, type PhaseSchedule } from "../../model/phases/phase-schedule.ts";
import { type LineSteps, lineSteps, partsOf } from "../../model/phases/phase-times.ts";
import { NO_ROUTES } from "../../model/routes/routes.ts";
import { switchCount, type Topology } from "../../model/topology/topology.ts";
import type { Verification } from "../steps/schedule.ts";
import { type Recorder, recorder, type Violation } from "../violation.ts";
import { checkParts, type Faults, isBelow, isCount } from "../well-formed.ts";

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
    throw new InputError("options.limit", "a whole number, 0 or more", limit).as("out-of-range");
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
  if (groupCount === 0) yield { message: "phases are for one group of NPUs or more" };
  const groupOf = new Int32Array(topology.npuCount).fill(-1);
  for (let i = 0; i < groupMembers.length; i++) {
    const npu = groupMembers[i];
    const group = Math.floor(i / groupSize);
    if (groupOf[npu] >= 0) {
      const both = `groups ${groupOf[npu]} and ${group}`;
      yield { npu, message: `NPU ${topology.nodeNames[npu]} is in ${both}, whose phases run at once` };
    }
    groupOf[npu] = group;
  }
  const { chunkCount, chunksPerNpu, sizeBytes } = collective;
  if (chunkCount !== groupCount * groupSize * chunksPerNpu) {
    const members = groupMembers.length;
    yield { message: `the collective has ${chunkCount} chunks, not ${chunksPerNpu} for each of ${members} NPUs` };
  }
  if (sizeBytes === 0) yield { message: "the collective has no bytes" };
}

function* dimensionFaults({ collective: { groupSize }, dimensions, algorithms }: PhaseSchedule): Faults {
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
  if (npus !== groupSize) {
    const product = dimensions.map(({ size }) => size).join(" x ");
    yield { message: `the dimensions ${product} make ${npus} NPUs, not the ${groupSize} of a group` };
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
  const { collective, dimensions, algorithms, chunk, dimension, op, startPs, endPs } = schedule;
  const { kind, groupSize, chunksPerNpu } = collective;
  const clock = clockOf(schedule);
  const scatters = kind !== "allgather";
  const gathers = kind !== "reducescatter";
  const blocks = new Float64Array(chunksPerNpu).fill(scatters ? groupSize : 1);
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

/**
 * Dimensions with the places of their lines: those of group g begin at g N, and place modulo N = x0 + d0*(x1 + d1*(x2 ...)). A
 * line is of one group, for N is the product of the sizes.
 */
interface Grid {
  readonly sizes: readonly number[];
  /** Places of neighbours differ by so much. */
  readonly strides: readonly number[];
  /** [places] */
  readonly npus: Int32Array;
  /** [NPUs] -1 for those of no group. */
  readonly placeOf: Int32Array;
}

/** Rates between neighbours: of each NPU to the neighbours of one dimension. */
interface Neighbours {
  /** Steps to the neighbours, modulo the size. */
  readonly offsets: readonly number[];
  /** [NPUs * offsets] bytes per second over links no slower than stated. */
  readonly rates: Float64Array;
}

interface StatedDimensions {
  readonly topology: Topology;
  readonly collective: Collective;
  readonly dimensions: readonly NetworkDimension[];
  readonly algorithms: readonly LineAlgorithm[];
}

/**
 * Records dimensions that the network does not have: where an NPU has too little bandwidth to a neighbour of its line, or a
 * line to the switches that serve it, over links whose latency is no more than stated. Links that no dimension needs do not
 * matter; none serves two. Offload counts only switches that sum and duplicate. O(links * dimensions).
 */
function checkProduct(stated: StatedDimensions, recorder: Recorder): void {
  const sizes = stated.dimensions.map(({ size }) => size);
  const strides = sizes.map((_, d) => sizes.slice(0, d).reduce((product, size) => product * size, 1));
  const npus = stated.collective.groupMembers;
  const placeOf = new Int32Array(stated.topology.npuCount).fill(-1);
  for (let place = 0; place < npus.length; place++) placeOf[npus[place]] = place;
  const grid = { sizes, strides, npus, placeOf };
  if (lacksLinks(stated, recorder)) return;
  checkNeighbours(stated, grid, recorder);
  if (stated.dimensions.some(({ kind }) => kind === "switch")) checkSwitches(stated, grid, recorder);
}

/** Records fully connected dimensions of more links than the network has, so that rates of no more pairs than these are reported. */
function lacksLinks({ topology, collective, dimensions }: StatedDimensions, recorder: Recorder): boolean {
  const links = topology.linkSource.length;
  let lacks = false;
  for (const [d, { kind, size }] of dimensions.entries()) {
    const needed = collective.groupMembers.length * (size - 1);
    if (kind !== "fc" || needed <= links) continue;
    lacks = true;
    const message = `dimension ${d} (fc:${size}) needs ${needed} links, where the network has ${links}`;
    recorder.record(() => ({ kind: "no-product", dimension: d, message }));
  }
  return lacks;
}

const coordinate = (place: number, d: number, { sizes, strides }: Grid): number =>
  Math.floor(place / strides[d]) % sizes[d];

function offsetsOf({ kind, size }: NetworkDimension): readonly number[] {
  if (kind === "switch") return [];
  if (kind === "fc") return Array.from({ length: size - 1 }, (_, i) => i + 1);
  return size === 2 ? [1] : [1, size - 1];
}

/** Returns the dimension in which two places of a group differ; -1 where they differ in several, or are of different groups. */
function dimensionBetween(a: number, b: number, grid: Grid): number {
  const { sizes, strides } = grid;
  const groupSize = sizes[sizes.length - 1] * strides[sizes.length - 1];
  if (Math.floor(a / groupSize) !== Math.floor(b / groupSize)) return -1;
  let found = -1;
  for (let d = 0; d < grid.sizes.length; d++) {
    if (coordinate(a, d, grid) === coordinate(b, d, grid)) continue;
    if (found >= 0) return -1;
    found = d;
  }
  return found;
}

function checkNeighbours({ topology, dimensions }: StatedDimensions, grid: Grid, recorder: Recorder): void {
  const { npuCount, linkSource, linkTarget, linkBytesPerSecond, linkLatencyPs, nodeNames } = topology;
  const direct = dimensions.map((dimension): Neighbours => {
    const offsets = offsetsOf(dimension);
    return { offsets, rates: new Float64Array(grid.npus.length * offsets.length) };
  });
  for (let link = 0; link < linkSource.length; link++) {
    if (linkSource[link] >= npuCount || linkTarget[link] >= npuCount) continue;
    const from = grid.placeOf[linkSource[link]];
    const to = grid.placeOf[linkTarget[link]];
    if (from < 0 || to < 0) continue;
    const d = dimensionBetween(from, to, grid);
    if (d < 0 || linkLatencyPs[link] > dimensions[d].stepPs) continue;
    const { offsets, rates } = direct[d];
    const size = grid.sizes[d];
    const step = (coordinate(to, d, grid) - coordinate(from, d, grid) + size) % size;
    const i = dimensions[d].kind === "fc" ? step - 1 : offsets.indexOf(step);
    if (i >= 0) rates[from * offsets.length + i] += linkBytesPerSecond[link];
  }
  for (const [d, { kind, size, bytesPerSecond, stepPs }] of dimensions.entries()) {
    const { offsets, rates } = direct[d];
    const needed = kind === "line" ? bytesPerSecond : Math.ceil(bytesPerSecond / offsets.length);
    for (let i = 0; i < rates.length; i++) {
      if (rates[i] >= needed) continue;
      const place = Math.floor(i / offsets.length);
      const x = coordinate(place, d, grid);
      const offset = offsets[i % offsets.length];
      if (kind === "line" && size > 2 && x === (offset === 1 ? size - 1 : 0)) continue;
      recorder.record(() => {
        const npu = grid.npus[place];
        const neighbour = grid.npus[place + (((x + offset) % size) - x) * grid.strides[d]];
        const has = `${rates[i]} bytes/s within ${stepPs} ps`;
        const message = `dimension ${d} (${kind}:${size}) needs ${needed} bytes/s from NPU ${nodeNames[npu]} to ${nodeNames[neighbour]}, where the network has ${has}`;
        return { kind: "no-product", dimension: d, npu, message };
      });
    }
  }
}

/** A switch with the members of groups that have links to and from it. */
interface Attached {
  readonly places: Int32Array;
  /** [places] bytes per second. */
  readonly up: Float64Array;
  readonly down: Float64Array;
  /** [places] picoseconds, the greatest of parallel links. */
  readonly upPs: Float64Array;
  readonly downPs: Float64Array;
  readonly sums: boolean;
}

/** Returns what is attached to each switch, members with links both ways only. O(links log links). */
function attachedOf(topology: Topology, { placeOf }: Grid): Attached[] {
  const { npuCount, linkSource, linkTarget, linkBytesPerSecond, linkLatencyPs, nodeTraits } = topology;
  const rows = Array.from({ length: switchCount(topology) }, () => new Map<number, number[]>());
  for (let link = 0; link < linkSource.length; link++) {
    const isUp = linkSource[link] < npuCount && linkTarget[link] >= npuCount;
    const isDown = linkSource[link] >= npuCount && linkTarget[link] < npuCount;
    if (!isUp && !isDown) continue;
    const [npu, hub] = isUp ? [linkSource[link], linkTarget[link]] : [linkTarget[link], linkSource[link]];
    const place = placeOf[npu];
    if (place < 0) continue;
    const row = rows[hub - npuCount].get(place) ?? [0, 0, 0, 0];
    const way = isUp ? 0 : 1;
    row[way] += linkBytesPerSecond[link];
    row[2 + way] = Math.max(row[2 + way], linkLatencyPs[link]);
    rows[hub - npuCount].set(place, row);
  }
  return rows.map((row, s) => {
    const both = [...row].filter(([, [up, down]]) => up > 0 && down > 0);
    const { multicast = false, aggregation = false } = nodeTraits[npuCount + s] ?? {};
    const column = (i: number): Float64Array => Float64Array.from(both, ([, values]) => values[i] as number);
    const places = Int32Array.from(both, ([place]) => place);
    return {
      places,
      up: column(0),
      down: column(1),
      upPs: column(2),
      downPs: column(3),
      sums: multicast && aggregation,
    };
  });
}

/** Returns whether what is attached to a switch is made of whole lines of a dimension. */
function holdsLines({ places }: Attached, d: number, grid: Grid): boolean {
  const members = new Map<number, number>();
  for (const place of places) {
    const line = place - coordinate(place, d, grid) * grid.strides[d];
    members.set(line, (members.get(line) ?? 0) + 1);
  }
  for (const many of members.values()) if (many !== grid.sizes[d]) return false;
  return places.length > 0;
}

/** Adds what a switch carries for every line of a dimension: the least of its NPUs' rates, where it is fast enough. */
function addRates(hub: Attached, d: number, stepPs: number, grid: Grid, rates: Float64Array): void {
  const lines = new Map<number, number[]>();
  hub.places.forEach((place, i) => {
    const line = place - coordinate(place, d, grid) * grid.strides[d];
    const [rate, upPs, downPs] = lines.get(line) ?? [Number.POSITIVE_INFINITY, 0, 0];
    lines.set(line, [
      Math.min(rate, hub.up[i], hub.down[i]),
      Math.max(upPs, hub.upPs[i]),
      Math.max(downPs, hub.downPs[i]),
    ]);
  });
  for (const [line, [rate, upPs, downPs]] of lines) if (upPs + downPs <= stepPs) rates[line] += rate;
}

/**
 * Holds the switched dimensions against the switches. One whose NPUs are lines of several dimensions serves the first of them
 * that cannot do without it.
 */
function checkSwitches({ topology, dimensions, algorithms }: StatedDimensions, grid: Grid, recorder: Recorder): void {
  const { nodeNames } = topology;
  const { npus } = grid;
  const hubs = attachedOf(topology, grid);
  const switched = dimensions.flatMap(({ kind }, d) => (kind === "switch" ? [d] : []));
  const able = (hub: Attached, d: number): boolean => algorithms[d] !== "offload" || hub.sums;
  const servable = hubs.map((hub) => switched.filter((d) => able(hub, d) && holdsLines(hub, d, grid)));
  const taken = servable.map((own) => own.length === 0);
  for (const d of switched) {
    const { bytesPerSecond, stepPs, size } = dimensions[d];
    const rates = new Float64Array(npus.length);
    const serve = (s: number): void => {
      taken[s] = true;
      addRates(hubs[s], d, stepPs, grid, rates);
    };
    const isStart = (place: number): boolean => coordinate(place, d, grid) === 0;
    const short = (): number => rates.findIndex((rate, place) => isStart(place) && rate < bytesPerSecond);
    hubs.forEach((_, s) => {
      if (!taken[s] && servable[s].length === 1 && servable[s][0] === d) serve(s);
    });
    if (short() >= 0)
      hubs.forEach((_, s) => {
        if (!taken[s] && servable[s].includes(d)) serve(s);
      });
    for (let place = 0; place < npus.length; place++) {
      if (!isStart(place) || rates[place] >= bytesPerSecond) continue;
      recorder.record(() => {
        const npu = npus[place];
        const what = algorithms[d] === "offload" ? "switches that sum and duplicate" : "a switch";
        const has = `${rates[place]} bytes/s within ${stepPs} ps`;
        const message = `dimension ${d} (switch:${size}) needs ${bytesPerSecond} bytes/s through ${what} for the line of NPU ${nodeNames[npu]}, where the network has ${has}`;
        return { kind: "no-product", dimension: d, npu, message };
      });
    }
  }
}
