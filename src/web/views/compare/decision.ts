import type { Comparison, ComparisonRow } from "../../../report/comparison.ts";
import { gainText } from "../../../report/gains.ts";
import type { KeptComparison } from "./before.ts";
import { sizesIn, usOf } from "./series.ts";

/** A comparison as something to decide by: algorithms over sizes, and networks over sizes. */

export interface Cell {
  readonly row: ComparisonRow;
  readonly us: number;
  /** So many times what the fastest of its size takes. */
  readonly times: number;
  /** "best", "tie" within 1 % of it, or "1.35 x". */
  readonly text: string;
}

export interface DecisionLine {
  readonly algorithm: string;
  /** How libraries do it, where they do. */
  readonly library?: string;
  /** [sizes, ascending] null: not made at that size, or nothing of a target runs it. */
  readonly cells: readonly (Cell | null)[];
}

/**
 * Returns a line for each algorithm: first those that are best or tied at most sizes, then those that lack fewest, then by what they take
 * over the best in the geometric mean. O(rows x log rows).
 */
export function decisionLines(comparison: Comparison): DecisionLine[] {
  const sizes = sizesIn(comparison);
  const placeOf = new Map(sizes.map((size, place) => [size, place]));
  const least = new Array<number>(sizes.length).fill(Number.POSITIVE_INFINITY);
  for (const row of comparison.rows) {
    const place = placeOf.get(row.sizeBytes) as number;
    least[place] = Math.min(least[place] as number, usOf(comparison, row));
  }
  const lines = new Map<string, (Cell | null)[]>();
  for (const row of comparison.rows) {
    const cells = lines.get(row.algorithm) ?? new Array<Cell | null>(sizes.length).fill(null);
    lines.set(row.algorithm, cells);
    const place = placeOf.get(row.sizeBytes) as number;
    const [us, best] = [usOf(comparison, row), least[place] as number];
    if (!Number.isFinite(us)) continue;
    const times = best > 0 ? us / best : 1;
    cells[place] = { row, us, times, text: row.best ? "best" : gainText(us, best) };
  }
  const found = [...lines].map(([algorithm, cells]): DecisionLine => {
    const library = comparison.rows.find((row) => row.algorithm === algorithm)?.library;
    return { algorithm, ...(library !== undefined && { library }), cells };
  });
  const ranked = found.map((line) => ({ line, ...rankOf(line) }));
  return ranked.sort((a, b) => b.wins - a.wins || a.missing - b.missing || a.mean - b.mean).map(({ line }) => line);
}

/** Returns at how many sizes a line is best or tied, how many it lacks, and the logarithm of what it takes over the best in the mean. */
function rankOf({ cells }: DecisionLine): { readonly wins: number; readonly missing: number; readonly mean: number } {
  const there = cells.filter((cell) => cell !== null);
  const wins = there.filter(({ text }) => text === "best" || text === "tie").length;
  const logs = there.reduce((sum, { times }) => sum + Math.log(times), 0);
  return { wins, missing: cells.length - there.length, mean: logs / Math.max(1, there.length) };
}

/** So many times the fastest is no longer coloured. */
const COLOURED_TO = 3;

/** Returns how strongly a cell is coloured: 1 the fastest, 0 where it takes 3 times as long or more. */
export const warmthOf = ({ times }: Cell): number => Math.max(0, 1 - Math.log(times) / Math.log(COLOURED_TO));

/** Returns what a comparison is of: the network with what failed or is slower, the collective, its group, and what runs it. */
export function comparedText({ words: { options }, comparison }: Pick<KeptComparison, "words" | "comparison">): string {
  const { group } = options;
  return [
    comparison.topology.name || "a network",
    comparison.collective,
    ...(typeof group === "string" ? [`of ${group}`] : []),
    ...(comparison.target === undefined ? [] : [`for ${comparison.target}`]),
  ].join(", ");
}

/** What takes least at a size. */
export interface Least {
  readonly algorithm: string;
  readonly us: number;
}

/** Returns the fastest line of each of some sizes; null where there is none. */
export function leastAt(comparison: Comparison, sizes: readonly number[]): (Least | null)[] {
  return sizes.map((size) => {
    const row = comparison.rows.find(({ sizeBytes, best }) => best && sizeBytes === size);
    return row === undefined ? null : { algorithm: row.algorithm, us: usOf(comparison, row) };
  });
}
