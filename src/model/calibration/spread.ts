import { type Random, random } from "../../base/random.ts";
import { noiseOf } from "./alpha-beta.ts";
import type { Figures, Timed } from "./timed-schedule.ts";

/** Chains for each figure, and in all: enough that their differences lead everywhere. */
const CHAINS_EACH = 4;
const LEAST_CHAINS = 16;
/** Chains start within this part of a fit. */
const START = 0.1;
/** The best part of a difference is this over the root of the number of figures. */
const PART = 2.38 / Math.SQRT2;
/** Every so many generations take whole differences, which lead from one valley to the other. */
const WHOLE_EVERY = 10;
/** Chains also step aside by this part of a figure. */
const ASIDE = 1e-3;
/** Generations that look for valleys, less and less willing to climb, the last of them not at all. */
const EXPLORING = Array.from({ length: 300 }, (_, g) => Math.max(1, 30 - g / 7));
/** Generations until chains are spread as they should, and those that count. */
const SETTLING = new Array<number>(300).fill(1);
const SAMPLING = new Array<number>(1200).fill(1);
/** Times are worked out anew, by the clock, at most so often. */
const MOST_ROUNDS = 4;
/** A path is missing where the clock says more than the known ones by this part of the noise. */
const MISSING = 0.25;
/** Figures lie within this factor of those before and of those fitted, and may be so many times as slow as before. */
const FACTOR = 2;
const SLOWER = 8;
/** Stands for latencies of 0, which have no logarithm. */
const LEAST_US = 1e-9;

/** Logarithms of latencies in us, then of us per byte: [2 x classes]. */
type Place = Float64Array;

const placeOf = ({ latencyUs, bytesPerUs }: Figures): Place =>
  Float64Array.from([...latencyUs, ...bytesPerUs.map((rate) => 1 / rate)], (us) => Math.log(Math.max(us, LEAST_US)));

function figuresAt(place: Place): Figures {
  const half = place.length / 2;
  return {
    latencyUs: Array.from(place.subarray(0, half), Math.exp),
    bytesPerUs: Array.from(place.subarray(half), (value) => Math.exp(-value)),
  };
}

/** Returns how many us the longest of the known paths takes. */
function longestUs({ paths, sizeBytes }: Timed, us: Float64Array): number {
  const classCount = us.length / 2;
  let longest = 0;
  for (const { hops, load } of paths) {
    let length = 0;
    for (let k = 0; k < classCount; k++) length += hops[k] * us[k] + load[k] * sizeBytes * us[classCount + k];
    if (length > longest) longest = length;
  }
  return longest;
}

/** Returns how many latencies and bandwidths the known paths depend on. */
function figureCount(schedules: readonly Timed[]): number {
  const used = schedules.flatMap(({ paths }) =>
    paths.flatMap(({ hops, load }) => [
      ...[...hops].flatMap((each, k) => (each > 0 ? [`latency ${k}`] : [])),
      ...[...load].flatMap((each, k) => (each > 0 ? [`bandwidth ${k}`] : [])),
    ]),
  );
  return new Set(used).size;
}

interface Chains {
  readonly places: Place[];
  /** [chains] minus the logarithm of how likely each place is. */
  readonly costs: number[];
}

/**
 * Moves every chain once a generation, by a part of the difference between two others: differential evolution Markov chain (ter
 * Braak 2006, equation 2), whose steps take the shape of what they sample by themselves. `heats`: the cost that is climbed, one
 * a generation; where they are 1 the places come to be as frequent as they are likely.
 */
function walk(
  { places, costs }: Chains,
  costAt: (place: Place) => number,
  heats: readonly number[],
  drawn: Random,
  visit: () => void = () => {},
): void {
  const count = places.length;
  const unit = (): number => (drawn.next() + 0.5) / 2 ** 32;
  for (const [generation, heat] of heats.entries()) {
    places.forEach((own, c) => {
      const from = (c + 1 + drawn.below(count - 1)) % count;
      const other = (c + 1 + drawn.below(count - 2)) % count;
      // different from both
      const to = other === from ? (c + count - 1) % count : other;
      const part = generation % WHOLE_EVERY === 0 ? 1 : (PART / Math.sqrt(own.length)) * (0.5 + unit());
      const next = own.map(
        (value, i) => value + part * ((places[to] as Place)[i] - (places[from] as Place)[i]) + ASIDE * (unit() - 0.5),
      );
      const cost = costAt(next);
      if (Math.log(unit()) * heat > (costs[c] as number) - cost) return;
      places[c] = next;
      costs[c] = cost;
    });
    visit();
  }
}

/** A fit of the schedules, and what else was found. */
export interface Spreading {
  readonly figures: Figures;
  readonly callUs: number;
  /** Sum of the squares of relative errors. */
  readonly squares: number;
  /** Before the fit. */
  readonly labels: Figures;
  readonly others: readonly Figures[];
}

/**
 * Returns how far, as the root of the mean square, latencies and bandwidths lie from their fitted values over all figures that may
 * have made the times, each as often as it is likely: with normal relative errors, and any factor alike before, within limits.
 * Where paths stay the same within the noise this is the standard error that slopes give (to some 5 %, for samples are few); where
 * others become the longest it counts what they allow too. Figures that a fit keeps vary as the others do. The times are those of
 * the known paths, to which those are added that the clock shows where the chains are: O(generations x chains x paths) and some
 * hundred clocks. Seeded; as exact as Math.exp and Math.log.
 */
export function spreadOf(
  schedules: readonly Timed[],
  { figures, callUs, squares, labels, others }: Spreading,
): Figures {
  const drawn = random(1);
  const [fitted, before] = [placeOf(figures), placeOf(labels)];
  const low = fitted.map((value, i) => Math.min(value, before[i]) - Math.log(FACTOR));
  const high = fitted.map((value, i) => Math.max(value + Math.log(FACTOR), before[i] + Math.log(SLOWER)));
  const inside = (value: number, i: number): number => Math.min(Math.max(value, low[i]), high[i]);
  const points = schedules.reduce((sum, { timeUs }) => sum + timeUs.length, 0);
  const noise = noiseOf(squares, points - figureCount(schedules));
  const us = new Float64Array(fitted.length);
  const costAt = (place: Place): number => {
    for (let i = 0; i < us.length; i++) {
      if (place[i] < low[i] || place[i] > high[i]) return Number.POSITIVE_INFINITY;
      us[i] = Math.exp(place[i]);
    }
    let sum = 0;
    for (const one of schedules) {
      const longest = longestUs(one, us) + callUs;
      for (const time of one.timeUs) sum += (longest / time - 1) ** 2;
    }
    return sum / (2 * noise * noise);
  };
  /** Finds the paths that are missing at a place; returns whether there are any. */
  const findPaths = (place: Place): boolean => {
    const there = figuresAt(place);
    const known = place.map(Math.exp);
    const lacking = schedules.filter((one) => one.us(there) > longestUs(one, known) * (1 + MISSING * noise));
    for (const one of lacking) one.terms(there);
    return lacking.length > 0;
  };
  const starts = [fitted, ...others.map(placeOf)];
  const places = Array.from({ length: Math.max(LEAST_CHAINS, CHAINS_EACH * fitted.length) }, (_, c) =>
    (starts[c % starts.length] as Place).map((value, i) => inside(value + START * (drawn.next() / 2 ** 31 - 1), i)),
  );
  const chains: Chains = { places, costs: places.map(costAt) };
  for (let round = 0; round < MOST_ROUNDS; round++) {
    walk(chains, costAt, EXPLORING, drawn);
    const isLacking = places.filter(findPaths).length > 0;
    chains.costs.splice(0, places.length, ...places.map(costAt));
    if (!isLacking) break;
  }
  walk(chains, costAt, SETTLING, drawn);
  const sums = { latencyUs: figures.latencyUs.map(() => 0), bytesPerUs: figures.bytesPerUs.map(() => 0) };
  walk(chains, costAt, SAMPLING, drawn, () => {
    for (const there of places.map(figuresAt))
      for (const kind of ["latencyUs", "bytesPerUs"] as const)
        there[kind].forEach((value, k) => {
          sums[kind][k] = (sums[kind][k] as number) + (value - (figures[kind][k] as number)) ** 2;
        });
  });
  const rootMean = (sum: number): number => Math.sqrt(sum / (SAMPLING.length * places.length));
  return { latencyUs: sums.latencyUs.map(rootMean), bytesPerUs: sums.bytesPerUs.map(rootMean) };
}
