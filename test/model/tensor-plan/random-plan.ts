import { below, draw } from "../../../src/base/random.ts";
import {
  type Choice,
  isFree,
  type PlanChoice,
  type PlanProblem,
  type Supply,
} from "../../../src/model/tensor-plan/problem.ts";

/** Returns a plan whose choices are random but for what would leave a demand unmet; null where it came to an end without one. */
export function randomPlan({ mesh, choosers, supplies }: PlanProblem, seed: number): PlanChoice | null {
  const chosen = new Int32Array(choosers.length).fill(-1);
  const copies: Set<number>[] = supplies.map(() => new Set());
  let drawn = 0;
  const choiceOf = (v: number): Choice | undefined => choosers[v]?.choices[chosen[v] as number];
  /** Returns the copy that a demand needs: -1 for none, null where there is none. */
  const needed = (supply: Supply, made: Choice, pattern: number): number | null => {
    if (supply.wantsKept && !made.isKept) return null;
    if (isFree(mesh, made.pattern, pattern)) return -1;
    const at = supply.copies.findIndex(({ from, to }) => from === made.pattern && to === pattern);
    return at < 0 ? null : at;
  };
  const isMet = (choice: Choice): boolean =>
    choice.demands.every(({ supply, pattern }) => {
      const one = supplies[supply] as Supply;
      const made = choiceOf(one.chooser);
      return made === undefined || needed(one, made, pattern) !== null;
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
      const one = supplies[supply] as Supply;
      const at = needed(one, choiceOf(one.chooser) as Choice, pattern);
      if (at === null) return null;
      if (at >= 0) copies[supply]?.add(at);
    }
  }
  return { choices: chosen, copies: copies.map((set) => [...set].sort((a, b) => a - b)) };
}
