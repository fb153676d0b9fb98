import { KnownPlans } from "../../lower/mscclpp/known-plans.ts";
import type { Program } from "../../model/program/program.ts";
import type { Topology } from "../../model/topology/topology.ts";
import { type ProgramSimulation, simulateProgram } from "../../simulate/program/program.ts";
import type { ProgramCall } from "./programs.ts";

type Taken = Pick<ProgramSimulation, "ps" | "messages" | "instructions">;

/** Programs that were made on one network, and what they take there: many a schedule becomes a program that was tried before. */
export class KnownPrograms {
  readonly plans = new KnownPlans();
  private readonly taken = new WeakMap<Program, Map<number, Taken>>();

  /** Returns what a program takes, simulated where that is not known. */
  simulated(program: Program, topology: Topology, call: ProgramCall): Taken {
    const bySize = this.taken.get(program) ?? new Map<number, Taken>();
    this.taken.set(program, bySize);
    const { ps, messages, instructions } = bySize.get(call.sizeBytes) ?? simulateProgram(program, topology, call);
    bySize.set(call.sizeBytes, { ps, messages, instructions });
    return { ps, messages, instructions };
  }
}
