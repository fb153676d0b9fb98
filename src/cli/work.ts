import { parentPort, workerData } from "node:worker_threads";
import { CancelledError } from "../base/errors.ts";
import { visible } from "../base/visible.ts";
import { callOptionsByFlags } from "../request/option-table.ts";
import type { Progress } from "../request/progress.ts";
import { COMMANDS } from "./commands.ts";
import { type Context, inputsOf, STANDARD_OUTPUT } from "./context.ts";
import { failureOf } from "./failure.ts";
import {
  FLOW_CLOSED,
  FLOW_PENDING,
  FLOW_STATE,
  type Job,
  type Message,
  type Order,
  STATE_FREE,
  STATE_REPLACING,
  type WorkSetup,
} from "./protocol.ts";
import { styleOf } from "./reports/style.ts";

/** The working thread: loads one command at once, then waits for its job. The main thread stays free for Ctrl-C. */

/** Texts on their way to a slow reader before this thread waits for it. */
const MOST_PENDING = 8;
const PROGRESS_EVERY_MS = 50;

callOptionsByFlags();
const { command, flow } = workerData as WorkSetup;
const port = parentPort as NonNullable<typeof parentPort>;
const loading = COMMANDS[command]();
const interruption = new AbortController();

const send = (message: Message): void => port.postMessage(message);

function out(text: string): boolean {
  if (Atomics.load(flow, FLOW_CLOSED) === 1) return false;
  Atomics.add(flow, FLOW_PENDING, 1);
  send({ kind: "out", text });
  for (;;) {
    const pending = Atomics.load(flow, FLOW_PENDING);
    if (pending <= MOST_PENDING || Atomics.load(flow, FLOW_CLOSED) === 1) break;
    Atomics.wait(flow, FLOW_PENDING, pending, 1000);
  }
  return Atomics.load(flow, FLOW_CLOSED) === 0;
}

function uninterrupted<T>(work: () => T): T {
  if (Atomics.compareExchange(flow, FLOW_STATE, STATE_FREE, STATE_REPLACING) !== STATE_FREE) throw new CancelledError();
  try {
    return work();
  } finally {
    Atomics.store(flow, FLOW_STATE, STATE_FREE);
  }
}

function contextOf({ command: verb, args, options, colors, terminal }: Job): Context {
  const quiet = options["quiet"] === true;
  const writesOut = options["output"] === STANDARD_OUTPUT;
  const json = options["json"] === true;
  let shown = Number.NEGATIVE_INFINITY;
  let what = "";
  const warnings: string[] = [];
  const progress = (next: Progress): void => {
    const now = performance.now();
    if (quiet || (next.what === what && now - shown < PROGRESS_EVERY_MS && next.done !== next.total)) return;
    shown = now;
    what = next.what;
    send({ kind: "progress", progress: next });
  };
  return {
    verb,
    options,
    json,
    quiet: quiet || writesOut,
    style: styleOf(colors && !json),
    terminal: json ? null : terminal,
    inputs: inputsOf(args, options),
    signal: interruption.signal,
    out,
    keep: (text) => send({ kind: "keep", text }),
    keepFolder: (from, to, said) => send({ kind: "keep folder", from, to, said }),
    warnings,
    note: (text) => {
      warnings.push(visible(text));
      if (!quiet) send({ kind: "note", text: visible(text) });
    },
    grace: (ms) => send({ kind: "grace", ms }),
    progress,
    uninterrupted,
    temporary: {
      add: (path) => send({ kind: "temporary", path }),
      remove: (path) => send({ kind: "settled", path }),
    },
  };
}

async function work(job: Job): Promise<void> {
  try {
    const { run } = await loading;
    send({ kind: "done", code: await run(contextOf(job), job.args) });
  } catch (error) {
    send({ kind: "failed", failure: failureOf(error) });
  }
}

port.on("message", (order: Order) => {
  if (order.kind === "abort") interruption.abort();
  else void work(order.job);
});
// A load that fails is reported with the job.
loading.catch(() => {});
