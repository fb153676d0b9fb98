import { InputError, InternalError, inWords } from "../../base/errors.ts";
import { optionName } from "../../base/option-names.ts";
import { expanded, phasesAsSteps, treesAsSteps } from "../../kinds/expand.ts";
import { becomesCustom, type LoweredSchedule, ranksOf } from "../../lower/any-moves.ts";
import { lateSums } from "../../lower/late-sums.ts";
import type { MoveTimes } from "../../lower/messages.ts";
import { lowerToMpi, refuseForMpi } from "../../lower/mpi/lower.ts";
import { lowerToMsccl } from "../../lower/msccl/lower.ts";
import { KnownPlans } from "../../lower/mscclpp/known-plans.ts";
import { lowerToPlan } from "../../lower/mscclpp/plan.ts";
import { type GivenSchedule, isJoint } from "../../model/joint/joint-schedule.ts";
import { add, ceil, multiply, rational } from "../../model/numbers/rational.ts";
import { formatSize, toUs } from "../../model/numbers/units.ts";
import { isPeriodSchedule } from "../../model/periods/period-schedule.ts";
import { isPhaseSchedule, type PhaseSchedule } from "../../model/phases/phase-schedule.ts";
import { instructionCount, type Program } from "../../model/program/program.ts";
import type { RuntimeName } from "../../model/program/runtime-names.ts";
import { CONNECTIONS, runtimesOf } from "../../model/program/runtimes.ts";
import { stepsOf, withoutPhases } from "../../model/steps/schedule.ts";
import type { StepSchedule } from "../../model/steps/step-schedule.ts";
import { demandForwarding, isTreeFlow, type TreeFlow } from "../../model/trees/tree-flow.ts";
import { stepsOfTrees } from "../../model/trees/tree-steps.ts";
import type { ProgramOptions } from "../../request/from-texts.ts";
import { simulateProgram } from "../../simulate/program/program.ts";
import { simulateJoint, simulateSchedule } from "../../simulate/steps/replay.ts";
import { judgeable, type ProgramVerification, verifyProgram } from "../../verify/program/program.ts";
import type { ProgramViolation } from "../../verify/program/words.ts";
import { mpiLimitViolations } from "../../verify/runtime/mpi-limits.ts";
import { mscclLimitViolations } from "../../verify/runtime/msccl-limits.ts";
import { planLimitViolations } from "../../verify/runtime/plan-limits.ts";
import { type Beside, JUDGE, SIMULATE, WRITE } from "./beside.ts";
import { beyondLimits, fileParts, MANY_INSTRUCTIONS, type ProgramFile } from "./program-file.ts";

/** A program, verified and within the limits of its runtime, and its file. */
export interface MadeProgram {
  readonly program: Program;
  /** Returns the parts of its file, made as they are asked for. */
  readonly parts: () => Iterable<string>;
  readonly verification: ProgramVerification;
  /** Greatest size that its file is for; null: any. */
  readonly maxBytes: number | null;
  /** What the runtime takes but the user should know. */
  readonly warnings: readonly ProgramViolation[];
}

/** How far the making of a program is, as of a pipeline's other steps. */
export type Making = (step: { readonly phase: string; readonly done: number; readonly total: number }) => void;
export const unheard: Making = () => {};

/** Returns what a runtime says of a program beside what it computes. `text` is the file, where there is one, in parts. */
export function limitViolations(
  program: Program,
  runtime: RuntimeName,
  text: Iterable<string> | string | null,
): readonly ProgramViolation[] {
  const { machine, mpi } = program;
  const [own] = runtimesOf(program);
  if (runtime === "mpi" || mpi !== undefined) {
    if (runtime === own) return mpiLimitViolations(program);
    throw new InputError(
      optionName("target"),
      mpi === undefined ? `${own} for such a file` : "mpi for a plan for MPI",
      runtime,
    );
  }
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

/** Returns what is lowered of a schedule. Throws InputError for phases, and for periods of too many transfers. */
export function loweredOf(given: GivenSchedule): LoweredSchedule {
  if (isJoint(given)) return given;
  const schedule = withoutPhases(given, optionName("to"));
  return isPeriodSchedule(schedule) ? expanded(schedule, optionName("to")) : schedule;
}

/**
 * Returns the program of a schedule, not judged; plans that are `known` on its network are not made again. Throws InputError where it
 * cannot meet a limit of the runtime, and for phases.
 */
export function lowered(given: GivenSchedule, options: ProgramOptions, known = new KnownPlans()): Program {
  if (options.runtime === "mpi") return loweredForMpi(given, options);
  const { runtime, minBytes: _, maxBytes: __, throughSwitch = true, order, whole = false, ...rest } = options;
  const { blockBytesPerSecond: ___, ...how } = rest;
  const asked = loweredOf(given);
  const schedule = whole && isTree(asked) ? wholeSteps(asked) : asked;
  const kind = isJoint(schedule) || becomesCustom(schedule) ? "custom" : schedule.collective.kind;
  const placement = placementFor(options, kind);
  if (runtime !== "mscclpp") {
    const times = order === "simulated" && !isTreeFlow(schedule) ? { times: simulatedTimes(schedule) } : {};
    return lowerToMsccl(schedule, { ...how, ...times, runtime, placement });
  }
  if (placement === "both") throw new InputError(optionName("placement"), "in or out for an MSCCL++ plan", placement);
  return lowerToPlan(schedule, { ...how, placement, throughSwitch }, known);
}

/** Returns the plan for MPI of a schedule: trees as steps of `parts` pieces, sums as late as may be. */
function loweredForMpi(
  given: GivenSchedule,
  { order, parts = 1, connections, segmentBytes, hosts, name }: ProgramOptions,
): Program {
  const asked = loweredOf(!isJoint(given) && isPhaseSchedule(given) ? steppedPhases(given) : given);
  refuseForMpi(asked);
  const schedule = isTree(asked) ? steppedTrees(asked, parts) : asked;
  return lowerToMpi(schedule, {
    pieces: parts,
    ...(order === "simulated" ? { times: simulatedTimes(schedule) } : {}),
    ...(connections === undefined ? {} : { lanes: connections }),
    ...(segmentBytes === undefined ? {} : { segmentBytes }),
    ...(hosts === undefined ? {} : { hosts }),
    ...(name === undefined ? {} : { name }),
  });
}

const phaseSteps = new WeakMap<PhaseSchedule, StepSchedule>();

/** Returns the transfers of phases. Throws InputError for wrong ones, too many, and sums in switches. */
function steppedPhases(schedule: PhaseSchedule): StepSchedule {
  const steps = phaseSteps.get(schedule) ?? phasesAsSteps(schedule, optionName("to", " mpi"));
  phaseSteps.set(schedule, steps);
  return steps;
}

const steppedFlows = new WeakMap<TreeFlow, Map<number, StepSchedule>>();

/** Returns trees as steps of so many pieces. Throws InputError where switches sum, and for too many. */
function steppedTrees(flow: TreeFlow, pieces: number): StepSchedule {
  demandForwarding(flow, optionName("to", " mpi"));
  const known = steppedFlows.get(flow) ?? new Map<number, StepSchedule>();
  steppedFlows.set(flow, known);
  const steps = known.get(pieces) ?? lateSums(treesAsSteps(flow, optionName("to", " mpi"), pieces));
  known.set(pieces, steps);
  return steps;
}

const isTree = (schedule: LoweredSchedule): schedule is TreeFlow => !isJoint(schedule) && isTreeFlow(schedule);

const stepsOfFlow = new WeakMap<TreeFlow, StepSchedule>();

/** Returns trees as steps of one piece, sums as late as may be. Throws InputError for too many. */
function wholeSteps(flow: TreeFlow): StepSchedule {
  const steps = stepsOfFlow.get(flow) ?? lateSums(stepsOfTrees(flow, 1));
  stepsOfFlow.set(flow, steps);
  return steps;
}

const timesOf = new WeakMap<LoweredSchedule, MoveTimes>();

/** Returns when the transfers of a schedule depart and arrive in the congestion-aware network. */
function simulatedTimes(schedule: Exclude<LoweredSchedule, { readonly forests: unknown }>): MoveTimes {
  const known = timesOf.get(schedule);
  if (known !== undefined) return known;
  const { startPs = new Float64Array(), endPs = new Float64Array() } = isJoint(schedule)
    ? simulateJoint(schedule, { timeline: true })
    : simulateSchedule(stepsOf(schedule), { timeline: true });
  timesOf.set(schedule, { startPs, endPs });
  return { startPs, endPs };
}

/** A program whose runtime takes it, not judged yet. */
interface Draft extends Omit<MadeProgram, "verification"> {
  readonly options: ProgramOptions;
  readonly file: ProgramFile;
  /** As it is judged: at all sizes that its file is for. */
  readonly ranged: Program;
}

/**
 * Returns a program with its file, once it was held against the runtime's limits. Its file says up to which size it is good, where
 * that is not all sizes. Throws InputError where a limit is not met.
 */
function draftOf(program: Program, options: ProgramOptions, onProgress: Making): Draft {
  const { runtime, minBytes = 0 } = options;
  const maxBytes = Math.min(options.maxBytes ?? ALL, program.maxBytes ?? ALL);
  if (minBytes > maxBytes && program.maxBytes === maxBytes)
    throw new InputError(
      optionName("minBytes"),
      `at most ${maxBytes}, as far as 32-bit offsets reach${program.protocol === "LL" ? `; ${optionName("protocol")} Simple takes more` : ""}`,
      minBytes,
    ).as("out-of-range");
  const range = { ...(minBytes === 0 ? {} : { minBytes }), ...(maxBytes === ALL ? {} : { maxBytes }) };
  const isLarge = instructionCount(program) > MANY_INSTRUCTIONS;
  const file = { program, runtime, range };
  const parts = (): Iterable<string> => fileParts(file);
  onProgress({ phase: "limits", done: 0, total: 1 });
  const warnings = limitViolations(program, runtime, isLarge ? null : parts());
  const error = warnings.find(({ severity }) => severity === "error");
  if (error !== undefined) throw beyondLimits(runtime, error);
  return {
    ...{ program, options, file, parts, warnings, maxBytes: maxBytes === ALL ? null : maxBytes },
    ranged: maxBytes === ALL ? program : { ...program, maxBytes },
  };
}

/** Returns a program with its verdict. Throws InputError for one that is refused at the sizes that its file is for, but not by others. */
function concluded(draft: Draft, verification: ProgramVerification, given: GivenSchedule): MadeProgram {
  const { program, options, maxBytes } = draft;
  const wrong = verification.violations[0];
  if (verification.violationCount === 0)
    return { program, parts: draft.parts, verification, maxBytes, warnings: draft.warnings };
  if (wrong?.kind === "too-large") throw tooLarge(program, options, wrong.message);
  // instructions of several chunks may have to travel as one message: they do so up to some size
  const most = program.machine === "msccl" ? greatestWhole(program) : ALL;
  if (wrong?.kind !== "deadlock") throw new InternalError(`a lowered program is wrong: ${wrong?.message}`);
  if (most >= (maxBytes ?? ALL))
    throw new InputError(optionName("to"), "a program that never waits for room", wrong.message);
  if (most < Math.max(options.minBytes ?? 0, callOf(program, given).sizeBytes)) {
    const expected = `at most ${formatSize(most)} for messages of this many chunks`;
    throw new InputError(optionName("sizesBytes"), expected, inWords("more"));
  }
  return judged(program, given, { ...options, maxBytes: most }, unheard);
}

/**
 * Returns a program with its file, once a judge has run it and held it against the runtime's limits. Its file says up to which
 * size it is good, where that is not all sizes. Throws InputError where a limit is not met.
 */
export function judged(
  program: Program,
  given: GivenSchedule,
  options: ProgramOptions,
  onProgress: Making,
): MadeProgram {
  const draft = draftOf(program, options, onProgress);
  onProgress({ phase: "judge", done: 0, total: 1 });
  const verification = verifyProgram(draft.ranged, {
    limit: 1,
    onProgress: (done, total) => onProgress({ phase: "judge", done, total }),
  });
  return concluded(draft, verification, given);
}

/** Up to so many instructions, some 500 MB of text, a file is written before its program is known to be right. */
const MOST_WRITTEN = 4e6;

/** As `judged`, and simulated at the schedule's size and written at the same time, in threads where there are some. */
export async function judgedAndSimulated(
  program: Program,
  given: GivenSchedule,
  options: ProgramOptions,
  beside: Beside,
  onProgress: Making,
): Promise<{ readonly made: MadeProgram; readonly us: number }> {
  const draft = draftOf(program, options, onProgress);
  onProgress({ phase: "judge", done: 0, total: 1 });
  return beside(async (pool) => {
    const shared = pool.share(program);
    const ranged = { ...shared, maxBytes: draft.ranged.maxBytes };
    const writes = pool.threads > 1 && instructionCount(program) <= MOST_WRITTEN;
    // the longest first; where threads are two, the file is written by the one that has judged
    const [{ ps }, verification, text] = await Promise.all([
      pool.work(SIMULATE, { program: ranged, topology: given.topology, options: timedCall(program, given, options) }),
      pool.work(JUDGE, { program: ranged, options: { limit: 1 } }),
      writes ? pool.work(WRITE, { ...draft.file, program: shared }) : null,
    ]);
    const parts = text === null ? draft.parts : () => text;
    return { made: concluded({ ...draft, parts }, verification, given), us: toUs(ps) };
  });
}

const ALL = Number.POSITIVE_INFINITY;

/** Returns the error that says by what a program is too large to be judged, and so to be written, and how many instances are not. */
function tooLarge(program: Program, { instances }: ProgramOptions, why: string): InputError {
  if (instances === undefined || instances === 1)
    return new InputError(optionName("to"), "a program small enough to be judged; fewer chunks may be", why).as(
      "out-of-range",
    );
  const most = Math.max(1, Math.min(instances - 1, Math.floor(instances / judgeable(program))));
  return new InputError(optionName("instances"), `about ${most} at most: ${why}`, instances).as("out-of-range");
}

/** Returns the greatest size at which every instruction's chunks travel as one message. */
function greatestWhole({ chunks, sends, protocol, loopChunks }: Program): number {
  const most = chunks.reduce((found, many, i) => (sends[i] === 1 ? Math.max(found, many) : found), 1);
  return Math.floor(CONNECTIONS[protocol].messageBytes / most) * loopChunks;
}

/**
 * Returns the program of a schedule with its file, after a judge has run it and held it against the runtime's limits.
 * `onProgress` hears of its steps: "lower", "limits" and "judge". Throws InputError where it cannot meet a limit, naming it, and for
 * phases.
 */
export function programOf(schedule: GivenSchedule, options: ProgramOptions, onProgress: Making = unheard): MadeProgram {
  onProgress({ phase: "lower", done: 0, total: 1 });
  return judged(lowered(schedule, options), schedule, options, onProgress);
}

/** A call of a program. */
export interface ProgramCall {
  /** nccl-tests size; of a custom program what the rank with the largest buffer has in it. */
  readonly sizeBytes: number;
  /** [ranks] */
  readonly rankToNpu: ArrayLike<number>;
  /** Bytes per second that a thread block moves; default: as many as its links. */
  readonly localBytesPerSecond?: number;
}

/** Returns the call of a program that moves the data of its schedule. O(transfers). */
export function callOf({ table, loopChunks }: Program, given: GivenSchedule): ProgramCall {
  if (!isJoint(given) && isPhaseSchedule(given))
    return { sizeBytes: given.collective.sizeBytes, rankToNpu: given.collective.groupMembers };
  const schedule = loweredOf(given);
  const rankToNpu = ranksOf(schedule);
  const collectives = (isJoint(schedule) ? schedule.tenants : [schedule]).map(({ collective }) => collective);
  if (table === undefined) return { sizeBytes: collectives[0]?.sizeBytes ?? 0, rankToNpu };
  const all = collectives.reduce(
    (sum, { chunkBytes, chunkCount }) => add(sum, multiply(chunkBytes, rational(chunkCount))),
    rational(0),
  );
  return { sizeBytes: Number(ceil(multiply(all, rational(loopChunks, table.sums.length)))), rankToNpu };
}

/** Returns the call of a program, and what its thread blocks can move. */
export const timedCall = (
  program: Program,
  given: GivenSchedule,
  { blockBytesPerSecond }: Pick<ProgramOptions, "blockBytesPerSecond">,
): ProgramCall => ({
  ...callOf(program, given),
  ...(blockBytesPerSecond === undefined ? {} : { localBytesPerSecond: blockBytesPerSecond }),
});

/** Returns what a program takes on the network of its schedule, at its size or another one, microseconds. */
export function programUs(
  program: Program,
  schedule: GivenSchedule,
  { sizeBytes, ...how }: Pick<ProgramOptions, "blockBytesPerSecond"> & { readonly sizeBytes?: number } = {},
): number {
  const call = timedCall(program, schedule, how);
  return toUs(simulateProgram(program, schedule.topology, sizeBytes === undefined ? call : { ...call, sizeBytes }).ps);
}
