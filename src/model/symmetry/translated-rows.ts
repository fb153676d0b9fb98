import { InternalError } from "../../base/errors.ts";
import type { Collective } from "../collective/collective.ts";
import type { RouteSet } from "../routes/routes.ts";
import { type ArrivalLog, portBytes, type SlotPass, type SlotSchedule } from "../slots/slot-schedule.ts";
import { type IndexColumn, indexColumn } from "../steps/step-schedule.ts";
import type { Topology } from "../topology/topology.ts";
import { portTranslation, translateAll } from "./translation.ts";

/** Above so many bytes of logs with reordered ports, those kept are dropped. */
const MOST_BYTES = 1 << 26;

/** The arrival log of NPU 0 and the translations that give those of the others. */
export interface TranslatedRows {
  readonly topology: Topology;
  readonly routes: RouteSet;
  /** Sizes of the dimensions (translation.ts) under which the routes are invariant. */
  readonly sizes: readonly number[];
  /** NPU v owns chunks v * chunksPerNpu onwards. */
  readonly chunksPerNpu: number;
  readonly row: ArrivalLog;
}

/**
 * Returns the function that gives the log of any NPU: chunks and ports translated, the arrivals of a slot again in order of
 * port. O(chunks) a call; NPUs whose ports lie in the same order share the `ports` column. Throws InternalError when the
 * routes are not invariant.
 */
export function translatedRows({
  topology,
  routes,
  sizes,
  chunksPerNpu,
  row,
}: TranslatedRows): (npu: number) => ArrivalLog {
  const { npuCount } = topology;
  const chunkCount = npuCount * chunksPerNpu;
  const translation = portTranslation(topology, routes, sizes);
  if (translation === null) throw new InternalError("translated rows over routes that are not invariant");
  const port = new Int32Array(translation.ports);
  const image = new Int32Array(npuCount);
  const reordered = new Map<string, ArrivalLog>();
  let bytes = 0;

  const inOrderOf = (npu: number): ArrivalLog => {
    if (!translation.portsAt(npu, port)) throw new InternalError("translated rows over routes that are not invariant");
    const key = port.join();
    const kept = reordered.get(key);
    if (kept !== undefined) return kept;
    if (bytes > MOST_BYTES) {
      reordered.clear();
      bytes = 0;
    }
    const log = withPorts(row, port, chunksPerNpu);
    bytes += log.chunk.byteLength + log.ports.byteLength;
    reordered.set(key, log);
    return log;
  };

  return (npu) => {
    const { chunk, ports } = inOrderOf(npu);
    translateAll(sizes, npu, image);
    const moved = indexColumn(chunk.length, chunkCount);
    if (chunksPerNpu === 1) {
      for (let i = 0; i < moved.length; i++) moved[i] = image[chunk[i]];
    } else {
      for (let i = 0; i < moved.length; i++) {
        const owner = Math.floor(chunk[i] / chunksPerNpu);
        moved[i] = chunk[i] + (image[owner] - owner) * chunksPerNpu;
      }
    }
    return { chunk: moved, ports };
  };
}

/** Returns the log with port p renamed port[p]; the first `held` chunks stay. */
function withPorts(row: ArrivalLog, port: Int32Array, held: number): ArrivalLog {
  if (port.every((to, from) => to === from)) return row;
  const bytes = portBytes(port.length);
  const chunk = row.chunk.slice() as IndexColumn;
  const ports = new Uint8Array(row.ports.length);
  const arriving = new Int32Array(port.length);
  let read = held;
  let write = held;
  for (let slot = 0; slot < ports.length; slot += bytes) {
    for (let b = 0; b < bytes; b++) {
      for (let bits = row.ports[slot + b]; bits !== 0; bits &= bits - 1) {
        const to = port[b * 8 + 31 - Math.clz32(bits & -bits)];
        arriving[to] = row.chunk[read++];
        ports[slot + (to >> 3)] |= 1 << (to & 7);
      }
    }
    for (let b = 0; b < bytes; b++) {
      for (let bits = ports[slot + b]; bits !== 0; bits &= bits - 1) {
        chunk[write++] = arriving[b * 8 + 31 - Math.clz32(bits & -bits)];
      }
    }
  }
  return { chunk, ports };
}

/**
 * Returns the schedule of one log and its translations. The collective is one among all NPUs in order of id, chunks in order
 * of owner (all-gather, reduce-scatter, all-reduce). Throws InternalError as translatedRows does.
 */
export function translatedSchedule(
  rows: TranslatedRows,
  collective: Collective,
  time: { readonly slotPs: number; readonly slots: number; readonly passes: readonly SlotPass[] },
): SlotSchedule {
  const { topology, routes, sizes, chunksPerNpu } = rows;
  const origin = new Int32Array(topology.npuCount * chunksPerNpu);
  for (let c = 0; c < origin.length; c++) origin[c] = Math.floor(c / chunksPerNpu);
  return { kind: "slots", topology, collective, routes, ...time, origin, symmetry: sizes, row: translatedRows(rows) };
}
