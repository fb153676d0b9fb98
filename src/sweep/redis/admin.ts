import type { Queue } from "bullmq";
import type { Redis } from "ioredis";
import { InputError } from "../../base/errors.ts";
import { readRedisAddress } from "./address.ts";
import {
  BATCH,
  forget,
  type Keys,
  keysOf,
  type ListedSweep,
  markCancelled,
  type QueuedTask,
  queueName,
  readBoard,
  type WorkerRecord,
} from "./board.ts";
import { type Connection, loadQueues, openConnection } from "./connection.ts";

/** The lists of a queue whose tasks have not begun, and the one of those that have. */
const WAITING = ["wait", "prioritized", "delayed", "paused"] as const;
const ACTIVE = "active";

/** Returns names of tasks of all sweeps in one list of a queue. */
async function idsIn(
  client: Redis,
  queueKey: string,
  list: (typeof WAITING)[number] | typeof ACTIVE,
): Promise<string[]> {
  const key = `${queueKey}:${list}`;
  return list === "prioritized" || list === "delayed"
    ? await client.zrange(key, 0, "-1")
    : await client.lrange(key, 0, -1);
}

/** Cancels a sweep: takes its waiting tasks and its news away, and lets workers hear that they are to end what they do of it. */
export async function cancelTasks(
  client: Redis,
  queue: Queue<QueuedTask>,
  keys: Keys,
  prefix: string,
  key: string,
): Promise<number> {
  await markCancelled(client, keys, key);
  const lists = await Promise.all(WAITING.map((list) => idsIn(client, `${prefix}:${queue.name}`, list)));
  const ids = lists.flat().filter((id) => id.startsWith(`${key}-`));
  for (let i = 0; i < ids.length; i += BATCH)
    await Promise.all(ids.slice(i, i + BATCH).map((id) => queue.remove(id).catch(() => 0)));
  await forget(client, keys, key);
  return ids.length;
}

/** A sweep on a server: how many of its tasks wait and are done now, and how many outcomes its coordinator has still to take. */
export interface SweepOnServer extends ListedSweep {
  readonly waiting: number;
  readonly running: number;
  readonly ended: number;
}

async function withServer<T>(
  url: string,
  work: (connection: Connection, bullmq: typeof import("bullmq"), prefix: string) => Promise<T>,
): Promise<T> {
  const address = readRedisAddress(url);
  const { Redis: Client, bullmq } = await loadQueues("redis://");
  const connection = await openConnection(Client, address, { note: () => undefined, safe: "nothing was changed" });
  try {
    return await connection.patiently(() => work(connection, bullmq, address.prefix));
  } finally {
    connection.close();
  }
}

/** Returns the sweeps of a server, with counts, and the workers that are there. Rejects with InputError where it cannot be used. */
export const listSweeps = (
  url: string,
): Promise<{ readonly sweeps: readonly SweepOnServer[]; readonly workers: readonly WorkerRecord[] }> =>
  withServer(url, async ({ client }, _, prefix) => {
    const keys = keysOf(prefix);
    const { sweeps, workers } = await readBoard(client, keys);
    const waiting = new Map<string, number>();
    const running = new Map<string, number>();
    const count = (counts: Map<string, number>, ids: readonly string[]): void => {
      for (const id of ids) {
        const key = id.slice(0, id.lastIndexOf("-"));
        counts.set(key, (counts.get(key) ?? 0) + 1);
      }
    };
    for (const version of new Set(sweeps.map((sweep) => sweep.version))) {
      const queueKey = `${prefix}:${queueName(version)}`;
      for (const list of WAITING) count(waiting, await idsIn(client, queueKey, list));
      count(running, await idsIn(client, queueKey, ACTIVE));
    }
    const ended = await Promise.all(sweeps.map(({ key }) => client.hlen(keys.results(key))));
    return {
      sweeps: sweeps.map((sweep, i) => ({
        ...sweep,
        waiting: waiting.get(sweep.key) ?? 0,
        running: running.get(sweep.key) ?? 0,
        ended: ended[i] as number,
      })),
      workers,
    };
  });

/**
 * Cancels a sweep on a server, whether its coordinator is there or not; returns how many tasks were waiting. Rejects with
 * InputError where there is no such sweep.
 */
export const cancelSweep = (url: string, name: string): Promise<number> =>
  withServer(url, async ({ client }, { Queue: Tasks }, prefix) => {
    const keys = keysOf(prefix);
    const { sweeps } = await readBoard(client, keys);
    const sweep = sweeps.find((one) => one.name === name);
    if (sweep === undefined) {
      const names = sweeps.map((one) => one.name).join(", ");
      throw new InputError("the sweep", names === "" ? "one on the server, which has none" : names, name).as(
        "unknown-name",
      );
    }
    const queue = new Tasks<QueuedTask>(queueName(sweep.version), { connection: client, prefix });
    queue.on("error", () => undefined);
    return await cancelTasks(client, queue, keys, prefix, sweep.key);
  });
