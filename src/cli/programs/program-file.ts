import { InputError, inWords } from "../../base/errors.ts";
import { optionName } from "../../base/option-names.ts";
import { looksLikeProgram, readProgram } from "../../import/programs/program.ts";
import { looksLikeBys } from "../../import/schedules/bys.ts";
import { isScheduleText } from "../../import/schedules/schedule-text.ts";
import { isSendsText } from "../../import/schedules/sends.ts";
import { looksLikePreset } from "../../model/presets/preset.ts";
import type { Program } from "../../model/program/program.ts";
import { RUNTIME_NAMES, type RuntimeName } from "../../model/program/runtime-names.ts";
import { RUNTIMES } from "../../model/program/runtimes.ts";
import { count } from "../../report/amounts.ts";
import { programSizeText, programText } from "../../report/program-text.ts";
import { NETWORK_OPTIONS, placeOf, refuseOptions, textOf, wordOf } from "../../request/option-table.ts";
import { limitViolations } from "../../run/programs/programs.ts";
import { recordOfProgram } from "../../run/record.ts";
import { type ProgramVerification, verifyProgram } from "../../verify/program/program.ts";
import type { ProgramViolation } from "../../verify/program/words.ts";
import { demandMade } from "../collective-option.ts";
import { type Context, outJson, outRows } from "../context.ts";
import { headOf, nameOf, openSource, STANDARD_INPUT, statOf, textFrom } from "../files/input-file.ts";
import type { Recording } from "../files/record-file.ts";
import { refuseSaid } from "../files/schedule-file.ts";
import { notWanted, whatItIs } from "../files/what-it-is.ts";
import { KEPT, writeRecorded } from "../reports/verdict.ts";
import { version } from "../version.ts";

/** A program with the text that it was read from. */
export interface ProgramFile {
  readonly file: string;
  readonly text: string;
  readonly program: Program;
}

const READABLE =
  "a schedule (Banyan's JSON or .bys, or sends as CSV under the header step,src,dst,chunk,op) or a program (MSCCL XML, its first element <algo>, or an MSCCL++ plan in JSON)";

/** The first few violations are shown; --json has more. */
const SHOWN = 20;

/** Returns the text of a file that is no .bys; null for one. Throws InputError. */
export function textUnlessBys(file: string, place: string): string | null {
  const source = openSource(file, place);
  return looksLikeBys(headOf(source)) ? null : textFrom(source, file, place);
}

/** Throws InputError where options of a network stand beside a program, which has none. */
export function refuseNetwork({ options }: Context, file: string): void {
  const network = textOf(options, "topology");
  if (network !== undefined)
    throw new InputError(
      optionName("topology"),
      `a schedule, which has a network, in place of ${nameOf(file)}`,
      network,
    )
      .saying(
        `${optionName("topology")} is not for ${nameOf(file)}, a program, which has no network; what it takes on one: \`banyan simulate ${nameOf(file)} --topology ${network}\``,
      )
      .as("not-alone");
  refuseOptions(options, NETWORK_OPTIONS, `a schedule, which has a network, in place of ${nameOf(file)}`, "not-alone");
}

/** Throws InputError where a name is no file but a network, which these commands do not take. */
function refusePreset(file: string, wanted: string): void {
  if (statOf(file, wanted) !== undefined || !looksLikePreset(file)) return;
  throw new InputError(`the ${wanted}`, "a file that exists", file).saying(
    `${file} is a network, not the file of a ${wanted}; \`banyan synth ${file} --collective allreduce -o FILE\` makes a schedule`,
  );
}

/** Returns the program of a file; null for what must be a schedule, if anything. Throws InputError. */
export async function programFileOf(context: Context, file: string): Promise<ProgramFile | null> {
  context.progress({ what: `reading ${nameOf(file)}` });
  const wanted = "schedule or program";
  if (file !== STANDARD_INPUT) refusePreset(file, wanted);
  const text = textUnlessBys(file, `the ${wanted}`);
  if (text === null) return null;
  if (!looksLikeProgram(text)) {
    if (isSendsText(text)) return null;
    const isJson = /^\ufeff?\s*[{[]/.test(text);
    const why = isJson && isScheduleText(text) ? null : await notWanted(text, nameOf(file), `a ${wanted}`);
    if (isJson && why === null) return null;
    if (why === null) throw new InputError(nameOf(file), READABLE, text.trimStart().slice(0, 40));
    const refusal =
      text.trim() === "" ? new InputError(nameOf(file), READABLE) : new InputError(nameOf(file), READABLE, why.found);
    throw refusal.saying(why.why);
  }
  return { file, text, program: readProgram(text, nameOf(file)) };
}

/** Returns the program of a file. Throws InputError. */
export async function programFile(context: Context, file: string): Promise<ProgramFile> {
  context.progress({ what: `reading ${nameOf(file)}` });
  if (file !== STANDARD_INPUT) refusePreset(file, "program");
  const text = textUnlessBys(file, "the program");
  const told = text === null || looksLikeProgram(text) ? null : await whatItIs(text, nameOf(file));
  if (text === null || told?.kind === "schedule") {
    const open = text !== null && isSendsText(text) ? " --topology TOPO --collective NAME" : "";
    const out = `${nameOf(file).replace(/^.*[/\\]|\.\w+$/g, "")}.xml`;
    throw new InputError(nameOf(file), "a program: MSCCL XML or an MSCCL++ plan", inWords("a schedule")).saying(
      `${nameOf(file)} is a schedule, not a program; make one of it: \`banyan export ${nameOf(file)}${open} --to msccl-xml -o ${out}\``,
    );
  }
  const why = looksLikeProgram(text) ? null : await notWanted(text, nameOf(file), "a program");
  if (why !== null)
    throw new InputError(nameOf(file), "a program: MSCCL XML or an MSCCL++ plan", why.found).saying(why.why);
  return { file, text, program: readProgram(text, nameOf(file)) };
}

/** Returns the runtime of --target; null without one. Throws InputError. */
export function targetOf({ options }: Context): RuntimeName | null {
  const text = textOf(options, "target");
  // NVIDIA's NCCL loads no programs, and is not AMD's RCCL either
  if (text?.toLowerCase() === "nccl")
    throw new InputError(placeOf("target"), `one of ${RUNTIME_NAMES.join(", ")}`, text)
      .as("unknown-name")
      .saying(
        `${placeOf("target")} is "nccl", which loads no programs; for NVIDIA GPUs: azure, msccl or mscclpp, for AMD GPUs: rccl`,
      );
  return wordOf(options, "target", RUNTIME_NAMES) ?? null;
}

/** Returns what --json says of a program everywhere. */
export const programJson = ({ name, machine, collective, rankCount }: Program) => ({
  name,
  machine,
  collective,
  ranks: rankCount,
});

const violationJson = ({ kind, severity, message, ...place }: ProgramViolation): unknown => ({
  kind,
  severity,
  message,
  ...place,
});

/** `banyan verify FILE` for a program: what it computes, and with --target the limits of a runtime. */
export function verifyProgramFile(context: Context, { file, text, program }: ProgramFile, record: Recording): number {
  const { json, quiet, style } = context;
  refuseNetwork(context, file);
  refuseSaid(context, ["size", "chunks", "root", "group"], file, "program");
  demandMade(context.options, nameOf(file), program.collective);
  // plans for MPI have one runtime, whose limits are part of what they are
  const target = targetOf(context) ?? (program.mpi === undefined ? null : "mpi");
  context.progress({ what: "verifying" });
  const judged: ProgramVerification = verifyProgram(program, {
    limit: KEPT,
    onProgress: (done, total) => context.progress({ what: "verifying", done, total, unit: "GPUs" }),
  });
  const limits = target === null ? [] : limitViolations(program, target, text);
  const all = [...judged.violations, ...judged.warnings, ...limits];
  const errors = all.filter(({ severity }) => severity === "error");
  const notes = all.filter(({ severity }) => severity === "warning");
  const errorCount = errors.length + Math.max(0, judged.violationCount - judged.violations.length);
  const correct = errorCount === 0;
  const recorded = record(correct, () => recordOfProgram({ program, text }, judged.modes, target, version));
  if (json) {
    outJson(
      context,
      {
        schema: "banyan/verification@1",
        file,
        program: programJson(program),
        target,
        correct,
        ...recorded.json,
        modes: judged.modes,
        facts: judged.facts,
        results: judged.results,
        violationCount: errorCount,
        violations: all.map(violationJson),
      },
      correct && recorded.same,
    );
    return writeRecorded(context, correct, recorded);
  }
  const lines = errors.slice(0, SHOWN).map(({ message }) => `  ${message}`);
  if (errorCount > lines.length)
    lines.push(`  ... and ${errorCount - lines.length} more (--json has the first ${KEPT})`);
  const warnings = quiet ? [] : notes.slice(0, SHOWN).map(({ message }) => `  note: ${message}`);
  if (!quiet && notes.length > SHOWN) warnings.push(`  ... and ${notes.length - SHOWN} more notes (--json)`);
  if (correct && !quiet) {
    const fits = target === null ? "" : `; within the limits of ${RUNTIMES[target].title}`;
    // of a collective of its own nobody knows what it should compute
    const [judgement, unknown] =
      program.collective === "custom"
        ? ["sound, ends without deadlock or race", "; what it should compute is not known, nor proved"]
        : ["correct", ""];
    const verdict = `${style.good(judgement)}: ${programSizeText(program)} make ${programText(program)}${unknown}${fits}`;
    outRows(context, [verdict, ...warnings]);
  } else if (!correct) {
    const verdict = `${style.bad("wrong")}: ${count(errorCount, "violation")} in ${nameOf(file)}`;
    outRows(context, [verdict, ...lines, ...warnings]);
  }
  return writeRecorded(context, correct, recorded);
}
