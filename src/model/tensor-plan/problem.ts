import type { Mesh } from "./mesh.ts";
import { type Pattern, REPLICATED, shardedAt, stateOn } from "./patterns.ts";

/** Something that a plan has to pay with: time is to be little, memory at most so much. */
export interface Resource {
  readonly name: string;
  /** Of the times (picoseconds), the greatest is what the plan takes; memory is bytes. */
  readonly kind: "time" | "memory";
  /** Of memory: what there is. Infinity of times. */
  readonly limit: number;
}

/** Amounts of some resources; each at most once, none negative. */
export interface Uses {
  /** Indices of resources. */
  readonly resources: readonly number[];
  readonly amounts: readonly number[];
}

/** A tensor has to be there in a pattern, or in one from which that is for free. */
export interface Demand {
  /** Index of a supply. */
  readonly supply: number;
  readonly pattern: Pattern;
}

/** How a tensor may be made. */
export interface Choice {
  readonly pattern: Pattern;
  /** The tensor is there for supplies that want it kept: in memory, or made again when it is wanted. */
  readonly isKept: boolean;
  readonly uses: Uses;
  readonly demands: readonly Demand[];
}

/** Tensors of which one choice decides: equal ones of repeated parts. */
export interface Chooser {
  readonly name: string;
  /** One or more. */
  readonly choices: readonly Choice[];
}

/** A tensor brought from the pattern in which it was made to another. Each is made at most once, whoever takes it. */
export interface Copy {
  readonly from: Pattern;
  readonly to: Pattern;
  readonly uses: Uses;
}

/** A tensor as those take it who want it at one time: in the forward pass, or in the backward pass. */
export interface Supply {
  /** Index of the chooser that makes it. */
  readonly chooser: number;
  /** Only a choice that is kept is there. */
  readonly wantsKept: boolean;
  /** What may be made of it; the pattern in which it was made is there without. */
  readonly copies: readonly Copy[];
}

/**
 * Which states of tensors make a step fastest, in numbers: one choice for each chooser, and copies, so that all demands of the
 * choices are met and no memory is exceeded. What the plan takes is the greatest of its times. Choosers are in an order in which
 * each comes behind those whose supplies it demands, but for those of repeated parts.
 */
export interface PlanProblem {
  readonly mesh: Mesh;
  readonly resources: readonly Resource[];
  /** [resources] what every plan uses. */
  readonly base: Float64Array;
  readonly choosers: readonly Chooser[];
  readonly supplies: readonly Supply[];
}

/** An answer. */
export interface PlanChoice {
  /** [choosers] index of its choice. */
  readonly choices: Int32Array;
  /** [supplies] indices of the copies that are made, ascending. */
  readonly copies: readonly (readonly number[])[];
}

/** What a plan uses. */
export interface PlanTotals {
  /** [resources] */
  readonly totals: Float64Array;
  /** The greatest of its times, picoseconds. */
  readonly ps: number;
  /** Every memory is enough. */
  readonly fits: boolean;
}

/** Returns whether a tensor that lies in one pattern is there in another without being sent: parts of it are taken at most. */
export function isFree({ axes }: Mesh, from: Pattern, to: Pattern): boolean {
  for (let j = 0; j < axes.length; j++) {
    const [before, after] = [stateOn(from, j), stateOn(to, j)];
    if (before !== after && !(before === REPLICATED && shardedAt(after) >= 0)) return false;
  }
  return true;
}

/** Returns the patterns in which a supply is there, with some of its copies made; empty where it is not kept and has to be. */
export function suppliedPatterns(
  { choosers, supplies }: PlanProblem,
  { choices, copies }: PlanChoice,
  at: number,
): readonly Pattern[] {
  const { chooser, wantsKept, copies: possible } = supplies[at] as Supply;
  const made = (choosers[chooser] as Chooser).choices[choices[chooser] as number] as Choice;
  if (wantsKept && !made.isKept) return [];
  return [made.pattern, ...(copies[at] as readonly number[]).map((copy) => (possible[copy] as Copy).to)];
}

/**
 * Returns what a plan uses, or null where it is none: a copy starts from a pattern in which the tensor is not made, or a demand is
 * not met. O(choices + demands x copies).
 */
export function planTotals(problem: PlanProblem, plan: PlanChoice): PlanTotals | null {
  const { mesh, resources, base, choosers, supplies } = problem;
  const totals = Float64Array.from(base);
  const add = ({ resources: used, amounts }: Uses): void => {
    for (let i = 0; i < used.length; i++) totals[used[i] as number] += amounts[i] as number;
  };
  for (let at = 0; at < supplies.length; at++) {
    const { chooser, wantsKept, copies } = supplies[at] as Supply;
    const made = (choosers[chooser] as Chooser).choices[plan.choices[chooser] as number] as Choice;
    for (const copy of plan.copies[at] as readonly number[]) {
      const { from, uses } = copies[copy] as Copy;
      if (from !== made.pattern || (wantsKept && !made.isKept)) return null;
      add(uses);
    }
  }
  for (let v = 0; v < choosers.length; v++) {
    const { uses, demands } = (choosers[v] as Chooser).choices[plan.choices[v] as number] as Choice;
    add(uses);
    for (const { supply, pattern } of demands) {
      if (!suppliedPatterns(problem, plan, supply).some((there) => isFree(mesh, there, pattern))) return null;
    }
  }
  let ps = 0;
  let fits = true;
  resources.forEach(({ kind, limit }, r) => {
    if (kind === "time") ps = Math.max(ps, totals[r] as number);
    else if ((totals[r] as number) > limit) fits = false;
  });
  return { totals, ps, fits };
}
