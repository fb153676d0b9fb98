import { InputError, inWords } from "../../base/errors.ts";
import type { Collective } from "../collective/collective.ts";
import { arcSources } from "../direct/digraph.ts";
import { type Grouped, groupedBy } from "../graph/graph.ts";
import { orderByTime } from "../numbers/ordering.ts";
import { type RouteSet, routeCount, routeTimes } from "../routes/routes.ts";
import { routesOf } from "../routes/routing.ts";
import {
  type ArrivalLog,
  portBytes,
  portsOf,
  type Schedule,
  type SlotPass,
  type SlotSchedule,
} from "../slots/slot-schedule.ts";
import { canBeSlots, leastTransfers } from "../steps/estimate.ts";
import { emptyRows, indexColumn, OP_REDUCE, type StepSchedule } from "../steps/step-schedule.ts";
import { translatedSchedule } from "../symmetry/translation.ts";
import type { Topology } from "../topology/topology.ts";
import { type CommSchedule, stepLoads, unfolded } from "./schedule.ts";

/** What a collective is made of. */
interface CommRuns {
  /** An all-gather on the network; null where only the other is needed (directionsOf). */
  readonly forward: Omit<CommRun, "backward"> | null;
  /** One on the network with every link turned around, to run backwards (Zhao 2026, corollary 1.1). */
  readonly backward: Omit<CommRun, "backward"> | null;
}

/**
 * Returns which all-gathers a collective needs: as arrival logs the one on the network itself runs both ways, over mirrored
 * routes; as steps an all-gather needs the one on the network, a reduce-scatter the one on the network turned around, an
 * all-reduce both.
 */
export function directionsOf(
  topology: Topology,
  collective: Collective,
): { readonly slots: boolean; readonly forward: boolean; readonly backward: boolean } {
  const slots = suitsSlots(topology, collective);
  return {
    slots,
    forward: slots || collective.kind !== "reducescatter",
    backward: !slots && collective.kind !== "allgather",
  };
}

/** Transfers that are listed one by one take about 100 bytes each while they are made and judged. */
const MOST_LISTED = 1e8;

/** Throws InputError where a collective needs more transfers than can be listed, and arrival logs do not suit it. O(links). */
export function refuseListing(algorithm: string, topology: Topology, collective: Collective): void {
  const transfers = leastTransfers(collective);
  if (transfers <= MOST_LISTED || suitsSlots(topology, collective)) return;
  const few = `at most ${MOST_LISTED.toExponential()} transfers, or equal links, in opposite pairs if it reduces, which take logs,`;
  throw new InputError(
    algorithm,
    few,
    inWords(`${collective.kind} on ${topology.name}: ${transfers.toExponential(1)} transfers`),
  );
}

/** Returns the schedule of an all-gather, reduce-scatter or all-reduce made of these; the runs are those of directionsOf. */
export function commCollective(topology: Topology, collective: Collective, { forward, backward }: CommRuns): Schedule {
  if (forward !== null && directionsOf(topology, collective).slots) return commSlots(topology, collective, forward);
  return commSteps(topology, collective, [
    ...(backward === null ? [] : [{ ...backward, backward: true }]),
    ...(forward === null ? [] : [{ ...forward, backward: false }]),
  ]);
}

/** From this many transfers on a schedule is kept as arrival logs. */
const FROM_TRANSFERS = 4e6;

/** Returns whether a collective among all NPUs, in order of id, is large and its links alike, so that arrival logs are to hold it. */
const suitsSlots = (topology: Topology, collective: Collective): boolean =>
  leastTransfers(collective) >= FROM_TRANSFERS &&
  collective.groupMembers.every((npu, rank) => npu === rank) &&
  canBeSlots(topology, collective);

/** All-gather: forwards; reduce-scatter: backwards over the mirrors of its routes; all-reduce: one after the other. */
function passesOf(kind: Collective["kind"]): readonly SlotPass[] {
  const forward = { reversed: false, reduces: false };
  const backward = { reversed: true, reduces: true };
  return kind === "allgather" ? [forward] : kind === "reducescatter" ? [backward] : [backward, forward];
}

/**
 * Returns a large collective (suitsSlots) as the arrival logs of one all-gather: a comm step takes as many slots as its busiest
 * arc carries parts. Of a symmetric schedule only the log of node 0 is made. O(chunks) a log, when it is asked for.
 */
export function commSlots(
  topology: Topology,
  collective: Collective,
  { schedule, linkOfArc }: Omit<CommRun, "backward">,
): SlotSchedule {
  const routes = routesOf(topology, 1);
  const { graph, parts, symmetry } = schedule;
  const loads = stepLoads(schedule);
  const time = {
    slotPs: routeTimes(topology, routes, collective.chunkBytes).slotPs[0],
    slots: loads.reduce((sum, load) => sum + load, 0),
    passes: passesOf(collective.kind),
  };
  const logOf = logs({ schedule, linkOfArc }, loads, portsOf(routes, graph.nodes).offset, routes.target);
  if (symmetry !== null) {
    const rows = { topology, routes, sizes: symmetry, chunksPerNpu: parts, row: logOf(0) };
    return translatedSchedule(rows, collective, time);
  }
  const origin = Int32Array.from({ length: graph.nodes * parts }, (_, chunk) => Math.floor(chunk / parts));
  return { kind: "slots", topology, collective, routes, ...time, origin, symmetry: null, row: logOf };
}

/** Rows of one arc in one step: row begin[i] up to begin[i + 1]. */
interface ArcRuns {
  readonly begin: Int32Array;
  /** Runs over arcs that enter a node, by step. */
  readonly into: Grouped;
}

function runsOf({ graph, step, arc }: CommSchedule): ArcRuns {
  const isFirst = (i: number): boolean => i === 0 || arc[i] !== arc[i - 1] || step[i] !== step[i - 1];
  let count = 0;
  for (let i = 0; i < arc.length; i++) if (isFirst(i)) count++;
  const begin = new Int32Array(count + 1);
  const head = new Int32Array(count);
  let run = 0;
  for (let i = 0; i < arc.length; i++) {
    if (!isFirst(i)) continue;
    head[run] = graph.target[arc[i]];
    begin[run++] = i;
  }
  begin[run] = arc.length;
  return { begin, into: groupedBy(head, graph.nodes) };
}

/** Returns the function that makes the log of a node from the rows over arcs that enter it. */
function logs(
  { schedule, linkOfArc }: Omit<CommRun, "backward">,
  loads: Float64Array,
  portOffset: Int32Array,
  routeTarget: Int32Array,
): (node: number) => ArrivalLog {
  const { graph, parts, step, source, arc, from, to } = schedule;
  const portOfRoute = new Int32Array(routeTarget.length);
  const next = new Int32Array(graph.nodes);
  for (let route = 0; route < routeTarget.length; route++) portOfRoute[route] = next[routeTarget[route]]++;
  const { begin, into } = runsOf(schedule);
  const chunks = graph.nodes * parts;
  const firstSlot = new Float64Array(loads.length + 1);
  for (let t = 0; t < loads.length; t++) firstSlot[t + 1] = firstSlot[t] + loads[t];

  return (node) => {
    const ports = portOffset[node + 1] - portOffset[node];
    const bytes = portBytes(ports);
    const chunk = indexColumn(chunks, chunks);
    let filled = 0;
    for (; filled < parts; filled++) chunk[filled] = node * parts + filled;
    const bits = new Uint8Array(firstSlot[loads.length] * bytes);
    let used = 0;
    /** What each port brings next in the step: a row and one of its parts, until rows end. */
    const row = new Int32Array(ports);
    const end = new Int32Array(ports);
    const part = new Int32Array(ports);
    for (let i = into.offset[node]; i < into.offset[node + 1]; ) {
      const now = step[begin[into.items[i]]];
      for (; i < into.offset[node + 1] && step[begin[into.items[i]]] === now; i++) {
        const run = into.items[i];
        const port = portOfRoute[linkOfArc[arc[begin[run]]]];
        row[port] = begin[run];
        end[port] = begin[run + 1];
        part[port] = from[begin[run]];
      }
      for (let slot = firstSlot[now], last = -1; last !== filled; slot++) {
        last = filled;
        for (let port = 0; port < ports; port++) {
          const at = row[port];
          if (at === end[port]) continue;
          chunk[filled++] = source[at] * parts + part[port];
          bits[slot * bytes + (port >> 3)] |= 1 << (port & 7);
          if (++part[port] < to[at]) continue;
          row[port] = at + 1;
          if (at + 1 < end[port]) part[port] = from[at + 1];
        }
        if (last !== filled) used = slot + 1;
      }
    }
    return { chunk, ports: bits.slice(0, used * bytes) };
  };
}

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
