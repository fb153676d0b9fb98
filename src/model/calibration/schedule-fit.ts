import { formatBandwidth, PS_PER_US } from "../numbers/units.ts";
import type { LinkClass } from "../topology/link-classes.ts";
import {
  type AlphaBetaFit,
  type FitSetup,
  type FittedFigure,
  fitAlphaBeta,
  LEAST_NOISE,
  MOST_UNCERTAIN,
} from "./alpha-beta.ts";
import { spreadOf } from "./spread.ts";
import { type Figures, type Timed, type TimedSchedule, timed } from "./timed-schedule.ts";

const MOST_ROUNDS = 24;
const MOST_HALVINGS = 5;
/** A round that lowers the squares by less than this part is the last. */
const LITTLE_GAIN = 1e-6;
/** Other starts: one figure this many times as slow. */
const SLOWER = 8;
/** What fits this many times worse on these is not followed. */
const MOST_WORSE = 1.5;
/** Other starts are tried on at most this many schedules. */
const MOST_TRIED = 12;
/** What another start has to gain to be followed, as part of the squares. */
const LEAST_GAIN = 0.02;
/** Squares that are greater by less than those of this many points are as good: two standard errors. */
const AS_GOOD = 4;
/** Values that lie farther apart, in standard errors and as part of themselves, are others. */
const MOST_ERRORS = 2;
const OTHER_VALUE = 0.05;
const DIGITS = 4;

interface Found {
  readonly figures: Figures;
  readonly fit: AlphaBetaFit;
  /** [schedules] us that its clock and the call give. */
  readonly us: readonly number[];
  readonly squares: number;
}

const usOf = (schedules: readonly Timed[], { figures, fit }: Pick<Found, "figures" | "fit">): number[] =>
  schedules.map((one) => one.us(figures) + (fit.callUs?.value ?? 0));

const squaresOfErrors = (schedules: readonly Timed[], us: readonly number[]): number =>
  schedules.reduce((sum, { timeUs }, s) => sum + timeUs.reduce((own, time) => own + (us[s] / time - 1) ** 2, 0), 0);

const squaresOf = (schedules: readonly Timed[], found: Found): number =>
  squaresOfErrors(schedules, usOf(schedules, found));

const figuresOf = ({ latencyUs, bytesPerUs }: AlphaBetaFit): Figures => ({
  latencyUs: latencyUs.map(({ value }) => value),
  bytesPerUs: bytesPerUs.map(({ value }) => value),
});

/** Returns figures that lie so far along the way from one to the other, in proportion. */
function between(from: Figures, to: Figures, part: number): Figures {
  const mixed = (a: readonly number[], b: readonly number[]): number[] =>
    a.map((value, k) => {
      const other = b[k] as number;
      return value > 0 && other > 0 ? value * (other / value) ** part : value + part * (other - value);
    });
  return {
    latencyUs: mixed(from.latencyUs, to.latencyUs),
    bytesPerUs: mixed(from.bytesPerUs, to.bytesPerUs),
  };
}

/** Returns the fit that alternates from some figures on: critical paths, least squares along them, shorter steps where that is worse. */
function descend(schedules: readonly Timed[], classes: readonly LinkClass[], start: Figures): Found {
  const judged = (figures: Figures, fit: AlphaBetaFit): Found => {
    const us = usOf(schedules, { figures, fit });
    return { figures, fit, us, squares: squaresOfErrors(schedules, us) };
  };
  const along = (figures: Figures): AlphaBetaFit =>
    fitAlphaBeta(
      schedules.map(
        (one): FitSetup => ({
          terms: one.terms(figures),
          pathOf: one.log,
          sizeBytes: one.timeUs.map(() => one.sizeBytes),
          timeUs: one.timeUs,
        }),
      ),
      classes,
    );
  const first = along(start);
  let best = judged(figuresOf(first), first);
  for (let round = 0; round < MOST_ROUNDS; round++) {
    const fit = along(best.figures);
    const target = figuresOf(fit);
    let next = judged(target, fit);
    for (let half = 1; half <= MOST_HALVINGS && next.squares >= best.squares; half++)
      next = judged(between(best.figures, target, 0.5 ** half), fit);
    const gain = best.squares - next.squares;
    if (gain > 0) best = next;
    if (gain <= LITTLE_GAIN * best.squares) break;
  }
  return best;
}

/** Returns where to start: one figure after the other so much slower that it is on the critical path where it can be. */
function* otherStarts(labels: Figures): Generator<Figures> {
  const slower = (values: readonly number[], k: number, factor: number): number[] =>
    values.map((value, index) => (index === k ? value * factor : value));
  for (let k = 0; k < labels.bytesPerUs.length; k++) {
    yield { ...labels, bytesPerUs: slower(labels.bytesPerUs, k, 1 / SLOWER) };
    yield { ...labels, latencyUs: slower(labels.latencyUs, k, SLOWER) };
  }
}

/** Returns the classes with other figures before: each that is kept though it counts, half and twice as great. */
function* otherLabels({ latencyUs, bytesPerUs }: AlphaBetaFit, classes: readonly LinkClass[]): Generator<LinkClass[]> {
  const changed = (k: number, own: (one: LinkClass) => Partial<LinkClass>): LinkClass[] =>
    classes.map((one, index) => (index === k ? { ...one, ...own(one) } : one));
  for (let k = 0; k < classes.length; k++) {
    for (const factor of [1 / 2, 2]) {
      if (latencyUs[k]?.certainty === "kept")
        yield changed(k, ({ latencyPs }) => ({ latencyPs: Math.round(latencyPs * factor) }));
      if (bytesPerUs[k]?.certainty === "kept")
        yield changed(k, ({ bytesPerSecond }) => ({ bytesPerSecond: Math.ceil(bytesPerSecond * factor) }));
    }
  }
}

/**
 * Returns latencies and bandwidths of the classes of links so that the simulated times of the schedules (plus what a call costs,
 * where they tell it) have the least sum of squares of relative errors. The time of a schedule is the length of its critical path:
 * the sum over classes of hops x latency + bytes / bandwidth. Both counts are the slopes of the simulated time, found by
 * simulating with one figure a little changed after the other (ties broken first); as the time is homogeneous of degree one they
 * must add up to it, which is checked. So each round solves a linear least-squares problem (fitAlphaBeta, which keeps what the points
 * do not tell) and finds the critical paths again: Gauss and Newton's method, with shorter steps where a full one is worse. Other
 * starts, in which one class after the other is slow, find critical paths that the figures before hide; what fits as well with other
 * figures, or with another value for one that is kept, is said of each figure that differs. At most one clock a
 * schedule, class and figure in each round: O(rounds x schedules x classes) simulations.
 */
export function fitSchedules(given: readonly TimedSchedule[], classes: readonly LinkClass[]): AlphaBetaFit {
  const labels: Figures = {
    latencyUs: classes.map(({ latencyPs }) => latencyPs / PS_PER_US),
    bytesPerUs: classes.map(({ bytesPerSecond }) => bytesPerSecond / PS_PER_US),
  };
  const schedules = given.map((one) => timed(one, labels));
  const points = schedules.reduce((sum, { timeUs }) => sum + timeUs.length, 0);
  const noise = points * LEAST_NOISE ** 2;
  let best = descend(schedules, classes, labels);
  const others: Found[] = [];
  const every = Math.ceil(schedules.length / MOST_TRIED);
  const some = schedules.filter((_, s) => s % every === 0);
  const follow = (before: readonly LinkClass[], start: Figures): void => {
    const sketched = descend(some, before, start);
    if (sketched.squares > MOST_WORSE * Math.max(squaresOf(some, best), noise)) return;
    const whole = some.length === schedules.length ? sketched : descend(schedules, before, sketched.figures);
    const isBetter = (one: Found): boolean => one.squares < best.squares * (1 - LEAST_GAIN);
    // what is kept is as it was before, also where another value is better
    const own = before === classes || !isBetter(whole) ? whole : descend(schedules, classes, whole.figures);
    others.push(isBetter(own) ? best : whole);
    if (isBetter(own)) best = own;
  };
  if (classes.length > 1) for (const start of otherStarts(labels)) follow(classes, start);
  // where a figure is kept the others have their errors for that value only
  for (const kept of otherLabels(best.fit, classes)) follow(kept, best.figures);
  const { fit, figures, us, squares } = best;
  const spread = spreadOf(schedules, {
    figures,
    callUs: fit.callUs?.value ?? 0,
    squares,
    labels,
    others: others.map((other) => other.figures),
  });
  const spare = Math.max(1, points - 2 * classes.length);
  const asGood = others.filter((other) => other.squares <= squares + (AS_GOOD * Math.max(squares, noise)) / spare);
  /** Returns a figure of the best fit, and which value another fit that is as good has for it. */
  const figureOf = (kind: "latencyUs" | "bytesPerUs", k: number): FittedFigure => {
    const own = { ...(fit[kind][k] as FittedFigure), value: figures[kind][k] as number };
    for (const other of asGood) {
      const value = other.figures[kind][k] as number;
      if (own.certainty === "kept" && other.fit[kind][k]?.certainty === "kept") continue;
      const error = Math.hypot(own.error ?? 0, other.fit[kind][k]?.error ?? 0);
      if (Math.abs(value - own.value) <= Math.max(MOST_ERRORS * error, OTHER_VALUE * own.value)) continue;
      const rounded = Number(value.toPrecision(DIGITS));
      const text = kind === "latencyUs" ? `${rounded} us` : formatBandwidth(rounded * PS_PER_US);
      return { ...own, certainty: "either", because: `${text} fits as well, with other figures for the rest` };
    }
    if (own.certainty !== "fitted") return own;
    // slopes do not tell of paths that are as likely
    const error = Math.max(own.error ?? 0, spread[kind][k] as number);
    if (error <= MOST_UNCERTAIN * own.value) return { ...own, error };
    const because = "values that differ by more than half fit as well, with other figures for the rest";
    return { ...own, error, certainty: "either", because };
  };
  return {
    ...fit,
    latencyUs: classes.map((_, k) => figureOf("latencyUs", k)),
    bytesPerUs: classes.map((_, k) => figureOf("bytesPerUs", k)),
    fittedUs: schedules.map(({ timeUs }, s) => timeUs.map(() => us[s] as number)),
    squares,
  };
}
