import { readdirSync } from "node:fs";
import { join } from "node:path";
import { InputError } from "../../base/errors.ts";
import { leavesToLibrary } from "../../import/programs/mpi-plan.ts";
import { readProgram } from "../../import/programs/program.ts";
import { RUNTIMES } from "../../model/program/runtimes.ts";
import { count } from "../../report/amounts.ts";
import { programText } from "../../report/program-text.ts";
import { SELECTOR } from "../../run/export/sizes.ts";
import { limitViolations } from "../../run/programs/programs.ts";
import { verifyProgram } from "../../verify/program/program.ts";
import type { ProgramViolation } from "../../verify/program/words.ts";
import { sizeRangeViolations } from "../../verify/runtime/size-ranges.ts";
import { type Context, outJson, outRows } from "../context.ts";
import { statOf } from "../files/input-file.ts";
import { whatItIs } from "../files/what-it-is.ts";
import { programJson, refuseNetwork, targetOf, textUnlessBys } from "./program-file.ts";

/** Whether a name is that of a folder. */
export const isFolder = (path: string): boolean => statOf(path, "the file")?.isDirectory() === true;

/** Violations of one file that are shown; --json has all. */
const SHOWN = 5;

/** `banyan verify FOLDER`: every program in a folder, as a runtime loads it, and the sizes that they are for together. */
export async function verifyProgramFolder(context: Context, folder: string): Promise<number> {
  const { style, json, quiet } = context;
  refuseNetwork(context, folder);
  const all = readdirSync(folder).sort();
  // what makes plans known lies beside them
  const isOfPlans = all.includes(SELECTOR);
  const isOfMpi = all.length > 0 && all.every((name) => name.endsWith(".plan"));
  const target = targetOf(context) ?? (isOfPlans ? "mscclpp" : isOfMpi ? "mpi" : "azure");
  const names = all.filter((name) => !(isOfPlans && name === SELECTOR));
  if (names.length === 0)
    throw new InputError("the folder", "one with programs", folder).saying(
      `folder ${folder} is empty; verify takes a file, or a folder of programs (MSCCL XML or MSCCL++ plans)`,
    );
  const texts = names.map((name) => {
    const path = join(folder, name);
    return { name, path, text: isFolder(path) ? null : textUnlessBys(path, "the program") };
  });
  for (const { path, text } of texts) {
    const told = text === null ? null : await whatItIs(text, path);
    if (text !== null && (told === null || told.kind === "program")) continue;
    const what = told === null ? (isFolder(path) ? "a folder" : "a schedule") : told.what;
    const meant = told === null ? "" : `; did you mean \`${told.command}\`?`;
    throw new InputError("the folder", "nothing but programs, for runtimes read every file in it,", path).saying(
      `${path} is ${what}, and in a folder nothing but programs (MSCCL XML, MSCCL++ plans) is judged, for runtimes read every file in it${meant}`,
    );
  }
  const isLeft = ({ path, text }: (typeof texts)[number]): boolean => leavesToLibrary(text as string, path);
  const left = texts.filter(isLeft).map(({ name }) => name);
  const judgedTexts = texts.filter(({ name }) => !left.includes(name));
  const files = judgedTexts.map(({ name, path, text }) => {
    context.progress({ what: `verifying ${path}` });
    const program = readProgram(text as string, path);
    const judged = verifyProgram(program);
    const violations = [...judged.violations, ...judged.warnings, ...limitViolations(program, target, text as string)];
    return { name, program, violations };
  });
  const together = sizeRangeViolations(files, target);
  const isError = ({ severity }: ProgramViolation): boolean => severity === "error";
  const correct = !files.some(({ violations }) => violations.some(isError)) && !together.some(isError);
  if (json) {
    const shown = files.map(({ name, program, violations }) => ({
      file: name,
      program: programJson(program),
      correct: !violations.some(isError),
      violations,
    }));
    outJson(
      context,
      {
        schema: "banyan/verification@1",
        folder,
        target,
        correct,
        files: shown,
        ...(target === "mpi" && { leftToLibrary: left }),
        violations: together,
      },
      correct,
    );
    return correct ? 0 : 1;
  }
  const line = ({ message, severity }: ProgramViolation): string =>
    `    ${severity === "error" ? "" : "note: "}${message}`;
  const lines = files.flatMap(({ name, program, violations }) => {
    const errors = violations.filter(isError);
    const verdict = errors.length === 0 ? style.good("correct") : style.bad("wrong");
    const listed = quiet ? errors : violations;
    const rest = listed.length > SHOWN ? [`    ... and ${listed.length - SHOWN} more (--json)`] : [];
    return [`  ${name}: ${verdict}, ${programText(program)}`, ...listed.slice(0, SHOWN).map(line), ...rest];
  });
  const leaving = left.map((name) => `  ${name}: leaves its calls to the MPI library`);
  const head = `${correct ? style.good("correct") : style.bad("wrong")}: ${count(files.length, "file")} held against ${RUNTIMES[target].title}`;
  if (!quiet || !correct) outRows(context, [head, ...leaving, ...lines, ...together.map(line)]);
  return correct ? 0 : 1;
}
