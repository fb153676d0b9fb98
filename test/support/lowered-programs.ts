import { InputError } from "../../src/base/errors.ts";
import { lowerToMsccl } from "../../src/lower/msccl/lower.ts";
import { lowerToPlan } from "../../src/lower/mscclpp/plan.ts";
import type { Program } from "../../src/model/program/program.ts";
import { type LoweringCase, plainEngine, STEP_CASES, scheduleOf, TREE_CASES, titleOf } from "./lowering-cases.ts";
import type { NamedProgram } from "./program-campaign.ts";

const small = ({ network }: LoweringCase): boolean =>
  ["ring:3", "mesh:2x2", "switch:5", "hypercube:3"].includes(network);
const trees = ({ network }: LoweringCase): boolean => network === "ring:5" || network === "switch:8";

/** Returns programs that we lower for every runtime, by every synthesizer and for every collective, on small networks. */
export async function loweredPrograms(): Promise<NamedProgram[]> {
  const engine = await plainEngine();
  const programs: NamedProgram[] = [];
  try {
    for (const what of [...STEP_CASES.filter(small), ...TREE_CASES.filter(trees)]) {
      const schedule = await scheduleOf(engine, what);
      const add = (runtime: string, lower: () => Program): void => {
        try {
          programs.push({ name: `${titleOf(what)} for ${runtime}`, program: lower() });
        } catch (error) {
          // A runtime may not know the collective.
          if (!(error instanceof InputError)) throw error;
        }
      };
      for (const runtime of ["msccl", "rccl"] as const)
        for (const placement of ["in", "both"] as const)
          add(`${runtime}, ${placement}`, () => lowerToMsccl(schedule, { runtime, placement }));
      for (const placement of ["in", "out"] as const)
        add(`mscclpp, ${placement}`, () => lowerToPlan(schedule, { placement }));
    }
  } finally {
    await engine.close();
  }
  return programs;
}
