import { describe, expect, it } from "vitest";
import { ALONE } from "../../../src/model/workload/parallelism.ts";
import { inOneStream, stepTasks } from "../../../src/model/workload/step-tasks.ts";
import { transformerStep } from "../../../src/model/workload/transformer.ts";
import { simulateStep } from "../../../src/simulate/workload/step.ts";
import { optionsOf, transformerNamed } from "./support.ts";

const config = transformerNamed("switch-base-8");
const parallelism = { ...ALONE, data: 8, expert: 8 };
const tasks = stepTasks(transformerStep(config, optionsOf(config, { parallelism, batch: 8, bucketBytes: 1e6 })));
const together = inOneStream(tasks);

/** Returns when tasks run whose computations take 3 and whose communications 5 picoseconds, with links for all at once. */
function timesOf(of: typeof tasks) {
  const ps = Float64Array.from(of.works, ({ kind }) => (kind === "computations" ? 3 : 5));
  return simulateStep(of, {
    ps,
    latencyPs: new Float64Array(ps.length),
    priority: new Int32Array(ps.length),
    offset: new Int32Array(ps.length + 1),
    resource: new Int32Array(0),
    share: new Float64Array(0),
    resourceCount: 0,
  });
}

describe("communications in one stream", () => {
  it("has one lane for what is computed and one for all that is sent", () => {
    expect(tasks.lanes.map(({ computes }) => computes).sort()).toEqual([false, false, true]);
    expect(together.lanes.map(({ computes }) => computes).sort()).toEqual([false, true]);
    together.work.forEach((w, t) => {
      expect(together.lanes[together.lane[t]].computes).toBe(together.works[w].kind === "computations");
    });
  });

  it("never has an all-to-all beside an all-reduce, which two streams have", () => {
    const beside = (of: typeof tasks): number => {
      const { startPs, endPs } = timesOf(of);
      const sent = [...of.work.keys()].filter((t) => of.works[of.work[t]].kind === "communication");
      sent.sort((a, b) => startPs[a] - startPs[b] || endPs[a] - endPs[b]);
      return sent.filter((t, i) => i > 0 && startPs[t] < endPs[sent[i - 1]]).length;
    };
    expect(beside(tasks)).toBeGreaterThan(0);
    expect(beside(together)).toBe(0);
    expect(timesOf(together).ps).toBeGreaterThan(timesOf(tasks).ps);
  });
});
