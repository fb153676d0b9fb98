import { InputError } from "../../base/errors.ts";
import { optionName } from "../../base/option-names.ts";
import { loadKernels } from "../../engine/kernels/load.ts";
import { looksLikeProgram } from "../../import/programs/program.ts";
import { type Findings, findingLines, judgeIndependently, NoSchedule } from "../../independent/independent.ts";
import { kindOf } from "../../kinds/kinds.ts";
import { NETWORK_OPTIONS, refuseOptions, textOf } from "../../request/option-table.ts";
import { inRows } from "../../run/own/own-sends.ts";
import { demandMade } from "../collective-option.ts";
import { type Context, outJson, outRows } from "../context.ts";
import { judgeHere } from "../engine.ts";
import { nameOf, readText } from "../files/input-file.ts";
import { recording } from "../files/record-file.ts";
import { readScheduleFile } from "../files/schedule-file.ts";
import { isFolder, verifyProgramFolder } from "../programs/folder.ts";
import { programFileOf, verifyProgramFile } from "../programs/program-file.ts";
import { writeVerdict } from "../reports/verdict.ts";

/** `banyan verify FILE`: exit code 1 and the violations where the schedule or program is wrong. */
export async function run(context: Context, args: readonly string[]): Promise<number> {
  const file = args[0] as string;
  if (context.options["independent"] === true) return verifyIndependently(context, file);
  if (isFolder(file)) {
    refuseOptions(
      context.options,
      ["record", "recordOf"],
      "a file of a schedule or program in place of a folder",
      "not-alone",
    );
    return verifyProgramFolder(context, file);
  }
  const record = recording(context);
  const found = await programFileOf(context, file);
  if (found !== null) return verifyProgramFile(context, found, record);
  const target = textOf(context.options, "target");
  if (target !== undefined)
    throw new InputError(optionName("target"), "a program beside it, not a schedule,", file).as("not-alone");
  let claims = false;
  const onClaims = (): void => {
    claims = true;
  };
  const { schedule, sends } = await readScheduleFile(context, file, { onClaims, own: ["collective"] });
  const kind = kindOf(schedule);
  if (sends === null) for (const { kind: made } of kind.collectives) demandMade(context.options, nameOf(file), made);
  const judge = judgeHere(context, (await loadKernels()).kernels);
  return writeVerdict(context, file, sends === null ? kind : inRows(kind, sends), record, claims, judge);
}

/** `banyan verify FILE --independent`: exit code 1 where the schedule or one of its claims is wrong. */
function verifyIndependently(context: Context, file: string): number {
  refuseOptions(
    context.options,
    ["record", "recordOf", "target", "topology", ...NETWORK_OPTIONS],
    `nothing beside ${optionName("independent")}`,
    "not-together",
  );
  const text = readText(file, optionName("independent"));
  context.progress({ what: `judging ${nameOf(file)}` });
  let findings: Findings;
  try {
    findings = judgeIndependently(text);
  } catch (error) {
    if (!(error instanceof NoSchedule)) throw error;
    const refusal = new InputError(`${nameOf(file)}: ${error.place}`, error.expected, error.received);
    if (!looksLikeProgram(text)) throw refusal;
    throw refusal.saying(
      `${nameOf(file)} is a program, and ${optionName("independent")} is for schedules; \`banyan verify ${file}\` judges it`,
    );
  }
  if (context.json) outJson(context, { ...findings, file }, findings.correct);
  else if (!(context.quiet && findings.correct)) outRows(context, findingLines(findings));
  return findings.correct ? 0 : 1;
}
