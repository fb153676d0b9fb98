import { InputError, InternalError } from "../../base/errors.ts";
import { optionName } from "../../base/option-names.ts";
import { mscclXmlParts } from "../../export/programs/msccl-xml.ts";
import { mscclppJsonParts } from "../../export/programs/mscclpp-json.ts";
import { kindOf } from "../../kinds/kinds.ts";
import { lowerToMsccl } from "../../lower/msccl/lower.ts";
import { lowerToPlan } from "../../lower/mscclpp/plan.ts";
import { formatSize, toUs } from "../../model/numbers/units.ts";
import { instructionCount, type Program } from "../../model/program/program.ts";
import { CONNECTIONS, RUNTIMES, type RuntimeName } from "../../model/program/runtimes.ts";
import type { Schedule } from "../../model/slots/slot-schedule.ts";
import { type AnySchedule, stepsOf, withoutPhases } from "../../model/steps/schedule.ts";
import { isTreeFlow } from "../../model/trees/tree-flow.ts";
import type { ProgramOptions } from "../../request/from-texts.ts";
import { simulateProgram } from "../../simulate/program/program.ts";
import { simulateSchedule } from "../../simulate/steps/replay.ts";
import { type ProgramVerification, verifyProgram } from "../../verify/program/program.ts";
import type { ProgramViolation } from "../../verify/program/words.ts";
import { mscclLimitViolations } from "../../verify/runtime/msccl-limits.ts";
import { planLimitViolations } from "../../verify/runtime/plan-limits.ts";

/** A program, verified and within the limits of its runtime, and its file. */
export interface MadeProgram {
  readonly program: Program;
  /** Yields the parts of its file, which is made while it is written. */
  readonly parts: () => Iterable<string>;
  readonly verification: ProgramVerification;
  /** What the runtime takes but the user should know. */
  readonly warnings: readonly ProgramViolation[];
}

/** Returns what a runtime says of a program beside what it computes. `text` is the file, where there is one, or its parts. */
export function limitViolations(
  program: Program,
  runtime: RuntimeName,
  text: string | Iterable<string> | null,
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

/** How far the making of a program is, as of a pipeline's other steps. */
type Making = (step: { readonly phase: string; readonly done: number; readonly total: number }) => void;
const unheard: Making = () => {};

/** Returns the program of a schedule, not judged. Throws InputError where it cannot meet a limit of the runtime, and for phases. */
function lowered(given: AnySchedule, options: ProgramOptions): Program {
  const { runtime, minBytes: _, maxBytes: __, throughSwitch = true, placement: ___, order, ...how } = options;
  const schedule = withoutPhases(given, optionName("to"));
  const placement = placementFor(options, schedule.collective.kind);
  if (runtime !== "mscclpp") {
    const times = order === "simulated" && !isTreeFlow(schedule) ? { times: simulatedTimes(schedule) } : {};
    return lowerToMsccl(schedule, { ...how, ...times, runtime, placement });
  }
  if (placement === "both") throw new InputError(optionName("placement"), "in or out for an MSCCL++ plan", placement);
  return lowerToPlan(schedule, { ...how, placement, throughSwitch });
}

const timesOf = new WeakMap<Schedule, { readonly startPs: Float64Array; readonly endPs: Float64Array }>();

/** Returns when the transfers of a schedule depart and arrive in the congestion-aware network. */
function simulatedTimes(schedule: Schedule) {
  const known = timesOf.get(schedule);
  if (known !== undefined) return known;
  const { startPs = new Float64Array(), endPs = new Float64Array() } = simulateSchedule(stepsOf(schedule), {
    timeline: true,
  });
  const times = { startPs, endPs };
  timesOf.set(schedule, times);
  return times;
}

/** Returns a program with its file, once a judge has run it and held it against the runtime's limits. Throws InputError for these. */
function judged(program: Program, schedule: AnySchedule, options: ProgramOptions, onProgress: Making): MadeProgram {
  const { runtime, minBytes, maxBytes } = options;
  const range = { ...(minBytes === undefined ? {} : { minBytes }), ...(maxBytes === undefined ? {} : { maxBytes }) };
  const parts = () =>
    runtime === "mscclpp" ? mscclppJsonParts(program, range) : mscclXmlParts(program, { dialect: runtime, ...range });
  onProgress({ phase: "limits", done: 0, total: 1 });
  const found = limitViolations(program, runtime, parts());
  const error = found.find(({ severity }) => severity === "error");
  if (error !== undefined) {
    throw new InputError(optionName("to"), `a program within the limits of ${RUNTIMES[runtime].title}`, error.message);
  }
  const verification = verifyProgram(maxBytes === undefined ? program : { ...program, maxBytes }, {
    limit: 1,
    onProgress: (done, total) => onProgress({ phase: "judge", done, total }),
  });
  const wrong = verification.violations[0];
  if (verification.violationCount === 0) return { program, parts, verification, warnings: found };
  // instructions of several chunks may have to travel as one message: they do so up to some size
  const most = program.machine === "msccl" ? greatestWhole(program) : Number.POSITIVE_INFINITY;
  if (wrong?.kind !== "deadlock" || !(most < (maxBytes ?? Number.POSITIVE_INFINITY)))
    throw new InternalError(`a lowered program is wrong: ${wrong?.message}`);
  if (most < Math.max(minBytes ?? 0, schedule.collective.sizeBytes))
    throw new InputError(
      optionName("sizesBytes"),
      `at most ${formatSize(most)} for messages of so many chunks`,
      "more",
    );
  return judged(program, schedule, { ...options, maxBytes: most }, onProgress);
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
export function programOf(schedule: AnySchedule, options: ProgramOptions, onProgress: Making = unheard): MadeProgram {
  onProgress({ phase: "lower", done: 0, total: 1 });
  return judged(lowered(schedule, options), schedule, options, onProgress);
}

/** Parts of each tree's data that are tried: few for small sizes, more to fill pipelines. */
const PARTS_TRIED = [6, 1, 16, 3];
const PROTOCOLS = ["Simple", "LL128", "LL"] as const;
const INSTANCES_TRIED = [2, 4, 8];
/** Among more ranks all but the first answers take long. */
export const MOST_RANKS_SEARCHED = 32;

type Choice = Partial<
  Pick<ProgramOptions, "lanes" | "joining" | "passing" | "order" | "parts" | "protocol" | "instances">
>;

/** How trees are cut, and how steps are ordered and put together; what is usual first. */
function shapesOf(schedule: AnySchedule, { parts, joining, passing }: ProgramOptions): Choice[] {
  const joinings = joining === undefined ? (["apart", "under way", "ready"] as const) : [joining];
  const passings = passing === undefined ? [true, false] : [passing];
  const steps = joinings.flatMap((joined) => passings.map((passes) => ({ joining: joined, passing: passes })));
  if (!isTreeFlow(schedule)) return steps.map((step) => ({ ...step, order: "simulated" }));
  if (parts !== undefined) return [{ parts }];
  return [...PARTS_TRIED.map((many) => ({ parts: many })), ...steps.map((step) => ({ ...step, lanes: false }))];
}

/** The usual answer is taken unless another is better by more than this share. */
const WORTH_IT = 0.99;
const LONG = Number.POSITIVE_INFINITY;
/** Transfers that are lowered, and messages and instructions that are simulated, at most, but for the first program. */
const MOST_WORK = 3e6;
/** Programs are compared at no more bytes, and so many for each rank: enough for pipelines to fill. */
const ENOUGH_BYTES = 2 ** 26;
const ENOUGH_BYTES_PER_RANK = 2 ** 23;

/** Programs of more instructions are not simulated: the first that can be made is taken. */
const MOST_INSTRUCTIONS = 5e5;

/** A program as simulated. */
interface Candidate {
  readonly program: Program;
  readonly options: ProgramOptions;
  /** null: too large to be simulated on the way. */
  readonly us: number | null;
}

/**
 * Returns the fastest of a schedule's programs as simulated at the schedule's size, and how it was lowered: question after
 * question, what is best for one is kept for the next. Throws InputError where none fits the runtime.
 */
export function fastestProgram(
  schedule: AnySchedule,
  target: ProgramOptions,
  onProgress: Making = unheard,
): Candidate & { readonly made: MadeProgram } {
  const { topology, collective } = schedule;
  const { sizeBytes } = collective;
  const comparedBytes = Math.min(sizeBytes, Math.max(ENOUGH_BYTES, ENOUGH_BYTES_PER_RANK * collective.groupSize));
  const transfers = kindOf(schedule).parts.many;
  const found: Candidate[] = [];
  let refused: unknown = null;
  let work = 0;
  const tryOne = (options: ProgramOptions, made: () => Program): Program | null => {
    if (work >= MOST_WORK) return null;
    onProgress({ phase: "lower", done: Math.round((100 * work) / MOST_WORK), total: 100 });
    work += transfers;
    try {
      const program = made();
      if (instructionCount(program) > MOST_INSTRUCTIONS) {
        work = MOST_WORK;
        found.push({ program, options, us: null });
        return null;
      }
      const { ps, messages, instructions } = simulateProgram(program, topology, {
        sizeBytes: comparedBytes,
        rankToNpu: collective.groupMembers,
      });
      work += messages + instructions;
      found.push({ program, options, us: toUs(ps) });
      return program;
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      refused ??= error;
      return null;
    }
  };
  const bestOf = (): Candidate | undefined =>
    found.reduce<Candidate | undefined>(
      (best, one) => (best === undefined || (one.us ?? LONG) < (best.us ?? LONG) * WORTH_IT ? one : best),
      undefined,
    );
  const { runtime } = target;
  if (runtime === "mscclpp") tryOne(target, () => lowered(schedule, target));
  else {
    // RCCL has LL128 on some GPUs only
    const protocols = PROTOCOLS.filter((one) => runtime !== "rccl" || one !== "LL128");
    const [usual, ...others] = target.protocol === undefined ? protocols : [target.protocol];
    const tryProtocols = (how: ProgramOptions): void => {
      const options = { ...how, protocol: usual };
      const program = tryOne(options, () => lowered(schedule, options));
      if (program === null) return;
      for (const protocol of others) tryOne({ ...options, protocol }, () => ({ ...program, protocol }));
    };
    for (const shape of shapesOf(schedule, target)) tryProtocols({ ...target, ...shape });
    const more: Choice[] = isTreeFlow(schedule) ? [] : [{ order: "planned" }];
    if (target.instances === undefined) more.push(...INSTANCES_TRIED.map((instances) => ({ instances })));
    for (const answer of more) tryProtocols({ ...(bestOf()?.options ?? target), ...answer });
  }
  for (;;) {
    const best = bestOf();
    if (best === undefined) throw refused;
    try {
      const made = judged(best.program, schedule, best.options, onProgress);
      const isKnown = best.us === null || sizeBytes === comparedBytes;
      return { ...best, made, us: isKnown ? best.us : programUs(made.program, schedule, sizeBytes) };
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      refused = error;
      found.splice(found.indexOf(best), 1);
    }
  }
}

/** Returns what a program takes on the network of its schedule, microseconds. */
export const programUs = (program: Program, { topology, collective }: AnySchedule, sizeBytes: number): number =>
  toUs(simulateProgram(program, topology, { sizeBytes, rankToNpu: collective.groupMembers }).ps);
