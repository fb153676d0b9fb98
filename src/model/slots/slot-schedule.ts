import { InternalError } from "../../base/errors.ts";
import type { Collective } from "../collective/collective.ts";
import { type Grouped, groupedBy } from "../graph/graph.ts";
import { indicesBelow, sortedBy } from "../numbers/ordering.ts";
import { type RouteSet, routeCount } from "../routes/routes.ts";
import { type IndexColumn, indexColumn, OP_COPY, OP_REDUCE, type StepSchedule } from "../steps/step-schedule.ts";
import type { Topology } from "../topology/topology.ts";

/**
 * What one NPU receives, in order. Port p of an NPU is the p-th of its incoming routes, ascending by route; time moves in
 * slots of equal length, and each port brings at most one chunk per slot, which is there when the slot ends.
 */
export interface ArrivalLog {
  /**
   * What the NPU holds at the start, ascending, then what arrives, slot by slot, the arrivals of a slot in ascending order
   * of port. Every chunk once, so the length is the number of chunks.
   */
  readonly chunk: IndexColumn;
  /**
   * [slots of this NPU * portBytes] bit p & 7 of byte t * portBytes + (p >> 3): a chunk arrives through port p in slot t.
   * Ends with the last slot in which something arrives.
   */
  readonly ports: Uint8Array;
}

/** One run through the arrival logs. */
export interface SlotPass {
  /**
   * Backwards in time and direction: what arrives at v over a route in slot t is sent by v over the mirror of that route
   * (mirrorRoutes) in slot slots - 1 - t.
   */
  readonly reversed: boolean;
  /** The transfers of the pass reduce. */
  readonly reduces: boolean;
}

/**
 * Sizes of the dimensions, first fastest, of a group of translations: NPU x0 + d0 * (x1 + d1 * ...) adds its coordinates to
 * those of every node and chunk owner. The log of NPU 0 stands for all.
 */
type Translations = readonly number[];

/**
 * Maps of the NPUs onto themselves that make up a group, as where each takes every NPU. The logs of the least NPUs of its
 * orbits stand for all (`folded-rows.ts`): that of another NPU is the image of its orbit's under the first map, in
 * lexicographic order, that takes that NPU to it.
 */
export interface Generators {
  readonly generators: readonly Int32Array[];
}

/** Returns the sizes of the translations under which a schedule does not change; null without such. */
export const translationsFor = ({ symmetry }: Pick<SlotSchedule, "symmetry">): Translations | null =>
  symmetry === null || "generators" in symmetry ? null : symmetry;

/**
 * A schedule in which everyone gets everything over routes that are equally long and never in each other's way, kept as one
 * arrival log per NPU: about two bytes a transfer where step schedules take 20. Passes follow each other; an all-reduce runs
 * through the same logs twice. All-gather: [forward]; reduce-scatter: [reversed, reduces]; all-reduce: first this, then that.
 */
export interface SlotSchedule {
  readonly kind: "slots";
  readonly topology: Topology;
  readonly collective: Collective;
  /** Shares in use by all routes at once sum to at most 1 on every link. */
  readonly routes: RouteSet;
  /** Length of a slot: a transfer occupies its route for so long (link-busy model). Exact integer, picoseconds. */
  readonly slotPs: number;
  /** Slots of one pass. */
  readonly slots: number;
  readonly passes: readonly SlotPass[];
  /** [chunks] the NPU at which the logs have the chunk from the start. */
  readonly origin: Int32Array;
  /** A group under which the schedule does not change; null where none is known. */
  readonly symmetry: Translations | Generators | null;
  /** Returns the log of an NPU; a view or a decoded copy that stays valid. May read a file: throws InputError for a damaged one. */
  row(npu: number): ArrivalLog;
}

export type Schedule = StepSchedule | SlotSchedule;

export const isSlotSchedule = (schedule: object): schedule is SlotSchedule =>
  "kind" in schedule && schedule.kind === "slots";

/** Returns the transfers of all passes. */
export function slotTransferCount({ topology, collective, passes }: SlotSchedule): number {
  return (topology.npuCount - 1) * collective.chunkCount * passes.length;
}

/** Returns when the last pass ends, in picoseconds. */
export const slotMakespanPs = ({ slots, slotPs, passes }: SlotSchedule): number => slots * slotPs * passes.length;

/** Returns the routes into each NPU, ascending: port p of NPU v is items[offset[v] + p]. O(routes). */
export const portsOf = (routes: RouteSet, npuCount: number): Grouped => groupedBy(routes.target, npuCount);

/** Returns the bytes that a slot takes in the ports of an NPU with this many ports. */
export const portBytes = (ports: number): number => (ports + 7) >>> 3;

/** Returns the log with port p renamed port[p]; the first `held` chunks stay. O(chunks + slots). */
export function withPorts(row: ArrivalLog, port: Int32Array, held: number): ArrivalLog {
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
 * Returns for each route the one that runs the other way: the k-th of the routes from a to b, ascending, has the k-th of
 * those from b to a. Null when some route has none. O(routes x routes out of one NPU).
 */
export function mirrorRoutes(routes: RouteSet, npuCount: number): Int32Array | null {
  const { source, target } = routes;
  const leaving = groupedBy(source, npuCount);
  const mirror = new Int32Array(routeCount(routes));
  for (let route = 0; route < mirror.length; route++) {
    let rank = 0;
    for (let i = leaving.offset[source[route]]; leaving.items[i] < route; i++) {
      if (target[leaving.items[i]] === target[route]) rank++;
    }
    let found = -1;
    for (let i = leaving.offset[target[route]]; i < leaving.offset[target[route] + 1] && found < 0; i++) {
      if (target[leaving.items[i]] === source[route] && rank-- === 0) found = leaving.items[i];
    }
    if (found < 0) return null;
    mirror[route] = found;
  }
  return mirror;
}

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
  const byRoute = sortedBy(indicesBelow(slot.length), keyed, routes);
  const times = reversed ? slot.map((t) => slots - 1 - t) : slot;
  return sortedBy(byRoute, times, slots);
}
