import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Engine } from "../../../src/engine/types.ts";
import { lowerToMsccl } from "../../../src/lower/msccl/lower.ts";
import { rankZeroOf } from "../../../src/lower/symmetry/symmetry.ts";
import { stepsOf } from "../../../src/model/steps/schedule.ts";
import type { StepSchedule } from "../../../src/model/steps/step-schedule.ts";
import { isTreeFlow } from "../../../src/model/trees/tree-flow.ts";
import { simulateProgram } from "../../../src/simulate/program/program.ts";
import { verifyProgram } from "../../../src/verify/program/program.ts";
import { type LoweringCase, plainEngine, scheduleOf, titleOf } from "../../support/lowering-cases.ts";

let engine: Engine;
beforeAll(async () => {
  engine = await plainEngine();
});
afterAll(() => engine.close());

const COLLECTIVES = ["allgather", "reducescatter", "allreduce"] as const;

const cases = (networks: readonly string[], algorithm: string): readonly LoweringCase[] =>
  networks.flatMap((network) => COLLECTIVES.map((collective) => ({ network, algorithm, collective, chunks: 1 })));

const LINKS_ALIKE: readonly LoweringCase[] = [
  ...cases(["ring:5", "ring:8", "switch:6", "C(8,{1,3})"], "ring"),
  ...cases(["ring:8", "hypercube:3", "torus:4x4", "torus:2x3x2", "C(8,{1,3})", "K(4,4)"], "bfb"),
  ...cases(["ring:5", "torus:3x4", "hypercube:3", "C(8,{1,3})"], "tacos"),
  ...cases(["hypercube:3"], "rhd"),
  ...cases(["switch:6"], "direct"),
  { network: "switch:6", algorithm: "direct", collective: "alltoall", chunks: 2 },
  { network: "ring:5", algorithm: "ring", collective: "alltoall", chunks: 2 },
];
/** Logical rings, some of whose hops take several links. */
const RINGS_ACROSS: readonly LoweringCase[] = cases(["torus:4x4", "K(4,4)", "hypercube:3"], "ring");

async function stepsOfCase(what: LoweringCase): Promise<StepSchedule> {
  const schedule = await scheduleOf(engine, what);
  if (isTreeFlow(schedule)) throw new Error("trees");
  return stepsOf(schedule);
}

describe("rankZeroOf", () => {
  it.each([...LINKS_ALIKE, ...RINGS_ACROSS].map((what) => [titleOf(what), what] as const))(
    "finds that all ranks are alike in %s",
    async (_, what) => {
      expect(rankZeroOf(await stepsOfCase(what))).not.toBeNull();
    },
  );

  it.each(LINKS_ALIKE.filter(({ algorithm }) => algorithm === "bfb").map((what) => [titleOf(what), what] as const))(
    "notices one chunk that is another in %s",
    async (_, what) => {
      const steps = await stepsOfCase(what);
      const chunk = steps.chunk.slice();
      const row = chunk.length >> 1;
      chunk[row] = (chunk[row] + 1) % steps.collective.chunkCount;
      expect(rankZeroOf({ ...steps, chunk })).toBeNull();
    },
  );

  it("notices one transfer that is added and not copied", async () => {
    const steps = await stepsOfCase({ network: "ring:8", algorithm: "ring", collective: "allreduce" });
    const op = steps.op.slice();
    op[op.length - 1] = 1 - op[op.length - 1];
    expect(rankZeroOf({ ...steps, op })).toBeNull();
  });
});

describe("lowerToMsccl from rank 0 alone", () => {
  it.each([...LINKS_ALIKE, ...RINGS_ACROSS].map((what) => [titleOf(what), what] as const))(
    "is right in %s",
    async (_, what) => {
      const schedule = await stepsOfCase(what);
      for (const runtime of ["msccl", "rccl"] as const)
        for (const placement of ["in", "out", "both"] as const)
          for (const [passing, instances] of [
            [true, 1],
            [false, 1],
            [false, 2],
          ] as const) {
            if (runtime === "msccl" && schedule.collective.kind === "alltoall" && placement === "both") continue;
            const program = lowerToMsccl(schedule, { runtime, placement, passing, instances, folding: true });
            const { violations } = verifyProgram(program, { limit: 1 });
            expect({ runtime, placement, passing, instances, violations }).toMatchObject({ violations: [] });
          }
    },
  );

  it.each(LINKS_ALIKE.map((what) => [titleOf(what), what] as const))(
    "takes as long as rank by rank in %s",
    async (_, what) => {
      const schedule = await stepsOfCase(what);
      const [apart, folded] = [false, true].map((folding) => {
        const program = lowerToMsccl(schedule, { runtime: "msccl", placement: "out", passing: false, folding });
        const call = { sizeBytes: 2 ** 24, rankToNpu: schedule.collective.groupMembers };
        return simulateProgram(program, schedule.topology, call).ps;
      });
      expect(folded).toBeLessThanOrEqual(1.01 * apart);
    },
  );
});
