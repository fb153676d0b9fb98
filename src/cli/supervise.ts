import { renameSync, rmSync } from "node:fs";
import { Worker } from "node:worker_threads";
import { CancelledError, InternalError } from "../base/errors.ts";
import type { Said } from "./command-line.ts";
import { failureJson, failureLines, failureOf, interrupted } from "./failure.ts";
import { type StandardOutput, standardErrorTaken, standardOutput } from "./files/standard-output.ts";
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
import { isTerminal } from "./terminal.ts";

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
export async function answer(
  { out, err, failure }: Said,
  verb: CommandName | null,
  json: boolean,
  debug: boolean,
): Promise<number> {
  const output = standardOutput();
  process.stderr.on("error", () => {});
  if (err !== "") process.stderr.write(err);
  if (failure !== null) sayFailure(failure, debug);
  const text = failure !== null && json ? failureJson(failure, verb) : out;
  if (text !== "") await new Promise<void>((done) => output.write(text, done));
  return finished(output, failure?.code ?? 0);
}

/** Returns the exit code of a job, once it has run on its thread and all that it wrote has gone out. */
export const supervise = (work: Work, job: Job): Promise<number> => new Supervision(work, job).ended;

/** One job on its thread: what it says, how it is interrupted, and when all of it is done. */
class Supervision {
  /** The exit code. */
  readonly ended: Promise<number>;
  private readonly work: Work;
  private resolve: (code: Promise<number>) => void = () => undefined;
  private readonly output = standardOutput();
  private readonly temporary = new Set<string>();
  private readonly quiet: boolean;
  private readonly debug: boolean;
  private readonly json: boolean;
  private display: ProgressDisplay | undefined;
  private writing = 0;
  private wrote = false;
  private kept: string | null = null;
  private keptFolder: Extract<Message, { kind: "keep folder" }> | null = null;
  private ending: number | undefined;
  private interruption: number | undefined;
  /** What the command asks for, so that it can end by itself. */
  private graceMs = 0;
  private isHurried = false;

  constructor(work: Work, job: Job) {
    this.work = work;
    this.quiet = job.options["quiet"] === true;
    this.debug = job.options["debug"] === true;
    this.json = job.options["json"] === true;
    this.ended = new Promise((resolve) => {
      this.resolve = resolve;
    });
    const { worker, ended } = work;
    process.stderr.on("error", () => {});
    for (const [signal, code] of SIGNALS) process.on(signal, () => this.interrupt(signal, code));
    worker.on("message", (message: Message) => this.hear(message));
    void ended.then((error) => {
      if (this.interruption !== undefined && error === null) return;
      this.fail(failureOf(error ?? new InternalError("the working thread ended without a result")));
    });
    worker.postMessage({ kind: "job", job } satisfies Order);
  }

  private finishWhenWritten(): void {
    if (this.ending === undefined || this.writing > 0) return;
    for (const path of this.temporary) removeFile(path);
    if (this.keptFolder?.from != null) removeFile(this.keptFolder.from);
    this.keptFolder = null;
    this.resolve(finished(this.output, this.ending));
  }

  private end(code: number): void {
    if (this.ending !== undefined) return;
    this.display?.close();
    this.ending = code;
    this.finishWhenWritten();
  }

  /** The command writes nothing more; where that is a loss, one that would go on for ever (serve) ends. */
  private close(): void {
    Atomics.store(this.work.flow, FLOW_CLOSED, 1);
    if (this.output.loss() !== null) this.work.worker.postMessage({ kind: "abort" } satisfies Order);
  }

  private write(text: string): void {
    this.writing++;
    this.wrote = true;
    this.output.write(text, () => {
      this.writing--;
      if (this.output.isClosed()) this.close();
      Atomics.sub(this.work.flow, FLOW_PENDING, 1);
      Atomics.notify(this.work.flow, FLOW_PENDING);
      this.finishWhenWritten();
    });
  }

  private fail(failure: Failure): void {
    if (this.ending !== undefined) return;
    this.display?.erase();
    if (this.interruption !== undefined && this.kept !== null) this.write(this.kept);
    // what has begun to be written is one object already, if not a whole one
    if (this.json && !this.wrote) this.write(failureJson(failure, this.work.command));
    sayFailure(failure, this.debug);
    if (this.interruption !== undefined) this.leaveFolder();
    this.end(failure.code);
  }

  /** Gives the folder that was kept for an interruption its name, and says so. */
  private leaveFolder(): void {
    const kept = this.keptFolder;
    this.keptFolder = null;
    if (kept === null || kept.said === "") return;
    try {
      if (kept.from !== null) renameSync(kept.from, kept.to);
      say(kept.said);
    } catch (error) {
      say(`${kept.from} has what was finished, for it could not be renamed: ${(error as Error).message}`);
    }
  }

  /** Ends the thread's freedom to replace files, and its work on the one that it replaces just now comes first. */
  private onceFree(act: () => void): void {
    const state = Atomics.compareExchange(this.work.flow, FLOW_STATE, STATE_FREE, STATE_ENDING);
    if (state === STATE_REPLACING) setTimeout(() => this.onceFree(act), AGAIN_MS);
    else act();
  }

  private interrupt(signal: NodeJS.Signals, code: number): void {
    if (this.interruption === undefined) {
      this.interruption = code;
      this.work.worker.postMessage({ kind: "abort" } satisfies Order);
      if (this.graceMs > 0) setTimeout(() => this.hurry(signal, code), this.graceMs);
      else this.hurry(signal, code);
    } else if (this.graceMs > 0) this.hurry(signal, code);
  }

  /** Ends the work that does not end by itself. */
  private hurry(signal: NodeJS.Signals, code: number): void {
    if (this.isHurried) return;
    this.isHurried = true;
    const { worker } = this.work;
    const stop = (): void => this.fail(interrupted(code));
    setTimeout(() => this.onceFree(() => void worker.terminate().then(stop)), GRACE_MS);
    // A kernel in the middle of its work cannot be ended from outside: then the process goes as if it had no handler.
    const go = (): void => {
      stop();
      process.removeAllListeners(signal);
      process.kill(process.pid, signal);
    };
    setTimeout(() => this.onceFree(go), LAST_MS);
  }

  private hear(message: Message): unknown {
    switch (message.kind) {
      case "out":
        this.display?.erase();
        return this.write(message.text);
      case "keep":
        this.kept = message.text;
        return undefined;
      case "keep folder":
        if (message.from !== null) this.temporary.delete(message.from);
        if (this.keptFolder?.from != null) removeFile(this.keptFolder.from);
        this.keptFolder = message;
        return undefined;
      case "note":
        this.display?.erase();
        return say(message.text);
      case "grace":
        this.graceMs = message.ms;
        return undefined;
      case "progress":
        if (this.quiet) return undefined;
        this.display ??= progressDisplay(process.stderr, isTerminal(process.stderr, process.env));
        return this.display.show(message.progress);
      case "temporary":
        return this.temporary.add(message.path);
      case "settled":
        return this.temporary.delete(message.path);
      case "done":
        return this.end(message.code);
      case "failed":
        // what was lost says why this was cancelled
        if (this.interruption === undefined && this.output.loss() !== null && message.failure.code === CANCELLED)
          return this.end(0);
        return this.fail(this.interruption === undefined ? message.failure : interrupted(this.interruption));
    }
  }
}
