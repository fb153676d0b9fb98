import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  belowOfStage,
  bestCuts,
  type CutProblem,
  leastOfCuts,
  type PartCost,
  passesInFlight,
  pipelinePs,
} from "../../../src/synthesize/plan/stage-cuts.ts";

const part = fc.record({
  times: fc.tuple(fc.nat(20), fc.nat(20)),
  lastingBytes: fc.nat(10),
  keptBytes: fc.nat(4),
  workingBytes: fc.nat(4),
});
const cut = fc.record({ forwardPs: fc.nat(6), backwardPs: fc.nat(6), keptBytes: fc.nat(3) });
const problems: fc.Arbitrary<CutProblem> = fc.integer({ min: 1, max: 7 }).chain((count) =>
  fc.record({
    parts: fc.array(part, { minLength: count, maxLength: count }),
    cuts: fc.array(cut, { minLength: count, maxLength: count }),
    stages: fc.integer({ min: 1, max: 4 }),
    passes: fc.integer({ min: 1, max: 6 }),
    memoryBytes: fc.integer({ min: 15, max: 90 }),
  }),
);

/** Returns what a stage of the parts from `first` to before `end` takes; null where it does not fit. */
function stagePs(problem: CutProblem, first: number, end: number, stage: number): number | null {
  const { parts, cuts, stages, passes, memoryBytes } = problem;
  const own = parts.slice(first, end);
  const inFlight = passesInFlight(stage, stages, passes);
  const sum = (of: (part: PartCost) => number): number => own.reduce((all, part) => all + of(part), 0);
  const before = first > 0 ? cuts[first] : undefined;
  const bytes =
    sum(({ lastingBytes }) => lastingBytes) +
    inFlight * (sum(({ keptBytes }) => keptBytes) + (before?.keptBytes ?? 0)) +
    Math.max(0, ...own.map(({ workingBytes }) => workingBytes));
  if (bytes > memoryBytes) return null;
  const busiest = Math.max(...(own[0]?.times ?? []).map((_, r) => sum(({ times }) => times[r] as number)));
  return busiest + (before?.forwardPs ?? 0) + (end < parts.length ? (cuts[end]?.backwardPs ?? 0) : 0);
}

/** Returns the least of all ways to cut; null where none fits. */
function leastOfAll(problem: CutProblem): number | null {
  const { parts, stages, passes } = problem;
  let least: number | null = null;
  const tell = (firsts: readonly number[]): void => {
    if (firsts.length < stages) {
      const last = firsts[firsts.length - 1] as number;
      for (let next = last + 1; next < parts.length; next++) tell([...firsts, next]);
      return;
    }
    const times = firsts.map((first, s) => stagePs(problem, first, firsts[s + 1] ?? parts.length, s));
    if (times.some((ps) => ps === null)) return;
    const ps = pipelinePs(times as number[], passes);
    if (least === null || ps < least) least = ps;
  };
  tell([0]);
  return least;
}

describe("where a pipeline is cut", () => {
  it("is where it is best of all cuts", () => {
    let [found, none] = [0, 0];
    fc.assert(
      fc.property(problems, (problem) => {
        const least = leastOfAll(problem);
        const best = bestCuts(problem);
        if (least === null) {
          none++;
          expect(best).toBeNull();
          return;
        }
        found++;
        expect(best?.ps).toBeCloseTo(least, 9);
        expect(leastOfCuts(problem)).toBeLessThanOrEqual(least + 1e-9);
        const { firsts } = best as { firsts: readonly number[] };
        expect(firsts.length).toBe(problem.stages);
        const times = firsts.map((first, s) => stagePs(problem, first, firsts[s + 1] ?? problem.parts.length, s));
        expect(pipelinePs(times as number[], problem.passes)).toBeCloseTo(least, 9);
      }),
      { numRuns: 1000 },
    );
    expect(Math.min(found, none)).toBeGreaterThan(100);
  });

  it("evens out stages, or gives those less whose passes stay longer", () => {
    const equal = { times: [6], lastingBytes: 1, keptBytes: 1, workingBytes: 0 };
    const free = { forwardPs: 0, backwardPs: 0, keptBytes: 0 };
    const problem = { parts: Array(8).fill(equal), cuts: Array(8).fill(free), stages: 2, passes: 6 };
    expect(bestCuts({ ...problem, memoryBytes: 12 })).toEqual({ firsts: [0, 4], ps: 28 });
    expect(bestCuts({ ...problem, memoryBytes: 11 })?.firsts).toEqual([0, 3]);
    expect(bestCuts({ ...problem, memoryBytes: 9 })).toBeNull();
  });

  it("is of no use from where a stage takes as much as it says", () => {
    const times = fc.array(fc.nat(50), { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(times, fc.nat(4), fc.integer({ min: 1, max: 6 }), fc.nat(120), (stagePs, s, passes, belowPs) => {
        const stage = s % stagePs.length;
        const at = (ps: number): number => pipelinePs(stagePs.with(stage, ps), passes);
        const below = belowOfStage(stagePs, stage, belowPs, passes);
        expect(at(below)).toBeGreaterThanOrEqual(belowPs - 1e-9);
        if (below > 0) expect(at(below)).toBeCloseTo(belowPs, 9);
      }),
    );
  });
});
