import { InputError } from "../../base/errors.ts";
import { groupedBy } from "../graph/graph.ts";
import { orderByTime } from "../numbers/ordering.ts";
import type { StepSchedule } from "../steps/step-schedule.ts";
import { type Precedence, precedenceOf } from "./rounds-order.ts";
import { visitUnits } from "./rounds-units.ts";

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
