import { describe, expect, it } from "vitest";
import { openHighs } from "../../../src/engine/milp/highs.ts";
import { loadInstance, MOST_BYTES } from "../../../src/engine/milp/instance.ts";
import { solveMilp } from "../../../src/engine/milp/job.ts";
import { isPoint, objectiveOf } from "../../../src/engine/milp/outcome.ts";
import { denseRelaxation, knapsacks, relaxed } from "../../support/milp-problems.ts";

/** Takes all but so many bytes of the memory that an instance can have. */
async function instanceWithBytes(left: number) {
  const instance = await loadInstance();
  const { highs } = instance as unknown as { highs: { memoryBytes: number; _malloc(bytes: number): number } };
  expect(highs._malloc(MOST_BYTES - highs.memoryBytes - left)).not.toBe(0);
  return instance;
}

describe("a solver without memory", () => {
  it("says so, keeps the start or a better point, and is replaced", async () => {
    const instance = await instanceWithBytes(2 ** 20);
    const problem = denseRelaxation(900);
    const { status, primal, objective } = solveMilp(instance, { ...problem, start: new Float64Array(900) });
    expect(status).toBe("memory");
    expect(isPoint(problem, primal as Float64Array)).toBe(true);
    expect(objectiveOf(problem, primal as Float64Array)).toBe(objective);
    expect(objective).toBeGreaterThanOrEqual(0);
    expect(solveMilp(instance, knapsacks(5, 2, 1))).toMatchObject({
      status: "memory",
      bound: Number.POSITIVE_INFINITY,
    });
    const next = await loadInstance();
    expect(next).not.toBe(instance);
    expect(solveMilp(next, knapsacks(5, 2, 1)).status).toBe("optimal");
  });

  it("is replaced once its memory has grown large, while open programs go on", async () => {
    const lp = (await openHighs()).open(relaxed(knapsacks(5, 2, 1)));
    const instance = await instanceWithBytes(2 ** 27);
    expect(await loadInstance()).not.toBe(instance);
    expect(lp.solve().status).toBe("optimal");
    lp.close();
  });
});
