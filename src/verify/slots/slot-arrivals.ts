import { type ArrivalLog, portBytes } from "../../model/slots/slot-schedule.ts";
import { heldBy, type LogFrame, portCount, shapeFault } from "./slot-log.ts";

/** Chunks by NPU and the slot from whose start on they are there; decoded logs in one block of memory. */
export interface Arrivals {
  /** chunk c is at the NPU of the row at `base` from the start of slot since[base + c] on; `absent` if never. */
  readonly since: Uint16Array | Int32Array;
  /** Larger than every slot. */
  readonly absent: number;
  /** At least so many rows that were asked for last are still there. */
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

export interface ScratchLog {
  /** [chunks] */
  readonly chunk: Int32Array;
  readonly ports: Uint8Array;
  /** Bytes of ports in a slot. */
  readonly bytes: number;
  /** Chunks that are there from the start. */
  readonly held: number;
}

/** States of an NPU's log. */
export const UNREAD = 0;
/** A permutation of the chunks, its own first. */
export const SOUND = 1;
/** Some chunks are wrong; of those that are there more than once the first arrival counts. */
export const WRONG_CHUNKS = 2;
/** Not to be read: nothing is said of its chunks, they count as there from the start. */
export const WRONG_SHAPE = 3;

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
