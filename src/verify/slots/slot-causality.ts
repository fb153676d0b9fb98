import type { Names } from "../describe.ts";
import type { Recorder, Violation } from "../violation.ts";
import { type Arrivals, type ScratchLog, SOUND } from "./slot-arrivals.ts";
import { type LogFrame, portCount, recordChunkFaults, shapeFault } from "./slot-log.ts";

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

/** Records the early arrivals of one NPU, in the order of its log. */
function checkSources(frame: LogFrame, npu: number, rows: Arrivals, recorder: Recorder, words: Names): void {
  const { ports, schedule } = frame;
  const first = ports.offset[npu];
  const count = portCount(frame, npu);
  const early: EarlyArrival[] = [];
  // where the sources' rows do not fit the memory at once, ports are judged some at a time
  for (let from = 0; from < count; from += rows.rowsKept) {
    const base = new Float64Array(count).fill(rows.idle);
    for (let p = from; p < Math.min(count, from + rows.rowsKept); p++) {
      base[p] = rows.rowOf(schedule.routes.source[ports.items[first + p]]);
    }
    const baseOfPort = rows.since.length <= 0x7fffffff ? Int32Array.from(base) : base;
    const log = rows.logOf(npu);
    if (countEarly(log, rows.since, baseOfPort) > 0)
      for (const arrival of earlyArrivals(log, rows.since, baseOfPort)) early.push(arrival);
  }
  early.sort((a, b) => a.at - b.at);
  for (const { chunk, port, slot, since } of early) {
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

/** Yields the arrivals that `countEarly` counts. */
function* earlyArrivals(
  { chunk, ports, bytes, held }: ScratchLog,
  since: Uint16Array | Int32Array,
  base: Int32Array | Float64Array,
): Generator<EarlyArrival> {
  let at = held;
  for (let start = 0; start < ports.length; start++) {
    const slot = Math.floor(start / bytes);
    for (let bits = ports[start]; bits !== 0; bits &= bits - 1, at++) {
      const port = (start % bytes) * 8 + 31 - Math.clz32(bits & -bits);
      const from = since[base[port] + chunk[at]];
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
