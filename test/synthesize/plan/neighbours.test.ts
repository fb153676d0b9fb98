import { describe, expect, it } from "vitest";
import { planTotals } from "../../../src/model/tensor-plan/problem.ts";
import { neighboursOf } from "../../../src/synthesize/plan/neighbours.ts";
import { planPool } from "../../../src/synthesize/plan/pool.ts";
import { bestByTrying } from "../../support/plan-exhaustive.ts";
import { randomPlanProblem } from "../../support/plan-problems.ts";

describe("neighbours of a plan", () => {
  it("are not faster than the best of all that can be tried, which is its own neighbour", () => {
    let [seen, without] = [0, 0];
    for (let seed = 0; seed < 300; seed++) {
      const problem = randomPlanProblem(seed, { nodes: 6, axes: 1, streams: seed % 2 === 1 });
      if (problem.choosers.reduce((all, { choices }) => all * choices.length, 1) > 5000) continue;
      const best = bestByTrying(problem);
      if (best === null) throw new Error(`seed ${seed}: no plan`);
      const neighbourOf = neighboursOf(problem, best.plan);
      problem.choosers.forEach(({ choices }, v) => {
        for (const choice of choices.keys()) {
          const one = neighbourOf(v, choice);
          if (one === null) without++;
          else if (choice === best.plan.choices[v]) expect(one.ps).toBeCloseTo(best.ps, 6);
          else if (one.fits) {
            seen++;
            expect(one.ps, `seed ${seed}`).toBeGreaterThanOrEqual(best.ps * (1 - 1e-9));
          }
        }
      });
    }
    expect(seen).toBeGreaterThan(100);
    expect(without).toBeGreaterThan(10);
  });
});

describe("the best plans so far", () => {
  it("are few, in order, and none is near another in all that it uses", () => {
    for (let seed = 0; seed < 40; seed++) {
      const problem = randomPlanProblem(seed, { nodes: 6, axes: 1, streams: false });
      const best = bestByTrying(problem);
      if (best === null) throw new Error(`seed ${seed}: no plan`);
      const pool = planPool(problem);
      problem.choosers.forEach(({ choices }, v) => {
        for (const choice of choices.keys()) {
          const choiceOf = Int32Array.from(best.plan.choices);
          choiceOf[v] = choice;
          pool.add({ choices: choiceOf, copies: best.plan.copies });
        }
      });
      const all = pool.list();
      expect(all.length).toBeGreaterThan(0);
      expect(all.length).toBeLessThanOrEqual(16);
      all.forEach((one, i) => {
        expect(planTotals(problem, one.plan)?.ps).toBe(one.ps);
        for (const other of all.slice(0, i)) {
          expect(other.ps).toBeLessThanOrEqual(one.ps);
          const differs = problem.resources.some(
            ({ kind, limit }, r) =>
              Math.abs((one.totals[r] as number) - (other.totals[r] as number)) >
              1e-4 * (kind === "time" ? other.ps : limit),
          );
          expect(differs, `seed ${seed}`).toBe(true);
        }
      });
    }
  });
});
