import { rmSync } from "node:fs";
import { Worker } from "node:worker_threads";
import { failureOf } from "./failure.ts";
import { type ProgressDisplay, progressDisplay } from "./progress.ts";
import {
  type CommandName,
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
import { isTerminal } from "./style.ts";

/** A working thread that loads its command, and the memory it shares with this one. */
export interface Work {
  readonly command: CommandName;
  readonly worker: Worker;
  readonly flow: Int32Array<SharedArrayBuffer>;
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

/** Starts the thread that will work on a command; it loads the command's code meanwhile. */
export function startWork(command: CommandName): Work {
  const flow = new Int32Array(new SharedArrayBuffer(12));
  // This module lies beside work.js in dist/, and beside work.ts in src/.
  const file = new URL(import.meta.url.endsWith(".ts") ? "./work.ts" : "./work.js", import.meta.url);
  return { command, worker: new Worker(file, { workerData: { command, flow } }), flow };
}

const say = (line: string): void => void process.stderr.write(`banyan: ${line}\n`);

/** Shows a failure: one line, and with --debug where it came from. */
export function sayFailure(error: unknown, debug: boolean): number {
  const { line, stack, code } = failureOf(error);
  say(debug ? `${line}\n${stack}` : line);
  return code;
}

/** Returns the exit code of a job, once it has run on its thread and all that it wrote has gone out. */
export function supervise({ worker, flow }: Work, job: Job): Promise<number> {
  const temporary = new Set<string>();
  const quiet = job.options["quiet"] === true;
  const debug = job.options["debug"] === true;
  let display: ProgressDisplay | undefined;
  let writing = 0;
  let ending: number | undefined;
  let interruption: number | undefined;

  return new Promise((resolve) => {
    const finishWhenWritten = (): void => {
      if (ending === undefined || writing > 0) return;
      for (const path of temporary) rmSync(path, { recursive: true, force: true });
      resolve(ending);
    };
    const end = (code: number): void => {
      if (ending !== undefined) return;
      display?.close();
      ending = code;
      finishWhenWritten();
    };
    const write = (text: string): void => {
      writing++;
      process.stdout.write(text, () => {
        writing--;
        Atomics.sub(flow, FLOW_PENDING, 1);
        Atomics.notify(flow, FLOW_PENDING);
        finishWhenWritten();
      });
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
      const stop = (): void => {
        if (ending !== undefined) return;
        display?.erase();
        say("interrupted");
        end(code);
      };
      setTimeout(() => onceFree(() => void worker.terminate().then(stop)), GRACE_MS);
      // A kernel in the middle of its work cannot be ended from outside: then the process goes as if it had no handler.
      const go = (): void => {
        stop();
        process.removeAllListeners(signal);
        process.kill(process.pid, signal);
      };
      setTimeout(() => onceFree(go), LAST_MS);
    };

    // Nobody reads any more (`| head`): the command goes on and its exit code stands.
    process.stdout.on("error", () => Atomics.store(flow, FLOW_CLOSED, 1));
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
        case "failed": {
          display?.erase();
          if (interruption !== undefined) say("interrupted");
          else say(debug ? `${message.line}\n${message.stack}` : message.line);
          return end(interruption ?? message.code);
        }
      }
    });
    worker.on("error", (error) => {
      display?.erase();
      end(sayFailure(error, debug));
    });
    worker.on("exit", () => {
      if (interruption === undefined) end(1);
    });
    worker.postMessage({ kind: "job", job } satisfies Order);
  });
}
