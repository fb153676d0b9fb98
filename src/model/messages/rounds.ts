import { InputError } from "../../base/errors.ts";
import { groupedBy } from "../graph/graph.ts";
import { orderByTime } from "../numbers/ordering.ts";
import { OP_COPY, type StepSchedule, transferCount } from "../steps/step-schedule.ts";

/**
 * A schedule's transfers in rounds. In a round each NPU is the source of at most one message and the target of at most one (a
 * partial permutation); messages carry what their sources hold when the round begins, and are there when it ends.
 */
export interface Rounds {
  /** [rounds + 1] Round k has transfer[offset[k] .. offset[k + 1]]. */
  readonly offset: Int32Array;
  /** [transfers] rows of the schedule; those of a round ascend by source. */
  readonly transfer: Int32Array;
}

export const roundCount = (rounds: Rounds): number => rounds.offset.length - 1;

/**
 * Returns the transfers in few rounds, in which every message carries the same as in the schedule. Greedy: a transfer takes the
 * first round that data and both ends allow; once by time, once by distance (messages to the next NPU first, which suits
 * schedules that leave contention to the network), and the fewer rounds count. With D the most transfers that an NPU sends or
 * receives, and L the longest chain of data, max(D, L) rounds are needed; where no data waits, at most 2 D - 1 are taken.
 *
 * Transfers that must neither be before nor after each other (two NPUs that exchange what they hold) share a round. Throws
 * InputError where they cannot: an NPU would send or receive two of them.
 *
 * O(transfers x rounds / 32), in practice less; bits of memory: 2 x NPUs x rounds.
 */
export function roundsOf(schedule: StepSchedule): Rounds {
  const { routes, route, topology, startPs } = schedule;
  const source = Int32Array.from(route, (r) => routes.source[r]);
  const target = Int32Array.from(route, (r) => routes.target[r]);
  const precedence = precedenceOf(schedule);
  const { npuCount } = topology;
  const distance = Float64Array.from(source, (from, i) => (target[i] - from + npuCount) % npuCount);
  const near = orderByTime(distance);
  const sooner = orderByTime(Float64Array.from(near, (i) => startPs[i]));
  const byTime = placed(
    schedule,
    source,
    target,
    precedence,
    sooner.map((place) => near[place]),
  );
  const byDistance = placed(schedule, source, target, precedence, near);
  const better = roundsIn(byDistance) < roundsIn(byTime) ? byDistance : byTime;
  return grouped(better, source, npuCount);
}

const roundsIn = (round: Int32Array): number => round.reduce((most, k) => Math.max(most, k + 1), 0);

/** Returns the round of each transfer; the sooner one comes in `order`, the sooner it chooses. */
function placed(
  { topology }: StepSchedule,
  source: Int32Array,
  target: Int32Array,
  precedence: Precedence,
  order: Uint32Array,
): Int32Array {
  const round = new Int32Array(precedence.nodes);
  const sends = Array.from({ length: topology.npuCount }, noRounds);
  const receives = Array.from({ length: topology.npuCount }, noRounds);
  visitUnits(precedence, order, (unit) => {
    const transfers = unit.filter((node) => node < order.length);
    if (!isMatching(transfers, source, target)) {
      const expected =
        "a schedule whose messages rounds can keep in order (each rank sends and receives one at a time)";
      const some = Array.from(transfers.subarray(0, 4), (i) => `${source[i]}>${target[i]}`);
      throw new InputError("a schedule in rounds", expected, `transfers that cross in flight: ${some.join(", ")} ...`);
    }
    const busy = Array.from(transfers, (i) => [sends[source[i]], receives[target[i]]]).flat();
    const chosen = firstFree(busy, earliestRound(precedence, unit, round));
    for (const used of busy) occupy(used, chosen);
    for (const node of unit) round[node] = chosen;
  });
  return round.subarray(0, order.length);
}

/**
 * Returns the first round that dependencies on others allow. Nothing in a unit that is a matching must come later than another
 * of it: where data goes on, what closes the circle would send or receive a second message of an NPU's. O(edges).
 */
function earliestRound({ first, next, to, later }: Precedence, unit: Int32Array, round: Int32Array): number {
  const inside = unit.length === 1 ? null : new Set(unit);
  let earliest = 0;
  for (const node of unit)
    for (let e = first[node]; e >= 0; e = next[e])
      if (!inside?.has(to[e])) earliest = Math.max(earliest, round[to[e]] + later[e]);
  return earliest;
}

const isMatching = (transfers: Int32Array, source: Int32Array, target: Int32Array): boolean =>
  transfers.length < 2 ||
  [source, target].every((end) => new Set(transfers.map((i) => end[i])).size === transfers.length);

/** Rounds in which an end is busy: bit k & 31 of word k >> 5, words as many as are needed. */
interface Busy {
  words: Int32Array;
}

const noRounds = (): Busy => ({ words: new Int32Array(1) });

/** Returns the first round from `earliest` on in which none is busy. */
function firstFree(busy: readonly Busy[], earliest: number): number {
  let free = -1 << (earliest & 31);
  for (let word = earliest >> 5; ; word++) {
    for (const { words } of busy) if (word < words.length) free &= ~words[word];
    if (free !== 0) return 32 * word + 31 - Math.clz32(free & -free);
    free = -1;
  }
}

function occupy(busy: Busy, round: number): void {
  const word = round >> 5;
  if (word >= busy.words.length) {
    const more = new Int32Array(Math.max(word + 1, 2 * busy.words.length));
    more.set(busy.words);
    busy.words = more;
  }
  busy.words[word] |= 1 << (round & 31);
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
 * Nodes are looked at in the order given, so that circles come as early as their dependencies allow. The view is used again.
 * O(nodes + edges). Tarjan 1972, without recursion.
 */
function visitUnits(
  { nodes, first, next, to }: Precedence,
  order: Uint32Array,
  visit: (unit: Int32Array) => void,
): void {
  const number = new Int32Array(nodes);
  const low = new Int32Array(nodes);
  const edge = first.slice(0, nodes);
  const open = new Int32Array(nodes);
  const path = new Int32Array(nodes);
  const done = new Uint8Array(nodes);
  let [numbers, openCount] = [0, 0];
  for (const start of order) {
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
 * Returns the order that a schedule's payloads ask for, where messages of a round carry what their sources hold when it
 * begins. Without reductions: a chunk goes on after its first arrival. With them, what an NPU holds changes: a departure comes
 * after all arrivals of its chunk that it saw, and none that it did not see comes before it. Additions with nothing between
 * them may change places. O(transfers).
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
