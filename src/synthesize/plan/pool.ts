import { type PlanChoice, type PlanProblem, type PlanTotals, planTotals } from "../../model/tensor-plan/problem.ts";

/** A plan that was checked, and fits in memory. */
export interface Known extends PlanTotals {
  readonly plan: PlanChoice;
}

/** The best plans so far. */
export interface Pool {
  /** Takes a plan if it is one, fits, and is among the best. */
  add(plan: PlanChoice): void;
  /** The best first: what takes less, then what uses less of everything, then what came first. */
  list(): readonly Known[];
}

const MOST_KNOWN = 8;

/** Returns an empty pool of a problem's plans. */
export function planPool(problem: PlanProblem): Pool {
  const known: Known[] = [];
  const keys = new Set<string>();
  const sums = (one: Known): number => one.totals.reduce((sum, total) => sum + total, 0);
  return {
    add: (plan) => {
      const key = `${plan.choices.join()};${plan.copies.map((copies) => copies.join()).join(";")}`;
      if (keys.has(key)) return;
      const totals = planTotals(problem, plan);
      if (totals?.fits !== true) return;
      keys.add(key);
      const one = { plan, ...totals };
      const at = known.findIndex((other) => one.ps < other.ps || (one.ps === other.ps && sums(one) < sums(other)));
      known.splice(at < 0 ? known.length : at, 0, one);
      known.length = Math.min(known.length, MOST_KNOWN);
    },
    list: () => known,
  };
}
