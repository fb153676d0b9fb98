import { InternalError } from "../../base/errors.ts";
import { routeCount } from "../routes/routes.ts";
import { indexColumn, OP_COPY, OP_REDUCE, type StepSchedule } from "../steps/step-schedule.ts";
import { mirrorRoutes, portBytes, portsOf, type SlotSchedule, slotTransferCount } from "./slot-schedule.ts";

/**
 * Returns the schedule transfer by transfer. The logs must be well-formed. O(transfers + slots); about 20 bytes a transfer.
 * Throws InternalError when a pass runs backwards and some route has no mirror.
 */
export function expandSlots(schedule: SlotSchedule): StepSchedule {
  const { topology, collective, routes, slotPs, slots, passes } = schedule;
  const count = slotTransferCount(schedule);
  const chunk = indexColumn(count, collective.chunkCount);
  const route = indexColumn(count, routeCount(routes));
  const startPs = new Float64Array(count);
  const endPs = new Float64Array(count);
  const op = new Uint8Array(count);
  const pass = passColumns(schedule);
  const backwards = passes.some(({ reversed }) => reversed);
  const mirror = backwards ? mirrorRoutes(routes, topology.npuCount) : null;
  if (backwards && mirror === null) throw new InternalError("a reversed pass over routes that have no mirror");
  let row = 0;
  passes.forEach(({ reversed, reduces }, p) => {
    const order =
      reversed && mirror !== null ? rowsOfPass(pass, slots, mirror, true) : rowsOfPass(pass, slots, null, false);
    for (const i of order) {
      const slot = reversed ? slots - 1 - pass.slot[i] : pass.slot[i];
      chunk[row] = pass.chunk[i];
      route[row] = reversed && mirror !== null ? mirror[pass.route[i]] : pass.route[i];
      startPs[row] = (p * slots + slot) * slotPs;
      endPs[row] = startPs[row] + slotPs;
      op[row++] = reduces ? OP_REDUCE : OP_COPY;
    }
  });
  return { topology, collective, routes, chunk, route, startPs, endPs, op };
}

interface PassColumns {
  readonly chunk: Int32Array;
  readonly route: Int32Array;
  readonly slot: Int32Array;
}

/** Returns the arrivals of one pass, NPU by NPU. */
function passColumns(schedule: SlotSchedule): PassColumns {
  const { topology, collective, routes } = schedule;
  const count = (topology.npuCount - 1) * collective.chunkCount;
  const columns = { chunk: new Int32Array(count), route: new Int32Array(count), slot: new Int32Array(count) };
  let row = 0;
  const ports = portsOf(routes, topology.npuCount);
  const held = new Int32Array(topology.npuCount);
  for (const npu of schedule.origin) held[npu]++;
  for (let npu = 0; npu < topology.npuCount; npu++) {
    const first = ports.offset[npu];
    const bytes = portBytes(ports.offset[npu + 1] - first);
    const log = schedule.row(npu);
    let at = held[npu];
    for (let byte = 0; byte < log.ports.length; byte++) {
      const slot = Math.floor(byte / bytes);
      for (let bits = log.ports[byte]; bits !== 0; bits &= bits - 1) {
        const port = (byte % bytes) * 8 + (31 - Math.clz32(bits & -bits));
        columns.chunk[row] = log.chunk[at++];
        columns.route[row] = ports.items[first + port];
        columns.slot[row++] = slot;
      }
    }
  }
  return columns;
}

/** Returns the rows in order of start and route: sorted by route, then stably by slot. O(transfers + slots + routes). */
function rowsOfPass(pass: PassColumns, slots: number, mirror: Int32Array | null, reversed: boolean): Int32Array {
  const { slot, route } = pass;
  const keyed = mirror === null ? route : route.map((r) => mirror[r]);
  const routes = keyed.reduce((most, r) => Math.max(most, r), -1) + 1;
  const byRoute = countingSort(
    Int32Array.from(slot, (_, i) => i),
    keyed,
    routes,
  );
  const times = reversed ? slot.map((t) => slots - 1 - t) : slot;
  return countingSort(byRoute, times, slots);
}

/** Returns `rows` stably sorted by key[row], keys in 0 .. keys - 1. */
function countingSort(rows: Int32Array, key: Int32Array, keys: number): Int32Array {
  const next = new Int32Array(keys + 1);
  for (let i = 0; i < rows.length; i++) next[key[rows[i]] + 1]++;
  for (let k = 0; k < keys; k++) next[k + 1] += next[k];
  const sorted = new Int32Array(rows.length);
  for (let i = 0; i < rows.length; i++) sorted[next[key[rows[i]]]++] = rows[i];
  return sorted;
}
