import { Worker } from "node:worker_threads";
import { InfeasibleError, InputError } from "../base/errors.ts";
import { openEngine } from "../engine/engine.ts";
import { parseBackend } from "../engine/kernels/choose.ts";
import type { Engine } from "../engine/types.ts";
import type { Outcome, SweepTask } from "../model/sweep/task.ts";
import { callOptionsByFlags } from "../request/option-table.ts";
import { runTask } from "../run/sweep/run-task.ts";
import type { ContentStore } from "./store.ts";
import { openStore } from "./store.ts";

/** A process that does tasks one after another, as its parent hands them over (executors.ts). */

/** What a parent says: first how the process is set up, then tasks. */
export type Order =
  | { readonly kind: "setup"; readonly backend: string | null; readonly threads: number; readonly store: string }
  | { readonly kind: "task"; readonly task: SweepTask };

/** What the process answers. */
export type Answer =
  | { readonly kind: "ready"; readonly backend: string }
  /** It cannot work: no such backend, no such store, no room there. That is no outcome of a task. */
  | { readonly kind: "unfit"; readonly why: string }
  | ({ readonly kind: "ended"; readonly seconds: number; readonly residentBytes: number } & Pick<
      Outcome,
      "status" | "why" | "rows" | "schedule"
    >);

const MS_PER_S = 1000;
/** How often it is looked whether the parent is there. */
const PARENT_MS = 1000;
const encoder = new TextEncoder();

callOptionsByFlags();
const say = (answer: Answer): void => void process.send?.(answer);
let engine: Engine | undefined;
let store: ContentStore | undefined;

async function setUp({ backend, threads, store: place }: Extract<Order, { kind: "setup" }>): Promise<void> {
  try {
    store = await openStore(place);
    engine = await openEngine({ ...(backend === null ? {} : { backend: parseBackend(backend, "backend") }), threads });
    say({ kind: "ready", backend: engine.backend });
  } catch (error) {
    say({ kind: "unfit", why: (error as Error).message });
  }
}

/** Returns the parts of a file as one. */
function joined(parts: Iterable<string | Uint8Array>): Uint8Array {
  const list = Array.from(parts, (part) => (typeof part === "string" ? encoder.encode(part) : part.slice()));
  const bytes = new Uint8Array(list.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of list) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}

type Ended = Pick<Outcome, "status" | "why" | "rows" | "schedule">;

/** What the store did not do. */
class StoreError extends Error {}

/** Returns what the store gives; where it fails, that is not the task's fault. */
async function fromStore<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw new StoreError((error as Error).message);
  }
}

async function done(task: SweepTask, own: Engine, kept: ContentStore): Promise<Ended> {
  try {
    const result = await runTask(own, task, {
      input: (sha256) => fromStore(kept.get(sha256)),
      keep: async (parts) => {
        const bytes = joined(parts);
        return { sha256: await fromStore(kept.put(bytes)), bytes: bytes.length };
      },
      signal: new AbortController().signal,
    });
    return { status: "done", why: null, ...result };
  } catch (error) {
    const none = { why: (error as Error).message, rows: [], schedule: null };
    if (error instanceof InfeasibleError) return { status: "infeasible", ...none };
    if (error instanceof InputError) return { status: "refused", ...none };
    if (error instanceof StoreError) throw error;
    return { status: "crashed", ...none };
  }
}

process.on("message", (order: Order) => {
  if (order.kind === "setup") {
    void setUp(order);
    return;
  }
  const began = performance.now();
  void done(order.task, engine as Engine, store as ContentStore).then(
    (ended) => {
      const seconds = (performance.now() - began) / MS_PER_S;
      say({ kind: "ended", ...ended, seconds, residentBytes: process.memoryUsage.rss() });
    },
    (error: Error) => say({ kind: "unfit", why: error.message }),
  );
});
// a parent that is gone asks nothing more
process.on("disconnect", () => process.exit(0));
// Ctrl-C reaches all processes of a terminal, and SIGTERM those of a job or service: the parent decides
process.on("SIGINT", () => undefined);
process.on("SIGTERM", () => undefined);
// in the middle of a task this thread does not hear that the parent was killed
new Worker(
  `const parent = process.ppid; setInterval(() => process.ppid === parent || process.kill(process.pid, "SIGKILL"), ${PARENT_MS})`,
  { eval: true },
).unref();
