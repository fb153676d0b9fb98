// A process of its own for tests of queues: `worker URL MS SIZE`, whose tasks are made of their hashes, or `coordinator URL NAME COUNT JOURNAL`,
// which writes each outcome as a line, and goes on where its journal ends.
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { contentHash } from "../../dist/model/sweep/task.js";
import { openRedisEngine } from "../../dist/sweep/redis/engine.js";
import { runRedisWorker } from "../../dist/sweep/redis/worker.js";

const [kind, url, ...rest] = process.argv.slice(2);
const stop = new AbortController();
process.on("SIGTERM", () => stop.abort());
const note = (line) => console.error(line);

async function work([ms, size]) {
  const open = async (options) => ({
    size: options.size,
    backend: options.backend ?? "native",
    async close() {},
    async execute({ hash }) {
      if (Number(ms) > 0) await pause(Number(ms));
      const rows = [{ value: Number.parseInt(hash.slice(0, 8), 16) }];
      const measured = { seconds: 0, peakMiB: null, attempts: 1, worker: `${process.pid}` };
      return { hash, status: "done", why: null, rows, schedule: null, measured };
    },
  });
  const own = { version: "0.1.0", backend: null, kernels: "native", threads: 1, size: Number(size) };
  const limits = { memoryBytes: null, graceMs: 5000 };
  await runRedisWorker(url, { ...own, ...limits, signal: stop.signal, open, note, progress() {} });
}

async function coordinate([sweep, count, journal]) {
  const lines = existsSync(journal) ? readFileSync(journal, "utf8").split("\n").slice(0, -1) : [];
  const known = new Set(lines.map((line) => JSON.parse(line).hash));
  const own = { version: "0.1.0", backend: null, priority: 0, store: `${journal}.store` };
  const engine = await openRedisEngine(url, { sweep, ...own, signal: stop.signal, note });
  const task = (i) => ({ verb: "synth", topology: "mesh:2x2", options: { seed: `${i}` }, inputs: {}, keep: false });
  const jobs = Array.from({ length: Number(count) }, (_, i) => ({
    hash: contentHash(`task ${i}`),
    task: task(i),
    budget: { timeMs: null, memoryBytes: null },
  })).filter(({ hash }) => !known.has(hash));
  for (let next = 0; ; ) {
    const some = jobs.slice(next, next + engine.window - engine.state().pending);
    next += some.length;
    if (some.length > 0) await engine.submit(some);
    const outcomes = await engine.ended();
    if (outcomes.length === 0) break;
    appendFileSync(journal, outcomes.map((outcome) => `${JSON.stringify(outcome)}\n`).join(""));
    await engine.settled(outcomes.map(({ hash }) => hash));
  }
  await engine.close();
}

await (kind === "worker" ? work(rest) : coordinate(rest)).catch((error) => {
  console.error(error.message);
  process.exitCode = error.exitCode ?? 1;
});
