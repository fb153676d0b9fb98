import { InputError } from "../../base/errors.ts";
import { optionName } from "../../base/option-names.ts";
import { openHighs } from "../../engine/milp/highs.ts";
import type { Engine } from "../../engine/types.ts";
import type { Simulated } from "../../kinds/kind.ts";
import { kindOf } from "../../kinds/kinds.ts";
import { toNumber } from "../../model/numbers/rational.ts";
import { isPeriodSchedule } from "../../model/periods/period-schedule.ts";
import { NO_ROUTES } from "../../model/routes/routes.ts";
import { isSlotSchedule } from "../../model/slots/slot-schedule.ts";
import {
  CHUNKS_TRIED,
  canBeSlots,
  estimateOf,
  leastTransfers,
  MOST_TRIED_TRANSFERS,
  refuseWithoutMemory,
} from "../../model/steps/estimate.ts";
import { inRowOrder, type StepSchedule } from "../../model/steps/step-schedule.ts";
import type { Topology } from "../../model/topology/topology.ts";
import { sketchNotes } from "../../request/maker-options.ts";
import type { SynthesizeOptions } from "../../request/options.ts";
import {
  checkSize,
  hasNothingToSend,
  type Problem,
  problemOf,
  refuseTinyChunks,
  tooLong,
} from "../../request/problem.ts";
import type {
  MadeSteps,
  Synthesis,
  SynthesisContext,
  SynthesisRequest,
  Synthesizer,
} from "../../synthesize/synthesizer.ts";
import { greaterLimit } from "../all-to-all.ts";
import { limitWithBottleneck } from "../bottleneck.ts";
import type { Made } from "../report-on.ts";
import { milpRunner } from "../threads/milp-runner.ts";
import { runnerFor } from "../threads/runner.ts";

/**
 * Returns transfers, or arrival logs, for a collective: with the chunks per NPU that were asked for, those with which the maker
 * does best, or those whose schedule is shortest. `asked`: the request before its sketch said something. Throws as `synthesize`
 * does.
 */
export async function makeSteps(
  engine: Engine,
  topology: Topology,
  options: SynthesizeOptions,
  maker: Synthesizer<MadeSteps>,
  asked: SynthesizeOptions,
): Promise<Made<MadeSteps>> {
  const { chunks } = options;
  const first = problemOf(topology, { ...options, chunks: chunks === "auto" ? 1 : (chunks ?? 1) });
  refuseTinyChunks(first.collective);
  const begin = (phase: string): void => options.onProgress?.({ phase, done: 0, total: 1 });
  begin("limit");
  const firstLimit = limitWithBottleneck(engine.kernels, first.topology, first.collective);
  if (toNumber(firstLimit.ps) > Number.MAX_SAFE_INTEGER) throw tooLong(first.collective);
  begin("synthesize");
  const own = typeof chunks === "number" ? null : await ownChunksOf(engine, maker, first, options);
  const { problem, found, ms, threads, simulated } =
    own !== null
      ? await makeWithOwnChunks(engine, maker, first, options, own)
      : chunks === "auto"
        ? await makeWithBestChunks(engine, maker, topology, options)
        : await make(engine, maker, first, options);
  // its witness counts the chunks that were chosen
  const cutLimit =
    problem.collective.chunksPerNpu === first.collective.chunksPerNpu
      ? firstLimit
      : limitWithBottleneck(engine.kernels, problem.topology, problem.collective);
  const notes = [...(found.notes ?? []), ...sketchNotes(asked)];
  return {
    schedule: found.schedule,
    limit:
      found.limit === undefined ? cutLimit : greaterLimit(problem.topology, problem.collective, cutLimit, found.limit),
    ...(found.bound === undefined ? {} : { bound: found.bound }),
    ...(simulated === undefined ? {} : { simulated }),
    making: {
      algorithm: maker.name,
      ...(found.direct === undefined ? {} : { direct: found.direct }),
      ...(found.solver === undefined ? {} : { solver: found.solver }),
      ...(notes.length === 0 ? {} : { notes }),
      deterministic: found.deterministic ?? true,
      synthesis: {
        ms: Math.round(ms * 1000) / 1000,
        backend: engine.backend,
        threads,
        seed: options.seed ?? 1,
        trials: found.trials,
        policy: found.policy,
        ...(own !== null || chunks === "auto" ? { choseChunks: true as const } : {}),
      },
    },
  };
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

/** What a maker made of a problem. */
interface Found {
  readonly problem: Problem;
  readonly found: Synthesis<MadeSteps>;
  readonly ms: number;
  readonly threads: number;
  /** Where it was simulated to choose it. */
  readonly simulated?: Simulated;
}

const OLDEST = "oldest";

/** Throws InputError for a problem whose schedule cannot be held. */
function refuseTooLarge(
  engine: Engine,
  synthesizer: Synthesizer<MadeSteps>,
  { topology, collective }: Problem,
  { switchDegree, policy = OLDEST }: SynthesizeOptions,
): void {
  const inSlots = synthesizer.makesLogs === true && switchDegree !== "ports";
  const own = synthesizer.estimate?.(topology, collective) ?? null;
  if (own === null && (!inSlots || !canBeSlots(topology, collective))) checkSize(collective);
  const cause = collective.chunksPerNpu > 1 ? optionName("chunks") : optionName("collective");
  // only the oldest choice is made for one NPU of each orbit
  refuseWithoutMemory(own ?? estimateOf(topology, collective, policy === OLDEST), engine.freeMemory(), cause);
}

/** Returns what the synthesizer makes of a problem. */
async function make(
  engine: Engine,
  synthesizer: Synthesizer<MadeSteps>,
  problem: Problem,
  options: SynthesizeOptions,
): Promise<Found> {
  refuseTooLarge(engine, synthesizer, problem, options);
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
    const found = await synthesizer.synthesize(request, context);
    const { schedule } = found;
    const inOrder = isPeriodSchedule(schedule) || isSlotSchedule(schedule) ? schedule : inRowOrder(schedule);
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
      own: options,
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

/** A number of chunks per NPU, and how long a maker looked for it. */
interface OwnChunks {
  readonly chunks: number;
  readonly ms: number;
}

/** Returns the number of chunks per NPU that the synthesizer finds best for the problem of one, or null where it has none. */
async function ownChunksOf(
  engine: Engine,
  synthesizer: Synthesizer<MadeSteps>,
  first: Problem,
  options: SynthesizeOptions,
): Promise<OwnChunks | null> {
  const choose = synthesizer.ownChunks ?? (options.chunks === "auto" ? synthesizer.autoChunks : undefined);
  if (choose === undefined) return null;
  if (hasNothingToSend(first)) return { chunks: 1, ms: 0 };
  refuseTooLarge(engine, synthesizer, first, options);
  return runOn(engine, first, options, async (request, context) => {
    const started = performance.now();
    const chunks = await choose(request, context);
    return chunks === null ? null : { chunks, ms: performance.now() - started };
  });
}

/** Returns the schedule with so many chunks per NPU. */
async function makeWithOwnChunks(
  engine: Engine,
  synthesizer: Synthesizer<MadeSteps>,
  first: Problem,
  options: SynthesizeOptions,
  { chunks, ms }: OwnChunks,
): Promise<Found> {
  const made = await make(engine, synthesizer, problemOf(first.topology, { ...options, chunks }), options);
  return { ...made, ms: made.ms + ms };
}

/** Returns the fastest, as simulated, of the schedules with 1, 2, 4, ... chunks per NPU, the fewest chunks among equals. */
async function makeWithBestChunks(
  engine: Engine,
  synthesizer: Synthesizer<MadeSteps>,
  topology: Topology,
  options: SynthesizeOptions,
): Promise<Found> {
  if (typeof options.collective !== "string")
    throw new InputError(optionName("chunks"), "nothing beside a custom collective", "auto").as("not-together");
  const tried: number[] = [];
  let best: Found | null = null;
  let bestPs = Number.POSITIVE_INFINITY;
  let ms = 0;
  for (let worse = 0; worse < 2 && tried.length < CHUNKS_TRIED.length; ) {
    const chunks = CHUNKS_TRIED[tried.length] as number;
    const problem = problemOf(topology, { ...options, chunks });
    const isLarge = leastTransfers(problem.collective) > MOST_TRIED_TRANSFERS;
    if (best !== null && (isLarge || toNumber(problem.collective.chunkBytes) < 1)) break;
    const made = await make(engine, synthesizer, problem, options);
    tried.push(chunks);
    ms += made.ms;
    if (isLarge) {
      best = made;
      break;
    }
    const how = { switching: options.switching, replay: engine.kernels.replay };
    const simulated = kindOf(made.found.schedule).simulate(how) as Simulated;
    worse = simulated.ps < bestPs ? 0 : worse + 1;
    if (simulated.ps < bestPs) [best, bestPs] = [{ ...made, simulated }, simulated.ps];
  }
  const { problem, found, threads, simulated } = best as Found;
  const policy = `${found.policy}, ${problem.collective.chunksPerNpu} of ${tried.join(", ")} chunks per NPU`;
  return { problem, found: { ...found, policy }, ms, threads, ...(simulated === undefined ? {} : { simulated }) };
}
