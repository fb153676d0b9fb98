import {
  isFree,
  type PlanChoice,
  type PlanProblem,
  planTotals,
  suppliedPatterns,
} from "../../src/model/tensor-plan/problem.ts";

/** Returns the sets of copies of a supply that meet what some choices demand of it, of which no copy can be left out. */
function leastSets(problem: PlanProblem, choices: Int32Array, at: number): number[][] {
  const { mesh, choosers, supplies } = problem;
  const { chooser, wantsKept, copies } = supplies[at];
  const made = choosers[chooser].choices[choices[chooser]];
  const demanded = choosers.flatMap((one, v) =>
    one.choices[choices[v]].demands.filter(({ supply }) => supply === at).map(({ pattern }) => pattern),
  );
  if (wantsKept && !made.isKept) return demanded.length === 0 ? [[]] : [];
  const own = [...copies.keys()].filter((k) => copies[k].from === made.pattern);
  const meets = (set: readonly number[]): boolean => {
    const there = suppliedPatterns(problem, { choices, copies: supplies.map((_, s) => (s === at ? set : [])) }, at);
    return demanded.every((pattern) => there.some((one) => isFree(mesh, one, pattern)));
  };
  const found: number[][] = [];
  const from = (i: number, set: number[]): void => {
    if (meets(set)) {
      if (!set.some((k) => meets(set.filter((other) => other !== k)))) found.push(set);
      return;
    }
    for (let next = i; next < own.length; next++) from(next + 1, [...set, own[next]]);
  };
  from(0, []);
  return found;
}

/** Returns the best plan that fits, by trying all; null where none does. The first of equals. */
export function bestByTrying(problem: PlanProblem): { readonly plan: PlanChoice; readonly ps: number } | null {
  const { choosers, supplies, resources } = problem;
  let best: { readonly plan: PlanChoice; readonly ps: number } | null = null;
  const choices = new Int32Array(choosers.length);
  const none = supplies.map(() => [] as number[]);
  /** Whether choices so far, with no copies, already take too long or too much. */
  const isHopeless = (totals: Float64Array): boolean =>
    resources.some(({ kind, limit }, r) =>
      kind === "time" ? best !== null && totals[r] >= best.ps : totals[r] > limit,
    );
  const add = (
    totals: Float64Array,
    uses: { readonly resources: readonly number[]; readonly amounts: readonly number[] },
  ) => {
    const sum = Float64Array.from(totals);
    uses.resources.forEach((r, i) => {
      sum[r] += uses.amounts[i];
    });
    return sum;
  };
  const copying = (
    s: number,
    sets: readonly (readonly number[][])[],
    taken: number[][],
    totals: Float64Array,
  ): void => {
    if (isHopeless(totals)) return;
    if (s === supplies.length) {
      const plan = { choices: Int32Array.from(choices), copies: taken.map((set) => [...set]) };
      const checked = planTotals(problem, plan);
      if (checked === null) throw new Error("a plan is none");
      if (checked.fits && (best === null || checked.ps < best.ps)) best = { plan, ps: checked.ps };
      return;
    }
    for (const set of sets[s]) {
      let sum = totals;
      for (const k of set) sum = add(sum, supplies[s].copies[k].uses);
      copying(s + 1, sets, [...taken.slice(0, s), set, ...none.slice(s + 1)], sum);
    }
  };
  const choosing = (v: number, totals: Float64Array): void => {
    if (isHopeless(totals)) return;
    if (v < choosers.length) {
      choosers[v].choices.forEach((choice, c) => {
        choices[v] = c;
        choosing(v + 1, add(totals, choice.uses));
      });
      return;
    }
    const sets: number[][][] = [];
    for (let s = 0; s < supplies.length; s++) {
      const own = leastSets(problem, choices, s);
      if (own.length === 0) return;
      sets.push(own);
    }
    copying(0, sets, none, totals);
  };
  choosing(0, Float64Array.from(problem.base));
  return best;
}
