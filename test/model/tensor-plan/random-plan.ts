import { below, draw } from "../../../src/base/random.ts";
import {
  type Choice,
  isFree,
  type PlanChoice,
  type PlanProblem,
  type Supply,
} from "../../../src/model/tensor-plan/problem.ts";

/** Patterns are numbers below this. */
const PATTERNS = 2 ** 26;
const known = new WeakMap<PlanProblem, readonly Map<number, number | null>[]>();

/** Returns which copy of each supply a demand needs, by the pattern made and the one wanted, as far as it was asked before. */
function knownCopies(problem: PlanProblem): readonly Map<number, number | null>[] {
  const copies = known.get(problem) ?? problem.supplies.map(() => new Map<number, number | null>());
  known.set(problem, copies);
  return copies;
}

/** Returns a plan whose choices are random but for what would leave a demand unmet; null where it came to an end without one. */
export function randomPlan(problem: PlanProblem, seed: number): PlanChoice | null {
  const { mesh, choosers, supplies } = problem;
  const copyOf = knownCopies(problem);
  const chosen = new Int32Array(choosers.length).fill(-1);
  const copies: Set<number>[] = supplies.map(() => new Set());
  let drawn = 0;
  const choiceOf = (v: number): Choice | undefined => choosers[v]?.choices[chosen[v] as number];
  /** Returns the copy that a demand needs: -1 for none, null where there is none. */
  const needed = (s: number, made: Choice, pattern: number): number | null => {
    const { wantsKept, copies: possible } = supplies[s] as Supply;
    if (wantsKept && !made.isKept) return null;
    const key = made.pattern * PATTERNS + pattern;
    let at = copyOf[s]?.get(key);
    if (at === undefined) {
      const found = possible.findIndex(({ from, to }) => from === made.pattern && to === pattern);
      at = isFree(mesh, made.pattern, pattern) ? -1 : found < 0 ? null : found;
      copyOf[s]?.set(key, at);
    }
    return at;
  };
  const isMet = (choice: Choice): boolean =>
    choice.demands.every(({ supply, pattern }) => {
      const made = choiceOf((supplies[supply] as Supply).chooser);
      return made === undefined || needed(supply, made, pattern) !== null;
    });
  for (let v = 0; v < choosers.length; v++) {
    const choices = choosers[v]?.choices ?? [];
    const kept = choices.some(({ isKept }) => isKept);
    const possible = choices
      .map((_, c) => c)
      .filter((c) => {
        const choice = choices[c] as Choice;
        return (choice.isKept || !kept) && isMet(choice);
      });
    if (possible.length === 0) return null;
    chosen[v] = possible[below(draw(seed, v, drawn++), possible.length)] as number;
  }
  for (let v = 0; v < choosers.length; v++) {
    for (const { supply, pattern } of choiceOf(v)?.demands ?? []) {
      const at = needed(supply, choiceOf((supplies[supply] as Supply).chooser) as Choice, pattern);
      if (at === null) return null;
      if (at >= 0) copies[supply]?.add(at);
    }
  }
  return { choices: chosen, copies: copies.map((set) => [...set].sort((a, b) => a - b)) };
}
