import { rmSync } from "node:fs";
import { Worker } from "node:worker_threads";
import { CancelledError, InternalError } from "../base/errors.ts";
import { failureJson, failureLines, failureOf, interrupted } from "./failure.ts";
import { type StandardOutput, standardErrorTaken, standardOutput } from "./files/standard-output.ts";
import type { Said } from "./program.ts";
import { type ProgressDisplay, progressDisplay } from "./progress.ts";
import {
  type CommandName,
  type Failure,
  FLOW_CLOSED,
  FLOW_PENDING,
  FLOW_STATE,
  type Job,
  type Message,
  type Order,
  STATE_ENDING,
  STATE_FREE,
  STATE_REPLACING,
} from "./protocol.ts";
import { isTerminal } from "./reports/style.ts";

/** A working thread that loads its command, and the memory it shares with this one. */
export interface Work {
  readonly command: CommandName;
  readonly worker: Worker;
  readonly flow: Int32Array<SharedArrayBuffer>;
  /** Resolves when the thread is no more, with the error that ended it or null. */
  readonly ended: Promise<Error | null>;
}

const SIGNALS: readonly (readonly [NodeJS.Signals, number])[] = [
  ["SIGINT", 130],
  ["SIGTERM", 143],
  ["SIGHUP", 129],
];
/** How long an interrupted command may take to end by itself, and how long its thread may take to be ended. */
const GRACE_MS = 200;
const LAST_MS = 1500;
const AGAIN_MS = 20;
/** The exit code of work that its signal cancelled. */
const CANCELLED = new CancelledError().exitCode;

/** Starts the thread that will work on a command; it loads the command's code meanwhile. */
export function startWork(command: CommandName): Work {
  const flow = new Int32Array(new SharedArrayBuffer(12));
  // This module lies beside work.js in dist/, and beside work.ts in src/.
  const file = new URL(import.meta.url.endsWith(".ts") ? "./work.ts" : "./work.js", import.meta.url);
  const worker = new Worker(file, { workerData: { command, flow } });
  const ended = new Promise<Error | null>((resolve) => {
    worker.once("error", resolve);
    worker.once("exit", () => resolve(null));
  });
  return { command, worker, flow, ended };
}

/** Removes what must not stay behind; says where it must. */
function removeFile(path: string): void {
  try {
    rmSync(path, { recursive: true, force: true });
  } catch (error) {
    say(`${path} stays behind: ${(error as Error).message}`);
  }
}

const say = (line: string): void => void process.stderr.write(`banyan: ${line}\n`);

/** Shows a failure on standard error: one line, and with --debug where it came from. */
function sayFailure(failure: Failure, debug: boolean): void {
  const lines = failureLines(failure);
  say(debug ? `${lines}\n${failure.stack}` : lines);
}

/** Returns the exit code of a process that ends with `code`, once all that was said has gone out; 2 for 0 where some is lost. */
async function finished(output: StandardOutput, code: number): Promise<number> {
  output.flush();
  const loss = output.loss();
  const failure = loss === null ? null : failureOf(loss);
  if (failure !== null) sayFailure(failure, false);
  await standardErrorTaken();
  return code || (failure?.code ?? 0);
}

/** Says what a command line without work asks for; returns the exit code. */
export async function answer({ out, err, failure }: Said, json: boolean, debug: boolean): Promise<number> {
  const output = standardOutput();
  process.stderr.on("error", () => {});
  if (err !== "") process.stderr.write(err);
  if (failure !== null) sayFailure(failure, debug);
  const text = failure !== null && json ? failureJson(failure) : out;
  if (text !== "") await new Promise<void>((done) => output.write(text, done));
  return finished(output, failure?.code ?? 0);
}

/** Returns the exit code of a job, once it has run on its thread and all that it wrote has gone out. */
export function supervise({ worker, flow, ended }: Work, job: Job): Promise<number> {
  const output = standardOutput();
  const temporary = new Set<string>();
  const quiet = job.options["quiet"] === true;
  const debug = job.options["debug"] === true;
  const json = job.options["json"] === true;
  let display: ProgressDisplay | undefined;
  let writing = 0;
  let wrote = false;
  let ending: number | undefined;
  let interruption: number | undefined;

  return new Promise((resolve) => {
    const finishWhenWritten = (): void => {
      if (ending === undefined || writing > 0) return;
      for (const path of temporary) removeFile(path);
      resolve(finished(output, ending));
    };
    const end = (code: number): void => {
      if (ending !== undefined) return;
      display?.close();
      ending = code;
      finishWhenWritten();
    };
    /** The command writes nothing more; where that is a loss, one that would go on for ever (serve) ends. */
    const close = (): void => {
      Atomics.store(flow, FLOW_CLOSED, 1);
      if (output.loss() !== null) worker.postMessage({ kind: "abort" } satisfies Order);
    };
    const write = (text: string): void => {
      writing++;
      wrote = true;
      output.write(text, () => {
        writing--;
        if (output.isClosed()) close();
        Atomics.sub(flow, FLOW_PENDING, 1);
        Atomics.notify(flow, FLOW_PENDING);
        finishWhenWritten();
      });
    };
    const fail = (failure: Failure): void => {
      if (ending !== undefined) return;
      display?.erase();
      // what has begun to be written is one object already, if not a whole one
      if (json && !wrote) write(failureJson(failure));
      sayFailure(failure, debug);
      end(failure.code);
    };
    /** Ends the thread's freedom to replace files, and its work on the one that it replaces just now comes first. */
    const onceFree = (work: () => void): void => {
      const state = Atomics.compareExchange(flow, FLOW_STATE, STATE_FREE, STATE_ENDING);
      if (state === STATE_REPLACING) setTimeout(() => onceFree(work), AGAIN_MS);
      else work();
    };
    const interrupt = (signal: NodeJS.Signals, code: number): void => {
      if (interruption !== undefined) return;
      interruption = code;
      worker.postMessage({ kind: "abort" } satisfies Order);
      const stop = (): void => fail(interrupted(code));
      setTimeout(() => onceFree(() => void worker.terminate().then(stop)), GRACE_MS);
      // A kernel in the middle of its work cannot be ended from outside: then the process goes as if it had no handler.
      const go = (): void => {
        stop();
        process.removeAllListeners(signal);
        process.kill(process.pid, signal);
      };
      setTimeout(() => onceFree(go), LAST_MS);
    };

    process.stderr.on("error", () => {});
    for (const [signal, code] of SIGNALS) process.on(signal, () => interrupt(signal, code));
    worker.on("message", (message: Message) => {
      switch (message.kind) {
        case "out":
          display?.erase();
          return write(message.text);
        case "note":
          display?.erase();
          return say(message.text);
        case "progress":
          if (quiet) return;
          display ??= progressDisplay(process.stderr, isTerminal(process.stderr, process.env));
          return display.show(message.progress);
        case "temporary":
          return void temporary.add(message.path);
        case "settled":
          return void temporary.delete(message.path);
        case "done":
          return end(message.code);
        case "failed":
          // what was lost says why this was cancelled
          if (interruption === undefined && output.loss() !== null && message.failure.code === CANCELLED) return end(0);
          return fail(interruption === undefined ? message.failure : interrupted(interruption));
      }
    });
    void ended.then((error) => {
      if (interruption !== undefined && error === null) return;
      fail(failureOf(error ?? new InternalError("the working thread ended without a result")));
    });
    worker.postMessage({ kind: "job", job } satisfies Order);
  });
}
