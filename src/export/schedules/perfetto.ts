import { InputError } from "../../base/errors.ts";
import { jsonText } from "../../base/visible.ts";
import { orderByTime } from "../../model/numbers/ordering.ts";
import { ceil, format, multiply, rational } from "../../model/numbers/rational.ts";
import { toUs } from "../../model/numbers/units.ts";
import { routeTimes, serializationPs } from "../../model/routes/routes.ts";
import { goesWithPrevious, OP_REDUCE, type StepSchedule, transferCount } from "../../model/steps/step-schedule.ts";
import { linkCount, linkNames, type Topology } from "../../model/topology/topology.ts";
import { traceOf } from "../trace-events.ts";

export interface PerfettoOptions {
  /**
   * What a transfer's slice on a link lasts. `transfer`: from its start to its end, as in the link-busy model (default).
   * `serialisation`: at its route's bottleneck, as in the network model with cut-through.
   */
  readonly occupancy?: "transfer" | "serialisation";
  /**
   * Start per transfer and link of its route, in row order (store-and-forward): a slice then lasts the serialisation on its
   * own link, with the full bandwidth.
   */
  readonly hopStartPs?: Float64Array;
}

/** Slices as columns, in order of start. */
interface Slices {
  /** The first row of what moves. */
  readonly transfer: Int32Array;
  /** Rows that move together, from the first on. */
  readonly chunks: Int32Array;
  readonly link: Int32Array;
  readonly startPs: Float64Array;
  readonly lastsPs: Float64Array;
  readonly order: Uint32Array;
}

function slicesOf(
  schedule: StepSchedule,
  startPs: Float64Array,
  endPs: Float64Array,
  { occupancy = "transfer", hopStartPs }: PerfettoOptions,
): Slices {
  const { topology, routes, route, collective } = schedule;
  const { linkOffset, links } = routes;
  const count = transferCount(schedule);
  const times = { route, startPs, endPs };
  const isPartOfMessage = (i: number): boolean => hopStartPs === undefined && goesWithPrevious(times, i);
  let total = 0;
  for (let i = 0; i < count; i++) if (!isPartOfMessage(i)) total += linkOffset[route[i] + 1] - linkOffset[route[i]];
  const transfer = new Int32Array(total);
  const chunks = new Int32Array(total);
  const link = new Int32Array(total);
  const start = new Float64Array(total);
  const lasts = new Float64Array(total);
  const perLink = new Map<number, number>();
  const onWholeLink = (bandwidth: number): number => {
    const ps = perLink.get(bandwidth) ?? Number(ceil(serializationPs(collective.chunkBytes, bandwidth)));
    perLink.set(bandwidth, ps);
    return ps;
  };
  const { serialPs } = routeTimes(topology, routes, collective.chunkBytes);
  let k = 0;
  for (let i = 0, next = 0; i < count; i = next) {
    next = i + 1;
    while (next < count && isPartOfMessage(next)) next++;
    for (let p = linkOffset[route[i]]; p < linkOffset[route[i] + 1]; p++, k++) {
      transfer[k] = i;
      chunks[k] = next - i;
      link[k] = links[p];
      start[k] = hopStartPs === undefined ? startPs[i] : hopStartPs[k];
      if (hopStartPs !== undefined) lasts[k] = onWholeLink(topology.linkBytesPerSecond[links[p]]);
      else lasts[k] = occupancy === "transfer" ? endPs[i] - startPs[i] : (next - i) * serialPs[route[i]];
    }
  }
  return { transfer, chunks, link, startPs: start, lastsPs: lasts, order: orderByTime(start) };
}

/** Yields the events that name a process per node that sends. */
function* processNames(topology: Topology): Generator<string> {
  const sends = new Uint8Array(topology.nodeNames.length);
  for (const node of topology.linkSource) sends[node] = 1;
  for (let node = 0; node < sends.length; node++) {
    if (sends[node] === 0) continue;
    const kind = node < topology.npuCount ? "NPU" : "switch";
    const name = jsonText(`${kind} ${topology.nodeNames[node]}`);
    yield `{"ph":"M","pid":${node + 1},"name":"process_name","args":{"name":${name}}}`;
    yield `{"ph":"M","pid":${node + 1},"name":"process_sort_index","args":{"sort_index":${node}}}`;
  }
}

/**
 * Gives every slice a lane of its link that is free; link l's lane n is thread l + 1 + n x links. Slices come in order of
 * start. `isNew` tells whether the lane was just opened. O(lanes of the link) a slice.
 */
function laneFinder(links: number): (link: number, startPs: number, endPs: number) => { lane: number; isNew: boolean } {
  const lanesOf: number[][] = Array.from({ length: links });
  return (link, startPs, endPs) => {
    const freeAt = lanesOf[link] ?? [];
    lanesOf[link] = freeAt;
    const found = freeAt.findIndex((free) => free <= startPs);
    const lane = found < 0 ? freeAt.length : found;
    freeAt[lane] = endPs;
    return { lane, isNew: found < 0 };
  };
}

/** Yields the slices, and before the first slice of a lane the lane's name. */
function* sliceEvents(schedule: StepSchedule, endPs: Float64Array, slices: Slices): Generator<string> {
  const { topology, chunk, route, op, collective } = schedule;
  const names = linkNames(topology).map((name) => `link ${name}`);
  const links = linkCount(topology);
  const bytesOf = (chunks: number): string => {
    const bytes = multiply(collective.chunkBytes, rational(chunks));
    return bytes.den === 1n ? format(bytes) : `"${format(bytes)}"`;
  };
  const oneChunk = bytesOf(1);
  const laneOf = laneFinder(links);
  for (const k of slices.order) {
    const link = slices.link[k];
    const start = slices.startPs[k];
    const i = slices.transfer[k];
    const { lane, isNew } = laneOf(link, start, start + slices.lastsPs[k]);
    const track = `"pid":${topology.linkSource[link] + 1},"tid":${link + 1 + lane * links}`;
    if (isNew) {
      const name = jsonText(lane === 0 ? names[link] : `${names[link]} (${lane + 1})`);
      yield `{"ph":"M",${track},"name":"thread_name","args":{"name":${name}}}`;
      yield `{"ph":"M",${track},"name":"thread_sort_index","args":{"sort_index":${link}}}`;
    }
    const operation = op[i] === OP_REDUCE ? "reduce" : "copy";
    const chunks = slices.chunks[k];
    const name = chunks === 1 ? `chunk ${chunk[i]}` : `${chunks} chunks`;
    const which = chunks === 1 ? "" : `"chunks":[${chunk.subarray(i, i + chunks).join(",")}],`;
    yield `{"ph":"X",${track},"ts":${toUs(start)},"dur":${toUs(slices.lastsPs[k])},"name":"${name}",` +
      `"cat":"${operation}","args":{"chunk":${chunk[i]},${which}"route":${route[i]},"op":"${operation}",` +
      `"bytes":${chunks === 1 ? oneChunk : bytesOf(chunks)},"transfer":${i},"arrivesUs":${toUs(endPs[i])}}}`;
  }
}

/** Yields the number of links in use whenever it changes. */
function* busyLinks(topology: Topology, { link, startPs, lastsPs, order }: Slices): Generator<string> {
  // the union of the slices of each link: an interval begins where none is open, and ends where the last of it ends
  const busyUntil = new Float64Array(linkCount(topology));
  const begins = new Float64Array(order.length);
  const ends = new Float64Array(order.length);
  let intervals = 0;
  for (const k of order) {
    const begin = Math.max(startPs[k], busyUntil[link[k]]);
    const end = startPs[k] + lastsPs[k];
    if (end <= begin) continue;
    begins[intervals] = begin;
    ends[intervals++] = end;
    busyUntil[link[k]] = end;
  }
  const begin = begins.subarray(0, intervals).sort();
  const end = ends.subarray(0, intervals).sort();
  let shown = 0;
  for (let b = 0, e = 0; e < intervals; ) {
    const now = b < intervals ? Math.min(begin[b], end[e]) : end[e];
    while (b < intervals && begin[b] === now) b++;
    while (e < intervals && end[e] === now) e++;
    if (b - e !== shown) yield `{"ph":"C","pid":0,"ts":${toUs(now)},"name":"busy links","args":{"links":${b - e}}}`;
    shown = b - e;
  }
}

/**
 * Yields the parts of a Chrome/Perfetto JSON trace (Trace Event Format), to be written one after the other. A process per
 * node that sends (pid = node + 1), a thread per link (tid = link + 1), a slice "chunk c" per transfer and link with its
 * chunk, route, op, bytes (a text where not whole) and arrival, and a counter of the links in use. Rows of equal route, start
 * and end are one slice "n chunks", which lists them. Slices that share a link
 * get lanes, threads of their own, because slices of one thread must nest. Times in microseconds.
 *
 * `startPs`, `endPs` [transfers]: planned (the schedule's own columns) or simulated. Throws InputError where a column has
 * another length. O(T log T + links) for T slices.
 */
export function* perfettoTrace(
  schedule: StepSchedule,
  startPs: Float64Array,
  endPs: Float64Array,
  options: PerfettoOptions = {},
): Generator<string> {
  const count = transferCount(schedule);
  if (startPs.length !== count)
    throw new InputError("startPs", `a time for each of ${count} transfers`, startPs.length);
  if (endPs.length !== count) throw new InputError("endPs", `a time for each of ${count} transfers`, endPs.length);
  const slices = slicesOf(schedule, startPs, endPs, options);
  const hops = options.hopStartPs?.length ?? slices.order.length;
  if (hops !== slices.order.length) {
    throw new InputError("hopStartPs", `a time for each of ${slices.order.length} hops`, hops);
  }
  yield* traceOf(
    processNames(schedule.topology),
    sliceEvents(schedule, endPs, slices),
    busyLinks(schedule.topology, slices),
  );
}
