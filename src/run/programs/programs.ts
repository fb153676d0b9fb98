import { InputError, InternalError } from "../../base/errors.ts";
import { optionName } from "../../base/option-names.ts";
import { mscclXmlParts } from "../../export/programs/msccl-xml.ts";
import { mscclppJsonParts } from "../../export/programs/mscclpp-json.ts";
import { becomesCustom, ranksOf } from "../../lower/any-moves.ts";
import { lowerToMsccl } from "../../lower/msccl/lower.ts";
import { lowerToPlan } from "../../lower/mscclpp/plan.ts";
import { type GivenSchedule, isJoint } from "../../model/joint/joint-schedule.ts";
import { add, ceil, multiply, rational } from "../../model/numbers/rational.ts";
import { toUs } from "../../model/numbers/units.ts";
import { isPhaseSchedule } from "../../model/phases/phase-schedule.ts";
import type { Program } from "../../model/program/program.ts";
import { RUNTIMES, type RuntimeName } from "../../model/program/runtimes.ts";
import type { Schedule } from "../../model/slots/slot-schedule.ts";
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
  if (kind === "custom") return "out";
  if (runtime === "azure" || runtime === "rccl") return "both";
  return inPlaceByDefault.has(kind) || runtime === "mscclpp" ? "in" : "out";
}

/**
 * Returns the program of a schedule with its file, after a judge has run it and held it against the runtime's limits.
 * Throws InputError where it cannot meet a limit, naming it, and for phases.
 */
export function programOf(given: GivenSchedule, options: ProgramOptions): MadeProgram {
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
  } = options;
  const schedule = isJoint(given) ? given : withoutPhases(given, optionName("to"));
  const placement = placementFor(
    options,
    isJoint(schedule) || becomesCustom(schedule) ? "custom" : schedule.collective.kind,
  );
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
  if (verification.violationCount > 0) throw new InternalError(`a lowered program is wrong: ${wrong?.message}`);
  return { program, text, verification, warnings: found };
}

/** Parts of each tree's data that are tried: few for small sizes, more to fill pipelines. */
const PARTS_TRIED = [1, 6, 16];
/** Among more ranks a program takes many seconds to make and to simulate: parts that suit large sizes only. */
export const MOST_RANKS_SEARCHED = 32;
const PARTS_OF_LARGE = [6];
/** Of tables: runs in more parts fill links, chunks in more instances where runs are single chunks. */
const WAYS_TRIED = [
  { parts: 1, instances: 1 },
  { parts: 6, instances: 1 },
  { parts: 16, instances: 1 },
  { parts: 1, instances: 2 },
  { parts: 6, instances: 2 },
  { parts: 1, instances: 4 },
];

/** Returns how a schedule is lowered: trees and tables with different numbers of parts, unless they are said. */
export function targetsFor(schedule: GivenSchedule, target: ProgramOptions): ProgramOptions[] {
  const cut = isJoint(schedule) || isTreeFlow(schedule) || (!isPhaseSchedule(schedule) && becomesCustom(schedule));
  if (!cut || target.parts !== undefined || target.runtime === "mscclpp") return [target];
  if (!isTreeFlow(schedule as AnySchedule) && target.instances === undefined)
    return WAYS_TRIED.map((way) => ({ ...target, ...way }));
  const tried = ranksOf(schedule).length > MOST_RANKS_SEARCHED ? PARTS_OF_LARGE : PARTS_TRIED;
  return tried.map((parts) => ({ ...target, parts }));
}

/** A call of a program. */
interface ProgramCall {
  /** nccl-tests size; of a custom program what the rank with the largest buffer has in it. */
  readonly sizeBytes: number;
  /** [ranks] */
  readonly rankToNpu: ArrayLike<number>;
}

/** Returns the call of a program that moves the data of its schedule. O(transfers). */
export function callOf({ table, loopChunks }: Program, schedule: GivenSchedule): ProgramCall {
  const lowered = isJoint(schedule) ? schedule : withoutPhases(schedule, optionName("to"));
  const rankToNpu = ranksOf(lowered);
  if (table === undefined) return { sizeBytes: (lowered as Schedule).collective.sizeBytes, rankToNpu };
  const all = (isJoint(schedule) ? schedule.tenants : [schedule]).reduce(
    (sum, { collective }) => add(sum, multiply(collective.chunkBytes, rational(collective.chunkCount))),
    rational(0),
  );
  return { sizeBytes: Number(ceil(multiply(all, rational(loopChunks, table.sums.length)))), rankToNpu };
}

/** Returns what a program takes on the network of its schedule, microseconds; of a custom one at the size of its schedule. */
export function programUs(program: Program, schedule: GivenSchedule, size?: number): number {
  const { sizeBytes, rankToNpu } = callOf(program, schedule);
  const asked = program.table === undefined && size !== undefined ? size : sizeBytes;
  return toUs(simulateProgram(program, schedule.topology, { sizeBytes: asked, rankToNpu }).ps);
}

/** Programs of more instructions are not simulated on the way. */
export const MOST_SIMULATED_INSTRUCTIONS = 5e4;

/**
 * Returns the program of a schedule of a table that is fastest in the simulation of programs, of those that fit the runtime.
 * Throws InputError as programOf does where none fits.
 */
export function fastestProgram(schedule: GivenSchedule, target: ProgramOptions): MadeProgram {
  let best: { readonly made: MadeProgram; readonly us: number } | null = null;
  let refusal: InputError | null = null;
  for (const one of targetsFor(schedule, target)) {
    try {
      const made = programOf(schedule, one);
      if (made.verification.facts.instructions > MOST_SIMULATED_INSTRUCTIONS) return best?.made ?? made;
      const us = programUs(made.program, schedule);
      if (best === null || us < best.us) best = { made, us };
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      refusal ??= error;
    }
  }
  if (best === null) throw refusal;
  return best.made;
}

/** Returns what the fastest of a schedule's programs takes, microseconds. Throws InputError where none fits the runtime. */
export const fastestProgramUs = (schedule: AnySchedule, target: ProgramOptions): number =>
  Math.min(
    ...targetsFor(schedule, target).map((one) =>
      programUs(programOf(schedule, one).program, schedule, schedule.collective.sizeBytes),
    ),
  );
