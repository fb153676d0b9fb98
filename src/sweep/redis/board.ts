import type { Redis } from "ioredis";
import { contentHash, type Job } from "../../model/sweep/task.ts";
import { SCRIPTS } from "./scripts.ts";

/** What coordinators and workers know of each other, on the server beside the queues: who is there, what was refused, what came of tasks. */

/** A worker as it says that it is there. */
export interface WorkerRecord {
  readonly id: string;
  readonly host: string;
  readonly pid: number;
  readonly version: string;
  /** The kernels that it has. */
  readonly backend: string;
  /** How many tasks it does at once, and how many it does now. */
  readonly size: number;
  readonly busy: number;
}

/** A sweep as its coordinator says that it is there. */
export interface SweepRecord {
  readonly name: string;
  readonly version: string;
  readonly backend: string | null;
  readonly priority: number;
  /** The process that hands its tasks over. */
  readonly host: string;
  readonly pid: number;
  readonly instance: string;
}

/** A worker that is not to do tasks of a sweep, and why. */
export interface Refusal {
  readonly host: string;
  readonly pid: number;
  readonly reason: string;
}

/** A task in a queue, with all that a worker must know. */
export interface QueuedTask {
  /** The key of its sweep, and its name. */
  readonly sweep: string;
  readonly name: string;
  readonly backend: string | null;
  readonly store: string;
  /** What every process that has the store finds there. */
  readonly probe: string;
  readonly job: Job;
}

/** How often everybody says that it is there. */
export const BEAT_MS = 2000;
/** Who has not said so for this long is not. */
export const GONE_MS = 10_000;
/** What nobody asks for is forgotten. */
export const FORGOTTEN_S = 30 * 86_400;
const MOST_REFUSALS = 100;
/** What is handed over or asked for in one round trip. */
export const BATCH = 250;

/** Returns the key of a sweep, whatever its name has in it. */
export const sweepKey = (name: string): string => contentHash(name).slice(0, 16);

/** Returns the name of a version's queue: versions never do each other's tasks. */
export const queueName = (version: string): string => `tasks-${version}`;

/** Returns a task's name in its queue: handed over again, it is the same one. */
export const jobId = (key: string, hash: string): string => `${key}-${hash}`;

/** The names of what is on the server beside the queues. */
export const keysOf = (prefix: string) => ({
  workers: `${prefix}:workers`,
  workerBeats: `${prefix}:workers:beats`,
  sweeps: `${prefix}:sweeps`,
  sweepBeats: `${prefix}:sweeps:beats`,
  cancelled: `${prefix}:cancelled`,
  refusals: `${prefix}:refusals`,
  results: (sweep: string) => `${prefix}:results:${sweep}`,
  done: (sweep: string) => `${prefix}:done:${sweep}`,
});
export type Keys = ReturnType<typeof keysOf>;

type Call = (...args: (string | number)[]) => Promise<unknown>;
/** Calls a script that the client knows. */
const call = (client: Redis, script: keyof typeof SCRIPTS, ...args: (string | number)[]): Promise<unknown> =>
  ((client as unknown as Record<string, Call>)[SCRIPTS[script].name] as Call).call(client, ...args);

function pairs(flat: readonly string[]): [string, string][] {
  return Array.from({ length: flat.length / 2 }, (_, i) => [flat[2 * i] as string, flat[2 * i + 1] as string]);
}

/** Keeps what came of a task; false for a sweep that is no more. */
export const keep = async (client: Redis, keys: Keys, sweep: string, hash: string, outcome: string): Promise<boolean> =>
  (await call(
    client,
    "keep",
    ...[keys.sweeps, keys.results(sweep), keys.done(sweep)],
    ...[sweep, hash, outcome, FORGOTTEN_S],
  )) === 1;

/** Takes the news of a sweep: hashes with what came of them, null where that was taken already. */
export async function take(client: Redis, keys: Keys, sweep: string): Promise<[string, string | null][]> {
  const [hashes, outcomes] = (await call(client, "take", keys.done(sweep), keys.results(sweep), BATCH)) as [
    string[],
    (string | null)[],
  ];
  return hashes.map((hash, i) => [hash, outcomes[i] ?? null]);
}

/** A sweep on the server. */
export interface ListedSweep extends SweepRecord {
  readonly key: string;
  /** Its coordinator is there. */
  readonly isAlive: boolean;
}

function listed(records: readonly string[], beats: readonly string[], now: number): ListedSweep[] {
  const seen = new Map(pairs(beats));
  return pairs(records).map(([key, text]) => ({
    ...(JSON.parse(text) as SweepRecord),
    key,
    isAlive: now - Number(seen.get(key) ?? 0) < GONE_MS,
  }));
}

/** Says that a worker is there; returns keys of sweeps that were cancelled, and all sweeps. */
export async function beatAsWorker(
  client: Redis,
  keys: Keys,
  record: WorkerRecord,
): Promise<{ readonly cancelled: ReadonlySet<string>; readonly sweeps: readonly ListedSweep[] }> {
  const [cancelled, sweeps, beats, now] = (await call(
    client,
    "workerBeat",
    ...[keys.workers, keys.workerBeats, keys.sweeps, keys.sweepBeats, keys.cancelled],
    ...[record.id, JSON.stringify(record)],
  )) as [string[], string[], string[], number];
  return { cancelled: new Set(cancelled), sweeps: listed(sweeps, beats, now) };
}

/** Takes a worker away that is about to end. */
export async function leaveAsWorker(client: Redis, keys: Keys, id: string): Promise<void> {
  await client.multi().hdel(keys.workers, id).zrem(keys.workerBeats, id).exec();
}

/** Says that a coordinator is there, unless its sweep was cancelled; returns workers, and refusals after the one named `since`. */
export async function beatAsSweep(
  client: Redis,
  keys: Keys,
  record: SweepRecord,
  since: string,
): Promise<{
  readonly isCancelled: boolean;
  readonly workers: readonly WorkerRecord[];
  readonly refusals: readonly Refusal[];
  readonly last: string;
}> {
  const [isCancelled, workers, entries] = (await call(
    client,
    "sweepBeat",
    ...[keys.workers, keys.workerBeats, keys.sweeps, keys.sweepBeats, keys.refusals, keys.cancelled],
    ...[sweepKey(record.name), JSON.stringify(record), GONE_MS, FORGOTTEN_S * 1000, `(${since}`],
  )) as [number, string[], [string, string[]][]];
  return {
    isCancelled: isCancelled === 1,
    workers: workers.map((text) => JSON.parse(text) as WorkerRecord),
    refusals: entries.map(([, fields]) => JSON.parse(fields[1] as string) as Refusal),
    last: entries.at(-1)?.[0] ?? since,
  };
}

/** Says to all coordinators that a worker is not to do a sweep's tasks. */
export async function refuse(client: Redis, keys: Keys, refusal: Refusal): Promise<void> {
  await client.xadd(keys.refusals, "MAXLEN", "~", MOST_REFUSALS, "*", "refusal", JSON.stringify(refusal));
}

/** Returns the name of the last refusal so far. */
export async function lastRefusal(client: Redis, keys: Keys): Promise<string> {
  const [entry] = await client.xrevrange(keys.refusals, "+", "-", "COUNT", 1);
  return entry?.[0] ?? "0-0";
}

/** Lets everybody know that a sweep is cancelled; it is until `revive`. */
export async function markCancelled(client: Redis, keys: Keys, sweep: string): Promise<void> {
  await call(client, "cancel", keys.cancelled, sweep);
}

/** Returns whether a sweep is cancelled. */
export const isCancelled = async (client: Redis, keys: Keys, sweep: string): Promise<boolean> =>
  (await client.zscore(keys.cancelled, sweep)) !== null;

/** Takes back that a sweep is cancelled. */
export async function revive(client: Redis, keys: Keys, sweep: string): Promise<void> {
  await client.zrem(keys.cancelled, sweep);
}

/** Forgets a sweep: its record, and what came of tasks and was not taken. */
export async function forget(client: Redis, keys: Keys, sweep: string): Promise<void> {
  await client
    .multi()
    .del(keys.results(sweep), keys.done(sweep))
    .hdel(keys.sweeps, sweep)
    .zrem(keys.sweepBeats, sweep)
    .exec();
}

/** Returns sweeps and workers that are there. */
export async function readBoard(
  client: Redis,
  keys: Keys,
): Promise<{ readonly sweeps: readonly ListedSweep[]; readonly workers: readonly WorkerRecord[] }> {
  const [workers, workerBeats, sweeps, sweepBeats, now] = (await call(
    client,
    "board",
    ...[keys.workers, keys.workerBeats, keys.sweeps, keys.sweepBeats],
  )) as [string[], string[], string[], string[], number];
  const seen = new Map(pairs(workerBeats));
  return {
    sweeps: listed(sweeps, sweepBeats, now),
    workers: pairs(workers)
      .filter(([id]) => now - Number(seen.get(id) ?? 0) < GONE_MS)
      .map(([, text]) => JSON.parse(text) as WorkerRecord),
  };
}

/** Beats again and again, one at a time: a server that is lost would be asked ever more. What fails is asked again. Returns what ends it. */
export function beating(beat: () => Promise<void>): () => void {
  let isBusy = false;
  const beats = setInterval(() => {
    if (isBusy) return;
    isBusy = true;
    void beat()
      .catch(() => undefined)
      .finally(() => {
        isBusy = false;
      });
  }, BEAT_MS);
  return () => clearInterval(beats);
}
