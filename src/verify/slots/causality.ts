import { type ArrivalLog, portBytes } from "../../model/slots/slot-schedule.ts";
import type { Names } from "../describe.ts";
import type { Recorder, Violation } from "../violation.ts";
import { heldBy, type LogFrame, portCount, recordChunkFaults, shapeFault } from "./log.ts";

/** So many arrivals lie between two reports of progress. */
const REPORT_ARRIVALS = 4_000_000;

/**
 * Records what is wrong with the log of each NPU, ascending: its form, and every arrival of a chunk that is not at the
 * source of its route at the start of the slot. A chunk that came in an earlier slot, or was there from the start, is.
 * One random read for an arrival and one to decode it, more where rows do not stay in the memory allowed.
 */
export function checkLogs(
  frame: LogFrame,
  rows: Arrivals,
  recorder: Recorder,
  words: Names,
  onProgress?: (done: number, total: number) => void,
): void {
  let unreported = 0;
  for (let npu = 0; npu < frame.npus; npu++) {
    rows.rowOf(npu);
    if (rows.state[npu] === SOUND) checkSources(frame, npu, rows, recorder, words);
    else recordFaults(frame, npu, recorder, words);
    unreported += frame.chunks;
    if (onProgress !== undefined && (unreported >= REPORT_ARRIVALS || npu + 1 === frame.npus)) {
      onProgress(npu + 1, frame.npus);
      unreported = 0;
    }
  }
}

/** Whose rows say what the sources of an NPU hold, where few logs stand for all. */
export interface Views {
  /** Returns the NPU whose row is looked up for a port, as numbered in the frame. */
  rowOf(port: number): number;
  /** Returns [chunks] where maps take a chunk: all of these must be in that row. */
  mapsOf(port: number): readonly Int32Array[];
}

/** Records the early arrivals of one NPU, in the order of its log. */
export function checkSources(
  frame: LogFrame,
  npu: number,
  rows: Arrivals,
  recorder: Recorder,
  words: Names,
  views: Views | null = null,
): void {
  const { ports, schedule } = frame;
  const first = ports.offset[npu];
  const count = portCount(frame, npu);
  const early: EarlyArrival[] = [];
  const rowOf = views === null ? (port: number) => schedule.routes.source[ports.items[port]] : views.rowOf;
  const maps = Array.from({ length: views === null ? 0 : count }, (_, p) => views?.mapsOf(first + p) ?? []);
  // where the sources' rows do not fit the memory at once, ports are judged some at a time
  for (let from = 0; from < count; from += rows.rowsKept) {
    const base = new Float64Array(count).fill(rows.idle);
    for (let p = from; p < Math.min(count, from + rows.rowsKept); p++) base[p] = rows.rowOf(rowOf(first + p));
    const baseOfPort = rows.since.length <= 0x7fffffff ? Int32Array.from(base) : base;
    const log = rows.logOf(npu);
    const look = (chunkOf: readonly Int32Array[] | null): void => {
      const found =
        chunkOf === null
          ? countEarly(log, rows.since, baseOfPort)
          : countEarlyMapped(log, rows.since, baseOfPort, chunkOf);
      if (found > 0) for (const arrival of earlyArrivals(log, rows.since, baseOfPort, chunkOf)) early.push(arrival);
    };
    if (views === null) look(null);
    const most = maps.reduce((longest, list) => Math.max(longest, list.length), 0);
    for (let k = 0; k < most; k++) look(maps.map((list) => list[Math.min(k, list.length - 1)]));
  }
  early.sort((a, b) => a.at - b.at || b.since - a.since);
  for (const [i, { at, chunk, port, slot, since }] of early.entries()) {
    if (early[i - 1]?.at === at) continue; // seen through another map
    const arrival = { chunk, route: ports.items[first + port], slot };
    recorder.record(() => earlyViolation(frame, words, arrival, since === rows.absent ? null : since));
  }
}

/** Returns how many arrivals have a source that lacks the chunk when the slot starts. */
function countEarly(log: ScratchLog, since: Uint16Array | Int32Array, base: Int32Array | Float64Array): number {
  const { chunk, ports, bytes, held } = log;
  let early = 0;
  let i = held;
  let slot = 0;
  for (let start = 0; start < ports.length; start += bytes, slot++) {
    for (let b = 0; b < bytes; b++) {
      for (let bits = ports[start + b]; bits !== 0; bits &= bits - 1) {
        const port = b * 8 + 31 - Math.clz32(bits & -bits);
        if (since[base[port] + chunk[i++]] > slot) early++;
      }
    }
  }
  return early;
}

/** The same where the source's row has what a map of the port takes the chunk to; apart, for most logs need no such look. */
function countEarlyMapped(
  log: ScratchLog,
  since: Uint16Array | Int32Array,
  base: Int32Array | Float64Array,
  chunkOf: readonly Int32Array[],
): number {
  const { chunk, ports, bytes, held } = log;
  let early = 0;
  let i = held;
  let slot = 0;
  for (let start = 0; start < ports.length; start += bytes, slot++) {
    for (let b = 0; b < bytes; b++) {
      for (let bits = ports[start + b]; bits !== 0; bits &= bits - 1) {
        const port = b * 8 + 31 - Math.clz32(bits & -bits);
        if (since[base[port] + chunkOf[port][chunk[i++]]] > slot) early++;
      }
    }
  }
  return early;
}

/** Names what is wrong with a log that is not sound. */
export function recordFaults(frame: LogFrame, npu: number, recorder: Recorder, words: Names): void {
  const log = frame.schedule.row(npu);
  const fault = shapeFault(frame, npu, log);
  if (fault === null) {
    recordChunkFaults(frame, npu, log, recorder, words);
    return;
  }
  const message = `the log of ${frame.schedule.topology.nodeNames[npu]} ${fault}`;
  recorder.record(() => ({ kind: "malformed", npu, message }));
}

/** An arrival before its chunk is at the source, which has it from the start of slot `since` on. */
interface EarlyArrival {
  /** Entry of the log. */
  readonly at: number;
  readonly chunk: number;
  readonly port: number;
  readonly slot: number;
  readonly since: number;
}

/** Yields the arrivals that `countEarly` and `countEarlyMapped` count. */
function* earlyArrivals(
  { chunk, ports, bytes, held }: ScratchLog,
  since: Uint16Array | Int32Array,
  base: Int32Array | Float64Array,
  chunkOf: readonly Int32Array[] | null,
): Generator<EarlyArrival> {
  let at = held;
  for (let start = 0; start < ports.length; start++) {
    const slot = Math.floor(start / bytes);
    for (let bits = ports[start]; bits !== 0; bits &= bits - 1, at++) {
      const port = (start % bytes) * 8 + 31 - Math.clz32(bits & -bits);
      const from = since[base[port] + (chunkOf === null ? chunk[at] : chunkOf[port][chunk[at]])];
      if (from > slot) yield { at, chunk: chunk[at], port, slot, since: from };
    }
  }
}

/** Returns the violation of an arrival whose source has the chunk from the start of slot `since` on, or never. */
export function earlyViolation(
  { schedule }: LogFrame,
  words: Names,
  arrival: { readonly chunk: number; readonly route: number; readonly slot: number },
  since: number | null,
): Violation {
  const { routes, slotPs, slots, passes, origin } = schedule;
  const { chunk, route, slot } = arrival;
  const source = routes.source[route];
  const npu = routes.target[route];
  if (!passes[0].reversed) {
    const timePs = slot * slotPs;
    const fault = since === null ? "never holds it" : `holds it only from ${words.time(since * slotPs)} on`;
    const message = `${words.npu(source, chunk)} sends chunk ${chunk} on ${words.route(route)} at ${words.time(timePs)} but ${fault}`;
    return { kind: "absent-chunk", npu: source, chunk, link: routes.links[routes.linkOffset[route]], timePs, message };
  }
  const timePs = (slots - slot) * slotPs;
  const sends = since === null ? "never sends on" : `sends at ${words.time((slots - since) * slotPs)} already`;
  const message = `${words.npu(origin[chunk], chunk)} ends without the contribution of ${words.npu(npu, chunk)} to chunk ${chunk}, which is at ${words.npu(source, chunk)} only at ${words.time(timePs)} (against the direction of ${words.route(route)}), and that ${sends}`;
  return { kind: "missing-contribution", npu: origin[chunk], chunk, timePs, message };
}

/** Chunks by NPU and the slot from whose start on they are there; decoded logs in one block of memory. */
export interface Arrivals {
  /** chunk c is at the NPU of the row at `base` from the start of slot since[base + c] on; `absent` if never. */
  readonly since: Uint16Array | Int32Array;
  /** Larger than every slot. */
  readonly absent: number;
  /** At least this many rows that were asked for last are still there. */
  readonly rowsKept: number;
  /** Base of a row in which everything is there from the start. */
  readonly idle: number;
  /** Returns the base of the NPU's row, decoding its log unless it is still there. Its state is known then. */
  rowOf(npu: number): number;
  /** Returns the NPU's log, its chunks in scratch memory that the next call of logOf or rowOf overwrites. */
  logOf(npu: number): ScratchLog;
  readonly state: Uint8Array;
  /** [routes] 1 where a log that was decoded uses the route. */
  readonly used: Uint8Array;
}

interface ScratchLog {
  /** [chunks] */
  readonly chunk: Int32Array;
  readonly ports: Uint8Array;
  /** Bytes of ports in a slot. */
  readonly bytes: number;
  /** Chunks that are there from the start. */
  readonly held: number;
}

/** States of an NPU's log. */
const UNREAD = 0;
/** A permutation of the chunks, its own first. */
export const SOUND = 1;
/** Some chunks are wrong; of those that are there more than once the first arrival counts. */
const WRONG_CHUNKS = 2;
/** Not to be read: nothing is said of its chunks, they count as there from the start. */
const WRONG_SHAPE = 3;

/**
 * Returns the arrivals of a schedule's logs, least recently used rows forgotten beyond `bytes`: 2 bytes a chunk and row
 * where slots fit, else 4. Rows that were forgotten are decoded again. O(chunks + slots) a decoded row.
 */
export function arrivals(frame: LogFrame, bytes: number): Arrivals {
  const { schedule, npus, chunks } = frame;
  const narrow = schedule.slots < 0xffff;
  const absent = narrow ? 0xffff : 0x7fffffff;
  const fitting = Math.floor(bytes / (Math.max(1, chunks) * (narrow ? 2 : 4)));
  const rows = Math.max(1, Math.min(npus, fitting));
  const length = (rows + 1) * chunks;
  const since = narrow ? new Uint16Array(length) : new Int32Array(length);
  const chunk = new Int32Array(chunks);
  const state = new Uint8Array(npus);
  const used = new Uint8Array(schedule.routes.source.length);
  /** Position of each NPU's row, the least recently used first. */
  const position = new Map<number, number>();

  const room = (): number => {
    if (position.size < rows) return position.size + 1; // position 0 is the idle row
    const [oldest, at] = position.entries().next().value as [number, number];
    position.delete(oldest);
    return at;
  };

  const scratchOf = (npu: number, log: ArrivalLog): ScratchLog => {
    chunk.set(log.chunk);
    return { chunk, ports: log.ports, bytes: portBytes(portCount(frame, npu)), held: heldBy(frame, npu) };
  };

  const load = (npu: number, base: number): void => {
    const log = schedule.row(npu);
    if (state[npu] === UNREAD && shapeFault(frame, npu, log, used) !== null) state[npu] = WRONG_SHAPE;
    if (state[npu] === WRONG_SHAPE) {
      since.fill(0, base, base + chunks);
      return;
    }
    since.fill(absent, base, base + chunks);
    const own = frame.held.items.subarray(frame.held.offset[npu], frame.held.offset[npu + 1]);
    const faults = decode(scratchOf(npu, log), own, since, base, absent);
    state[npu] = faults === 0 ? SOUND : WRONG_CHUNKS;
  };

  return {
    since,
    absent,
    rowsKept: rows,
    idle: 0,
    state,
    used,
    logOf: (npu) => scratchOf(npu, schedule.row(npu)),
    rowOf(npu) {
      const known = position.get(npu);
      const at = known ?? room();
      if (known === undefined) load(npu, at * chunks);
      else position.delete(npu);
      position.set(npu, at);
      return at * chunks;
    },
  };
}

/**
 * Fills a row of marks of absence from a log of sound shape, and returns how many entries are wrong: no chunk, a chunk that
 * was there before, or one of the first that is not the NPU's own. Zero means that each chunk is there once.
 */
function decode(
  log: ScratchLog,
  own: Int32Array,
  since: Uint16Array | Int32Array,
  base: number,
  absent: number,
): number {
  const { chunk, ports, bytes, held } = log;
  const chunks = chunk.length;
  let faults = 0;
  let i = 0;
  for (; i < held; i++) {
    if (chunk[i] !== own[i]) faults++;
    if (chunk[i] >= 0 && chunk[i] < chunks) since[base + chunk[i]] = 0;
  }
  let slot = 0;
  for (let start = 0; start < ports.length; start += bytes) {
    slot++;
    for (let b = 0; b < bytes; b++) {
      for (let bits = ports[start + b]; bits !== 0; bits &= bits - 1) {
        const c = chunk[i++];
        if (c < 0 || c >= chunks || since[base + c] !== absent) faults++;
        else since[base + c] = slot;
      }
    }
  }
  return faults;
}
