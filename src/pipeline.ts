import type { MatchProblem, PlaceProblem, RelayProblem, TenNetwork } from "./engine/kernels/kernels.ts";
import { cancelOn } from "./engine/pool/cancel.ts";
import type { Engine } from "./engine/types.ts";
import { CancelledError, InputError, InternalError } from "./errors.ts";
import { boundOf, limitOf, referencePs } from "./model/bounds.ts";
import { rational } from "./model/rational.ts";
import { type RouteSet, routeCount, routeTimes } from "./model/routes.ts";
import type { SwitchDegree } from "./model/routing.ts";
import { type StepSchedule, transferCount } from "./model/step-schedule.ts";
import { isNpu, type Topology } from "./model/topology.ts";
import { type CollectiveOptions, type Problem, problemOf } from "./problem.ts";
import { type Report, reportOf } from "./result.ts";
import { simulateSchedule } from "./simulate/replay.ts";
import { synthesizerNamed } from "./synthesize/catalog.ts";
import type { KernelRunner, SynthesisContext } from "./synthesize/synthesizer.ts";
import { verifySchedule } from "./verify/schedule.ts";

/** Above so many transfers the simulation is left out unless asked for. */
const MOST_SIMULATED = 1e8;
/** From so many deliveries on, kernels run on the pool, so that the calling thread stays free to cancel. */
const POOL_FROM = 200_000;
/** How long trials on the calling thread may keep signals and timers waiting, besides the one that runs. */
const BREATHE_MS = 20;

export interface SynthesizeOptions extends CollectiveOptions {
  /** One of `banyan list algorithms`; "tacos" without it. */
  readonly algorithm?: string;
  /** 0 .. 2^32 - 1; 1 without it. */
  readonly seed?: number;
  /** Most trials per phase; without it min(64, 1e7 / transfers). */
  readonly trials?: number;
  readonly policy?: string;
  /** Degree of unwinding of switches, or "ports". */
  readonly switchDegree?: SwitchDegree;
  /** Simulate also above 1e8 transfers. */
  readonly simulate?: boolean;
  readonly switching?: "cut-through" | "store-and-forward";
  readonly signal?: AbortSignal;
  /** Told of trials done, and of the steps "limit", "synthesize", "verify", "simulate" and "bound" as they begin. */
  readonly onProgress?: SynthesisContext["onProgress"];
}

export interface SynthesizeResult {
  readonly schedule: StepSchedule;
  readonly report: Report;
}

/** Returns where the kernels of a problem run, sharing what all trials read with the pool's threads. */
function runnerFor(engine: Engine, problem: Problem, signal: AbortSignal | undefined) {
  const { flag, dispose } = cancelOn(signal);
  const deliveries = problem.collective.chunkCount * problem.collective.groupSize;
  const onPool = deliveries >= POOL_FROM;
  const shared = new WeakMap<object, object>();
  const share = <T extends object>(value: T): T => {
    let copy = shared.get(value) as T | undefined;
    if (copy === undefined) {
      copy = engine.pool().share(value);
      shared.set(value, copy);
    }
    return copy;
  };
  /** Between trials on the calling thread, lets signals and timers in, now and then: it takes a millisecond. */
  let breathed = Number.NEGATIVE_INFINITY;
  const breathe = async (): Promise<void> => {
    if (performance.now() - breathed > BREATHE_MS) {
      await new Promise((resolve) => setTimeout(resolve, 0));
      breathed = performance.now();
    }
    if (signal?.aborted) throw new CancelledError();
  };
  const runner: KernelRunner = {
    width: onPool ? Math.max(1, engine.pool().threads) : 1,
    async match(task: MatchProblem) {
      if (!onPool) {
        await breathe();
        return engine.kernels.match(task, flag);
      }
      const { policy, chunkCount } = task;
      const columns = {
        network: share<TenNetwork>(task.network),
        heldOffset: share(task.heldOffset),
        heldChunk: share(task.heldChunk),
        wanted: task.wanted === null ? null : share(task.wanted),
      };
      return engine.pool().run({ kind: "match", problem: { ...columns, policy, chunkCount } }, flag);
    },
    async relay(task: RelayProblem) {
      if (!onPool) {
        await breathe();
        return engine.kernels.relay(task, flag);
      }
      const { seed, maxTransfers } = task;
      const columns = {
        network: share<TenNetwork>(task.network),
        chunkSource: share(task.chunkSource),
        chunkTarget: share(task.chunkTarget),
        distancePs: share(task.distancePs),
        order: share(task.order),
      };
      return engine.pool().run({ kind: "relay", problem: { ...columns, seed, maxTransfers } }, flag);
    },
    async place(task: PlaceProblem) {
      if (!onPool) {
        await breathe();
        return engine.kernels.place(task, flag);
      }
      const columns = {
        network: share<TenNetwork>(task.network),
        route: share(task.route),
        successorOffset: share(task.successorOffset),
        successor: share(task.successor),
      };
      return engine.pool().run({ kind: "place", problem: { ...columns, key: task.key } }, flag);
    },
  };
  return { runner, dispose };
}

const NO_ROUTES: RouteSet = {
  source: new Int32Array(0),
  target: new Int32Array(0),
  linkOffset: new Int32Array(1),
  links: new Int32Array(0),
  shareNum: new Float64Array(0),
  shareDen: new Float64Array(0),
};

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

/**
 * Returns how messages travel where the caller does not say: cut-through, unless some pass NPUs on their way (as baselines
 * do that ignore the network): an NPU stores a message before it forwards it.
 */
export function switchingFor({ routes, topology }: StepSchedule): "cut-through" | "store-and-forward" {
  for (let route = 0; route < routeCount(routes); route++) {
    for (let i = routes.linkOffset[route] + 1; i < routes.linkOffset[route + 1]; i++) {
      if (isNpu(topology, topology.linkSource[routes.links[i]])) return "store-and-forward";
    }
  }
  return "cut-through";
}

function checkOptions(options: SynthesizeOptions): void {
  const { seed = 1, trials, switchDegree } = options;
  if (!Number.isSafeInteger(seed) || seed < 0 || seed >= 2 ** 32)
    throw new InputError("--seed", "an integer in 0 .. 2^32 - 1", seed);
  if (trials !== undefined && (!Number.isSafeInteger(trials) || trials < 1 || trials > 1e6)) {
    throw new InputError("--trials", "an integer in 1 .. 1e6", trials);
  }
  if (
    switchDegree !== undefined &&
    switchDegree !== "ports" &&
    (!Number.isSafeInteger(switchDegree) || switchDegree < 1)
  ) {
    throw new InputError("--switch-degree", 'a positive integer or "ports"', switchDegree);
  }
}

/**
 * Returns a schedule for a collective on a network, with its report: synthesized, verified by the independent judge,
 * simulated under congestion, and compared with proved bounds. Throws InputError (bad request), InfeasibleError (no schedule
 * exists), CancelledError; InternalError should a schedule not pass the verifier.
 */
export async function synthesize(
  engine: Engine,
  topology: Topology,
  options: SynthesizeOptions,
): Promise<SynthesizeResult> {
  checkOptions(options);
  const synthesizer = synthesizerNamed(options.algorithm ?? "tacos");
  const problem = problemOf(topology, options);
  const { collective } = problem;
  if (!synthesizer.collectives.includes(collective.kind)) {
    throw new InputError(
      "--collective",
      `one that ${synthesizer.name} makes (${synthesizer.collectives.join(", ")})`,
      collective.kind,
    );
  }
  const seed = options.seed ?? 1;
  const begin = (phase: string): void => options.onProgress?.({ phase, done: 0, total: 1 });
  begin("limit");
  const limit = limitOf(problem.topology, collective);
  begin("synthesize");
  const started = performance.now();
  const nothing = collective.chunkCount === 0 || (collective.kind !== "custom" && collective.groupSize === 1);
  const { runner, dispose } = runnerFor(engine, problem, options.signal);
  try {
    const found = nothing
      ? { schedule: emptySchedule(problem), policy: "nothing to send", trials: 0 }
      : await synthesizer.synthesize(
          {
            ...problem,
            seed,
            trials: options.trials ?? null,
            policy: options.policy ?? null,
            switchDegree: options.switchDegree ?? null,
          },
          { runner, ...(options.onProgress === undefined ? {} : { onProgress: options.onProgress }) },
        );
    const ms = performance.now() - started;
    const { schedule } = found;
    begin("verify");
    const { violations, violationCount } = verifySchedule(schedule);
    if (violationCount > 0) {
      throw new InternalError(
        `${synthesizer.name} made a schedule that breaks ${violationCount} rules: ${violations[0]?.message}`,
      );
    }
    if (options.signal?.aborted) throw new CancelledError();
    begin("simulate");
    const simulation =
      transferCount(schedule) <= MOST_SIMULATED || options.simulate === true
        ? simulateSchedule(schedule, { switching: options.switching ?? switchingFor(schedule) })
        : null;
    begin("bound");
    const times = routeTimes(problem.topology, schedule.routes, collective.chunkBytes);
    const bound = nothing
      ? { ps: rational(0), witness: { kind: "nothing" as const } }
      : boundOf(problem.topology, collective, schedule.routes, times);
    const report = reportOf({
      schedule,
      algorithm: synthesizer.name,
      bound,
      limit,
      reference: referencePs(problem.topology, collective),
      simulated: simulation === null ? null : { ps: simulation.ps, model: simulation.model },
      verified: true,
      synthesis: {
        ms: Math.round(ms * 1000) / 1000,
        backend: engine.backend,
        threads: runner.width,
        seed,
        trials: found.trials,
        policy: found.policy,
      },
    });
    return { schedule, report };
  } finally {
    dispose();
  }
}
