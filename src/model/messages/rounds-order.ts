import { orderByTime } from "../numbers/ordering.ts";
import { OP_COPY, type StepSchedule, transferCount } from "../steps/step-schedule.ts";

/**
 * What must come before what. Nodes 0 .. transfers - 1 are transfers, others stand for all of a group of them. Node v depends on
 * to[e] for e = first[v], next[e] ... until -1: it comes in a later round (later[e] = 1), or not in an earlier one.
 */
export interface Precedence {
  readonly nodes: number;
  readonly first: Int32Array;
  readonly next: Int32Array;
  readonly to: Int32Array;
  readonly later: Uint8Array;
}

const READ = 0;
const ADD = 1;
const COPY = 2;

/** Transfers that do the same to a chunk at an NPU, with nothing else between them. */
interface Group {
  readonly doing: typeof READ | typeof ADD | typeof COPY;
  /** The node that stands for the group, and the one that stands for the group before (-1: none). */
  readonly all: number;
  readonly before: number;
  readonly afterRead: boolean;
}

/**
 * Returns the order that a schedule's payloads ask for, where messages of a round carry what their sources hold when it
 * begins. Without reductions: a chunk goes on after its first arrival. With them, what an NPU holds changes: a departure comes
 * after all arrivals of its chunk that it saw, and none that it did not see comes before it. Additions with nothing between
 * them may change places. O(transfers).
 */
export function precedenceOf(schedule: StepSchedule): Precedence {
  const { collective, routes, chunk, route, op } = schedule;
  const count = transferCount(schedule);
  const first = new Int32Array(3 * count).fill(-1);
  const next = new Int32Array(4 * count);
  const to = new Int32Array(4 * count);
  const later = new Uint8Array(4 * count);
  let nodes = count;
  let edges = 0;
  const depend = (node: number, on: number, strictly: boolean): void => {
    to[edges] = on;
    later[edges] = strictly ? 1 : 0;
    next[edges] = first[node];
    first[node] = edges++;
  };

  const arrived = new Map<number, number>();
  const copies = (transfer: number, cell: number, reads: boolean): void => {
    const source = arrived.get(cell);
    if (!reads && source === undefined) arrived.set(cell, transfer);
    if (reads && source !== undefined) depend(transfer, source, true);
  };
  const groups = new Map<number, Group>();
  const sums = (transfer: number, cell: number, reads: boolean): void => {
    const doing = reads ? READ : op[transfer] === OP_COPY ? COPY : ADD;
    let group = groups.get(cell);
    if (group === undefined || group.doing !== doing || doing === COPY) {
      group = { doing, all: nodes++, before: group?.all ?? -1, afterRead: group?.doing === READ };
      groups.set(cell, group);
    }
    if (group.before >= 0) depend(transfer, group.before, !group.afterRead);
    depend(group.all, transfer, false);
  };
  const visit = collective.reduces ? sums : copies;
  forEachEvent(schedule, (transfer, reads) => {
    const npu = reads ? routes.source[route[transfer]] : routes.target[route[transfer]];
    visit(transfer, npu * collective.chunkCount + chunk[transfer], reads);
  });
  return { nodes, first, next, to, later };
}

/** Calls `visit` for the departure and the arrival of every transfer in order of time, arrivals before departures. */
function forEachEvent({ startPs, endPs }: StepSchedule, visit: (transfer: number, departs: boolean) => void): void {
  const departures = orderByTime(startPs);
  const arrivals = orderByTime(endPs);
  let next = 0;
  for (const arrival of arrivals) {
    while (next < departures.length && startPs[departures[next]] < endPs[arrival]) visit(departures[next++], true);
    visit(arrival, false);
  }
  while (next < departures.length) visit(departures[next++], true);
}
