import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { outcomeOf } from "../../support/fuzz/law.ts";
import { bytesOf, letters } from "../../support/fuzz/target.ts";
import { tensorGraphTargets } from "../../support/fuzz/tensor-graph-targets.ts";
import { runs } from "../../support/runs.ts";

describe("a damaged tensor graph", () => {
  const places = fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 4 });
  it.each(tensorGraphTargets().map((target) => [target.name, target] as const))(
    "is read or refused in one sentence: %s",
    async (_, target) => {
      const seeds = target.seeds().map(bytesOf);
      let refused = 0;
      await fc.assert(
        fc.asyncProperty(fc.nat(seeds.length - 1), places, fc.option(fc.nat()), async (which, changes, cut) => {
          const bytes = (seeds[which] as Uint8Array).slice();
          for (const [at, byte] of changes) bytes[at % bytes.length] = byte;
          const end = cut === null ? bytes.length : cut % bytes.length;
          const { breach, read } = await outcomeOf(target, letters(bytes.subarray(0, end)));
          expect(breach).toBeNull();
          if (!read) refused++;
        }),
        { numRuns: runs(300) },
      );
      expect(refused).toBeGreaterThan(runs(300) / 5);
    },
  );
});
