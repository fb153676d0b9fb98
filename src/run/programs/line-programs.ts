import { InputError } from "../../base/errors.ts";
import type { Engine } from "../../engine/types.ts";
import { goesThroughSwitch } from "../../lower/mscclpp/plan.ts";
import type { RuntimeName } from "../../model/program/runtimes.ts";
import type { AnySchedule } from "../../model/steps/schedule.ts";
import { isTreeFlow } from "../../model/trees/tree-flow.ts";
import { type CompareTarget, type ComparisonRow, LIBRARY_OF } from "../../report/comparison.ts";
import { algorithmNamed } from "../../synthesize/catalog.ts";
import { besideEngine } from "./beside.ts";
import { fastestProgram } from "./fastest.ts";

/** What the lines of a comparison take as programs. */

export type ProgramOfLine = Pick<ComparisonRow, "programUs" | "programFor" | "noProgram" | "libraryUs">;

/** Schedules of more NPUs become programs of the usual runtime alone: each takes half a minute. */
const MOST_RANKS_OF_BOTH = 64;

const sums = (schedule: AnySchedule): boolean => isTreeFlow(schedule) && goesThroughSwitch(schedule);

/** Returns what the fastest program of a schedule takes for some runtimes, and for which; or why it has none. */
async function programFor(
  engine: Engine,
  schedule: AnySchedule,
  runtimes: readonly RuntimeName[],
): Promise<ProgramOfLine> {
  let least: ProgramOfLine | null = null;
  let noProgram: string | undefined;
  for (const runtime of runtimes) {
    try {
      const { us } = await fastestProgram(schedule, { runtime }, besideEngine(engine));
      if (least === null || us < (least.programUs as number)) least = { programUs: us, programFor: runtime };
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      noProgram ??= error.message;
    }
  }
  return least ?? { programUs: null, noProgram: noProgram as string };
}

/** Returns what the fastest program of a schedule takes, MSCCL XML or an MSCCL++ plan, and for which runtime, or why it has none. */
export function programLine(engine: Engine, schedule: AnySchedule): Promise<ProgramOfLine> {
  const runtimes = sums(schedule) ? (["mscclpp", "azure"] as const) : (["azure", "mscclpp"] as const);
  return programFor(engine, schedule, runtimes.slice(0, schedule.collective.groupSize > MOST_RANKS_OF_BOTH ? 1 : 2));
}

/** Returns whether the library that stands behind a target has an algorithm. */
export function isOfLibrary(algorithm: string, target: CompareTarget): boolean {
  const whose = algorithmNamed(algorithm).traits?.librariesOf;
  return whose !== undefined && new RegExp(`\\b${LIBRARY_OF[target]}\\b`).test(whose);
}

/**
 * Returns the machine whose programs run as a library's own kernels do: NCCL's and RCCL's move data through connections, as MSCCL's,
 * but where switches sum; there NCCL loads and stores through them, as MSCCL++.
 */
function kernelsOf(target: CompareTarget, schedule: AnySchedule): RuntimeName {
  if (target === "mpi" || target === "rccl") return target;
  return sums(schedule) ? "mscclpp" : "azure";
}

/**
 * Returns what a line takes on a target: as a program that it loads, and, of an algorithm of the library that stands behind it, as
 * the library itself runs it. Both are simulated alike.
 */
export async function targetLine(
  engine: Engine,
  schedule: AnySchedule,
  target: CompareTarget,
  isLibrary: boolean,
): Promise<ProgramOfLine> {
  const loaded: ProgramOfLine =
    target === "nccl"
      ? { programUs: null, noProgram: "NCCL loads no programs" }
      : await programFor(engine, schedule, [target]);
  if (!isLibrary) return loaded;
  const kernels = kernelsOf(target, schedule);
  const own = kernels === target ? loaded : await programFor(engine, schedule, [kernels]);
  const least = Math.min(own.programUs ?? Number.POSITIVE_INFINITY, loaded.programUs ?? Number.POSITIVE_INFINITY);
  return least === Number.POSITIVE_INFINITY ? loaded : { ...loaded, libraryUs: least };
}
