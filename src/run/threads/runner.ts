import { refuseStopped, turn } from "../../base/stopping.ts";
import { cancelOn, type PoolResult, type PoolTask, runTask } from "../../engine/pool/pool.ts";
import type { Engine } from "../../engine/types.ts";
import type { KernelRunner } from "../../synthesize/synthesizer.ts";

/** From this many deliveries on, kernels run on the pool, so that the calling thread stays free to cancel. */
const POOL_FROM = 200_000;
/** From this many deliveries on, the threads share one trial instead of running several. */
const SHARE_FROM = 4e6;
/** From this many visits of arcs on, a balance runs on the pool, on all threads. */
const BALANCE_POOL_FROM = 1e7;
/** From this many visits of arcs a round on, a concurrent flow runs on the pool. */
const FLOW_POOL_FROM = 1e5;
/** How long trials on the calling thread may keep signals and timers waiting, besides the one that runs. */
const BREATHE_MS = 20;
const PROGRESS_MS = 200;

/**
 * Returns where the kernels of a problem with this many deliveries run, sharing what all trials read with the pool's threads.
 * `progress` gets the thousandths that a long kernel has done.
 */
export function runnerFor(
  engine: Engine,
  deliveries: number,
  signal: AbortSignal | undefined,
  progress: (thousandths: number) => void,
): {
  readonly runner: KernelRunner;
  readonly threads: number;
  /** Lets signals and timers in, now and then; throws CancelledError. */
  readonly breathe: () => Promise<void>;
  readonly dispose: () => void;
} {
  const { flag, dispose } = cancelOn(signal);
  const onPool = deliveries >= POOL_FROM;
  // What comes before the first kernel takes about as long as the start of a thread.
  if (onPool) engine.pool().prepare();
  const sharesTrials = deliveries >= SHARE_FROM;
  const shared = new WeakMap<object, object>();
  const share = <T>(value: T): T => {
    if (typeof value !== "object" || value === null) return value;
    let copy = shared.get(value) as T | undefined;
    if (copy === undefined) {
      copy = engine.pool().share(value) as T;
      shared.set(value, copy as object);
    }
    return copy;
  };
  /** Between trials on the calling thread: it takes a millisecond. */
  let breathed = Number.NEGATIVE_INFINITY;
  const breathe = async (): Promise<void> => {
    if (performance.now() - breathed > BREATHE_MS) {
      await turn();
      breathed = performance.now();
    }
    refuseStopped(signal);
  };
  const run = async <T extends PoolTask>(task: T, away = onPool): Promise<PoolResult<T>> => {
    if (!away) {
      await breathe();
      return runTask(engine.kernels, task, flag);
    }
    const columns = Object.entries(task.problem).map(([name, value]) => [name, share(value)]);
    return engine.pool().run({ kind: task.kind, problem: Object.fromEntries(columns) } as T, flag);
  };
  const threads = onPool && sharesTrials ? Math.max(1, engine.pool().threads) : 1;
  const runner: KernelRunner = {
    width: onPool && !sharesTrials ? Math.max(1, engine.pool().threads) : 1,
    match: (problem) => run({ kind: "match", problem }),
    relay: (problem) => run({ kind: "relay", problem }),
    place: (problem) => run({ kind: "place", problem }),
    period: (problem) => run({ kind: "period", problem }, problem.treeCount * problem.npuCount >= POOL_FROM),
    balance(problem) {
      const away = problem.targets.length * problem.inSource.length >= BALANCE_POOL_FROM;
      const all = away ? Math.max(1, engine.pool().threads) : 1;
      return run({ kind: "balance", problem: { ...problem, threads: all } }, away);
    },
    concurrent: (problem) =>
      run({ kind: "concurrent", problem }, problem.sources.length * problem.arcTarget.length >= FLOW_POOL_FROM),
    async spread(problem) {
      Atomics.store(flag, 1, 0);
      const timer = sharesTrials ? setInterval(() => progress(Atomics.load(flag, 1)), PROGRESS_MS) : undefined;
      try {
        return await run({ kind: "spread", problem: { ...problem, threads } });
      } finally {
        clearInterval(timer);
      }
    },
  };
  return { runner, threads: onPool ? Math.max(1, engine.pool().threads) : 1, breathe, dispose };
}
