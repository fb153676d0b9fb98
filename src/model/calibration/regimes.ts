import { squares } from "../numbers/least-squares.ts";
import type { LinkClass } from "../topology/link-classes.ts";
import { columnOf, type FitSetup, solve, unknownsOf } from "./alpha-beta-system.ts";

/** A range of sizes that a line of its own fits. */
export interface Regime {
  readonly fromBytes: number;
  readonly toBytes: number;
  /** [setups] us of a call of no bytes. */
  readonly callUs: Float64Array;
  /** [setups] us that each byte adds; 0 where sizes do not matter. */
  readonly usPerByte: Float64Array;
}

/** A line needs two sizes. */
const FEWEST_SIZES = 2;

/** Returns the setups with the sizes of a range only. */
export function within(setups: readonly FitSetup[], fromBytes: number, toBytes: number): FitSetup[] {
  return setups.map(({ terms, sizeBytes, timeUs }) => {
    const inside = (_: number, i: number): boolean => sizeBytes[i] >= fromBytes && sizeBytes[i] <= toBytes;
    return { terms, sizeBytes: sizeBytes.filter(inside), timeUs: timeUs.filter(inside) };
  });
}

/** Returns the best line of a range of sizes, no figure kept. */
function lineOf(
  setups: readonly FitSetup[],
  classes: readonly LinkClass[],
  bottleneck: Int32Array,
  from: number,
  to: number,
): { regime: Regime; squares: number } {
  const part = within(setups, from, to);
  const unknowns = unknownsOf(part, classes, bottleneck);
  const { values, rest } = solve(
    unknowns,
    unknowns.map((unknown) => columnOf(unknown, part, bottleneck)),
    new Map(),
  );
  const callUs = new Float64Array(setups.length);
  const usPerByte = new Float64Array(setups.length);
  setups.forEach(({ terms }, s) => {
    unknowns.forEach(({ kind, classes: of, parts }, j) => {
      if (kind === "latency")
        of.forEach((index, k) => {
          callUs[s] += values[j] * (parts[k] as number) * terms.hops[index];
        });
      else if (kind === "call") callUs[s] += values[j];
      else if (bottleneck[s] === of[0]) usPerByte[s] = values[j] * terms.load[of[0]];
    });
  });
  return { regime: { fromBytes: from, toBytes: to, callUs, usPerByte }, squares: squares(rest) };
}

/**
 * Returns the split of the sizes into so many ranges, of two sizes at least, that lines of their own fit best: least sum of the
 * squares of relative errors, by dynamic programming; of equal splits the earliest. There are at least two sizes for each range.
 * O(sizes^2 points).
 */
export function bestRegimes(
  setups: readonly FitSetup[],
  classes: readonly LinkClass[],
  bottleneck: Int32Array,
  count: number,
): Regime[] {
  const sizes = [...new Set(setups.flatMap(({ sizeBytes }) => [...sizeBytes]))].sort((a, b) => a - b);
  const lines = sizes.map((from, i) =>
    sizes.slice(i + FEWEST_SIZES - 1).map((to) => lineOf(setups, classes, bottleneck, from, to)),
  );
  type Line = ReturnType<typeof lineOf>;
  const line = (from: number, to: number): Line => (lines[from] as Line[])[to - from - FEWEST_SIZES + 1] as Line;
  // least[r][end]: the sizes before `end` in r + 1 ranges, and where the last of them begins
  const least: { squares: number; start: number }[][] = [];
  for (let r = 0; r < count; r++) {
    least.push(
      Array.from({ length: sizes.length + 1 }, (_, end) => {
        let best = { squares: Number.POSITIVE_INFINITY, start: -1 };
        // the first range begins with the first size
        const last = r === 0 ? Math.min(0, end - FEWEST_SIZES) : end - FEWEST_SIZES;
        for (let start = FEWEST_SIZES * r; start <= last; start++) {
          const before = r === 0 ? 0 : ((least[r - 1] as (typeof best)[])[start] as typeof best).squares;
          const sum = before + line(start, end - 1).squares;
          if (sum < best.squares) best = { squares: sum, start };
        }
        return best;
      }),
    );
  }
  const regimes: Regime[] = [];
  for (let r = count - 1, end = sizes.length; r >= 0; r--) {
    const { start } = (least[r] as { start: number }[])[end] as { start: number };
    regimes.unshift(line(start, end - 1).regime);
    end = start;
  }
  return regimes;
}
