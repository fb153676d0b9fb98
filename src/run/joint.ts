import { InputError } from "../base/errors.ts";
import { optionName } from "../base/option-names.ts";
import { turn } from "../base/stopping.ts";
import type { Engine } from "../engine/types.ts";
import { jointKind } from "../kinds/joint.ts";
import { jointLimitOf } from "../model/bounds/joint.ts";
import { type Collective, MOST_COLLECTIVES } from "../model/collective/collective.ts";
import type { JointSchedule, Tenant } from "../model/joint/joint-schedule.ts";
import { routesOf } from "../model/routes/routing.ts";
import { leastTransfers, refuseWithoutMemory, stepsEstimate } from "../model/steps/estimate.ts";
import type { Topology } from "../model/topology/topology.ts";
import type { JointReport } from "../report/joint-result.ts";
import { refuseBesideSeveral } from "../request/maker-options.ts";
import { checkOptions, type SynthesizeOptions } from "../request/options.ts";
import { type CollectiveOptions, checkSize, type PlaceOf, problemOf } from "../request/problem.ts";
import { TOGETHER, takersOf, USUAL_ALGORITHM } from "../synthesize/catalog.ts";
import { reportOnMade } from "./report-on.ts";
import { milpRunner } from "./threads/milp-runner.ts";
import { runnerFor } from "./threads/runner.ts";

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

/** Returns what makes several collectives at once. Throws InputError for another algorithm, and for options that it does not take. */
function togetherBy(algorithm: string, options: JointOptions): (typeof TOGETHER)[string] {
  const together = TOGETHER[algorithm];
  if (together === undefined) {
    const names = Object.keys(TOGETHER).join(", ");
    throw new InputError(optionName("algorithm"), `${names} or nothing for several collectives at once`, algorithm).as(
      "not-applicable",
    );
  }
  if (options.timeLimitMs !== undefined && !takersOf("timeLimitMs").includes(algorithm)) {
    const able = Object.keys(TOGETHER).filter((name) => takersOf("timeLimitMs").includes(name));
    const expected = `${optionName("algorithm")} ${able.join(" or ")} beside it for several collectives at once`;
    throw new InputError(optionName("timeLimitMs"), expected, algorithm).as("not-applicable");
  }
  refuseBesideSeveral(options);
  return together;
}

/** Returns the collectives that are asked for, equal ones checked once. Throws InputError, which names their place. */
function collectivesOf(engine: Engine, topology: Topology, options: JointOptions): Collective[] {
  const placeOf = options.placeOf ?? ((i) => (option) => `collectives[${i}].${option}`);
  if (options.collectives.length === 0)
    throw new InputError("collectives", "at least one collective", []).as("out-of-range");
  if (options.collectives.length > MOST_COLLECTIVES)
    throw new InputError("collectives", `at most ${MOST_COLLECTIVES} collectives`, options.collectives.length).as(
      "out-of-range",
    );
  let free = engine.freeMemory();
  const checked = (one: (typeof options.collectives)[number], i: number) => {
    const { collective } = problemOf(topology, one, placeOf(i));
    checkSize(collective, placeOf(i));
    return { collective, estimate: stepsEstimate(topology, collective, leastTransfers(collective)) };
  };
  const known = new Map<string, ReturnType<typeof checked>>();
  return options.collectives.map((one, i) => {
    const asked = typeof one.collective === "string" ? JSON.stringify(one) : `${i}`;
    const { collective, estimate } = known.get(asked) ?? checked(one, i);
    known.set(asked, { collective, estimate });
    refuseWithoutMemory(estimate, free, placeOf(i)("collective"));
    if (free !== null) free -= estimate.memoryBytes;
    return collective;
  });
}

/**
 * Returns a schedule of several collectives at once on one network, with its report: synthesized together, each verified
 * and the links over all of them, simulated together, and compared with bounds proved for all together. NPUs outside a
 * collective's groups relay. Throws as `synthesize` does.
 */
export async function synthesizeJoint(engine: Engine, topology: Topology, options: JointOptions): Promise<JointResult> {
  checkOptions(options);
  const { signal, onProgress } = options;
  const { algorithm = USUAL_ALGORITHM, timeLimitMs } = options;
  const together = togetherBy(algorithm, options);
  const collectives = collectivesOf(engine, topology, options);
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
  const breathe = (): Promise<void> => turn(signal);
  try {
    const found: Awaited<ReturnType<typeof together>> =
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
    const report = await reportOnMade(
      jointKind(schedule),
      {
        limit,
        ...(found.bound === undefined ? {} : { bound: found.bound }),
        making: {
          algorithm,
          ...(found.solver === undefined ? {} : { solver: found.solver }),
          ...(found.notes === undefined ? {} : { notes: found.notes }),
          deterministic: found.deterministic ?? true,
          synthesis: {
            ms: Math.round(ms * 1000) / 1000,
            backend: engine.backend,
            threads: runner.width,
            seed,
            trials: found.trials,
            policy: found.policy,
          },
        },
      },
      {
        ...options,
        replay: engine.kernels.replay,
        limitFor: () => limit,
        bounded: true,
      },
    );
    return { schedule, report };
  } finally {
    dispose();
  }
}
