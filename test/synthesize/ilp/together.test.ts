import { beforeAll, describe, expect, it } from "vitest";
import type { MilpRunner } from "../../../src/engine/contract/programs.ts";
import { jsKernels } from "../../../src/engine/kernels/js/kernels.ts";
import { jointBoundOf } from "../../../src/model/bounds/joint.ts";
import type { Collective } from "../../../src/model/collective/collective.ts";
import { jointEndPs } from "../../../src/model/joint/joint-schedule.ts";
import { toNumber } from "../../../src/model/numbers/rational.ts";
import { presetTopology } from "../../../src/model/presets/preset.ts";
import { solveTogether } from "../../../src/synthesize/ilp/together.ts";
import { verifyJoint } from "../../../src/verify/joint.ts";
import { milpHere } from "../../support/milp-here.ts";
import { inlineRunner, wholeCollective } from "../../support/synthesis.ts";

const MIB = 2 ** 20;
let milp: MilpRunner;
beforeAll(async () => {
  milp = await milpHere();
});

async function together(network: string, collectives: (topology: ReturnType<typeof presetTopology>) => Collective[]) {
  const topology = presetTopology(network);
  const tasks = collectives(topology);
  const found = await solveTogether(
    { topology, collectives: tasks, seed: 1, trials: 4, policy: null, switchDegree: null, timeLimitMs: 20_000 },
    { runner: inlineRunner(jsKernels), milp, breathe: async () => {} },
  );
  expect(verifyJoint(found.schedule).violations).toEqual([]);
  const boundPs = toNumber(jointBoundOf(topology, tasks, found.schedule.routes).ps);
  return { ...found, endPs: jointEndPs(found.schedule), boundPs };
}

describe("several collectives at once by programs", () => {
  it("are proved by the joint bound where negotiation meets it (TACOS 2023, table V)", async () => {
    const found = await together("mesh:6x6", (t) => [
      wholeCollective(t, "allgather", 36 * MIB),
      wholeCollective(t, "broadcast", MIB, 1, 2),
      wholeCollective(t, "reduce", MIB, 1, 17),
    ]);
    expect(found.solver).toMatchObject({ proved: true, stages: [] });
    expect(found.endPs).toBe(found.boundPs);
  });

  it("share links tick by tick, also with chunks of different sizes and reductions", async () => {
    const found = await together("dgx1", (t) => [
      wholeCollective(t, "allgather", 16 * MIB),
      wholeCollective(t, "reduce", 3 * MIB, 1, 5),
    ]);
    expect(found.solver.stages.length).toBeGreaterThan(0);
    expect(found.endPs).toBeGreaterThanOrEqual(found.boundPs);
    if (found.solver.proved)
      expect(found.endPs).toBe(Math.max(found.boundPs, toNumber(found.bound?.ps ?? { num: 0n, den: 1n })));
  });
});
