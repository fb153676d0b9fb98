import type { Collective } from "../collective/collective.ts";
import { arcSources } from "../direct/digraph.ts";
import { groupedBy } from "../graph/graph.ts";
import { orderByTime } from "../numbers/ordering.ts";
import { type RouteSet, routeCount, routeTimes } from "../routes/routes.ts";
import { routesOf } from "../routes/routing.ts";
import { emptyRows, OP_REDUCE, type StepSchedule } from "../steps/step-schedule.ts";
import type { Topology } from "../topology/topology.ts";
import { unfolded } from "./builder.ts";
import type { CommSchedule } from "./schedule.ts";

/** An all-gather in comm steps on a network of direct links. */
export interface CommRun {
  /** Its parts are the chunks per NPU of the collective. */
  readonly schedule: CommSchedule;
  /** [arcs] the link that carries what the arc does. */
  readonly linkOfArc: Int32Array;
  /** Backwards in time, summing: made for the network with every link turned around, it reduces and scatters on this one. */
  readonly backward: boolean;
}

/** Transfers of one run, in order of (step, arc). */
interface Transfers {
  readonly chunk: Int32Array;
  readonly route: Int32Array;
  readonly startPs: Float64Array;
  readonly endPs: number;
}

/**
 * Returns the runs one after the other as transfers between the NPUs of the collective's one group. A transfer starts as soon as
 * its link is free and its chunk is there, links carry the chunks of a step in order of arrival: so nothing is later than with
 * a barrier between comm steps. Runs backwards in time give a reduce-scatter (Zhao 2026, theorem 1). O(transfers log of those of
 * a link in a step).
 */
export function commSteps(topology: Topology, collective: Collective, runs: readonly CommRun[]): StepSchedule {
  const routes = routesOf(topology, 1);
  const { slotPs } = routeTimes(topology, routes, collective.chunkBytes);
  const rankOf = new Int32Array(topology.npuCount);
  collective.groupMembers.forEach((npu, rank) => {
    rankOf[npu] = rank;
  });
  const found = runs.map((run) => eagerTransfers(run, slotPs, rankOf));
  const count = found.reduce((sum, { chunk }) => sum + chunk.length, 0);
  const schedule = emptyRows(topology, collective, routes, count);
  let row = 0;
  let base = 0;
  found.forEach((transfers, i) => {
    const backward = (runs[i] as CommRun).backward;
    writeTransfers(schedule, row, transfers, slotPs, backward, base);
    if (backward) schedule.op.fill(OP_REDUCE, row, row + transfers.chunk.length);
    row += transfers.chunk.length;
    base += transfers.endPs;
  });
  return schedule;
}

function eagerTransfers(run: CommRun, slotPs: Float64Array, rankOf: Int32Array): Transfers {
  const { linkOfArc } = run;
  const { graph, parts, step, source, arc, from, to } = unfolded(run.schedule);
  const tail = arcSources(graph);
  const chunks = graph.nodes * parts;
  let count = 0;
  for (let i = 0; i < from.length; i++) count += to[i] - from[i];
  const chunk = new Int32Array(count);
  const route = new Int32Array(count);
  const startPs = new Float64Array(count);
  const freePs = new Float64Array(slotPs.length);
  /** When node v has chunk c: v * chunks + c. */
  const therePs = new Float64Array(graph.nodes * chunks);
  let endPs = 0;
  let row = 0;
  for (let i = 0; i < from.length; ) {
    const over = arc[i];
    const link = linkOfArc[over];
    const first = row;
    for (const inStep = step[i]; i < from.length && arc[i] === over && step[i] === inStep; i++) {
      for (let part = from[i]; part < to[i]; part++) chunk[row++] = rankOf[source[i]] * parts + part;
    }
    const there = tail[over] * chunks;
    const brought = graph.target[over] * chunks;
    const queue = chunk.subarray(first, row);
    orderByArrival(queue, therePs, there);
    route.fill(link, first, row);
    for (let k = 0; k < queue.length; k++) {
      const at = Math.max(freePs[link], therePs[there + queue[k]]);
      startPs[first + k] = at;
      freePs[link] = at + slotPs[link];
      therePs[brought + queue[k]] = freePs[link];
    }
    if (freePs[link] > endPs) endPs = freePs[link];
  }
  return { chunk, route, startPs, endPs };
}

/** Sorts chunks by when they are there, equal ones by number. */
function orderByArrival(chunks: Int32Array, therePs: Float64Array, there: number): void {
  for (let i = 1; i < chunks.length; i++) {
    const late = therePs[there + chunks[i - 1]] - therePs[there + chunks[i]];
    if (late < 0 || (late === 0 && chunks[i - 1] < chunks[i])) continue;
    chunks.sort((a, b) => therePs[there + a] - therePs[there + b] || a - b);
    return;
  }
}

type Columns = Pick<StepSchedule, "chunk" | "route" | "startPs" | "endPs"> & { readonly routes: RouteSet };

/** Writes the transfers in order of (start, route), a link having one at a time, shifted by `basePs`. */
function writeTransfers(
  columns: Columns,
  row: number,
  transfers: Transfers,
  slotPs: Float64Array,
  backward: boolean,
  basePs: number,
): void {
  const { items } = groupedBy(transfers.route, routeCount(columns.routes));
  const starts = new Float64Array(items.length);
  for (let i = 0; i < items.length; i++) {
    const start = transfers.startPs[items[i]];
    starts[i] = backward ? transfers.endPs - start - slotPs[transfers.route[items[i]]] : start;
  }
  const order = orderByTime(starts);
  for (let i = 0; i < order.length; i++) {
    const from = items[order[i]];
    const at = basePs + starts[order[i]];
    columns.chunk[row + i] = transfers.chunk[from];
    columns.route[row + i] = transfers.route[from];
    columns.startPs[row + i] = at;
    columns.endPs[row + i] = at + slotPs[transfers.route[from]];
  }
}
