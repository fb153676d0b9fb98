import { CancelledError, InputError, InternalError } from "../base/errors.ts";
import type { Engine } from "../engine/types.ts";
import { greaterBound } from "../model/bounds/bounds.ts";
import { jointBoundOf, jointLimitOf } from "../model/bounds/joint.ts";
import type { Collective } from "../model/collective/collective.ts";
import { MOST_COLLECTIVES } from "../model/collective/repeated-collectives.ts";
import { type JointSchedule, jointTransferCount, type Tenant } from "../model/joint/joint-schedule.ts";
import { routesOf } from "../model/routes/routing.ts";
import { leastTransfers, refuseWithoutMemory, stepsEstimate } from "../model/steps/estimate.ts";
import type { Topology } from "../model/topology/topology.ts";
import { type JointReport, jointReportOf } from "../report/joint-result.ts";
import { checkOptions, type SynthesizeOptions } from "../request/options.ts";
import { type CollectiveOptions, checkSize, type PlaceOf, problemOf } from "../request/problem.ts";
import { switchingFor } from "../simulate/simulate.ts";
import { simulateJoint } from "../simulate/steps/replay.ts";
import { type JointIlpSynthesis, solveTogether } from "../synthesize/ilp/together.ts";
import { type JointSynthesis, synthesizeJoint as synthesizeTogether } from "../synthesize/joint/joint.ts";
import { verifyJoint } from "../verify/joint.ts";
import { milpRunner } from "./threads/milp-runner.ts";
import { runnerFor } from "./threads/runner.ts";

const MOST_SIMULATED = 1e8;

export interface JointOptions extends Omit<SynthesizeOptions, keyof CollectiveOptions> {
  readonly collectives: readonly Omit<CollectiveOptions, "outsiders">[];
  /** Returns how an error names an option of collective i: "collectives[1].root" without it. */
  readonly placeOf?: (i: number) => PlaceOf;
}

export interface JointResult {
  readonly schedule: JointSchedule;
  readonly report: JointReport;
}

const hasWork = ({ kind, chunkCount, groupSize }: Collective): boolean =>
  chunkCount > 0 && (kind === "custom" || groupSize > 1);

const idle = (collective: Collective): Tenant => ({
  collective,
  chunk: new Uint8Array(0),
  route: new Uint8Array(0),
  startPs: new Float64Array(0),
  endPs: new Float64Array(0),
  op: new Uint8Array(0),
});

/**
 * Returns a schedule of several collectives at once on one network, with its report: synthesized together, each verified
 * and the links over all of them, simulated together, and compared with bounds proved for all together. NPUs outside a
 * collective's groups relay. Throws as `synthesize` does.
 */
export async function synthesizeJoint(engine: Engine, topology: Topology, options: JointOptions): Promise<JointResult> {
  checkOptions(options);
  const { signal, onProgress } = options;
  const placeOf = options.placeOf ?? ((i) => (option) => `collectives[${i}].${option}`);
  if (options.collectives.length === 0) throw new InputError("collectives", "at least one collective", []);
  if (options.collectives.length > MOST_COLLECTIVES)
    throw new InputError("collectives", `at most ${MOST_COLLECTIVES} collectives`, options.collectives.length);
  const { algorithm = "tacos", timeLimitMs } = options;
  if (algorithm !== "tacos" && algorithm !== "tacos-ilp")
    throw new InputError("--algorithm", "tacos, tacos-ilp or nothing for several collectives at once", algorithm);
  if (timeLimitMs !== undefined && algorithm === "tacos")
    throw new InputError("--time-limit", "--algorithm tacos-ilp beside it for several collectives at once", algorithm);
  if (options.sketch !== undefined)
    throw new InputError("--sketch", "nothing beside several collectives at once", options.sketch.name);
  let free = engine.freeMemory();
  const checked = (one: (typeof options.collectives)[number], i: number) => {
    const { collective } = problemOf(topology, one, placeOf(i));
    checkSize(collective, placeOf(i));
    return { collective, estimate: stepsEstimate(topology, collective, leastTransfers(collective)) };
  };
  const known = new Map<string, ReturnType<typeof checked>>();
  const collectives = options.collectives.map((one, i) => {
    const asked = typeof one.collective === "string" ? JSON.stringify(one) : `${i}`;
    const { collective, estimate } = known.get(asked) ?? checked(one, i);
    known.set(asked, { collective, estimate });
    refuseWithoutMemory(estimate, free, placeOf(i)("collective"));
    if (free !== null) free -= estimate.memoryBytes;
    return collective;
  });
  const seed = options.seed ?? 1;
  const begin = (phase: string): void => onProgress?.({ phase, done: 0, total: 1 });
  begin("limit");
  const limit = jointLimitOf(topology, collectives);
  begin("synthesize");
  const started = performance.now();
  const busy = collectives.filter(hasWork);
  const deliveries = collectives.reduce((most, { chunkCount, groupSize }) => Math.max(most, chunkCount * groupSize), 0);
  const { runner, dispose } = runnerFor(engine, deliveries, signal, (done) =>
    onProgress?.({ phase: "matching", done, total: 1000 }),
  );
  const breathe = async (): Promise<void> => {
    await new Promise((resolve) => setTimeout(resolve, 0));
    if (signal?.aborted) throw new CancelledError();
  };
  try {
    const together = algorithm === "tacos" ? synthesizeTogether : solveTogether;
    const found: JointSynthesis & Partial<JointIlpSynthesis> =
      busy.length === 0
        ? { schedule: { topology, routes: routesOf(topology, 1), tenants: [] }, policy: "nothing to send", trials: 0 }
        : await together(
            {
              topology,
              collectives: busy,
              seed,
              trials: options.trials ?? null,
              policy: options.policy ?? null,
              switchDegree: options.switchDegree ?? null,
              timeLimitMs: timeLimitMs ?? null,
            },
            { runner, milp: milpRunner(engine, signal), breathe, ...(onProgress === undefined ? {} : { onProgress }) },
          );
    const ms = performance.now() - started;
    let next = 0;
    const tenants = collectives.map((one) => (hasWork(one) ? (found.schedule.tenants[next++] as Tenant) : idle(one)));
    const schedule: JointSchedule = { ...found.schedule, tenants };
    begin("verify");
    const { violations, violationCount } = verifyJoint(schedule);
    if (violationCount > 0) {
      throw new InternalError(`a joint schedule breaks ${violationCount} rules: ${violations[0]?.message}`);
    }
    if (signal?.aborted) throw new CancelledError();
    begin("simulate");
    const simulated =
      jointTransferCount(schedule) <= MOST_SIMULATED || options.simulate === true
        ? simulateJoint(schedule, {
            switching: options.switching ?? switchingFor(schedule),
            replay: engine.kernels.replay,
          })
        : null;
    begin("bound");
    const ofTransfers = jointBoundOf(topology, collectives, schedule.routes);
    const report = jointReportOf({
      schedule,
      algorithm,
      bound: found.bound === undefined ? ofTransfers : greaterBound(ofTransfers, found.bound),
      limit,
      simulated,
      verified: true,
      ...(found.solver === undefined ? {} : { solver: found.solver }),
      notes: found.notes,
      deterministic: found.deterministic,
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
