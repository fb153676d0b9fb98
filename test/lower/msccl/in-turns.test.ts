import { afterAll, beforeAll, expect, it } from "vitest";
import type { Engine } from "../../../src/engine/types.ts";
import { lateSums } from "../../../src/lower/late-sums.ts";
import { lowerToMsccl } from "../../../src/lower/msccl/lower.ts";
import { presetTopology } from "../../../src/model/presets/preset.ts";
import { stepsOf, withoutPhases } from "../../../src/model/steps/schedule.ts";
import { isTreeFlow } from "../../../src/model/trees/tree-flow.ts";
import { stepsOfTrees } from "../../../src/model/trees/tree-steps.ts";
import { synthesize } from "../../../src/run/synthesize.ts";
import { simulateSchedule } from "../../../src/simulate/steps/replay.ts";
import { verifyProgram } from "../../../src/verify/program/program.ts";
import { plainEngine } from "../../support/lowering-cases.ts";

let engine: Engine;
beforeAll(async () => {
  engine = await plainEngine();
});
afterAll(() => engine.close());

const TREES = { collective: "reducescatter", algorithm: "forestcoll", k: 1, policy: "few-peers" } as const;
const STEPS = { collective: "allreduce", algorithm: "tacos", chunks: 2, trials: 1 } as const;

// more is under way between two ranks at a time than an instance has channels for
it.each([
  ["dgx-a100:4", TREES, { runtime: "msccl", instances: 8, folding: true }],
  ["dgx-a100:4", TREES, { runtime: "azure", instances: 8, folding: true }],
  ["ring:8", STEPS, { runtime: "msccl", instances: 32, folding: true }],
  ["ring:8", STEPS, { runtime: "azure", instances: 32, folding: false }],
] as const)("on %s, %j as %j: ends with two messages in a connection", async (network, request, how) => {
  const made = await synthesize(engine, presetTopology(network), { ...request, sizeBytes: 2 ** 30 }, false);
  const schedule = withoutPhases(made.schedule, request.algorithm);
  const steps = isTreeFlow(schedule) ? lateSums(stepsOfTrees(schedule, 1)) : stepsOf(schedule);
  const { startPs = steps.startPs, endPs = steps.endPs } = simulateSchedule(steps, { timeline: true });
  for (const placement of ["in", "out", "both"] as const) {
    const program = lowerToMsccl(steps, { ...how, placement, passing: true, times: { startPs, endPs } });
    const { violations, facts } = verifyProgram(program, { limit: 1 });
    expect({ placement, violations }).toEqual({ placement, violations: [] });
    expect(facts.leastCapacity).toBeLessThanOrEqual(2);
  }
});
