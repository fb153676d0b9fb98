import { CancelledError, InputError, InternalError } from "../base/errors.ts";
import type { Engine } from "../engine/types.ts";
import { greaterBound, referencePs } from "../model/bounds/bounds.ts";
import { phasesBound } from "../model/bounds/phases.ts";
import type { PhaseSchedule } from "../model/phases/phase-schedule.ts";
import { phaseTransfers, stepsOfPhases } from "../model/phases/phase-steps.ts";
import type { StepSchedule } from "../model/steps/step-schedule.ts";
import type { Topology } from "../model/topology/topology.ts";
import { perDimensionOf, phasesReport } from "../report/phases-result.ts";
import { type Report, reportOf, transfersBound } from "../report/result.ts";
import { checkOptions, type SynthesizeOptions } from "../request/options.ts";
import { problemOf, refuseTinyChunks } from "../request/problem.ts";
import { simulatePhases } from "../simulate/phases/phases.ts";
import type { Simulation } from "../simulate/simulation.ts";
import { simulateSchedule } from "../simulate/steps/replay.ts";
import type { PhaseMaker, PhaseSynthesis } from "../synthesize/phase-maker.ts";
import { verifyPhases } from "../verify/phases/phases.ts";
import { verifySchedule } from "../verify/steps/schedule.ts";
import type { Violation } from "../verify/violation.ts";
import { limitWithBottleneck } from "./bottleneck.ts";

/** Up to so many transfers phases are written out as steps. */
const MOST_STEPS = 2e6;

export interface PhasesResult {
  readonly schedule: PhaseSchedule | StepSchedule;
  readonly report: Report;
}

/** Throws InputError for options that only schedules of steps or trees have. */
function refuseOtherOptions({ name }: PhaseMaker, options: SynthesizeOptions): void {
  const { trials, switchDegree, k, eulerian, repair, nvls } = options;
  const ofOthers = Object.entries({ trials, "switch-degree": switchDegree, k, eulerian, repair, "no-nvls": nvls });
  const given = ofOthers.find(([, value]) => value !== undefined)?.[0];
  if (given !== undefined)
    throw new InputError(`--${given}`, "an algorithm beside it that knows it, or nothing,", name);
}

/**
 * Returns phases within the dimensions of a network for a collective, with their report: made, judged, replayed dimension by
 * dimension. Up to 2e6 transfers they are written out as steps, which the judges of steps verify and replay: the result is then
 * a schedule of steps. Without a number of chunks, that with which the maker does best. Where it is not `bounded`, the bound is
 * the limit (withTransfersBound). Throws as `synthesize` does.
 */
export async function synthesizePhases(
  engine: Engine,
  topology: Topology,
  options: SynthesizeOptions,
  maker: PhaseMaker,
  bounded = true,
): Promise<PhasesResult> {
  checkOptions(options);
  refuseOtherOptions(maker, options);
  const begin = (phase: string): void => {
    if (options.signal?.aborted) throw new CancelledError();
    options.onProgress?.({ phase, done: 0, total: 1 });
  };
  begin("synthesize");
  const started = performance.now();
  const first = made(topology, options, maker);
  const ms = performance.now() - started;
  const { found, steps, replayed } = withSteps(engine, first, options);
  const { schedule } = found;
  begin("verify");
  refuse(maker, verifyPhases(schedule, { limit: 1 }).violations);
  begin("simulate");
  const simulated = simulatePhases(schedule);
  begin("limit");
  // its witness counts the chunks of what is returned
  const limit = limitWithBottleneck(engine.kernels, schedule.topology, (steps ?? schedule).collective);
  const about = {
    algorithm: maker.name,
    limit,
    reference: referencePs(schedule.topology, schedule.collective),
    verified: true,
    synthesis: {
      ms: Math.round(ms * 1000) / 1000,
      backend: engine.backend,
      threads: 1,
      seed: options.seed ?? 1,
      trials: 1,
      policy: found.policy,
    },
  };
  if (steps === null || replayed === null) {
    begin("bound");
    const bound = greaterBound(limit, phasesBound(schedule));
    return { schedule, report: phasesReport({ ...about, schedule, bound, simulated, notes: found.notes }) };
  }
  begin("verify");
  refuse(maker, verifySchedule(steps, { limit: 1 }).violations);
  begin("simulate");
  if (bounded) begin("bound");
  const bound = bounded ? greaterBound(limit, transfersBound(steps)) : limit;
  const report = reportOf({ ...about, schedule: steps, bound, simulated: { ps: replayed.ps, model: replayed.model } });
  const notes = found.notes.length === 0 ? {} : { notes: found.notes };
  return { schedule: steps, report: { ...report, perDimension: perDimensionOf(schedule, simulated), ...notes } };
}

interface WithSteps {
  readonly found: PhaseSynthesis;
  readonly steps: StepSchedule | null;
  readonly replayed: Simulation | null;
}

/** Returns what was made with its steps, where they are few; what its maker has instead where the steps of that end earlier. */
function withSteps(engine: Engine, found: PhaseSynthesis, options: SynthesizeOptions): WithSteps {
  if (phaseTransfers(found.schedule) > MOST_STEPS) return { found, steps: null, replayed: null };
  const steps = stepsOfPhases(found.schedule);
  const { switching = "cut-through" } = options;
  const own = { found, steps, replayed: simulateSchedule(steps, { switching, replay: engine.kernels.replay }) };
  if (found.instead === undefined) return own;
  const other = withSteps(engine, found.instead, options);
  return other.replayed !== null && other.replayed.ps < own.replayed.ps ? other : own;
}

/** Returns what the maker makes, in the number of chunks that was asked for or in its own. */
function made(given: Topology, options: SynthesizeOptions, maker: PhaseMaker): PhaseSynthesis {
  const { chunks = "auto", policy = null, offload = false } = options;
  const requestOf = (chunks: number) => ({ ...problemOf(given, { ...options, chunks }), policy, offload });
  const request = requestOf(chunks === "auto" ? maker.ownChunks(requestOf(1)) : chunks);
  if (chunks !== "auto") refuseTinyChunks(request.collective);
  return maker.makePhases(request);
}

function refuse({ name }: PhaseMaker, violations: readonly Violation[]): void {
  if (violations.length === 0) return;
  throw new InternalError(`${name} made phases that break rules: ${violations[0]?.message}`);
}
