import { InfeasibleError, InputError } from "../../base/errors.ts";
import { kindOf } from "../../kinds/kinds.ts";
import { inRows } from "../../run/own/own-sends.ts";
import { algorithmOfFile, reportOfFile } from "../../run/report-file.ts";
import type { ScheduleRef } from "../protocol.ts";
import { type GivenSchedule, scheduleIn } from "./given-subject.ts";
import { madeFor, usOf } from "./make.ts";
import type { Tools } from "./request-context.ts";
import { find, type KnownSchedule, put } from "./schedule-cache.ts";
import { violationTexts } from "./violation-texts.ts";

/** This many violations of a file are listed. */
const MOST_TOLD = 20;

/** Returns a schedule that was read, judged, simulated and bounded. Throws InputError where it is too wrong for that. */
export function judged(
  { schedule, algorithm, sends }: Omit<GivenSchedule, "kind">,
  name: string,
  { engine, progress }: Pick<Tools, "engine" | "progress">,
): KnownSchedule & { readonly violations: readonly string[] } {
  progress({ what: "verifying" });
  const kind = kindOf(schedule);
  const verdict = (sends === undefined ? kind : inRows(kind, sends)).judge({ limit: MOST_TOLD });
  const violations = violationTexts(verdict);
  progress({ what: "simulating" });
  try {
    const report = reportOfFile(schedule, engine.kernels, algorithmOfFile(algorithm), verdict);
    return { schedule, report, violations };
  } catch (error) {
    const [first] = violations;
    if (!(error instanceof InputError || error instanceof InfeasibleError) || first === undefined) throw error;
    throw new InputError(name, "a schedule that can be carried out", first).saying(`${name} is wrong: ${first}`);
  }
}

/** Returns the schedule that a reference names: kept, read again, or made again. Throws as these do. */
export async function scheduleOfReference(ref: ScheduleRef, tools: Tools): Promise<KnownSchedule> {
  const known = find(ref.id);
  if (known !== undefined) return known;
  const kept = await again(ref, tools);
  put(ref.id, kept);
  return kept;
}

async function again({ file, wish, sendsFor, us }: ScheduleRef, tools: Tools): Promise<KnownSchedule> {
  if (file !== null) return judged(await scheduleIn(file, sendsFor ?? null), file.name, tools);
  if (wish !== null) {
    const made = await madeFor(wish, tools);
    if (us === null || usOf(made.report) === us) return made;
    throw new InputError(
      "the schedule",
      "the one that is shown (its maker ended, and the limit on time found another one this time: synthesize again)",
    );
  }
  throw new InputError("the schedule", "one that was made or opened");
}
