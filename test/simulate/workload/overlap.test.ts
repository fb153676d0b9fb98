import { describe, expect, it } from "vitest";
import { stepTasks } from "../../../src/model/workload/step-tasks.ts";
import { transformerStep } from "../../../src/model/workload/transformer.ts";
import { simulateStep } from "../../../src/simulate/workload/step.ts";
import { optionsOf, transformerNamed } from "../../model/workload/support.ts";

const CONFIG = { ...transformerNamed("qwen3-30b-a3b"), layers: 4 };

/** Returns picoseconds of a step whose computations take 2 us each and exchanges of experts `exchangePs`. */
function stepPs(overlapped: boolean, exchangePs: number, pipeline = 1): number {
  const parallelism = { data: 4, expert: 4, pipeline };
  const tasks = stepTasks(transformerStep(CONFIG, optionsOf(CONFIG, { parallelism, batch: 32, overlapped })));
  const ps = tasks.works.map((work) =>
    work.kind === "computations"
      ? 2e6 * work.computations.length
      : work.communication.group === "experts"
        ? exchangePs
        : 0,
  );
  return simulateStep(tasks, {
    ps: Float64Array.from(ps),
    latencyPs: new Float64Array(ps.length),
    priority: new Int32Array(ps.length),
    offset: new Int32Array(ps.length + 1),
    resource: new Int32Array(0),
    share: new Float64Array(0),
    resourceCount: 0,
  }).ps;
}

describe("overlapped passes", () => {
  it.each([1, 2])("hide exchanges that are shorter than what is computed beside them (stages: %i)", (pipeline) => {
    const [computing, inOrder, overlapped] = [
      stepPs(false, 0, pipeline),
      stepPs(false, 6e6, pipeline),
      stepPs(true, 6e6, pipeline),
    ];
    expect(overlapped).toBeLessThan(inOrder);
    // of what exchanges add, more than half
    expect(overlapped - computing).toBeLessThan((inOrder - computing) / 2);
  });

  it("take as long as in order where nothing is exchanged", () => {
    expect(stepPs(true, 0)).toBe(stepPs(false, 0));
  });

  it("cannot be faster than their exchanges, one after the other", () => {
    const exchanges = 8 * CONFIG.layers * 4;
    expect(stepPs(true, 1e9)).toBeGreaterThanOrEqual(exchanges * 1e9);
  });
});
