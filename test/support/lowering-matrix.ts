import { InfeasibleError, InputError } from "../../src/base/errors.ts";
import type { Engine } from "../../src/engine/types.ts";
import { executeProgram } from "../../src/execute/execute.ts";
import { readProgram } from "../../src/import/programs/program.ts";
import type { NamedCollective } from "../../src/model/collective/collective.ts";
import { presetTopology } from "../../src/model/presets/preset.ts";
import type { RuntimeName } from "../../src/model/program/runtime-names.ts";
import type { ProgramOptions } from "../../src/request/from-texts.ts";
import { limitViolations, programOf } from "../../src/run/programs/programs.ts";
import { type SynthesizeResult, synthesize } from "../../src/run/synthesize.ts";
import { ALGORITHMS, algorithmNamed } from "../../src/synthesize/catalog.ts";
import { verifyProgram } from "../../src/verify/program/program.ts";
import { placementsOf } from "./program-campaign.ts";
import { triesAll } from "./runs.ts";

/** A schedule to be lowered. */
export interface LoweringCase {
  readonly topology: string;
  readonly collective: NamedCollective;
  readonly algorithm: string;
}

/**
 * What became of it for a runtime. `exported`: the file passes the program verifier with the runtime's limits, and the executor's
 * data check; `refused`: it was not written, for the reason told; `wrong`: it should not have been written.
 */
export interface LoweringOutcome extends LoweringCase {
  readonly runtime: RuntimeName;
  readonly placement: "in" | "out" | "both";
  readonly outcome: "exported" | "refused" | "wrong";
  readonly reason: string;
  readonly blocks: number;
  readonly steps: number;
}

/** Returns every collective of every synthesizer on the networks. */
export function loweringCases(topologies: readonly string[]): LoweringCase[] {
  return topologies.flatMap((topology) =>
    ALGORITHMS.flatMap(({ name, collectives }) =>
      collectives
        .filter((collective): collective is NamedCollective => collective !== "custom")
        .map((collective) => ({ topology, collective, algorithm: name })),
    ),
  );
}

const isRefusal = (error: unknown): error is Error => error instanceof InputError || error instanceof InfeasibleError;

/** Returns the schedule; null where the algorithm cannot make it, for then there is nothing to be lowered. */
export async function scheduleFor(
  engine: Engine,
  { topology, collective, algorithm }: LoweringCase,
): Promise<SynthesizeResult | null> {
  try {
    const named = algorithmNamed(algorithm);
    // of their own, phases have more chunks than a thread block has steps
    const steps = named.options?.includes("trials") ? { trials: 1 } : named.makes === "phases" ? { chunks: 4 } : {};
    const own = named.traits?.solves === true ? { ...steps, timeLimitMs: SOLVER_MS } : steps;
    return await synthesize(engine, presetTopology(topology), { collective, algorithm, sizeBytes: SIZE_BYTES, ...own });
  } catch (error) {
    if (isRefusal(error)) return null;
    throw error;
  }
}

/** Time for those that solve integer programs: what they have by then is lowered, proved or not. */
const SOLVER_MS = 2_000;
/** Interleavings of each program and placement. */
const SEEDS = triesAll ? [1, 2] : [1];
/** Of the schedules: fewer bytes are cut into fewer chunks. */
const SIZE_BYTES = triesAll ? 2 ** 22 : 2 ** 18;

/** Reads the written file again and judges it as a user would: verifier, limits, data. */
export function lowered(found: LoweringCase, { schedule }: SynthesizeResult, options: ProgramOptions): LoweringOutcome {
  const { runtime, placement = "both" } = options;
  const about = { ...found, runtime, placement, blocks: 0, steps: 0 };
  let text: string;
  try {
    text = [...programOf(schedule, options).parts()].join("");
  } catch (error) {
    if (!isRefusal(error)) return { ...about, outcome: "wrong", reason: (error as Error).message };
    return { ...about, outcome: "refused", reason: error.message };
  }
  const program = readProgram(text, "file");
  const { violations, facts } = verifyProgram(program);
  const problems = [...violations, ...limitViolations(program, runtime, text)].filter(
    ({ severity }) => severity === "error",
  );
  const shown = { ...about, blocks: facts.mostBlocksPerRank, steps: facts.mostStepsPerBlock };
  if (problems[0] !== undefined) return { ...shown, outcome: "wrong", reason: problems[0].message };
  const sizeBytes = program.loopChunks * 64;
  for (const call of placementsOf(program)) {
    for (const seed of SEEDS) {
      const { outcome, faults, waits, differences, inputsOverwritten } = executeProgram(program, {
        type: "i32",
        sizeBytes,
        placement: call,
        seed,
      });
      const details = [
        ...faults,
        ...waits,
        ...differences.map(({ rank, element }) => `gpu ${rank}, element ${element}`),
      ];
      if (outcome !== "correct")
        return { ...shown, outcome: "wrong", reason: `${call}, seed ${seed}: ${outcome}, ${details[0]}` };
      if (call === "out" && inputsOverwritten.length > 0)
        return { ...shown, outcome: "wrong", reason: "it overwrites its input" };
    }
  }
  return { ...shown, outcome: "exported", reason: "" };
}

/** Runtimes with the placements that their files can say. */
export const TARGETS: readonly ProgramOptions[] = [
  { runtime: "msccl", placement: "in", joining: "ready" },
  { runtime: "msccl", placement: "out" },
  { runtime: "azure", placement: "both" },
  { runtime: "azure", placement: "both", joining: "ready", passing: false },
  { runtime: "rccl", placement: "both", joining: "under way" },
  { runtime: "rccl", placement: "out", instances: 2, joining: "ready", passing: false },
  { runtime: "mscclpp", placement: "in" },
  { runtime: "mscclpp", placement: "out" },
];
