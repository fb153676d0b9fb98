// Threads that are ended in the middle of native calls: a program's own worker that works with the API, and threads of the
// pool. Nothing crashes, the others' answers are right, and an engine whose thread was ended still works or says why not.
import { Worker } from "node:worker_threads";
import { openEngine, synthesize } from "../dist/index.js";
import { scheduleHash } from "./faults-cancel.mjs";

const WORK = { topology: "mesh:22x22", collective: "allgather", trials: 1, sizeBytes: 2 ** 20 };
const SMALL = { topology: "mesh:3x3", collective: "allreduce", sizeBytes: 2 ** 20 };
const BODY = (threads) => `
  import(${JSON.stringify(new URL("../dist/index.js", import.meta.url).href)}).then(async ({ openEngine, synthesize }) => {
    const engine = await openEngine({ threads: ${threads} });
    for (;;) await synthesize({ ...${JSON.stringify(WORK)}, engine });
  });`;

/** Ends so many workers at random moments, with a pool of their own or without. Returns how many. */
export async function endWorkers({ times, draw, onFault }) {
  const engine = await openEngine({ threads: 2 });
  const expected = scheduleHash((await synthesize({ ...SMALL, engine })).schedule);
  for (let i = 0; i < times; i++) {
    const worker = new Worker(BODY(i % 2), { eval: true });
    let failed;
    worker.on("error", (error) => {
      failed = error;
    });
    await new Promise((resolve) => setTimeout(resolve, 300 + draw() * 1200));
    if (failed !== undefined) onFault(`worker ${i}: ${failed.message}`);
    await worker.terminate();
    if (scheduleHash((await synthesize({ ...SMALL, engine })).schedule) !== expected)
      onFault(`worker ${i}: another answer behind it`);
  }
  await engine.close();
  return { ended: times };
}

/** Closes engines while their threads work: what waits for them is rejected or answered, and other engines go on. */
export async function closeEngines({ times, draw, onFault }) {
  const reference = await openEngine({ threads: 2 });
  const expected = scheduleHash((await synthesize({ ...WORK, engine: reference })).schedule);
  const counts = { answered: 0, rejected: 0 };
  for (let i = 0; i < times; i++) {
    const engine = await openEngine({ threads: 2 });
    const end = synthesize({ ...WORK, engine }).then(
      ({ schedule }) => (scheduleHash(schedule) === expected ? "answered" : "a wrong answer"),
      (error) => (error?.exitCode === undefined ? `${error?.name}: ${error?.message}` : "rejected"),
    );
    await new Promise((resolve) => setTimeout(resolve, draw() * 600));
    await engine.close();
    const limit = new Promise((resolve) => setTimeout(resolve, 60_000, "nothing for a minute").unref());
    const what = await Promise.race([end, limit]);
    if (what in counts) counts[what]++;
    else onFault(`engine ${i}, closed at work: ${what}`);
  }
  await reference.close();
  return { closed: times, ...counts };
}
