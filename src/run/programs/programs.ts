import { InputError, InternalError } from "../../base/errors.ts";
import { optionName } from "../../base/option-names.ts";
import { mscclXmlParts } from "../../export/programs/msccl-xml.ts";
import { mscclppJsonParts } from "../../export/programs/mscclpp-json.ts";
import { lowerToMsccl } from "../../lower/msccl/lower.ts";
import { lowerToPlan } from "../../lower/mscclpp/plan.ts";
import { formatSize, toUs } from "../../model/numbers/units.ts";
import type { Program } from "../../model/program/program.ts";
import { CONNECTIONS, RUNTIMES, type RuntimeName } from "../../model/program/runtimes.ts";
import { type AnySchedule, withoutPhases } from "../../model/steps/schedule.ts";
import { isTreeFlow } from "../../model/trees/tree-flow.ts";
import type { ProgramOptions } from "../../request/from-texts.ts";
import { simulateProgram } from "../../simulate/program/program.ts";
import { type ProgramVerification, verifyProgram } from "../../verify/program/program.ts";
import type { ProgramViolation } from "../../verify/program/words.ts";
import { mscclLimitViolations } from "../../verify/runtime/msccl-limits.ts";
import { planLimitViolations } from "../../verify/runtime/plan-limits.ts";

/** A program, verified and within the limits of its runtime, and its file. */
export interface MadeProgram {
  readonly program: Program;
  readonly text: string;
  readonly verification: ProgramVerification;
  /** What the runtime takes but the user should know. */
  readonly warnings: readonly ProgramViolation[];
}

/** Returns what a runtime says of a program beside what it computes. `text` is the file, where there is one. */
export function limitViolations(
  program: Program,
  runtime: RuntimeName,
  text: string | null,
): readonly ProgramViolation[] {
  const { machine } = program;
  if (runtime === "mscclpp") {
    if (machine === "mscclpp") return planLimitViolations(program);
    throw new InputError(optionName("target"), "msccl, azure or rccl for MSCCL XML", runtime);
  }
  if (machine === "msccl") return mscclLimitViolations(program, runtime, text);
  throw new InputError(optionName("target"), "mscclpp for an MSCCL++ plan", runtime);
}

const inPlaceByDefault: ReadonlySet<string> = new Set(["allreduce", "broadcast", "reduce"]);

/** microsoft/msccl knows files for one kind of call only, and MSCCL++ plans say one. */
function placementFor({ runtime, placement }: ProgramOptions, kind: string): "in" | "out" | "both" {
  if (placement !== undefined) return placement;
  if (runtime === "azure" || runtime === "rccl") return "both";
  return inPlaceByDefault.has(kind) || runtime === "mscclpp" ? "in" : "out";
}

/**
 * Returns the program of a schedule with its file, after a judge has run it and held it against the runtime's limits.
 * Throws InputError where it cannot meet a limit, naming it, and for phases.
 */
export function programOf(given: AnySchedule, options: ProgramOptions): MadeProgram {
  const {
    runtime,
    instances,
    protocol = "Simple",
    name,
    minBytes,
    maxBytes,
    throughSwitch = true,
    parts,
    threadBlocks,
    joining,
    passing,
  } = options;
  const schedule = withoutPhases(given, optionName("to"));
  const placement = placementFor(options, schedule.collective.kind);
  const range = { ...(minBytes === undefined ? {} : { minBytes }), ...(maxBytes === undefined ? {} : { maxBytes }) };
  const common = { protocol, ...(name === undefined ? {} : { name }) };
  let program: Program;
  let text: string;
  if (runtime === "mscclpp") {
    if (placement === "both") throw new InputError(optionName("placement"), "in or out for an MSCCL++ plan", placement);
    const cut = instances === undefined ? {} : { instances };
    program = lowerToPlan(schedule, { ...common, ...cut, placement, throughSwitch });
    text = [...mscclppJsonParts(program, range)].join("");
  } else {
    program = lowerToMsccl(schedule, {
      ...common,
      runtime,
      placement,
      instances: instances ?? 1,
      ...(parts === undefined ? {} : { parts }),
      ...(threadBlocks === undefined ? {} : { threadBlocks }),
      ...(joining === undefined ? {} : { joining }),
      ...(passing === undefined ? {} : { passing }),
    });
    text = [...mscclXmlParts(program, { dialect: runtime, ...range })].join("");
  }
  const found = limitViolations(program, runtime, text);
  const error = found.find(({ severity }) => severity === "error");
  if (error !== undefined) {
    throw new InputError(optionName("to"), `a program within the limits of ${RUNTIMES[runtime].title}`, error.message);
  }
  const verification = verifyProgram(program, { limit: 1 });
  const wrong = verification.violations[0];
  if (verification.violationCount === 0) return { program, text, verification, warnings: found };
  // instructions of several chunks that want to travel as one message do so up to some size
  const most = runtime === "mscclpp" ? Number.POSITIVE_INFINITY : greatestWhole(program);
  if (wrong?.kind !== "deadlock" || !(most < (maxBytes ?? Number.POSITIVE_INFINITY)))
    throw new InternalError(`a lowered program is wrong: ${wrong?.message}`);
  if (most < Math.max(minBytes ?? 0, schedule.collective.sizeBytes))
    throw new InputError(
      optionName("sizesBytes"),
      `at most ${formatSize(most)} for a program of so large messages`,
      "more",
    );
  return programOf(given, { ...options, maxBytes: most });
}

/** Returns the greatest size at which every instruction's chunks travel as one message. */
function greatestWhole(program: Program): number {
  const chunks = program.chunks.reduce((most, many, i) => (program.sends[i] === 1 ? Math.max(most, many) : most), 1);
  return Math.floor(CONNECTIONS[program.protocol].messageBytes / chunks) * program.loopChunks;
}

/** Parts of each tree's data that are tried: few for small sizes, more to fill pipelines. */
const PARTS_TRIED = [1, 6, 16];
/** Among more ranks a program takes many seconds to make and to simulate: parts that suit large sizes only. */
export const MOST_RANKS_SEARCHED = 32;
const PARTS_OF_LARGE = [6];

type Choice = Partial<Pick<ProgramOptions, "joining" | "passing" | "parts" | "protocol" | "instances">>;

/** Returns what is tried, question after question: the first answer of each is the usual one. */
function questionsOf(schedule: AnySchedule, target: ProgramOptions): (readonly Choice[])[] {
  const { runtime, parts, protocol, instances } = target;
  if (runtime === "mscclpp") return [];
  const isLarge = schedule.collective.groupSize > MOST_RANKS_SEARCHED;
  const shapes: Choice[] = isTreeFlow(schedule)
    ? (isLarge ? PARTS_OF_LARGE : PARTS_TRIED).map((many) => ({ parts: many }))
    : (["apart", "under way", "ready"] as const).flatMap((joining) =>
        [true, false].map((passing) => ({ joining, passing })),
      );
  // RCCL has LL128 on some GPUs only
  const protocols = (runtime === "rccl" ? (["Simple", "LL"] as const) : (["Simple", "LL128", "LL"] as const)).map(
    (one) => ({ protocol: one }),
  );
  return [
    ...(parts === undefined ? [shapes] : []),
    ...(protocol === undefined ? [protocols] : []),
    ...(instances === undefined && !isLarge ? [[1, 2, 4].map((many) => ({ instances: many }))] : []),
  ];
}

/** Returns what a program takes on the network of its schedule, microseconds. */
export const programUs = (program: Program, { topology, collective }: AnySchedule, sizeBytes: number): number =>
  toUs(simulateProgram(program, topology, { sizeBytes, rankToNpu: collective.groupMembers }).ps);

/** The usual answer is taken unless another is better by more than this share. */
const WORTH_IT = 0.99;

/** Returns the fastest of a schedule's programs as simulated, and how it was lowered. Throws InputError where none fits the runtime. */
export function fastestProgram(schedule: AnySchedule, target: ProgramOptions) {
  const { sizeBytes } = schedule.collective;
  const made = (options: ProgramOptions) => {
    const found = programOf(schedule, options);
    return { made: found, options, us: programUs(found.program, schedule, sizeBytes) };
  };
  let best: ReturnType<typeof made> | null = null;
  let refused: unknown = null;
  const tryOne = (options: ProgramOptions): void => {
    try {
      const one = made(options);
      if (best === null || one.us < best.us * WORTH_IT) best = one;
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      refused ??= error;
    }
  };
  const questions = questionsOf(schedule, target);
  if (questions.length === 0) tryOne(target);
  questions.forEach((answers, q) => {
    for (const answer of q === 0 ? answers : answers.slice(1))
      tryOne({ ...target, ...((best as ReturnType<typeof made> | null)?.options ?? {}), ...answer });
  });
  if (best === null) throw refused;
  return best as ReturnType<typeof made>;
}
