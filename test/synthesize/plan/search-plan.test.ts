import { beforeAll, describe, expect, it } from "vitest";
import type { MilpRunner } from "../../../src/engine/contract/programs.ts";
import { PARTIAL } from "../../../src/model/tensor-plan/patterns.ts";
import { type PlanChoice, type PlanProblem, planTotals } from "../../../src/model/tensor-plan/problem.ts";
import { effortOf } from "../../../src/synthesize/plan/effort.ts";
import { planProgram, planProgramSize } from "../../../src/synthesize/plan/program.ts";
import { leastOfAll, searchPlan } from "../../../src/synthesize/plan/solve.ts";
import { planTables } from "../../../src/synthesize/plan/tables.ts";
import { milpHere } from "../../support/milp-here.ts";
import { bestByTrying } from "../../support/plan-exhaustive.ts";
import { randomPlanProblem } from "../../support/plan-problems.ts";

let milp: MilpRunner;
beforeAll(async () => {
  milp = await milpHere();
});

/** Returns problems of which all plans can be tried: so many, from seeds in order. */
function* tinyProblems(count: number, mostTries: number): Generator<[seed: number, problem: PlanProblem]> {
  for (let seed = 0, made = 0; made < count; seed++) {
    const problem = randomPlanProblem(seed, { nodes: 6, axes: seed % 5 === 0 ? 2 : 1, streams: seed % 2 === 1 });
    const tries = problem.choosers.reduce((all, { choices }) => all * choices.length, 1);
    if (tries > mostTries) continue;
    made++;
    yield [seed, problem];
  }
}

const withMemory = (problem: PlanProblem, bytes: number): PlanProblem => ({
  ...problem,
  resources: problem.resources.map((one) => (one.kind === "memory" ? { ...one, limit: bytes } : one)),
});

/** Whether a plan streams something: choices that cause traffic do. */
const isStreamed = ({ mesh, choosers }: PlanProblem, { choices }: PlanChoice): boolean =>
  choosers.some((one, v) => one.choices[choices[v]].uses.resources.some((r) => r >= 1 && r <= mesh.axes.length));

const memoryOf = ({ resources }: PlanProblem, totals: Float64Array): number =>
  totals[resources.findIndex(({ kind }) => kind === "memory")];

/** Returns a clock that is behind the end from its third call on. */
function jumping(limitMs: number): () => number {
  let calls = 0;
  return () => (++calls > 2 ? 2 * limitMs : 0);
}

describe("plans of small problems", () => {
  it("are the best of all that can be tried, without and within memory, and none where none fits", async () => {
    let [tight, none, streamed] = [0, 0, 0];
    for (const [seed, problem] of tinyProblems(500, 20_000)) {
      const best = bestByTrying(problem);
      const found = await searchPlan(problem, { milp, effort: effortOf(20_000) });
      if (best === null || !("plan" in found)) throw new Error(`seed ${seed}: no plan`);
      expect(Math.abs(found.ps - best.ps), `seed ${seed}`).toBeLessThanOrEqual(1e-9 * best.ps);
      expect(found.status).toBe("optimal");
      if (isStreamed(problem, found.plan) && isStreamed(problem, best.plan)) streamed++;
      if (seed % 3 !== 0) continue;
      // less than the fastest takes: something has to give, or nothing fits
      const memory = memoryOf(problem, found.totals) * (seed % 2 === 0 ? 0.9 : 0.6);
      const scarce = withMemory(problem, memory);
      const within = bestByTrying(scarce);
      const answer = await searchPlan(scarce, { milp, effort: effortOf(20_000) });
      if (within === null) {
        none++;
        expect(answer.status, `seed ${seed}`).toBe("memory");
        if ("plan" in answer || answer.leastTotals === null) throw new Error("no least memory");
        expect(answer.isLeastProved).toBe(true);
        const least = memoryOf(problem, answer.leastTotals);
        expect(least).toBeGreaterThan(memory);
        // that much is enough, and a little less is not
        expect(bestByTrying(withMemory(problem, least))).not.toBeNull();
        expect(bestByTrying(withMemory(problem, least * (1 - 1e-6)))).toBeNull();
      } else {
        tight++;
        if (!("plan" in answer)) throw new Error(`seed ${seed}: no plan`);
        expect(Math.abs(answer.ps - within.ps), `seed ${seed}`).toBeLessThanOrEqual(1e-9 * within.ps);
        expect(memoryOf(problem, answer.totals)).toBeLessThanOrEqual(memory);
        expect(planTotals(scarce, answer.plan)?.fits).toBe(true);
      }
    }
    expect(tight).toBeGreaterThan(20);
    expect(none).toBeGreaterThan(20);
    expect(streamed).toBeGreaterThan(5);
  }, 250_000);

  it("are as good where a relaxation rules choices out first as by the program of everything; never worse than a start", async () => {
    // of 2000 to 3500 columns
    for (const seed of [5068, 5906, 14011]) {
      const problem = randomPlanProblem(seed, { nodes: 9, axes: 2 });
      const tables = planTables(problem);
      if (tables === null) throw new Error(`seed ${seed}: no plan`);
      const { columns } = planProgramSize(tables);
      expect(columns).toBeGreaterThan(2000);
      const { problem: program, planOf } = planProgram(tables, 1, null);
      const whole = await milp.solve(program, { timeLimitMs: 60_000 });
      expect(whole.status).toBe("optimal");
      const found = await searchPlan(problem, { milp, effort: effortOf(60_000), seed });
      if (!("plan" in found)) throw new Error(`seed ${seed}: no plan`);
      expect(Math.abs(found.ps + whole.objective), `seed ${seed}`).toBeLessThanOrEqual(1e-7 * found.ps);
      expect(found.boundPs).toBeLessThanOrEqual(found.ps);
      expect(planTotals(problem, found.plan)?.ps).toBe(found.ps);
      for (const other of found.alternatives) expect(planTotals(problem, other)?.ps).toBeGreaterThanOrEqual(found.ps);
      const { choices, copies } = planOf(whole.primal);
      const start = { choices, copies: copies.map((own, s) => own.map((i) => tables.supplies[s].copy[i])) };
      const known = planTotals(problem, start)?.ps ?? Number.NaN;
      const hurried = await searchPlan(problem, { milp, effort: effortOf(1), starts: [start] });
      expect("plan" in hurried && hurried.ps <= known).toBe(true);
    }
  }, 200_000);

  it("are the same whatever the clock says while it does not strike, also where the work ends first", async () => {
    const problem = randomPlanProblem(5906, { nodes: 9, axes: 2 });
    const at = (limitMs: number, now: () => number) =>
      searchPlan(problem, { milp, effort: effortOf(limitMs, now), seed: 1 });
    const began = performance.now();
    for (const limitMs of [30, 100, 300, 60_000]) {
      const [stands, ...others] = [
        await at(limitMs, () => 0),
        await at(limitMs, () => (performance.now() - began) / 1e4),
        await at(limitMs, () => Math.random() * limitMs * 0.99),
      ];
      for (const other of others) expect(other).toEqual(stands);
    }
    const whole = await at(60_000, () => 0);
    const stopped = await at(60_000, jumping(60_000));
    if (!("plan" in whole)) throw new Error("no plan");
    expect(whole.status).toBe("optimal");
    // a clock that strikes ends it, with what is known by then
    if ("plan" in stopped) {
      expect(stopped.ps).toBeGreaterThanOrEqual(whole.ps);
      expect(stopped.boundPs).toBeLessThanOrEqual(whole.ps);
    } else expect(stopped.status).toBe("unknown");
  });

  it("need not be found where none takes less than is asked for: what is said then is true", async () => {
    let [early, late] = [0, 0];
    for (const [seed, problem] of tinyProblems(60, 20_000)) {
      const best = bestByTrying(problem);
      if (best === null) throw new Error(`seed ${seed}: no plan`);
      const all = await searchPlan(problem, { milp, belowPs: best.ps * 0.9 });
      if ("plan" in all) expect(all.boundPs, `seed ${seed}`).toBeLessThanOrEqual(best.ps * (1 + 1e-9));
      if (leastOfAll(problem) >= best.ps * 0.9) early++;
      const some = await searchPlan(problem, { milp, belowPs: best.ps * 1.01 + 1 });
      if (!("plan" in some)) throw new Error(`seed ${seed}: no plan`);
      expect(Math.abs(some.ps - best.ps), `seed ${seed}`).toBeLessThanOrEqual(1e-9 * best.ps);
      expect(leastOfAll(problem)).toBeLessThanOrEqual(best.ps * (1 + 1e-9));
      late++;
    }
    expect([early > 5, late]).toEqual([true, 60]);
  });

  it("are none where nobody can give what is asked for, and stop where the caller says so", async () => {
    const problem = randomPlanProblem(3, { nodes: 6, axes: 1 });
    const unmet: PlanProblem = {
      ...problem,
      choosers: problem.choosers.map((one, v) =>
        v > 0
          ? one
          : {
              ...one,
              choices: one.choices.map((choice) => ({ ...choice, demands: [{ supply: 1, pattern: PARTIAL }] })),
            },
      ),
    };
    expect((await searchPlan(unmet, { milp })).status).toBe("unmet");
    const signal = AbortSignal.abort();
    await expect(searchPlan(problem, { milp, signal })).rejects.toThrow("cancelled");
  });
});
