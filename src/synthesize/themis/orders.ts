import { InputError } from "../../base/errors.ts";
import { optionName } from "../../base/option-names.ts";
import type { Collective } from "../../model/collective/collective.ts";
import { designOf } from "../../model/dimensions/design.ts";
import { type LineAlgorithm, type NetworkDimension, wiringOf } from "../../model/dimensions/dimensions.ts";
import { groupDimensions } from "../../model/dimensions/group-dimensions.ts";
import { heap } from "../../model/graph/graph.ts";
import { indicesBelow } from "../../model/numbers/ordering.ts";
import { divide, multiply, rational } from "../../model/numbers/rational.ts";
import { PHASE_ALL_GATHER, PHASE_REDUCE_SCATTER, type PhaseSchedule } from "../../model/phases/phase-schedule.ts";
import { type PhaseTimes, phaseLane, phaseTimes, topologyAware } from "../../model/phases/phase-times.ts";
import { indexColumn } from "../../model/steps/step-schedule.ts";
import type { Topology } from "../../model/topology/topology.ts";
import type { PhaseRequest } from "../phase-maker.ts";

/** The dimensions that each chunk takes: [chunks x perChunk], chunk by chunk, in the order of its phases. */
export type ChunkOrders = Uint8Array;

/** What Algorithm 1 leaves open to measure. */
export interface OrderOptions {
  /** The scheduler falls back to the baseline's order where loads differ by less than a phase of chunk / this takes. */
  readonly thresholdShare: number;
  /** Loads start at A_K, else at 0. */
  readonly countsLatency: boolean;
}

/** Sections 4.4 and 5.3. */
export const PUBLISHED: OrderOptions = { thresholdShare: 16, countsLatency: true };

/** Returns the dimensions of one chunk by the baseline (2.3): reduce-scatters over 1..D, all-gathers over D..1. */
export function baselineOrder({ dimensions, scatters, perChunk }: PhaseProblem): number[] {
  const D = dimensions.length;
  return Array.from({ length: perChunk }, (_, k) => (k < scatters ? k : D - 1 - (k - scatters)));
}

/** Returns the baseline's orders, all chunks alike. */
export function baselineOrders(problem: PhaseProblem): ChunkOrders {
  const { chunks, perChunk } = problem;
  const one = baselineOrder(problem);
  const orders = new Uint8Array(chunks * perChunk);
  for (let i = 0; i < orders.length; i++) orders[i] = one[i % perChunk];
  return orders;
}

/** Writes a chunk's order: as given, and for the all-gathers of an all-reduce the other way round (Algorithm 1, line 8). */
export function writeOrder(problem: PhaseProblem, orders: ChunkOrders, chunk: number, order: readonly number[]): void {
  const { perChunk } = problem;
  for (let k = 0; k < perChunk; k++) {
    orders[chunk * perChunk + k] = k < order.length ? order[k] : order[perChunk - 1 - k];
  }
}

/**
 * Returns the orders of Algorithm 1. Loads start at A_K of the collective (4.4) and grow by n_K x B_K of the chunk's phases
 * (of an all-reduce, of its reduce-scatters; its all-gathers take the reverse order). Where loads differ by less than the
 * threshold, the chunk takes the baseline's order; else its reduce-scatters take the dimensions by ascending load and its
 * all-gathers by descending load, so that the least loaded dimension moves most. Equal loads: in the baseline's order.
 * `onLoads` gets the loads after each chunk, picoseconds. Loads are exact. O(chunks x dimensions log dimensions).
 */
export function themisOrders(
  problem: PhaseProblem,
  { thresholdShare, countsLatency }: OrderOptions = PUBLISHED,
  onLoads?: (loads: readonly number[]) => void,
): ChunkOrders {
  const { chunks, dimensions, perChunk, scatters, collective, costs } = problem;
  const baseline = baselineOrder(problem).slice(0, dimensions.length);
  const op = opAt(problem, 0);
  const sign = op === PHASE_REDUCE_SCATTER ? 1 : -1;
  const loads = dimensions.map((_, d) =>
    countsLatency ? (perChunk / dimensions.length) * costs(d, op, 1).latencyPs : 0,
  );
  const orders = new Uint8Array(chunks * perChunk);
  for (let chunk = 0; chunk < chunks; chunk++) {
    const least = loads.indexOf(Math.min(...loads));
    const isBalanced = Math.max(...loads) - loads[least] < costs(least, op, thresholdShare).serialPs;
    const order = isBalanced ? baseline : [...baseline].sort((a, b) => sign * (loads[a] - loads[b]));
    writeOrder(problem, orders, chunk, order);
    let holders = scatters === 0 ? collective.groupSize : 1;
    for (const d of order) {
      if (op === PHASE_ALL_GATHER) holders /= dimensions[d].size;
      loads[d] += costs(d, op, holders).serialPs;
      if (op === PHASE_REDUCE_SCATTER) holders *= dimensions[d].size;
    }
    onLoads?.([...loads]);
  }
  return orders;
}

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

/** The network that phases are planned on, and the dimensions of the groups in it. */
interface Planned {
  readonly design: Topology;
  readonly dimensions: readonly NetworkDimension[];
}

/** Returns the network as it was before links failed, with the groups' dimensions; a noun phrase for what phases need instead. */
function plannedOn(topology: Topology, collective: Collective): Planned | string {
  const design = designOf(topology);
  const wiring = design === null ? null : wiringOf(design);
  if (design === null || wiring === null) {
    const { shape = [], place = [] } = topology.remnant ?? {};
    const whole = shape.reduce((product, size) => product * size, 1);
    const missing = whole - place.length;
    return missing > 0 && shape.length > 0
      ? `all NPUs of its product (${shape.join(" x ")}, of whose ${whole} NPUs ${missing} ${missing === 1 ? "is" : "are"} missing)`
      : "a product of rings, lines, fully connected and switch dimensions with equal links in each";
  }
  const dimensions = groupDimensions(wiring, collective);
  return typeof dimensions === "string" ? dimensions : { design, dimensions };
}

/** Returns what a schedule of phases needs and does not find; null where it can be made. */
export function refusal(topology: Topology, collective: Collective): string | null {
  const planned = plannedOn(topology, collective);
  return typeof planned === "string" ? planned : null;
}

/**
 * Returns the problem of a request, on the network as it was designed. Throws InputError where the groups have no dimensions, and
 * for offload without switches that sum, or where links failed.
 */
export function phaseProblem({ topology, collective, offload }: PhaseRequest, name: string): PhaseProblem {
  const planned = plannedOn(topology, collective);
  if (typeof planned === "string") throw new InputError("the topology", `${planned} (${name})`, topology.name);
  const { design, dimensions } = planned;
  if (!["allgather", "reducescatter", "allreduce"].includes(collective.kind)) {
    throw new InputError("the collective", `all-gather, reduce-scatter or all-reduce (${name})`, collective.kind);
  }
  if (offload && !dimensions.some(({ inNetwork }) => inNetwork)) {
    throw new InputError(optionName("offload"), "a dimension whose switches sum and duplicate", topology.name);
  }
  if (offload && design !== topology) {
    throw new InputError(optionName("offload"), "a network none of whose links failed or slowed down", topology.name);
  }
  if (collective.chunksPerNpu > MOST_CHUNKS) {
    throw new InputError(optionName("chunks"), `at most ${MOST_CHUNKS} (${name})`, collective.chunksPerNpu).as(
      "out-of-range",
    );
  }
  return problemOf(design, collective, dimensions, offload);
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

/** Which of the chunks that wait for a dimension comes next (4.3). */
export type QueueOrder = "scf" | "fifo";

/**
 * Returns the phases in the order in which the dimensions would carry them out (4.6.2): a dimension that is free takes, of the
 * chunks that are there, the smallest (`scf`: by what an NPU holds before it scatters or after it gathers, so the one that takes
 * least time) or the one that came first (`fifo`), ties by chunk number; it is free again when the phase is serialised, and the
 * chunk goes on to its next dimension the latencies of the phase later. O(phases log chunks).
 */
export function executed(problem: PhaseProblem, orders: ChunkOrders, queueOrder: QueueOrder): PhaseSchedule {
  const { topology, collective, dimensions, algorithms, chunks, perChunk, scatters, costs } = problem;
  const count = chunks * perChunk;
  const rows = {
    chunk: indexColumn(count, chunks),
    dimension: new Uint8Array(count),
    op: new Uint8Array(count),
    startPs: new Float64Array(count),
    endPs: new Float64Array(count),
  };
  const lanes = dimensions.flatMap(() => [heap(), heap()]);
  const free = lanes.map(() => true);
  /** By time: what is done; chunks with their numbers, lanes from `chunks` on. */
  const events = heap();
  const position = new Uint32Array(chunks);
  /** NPUs that share what the chunk's phase moves. */
  const holders = new Float64Array(chunks).fill(scatters === 0 ? collective.groupSize : 1);
  const enqueue = (chunk: number, now: number): void => {
    const d = orders[chunk * perChunk + position[chunk]];
    const op = opAt(problem, position[chunk]);
    if (op !== PHASE_REDUCE_SCATTER) holders[chunk] /= dimensions[d].size;
    lanes[2 * d + phaseLane(algorithms[d], op)].add(queueOrder === "scf" ? -holders[chunk] : now, chunk);
  };
  let row = 0;
  const start = (lane: number, chunk: number, now: number): void => {
    const d = lane >> 1;
    const op = opAt(problem, position[chunk]);
    const { serialPs, latencyPs } = costs(d, op, holders[chunk]);
    if (op === PHASE_REDUCE_SCATTER) holders[chunk] *= dimensions[d].size;
    rows.chunk[row] = chunk;
    rows.dimension[row] = d;
    rows.op[row] = op;
    rows.startPs[row] = now;
    rows.endPs[row] = now + serialPs + latencyPs;
    free[lane] = false;
    events.add(now + serialPs, chunks + lane);
    events.add(rows.endPs[row++], chunk);
  };
  for (let chunk = 0; chunk < chunks; chunk++) enqueue(chunk, 0);
  for (let now = 0; row < count; now = events.key()) {
    while (events.key() === now) {
      const done = events.take();
      if (done >= chunks) free[done - chunks] = true;
      else if (++position[done] < perChunk) enqueue(done, now);
    }
    for (let lane = 0; lane < lanes.length; lane++) {
      if (free[lane] && lanes[lane].size() > 0) start(lane, lanes[lane].take(), now);
    }
  }
  return { kind: "phases", topology, collective, dimensions, algorithms, ...inOrder(rows, chunks) };
}

type Columns = Pick<PhaseSchedule, "chunk" | "dimension" | "op" | "startPs" | "endPs">;

/** Returns the rows by (start, dimension, chunk). */
function inOrder(rows: Columns, chunks: number): Columns {
  const { chunk, dimension, op, startPs, endPs } = rows;
  const order = indicesBelow(startPs.length).sort(
    (a, b) => startPs[a] - startPs[b] || dimension[a] - dimension[b] || chunk[a] - chunk[b],
  );
  const sorted = indexColumn(chunk.length, chunks);
  order.forEach((from, to) => {
    sorted[to] = chunk[from];
  });
  return {
    chunk: sorted,
    dimension: Uint8Array.from(order, (row) => dimension[row]),
    op: Uint8Array.from(order, (row) => op[row]),
    startPs: Float64Array.from(order, (row) => startPs[row]),
    endPs: Float64Array.from(order, (row) => endPs[row]),
  };
}
