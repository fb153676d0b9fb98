import { type Costs, costsUnder, type Weights } from "./covers.ts";
import { type Relaxation, relaxation } from "./relaxation.ts";
import type { PlanTables } from "./tables.ts";

/** Weights of resources under which plans cost much, and the relaxation that says so. */
export interface Ascent {
  readonly weights: Weights;
  readonly costs: Costs;
  readonly relaxed: Relaxation;
  /** What no plan that fits in memory takes less than, in units. */
  readonly bound: number;
}

export interface AscentOptions {
  /** Weights to begin with, [resources]; else times are worth the same. */
  readonly first?: Weights;
  /** What the best known plan takes; what is worth striving for. */
  readonly unitPs: number;
  readonly rounds: number;
  readonly stopped: () => boolean;
  /** Hears of choices that looked best, [choosers]. */
  readonly tried: (choices: Int32Array, costs: Costs) => void;
}

/** Passes over the relaxation for each weights. */
const PASSES = 3;
/** Part of the newest uses in the average along which weights go. */
const NEWEST = 0.15;
/** Of the way to the best known plan that a step aims at. */
const FIRST_STEP = 0.5;
const MOST_STEP = 2;
/** So many steps without a better bound make steps smaller. */
const PATIENCE = 6;
/** Part of a copy's cost that goes over to those who took it. */
const SHARE_STEP = 0.1;

/**
 * Returns weights of times, together 1, and of memory under which the relaxation's bound is high (Lagrange; the steps are those of
 * the volume algorithm: Barahona and Anbil 2000). A plan takes at least what it costs under such weights, the memory that there is taken off.
 * O(rounds x pass of the relaxation).
 */
export function ascend(tables: PlanTables, options: AscentOptions): Ascent {
  const { resources, base } = tables.problem;
  const { unitPs, rounds, stopped, tried } = options;
  const times = [...resources.keys()].filter((r) => resources[r].kind === "time");
  const memories = [...resources.keys()].filter(
    (r) => resources[r].kind === "memory" && resources[r].limit < Number.POSITIVE_INFINITY,
  );
  const unitOf = resources.map(({ kind, limit }) => (kind === "time" ? unitPs : limit > 0 ? limit : 1));
  /** Weights without units. */
  const normal = (weights: Float64Array): Float64Array => {
    const result = weights.map((value, r) =>
      times.includes(r) || memories.includes(r) ? Math.max(0, value) : 0,
    );
    const sum = times.reduce((all, r) => all + result[r], 0);
    for (const r of times) result[r] = sum > 0 ? result[r] / sum : 1 / times.length;
    return result;
  };
  const scaled = (plain: Float64Array): Weights => plain.map((value, r) => value / unitOf[r]);
  const constant = (plain: Float64Array): number => {
    const ofBase = plain.reduce((sum, value, r) => sum + (value > 0 ? (value * base[r]) / unitOf[r] : 0), 0);
    return memories.reduce((sum, r) => sum - (plain[r] * resources[r].limit) / unitOf[r], ofBase);
  };
  let best = normal(
    options.first === undefined
      ? Float64Array.from(resources, ({ kind }) => (kind === "time" ? 1 : 0))
      : options.first.map((value, r) => value * unitOf[r]),
  );
  let costs = costsUnder(tables, scaled(best));
  const relaxed = relaxation(tables, costs);
  let bound = Number.NEGATIVE_INFINITY;
  let average: Float64Array | null = null;
  let step = FIRST_STEP;
  let waiting = 0;
  let now = best;
  for (let round = 0; round < rounds && !stopped(); round++) {
    let choices = relaxed.pass();
    for (let i = 1; i < PASSES; i++) choices = relaxed.pass();
    tried(choices, costs);
    const value = relaxed.bound() + constant(now);
    const uses = relaxed.uses().map((amount, r) => (amount + base[r]) / unitOf[r]);
    for (const r of memories) uses[r] -= resources[r].limit / unitOf[r];
    const before: Float64Array = average ?? uses;
    const along = uses.map((amount, r) => NEWEST * amount + (1 - NEWEST) * before[r]);
    average = along;
    if (value > bound) {
      bound = value;
      best = now;
      waiting = 0;
      step = Math.min(MOST_STEP, step * 1.1);
    } else if (++waiting % PATIENCE === 0) step *= 0.66;
    relaxed.share(choices, SHARE_STEP);
    const mean = times.reduce((sum, r) => sum + along[r], 0) / times.length;
    const direction = along.map((amount, r) => (times.includes(r) ? amount - mean : memories.includes(r) ? amount : 0));
    const square = direction.reduce((sum, amount) => sum + amount * amount, 0);
    if (square < 1e-18) break;
    const far = (step * Math.max(1e-3, 1 - value)) / square;
    const from = best;
    now = normal(from.map((weight, r) => weight + far * direction[r]));
    costs = costsUnder(tables, scaled(now));
    relaxed.setCosts(costs);
  }
  costs = costsUnder(tables, scaled(best));
  relaxed.setCosts(costs);
  for (let i = 0; i < 4 * PASSES; i++) relaxed.pass();
  return { weights: scaled(best), costs, relaxed, bound: Math.max(bound, relaxed.bound() + constant(best)) };
}
