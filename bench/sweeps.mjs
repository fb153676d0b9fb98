// Sweeps: what a task costs beside its own work, locally and by a Redis server; memory of the coordinator up to a million tasks.
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { at } from "../scripts/paths.mjs";
import { machine, progress, publish, reportHead, table } from "./support.mjs";

const TASKS = 10_000;
const MANY = 1_000_000;
const WORKERS = 4;
const MOST_LOCAL_MS = 10;
const MOST_REDIS_MS = 20;
const VERSION = "bench";

const load = (file) => import(at(`dist/${file}`));

/** Tasks that differ by their seed only, and take a millisecond. */
function* tinyTasks(count, taskHash) {
  for (let seed = 1; seed <= count; seed++) {
    const options = { collective: "allgather", size: "1MiB", seed: String(seed) };
    const task = { verb: "bound", topology: "ring:4", options, inputs: {}, keep: false };
    const budget = { timeMs: null, memoryBytes: null };
    yield { job: { hash: taskHash(task, VERSION), task, budget }, cells: { seed } };
  }
}

const freePort = () =>
  new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });

/** Returns what `work` takes a task, in milliseconds, with an engine of its own and a fresh journal; all are to be recorded. */
async function timed(folder, name, count, open) {
  const [{ coordinate }, { openJournal }, { taskHash }] = await Promise.all([
    load("sweep/coordinator.js"),
    load("sweep/journal.js"),
    load("model/sweep/task.js"),
  ]);
  const journal = openJournal(join(folder, `${name}.jsonl`));
  const engine = await open();
  const began = performance.now();
  const options = { engine, journal, again: [], signal: new AbortController().signal, onProgress: () => undefined };
  const { statuses } = await coordinate(tinyTasks(count, taskHash), options);
  const ms = (performance.now() - began) / count;
  await engine.close();
  if (journal.count !== count || statuses.done !== count) throw new Error(`${name}: ${journal.count} of ${count}`);
  journal.close();
  return ms;
}

async function local(folder, size) {
  const { openExecutors } = await load("sweep/executors.js");
  const { localEngine } = await load("sweep/local-engine.js");
  const options = { size, backend: null, threads: 0, store: join(folder, "store"), memoryBytes: null };
  return timed(folder, `local-${size}`, TASKS, async () => localEngine(await openExecutors(options)));
}

/** Returns what a task takes by a server, with workers of this machine; null without a server. */
async function byRedis(folder) {
  if (spawnSync("redis-server", ["--version"]).status !== 0) return null;
  const port = await freePort();
  const options = ["--port", String(port), "--dir", folder, "--appendonly", "yes", "--save", "", "--bind", "127.0.0.1"];
  const server = spawn("redis-server", options, { stdio: "ignore" });
  const url = `redis://127.0.0.1:${port}`;
  await new Promise((resolve) => setTimeout(resolve, 500));
  const { version } = await load("cli/version.js");
  const workers = Array.from({ length: WORKERS }, () =>
    spawn(process.execPath, [at("dist/cli/main.js"), "worker", url, "--concurrency", "1", "-q"], { stdio: "ignore" }),
  );
  try {
    const { openRedisEngine } = await load("sweep/redis/engine.js");
    return await timed(folder, "redis", TASKS, () =>
      openRedisEngine(url, {
        ...{ sweep: "bench", version, backend: null, priority: 0, store: join(folder, "store") },
        ...{ signal: new AbortController().signal, note: () => undefined },
      }),
    );
  } finally {
    for (const worker of workers) worker.kill("SIGTERM");
    server.kill("SIGTERM");
  }
}

/** Returns the coordinator's memory in MiB after so many tasks, by an engine that does nothing. */
async function memory(folder) {
  const { coordinate } = await load("sweep/coordinator.js");
  const { openJournal } = await load("sweep/journal.js");
  const { taskHash } = await load("model/sweep/task.js");
  const held = [];
  const engine = {
    window: 1000,
    submit: async (jobs) => void held.push(...jobs),
    ended: async () =>
      held.splice(0).map(({ hash }) => ({
        ...{ hash, status: "done", why: null, rows: [{ limit_us: 1 }], schedule: null },
        measured: { seconds: 0, peakMiB: 1, attempts: 1, worker: "here" },
      })),
    settled: async () => undefined,
    state: () => ({ workers: 1, pending: held.length }),
    cancel: async () => undefined,
    close: async () => undefined,
  };
  const journal = openJournal(join(folder, "many.jsonl"));
  const rows = [];
  const began = performance.now();
  const onProgress = ({ done }) => {
    const next = [1000, 10_000, 100_000, MANY][rows.length];
    if (done < next) return;
    globalThis.gc?.();
    rows.push({
      tasks: done,
      mib: Math.round(process.memoryUsage.rss() / 2 ** 20),
      seconds: (performance.now() - began) / 1000,
    });
  };
  await coordinate(tinyTasks(MANY, taskHash), {
    ...{ engine, journal, again: [], signal: new AbortController().signal, onProgress },
  });
  journal.close();
  return rows;
}

export async function run() {
  const where = machine();
  const folder = mkdtempSync(join(tmpdir(), "banyan-sweeps-"));
  try {
    progress("sweeps: memory");
    const many = await memory(folder);
    progress("sweeps: local");
    const localMs = { one: await local(folder, 1), two: await local(folder, 2) };
    progress("sweeps: Redis");
    const redisMs = await byRedis(folder);
    const found = { tasks: TASKS, localMs, redisMs, workers: WORKERS, memory: many };
    const missed = [
      ...(localMs.one > MOST_LOCAL_MS ? [`a local task takes ${localMs.one.toFixed(1)} ms`] : []),
      ...(redisMs !== null && redisMs > MOST_REDIS_MS ? [`a task by Redis takes ${redisMs.toFixed(1)} ms`] : []),
    ];
    const text = [
      ...reportHead(
        "sweeps",
        "Sweeps",
        [
          `${TASKS} tasks that take a millisecond (\`bound ring:4\`): the whole time over their number, to hand over, do and write down.`,
        ],
        where,
      ),
      table(
        ["engine", "ms a task", "at most"],
        [
          ["local, 1 process", localMs.one.toFixed(2), MOST_LOCAL_MS],
          ["local, 2 processes", localMs.two.toFixed(2), MOST_LOCAL_MS],
          [`Redis with its file on disk, ${WORKERS} workers`, redisMs?.toFixed(2) ?? "no server", MOST_REDIS_MS],
        ],
      ),
      "",
      "The coordinator's memory, with an engine that does nothing:",
      "",
      table(
        ["tasks", "MiB", "seconds"],
        many.map(({ tasks, mib, seconds }) => [tasks, mib, seconds.toFixed(1)]),
      ),
    ].join("\n");
    publish("sweeps", { machine: where, ...found, missed }, text);
    return missed.length;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
