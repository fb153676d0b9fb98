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

const MOST_KNOWN = 16;
/** Plans whose totals differ by less than these parts, of what they take and of what memory there is, are one: the better one. */
const NEAR = 1e-4;

/** Returns what tells a plan from others. */
export const planKey = ({ choices, copies }: PlanChoice): string =>
  `${choices.join()};${copies.map((own) => own.join()).join(";")}`;

/** Returns an empty pool of a problem's plans. */
export function planPool(problem: PlanProblem): Pool {
  const known: Known[] = [];
  const keys = new Set<string>();
  const sums = (one: Known): number => one.totals.reduce((sum, total) => sum + total, 0);
  const isBetter = (one: Known, other: Known): boolean =>
    one.ps < other.ps || (one.ps === other.ps && sums(one) < sums(other));
  const isNear = (one: Known, other: Known): boolean =>
    problem.resources.every(
      ({ kind, limit }, r) =>
        Math.abs((one.totals[r] as number) - (other.totals[r] as number)) <= NEAR * (kind === "time" ? one.ps : limit),
    );
  return {
    add: (plan) => {
      const key = planKey(plan);
      if (keys.has(key)) return;
      const totals = planTotals(problem, plan);
      if (totals?.fits !== true) return;
      keys.add(key);
      const one = { plan, ...totals };
      const near = known.findIndex((other) => isNear(one, other));
      if (near >= 0 && !isBetter(one, known[near] as Known)) return;
      if (near >= 0) known.splice(near, 1);
      const at = known.findIndex((other) => isBetter(one, other));
      known.splice(at < 0 ? known.length : at, 0, one);
      known.length = Math.min(known.length, MOST_KNOWN);
    },
    list: () => known,
  };
}
