import { InputError, InternalError } from "../../base/errors.ts";
import { optionName } from "../../base/option-names.ts";
import { mscclXmlParts } from "../../export/programs/msccl-xml.ts";
import { mscclppJsonParts } from "../../export/programs/mscclpp-json.ts";
import { lowerToMsccl } from "../../lower/msccl/lower.ts";
import { goesThroughSwitch, lowerToPlan, takesPackets } from "../../lower/mscclpp/plan.ts";
import { toUs } from "../../model/numbers/units.ts";
import type { Program } from "../../model/program/program.ts";
import { RUNTIMES, type RuntimeName } from "../../model/program/runtimes.ts";
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
    const most = program.maxBytes;
    if (most !== null && (minBytes ?? 0) > most)
      throw new InputError(
        optionName("minBytes"),
        `at most ${most}, as far as 32-bit offsets reach packets; ${optionName("protocol")} Simple takes more`,
        minBytes,
      ).as("out-of-range");
    const capped = most === null ? range : { ...range, maxBytes: Math.min(most, maxBytes ?? most) };
    text = [...mscclppJsonParts(program, capped)].join("");
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

/** Thread blocks for each chunk that are tried of an MSCCL++ plan, beside the usual number. */
const INSTANCES_TRIED = [1, 4];

/**
 * Returns how a schedule is lowered: trees with different numbers of parts, unless they are said; to MSCCL++ with both protocols
 * and different numbers of instances, unless they are.
 */
export function targetsFor(schedule: AnySchedule, target: ProgramOptions): ProgramOptions[] {
  if (target.runtime === "mscclpp") return planTargets(schedule, target);
  if (!isTreeFlow(schedule) || target.parts !== undefined) return [target];
  const tried = schedule.collective.groupSize > MOST_RANKS_SEARCHED ? PARTS_OF_LARGE : PARTS_TRIED;
  return tried.map((parts) => ({ ...target, parts }));
}

function planTargets(schedule: AnySchedule, target: ProgramOptions): ProgramOptions[] {
  const bySwitch = target.throughSwitch !== false && isTreeFlow(schedule) && goesThroughSwitch(schedule);
  const inPackets = !bySwitch && target.protocol === undefined && takesPackets(schedule.collective.kind);
  const protocols = inPackets ? (["Simple", "LL"] as const) : [target.protocol ?? "Simple"];
  const many = schedule.collective.groupSize > MOST_RANKS_SEARCHED;
  const instances = many || target.instances !== undefined ? [target.instances] : [undefined, ...INSTANCES_TRIED];
  return protocols.flatMap((protocol) =>
    instances.map((count) => ({ ...target, protocol, ...(count === undefined ? {} : { instances: count }) })),
  );
}

/** Returns what a program takes on the network of its schedule, microseconds. */
export const programUs = (program: Program, { topology, collective }: AnySchedule, sizeBytes: number): number =>
  toUs(simulateProgram(program, topology, { sizeBytes, rankToNpu: collective.groupMembers }).ps);

/** Returns what the fastest of a schedule's programs takes, microseconds. Throws InputError where none fits the runtime. */
export const fastestProgramUs = (schedule: AnySchedule, target: ProgramOptions): number =>
  Math.min(
    ...targetsFor(schedule, target).map((one) =>
      programUs(programOf(schedule, one).program, schedule, schedule.collective.sizeBytes),
    ),
  );
