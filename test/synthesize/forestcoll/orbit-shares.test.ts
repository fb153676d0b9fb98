import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { sharesOf } from "../../../src/synthesize/forestcoll/orbit-shares.ts";
import { runs } from "../../support/runs.ts";

/** Orbit 0 alone, orbits 1 and 2 within 3 and 4 (always used together), orbit 5 alone. */
const KINDS: readonly (readonly number[])[] = [[0], [1, 3, 4], [2, 3, 4], [3, 4], [5]];

/** Returns whether each of the slots (NPU by NPU, k times) can take a kind so that all budgets hold, trying all ways. */
function fits(slots: readonly (readonly number[])[], left: readonly number[]): boolean {
  if (slots.length === 0) return true;
  const [kinds, ...rest] = slots as [readonly number[], ...(readonly number[])[]];
  return kinds.some((kind) => {
    const after = left.map((uses, o) => uses - (KINDS[kind]?.includes(o) ? 1 : 0));
    return after.every((uses) => uses >= 0) && fits(rest, after);
  });
}

const choices = fc.array(fc.uniqueArray(fc.integer({ min: 0, max: 4 }), { minLength: 1, maxLength: 3 }), {
  minLength: 1,
  maxLength: 4,
});
const budgets = fc.array(fc.integer({ min: 0, max: 4 }), { minLength: 6, maxLength: 6 });

describe("sharesOf", () => {
  it("deals kinds to NPUs within nested budgets exactly where trying all ways does", () => {
    fc.assert(
      fc.property(choices, budgets, fc.integer({ min: 1, max: 2 }), (kinds, budget, k) => {
        const choiceKind = [[], ...kinds];
        // the path of kind j into NPU v is 10 v + j
        const choicePath = choiceKind.map((list, v) => list.map((kind) => 10 * v + kind));
        const trees = sharesOf({ kindOrbits: KINDS, choiceKind, choicePath }, Float64Array.from(budget), k);
        const slots = kinds.flatMap((list) => Array.from({ length: k }, () => list));
        expect(trees !== null).toBe(fits(slots, budget));
        if (trees === null) return;
        expect(trees.reduce((sum, { copies }) => sum + copies, 0)).toBe(k);
        const left = [...budget];
        for (const { copies, into } of trees) {
          kinds.forEach((list, i) => {
            const kind = (into[i + 1] as number) - 10 * (i + 1);
            expect(list).toContain(kind);
            for (const o of KINDS[kind] as readonly number[]) left[o] = (left[o] as number) - copies;
          });
        }
        expect(Math.min(...left)).toBeGreaterThanOrEqual(0);
      }),
      { numRuns: runs(300) },
    );
  });

  it("gives up on budgets that overlap without being nested", () => {
    const kindOrbits = [
      [0, 1],
      [1, 2],
      [0, 2],
    ];
    const choiceKind = [[], [0, 1, 2]];
    const choicePath = [[], [0, 1, 2]];
    expect(sharesOf({ kindOrbits, choiceKind, choicePath }, Float64Array.of(1, 1, 1), 1)).toBeNull();
  });
});
