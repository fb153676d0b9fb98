// Work that is cancelled at random moments: it ends soon, with CancelledError or the right answer, and the same engine then
// gives the same bytes as one that nobody disturbed.
import { createHash } from "node:crypto";
import {
  allToAll,
  CancelledError,
  compare,
  degrade,
  isPhaseSchedule,
  isTreeFlow,
  openEngine,
  phasesToJson,
  scheduleToJson,
  search,
  synthesize,
  topology,
  treeFlowToJson,
} from "../dist/index.js";

/** From the signal to the end, on a machine that is busy with others. */
const MOST_MS = 10_000;
/** Undisturbed runs among the cancelled ones: one in so many. */
const WHOLE_EVERY = 10;

const hash = (text) => createHash("sha256").update(text).digest("hex");

function scheduleText(schedule) {
  if (isTreeFlow(schedule)) return treeFlowToJson(schedule);
  return isPhaseSchedule(schedule) ? phasesToJson(schedule) : scheduleToJson(schedule);
}

/** Returns the hash of a schedule. */
export const scheduleHash = (schedule) => hash(scheduleText(schedule));

/** A value as text without what clocks said. */
const timeless = (value) =>
  JSON.stringify(value, (key, part) =>
    /Ms$/.test(key) ? undefined : typeof part === "bigint" ? `${part}` : ArrayBuffer.isView(part) ? [...part] : part,
  );

const sizeBytes = 2 ** 20;
const schedule = (name, request) => ({
  name,
  run: async (hooks) => scheduleHash((await synthesize({ sizeBytes, ...request, ...hooks })).schedule),
});
const unlike = degrade(topology("mesh:3x3"), [["0-1", 0.5]]);

/** What is cancelled: each gives the hash of its answer. */
export const WORKS = [
  schedule("tacos", { topology: degrade(topology("mesh:4x4"), [["0-1", 0.5]]), collective: "allreduce", trials: 8 }),
  schedule("tacos on the pool", { topology: "mesh:22x22", collective: "allgather", trials: 2 }),
  schedule("forestcoll", { topology: unlike, collective: "allgather", algorithm: "forestcoll" }),
  schedule("forestcoll all-reduce", { topology: "dgx-a100:2", collective: "allreduce", algorithm: "forestcoll" }),
  schedule("bfb", { topology: "hypercube:5", collective: "allgather", algorithm: "bfb" }),
  schedule("taccl", { topology: "ring:5", collective: "allgather", algorithm: "taccl" }),
  schedule("tacos-ilp", { topology: "mesh:2x3", collective: "allgather", algorithm: "tacos-ilp" }),
  schedule("sccl", { topology: "ring:5", collective: "allgather", algorithm: "sccl" }),
  schedule("themis", { topology: "mesh:4x4", collective: "allreduce", algorithm: "themis", chunks: 4 }),
  schedule("mcf", { topology: "mesh:3x3", collective: "alltoall", algorithm: "mcf" }),
  schedule("auto", { topology: "mesh:2x2", collective: "allgather", algorithm: "auto", timeLimitMs: 1e6 }),
  {
    name: "all-to-all flow",
    run: async (hooks) => hash(timeless(await allToAll({ topology: unlike, gap: 0.002, ...hooks }))),
  },
  { name: "search", run: async (hooks) => hash(timeless(await search({ nodes: 10, degree: 2, ...hooks }))) },
  {
    name: "compare",
    run: async (hooks) => {
      const algorithms = ["tacos", "ring", "direct"];
      const request = { topology: "mesh:3x3", collective: "allgather", sizesBytes: [1024, 2 ** 20], algorithms };
      return hash(timeless(await compare({ ...request, ...hooks })));
    },
  },
];

/** Returns how a run ended: "done", "cancelled", or what is wrong with it; and how long after the signal. */
async function cancelled(work, engine, expected, when) {
  const controller = new AbortController();
  let steps = 0;
  let at;
  const abort = () => {
    at ??= performance.now();
    controller.abort();
  };
  if (when.ms === 0) abort();
  const timer = when.ms > 0 ? setTimeout(abort, when.ms) : undefined;
  const onProgress = () => {
    if (++steps === when.step) abort();
  };
  let end;
  try {
    const answer = await work.run({ engine, signal: controller.signal, onProgress });
    end = answer === expected ? "done" : "a wrong answer";
  } catch (error) {
    end = error instanceof CancelledError ? "cancelled" : `${error?.name}: ${error?.message}`;
  }
  clearTimeout(timer);
  return { end, lateMs: at === undefined ? 0 : performance.now() - at };
}

/**
 * Cancels each work `times` times on one engine with so many threads; `draw` gives random numbers in [0, 1). Returns a row for
 * each work; gives what is wrong to `onFault`.
 */
export async function cancelAll({ times, threads, draw, names = /./, onFault, onRun = () => {} }) {
  const rows = [];
  const engine = await openEngine({ threads });
  try {
    for (const work of WORKS.filter(({ name }) => names.test(name))) {
      const fresh = await openEngine({ threads });
      const expected = await work.run({ engine: fresh });
      await fresh.close();
      const start = performance.now();
      let steps = 0;
      await work.run({ engine, onProgress: () => steps++ });
      const wholeMs = performance.now() - start;
      const row = { name: work.name, wholeMs, done: 0, cancelled: 0, whole: 0, latestMs: 0 };
      for (let i = 0; i < times; i++) {
        onRun(work.name, i);
        const byStep = draw() < 0.3 && steps > 0;
        const when = byStep
          ? { step: 1 + Math.floor(draw() * steps) }
          : { ms: draw() < 0.05 ? 0 : Math.max(0.01, draw() * 1.1 * wholeMs) };
        const { end, lateMs } = await cancelled(work, engine, expected, when);
        const say = (what) =>
          onFault(`${work.name} with ${threads} threads, cancelled at ${JSON.stringify(when)}: ${what}`);
        if (end === "done" || end === "cancelled") row[end]++;
        else say(end);
        row.latestMs = Math.max(row.latestMs, lateMs);
        if (lateMs > MOST_MS) say(`ends ${lateMs.toFixed(0)} ms late`);
        if (i % WHOLE_EVERY !== WHOLE_EVERY - 1 && i !== times - 1) continue;
        row.whole++;
        if ((await work.run({ engine })) !== expected) say("the next run gives something else");
      }
      rows.push(row);
    }
  } finally {
    await engine.close();
  }
  return rows;
}
