import { type ChildProcess, spawn } from "node:child_process";
import { CancelledError, InputError } from "../base/errors.ts";

/** A job that measures: one process, which starts all others. */
export interface Job {
  /** What errors call it. */
  readonly name: string;
  /** Starts it; its output and its errors are pipes. */
  start(): ChildProcess;
  /** The process leads a group of its own, which is ended with it. */
  readonly leadsGroup: boolean;
}

/** Returns a job that a line of a shell starts, as "mpirun -np 4"; the arguments follow it, `input` is its standard input. */
export const shellJob = (
  launch: string,
  args: readonly string[],
  {
    input = "",
    environment = {},
  }: { readonly input?: string; readonly environment?: Readonly<Record<string, string>> },
): Job => ({
  name: launch,
  leadsGroup: true,
  start() {
    const child = spawn("/bin/sh", ["-c", `${launch} "$@"`, launch, ...args], {
      ...{ detached: true, stdio: ["pipe", "pipe", "pipe"], env: { ...process.env, ...environment } },
    });
    // a launcher that ends before it has read its input says why by itself
    child.stdin?.on("error", () => undefined);
    child.stdin?.end(input);
    return child;
  },
});

export interface JobOptions {
  readonly signal: AbortSignal;
  /** A job that says nothing for so long is ended. */
  readonly silenceMs?: number;
  /** Takes each line of standard output; a job that makes it throw is ended. */
  readonly onLine: (line: string) => void;
  /** Whether it has said all: what then does not end by itself is ended. */
  readonly isDone?: () => boolean;
}

/** How long processes may take to leave once all is said: MPICH over UCX's TCP may wait in MPI_Finalize for ever. */
const LEAVE_MS = 3_000;

const SILENCE_MS = 120_000;
/** How long a launcher may take to end its processes before it is killed with them. */
const KILL_MS = 5_000;
/** What is kept of standard error, from its beginning. */
const FIRST_WORDS = 16_384;

/** Returns the line of an error's text that says what is wrong: the first of a launcher, the last of a Python traceback. */
export function errorLine(text: string): string {
  const lines = text
    .split("\n")
    .map((line) => line.replace(/^[\s=*-]+/, "").trim())
    .filter((line) => /[a-z]/i.test(line));
  const raised = /^(?:\[[^\]]*\]:? *)?(?:[a-z_]+\.)*[A-Z]\w*(?:Error|Exception)\b/;
  const found = text.includes("Traceback") ? lines.find((line) => raised.test(line)) : undefined;
  return found ?? lines[0] ?? "";
}

/**
 * Runs a job until it ends, and returns its exit code and the line of its standard error that says most. The launcher and what it
 * started are ended where `signal` aborts (CancelledError), nothing is heard for `silenceMs` (InputError), or a line is refused.
 */
export function runJob(
  job: Job,
  { signal, silenceMs = SILENCE_MS, onLine, isDone = () => false }: JobOptions,
): Promise<{ readonly code: number | null; readonly error: string }> {
  if (signal.aborted) return Promise.reject(new CancelledError());
  return new Promise((resolve, reject) => {
    const child = job.start();
    let words = "";
    let rest = "";
    let failure: unknown;
    let silence: NodeJS.Timeout | undefined;
    let killing: NodeJS.Timeout | undefined;
    let leaving: NodeJS.Timeout | undefined;
    const send = (name: NodeJS.Signals): void => {
      try {
        process.kill((job.leadsGroup ? -1 : 1) * (child.pid as number), name);
      } catch {
        // it has ended
      }
    };
    const stop = (): void => {
      send("SIGTERM");
      killing ??= setTimeout(() => send("SIGKILL"), KILL_MS);
    };
    const end = (why: unknown): void => {
      if (failure !== undefined || child.pid === undefined) return;
      failure = why;
      stop();
    };
    const hear = (): void => {
      clearTimeout(silence);
      silence = setTimeout(() => {
        const said = errorLine(words);
        const heard = said === "" ? "" : `; it said: ${said}`;
        end(
          new InputError(job.name, "a job that goes on").saying(
            `${job.name} said nothing for ${Math.round(silenceMs / 1000)} s and was ended${heard}`,
          ),
        );
      }, silenceMs);
    };
    const cancel = (): void => end(new CancelledError());
    signal.addEventListener("abort", cancel, { once: true });
    hear();
    child.stdout?.setEncoding("utf8").on("data", (text: string) => {
      hear();
      const lines = `${rest}${text}`.split("\n");
      rest = lines.pop() as string;
      try {
        if (failure === undefined) for (const line of lines) onLine(line);
        if (isDone()) leaving ??= setTimeout(stop, LEAVE_MS);
      } catch (error) {
        end(error);
      }
    });
    child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      if (words.length < FIRST_WORDS) words += text;
    });
    const settle = (code: number | null): void => {
      clearTimeout(silence);
      clearTimeout(killing);
      clearTimeout(leaving);
      signal.removeEventListener("abort", cancel);
      if (failure !== undefined) reject(failure);
      else resolve({ code, error: errorLine(words) });
    };
    child.on("error", (error) => {
      words += error.message;
      settle(null);
    });
    child.on("close", settle);
  });
}
