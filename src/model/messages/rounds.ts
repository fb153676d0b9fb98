import { InputError, inWords } from "../../base/errors.ts";
import { membersOf } from "../collective/collective.ts";
import { groupedBy } from "../graph/graph.ts";
import { orderByTime } from "../numbers/ordering.ts";
import { OP_COPY, type StepSchedule, transferCount } from "../steps/step-schedule.ts";

/**
 * A schedule's transfers in rounds. Messages of a round carry what their sources hold when it begins, and are there when it ends;
 * an NPU may send and receive any number of them.
 */
export interface Rounds {
  /** [rounds + 1] Round k has transfer[offset[k] .. offset[k + 1]]. */
  readonly offset: Int32Array;
  /** [transfers] rows of the schedule; those of a round ascend by source. */
  readonly transfer: Int32Array;
}

export const roundCount = (rounds: Rounds): number => rounds.offset.length - 1;

/**
 * Returns the transfers in the fewest rounds in which every message carries the same as in the schedule: as many as the longest
 * chain of data has transfers, each transfer as early as its data allows.
 *
 * Transfers that must neither be before nor after each other (NPUs that exchange what they hold) share a round. Throws
 * InputError where they cannot, because one passes on what another brings.
 *
 * O(transfers log transfers).
 */
export function roundsOf(schedule: StepSchedule): Rounds {
  const { routes, route, topology, collective } = schedule;
  const source = Int32Array.from(route, (r) => routes.source[r]);
  return grouped((collective.reduces ? ofSums : ofCopies)(schedule), source, topology.npuCount);
}

/** Returns the round of each transfer of a schedule without reductions: the first in which its source has the chunk. */
function ofCopies(schedule: StepSchedule): Int32Array {
  const { collective, routes, chunk, route } = schedule;
  const round = new Int32Array(transferCount(schedule));
  /** For a chunk at an NPU the first round in which it can go on, of what has arrived so far. */
  const there = new Map<number, number>();
  for (let c = 0; c < collective.chunkCount; c++)
    for (const npu of membersOf(collective, collective.pre, c)) there.set(npu * collective.chunkCount + c, 0);
  forEachEvent(schedule, (i, departs) => {
    const npu = departs ? routes.source[route[i]] : routes.target[route[i]];
    const known = there.get(npu * collective.chunkCount + chunk[i]);
    if (departs) round[i] = known ?? 0;
    else if (known === undefined || round[i] + 1 < known)
      there.set(npu * collective.chunkCount + chunk[i], round[i] + 1);
  });
  return round;
}

function ofSums(schedule: StepSchedule): Int32Array {
  const { routes, route } = schedule;
  const precedence = precedenceOf(schedule);
  const round = new Int32Array(precedence.nodes);
  visitUnits(precedence, (unit) => {
    const earliest = earliestRound(precedence, unit, round);
    if (earliest < 0) {
      const expected = "a schedule whose messages rounds can keep in order";
      const transfers = unit.filter((node) => node < route.length).subarray(0, 4);
      const some = Array.from(transfers, (i) => `${routes.source[route[i]]}>${routes.target[route[i]]}`);
      throw new InputError(
        "a schedule in rounds",
        expected,
        inWords(`transfers that cross in flight: ${some.join(", ")} ...`),
      );
    }
    for (const node of unit) round[node] = earliest;
  });
  return round.subarray(0, route.length);
}

const roundsIn = (round: Int32Array): number => round.reduce((most, k) => Math.max(most, k + 1), 0);

/** Returns the first round that dependencies on others allow, -1 where one of the unit must come later than another. O(edges). */
function earliestRound({ first, next, to, later }: Precedence, unit: Int32Array, round: Int32Array): number {
  const inside = unit.length === 1 ? null : new Set(unit);
  let earliest = 0;
  for (const node of unit) {
    for (let e = first[node]; e >= 0; e = next[e]) {
      if (!inside?.has(to[e])) earliest = Math.max(earliest, round[to[e]] + later[e]);
      else if (later[e] === 1) return -1;
    }
  }
  return earliest;
}

function grouped(round: Int32Array, source: Int32Array, npuCount: number): Rounds {
  const bySource = groupedBy(source, npuCount).items;
  const { offset, items } = groupedBy(
    bySource.map((i) => round[i]),
    roundsIn(round),
  );
  return { offset, transfer: items.map((place) => bySource[place]) };
}

/**
 * Calls `visit` with the nodes that depend on each other in a circle (most often a single node), what they depend on first.
 * The view is used again. O(nodes + edges). Tarjan 1972, without recursion.
 */
function visitUnits({ nodes, first, next, to }: Precedence, visit: (unit: Int32Array) => void): void {
  const number = new Int32Array(nodes);
  const low = new Int32Array(nodes);
  const edge = first.slice(0, nodes);
  const open = new Int32Array(nodes);
  const path = new Int32Array(nodes);
  const done = new Uint8Array(nodes);
  let [numbers, openCount] = [0, 0];
  for (let start = 0; start < nodes; start++) {
    if (number[start] > 0) continue;
    let depth = 0;
    path[0] = start;
    while (depth >= 0) {
      const node = path[depth];
      if (number[node] === 0) {
        number[node] = ++numbers;
        low[node] = numbers;
        open[openCount++] = node;
      }
      const e = edge[node];
      if (e >= 0) {
        const other = to[e];
        if (number[other] === 0) {
          path[++depth] = other;
          continue;
        }
        if (done[other] === 0 && low[other] < low[node]) low[node] = low[other];
        edge[node] = next[e];
        continue;
      }
      if (low[node] === number[node]) {
        const end = openCount;
        while (open[--openCount] !== node);
        const unit = open.subarray(openCount, end);
        for (const member of unit) done[member] = 1;
        visit(unit);
      }
      depth--;
    }
  }
}

/**
 * What must come before what. Nodes 0 .. transfers - 1 are transfers, others stand for all of a group of them. Node v depends on
 * to[e] for e = first[v], next[e] ... until -1: it comes in a later round (later[e] = 1), or not in an earlier one.
 */
interface Precedence {
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
 * Returns the order that the payloads of a schedule with reductions ask for, where messages of a round carry what their sources
 * hold when it begins: a departure comes after all arrivals of its chunk that it saw, and none that it did not see comes before
 * it. Additions with nothing between them may change places. O(transfers).
 */
function precedenceOf(schedule: StepSchedule): Precedence {
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

  const groups = new Map<number, Group>();
  forEachEvent(schedule, (transfer, reads) => {
    const npu = reads ? routes.source[route[transfer]] : routes.target[route[transfer]];
    const cell = npu * collective.chunkCount + chunk[transfer];
    const doing = reads ? READ : op[transfer] === OP_COPY ? COPY : ADD;
    let group = groups.get(cell);
    if (group === undefined || group.doing !== doing || doing === COPY) {
      group = { doing, all: nodes++, before: group?.all ?? -1, afterRead: group?.doing === READ };
      groups.set(cell, group);
    }
    if (group.before >= 0) depend(transfer, group.before, !group.afterRead);
    depend(group.all, transfer, false);
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
