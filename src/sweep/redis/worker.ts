import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import type { Job as BullJob } from "bullmq";
import { CancelledError, InputError } from "../../base/errors.ts";
import type { Job, Outcome } from "../../model/sweep/task.ts";
import type { Executors } from "../executors.ts";
import { openStore } from "../store.ts";
import type { WorkerOptions } from "../worker-options.ts";
import { readRedisAddress } from "./address.ts";
import {
  beatAsWorker,
  beating,
  isCancelled,
  keep,
  keysOf,
  leaveAsWorker,
  type QueuedTask,
  queueName,
  refuse,
  type SweepRecord,
} from "./board.ts";
import { loadQueues, openConnection } from "./connection.ts";

/** A worker that says nothing for so long is dead, and its tasks are done by others; how often these look. */
const LOCK_MS = 10_000;
const LOOK_MS = 5000;
/** Workers that may die of one task before it is taken as its fault. */
const MOST_DEATHS = 100;
/** What a worker may take to end, beside its tasks. */
const LAST_MS = 5000;
/** When what a lost server did not hear is said again. */
const AGAIN_MS = 500;
/** A number of stalls that no task has. */
const NO_LIMIT = 1e9;

/** Processes for the tasks of one store by one backend, and how many tasks they do now. */
interface Hands {
  readonly executors: Promise<Executors>;
  users: number;
}

/** Does tasks of a server's queues until `signal`; returns how many. Rejects with InputError where the server cannot be used, and where it is refused. */
export async function runRedisWorker(url: string, options: WorkerOptions): Promise<number> {
  const { version, backend, kernels, threads, size, memoryBytes, graceMs, signal, open, note, progress } = options;
  const address = readRedisAddress(url);
  const { Redis: Client, bullmq } = await loadQueues("banyan worker redis://");
  const safe = "tasks go to other workers once it is back; then start this one again";
  const connection = await openConnection(Client, address, { note, safe });
  const { client } = connection;
  const keys = keysOf(address.prefix);
  const self = { id: randomUUID(), host: hostname(), pid: process.pid, version, backend: backend ?? kernels, size };
  const running = new Map<AbortController, string>();
  const hands = new Map<string, Hands>();
  let cancelled: ReadonlySet<string> = new Set();
  let done = 0;
  let failure: Error | null = null;
  let end: () => void = () => undefined;
  const toEnd = new Promise<void>((resolve) => {
    end = resolve;
  });

  /** Returns why this worker is to do none of a sweep; null where it may. */
  function misfit(sweep: Pick<SweepRecord, "name" | "backend" | "version">): string | null {
    if (sweep.version !== version) return `it is of version ${version}, the sweep ${sweep.name} of ${sweep.version}`;
    if (sweep.backend === null) return null;
    if (backend !== null)
      return backend === sweep.backend
        ? null
        : `it has --backend ${backend}, the sweep ${sweep.name} asks for ${sweep.backend}`;
    if (sweep.backend !== "native" || kernels === "native") return null;
    return `it is without the native build, which the sweep ${sweep.name} asks for`;
  }

  /** Says at both ends that this worker is refused, and ends it. */
  async function refused(reason: string): Promise<void> {
    if (failure !== null) return;
    failure = new InputError("the worker", "one that fits the sweep").saying(`this worker is refused: ${reason}`);
    await refuse(client, keys, { host: self.host, pid: self.pid, reason });
    end();
  }

  async function beat(): Promise<void> {
    const board = await beatAsWorker(client, keys, { ...self, busy: running.size });
    cancelled = board.cancelled;
    for (const [controller, sweep] of running) if (cancelled.has(sweep)) controller.abort();
    const alive = board.sweeps.filter((sweep) => sweep.isAlive);
    const own = alive.filter((sweep) => sweep.version === version);
    // another version's sweeps matter where there are no others
    const first = own.map(misfit).find((reason) => reason !== null) ?? (own.length === 0 ? alive.map(misfit)[0] : null);
    if (first != null) await refused(first);
  }

  /** Returns processes for a sweep's tasks. Rejects with InputError where its store is not reached from here. */
  async function handsFor({ store: place, probe, name, backend: asked }: QueuedTask): Promise<Hands> {
    const key = JSON.stringify([place, asked]);
    const known = hands.get(key);
    if (known !== undefined) return known;
    const opened = async (): Promise<Executors> => {
      const store = await openStore(place);
      if (!(await store.has(probe)))
        throw new InputError("the store", "one that this worker reaches", place).saying(
          `it does not reach the store ${place} of the sweep ${name}: nothing of the sweep is there`,
        );
      return await open({ size, backend: asked ?? backend, threads, store: place, memoryBytes });
    };
    const fresh: Hands = { executors: opened(), users: 0 };
    for (const [other, { users, executors }] of hands)
      if (users === 0) {
        hands.delete(other);
        void executors.then((one) => one.close()).catch(() => undefined);
      }
    hands.set(key, fresh);
    return fresh;
  }

  async function outcomeOf(task: QueuedTask, deaths: number, stop: AbortSignal): Promise<Outcome> {
    if (deaths > MOST_DEATHS) return lostOutcome(task.job, deaths, `${self.host} ${self.pid}`);
    const own = await handsFor(task);
    own.users++;
    try {
      return await (await own.executors).execute(task.job, stop);
    } finally {
      own.users--;
    }
  }

  async function work(job: BullJob<QueuedTask>, token: string | undefined): Promise<null> {
    const { data } = job;
    const handBack = async (): Promise<never> => {
      await job.moveToWait(token);
      throw new bullmq.WaitingError();
    };
    // what was heard last may be over: a sweep is gone on with
    const isOver = async (): Promise<boolean> =>
      cancelled.has(data.sweep) && (await isCancelled(client, keys, data.sweep));
    if (await isOver()) return null;
    const reason = misfit({ name: data.name, backend: data.backend, version });
    if (reason !== null) await refused(reason);
    if (failure !== null || signal.aborted) return await handBack();
    const { hash } = data.job;
    if (job.attemptsStarted > 1 && (await client.hexists(keys.results(data.sweep), hash)) === 1) return null;
    const controller = new AbortController();
    running.set(controller, data.sweep);
    progress({ done, running: running.size });
    let outcome: Outcome;
    try {
      outcome = await outcomeOf(data, job.stalledCounter, controller.signal);
    } catch (error) {
      if (await isOver()) return null;
      if (error instanceof InputError) await refused(error.message);
      else if (!(error instanceof CancelledError)) throw error;
      return await handBack();
    } finally {
      running.delete(controller);
    }
    // the queue has it begun anew after a while, here or elsewhere
    if (outcome.status === "crashed" && job.attemptsMade + 1 < (job.opts.attempts ?? 1))
      throw new Error(outcome.why ?? "crashed");
    const measured = { ...outcome.measured, attempts: job.attemptsStarted };
    await keep(client, keys, data.sweep, hash, JSON.stringify({ ...outcome, measured }));
    done++;
    progress({ done, running: running.size });
    return null;
  }

  let endBeats = (): void => undefined;
  try {
    await beat();
    if (failure !== null) throw failure;
    const worker = new bullmq.Worker<QueuedTask>(queueName(version), work, {
      connection: client,
      prefix: address.prefix,
      concurrency: size,
      lockDuration: LOCK_MS,
      stalledInterval: LOOK_MS,
      maxStalledCount: NO_LIMIT,
      runRetryDelay: AGAIN_MS,
    });
    // what the server answers is asked again
    worker.on("error", () => undefined);
    endBeats = beating(beat);
    connection.onGivenUp((error) => {
      failure ??= error;
      end();
    });
    signal.addEventListener("abort", end, { once: true });
    if (signal.aborted) end();
    await toEnd;
    if (running.size > 0)
      note(`ending: ${running.size} ${running.size === 1 ? "task runs" : "tasks run"} for up to ${graceMs / 1000} s`);
    // who gives a server up waits for none of its answers
    const ownGraceMs = connection.isLost() ? 0 : graceMs;
    const grace = setTimeout(() => {
      for (const controller of running.keys()) controller.abort();
    }, ownGraceMs);
    let last: NodeJS.Timeout | undefined;
    const late = new Promise<"late">((resolve) => {
      last = setTimeout(() => resolve("late"), ownGraceMs + (connection.isLost() ? 0 : LAST_MS));
    });
    const ended = await Promise.race([worker.close(), late]);
    clearTimeout(grace);
    clearTimeout(last);
    if (ended === "late") void worker.close(true).catch(() => undefined);
    else await leaveAsWorker(client, keys, self.id).catch(() => undefined);
    if (failure !== null) throw failure;
    return done;
  } finally {
    endBeats();
    for (const controller of running.keys()) controller.abort();
    await Promise.all(
      [...hands.values()].map(({ executors }) => executors.then((one) => one.close()).catch(() => undefined)),
    );
    connection.close();
  }
}

/** Returns what came of a task that no worker lived to end. */
const lostOutcome = ({ hash }: Job, deaths: number, worker: string): Outcome => ({
  hash,
  status: "crashed",
  why: `${deaths} workers died while they did it`,
  rows: [],
  schedule: null,
  measured: { seconds: 0, peakMiB: null, attempts: deaths, worker },
});
