import type { Pattern } from "../../model/tensor-plan/patterns.ts";
import {
  type Choice,
  type Chooser,
  type Copy,
  isFree,
  type PlanChoice,
  type PlanProblem,
  type PlanTotals,
  planTotals,
  type Supply,
  type Uses,
} from "../../model/tensor-plan/problem.ts";

/** A plan in which one chooser has another choice. */
export interface Neighbour extends PlanTotals {
  readonly choice: number;
}

/**
 * Returns the plan of a choice for one chooser, with the copies around it that take least; null where a demand cannot be met.
 * O(choosers + copies of the supplies around it).
 */
export type NeighbourOf = (chooser: number, choice: number) => Neighbour | null;

/** Returns what gives the neighbours of a plan. O(demands of all choices). */
export function neighboursOf(problem: PlanProblem, plan: PlanChoice): NeighbourOf {
  const { mesh, choosers, supplies, resources } = problem;
  /** [supplies] */
  const takers: Set<number>[] = supplies.map(() => new Set());
  const made: number[][] = choosers.map(() => []);
  supplies.forEach(({ chooser }, s) => {
    (made[chooser] as number[]).push(s);
  });
  choosers.forEach(({ choices }, v) => {
    for (const { demands } of choices) for (const { supply } of demands) (takers[supply] as Set<number>).add(v);
  });
  const psOf = ({ resources: used, amounts }: Uses): number =>
    used.reduce((sum, r, i) => sum + (resources[r]?.kind === "time" ? (amounts[i] as number) : 0), 0);
  /** Returns copies of a supply that meet its demands under some choices, one demand after the other. */
  const copiesOf = (s: number, chosen: (v: number) => Choice): number[] | null => {
    const { chooser, wantsKept, copies } = supplies[s] as Supply;
    const { pattern, isKept } = chosen(chooser);
    const wanted = [...(takers[s] as Set<number>)].flatMap((v) =>
      chosen(v).demands.flatMap((demand) => (demand.supply === s ? [demand.pattern] : [])),
    );
    if (wanted.length > 0 && wantsKept && !isKept) return null;
    const taken: number[] = [];
    for (const to of wanted) {
      const gives = (from: Pattern): boolean => isFree(mesh, from, to);
      if (gives(pattern) || taken.some((copy) => gives((copies[copy] as Copy).to))) continue;
      let best = -1;
      copies.forEach((copy, k) => {
        if (copy.from !== pattern || !gives(copy.to)) return;
        if (best < 0 || psOf(copy.uses) < psOf((copies[best] as Copy).uses)) best = k;
      });
      if (best < 0) return null;
      taken.push(best);
    }
    return taken.sort((a, b) => a - b);
  };
  return (chooser, choice) => {
    const choices = Int32Array.from(plan.choices);
    choices[chooser] = choice;
    const chosen = (v: number): Choice => (choosers[v] as Chooser).choices[choices[v] as number] as Choice;
    const { demands } = chosen(chooser);
    const before = (choosers[chooser] as Chooser).choices[plan.choices[chooser] as number] as Choice;
    const touched = new Set([
      ...(made[chooser] as number[]),
      ...[...demands, ...before.demands].map(({ supply }) => supply),
    ]);
    const copies = [...plan.copies];
    for (const s of touched) {
      const own = copiesOf(s, chosen);
      if (own === null) return null;
      copies[s] = own;
    }
    const totals = planTotals(problem, { choices, copies });
    return totals && { choice, ...totals };
  };
}
