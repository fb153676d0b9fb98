import { InputError, InternalError } from "../../base/errors.ts";
import { optionName } from "../../base/option-names.ts";
import { refuseStopped } from "../../base/stopping.ts";
import type { Engine } from "../../engine/types.ts";
import type { PhaseSchedule } from "../../model/phases/phase-schedule.ts";
import { phaseTransfers, stepsOfPhases } from "../../model/phases/phase-steps.ts";
import type { StepSchedule } from "../../model/steps/step-schedule.ts";
import { linkCount, type Topology } from "../../model/topology/topology.ts";
import { perDimensionOf } from "../../report/phases-result.ts";
import type { Report } from "../../report/result.ts";
import type { SynthesizeOptions } from "../../request/options.ts";
import { problemOf, refuseTinyChunks } from "../../request/problem.ts";
import { simulatePhases } from "../../simulate/phases/phases.ts";
import type { Simulation } from "../../simulate/simulation.ts";
import { simulateSchedule } from "../../simulate/steps/replay.ts";
import type { PhaseMaker, PhaseSynthesis } from "../../synthesize/phase-maker.ts";
import { verifyPhases } from "../../verify/phases/phases.ts";
import { limitWithBottleneck } from "../bottleneck.ts";
import type { Made } from "../report-on.ts";

/** Up to this many transfers phases are written out as steps. */
const MOST_STEPS = 2e6;

/** Phases, or their steps with what the phases say beside them. */
export interface MadePhases extends Made<PhaseSchedule | StepSchedule> {
  /** What stands last in the report of steps that are phases. */
  readonly ofPhases?: Pick<Report, "perDimension" | "notes">;
}

/**
 * Returns phases within the dimensions of a network for a collective, judged. Up to 2e6 transfers they are written out as steps:
 * the result is then a schedule of steps. Without a number of chunks, that with which the maker does best. Throws as `synthesize`
 * does.
 */
export async function makePhases(
  engine: Engine,
  topology: Topology,
  options: SynthesizeOptions,
  maker: PhaseMaker,
): Promise<MadePhases> {
  refuseStopped(options.signal);
  options.onProgress?.({ phase: "synthesize", done: 0, total: 1 });
  const started = performance.now();
  const { first, network } = made(topology, options, maker);
  const ms = performance.now() - started;
  const { found, steps, replayed } = withSteps(engine, network, first, options);
  const { schedule } = found;
  const { violations } = verifyPhases(schedule, { limit: 1 });
  if (violations.length > 0)
    throw new InternalError(`${maker.name} made phases that break rules: ${violations[0]?.message}`);
  const making = {
    algorithm: maker.name,
    synthesis: {
      ms: Math.round(ms * 1000) / 1000,
      backend: engine.backend,
      threads: 1,
      seed: options.seed ?? 1,
      trials: 1,
      policy: found.policy,
    },
  };
  options.onProgress?.({ phase: "limit", done: 0, total: 1 });
  // its witness counts the chunks of what is returned
  const limit = limitWithBottleneck(engine.kernels, network, (steps ?? schedule).collective);
  if (steps === null || replayed === null) return { schedule, limit, making: { ...making, notes: found.notes } };
  const perDimension = perDimensionOf(schedule, simulatePhases(schedule));
  const told = [...found.notes, ...detourNotes(schedule, steps)];
  const notes = told.length === 0 ? {} : { notes: told };
  return { schedule: steps, limit, simulated: replayed, making, ofPhases: { perDimension, ...notes } };
}

interface WithSteps {
  readonly found: PhaseSynthesis;
  readonly steps: StepSchedule | null;
  readonly replayed: Simulation | null;
}

/**
 * Returns what was made with its steps, where they are few; what its maker has instead where the steps of that end earlier. Throws
 * InputError for many on a network that is not as it was designed, for phases have no detours.
 */
function withSteps(engine: Engine, network: Topology, found: PhaseSynthesis, options: SynthesizeOptions): WithSteps {
  const transfers = phaseTransfers(found.schedule);
  if (transfers > MOST_STEPS) {
    if (found.schedule.topology === network) return { found, steps: null, replayed: null };
    const most = `so few that phases around what failed have at most ${MOST_STEPS.toExponential()} transfers (they have ${transfers})`;
    throw new InputError(optionName("chunks"), most, found.schedule.collective.chunksPerNpu).as("out-of-range");
  }
  const steps = stepsOfPhases(found.schedule, network);
  const { switching = "cut-through" } = options;
  const own = { found, steps, replayed: simulateSchedule(steps, { switching, replay: engine.kernels.replay }) };
  if (found.instead === undefined) return own;
  const other = withSteps(engine, network, found.instead, options);
  return other.replayed !== null && other.replayed.ps < own.replayed.ps ? other : own;
}

/** Says what phases were planned on where that is not the network. */
function detourNotes({ topology }: PhaseSchedule, { topology: network }: StepSchedule): string[] {
  if (topology === network) return [];
  const failed = linkCount(topology) - linkCount(network);
  if (failed === 0) return ["planned for links at the speed that most of their dimension have"];
  return [`planned for the network before ${failed} of its links failed: what they would carry takes detours`];
}

/** Returns what the maker makes, in the number of chunks that was asked for or in its own, and the network it is for. */
function made(
  given: Topology,
  options: SynthesizeOptions,
  maker: PhaseMaker,
): { readonly first: PhaseSynthesis; readonly network: Topology } {
  const { chunks = "auto", policy = null, offload = false } = options;
  const requestOf = (chunks: number) => ({
    ...problemOf(given, { ...options, chunks }),
    policy,
    offload,
    own: options,
  });
  const request = requestOf(chunks === "auto" ? maker.ownChunks(requestOf(1)) : chunks);
  if (chunks !== "auto") refuseTinyChunks(request.collective);
  return { first: maker.makePhases(request), network: request.topology };
}
