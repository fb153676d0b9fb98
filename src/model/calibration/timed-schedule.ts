import type { CostTerms } from "../collective/collective-cost.ts";
import { PS_PER_US } from "../numbers/units.ts";

/**
 * Returns how many picoseconds a schedule takes where the classes of links have these figures, exact integers; [classes] each. A
 * schedule stays as it is, so the time is the length of a longest path: piecewise linear in latencies and seconds per byte.
 */
export type Clock = (latencyPs: Float64Array, bytesPerSecond: Float64Array) => number;

/** Measured times of one schedule, which is of one size. */
export interface TimedSchedule {
  readonly clock: Clock;
  /** The number of the log that the times are of. */
  readonly log: number;
  readonly sizeBytes: number;
  /** [measurements] */
  readonly timeUs: Float64Array;
}

/** [classes] figures while they are looked for. */
export interface Figures {
  readonly latencyUs: readonly number[];
  readonly bytesPerUs: readonly number[];
}

/** Figures move by this part of themselves to find a slope, small beside what breaks ties. */
const STEP = 2 ** -16;
/** Figures stand apart by up to this part, so that of paths that take equally long one is the longest. */
const APART = 2 ** -11;
/** Other ways to break ties, where a slope is between two. */
const MOST_TRIES = 3;
/** A slope that leaves more than this part of the time unexplained is between two paths. */
const MOST_UNEXPLAINED = 1e-3;
/** Hops are whole but for rounding. */
const HOP_ROUNDING = 0.05;
/** Times are worked out at a larger scale, in which whole picoseconds and bytes per second are fine enough. */
const SCALED_PS = 1e13;
const MOST_SCALE = 1e5;
const LEAST_BYTES_PER_SECOND = 1e5;
/** Latencies of 0 grow by this part of the time instead. */
const LATENCY_PART = 1 / 64;
/** Paths whose slopes differ by less are one. */
const SLOPE_ROUNDING = 1e-6;

/** One schedule, its clock in us and its terms. */
export interface Timed extends TimedSchedule {
  us(figures: Figures): number;
  terms(figures: Figures): CostTerms;
  /** All terms that were found, each once. As the time is that of the longest path, none says more than it is at any figures. */
  readonly paths: readonly CostTerms[];
}

function areAlike(a: CostTerms, b: CostTerms): boolean {
  const isAlike = (value: number, other: number): boolean => Math.abs(value - other) <= SLOPE_ROUNDING * value;
  return (
    a.hops.every((hops, k) => isAlike(hops, b.hops[k] as number)) &&
    a.load.every((load, k) => isAlike(load, b.load[k] as number))
  );
}

/** Returns a schedule with its clock in us; labels are figures like those that it is asked for. */
export function timed(schedule: TimedSchedule, labels: Figures): Timed {
  const { clock, sizeBytes } = schedule;
  const scaled = ({ latencyUs, bytesPerUs }: Figures, scale: number) => ({
    latencyPs: Float64Array.from(latencyUs, (us) => Math.round(us * PS_PER_US * scale)),
    bytesPerSecond: Float64Array.from(bytesPerUs, (rate) => Math.max(1, Math.round((rate * PS_PER_US) / scale))),
  });
  const first = scaled(labels, 1);
  const slowest = first.bytesPerSecond.reduce((least, rate) => Math.min(least, rate), Number.POSITIVE_INFINITY);
  const room = Math.min(
    SCALED_PS / Math.max(1, clock(first.latencyPs, first.bytesPerSecond)),
    slowest / LEAST_BYTES_PER_SECOND,
  );
  const scale = Math.max(1, Math.min(MOST_SCALE, Math.floor(room)));

  /** Slopes of the time, a way to break ties, and the part of the time that they do not explain. */
  const slopes = (figures: Figures, seed: number): { terms: CostTerms; unexplained: number } => {
    const { latencyPs, bytesPerSecond } = scaled(figures, scale);
    // multiples of the golden ratio spread evenly, so no two figures move alike
    const apart = (k: number): number => 1 + APART * ((0.618 * (k + 1 + seed * 7)) % 1);
    const latency = latencyPs.map((ps, k) => Math.round(ps * apart(k)));
    const rate = bytesPerSecond.map((one, k) => Math.max(2, Math.round(one * apart(k + latencyPs.length))));
    const base = clock(latency, rate);
    const hops = latency.map((ps, k) => {
      const step = Math.max(1, Math.round(STEP * Math.max(ps, base * LATENCY_PART)));
      const more = clock(latency.with(k, ps + step), rate) - base;
      const slope = more / step;
      return Math.abs(slope - Math.round(slope)) < HOP_ROUNDING ? Math.round(slope) : slope;
    });
    const load = rate.map((one, k) => {
      const slower = one - Math.max(1, Math.round(STEP * one));
      const slope = (clock(latency, rate.with(k, slower)) - base) / (1 / slower - 1 / one);
      // a slope of rounded times alone is none
      return slope / one < APART * STEP * base ? 0 : slope / (PS_PER_US * PS_PER_US * sizeBytes);
    });
    const explained = hops.reduce(
      (sum, each, k) => sum + each * latency[k] + (load[k] * PS_PER_US * PS_PER_US * sizeBytes) / rate[k],
      0,
    );
    return { terms: { hops, load }, unexplained: Math.abs(explained / base - 1) };
  };
  const paths: CostTerms[] = [];
  return {
    ...schedule,
    paths,
    us(figures) {
      const { latencyPs, bytesPerSecond } = scaled(figures, scale);
      return clock(latencyPs, bytesPerSecond) / scale / PS_PER_US;
    },
    terms(figures) {
      let best = slopes(figures, 0);
      for (let seed = 1; seed < MOST_TRIES && best.unexplained > MOST_UNEXPLAINED; seed++) {
        const other = slopes(figures, seed);
        if (other.unexplained < best.unexplained) best = other;
      }
      const { terms, unexplained } = best;
      if (unexplained <= MOST_UNEXPLAINED && !paths.some((path) => areAlike(path, terms))) paths.push(terms);
      return terms;
    },
  };
}
