import { rmSync } from "node:fs";
import { parentPort, Worker, workerData } from "node:worker_threads";
import { CancelledError, InternalError } from "../base/errors.ts";
import { textWidth, visible } from "../base/visible.ts";
import type { Progress } from "../request/option-texts.ts";
import type { Context } from "./context.ts";
import { failureJson, failureLines, failureOf, interrupted } from "./failure.ts";
import { type StandardOutput, standardErrorTaken, standardOutput } from "./files/standard-output.ts";
import type { Said } from "./program.ts";
import {
  COMMANDS,
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
  type WorkSetup,
} from "./protocol.ts";
import { isTerminal, styleOf } from "./reports/style.ts";

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

/** Shows how far the work is: one line that is written again on a terminal, else a plain line every few seconds. */
interface ProgressDisplay {
  show(progress: Progress): void;
  /** Takes the line away, so that something else can be written. */
  erase(): void;
  /** Takes the line away for good. */
  close(): void;
}

/** Short runs show nothing. */
const FIRST_AFTER_MS = 400;
const REDRAW_MS = 100;
const LINE_EVERY_MS = 5000;

/** Returns "4.2 s", "3 min 20 s", "2 h 5 min". */
function duration(seconds: number): string {
  if (seconds < 9.95) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  const minutes = Math.floor(whole / 60);
  if (minutes < 60) return `${minutes} min ${whole % 60} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** Returns the line: what, how far, elapsed, rate, time left. `seconds` since this phase began. */
export function progressLine({ what, done, total, unit = "steps" }: Progress, seconds: number): string {
  const parts = [visible(what)];
  if (done !== undefined && total !== undefined && total > 1) parts.push(visible(`${done} of ${total} ${unit}`));
  parts.push(duration(seconds));
  if (done !== undefined && total !== undefined && done > 0 && done < total && seconds > 0) {
    const rate = done / seconds;
    parts.push(rate >= 1 ? `${Number(rate.toPrecision(3))}/s` : `${duration(1 / rate)} each`);
    parts.push(`about ${duration((total - done) / rate)} left`);
  }
  return parts.join("  ");
}

/** Returns what of a line is no wider than so many columns. */
function cut(line: string, columns: number): string {
  let [end, width] = [0, 0];
  for (const character of line) {
    width += textWidth(character);
    if (width > columns) break;
    end += character.length;
  }
  return line.slice(0, end);
}

/** Returns the display on a stream. `now` in milliseconds; for tests. */
export function progressDisplay(
  stream: { write(text: string): unknown; readonly columns?: number },
  terminal: boolean,
  now: () => number = () => performance.now(),
): ProgressDisplay {
  const started = now();
  let current: Progress | null = null;
  let phaseStarted = started;
  let drawn = false;
  let lastLine = started;
  const draw = (): void => {
    if (current === null || now() - started < FIRST_AFTER_MS) return;
    const line = progressLine(current, (now() - phaseStarted) / 1000);
    if (terminal) {
      stream.write(`\r\u001b[2K${cut(line, (stream.columns || 80) - 1)}`);
      drawn = true;
    } else if (now() - lastLine >= LINE_EVERY_MS) {
      stream.write(`${line}\n`);
      lastLine = now();
    }
  };
  const timer = setInterval(draw, terminal ? REDRAW_MS : 500);
  timer.unref();
  const erase = (): void => {
    if (drawn) stream.write("\r\u001b[2K");
    drawn = false;
  };
  return {
    show(progress) {
      if (current === null || progress.what !== current.what) phaseStarted = now();
      current = progress;
    },
    erase,
    close() {
      clearInterval(timer);
      erase();
      current = null;
    },
  };
}

/** The working thread: loads one command at once, then waits for its job. The main thread stays free for Ctrl-C. */

/** Texts on their way to a slow reader before this thread waits for it. */
const MOST_PENDING = 8;
const PROGRESS_EVERY_MS = 50;

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

function contextOf({ options, colors }: Job): Context {
  const quiet = options["quiet"] === true;
  const json = options["json"] === true;
  let shown = Number.NEGATIVE_INFINITY;
  let what = "";
  const progress = (next: Progress): void => {
    const now = performance.now();
    if (quiet || (next.what === what && now - shown < PROGRESS_EVERY_MS && next.done !== next.total)) return;
    shown = now;
    what = next.what;
    send({ kind: "progress", progress: next });
  };
  return {
    options,
    json,
    quiet,
    style: styleOf(colors && !json),
    signal: interruption.signal,
    out,
    note: (text) => {
      if (!quiet) send({ kind: "note", text: visible(text) });
    },
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
