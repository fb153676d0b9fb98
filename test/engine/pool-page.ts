import { newCancelFlag } from "../../src/engine/pool/pool.ts";
import { startPackageWorker } from "../../src/engine/pool/web-worker.ts";
import type { EngineOptions } from "../../src/engine/types.ts";
import { openEngine, synthesize } from "../../src/index.browser.ts";
import type { SynthesizeRequest } from "../../src/run/verbs.ts";
import { allGather, mesh } from "../support/networks.ts";
import { scheduleText } from "../support/schedule-text.ts";

/** The page of pool-browser.test.ts: what it offers takes and gives plain data. */

let startedWorkers = 0;
const counted = (): Worker => {
  startedWorkers++;
  return startPackageWorker();
};

/** A worker that is ready, and dies of its first task. */
function dyingWorker(): Worker {
  const code = `let told = false; onmessage = () => { if (told) throw new Error("no more"); told = true; postMessage("ready"); }`;
  return new Worker(URL.createObjectURL(new Blob([code], { type: "text/javascript" })), { type: "module" });
}

async function hashOf(text: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** A task of a few milliseconds. */
const small = { kind: "match", problem: allGather(mesh(6, 5, 1000, 1500), 2, { novelty: 1, overtaking: 1 }) } as const;
const sentence = (error: unknown): string => `${(error as Error).name}: ${(error as Error).message}`;

Object.assign(globalThis, {
  async synthesizeHere(request: SynthesizeRequest, options: EngineOptions = {}): Promise<unknown> {
    startedWorkers = 0;
    const engine = await openEngine({ startWorker: counted, ...options });
    const { schedule, report } = await synthesize({ ...request, engine });
    const hash = await hashOf(scheduleText(schedule));
    await engine.close();
    return { hash, verified: report.verified, threads: engine.pool().threads, startedWorkers };
  },

  async synthesizeInWorker(request: SynthesizeRequest): Promise<unknown> {
    const worker = new Worker(new URL("./pool-nested.ts", import.meta.url), { type: "module" });
    const { text, startedWorkers } = await new Promise<{ text: string; startedWorkers: number }>((resolve, reject) => {
      worker.onmessage = ({ data }) => resolve(data);
      worker.onerror = ({ message }) => reject(new Error(message));
      worker.postMessage(request);
    });
    worker.terminate();
    return { hash: await hashOf(text), startedWorkers };
  },

  async cancelled(request: SynthesizeRequest, afterMs: number): Promise<unknown> {
    const engine = await openEngine({ threads: 2 });
    const signal = AbortSignal.timeout(afterMs);
    const ended = await synthesize({ ...request, engine, signal }).then(() => "done", sentence);
    const again = await engine.pool().run(small);
    await engine.close();
    return { ended, again: again.chunk.length };
  },

  async firstWorkerDies(): Promise<unknown> {
    startedWorkers = 0;
    const startWorker = (): Worker => (startedWorkers++ === 0 ? dyingWorker() : startPackageWorker());
    const engine = await openEngine({ threads: 1, startWorker });
    const first = await engine
      .pool()
      .run(small)
      .then(() => "done", sentence);
    const second = await engine.pool().run(small);
    await engine.close();
    return { first, second: second.chunk.length, startedWorkers };
  },

  async solvingWorkersDie(request: SynthesizeRequest): Promise<unknown> {
    const engine = await openEngine({ threads: 1, startWorker: dyingWorker });
    const { report } = await synthesize({ ...request, engine });
    await engine.close();
    return report.verified;
  },

  async workersThatDoNotStart(): Promise<unknown> {
    const missing = await openEngine({ threads: 2, startWorker: () => new Worker("missing.js", { type: "module" }) });
    const refused = await openEngine({
      threads: 2,
      startWorker: () => {
        throw new Error("not allowed");
      },
    });
    const found = [];
    for (const engine of [missing, refused]) {
      const results = await Promise.all([engine.pool().run(small), engine.pool().run(small)]);
      found.push(...results.map(({ chunk }) => chunk.length));
      await engine.close();
    }
    return found;
  },

  async closedAtWork(): Promise<unknown> {
    const engine = await openEngine({ threads: 1 });
    const big = {
      kind: "match",
      problem: allGather(mesh(32, 32), 4, { choice: 1, window: 64, lateLimit: 1 << 20 }),
    } as const;
    const running = [big, small].map((task) =>
      engine
        .pool()
        .run(task, newCancelFlag())
        .then(() => "done", sentence),
    );
    await new Promise((resolve) => setTimeout(resolve, 200));
    await engine.close();
    return Promise.all(running);
  },

  async twoEngines(request: SynthesizeRequest): Promise<unknown> {
    const engines = await Promise.all([openEngine({ threads: 2 }), openEngine({ threads: 1 })]);
    const hash = async (engine: (typeof engines)[number]): Promise<string> => {
      const { schedule } = await synthesize({ ...request, engine });
      await engine.close();
      return hashOf(scheduleText(schedule));
    };
    return Promise.all(engines.map(hash));
  },
});
