import { type Grouped, groupedBy } from "../../model/graph/graph.ts";
import { type ArrivalLog, portBytes, portsOf, type SlotSchedule } from "../../model/slots/slot-schedule.ts";
import type { Names } from "../describe.ts";
import type { Recorder } from "../violation.ts";

/** What the logs of a schedule must fit. */
export interface LogFrame {
  readonly schedule: SlotSchedule;
  readonly npus: number;
  readonly chunks: number;
  /** Chunks by their origin. */
  readonly held: Grouped;
  /** Routes by their target: the ports. */
  readonly ports: Grouped;
}

export function logFrame(schedule: SlotSchedule): LogFrame {
  const { topology, collective, routes, origin } = schedule;
  const npus = topology.npuCount;
  return {
    schedule,
    npus,
    chunks: collective.chunkCount,
    held: groupedBy(origin, npus),
    ports: portsOf(routes, npus),
  };
}

export const heldBy = ({ held }: LogFrame, npu: number): number => held.offset[npu + 1] - held.offset[npu];
export const portCount = ({ ports }: LogFrame, npu: number): number => ports.offset[npu + 1] - ports.offset[npu];

const typeOf = (value: unknown): string => Object.prototype.toString.call(value).slice(8, -1);
const BITS_OF_BYTE = Uint8Array.from({ length: 256 }, (_, byte) => {
  let bits = 0;
  for (let b = byte; b !== 0; b &= b - 1) bits++;
  return bits;
});

/**
 * Returns what keeps an NPU's log from being read as one, or null: the types and lengths of its columns, as many bits as
 * arrivals, bits of ports that there are, slots that the schedule has. Says nothing of which chunks the log holds. Marks in
 * `used` the routes that the log uses. O(chunks + slots).
 */
export function shapeFault(frame: LogFrame, npu: number, log: ArrivalLog, used?: Uint8Array): string | null {
  const { chunks, schedule } = frame;
  const chunkType = typeOf(log?.chunk);
  if (!["Uint8Array", "Uint16Array", "Int32Array"].includes(chunkType) || typeOf(log.ports) !== "Uint8Array") {
    return "is no pair of columns of whole numbers";
  }
  const { chunk, ports } = log;
  if (chunk.length !== chunks) return `has ${chunk.length} entries, not one for each of the ${chunks} chunks`;
  const count = portCount(frame, npu);
  const bytes = portBytes(count);
  if (bytes === 0 ? ports.length > 0 : ports.length % bytes !== 0) {
    return `has ${ports.length} bytes of ports, not ${bytes} for each slot`;
  }
  if (ports.length > schedule.slots * bytes) {
    return `goes on for ${ports.length / bytes} slots, but the schedule has ${schedule.slots}`;
  }
  const seen = new Uint8Array(bytes);
  const arrivals = countBits(ports, seen);
  if (ports.length > 0 && ports.subarray(ports.length - bytes).every((byte) => byte === 0)) {
    return "ends with a slot in which nothing arrives";
  }
  const first = frame.ports.offset[npu];
  for (let port = 0; port < bytes * 8; port++) {
    if (((seen[port >> 3] >> (port & 7)) & 1) === 0) continue;
    if (port >= count) return `has an arrival through port ${port}, but there are ${count} ports`;
    if (used !== undefined) used[frame.ports.items[first + port]] = 1;
  }
  const held = heldBy(frame, npu);
  if (arrivals === chunks - held) return null;
  return `has ${arrivals} arrivals through ports, but ${chunks} chunks of which ${held} are there from the start`;
}

/** Returns the number of bits in the ports, and unites those of all slots in `seen`. */
function countBits(ports: Uint8Array, seen: Uint8Array): number {
  const bytes = seen.length;
  let bits = 0;
  for (let b = 0; b < bytes; b++) {
    let union = 0;
    for (let i = b; i < ports.length; i += bytes) {
      union |= ports[i];
      bits += BITS_OF_BYTE[ports[i]];
    }
    seen[b] = union;
  }
  return bits;
}

/** Calls back for each arrival of a log of sound shape, in order: chunk, port, slot. */
export function eachArrival(
  frame: LogFrame,
  npu: number,
  log: ArrivalLog,
  visit: (chunk: number, port: number, slot: number) => void,
): void {
  const bytes = portBytes(portCount(frame, npu));
  let at = heldBy(frame, npu);
  for (let i = 0; i < log.ports.length; i++) {
    for (let bits = log.ports[i]; bits !== 0; bits &= bits - 1) {
      visit(log.chunk[at++], (i % bytes) * 8 + 31 - Math.clz32(bits & -bits), Math.floor(i / bytes));
    }
  }
}

/**
 * Records what is wrong with the chunks of a log of sound shape: one that does not exist, one that is there twice, one that
 * is missing, origins that are not in their place. O(chunks).
 */
export function recordChunkFaults(
  frame: LogFrame,
  npu: number,
  log: ArrivalLog,
  recorder: Recorder,
  words: Names,
): void {
  const { chunks, held, schedule } = frame;
  const { topology, origin, passes } = schedule;
  const name = topology.nodeNames[npu];
  const times = new Uint8Array(chunks);
  const malformed = (chunk: number, what: string): void =>
    recorder.record(() => ({ kind: "malformed", npu, chunk, message: `the log of ${name} ${what}` }));
  for (let i = 0; i < chunks; i++) {
    const chunk = log.chunk[i];
    if (chunk < 0 || chunk >= chunks) {
      malformed(chunk, `has chunk ${chunk}, which does not exist`);
      continue;
    }
    times[chunk] = Math.min(2, times[chunk] + 1);
    if (times[chunk] === 2) malformed(chunk, `has chunk ${chunk} more than once`);
    else if (i < heldBy(frame, npu) && chunk !== held.items[held.offset[npu] + i]) {
      malformed(chunk, `begins with chunk ${chunk} where chunk ${held.items[held.offset[npu] + i]} is its own`);
    }
  }
  for (let chunk = 0; chunk < chunks; chunk++) {
    if (times[chunk] > 0) continue;
    recorder.record(() =>
      passes[0].reversed
        ? {
            kind: "missing-contribution",
            npu: origin[chunk],
            chunk,
            message: `${words.npu(origin[chunk], chunk)} ends without the contribution of ${words.npu(npu, chunk)} to chunk ${chunk}, which never sends it`,
          }
        : { kind: "missing-chunk", npu, chunk, message: `${words.npu(npu, chunk)} never receives chunk ${chunk}` },
    );
  }
}
