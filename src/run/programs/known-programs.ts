import { KnownPlans } from "../../lower/mscclpp/known-plans.ts";
import type { Program } from "../../model/program/program.ts";
import type { Topology } from "../../model/topology/topology.ts";
import { type ProgramSimulation, simulateProgram } from "../../simulate/program/program.ts";
import type { ProgramCall } from "./programs.ts";

type Taken = Pick<ProgramSimulation, "ps" | "messages" | "instructions">;

/** Programs that were made on one network, and what they take there: many a schedule becomes a program that was tried before. */
export class KnownPrograms {
  readonly plans = new KnownPlans();
  private readonly taken = new WeakMap<Program, Map<string, Taken>>();

  /** Returns what a program takes, simulated where that is not known. */
  simulated(program: Program, topology: Topology, call: ProgramCall): Taken {
    const byCall = this.taken.get(program) ?? new Map<string, Taken>();
    this.taken.set(program, byCall);
    const key = `${call.sizeBytes} ${call.localBytesPerSecond}`;
    const { ps, messages, instructions } = byCall.get(key) ?? simulateProgram(program, topology, call);
    byCall.set(key, { ps, messages, instructions });
    return { ps, messages, instructions };
  }
}
