import { visible } from "../../base/visible.ts";
import { explainProgram } from "../../explain/program.ts";
import type { Program } from "../../model/program/program.ts";
import type { Options } from "../../request/option-texts.ts";
import { verifyProgram } from "../../verify/program/program.ts";
import { KEPT } from "../../verify/violation.ts";
import type { GivenFile, Opened } from "../protocol.ts";
import { askedBy } from "./asked-by.ts";
import { readGiven } from "./given-subject.ts";
import type { Tools } from "./handlers.ts";
import { judged } from "./kept.ts";
import { networkView } from "./network-view.ts";
import { scheduleView } from "./schedule-view.ts";
import { keep } from "./shelf.ts";
import { toldOf } from "./told.ts";

/** So many violations of a program are told. */
const MOST_TOLD = 50;

/** Answers "open": what a file is, read, and judged where it can be. Throws the reader's InputError. */
export async function open(
  { file, options }: { readonly file: GivenFile; readonly options: Options },
  tools: Tools,
): Promise<Opened> {
  tools.progress({ what: `reading ${file.name}` });
  const read = await readGiven(file, options);
  if (read.kind === "network") return { kind: "network", format: read.format, network: networkView(read.topology) };
  if (read.kind === "program") return openedProgram(file.name, read.program, tools);
  const started = performance.now();
  const { violations, ...kept } = judged(read, file.name, tools);
  const ref = { id: keep(kept), file, wish: null, us: null };
  return {
    kind: "schedule",
    network: networkView(read.schedule.topology),
    schedule: { ...scheduleView(ref, kept, performance.now() - started), violations },
    asked: askedBy(read),
  };
}

function openedProgram(name: string, program: Program, { progress }: Tools): Opened {
  const verdict = verifyProgram(program, {
    limit: KEPT,
    onProgress: (done, total) => progress({ what: "verifying", done, total, unit: "GPUs" }),
  });
  return {
    kind: "program",
    name,
    explanation: explainProgram(program).map(visible).join("\n"),
    rankCount: program.rankCount,
    verified: verdict.violationCount === 0,
    violationCount: verdict.violationCount,
    violations: verdict.violations.slice(0, MOST_TOLD).map(({ message }) => message),
    warnings: toldOf({
      violations: verdict.warnings.slice(0, MOST_TOLD),
      violationCount: verdict.warnings.length,
    }),
  };
}
