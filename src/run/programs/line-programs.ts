import { InputError } from "../../base/errors.ts";
import type { Engine } from "../../engine/types.ts";
import type { RuntimeName } from "../../model/program/runtime-names.ts";
import type { AnySchedule } from "../../model/steps/schedule.ts";
import type { CompareTarget, ComparisonRow } from "../../report/comparison.ts";
import { besideEngine } from "./beside.ts";
import { fastestProgram } from "./fastest.ts";
import { isInNetwork } from "./libraries.ts";
import { usInLibrary } from "./library-time.ts";

/** What the lines of a comparison take as programs. */

export type ProgramOfLine = Pick<ComparisonRow, "programUs" | "programFor" | "noProgram" | "libraryUs">;

/** NCCL's lines have no program of their own. */
const NOT_LOADED: ProgramOfLine = { programUs: null, noProgram: "NCCL loads no programs" };

/** Schedules of more NPUs become programs of the usual runtime alone: each takes half a minute. */
const MOST_RANKS_OF_BOTH = 64;

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
  const runtimes = isInNetwork(schedule) ? (["mscclpp", "azure"] as const) : (["azure", "mscclpp"] as const);
  return programFor(engine, schedule, runtimes.slice(0, schedule.collective.groupSize > MOST_RANKS_OF_BOTH ? 1 : 2));
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
  const loaded: ProgramOfLine = target === "nccl" ? NOT_LOADED : await programFor(engine, schedule, [target]);
  if (!isLibrary) return loaded;
  const libraryUs = await usInLibrary(engine, schedule, target, {
    loadedUs: loaded.programUs ?? Number.POSITIVE_INFINITY,
  });
  return libraryUs === Number.POSITIVE_INFINITY ? loaded : { ...loaded, libraryUs };
}
