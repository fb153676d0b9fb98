import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { CancelledError, InputError } from "../../base/errors.ts";
import type { Job, Outcome } from "../../model/sweep/task.ts";
import type { EngineState, SweepEngine } from "../engine.ts";
import { isRunning } from "../processes.ts";
import { openStore } from "../store.ts";
import { readRedisAddress } from "./address.ts";
import { cancelTasks } from "./admin.ts";
import {
  BATCH,
  BEAT_MS,
  beatAsSweep,
  beating,
  forget,
  GONE_MS,
  jobId,
  keysOf,
  lastRefusal,
  type QueuedTask,
  queueName,
  readBoard,
  revive,
  type SweepRecord,
  sweepKey,
  take,
  type WorkerRecord,
} from "./board.ts";
import { loadQueues, openConnection } from "./connection.ts";

/** What a sweep is handed to a server with. */
export interface RedisEngineOptions {
  /** Its name, the same whenever it is gone on with. */
  readonly sweep: string;
  /** The version that is to do its tasks. */
  readonly version: string;
  /** The kernels that are to do them; null: any. */
  readonly backend: string | null;
  /** Sweeps of a greater one go first, -1000 to 1000. */
  readonly priority: number;
  /** Where its inputs are and its schedules go, as its workers reach it. */
  readonly store: string;
  readonly signal: AbortSignal;
  note(line: string): void;
}

export const MOST_PRIORITY = 1000;
/** Times that a task is begun whose process crashes. */
const ATTEMPTS = 2;
const BACKOFF_MS = 1000;
/** Tasks at once that keep workers busy while news travel; and how many each of them may have waiting. */
const LEAST_WINDOW = 1000;
const WINDOW_EACH = 4;
/** Longest wait for news before it is looked whether all is well, in seconds; and without any, whether all tasks are still there. */
const WAIT_S = 1;
const CHECK_MS = 60_000;
/** Longest that leaving may take. */
const LAST_MS = 5000;
/** Entries that the queue's own log of events keeps. */
const EVENTS = 100;

/** Opens a sweep's part of a server's queues. Rejects with InputError where the server cannot be used, or the sweep is run elsewhere. */
export async function openRedisEngine(url: string, options: RedisEngineOptions): Promise<SweepEngine> {
  const { sweep: name, version, backend, priority, signal, note } = options;
  const address = readRedisAddress(url);
  if (!Number.isInteger(priority) || Math.abs(priority) > MOST_PRIORITY)
    throw new InputError("the priority", `a whole number from -${MOST_PRIORITY} to ${MOST_PRIORITY}`, priority);
  const { Redis: Client, bullmq } = await loadQueues("--engine redis://");
  const store = await openStore(options.store);
  const probe = await store.put(new TextEncoder().encode(`banyan sweep ${name}\n`));
  const safe = "what ended is in this sweep's journal, and the same command goes on from there once the server is back";
  const connection = await openConnection(Client, address, { note, safe });
  const { client, patiently } = connection;
  const [key, keys] = [sweepKey(name), keysOf(address.prefix)];
  const record: SweepRecord = {
    ...{ name, version, backend, priority },
    ...{ host: hostname(), pid: process.pid, instance: randomUUID() },
  };

  /** Waits for a coordinator before this one to be gone. */
  async function takeOver(): Promise<void> {
    const until = performance.now() + GONE_MS + BEAT_MS;
    for (;;) {
      const other = (await readBoard(client, keys)).sweeps.find((one) => one.key === key);
      if (other === undefined || !other.isAlive) return;
      // a container that is started again may have the same process
      const isKnown = other.host === record.host && other.pid !== record.pid;
      if (isKnown && !isRunning(other.pid)) return;
      if (isKnown || performance.now() > until)
        throw new InputError("the sweep", "one that nobody runs", name).saying(
          `the sweep ${name} is run by process ${other.pid} on ${other.host} already`,
        );
      await new Promise((resolve) => setTimeout(resolve, BEAT_MS / 4));
    }
  }

  const pending = new Map<string, Job>();
  const ready: Outcome[] = [];
  let workers: readonly WorkerRecord[] = [];
  let refusal = "0-0";
  let isUncertain = false;
  let isLeft = false;
  let wasCancelled: Error | null = null;
  let heard = performance.now();

  const beat = async (): Promise<void> => {
    const said = await beatAsSweep(client, keys, record, refusal);
    workers = said.workers;
    refusal = said.last;
    if (said.isCancelled && !isLeft) {
      wasCancelled = new InputError("the sweep", "one that goes on", name).saying(
        `the sweep ${name} was cancelled elsewhere; what ended is in its journal, and the same command goes on from there`,
      );
      connection.interrupt(wasCancelled);
    }
    for (const { host, pid, reason } of said.refusals) note(`worker ${pid} on ${host} is refused: ${reason}`);
    const others = new Set(workers.map((worker) => worker.version).filter((other) => other !== version));
    for (const other of others) {
      if (warned.has(other)) continue;
      warned.add(other);
      const { pid, host } = workers.find((worker) => worker.version === other) as WorkerRecord;
      note(`worker ${pid} on ${host} does none of this sweep: it is of version ${other}, the sweep of ${version}`);
    }
  };
  const warned = new Set<string>();

  try {
    await takeOver();
    refusal = await lastRefusal(client, keys);
    await revive(client, keys, key);
    await beat();
  } catch (error) {
    connection.close();
    throw error;
  }
  const queue = new bullmq.Queue<QueuedTask>(queueName(version), {
    connection: client,
    prefix: address.prefix,
    streams: { events: { maxLen: EVENTS } },
  });
  queue.on("error", () => undefined);
  const waiting = connection.waiting();
  connection.onBack(() => {
    isUncertain = true;
  });
  const endBeats = beating(beat);

  const handsOf = (): number =>
    workers.reduce((sum, worker) => sum + (worker.version === version ? worker.size : 0), 0);
  const heardOf = (hash: string, text: string | null | undefined): void => {
    if (text == null || !pending.delete(hash)) return;
    ready.push(JSON.parse(text) as Outcome);
    heard = performance.now();
  };
  const add = (jobs: readonly Job[]): Promise<unknown> =>
    queue.addBulk(
      jobs.map((job) => ({
        name: "task",
        data: { ...{ sweep: key, name, backend, store: store.place, probe }, job },
        opts: {
          jobId: jobId(key, job.hash),
          // there the least goes first, and none before all
          priority: MOST_PRIORITY + 1 - priority,
          attempts: ATTEMPTS,
          backoff: { type: "exponential", delay: BACKOFF_MS },
          removeOnComplete: true,
          removeOnFail: true,
          stackTraceLimit: 0,
        },
      })),
    );

  /** Asks what came of tasks, and sees to it that the others are in the queue: those that are there already stay as they are. */
  async function handOver(jobs: readonly Job[]): Promise<void> {
    for (let i = 0; i < jobs.length; i += BATCH) {
      const some = jobs.slice(i, i + BATCH);
      await patiently(async () => {
        const texts = await client.hmget(keys.results(key), ...some.map(({ hash }) => hash));
        some.forEach(({ hash }, j) => {
          heardOf(hash, texts[j]);
        });
        const open = some.filter(({ hash }) => pending.has(hash));
        if (open.length > 0) await add(open);
      });
    }
  }

  /** Waits a while for news. */
  async function listen(): Promise<void> {
    if (isUncertain || performance.now() - heard > CHECK_MS) {
      isUncertain = false;
      heard = performance.now();
      await patiently(beat);
      await handOver([...pending.values()]);
      if (ready.length > 0) return;
    }
    const first = await patiently(() => waiting.blpop(keys.done(key), WAIT_S));
    if (first === null) return;
    const hash = first[1];
    const [text, rest] = await patiently(() =>
      Promise.all([client.hget(keys.results(key), hash), take(client, keys, key)]),
    );
    heardOf(hash, text);
    for (const [other, outcome] of rest) heardOf(other, outcome);
  }

  const abort = (): void => connection.interrupt(new CancelledError());
  signal.addEventListener("abort", abort, { once: true });
  const refuseStopped = (): void => {
    if (signal.aborted) throw new CancelledError();
    if (wasCancelled !== null) throw wasCancelled;
  };
  /** Does what is good to have done, where the server answers. */
  async function briefly(work: () => Promise<unknown>): Promise<void> {
    if (connection.isLost()) return;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, LAST_MS);
    });
    await Promise.race([late, work().catch(() => undefined)]);
    clearTimeout(timer);
  }

  return {
    get window() {
      return Math.max(LEAST_WINDOW, WINDOW_EACH * handsOf());
    },
    async submit(jobs) {
      refuseStopped();
      for (const job of jobs) pending.set(job.hash, job);
      await handOver(jobs);
    },
    async ended() {
      while (ready.length === 0 && pending.size > 0) {
        refuseStopped();
        await listen();
      }
      return ready.splice(0);
    },
    async settled(hashes) {
      const forgotten = async (): Promise<void> => {
        for (let i = 0; i < hashes.length; i += BATCH)
          await client.hdel(keys.results(key), ...hashes.slice(i, i + BATCH));
      };
      await (signal.aborted ? briefly(forgotten) : patiently(forgotten));
    },
    state: (): EngineState => ({ workers: handsOf(), pending: pending.size }),
    async cancel() {
      isLeft = true;
      endBeats();
      pending.clear();
      ready.length = 0;
      await briefly(() => cancelTasks(client, queue, keys, address.prefix, key));
    },
    async close() {
      endBeats();
      signal.removeEventListener("abort", abort);
      // of a sweep that is through nothing stays behind
      const isThrough = !isLeft && !signal.aborted && pending.size === 0 && ready.length === 0;
      isLeft = true;
      if (isThrough) await briefly(() => forget(client, keys, key));
      connection.close();
      await queue.close().catch(() => undefined);
    },
  };
}
