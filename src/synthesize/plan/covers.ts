import type { PlanChoice } from "../../model/tensor-plan/problem.ts";
import { NOTHING, type PlanTables, type SupplyTable } from "./tables.ts";

/** What one unit of each resource is taken for, [resources]: then all that a plan uses is one number. */
export type Weights = Float64Array;

/** Under some weights. */
export interface Costs {
  /** [choosers][choices] */
  readonly choice: readonly Float64Array[];
  /** [supplies][listed copies] */
  readonly copy: readonly Float64Array[];
  /** [supplies] */
  readonly pair: readonly PairCosts[];
}

/** What patterns of a supply cost, worked out as they are asked for. */
export interface PairCosts {
  /** Returns the cheapest copy that gives a wanted pattern of what is made, the first of equal ones; NOTHING where there is none. */
  copyFor(made: number, wanted: number): number;
  /** Returns what that costs: 0 where the pattern is there, Infinity where nothing gives it. */
  costOf(made: number, wanted: number): number;
}

/** Returns sums of amounts times weights, one a row of `uses`. */
function weighed(uses: Float64Array, weights: Weights): Float64Array {
  const count = weights.length;
  const sums = new Float64Array(uses.length / count);
  for (let i = 0, at = 0; i < sums.length; i++) {
    let sum = 0;
    for (let r = 0; r < count; r++, at++) sum += uses[at] * weights[r];
    sums[i] = sum;
  }
  return sums;
}

/** Returns what all choices and copies cost under weights. O(choices + copies). */
export function costsUnder({ uses, supplies }: PlanTables, weights: Weights): Costs {
  const copy = supplies.map((supply) => weighed(supply.uses, weights));
  return {
    choice: uses.map((one) => weighed(one, weights)),
    copy,
    pair: supplies.map((supply, s) => pairCosts(supply, copy[s])),
  };
}

/** Returns what the patterns of a supply cost. O(copies x patterns that each gives) for each way in which it is made. */
function pairCosts(
  { madeCount, wanted, free, copyOffset, target, gives }: SupplyTable,
  copyCost: Float64Array,
): PairCosts {
  const width = wanted.length;
  /** [made][wanted] */
  const rows: ({ readonly cost: Float64Array; readonly copy: Int32Array } | undefined)[] = new Array(madeCount);
  const rowOf = (p: number) => {
    let row = rows[p];
    if (row !== undefined) return row;
    const cost = new Float64Array(width);
    for (let q = 0; q < width; q++) cost[q] = free[p * width + q] === 1 ? 0 : Number.POSITIVE_INFINITY;
    const copy = new Int32Array(width).fill(NOTHING);
    for (let i = copyOffset[p]; i < copyOffset[p + 1]; i++) {
      const given = gives[target[i]];
      for (let g = 0; g < given.length; g++) {
        if (copyCost[i] >= cost[given[g]]) continue;
        cost[given[g]] = copyCost[i];
        copy[given[g]] = i;
      }
    }
    row = { cost, copy };
    rows[p] = row;
    return row;
  };
  return { copyFor: (p, q) => rowOf(p).copy[q], costOf: (p, q) => rowOf(p).cost[q] };
}

/** So many patterns of one supply at most are met at the least cost together; of more, each by the copy that is best for what is left. */
const MOST_TOGETHER = 10;

/**
 * Returns the listed copies that give some wanted patterns at the least cost, ascending; null where nothing does. O(copies x 2 **
 * patterns) up to MOST_TOGETHER patterns; not the least cost beyond.
 */
export function cheapestCopies(
  supply: SupplyTable,
  copyCost: Float64Array,
  pair: PairCosts,
  made: number,
  needs: readonly number[],
): readonly number[] | null {
  const { wanted, free, copyOffset, target, isGiven } = supply;
  const width = wanted.length;
  if (needs.length === 0) return [];
  if (made === NOTHING) return null;
  const left = needs.filter((q) => free[made * width + q] === 0);
  if (left.length === 0) return [];
  const [first, end] = [copyOffset[made], copyOffset[made + 1]];
  if (left.length === 1) {
    const best = pair.copyFor(made, left[0]);
    return best === NOTHING ? null : [best];
  }
  const together = left.slice(0, MOST_TOGETHER);
  const bits = Int32Array.from({ length: end - first }, (_, i) =>
    together.reduce((set, q, bit) => set | (isGiven[target[first + i] * width + q] === 1 ? 1 << bit : 0), 0),
  );
  const all = (1 << together.length) - 1;
  const cost = new Float64Array(all + 1).fill(Number.POSITIVE_INFINITY);
  const via = new Int32Array(all + 1).fill(NOTHING);
  const before = new Int32Array(all + 1);
  cost[0] = 0;
  for (let set = 0; set < all; set++) {
    if (cost[set] === Number.POSITIVE_INFINITY) continue;
    const next = ~set & all & -(~set & all);
    for (let i = 0; i < bits.length; i++) {
      if ((bits[i] & next) === 0) continue;
      const then = set | bits[i];
      if (cost[set] + copyCost[first + i] >= cost[then]) continue;
      cost[then] = cost[set] + copyCost[first + i];
      via[then] = first + i;
      before[then] = set;
    }
  }
  if (cost[all] === Number.POSITIVE_INFINITY) return null;
  const chosen: number[] = [];
  for (let set = all; set !== 0; set = before[set]) chosen.push(via[set]);
  const rest = left.slice(MOST_TOGETHER).filter((q) => !chosen.some((i) => isGiven[target[i] * width + q] === 1));
  const others = cheapestCopies(supply, copyCost, pair, made, rest);
  return others === null ? null : [...new Set([...chosen, ...others])].sort((a, b) => a - b);
}

/** Returns the patterns that are wanted of a supply under some choices, each once. */
export function needsOf({ supplies, links }: PlanTables, choices: Int32Array, s: number): number[] {
  const needs: number[] = [];
  for (const e of supplies[s].links) {
    const { taker, asked } = links[e];
    const q = asked[choices[taker]];
    if (q !== NOTHING && !needs.includes(q)) needs.push(q);
  }
  return needs;
}

/** Returns listed copies of a supply as the problem numbers them, ascending. */
export const numbered = ({ copy }: SupplyTable, listed: readonly number[]): number[] =>
  listed.map((i) => copy[i]).sort((a, b) => a - b);

/** Returns the plan of some choices whose copies cost least, supply by supply; null where a demand cannot be met. */
export function planOf(tables: PlanTables, choices: Int32Array, { copy, pair }: Costs): PlanChoice | null {
  const copies: number[][] = [];
  for (let s = 0; s < tables.supplies.length; s++) {
    const supply = tables.supplies[s];
    const made = supply.made[choices[supply.chooser]];
    const listed = cheapestCopies(supply, copy[s], pair[s], made, needsOf(tables, choices, s));
    if (listed === null) return null;
    copies.push(numbered(supply, listed));
  }
  return { choices: Int32Array.from(choices), copies };
}
