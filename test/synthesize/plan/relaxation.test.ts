import { describe, expect, it } from "vitest";
import { random } from "../../../src/base/random.ts";
import { planTotals } from "../../../src/model/tensor-plan/problem.ts";
import { ascend } from "../../../src/synthesize/plan/ascent.ts";
import { costsUnder, planOf } from "../../../src/synthesize/plan/covers.ts";
import { localMoves, planAt, type Score, standingAt, wander } from "../../../src/synthesize/plan/local.ts";
import { planTables } from "../../../src/synthesize/plan/tables.ts";
import { bestByTrying } from "../../support/plan-exhaustive.ts";
import { randomPlanProblem } from "../../support/plan-problems.ts";

const SEEDS = Array.from({ length: 120 }, (_, seed) => seed);
const never = (): boolean => false;

describe("the relaxation of plans, and local search", () => {
  it("is below the best plan that tries find, says of no choice and no copy of it that it is worse, and local search is not below it", () => {
    let [tried, tight] = [0, 0];
    for (const seed of SEEDS) {
      const problem = randomPlanProblem(seed, { nodes: 6, axes: 1 });
      if (problem.choosers.reduce((all, { choices }) => all * choices.length, 1) > 20_000) continue;
      const best = bestByTrying(problem);
      const tables = planTables(problem);
      if (best === null || tables === null) throw new Error(`seed ${seed}: no plan`);
      // nothing but placeholders
      if (best.ps === 0) continue;
      tried++;
      const unitPs = best.ps;
      const ascent = ascend(tables, { unitPs, rounds: 40, stopped: never, tried: () => undefined });
      expect(ascent.bound, `seed ${seed}`).toBeLessThanOrEqual(1 + 1e-9);
      if (ascent.bound > 0.9) tight++;
      // the best of what is left of the choices is as good, so for each chooser one choice must be within the best plan's time
      const least = ascent.relaxed.withChoice().map((own) => Math.min(...own) + ascent.constant);
      expect(Math.max(...least), `seed ${seed}`).toBeLessThanOrEqual(1 + 1e-9);
      const out = (value: number): number => (value + ascent.constant > 1 + 1e-9 ? 1 : 0);
      const copies = ascent.relaxed.withCopy();
      const left = planTables(problem, {
        choices: ascent.relaxed.withChoice().map((own) => Uint8Array.from(own, out)),
        copies: problem.supplies.map((supply, s) => {
          const isOut = new Uint8Array(supply.copies.length).fill(1);
          tables.supplies[s].copy.forEach((k, i) => {
            isOut[k] = out(copies[s][i]);
          });
          return isOut;
        }),
      });
      if (left === null) throw new Error(`seed ${seed}: nothing is left`);
      const score: Score = (totals) =>
        Math.max(...problem.resources.map((one, r) => (one.kind === "time" ? totals[r] : 0)));
      const start = standingAt(
        left,
        Int32Array.from(left.allowed, (own) => own.indexOf(1)),
        ascent.costs,
      );
      const moves = localMoves(tables, ascent.costs, score, never);
      const from = start ?? standingAt(tables, ascent.relaxed.pass(), ascent.costs);
      if (from === null) continue;
      const wandered = wander(tables, moves, score, from, { random: random(seed), waves: 30, stopped: never });
      const again = wander(tables, moves, score, from, { random: random(seed), waves: 30, stopped: never });
      expect([...again.choices]).toEqual([...wandered.choices]);
      const totals = planTotals(problem, planAt(tables, wandered));
      if (totals === null) throw new Error(`seed ${seed}: local search left the plans`);
      expect(totals.ps).toBeGreaterThanOrEqual(best.ps * (1 - 1e-9));
      expect(totals.ps).toBeLessThanOrEqual(score(from.totals) * (1 + 1e-9));
      expect([...totals.totals].map((x, r) => Math.abs(x - wandered.totals[r]) <= 1e-9 * Math.max(1, x))).not.toContain(
        false,
      );
    }
    expect(tried).toBeGreaterThan(40);
    expect(tight).toBeGreaterThan(0.9 * tried);
  }, 120_000);

  it("plans of choices have the copies that cost least", () => {
    for (const seed of SEEDS.slice(0, 40)) {
      const problem = randomPlanProblem(seed, { nodes: 5, axes: 2 });
      const tables = planTables(problem);
      if (tables === null) throw new Error(`seed ${seed}: no plan`);
      const weights = Float64Array.from(problem.resources, (_, r) => 1 + r);
      const costs = costsUnder(tables, weights);
      const choices = Int32Array.from(tables.allowed, (own) => own.indexOf(1));
      const plan = planOf(tables, choices, costs);
      if (plan === null) continue;
      const cost = (copies: readonly (readonly number[])[]): number | null => {
        const totals = planTotals(problem, { choices, copies });
        return totals === null ? null : totals.totals.reduce((sum, total, r) => sum + total * weights[r], 0);
      };
      const least = cost(plan.copies);
      if (least === null) throw new Error(`seed ${seed}: no plan`);
      problem.supplies.forEach(({ copies, chooser }, s) => {
        const { pattern } = problem.choosers[chooser].choices[choices[chooser]];
        const own = [...copies.keys()].filter((k) => copies[k].from === pattern).slice(0, 6);
        for (let set = 0; set < 1 << own.length; set++) {
          const other = plan.copies.map((list, at) => (at === s ? own.filter((_, i) => (set >> i) & 1) : list));
          const value = cost(other);
          if (value !== null) expect(value, `seed ${seed}`).toBeGreaterThanOrEqual(least * (1 - 1e-12));
        }
      });
    }
  });
});
