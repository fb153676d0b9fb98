import type { PlaceProblem, TenNetwork } from "../../engine/contract/kernels.ts";
import { orderByTime } from "../../model/numbers/ordering.ts";
import type { StepSchedule } from "../../model/steps/step-schedule.ts";

/** Which transfers of a schedule wait for which, when they move only in time and not to other routes or trees. */
export interface Precedence {
  /** A transfer's successors are those that leave its target with its chunk, and that the schedule starts after its end. */
  readonly forward: Omit<PlaceProblem, "key">;
  /** The same backwards in time: successors are predecessors. */
  readonly backward: Omit<PlaceProblem, "key">;
  /** [transfers] */
  readonly slotPs: Float64Array;
  /** [transfers] longest time from the start of this transfer to the end of all that builds on it. */
  readonly tailPs: Float64Array;
  /** No schedule of these transfers ends earlier: a path, or all that a route or resource must do, with what lies before and behind. */
  readonly leastPs: number;
}

/** Transfers that leave (chunk, NPU): rows[offset[key] .. offset[key + 1]], key = chunk * NPUs + NPU. */
function departuresOf({ topology, collective, routes, chunk, route }: StepSchedule) {
  const npus = topology.npuCount;
  const keys = collective.chunkCount * npus;
  const offset = new Int32Array(keys + 1);
  for (let i = 0; i < chunk.length; i++) offset[chunk[i] * npus + routes.source[route[i]] + 1]++;
  for (let k = 0; k < keys; k++) offset[k + 1] += offset[k];
  const next = offset.slice(0, keys);
  const rows = new Int32Array(chunk.length);
  for (let i = 0; i < chunk.length; i++) rows[next[chunk[i] * npus + routes.source[route[i]]]++] = i;
  return { offset, rows };
}

/** Returns the successors of every transfer, or null when there are more than `most` in all. O(transfers + pairs of neighbours). */
function successorsOf(schedule: StepSchedule, most: number) {
  const { topology, routes, chunk, route, startPs, endPs } = schedule;
  const departures = departuresOf(schedule);
  const offset = new Int32Array(chunk.length + 1);
  // Rows are in order of start, and so are the departures of one key: the successors are the last of them.
  const first = new Int32Array(chunk.length);
  let count = 0;
  for (let i = 0; i < chunk.length && count <= most; i++) {
    const key = chunk[i] * topology.npuCount + routes.target[route[i]];
    const behind = departures.offset[key + 1];
    let k = departures.offset[key];
    while (k < behind && startPs[departures.rows[k]] < endPs[i]) k++;
    first[i] = k;
    count += behind - k;
    offset[i + 1] = count;
  }
  if (count > most) return null;
  const items = new Int32Array(count);
  for (let i = 0; i < chunk.length; i++) {
    for (let at = offset[i], k = first[i]; at < offset[i + 1]; at++, k++) items[at] = departures.rows[k];
  }
  return { offset, items };
}

function transposed({ offset, items }: { readonly offset: Int32Array; readonly items: Int32Array }) {
  const count = offset.length - 1;
  const back = new Int32Array(count + 1);
  for (let k = 0; k < items.length; k++) back[items[k] + 1]++;
  for (let i = 0; i < count; i++) back[i + 1] += back[i];
  const next = back.slice(0, count);
  const rows = new Int32Array(items.length);
  for (let i = 0; i < count; i++) {
    for (let k = offset[i]; k < offset[i + 1]; k++) rows[next[items[k]]++] = i;
  }
  return { offset: back, items: rows };
}

/** Returns the longest time from the start of each transfer to the end of its successors; `order` has successors first. */
function tails(
  lists: { offset: Int32Array; items: Int32Array },
  slotPs: Float64Array,
  order: Uint32Array,
): Float64Array {
  const tailPs = new Float64Array(slotPs.length);
  for (const i of order) {
    let behind = 0;
    for (let k = lists.offset[i]; k < lists.offset[i + 1]; k++) behind = Math.max(behind, tailPs[lists.items[k]]);
    tailPs[i] = behind + slotPs[i];
  }
  return tailPs;
}

/**
 * Returns a time before which no schedule of these transfers ends: for every route or resource and every set of its
 * transfers with the longest heads, the least head, all their slots, and the least time behind one of them. Shares of a
 * resource are rounded: good enough to end a search.
 */
function leastEnd(
  network: TenNetwork,
  route: Int32Array,
  slotPs: Float64Array,
  ahead: Float64Array,
  behind: Float64Array,
) {
  const { useOffset, useResource, useUnits, capacity } = network;
  const routes = network.slotPs.length;
  const busy = new Float64Array(routes + capacity.length);
  const least = new Float64Array(routes + capacity.length).fill(Number.POSITIVE_INFINITY);
  let end = 0;
  const add = (machine: number, i: number, time: number): void => {
    busy[machine] += time;
    least[machine] = Math.min(least[machine], behind[i] - slotPs[i]);
    end = Math.max(end, ahead[i] - slotPs[i] + busy[machine] + least[machine]);
  };
  for (const i of orderByTime(ahead).reverse()) {
    const r = route[i];
    add(r, i, slotPs[i]);
    for (let k = useOffset[r]; k < useOffset[r + 1]; k++) {
      add(routes + useResource[k], i, (slotPs[i] * useUnits[k]) / capacity[useResource[k]]);
    }
  }
  return Math.floor(end);
}

/** Returns what waits for what in a schedule, or null when there are more than `most` pairs. O(transfers log transfers + pairs). */
export function precedenceOf(schedule: StepSchedule, network: TenNetwork, most: number): Precedence | null {
  const successors = successorsOf(schedule, most);
  if (successors === null) return null;
  const predecessors = transposed(successors);
  const route = Int32Array.from(schedule.route);
  const slotPs = Float64Array.from(route, (r) => network.slotPs[r]);
  const byStart = orderByTime(schedule.startPs);
  const headPs = tails(predecessors, slotPs, byStart);
  const tailPs = tails(successors, slotPs, byStart.slice().reverse());
  const least = leastEnd(network, route, slotPs, headPs, tailPs);
  return {
    forward: { network, route, successorOffset: successors.offset, successor: successors.items },
    backward: { network, route, successorOffset: predecessors.offset, successor: predecessors.items },
    slotPs,
    tailPs,
    leastPs: Math.max(least, leastEnd(network, route, slotPs, tailPs, headPs)),
  };
}
