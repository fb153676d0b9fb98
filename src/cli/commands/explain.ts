import { InputError, inWords } from "../../base/errors.ts";
import { optionName } from "../../base/option-names.ts";
import { loadKernels } from "../../engine/kernels/load.ts";
import { busiestLinks } from "../../explain/links.ts";
import { explainLog, type Selection, selectionOf } from "../../explain/log.ts";
import { explainProgram } from "../../explain/program.ts";
import { looksLikeNcclLog, readNcclLog } from "../../import/logs/nccl-log.ts";
import { kindOf } from "../../kinds/kinds.ts";
import type { GivenSchedule } from "../../model/joint/joint-schedule.ts";
import { formatSize, formatTime, parseSize } from "../../model/numbers/units.ts";
import type { Program } from "../../model/program/program.ts";
import type { RuntimeName } from "../../model/program/runtime-names.ts";
import { RUNTIMES, runtimesOf } from "../../model/program/runtimes.ts";
import { percent, timeText } from "../../report/amounts.ts";
import type { Report } from "../../report/result.ts";
import { NETWORK_OPTIONS, refuseOptions, textOf, wordOf } from "../../request/option-table.ts";
import { DEFAULT_SIZE_BYTES } from "../../request/problem.ts";
import { limitViolations } from "../../run/programs/programs.ts";
import { reportOfFile } from "../../run/report-file.ts";
import { simulateProgram } from "../../simulate/program/program.ts";
import { verifyProgram } from "../../verify/program/program.ts";
import { type Context, outJson, outRows } from "../context.ts";
import { judgeHere } from "../engine.ts";
import { readText } from "../files/input-file.ts";
import { readScheduleFile } from "../files/schedule-file.ts";
import { whatItIs } from "../files/what-it-is.ts";
import { networkOf } from "../network.ts";
import { type ProgramFile, programFileOf, targetOf } from "../programs/program-file.ts";

/** Bytes of an element. */
const TYPES = { f16: 2, bf16: 2, f32: 4, f64: 8, i8: 1, u8: 1, i32: 4, u32: 4, i64: 8, u64: 8, f8: 1 } as const;
const TYPE_NAMES = Object.keys(TYPES) as (keyof typeof TYPES)[];

/** Returns the runtimes that could run a program: that of --target, or all that read such files. */
function runtimesFor(program: Program, target: RuntimeName | null): readonly RuntimeName[] {
  const all = runtimesOf(program);
  if (target === null) return all;
  if (all.includes(target)) return [target];
  throw new InputError(optionName("target"), `one of ${all.join(", ")} for such a file`, target).as("unknown-name");
}

/** Both kinds of calls, for every runtime. */
function selections(
  context: Context,
  program: Program,
  runtimes: readonly RuntimeName[],
): readonly (Selection & { readonly inPlace: boolean })[] {
  const size = textOf(context.options, "size");
  if (size === undefined) {
    refuseOptions(context.options, ["dtype"], "--size beside it", "not-alone");
    return [];
  }
  const type = wordOf(context.options, "dtype", TYPE_NAMES) ?? "f32";
  const call = { sizeBytes: parseSize(size), elementBytes: TYPES[type], ranks: program.rankCount };
  return runtimes.flatMap((runtime) =>
    [true, false].map((inPlace) => ({ ...selectionOf(program, runtime, { ...call, inPlace }), inPlace })),
  );
}

/** Returns which links limit a program on the network of --topology; nothing without it. */
async function limitLines({ options }: Context, program: Program): Promise<string[]> {
  const wanted = textOf(options, "topology");
  if (wanted === undefined) {
    refuseOptions(options, NETWORK_OPTIONS, "--topology beside it", "not-alone");
    return [];
  }
  const topology = await networkOf(wanted, options);
  const size = textOf(options, "size");
  const sizeBytes = size === undefined ? DEFAULT_SIZE_BYTES : parseSize(size);
  const { ps, linkBusyPs } = simulateProgram(program, topology, { sizeBytes });
  const use = Float64Array.from(linkBusyPs, (busy) => busy / ps);
  return [
    `limit: simulated on ${topology.name} at ${formatSize(sizeBytes)} it takes ${formatTime(ps)}; ${busiestLinks(topology, use)}`,
  ];
}

/** What is said of a file. */
interface Told {
  readonly lines: readonly string[];
  readonly correct: boolean;
  /** Of programs: whether runtimes would use it. */
  readonly selected: readonly unknown[];
}

/** Returns that a file is wrong, and the first reason. */
const wrongLine = ({ style }: Context, file: string, violation: string | undefined): string =>
  `${style.bad("wrong")}: ${violation} (\`banyan verify ${file}\` says all)`;

async function tellProgram(context: Context, { file, text, program }: ProgramFile): Promise<Told> {
  const { options, style } = context;
  const runtimes = runtimesFor(program, targetOf(context));
  const found = selections(context, program, runtimes).map((selection) => {
    const fails = limitViolations(program, selection.runtime, text).find(({ severity }) => severity === "error");
    return { ...selection, ...(fails === undefined ? {} : { fails: fails.message }) };
  });
  const lines = [...explainProgram(program), ...(await limitLines(context, program))];
  const { violations, violationCount } = verifyProgram(program, { limit: 1 });
  if (violationCount > 0) lines.unshift(wrongLine(context, file, violations[0]?.message));
  if (found.length > 0)
    lines.push("", `would it be selected for ${formatSize(parseSize(textOf(options, "size") as string))}?`);
  for (const { runtime, selected, reasons, inPlace, fails } of found) {
    const loads =
      fails === undefined ? style.good("yes") : `${style.bad("no")}: it would be chosen, but cannot run: ${fails}`;
    const verdict = selected ? loads : `${style.bad("no")}: ${reasons.join("; ")}`;
    lines.push(`  ${RUNTIMES[runtime].title}, ${inPlace ? "in place" : "out of place"}: ${verdict}`);
  }
  const log = textOf(options, "log");
  if (log !== undefined) {
    const logText = readText(log, optionName("log"));
    const told = looksLikeNcclLog(logText) ? null : await whatItIs(logText, log);
    if (told !== null)
      throw new InputError(optionName("log"), "a debug log of NCCL or RCCL", log).saying(
        `${log} is ${told.what}; ${optionName("log")} takes what NCCL_DEBUG=INFO prints`,
      );
    const facts = readNcclLog(logText, log);
    const isRccl = facts.version?.startsWith("RCCL") === true;
    const likely = runtimes.find((name) => (name === "rccl") === isRccl) ?? (runtimes[0] as RuntimeName);
    lines.push("", ...explainLog(program, likely, facts, file));
  }
  return { lines, correct: violationCount === 0, selected: found };
}

/** Returns what no algorithm beats, and how near a schedule comes to it. */
function reachedText({ time, limit, ofLimit }: Pick<Report, "time" | "limit" | "ofLimit">): string {
  const reached = ofLimit === null ? "" : `, ${percent(ofLimit)} of the limit`;
  return `reached: ${timeText(time.us)} (${time.model})${reached}: no algorithm takes less than ${timeText(limit.us)}, ${limit.because}`;
}

/** Returns what a schedule does, in words, how near it is to the limit, and what is wrong where it is. Throws InputError where nobody has words for it. */
async function tellSchedule(context: Context, file: string, schedule: GivenSchedule): Promise<Told> {
  const kind = kindOf(schedule);
  if (kind.explain === null)
    throw new InputError(file, "a schedule of one collective", inWords(`one of ${kind.collectives.length} at once`));
  const { kernels } = await loadKernels();
  const verdict = kind.judge({ limit: 1, judge: judgeHere(context, kernels) });
  const { violations, violationCount } = verdict;
  const correct = violationCount === 0;
  const lines = kind.explain(correct, kernels.replay);
  const all = correct
    ? [...lines, reachedText(reportOfFile(schedule, kernels, undefined, verdict))]
    : [wrongLine(context, file, violations[0]?.message), ...lines];
  return { lines: all, correct, selected: [] };
}

/** `banyan explain FILE`: what a schedule or program does, in words; exit code 1 where it is wrong. */
export async function run(context: Context, args: readonly string[]): Promise<number> {
  const { options, json } = context;
  const file = args[0] as string;
  const found = await programFileOf(context, file);
  let told: Told;
  if (found !== null) told = await tellProgram(context, found);
  else {
    const ofPrograms = "a program beside it (MSCCL XML or MSCCL++ JSON)";
    refuseOptions(options, ["dtype", "target", "log"], ofPrograms, "not-alone");
    const { schedule, sends } = await readScheduleFile(context, file, { own: ["size"] });
    if (sends === null) refuseOptions(options, ["size"], ofPrograms, "not-alone");
    told = await tellSchedule(context, file, schedule);
  }
  const { lines, correct, selected } = told;
  if (json) outJson(context, { schema: "banyan/explanation@1", file, lines, selected }, correct);
  else
    outRows(
      context,
      ["", ...lines].map((line) => `  ${line}`.trimEnd()),
    );
  return correct ? 0 : 1;
}
