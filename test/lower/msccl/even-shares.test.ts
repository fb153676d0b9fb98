import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { evenShares } from "../../../src/lower/msccl/lower.ts";
import { runs } from "../../support/runs.ts";

const PAIRS = 5;
const shares = fc.integer({ min: 1, max: 7 });

/** Columns of parts, each of which has hops over these pairs; hops of all parts in turns. */
function columnsOf(pairsOfParts: readonly (readonly number[])[]) {
  const longest = Math.max(0, ...pairsOfParts.map(({ length }) => length));
  const hops = Array.from({ length: longest }, (_, k) =>
    pairsOfParts.flatMap((pairs, part) => (k < pairs.length ? [{ pair: pairs[k] as number, part }] : [])),
  ).flat();
  return {
    pair: Int32Array.from(hops, ({ pair }) => pair),
    part: Int32Array.from(hops, ({ part }) => part),
    pairSource: new Int32Array(PAIRS),
    first: new Int32Array(pairsOfParts.length),
  };
}

/** Returns how many hops over each pair each share has. */
function loadsOf(pairsOfParts: readonly (readonly number[])[], share: Int32Array, many: number): number[][] {
  const loads = Array.from({ length: PAIRS }, () => new Array<number>(many).fill(0));
  pairsOfParts.forEach((pairs, p) => {
    for (const pair of pairs)
      (loads[pair] as number[])[share[p] as number] = (loads[pair]?.[share[p] as number] ?? 0) + 1;
  });
  return loads;
}

describe("evenShares", () => {
  it("gives each part to the share that has the fewest hops where it has the most", () => {
    const parts = fc.array(fc.uniqueArray(fc.nat(PAIRS - 1), { maxLength: PAIRS }), { maxLength: 30 });
    fc.assert(
      fc.property(parts, shares, (pairsOfParts, many) => {
        const share = evenShares(columnsOf(pairsOfParts), many);
        expect(share).toHaveLength(pairsOfParts.length);
        pairsOfParts.forEach((pairs, p) => {
          const before = loadsOf(pairsOfParts.slice(0, p), share, many);
          const most = Array.from({ length: many }, (_, s) =>
            Math.max(0, ...pairs.map((pair) => before[pair]?.[s] ?? 0)),
          );
          expect(most.indexOf(Math.min(...most))).toBe(share[p]);
        });
      }),
      { numRuns: runs(300) },
    );
  });

  it("are as equal as can be where a part goes from one rank to another only, whatever its number", () => {
    fc.assert(
      fc.property(fc.array(fc.nat(PAIRS - 1), { maxLength: 60 }), shares, (pairs, many) => {
        const parts = pairs.map((pair) => [pair]);
        for (const load of loadsOf(parts, evenShares(columnsOf(parts), many), many))
          expect(Math.max(...load) - Math.min(...load)).toBeLessThanOrEqual(1);
      }),
      { numRuns: runs(300) },
    );
  });
});
