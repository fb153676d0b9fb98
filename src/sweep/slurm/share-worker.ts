import { randomUUID } from "node:crypto";
import { existsSync, rmSync } from "node:fs";
import { hostname } from "node:os";
import { setTimeout as pause } from "node:timers/promises";
import { CancelledError, InputError } from "../../base/errors.ts";
import type { Job, Outcome, TaskStatus } from "../../model/sweep/task.ts";
import type { Executors } from "../executors.ts";
import { isRunning } from "../processes.ts";
import { openStore } from "../store.ts";
import type { WorkerOptions } from "../worker-options.ts";
import { appendLines, cutTorn, linesFrom, readSmall, textBetween, writeSmall } from "./lines.ts";
import { factsIn, type ShareRefusal, type SharesFacts, type SharesFiles, sharesIn } from "./shares.ts";

/** What a worker of one share is run with. */
export interface ShareWorkerOptions extends WorkerOptions {
  /** The sweep's folder, and which share of how many. */
  readonly folder: string;
  readonly share: number;
  readonly of: number;
  /** How long it waits for further tasks. */
  readonly idleMs?: number;
}

const IDLE_MS = 60_000;
const LOOK_MS = 500;
const BEAT_MS = 5000;
/** Tasks that were asked for again after these are not done again: they end so always. */
const FINAL: readonly TaskStatus[] = ["done", "refused", "infeasible"];

/** Where the outcome of a task stands in the file. */
interface Said {
  readonly at: number;
  readonly end: number;
  readonly isFinal: boolean;
}

/** Waits until nobody else does the share, and says that this process does. Rejects with InputError where somebody goes on. */
async function takeShare(files: SharesFiles, share: number): Promise<() => void> {
  const id = randomUUID();
  const path = files.beat(share);
  const before = readSmall(path);
  if (before !== null) {
    const { host, pid } = JSON.parse(before) as { host: string; pid: number };
    const isGone = host === hostname() && !isRunning(pid);
    if (!isGone) await pause(2 * BEAT_MS);
    const now = readSmall(path);
    if (!isGone && now !== null && now !== before)
      throw new InputError("--share", "one that nobody does", share).saying(
        `share ${share} is done by process ${pid} on ${host} already`,
      );
  }
  let count = 0;
  const beat = (): void => {
    writeSmall(path, JSON.stringify({ host: hostname(), pid: process.pid, id, count: count++ }));
  };
  beat();
  const timer = setInterval(beat, BEAT_MS);
  return () => {
    clearInterval(timer);
    rmSync(path, { force: true });
  };
}

/** Returns why a worker is to do no share of a sweep; null where it may. */
async function misfit(facts: SharesFacts, { version, backend, kernels }: ShareWorkerOptions): Promise<string | null> {
  const { name, store: place, probe } = facts;
  if (facts.version !== version) return `it is of version ${version}, the sweep ${name} of ${facts.version}`;
  if (facts.backend !== null && backend !== null && backend !== facts.backend)
    return `it has --backend ${backend}, the sweep ${name} asks for ${facts.backend}`;
  if (facts.backend === "native" && backend === null && kernels !== "native")
    return `it is without the native build, which the sweep ${name} asks for`;
  const store = await openStore(place);
  if (!(await store.has(probe)))
    return `it does not reach the store ${place} of the sweep ${name}: nothing of the sweep is there`;
  return null;
}

/**
 * Does one share of a sweep's tasks, from its file of tasks to its file of outcomes, and goes on where another process left off.
 * Returns how many it did, when no tasks will come, or none came for a while. Rejects with InputError where it is refused.
 */
export async function runShareWorker(options: ShareWorkerOptions): Promise<number> {
  const { folder, share, of, size, threads, memoryBytes, graceMs, signal, open, note, progress } = options;
  const { idleMs = IDLE_MS } = options;
  const files = sharesIn(folder, of);
  const facts = factsIn(folder, of);
  const reason = await misfit(facts, options);
  if (reason !== null) {
    const refusal: ShareRefusal = { host: hostname(), pid: process.pid, reason };
    writeSmall(files.refused(share), JSON.stringify(refusal));
    throw new InputError("the worker", "one that fits the sweep").saying(`this worker is refused: ${reason}`);
  }
  const release = await takeShare(files, share);
  let executors: Executors | undefined;
  const stop = new AbortController();
  let grace: NodeJS.Timeout | undefined;
  const end = (): void => {
    grace = setTimeout(() => stop.abort(), graceMs);
  };
  signal.addEventListener("abort", end, { once: true });
  try {
    const [tasks, outcomes] = [files.tasks(share), files.outcomes(share)];
    cutTorn(outcomes);
    const said = new Map<string, Said>();
    let length = 0;
    const know = (text: string, at: number, to: number): void => {
      const { hash, status } = JSON.parse(text) as Outcome;
      said.set(hash, { at, end: to, isFinal: FINAL.includes(status) });
      length = to;
    };
    for (const { text, at, end: to } of linesFrom(outcomes, 0)) know(text, at, to);
    const say = (text: string): void => {
      appendLines(outcomes, [text]);
      know(text, length, length + Buffer.byteLength(text) + 1);
    };
    executors = await open({
      ...{ size, threads, memoryBytes },
      ...{ backend: facts.backend ?? options.backend, store: facts.store },
    });
    const own = executors;
    const running = new Map<string, Promise<void>>();
    const before = new Set(said.keys());
    let done = 0;
    let read = 0;
    let failure: unknown;
    const work = async (job: Job): Promise<void> => {
      try {
        say(JSON.stringify(await own.execute(job, stop.signal)));
        done++;
      } catch (error) {
        // the next one of this share does it
        if (!(error instanceof CancelledError)) failure ??= error;
      } finally {
        running.delete(job.hash);
        progress({ done, running: running.size });
      }
    };
    let idle = performance.now();
    while (!signal.aborted && failure === undefined) {
      const isClosed = existsSync(files.closed);
      let news = 0;
      for (const { text, end: to } of linesFrom(tasks, read)) {
        if (signal.aborted || failure !== undefined) break;
        read = to;
        news++;
        const job = JSON.parse(text) as Job;
        if (running.has(job.hash)) continue;
        const known = said.get(job.hash);
        if (known !== undefined) {
          // said by a process before this one, which the coordinator reads
          if (before.delete(job.hash)) continue;
          // asked for again: the coordinator does not know it any more
          if (known.isFinal) {
            say(textBetween(outcomes, known.at, known.end - 1));
            continue;
          }
        }
        running.set(job.hash, work(job));
        progress({ done, running: running.size });
        while (running.size >= size) await Promise.race(running.values());
      }
      if (news > 0 || running.size > 0) idle = performance.now();
      if (running.size > 0) {
        await Promise.race([...running.values(), pause(LOOK_MS)]);
        continue;
      }
      if (news > 0) continue;
      if (isClosed || performance.now() - idle > idleMs) break;
      await pause(LOOK_MS, undefined, { signal }).catch(() => undefined);
    }
    if (running.size > 0)
      note(`ending: ${running.size} ${running.size === 1 ? "task runs" : "tasks run"} for up to ${graceMs / 1000} s`);
    await Promise.all(running.values());
    if (failure !== undefined) throw failure;
    return done;
  } finally {
    clearTimeout(grace);
    signal.removeEventListener("abort", end);
    await executors?.close();
    release();
  }
}
