import { CancelledError, InputError, InternalError } from "../base/errors.ts";
import { openHighs } from "../engine/milp/highs.ts";
import type { Engine } from "../engine/types.ts";
import { type Bound, greaterBound, referencePs } from "../model/bounds/bounds.ts";
import { COLLECTIVE_KINDS } from "../model/collective/collective.ts";
import { toNumber } from "../model/numbers/rational.ts";
import { isPhaseSchedule } from "../model/phases/phase-schedule.ts";
import { NO_ROUTES } from "../model/routes/routes.ts";
import { isSlotSchedule, type Schedule } from "../model/slots/slot-schedule.ts";
import { canBeSlots, estimateOf, leastTransfers, refuseWithoutMemory } from "../model/steps/estimate.ts";
import { inRowOrder } from "../model/steps/row-order.ts";
import { type AnySchedule, makespanOf, transfersOf } from "../model/steps/schedule.ts";
import type { StepSchedule } from "../model/steps/step-schedule.ts";
import type { Topology } from "../model/topology/topology.ts";
import { isTreeFlow } from "../model/trees/tree-flow.ts";
import { type Report, ratio, reportOf, transfersBound, withTransfersBound } from "../report/result.ts";
import { checkOptions, type SynthesizeOptions } from "../request/options.ts";
import {
  blameSize,
  checkSize,
  hasNothingToSend,
  type Problem,
  problemOf,
  refuseTinyChunks,
  tooLong,
} from "../request/problem.ts";
import { refuseSolverOptions, sketchNotes, withSketchSize } from "../request/solver-options.ts";
import { simulate, switchingFor } from "../simulate/simulate.ts";
import { AUTO, algorithmNamed, checkPolicy, isPhaseMaker, isTreeMaker } from "../synthesize/catalog.ts";
import type { SolverFacts } from "../synthesize/solver-facts.ts";
import type { Synthesis, SynthesisContext, SynthesisRequest, Synthesizer } from "../synthesize/synthesizer.ts";
import { verify } from "../verify/verify.ts";
import { greaterLimit } from "./all-to-all.ts";
import { synthesizeBest } from "./auto/auto.ts";
import { refuseInapplicable } from "./auto/candidates.ts";
import { limitWithBottleneck } from "./bottleneck.ts";
import { synthesizePhases } from "./phases.ts";
import { milpRunner } from "./threads/milp-runner.ts";
import { runnerFor } from "./threads/runner.ts";
import { synthesizeTrees } from "./trees.ts";

/** Above so many transfers the simulation is left out unless asked for. */
const MOST_SIMULATED = 1e8;

/** Chunks per NPU that "auto" tries, while there are few transfers, until two numbers in turn were no better. */
const CHUNKS_TRIED = [1, 2, 4, 8, 16, 32];
const MOST_TRIED_TRANSFERS = 5e5;

export interface SynthesizeResult {
  /**
   * Large ones in which everyone gets everything are kept as arrival logs (expandSlots lists their transfers); algorithms that
   * pack trees give tree flows (stepsOfTrees lists their transfers), those that make phases within dimensions give phases where
   * these have too many transfers (stepsOfPhases lists them).
   */
  readonly schedule: AnySchedule;
  readonly report: Report;
}

/** Returns the schedule of a collective that has nothing to send. */
function emptySchedule({ topology, collective }: Problem): StepSchedule {
  const none = new Float64Array(0);
  return {
    topology,
    collective,
    routes: NO_ROUTES,
    chunk: new Uint8Array(0),
    route: new Uint8Array(0),
    startPs: none,
    endPs: none,
    op: new Uint8Array(0),
  };
}

/** Whether one NPU stands for all, so that the simulation is short at any size. */
const isInvariant = (schedule: Schedule): boolean => isSlotSchedule(schedule) && schedule.symmetry !== null;

/** A schedule, not yet judged. */
interface Made {
  readonly problem: Problem;
  readonly found: Synthesis;
  readonly ms: number;
  readonly threads: number;
}

/** Returns what the synthesizer makes of a problem. */
async function make(
  engine: Engine,
  synthesizer: Synthesizer,
  problem: Problem,
  options: SynthesizeOptions,
): Promise<Made> {
  const { collective } = problem;
  const inSlots = synthesizer.makesLogs === true && options.switchDegree !== "ports";
  if (!inSlots || !canBeSlots(problem.topology, collective)) checkSize(collective);
  const cause = collective.chunksPerNpu > 1 ? "--chunks" : "--collective";
  refuseWithoutMemory(estimateOf(problem.topology, collective), engine.freeMemory(), cause);
  if (hasNothingToSend(problem)) {
    return {
      problem,
      found: { schedule: emptySchedule(problem), policy: "nothing to send", trials: 0 },
      ms: 0,
      threads: 1,
    };
  }
  return runOn(engine, problem, options, async (request, context, threads) => {
    const started = performance.now();
    const found = await synthesizer.synthesize(request, context).catch((error) => blameSize(error, options));
    const { schedule } = found;
    const inOrder = isSlotSchedule(schedule) ? schedule : inRowOrder(schedule);
    return { problem, found: { ...found, schedule: inOrder }, ms: performance.now() - started, threads };
  });
}

/** Returns what `use` makes of a problem, with kernels where they suit its size. */
async function runOn<T>(
  engine: Engine,
  problem: Problem,
  options: SynthesizeOptions,
  use: (request: SynthesisRequest, context: SynthesisContext, threads: number) => Promise<T>,
): Promise<T> {
  const { collective } = problem;
  const deliveries = collective.chunkCount * collective.groupSize;
  const { runner, threads, breathe, dispose } = runnerFor(engine, deliveries, options.signal, (done) =>
    options.onProgress?.({ phase: "matching", done, total: 1000 }),
  );
  try {
    const request: SynthesisRequest = {
      ...problem,
      seed: options.seed ?? 1,
      trials: options.trials ?? null,
      policy: options.policy ?? null,
      switchDegree: options.switchDegree ?? null,
      timeLimitMs: options.timeLimitMs ?? null,
      sketch: options.sketch ?? null,
    };
    const context = {
      runner,
      lp: openHighs,
      milp: milpRunner(engine, options.signal),
      breathe,
      ...(options.onProgress === undefined ? {} : { onProgress: options.onProgress }),
    };
    return await use(request, context, threads);
  } finally {
    dispose();
  }
}

/** Returns the schedule with the number of chunks per NPU that the synthesizer finds best for the problem of one. */
async function makeWithOwnChunks(
  engine: Engine,
  synthesizer: Synthesizer,
  first: Problem,
  options: SynthesizeOptions,
): Promise<Made> {
  if (hasNothingToSend(first)) return make(engine, synthesizer, first, options);
  const { chunks, ms } = await runOn(engine, first, options, async (request, context) => {
    const started = performance.now();
    const chunks = (await synthesizer.ownChunks?.(request, context)) ?? 1;
    return { chunks, ms: performance.now() - started };
  });
  const made = await make(engine, synthesizer, problemOf(first.topology, { ...options, chunks }), options);
  return { ...made, ms: made.ms + ms };
}

/** Returns the shortest of the schedules with 1, 2, 4, ... chunks per NPU, the fewest chunks among equals. */
async function makeWithBestChunks(
  engine: Engine,
  synthesizer: Synthesizer,
  topology: Topology,
  options: SynthesizeOptions,
): Promise<Made> {
  if (typeof options.collective !== "string")
    throw new InputError("--chunks", "nothing beside a custom collective", "auto");
  const tried: number[] = [];
  let best: Made | null = null;
  let bestPs = Number.POSITIVE_INFINITY;
  let ms = 0;
  for (let worse = 0; worse < 2 && tried.length < CHUNKS_TRIED.length; ) {
    const chunks = CHUNKS_TRIED[tried.length] as number;
    const problem = problemOf(topology, { ...options, chunks });
    if (best !== null && leastTransfers(problem.collective) > MOST_TRIED_TRANSFERS) break;
    if (best !== null && toNumber(problem.collective.chunkBytes) < 1) break;
    const made = await make(engine, synthesizer, problem, options);
    tried.push(chunks);
    ms += made.ms;
    const ps = makespanOf(made.found.schedule);
    worse = ps < bestPs ? 0 : worse + 1;
    if (ps < bestPs) [best, bestPs] = [made, ps];
  }
  const { problem, found, threads } = best as Made;
  const policy = `${found.policy}, ${problem.collective.chunksPerNpu} of ${tried.join(", ")} chunks per NPU`;
  return { problem, found: { ...found, policy }, ms, threads };
}

/** Returns what a solver did; what meets the bound is proved, whoever found it. */
function provedBy(bound: Bound, schedule: Schedule, solver: SolverFacts): SolverFacts {
  return solver.proved || ratio(bound.ps, makespanOf(schedule)) < 1 ? solver : { ...solver, proved: true };
}

/** Throws InputError for options that only trees have. */
function refuseTreeOptions({ algorithm = "tacos", k, eulerian, repair }: SynthesizeOptions): void {
  const given = k !== undefined ? "k" : eulerian !== undefined ? "eulerian" : repair !== undefined ? "repair" : null;
  if (given !== null)
    throw new InputError(`--${given}`, "an algorithm that makes trees (forestcoll) beside it", algorithm);
}

/**
 * Returns a schedule for a collective on a network, with its report: synthesized, verified by the independent judge,
 * simulated under congestion, and compared with proved bounds. Where it is one of several that are compared it need not be
 * `bounded`: the bound of its transfers can take as long as all the rest, and the limit then stands in its place
 * (`boundedResult` finds it afterwards). Throws InputError (bad request), InfeasibleError (no schedule exists), CancelledError;
 * InternalError should a schedule not pass the verifier.
 */
export async function synthesize(
  engine: Engine,
  topology: Topology,
  asked: SynthesizeOptions,
  bounded = true,
): Promise<SynthesizeResult> {
  const options = withSketchSize(asked);
  checkOptions(options);
  refuseSolverOptions(options.algorithm ?? "tacos", options);
  if (options.algorithm === AUTO) {
    const best = await synthesizeBest(topology, options, (one) => synthesize(engine, topology, one, false));
    return bounded ? boundedResult(best, options.onProgress) : best;
  }
  const synthesizer = algorithmNamed(options.algorithm ?? "tacos", [AUTO]);
  const { collective, chunks = 1 } = options;
  const kind = typeof collective === "string" ? collective : collective.kind;
  // a name that nobody knows is left to problemOf, which says what was meant
  const isKnown = typeof collective !== "string" || COLLECTIVE_KINDS.some((known) => known === kind);
  if (isKnown && !synthesizer.collectives.includes(kind)) {
    throw new InputError(
      "--collective",
      `one that ${synthesizer.name} makes (${synthesizer.collectives.join(", ")})`,
      kind,
    );
  }
  checkPolicy(synthesizer, options.policy);
  refuseInapplicable(synthesizer, topology, options);
  if (options.offload === true && !isPhaseMaker(synthesizer))
    throw new InputError(
      "--offload",
      "an algorithm beside it that makes phases (themis, blueconnect)",
      synthesizer.name,
    );
  if (isTreeMaker(synthesizer) || isPhaseMaker(synthesizer)) {
    const made = isTreeMaker(synthesizer)
      ? synthesizeTrees(engine, topology, options, synthesizer)
      : synthesizePhases(engine, topology, options, synthesizer, bounded);
    return made.catch((error) => blameSize(error, options));
  }
  refuseTreeOptions(options);
  if (options.nvls === false)
    throw new InputError("--no-nvls", "an algorithm that makes trees (forestcoll) beside it", synthesizer.name);
  const first = problemOf(topology, { ...options, chunks: chunks === "auto" ? 1 : chunks });
  refuseTinyChunks(first.collective);
  const begin = (phase: string): void => options.onProgress?.({ phase, done: 0, total: 1 });
  const stepOf =
    (phase: string) =>
    (done: number, total: number): void =>
      options.onProgress?.({ phase, done, total });
  begin("limit");
  const firstLimit = limitWithBottleneck(engine.kernels, first.topology, first.collective);
  if (toNumber(firstLimit.ps) > Number.MAX_SAFE_INTEGER) throw tooLong(first.collective);
  begin("synthesize");
  const ownChunks = synthesizer.ownChunks !== undefined && (chunks === "auto" || options.chunks === undefined);
  const made = ownChunks
    ? await makeWithOwnChunks(engine, synthesizer, first, options)
    : chunks === "auto"
      ? await makeWithBestChunks(engine, synthesizer, topology, options)
      : await make(engine, synthesizer, first, options);
  const { problem, found } = made;
  const { schedule } = found;
  // its witness counts the chunks that were chosen
  const cutLimit =
    problem.collective.chunksPerNpu === first.collective.chunksPerNpu
      ? firstLimit
      : limitWithBottleneck(engine.kernels, problem.topology, problem.collective);
  const limit =
    found.limit === undefined ? cutLimit : greaterLimit(problem.topology, problem.collective, cutLimit, found.limit);
  begin("verify");
  const { violations, violationCount } = verify(schedule, { onProgress: stepOf("verify") });
  if (violationCount > 0) {
    throw new InternalError(
      `${synthesizer.name} made a schedule that breaks ${violationCount} rules: ${violations[0]?.message}`,
    );
  }
  if (options.signal?.aborted) throw new CancelledError();
  begin("simulate");
  const simulation =
    transfersOf(schedule) <= MOST_SIMULATED || options.simulate === true || isInvariant(schedule)
      ? simulate(schedule, {
          switching: options.switching ?? switchingFor(schedule),
          onProgress: stepOf("simulate"),
          replay: engine.kernels.replay,
        })
      : null;
  if (bounded) begin("bound");
  const ofTransfers = bounded ? transfersBound(schedule) : limit;
  // what holds for any algorithm holds for whole transfers
  const bound = [limit, found.bound ?? limit].reduce(greaterBound, ofTransfers);
  const notes = [...(found.notes ?? []), ...sketchNotes(asked)];
  const report = reportOf({
    schedule,
    algorithm: synthesizer.name,
    bound,
    limit,
    reference: referencePs(problem.topology, problem.collective),
    simulated: simulation === null ? null : { ps: simulation.ps, model: simulation.model },
    verified: true,
    ...(found.direct === undefined ? {} : { direct: found.direct }),
    ...(found.solver === undefined ? {} : { solver: provedBy(bound, schedule, found.solver) }),
    ...(notes.length === 0 ? {} : { notes }),
    deterministic: found.deterministic ?? true,
    synthesis: {
      ms: Math.round(made.ms * 1000) / 1000,
      backend: engine.backend,
      threads: made.threads,
      seed: options.seed ?? 1,
      trials: found.trials,
      policy: found.policy,
    },
  });
  return { schedule, report };
}

/** Returns a result that was made without the bound of its transfers, with it; trees and phases have theirs from the start. */
export function boundedResult(
  result: SynthesizeResult,
  onProgress?: SynthesizeOptions["onProgress"],
): SynthesizeResult {
  const { schedule, report } = result;
  if (isTreeFlow(schedule) || isPhaseSchedule(schedule)) return result;
  onProgress?.({ phase: "bound", done: 0, total: 1 });
  return { schedule, report: withTransfersBound(report, schedule) };
}
