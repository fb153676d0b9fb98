import { type Costs, costsUnder, type Weights } from "./covers.ts";
import type { Stopped } from "./effort.ts";
import { standingAt } from "./local.ts";
import { type Relaxation, relaxation } from "./relaxation.ts";
import type { PlanTables } from "./tables.ts";

/** Weights of resources under which plans cost much, and the relaxation that says so. */
export interface Ascent {
  readonly weights: Weights;
  readonly costs: Costs;
  readonly relaxed: Relaxation;
  /** What no plan that fits in memory takes less than, in units. */
  readonly bound: number;
  /** To be added to what the relaxation says of choices: what every plan uses, less the memory that there is, under the weights. */
  readonly constant: number;
}

export interface AscentOptions {
  /** Weights to begin with, [resources]; else times are worth the same. */
  readonly first?: Weights;
  /** What the best known plan takes; what is worth striving for. */
  readonly unitPs: number;
  readonly rounds: number;
  readonly stopped: Stopped;
  /** Hears of choices that looked best, [choosers]. */
  readonly tried: (choices: Int32Array, costs: Costs) => void;
}

/** Passes over the relaxation for each weights. */
const PASSES = 3;
/** What a pass takes for each pair of its links, as work is counted. */
const PASS_MS = 1e-5;
/** By what power of e a weight of time changes at most in a step, at first, and how that shrinks in all rounds together. */
const FIRST_STEP = 0.3;
const SHRUNK = 0.025;
/** What a weight of memory changes at most in a step, as part of that. */
const MEMORY_STEP = 0.3;
/** No weight of time is less, for it is multiplied. */
const LEAST_WEIGHT = 1e-6;
/** Part of a copy's cost that goes over to those who took it. */
const SHARE_STEP = 0.1;

/**
 * Returns weights of times, together 1, and of memory under which the relaxation's bound is high (Lagrange; they follow what plans
 * use). A plan takes at least what it costs under such weights, the memory that there is taken off.
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
    const result = weights.map((value, r) => (times.includes(r) || memories.includes(r) ? Math.max(0, value) : 0));
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
  let step = FIRST_STEP;
  /** Returns weights that follow what the plan of some choices uses. */
  const followed = (now: Float64Array, totals: Float64Array): Float64Array => {
    const mean = times.reduce((sum, r) => sum + (now[r] * totals[r]) / unitOf[r], 0);
    const most = times.reduce((far, r) => Math.max(far, totals[r] / unitOf[r]), 1e-9);
    const next = Float64Array.from(now);
    for (const r of times) {
      next[r] = Math.max(LEAST_WEIGHT, now[r]) * Math.exp((step * (totals[r] / unitOf[r] - mean)) / most);
    }
    for (const r of memories) {
      const over = (totals[r] - resources[r].limit) / unitOf[r];
      next[r] = now[r] + step * MEMORY_STEP * Math.max(-1, Math.min(1, over));
    }
    return normal(next);
  };
  let now = best;
  const roundMs = PASSES * PASS_MS * relaxed.size;
  for (let round = 0; round < rounds && !stopped(roundMs); round++) {
    let choices = relaxed.pass();
    for (let i = 1; i < PASSES; i++) choices = relaxed.pass();
    tried(choices, costs);
    const value = relaxed.bound() + constant(now);
    if (value > bound) {
      bound = value;
      best = now;
    }
    relaxed.share(choices, SHARE_STEP);
    step *= SHRUNK ** (1 / rounds);
    const totals = standingAt(tables, choices, costs)?.totals;
    if (totals === undefined) continue;
    now = followed(now, totals);
    costs = costsUnder(tables, scaled(now));
    relaxed.setCosts(costs);
  }
  costs = costsUnder(tables, scaled(best));
  relaxed.setCosts(costs);
  for (let i = 0; i < 4 * PASSES; i++) relaxed.pass();
  const last = relaxed.bound() + constant(best);
  return { weights: scaled(best), costs, relaxed, bound: Math.max(bound, last), constant: constant(best) };
}
