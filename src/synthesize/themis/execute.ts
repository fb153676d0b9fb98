import { heap } from "../../model/graph/heap.ts";
import { indicesBelow } from "../../model/numbers/ordering.ts";
import { PHASE_REDUCE_SCATTER, type PhaseSchedule } from "../../model/phases/phase-schedule.ts";
import { phaseLane } from "../../model/phases/phase-times.ts";
import { indexColumn } from "../../model/steps/step-schedule.ts";
import type { ChunkOrders } from "./orders.ts";
import { opAt, type PhaseProblem } from "./problem.ts";

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
