import { beforeAll, describe, expect, it } from "vitest";
import type { Kernels } from "../../src/engine/contract/kernels.ts";
import { presetTopology } from "../../src/model/presets/preset.ts";
import { OP_REDUCE, type StepSchedule } from "../../src/model/steps/step-schedule.ts";
import { degrade, without } from "../../src/model/topology/modify.ts";
import type { Topology } from "../../src/model/topology/topology.ts";
import { verifySchedule } from "../../src/verify/steps/schedule.ts";
import { availableKernels } from "../support/backends.ts";
import { synthesizeWith, wholeCollective } from "../support/synthesis.ts";

let kernels: Kernels;
beforeAll(async () => {
  kernels = (await availableKernels())[0] as Kernels;
});

/** Returns the all-reduce of one trial per phase, and how often the matching ran. */
async function allReduce(topology: Topology, chunks: number) {
  let matched = 0;
  const counting: Kernels = {
    ...kernels,
    match(problem, cancel) {
      matched++;
      return kernels.match(problem, cancel);
    },
    spread(problem, cancel) {
      matched++;
      return kernels.spread(problem, cancel);
    },
  };
  const collective = wholeCollective(topology, "allreduce", 2 ** 24, chunks);
  const { schedule } = await synthesizeWith(counting, { topology, collective, trials: 1, policy: "oldest" });
  return { schedule, matched };
}

/** Returns "chunk: from>to" of the transfers with this operation, sorted; reductions the other way round. */
function ways({ chunk, route, routes, op }: StepSchedule, reduces: boolean): string[] {
  const rows = [...chunk.keys()].filter((i) => (op[i] === OP_REDUCE) === reduces);
  const ends = reduces ? [routes.target, routes.source] : [routes.source, routes.target];
  return rows.map((i) => `${chunk[i]}: ${ends[0]?.[route[i]]}>${ends[1]?.[route[i]]}`).sort();
}

describe("an all-reduce on a network that equals its reverse", () => {
  it.each([
    ["mesh:4x5", 2],
    ["mesh:5x4@50,75GB/s", 1],
    ["torus:4x4", 1],
    ["hypercube:4", 1],
    ["dragonfly:3x3", 1],
    ["switch:6", 2],
    ["dgx-a100:2", 1],
  ])("is synthesized once, and reduces along the trees by which it spreads: %s x %i", async (expression, chunks) => {
    const { schedule, matched } = await allReduce(presetTopology(expression), chunks);
    expect(matched).toBe(1);
    expect(ways(schedule, true)).toEqual(ways(schedule, false));
    expect(verifySchedule(schedule).violations).toEqual([]);
  });
});

describe("an all-reduce on a network that differs from its reverse", () => {
  it.each([
    ["one slow link", () => degrade(presetTopology("mesh:3x4"), [["0>1", 0.5]])],
    ["a link one way only", () => without(presetTopology("ring:5"), ["0>1"])],
  ])("is synthesized half by half: %s", async (_, topology) => {
    const { schedule, matched } = await allReduce(topology(), 1);
    expect(matched).toBe(2);
    expect(verifySchedule(schedule).violations).toEqual([]);
  });
});
