import { type ChildProcess, fork, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { hostname } from "node:os";
import { fileURLToPath } from "node:url";
import { CancelledError, InputError } from "../base/errors.ts";
import type { Job, Outcome } from "../model/sweep/task.ts";
import type { Answer, Order } from "./executor-process.ts";

/** Processes of this machine that do tasks one at a time each. A task that crashes or eats its memory takes its process only. */
export interface Executors {
  /** How many tasks are done at once. */
  readonly size: number;
  /** The kernels that the processes have: "native", "wasm" or "js". */
  readonly backend: string;
  /**
   * Does a task. Resolves to "crashed", "timeout" or "memory" where it ends so; rejects with CancelledError, and with InputError where no
   * process can work or the store fails, which is no outcome of a task.
   */
  execute(job: Job, signal: AbortSignal): Promise<Outcome>;
  /** Ends the processes. */
  close(): Promise<void>;
}

/** What executors are opened with. */
export interface ExecutorOptions {
  readonly size: number;
  /** The backend that tasks are to be done by; null: the first that loads. */
  readonly backend: string | null;
  /** Threads of each process. */
  readonly threads: number;
  /** Where inputs are and schedules go: a folder or an address (`openStore`). */
  readonly store: string;
  /** Most memory of one process, where a task says no less; null: no limit. */
  readonly memoryBytes: number | null;
}

const MIB = 2 ** 20;
/** How often the memory of a process that works is looked at. */
const LOOK_MS = 50;
/** A process that keeps more than this between tasks is replaced. */
const MOST_KEPT = 1024 * MIB;
/** A crash may be of the machine and not of the task. */
const MOST_CRASHES = 2;
/** Whoever kills processes from outside is not the task's fault. */
const MOST_KILLED = 20;
/** How often a process is started in place of one that was killed before it was there. */
const MOST_STARTS = 10;
/** What is kept of a process's last words. */
const LAST_WORDS = 4096;
/** Signals of code that went wrong. */
const OF_THE_TASK: readonly (NodeJS.Signals | null)[] = ["SIGSEGV", "SIGBUS", "SIGILL", "SIGFPE", "SIGABRT", "SIGTRAP"];

const FILE = new URL(
  // sources run beside a build only: Node 20 reads no TypeScript
  import.meta.url.endsWith(".ts") ? "../../dist/command/cli/executor-process.js" : "./executor-process.js",
  import.meta.url,
);

/** Returns the memory that a process holds, in bytes; null where nobody says. */
function residentBytes(pid: number): number | null {
  try {
    if (process.platform === "linux") return Number(readFileSync(`/proc/${pid}/statm`, "utf8").split(" ")[1]) * 4096;
    const { stdout } = spawnSync("ps", ["-o", "rss=", "-p", String(pid)], { encoding: "utf8" });
    const kib = Number(stdout);
    return kib > 0 ? kib * 1024 : null;
  } catch {
    return null;
  }
}

/** How a process ended that gave no answer. */
interface Death {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly lastWords: string;
}

/** A process, and who waits for its next answer. */
interface Executor {
  readonly child: ChildProcess;
  readonly backend: string;
  ask(order: Order): Promise<Answer | Death>;
  end(): void;
}

/** Starts a process and sets it up; one that is killed meanwhile is started again. Rejects with InputError where it cannot work. */
async function started(options: ExecutorOptions, attempt = 1): Promise<Executor> {
  const answer = await startedOnce(options);
  if (!("signal" in answer)) return answer;
  if (answer.signal !== null && attempt < MOST_STARTS) return started(options, attempt + 1);
  const words = firstLine(answer.lastWords);
  throw new InputError("a process for tasks", "one that starts").saying(
    `no process for tasks could be started: ${words === "" ? deathText(answer) : words}`,
  );
}

async function startedOnce({ backend, threads, store, memoryBytes }: ExecutorOptions): Promise<Executor | Death> {
  const heap = memoryBytes === null ? [] : [`--max-old-space-size=${Math.max(64, Math.floor(memoryBytes / MIB))}`];
  const child = fork(fileURLToPath(FILE), [], {
    execArgv: heap,
    // what code says that goes wrong is for the sentence about it
    stdio: ["ignore", "ignore", "pipe", "ipc"],
  });
  let lastWords = "";
  child.stderr?.on("data", (text: Buffer) => {
    lastWords = (lastWords + text.toString()).slice(-LAST_WORDS);
  });
  let heard: ((answer: Answer | Death) => void) | undefined;
  let death: Death | undefined;
  const hear = (answer: Answer | Death): void => {
    const to = heard;
    heard = undefined;
    to?.(answer);
  };
  child.on("message", hear);
  const dies = (code: number | null, signal: NodeJS.Signals | null): void => {
    death ??= { code, signal, lastWords };
    hear(death);
  };
  child.on("error", (error) => {
    lastWords += error.message;
    dies(null, null);
  });
  // "close" comes after the last words
  child.on("close", dies);
  const ask = (order: Order): Promise<Answer | Death> =>
    new Promise((resolve) => {
      if (death !== undefined) return resolve(death);
      heard = resolve;
      child.send(order, (error) => {
        if (error !== null) child.kill("SIGKILL");
      });
    });
  const answer = await ask({ kind: "setup", backend, threads, store });
  if ("kind" in answer && answer.kind === "ready")
    return { child, backend: answer.backend, ask, end: () => void child.kill("SIGKILL") };
  child.kill("SIGKILL");
  if (!("kind" in answer)) return answer;
  const why = answer.kind === "unfit" ? answer.why : "it did not answer";
  throw new InputError("a process for tasks", "one that can work").saying(why);
}

const firstLine = (text: string): string =>
  text
    .split("\n")
    .find((line) => line.trim() !== "")
    ?.trim() ?? "";

const deathText = ({ code, signal }: Death): string =>
  signal === null ? `it ended with exit code ${code}` : `it was ended by ${signal}`;

/** What watches a task: its time and memory. */
interface Watch {
  readonly ended: () => "timeout" | "memory" | "cancelled" | null;
  readonly peakBytes: () => number;
  stop(): void;
}

function watch({ child }: Executor, { budget }: Job, most: number | null, signal: AbortSignal): Watch {
  let why: "timeout" | "memory" | "cancelled" | null = null;
  let peak = 0;
  const end = (reason: "timeout" | "memory" | "cancelled"): void => {
    why ??= reason;
    child.kill("SIGKILL");
  };
  const memory = budget.memoryBytes ?? most;
  const clock = budget.timeMs === null ? undefined : setTimeout(() => end("timeout"), budget.timeMs);
  const looking = setInterval(() => {
    const bytes = residentBytes(child.pid as number) ?? 0;
    peak = Math.max(peak, bytes);
    if (memory !== null && bytes > memory) end("memory");
  }, LOOK_MS);
  const cancel = (): void => end("cancelled");
  signal.addEventListener("abort", cancel);
  return {
    ended: () => why,
    peakBytes: () => peak,
    stop: () => {
      clearTimeout(clock);
      clearInterval(looking);
      signal.removeEventListener("abort", cancel);
    },
  };
}

const gibText = (bytes: number): string => `${Math.round(bytes / MIB)} MiB`;

/**
 * Opens processes for tasks. They are started as they are needed, and anew where a task ended one. Rejects with InputError where
 * none can work: no such backend, a store that cannot be reached.
 */
export async function openExecutors(options: ExecutorOptions): Promise<Executors> {
  const { size, memoryBytes } = options;
  const first = await started(options);
  const idle: Executor[] = [first];
  const all = new Set<Executor>([first]);
  const waiting: (() => void)[] = [];
  let busy = 0;
  let isClosed = false;

  const taken = async (): Promise<Executor> => {
    const free = idle.pop();
    if (free !== undefined) return free;
    const fresh = await started(options);
    all.add(fresh);
    if (isClosed) fresh.end();
    return fresh;
  };
  const turn = async (): Promise<void> => {
    if (busy >= size) await new Promise<void>((resolve) => waiting.push(resolve));
    else busy++;
  };
  const done = (): void => {
    const next = waiting.shift();
    if (next === undefined) busy--;
    else next();
  };
  const drop = (executor: Executor): void => {
    all.delete(executor);
    executor.end();
  };

  /** Does a task once; returns what came of it, and whether its process was killed from outside. */
  const once = async (
    job: Job,
    signal: AbortSignal,
  ): Promise<Omit<Outcome, "hash"> & { readonly isKilled?: boolean }> => {
    const executor = await taken();
    const watched = watch(executor, job, memoryBytes, signal);
    if (signal.aborted) executor.end();
    const began = performance.now();
    const answer = await executor.ask({ kind: "task", task: job.task });
    watched.stop();
    const seconds = (performance.now() - began) / 1000;
    const worker = `${hostname()}:${executor.child.pid}`;
    if ("kind" in answer && answer.kind === "ended") {
      const { status, why, rows, schedule, residentBytes: resident } = answer;
      if (resident > Math.min(MOST_KEPT, (memoryBytes ?? Number.POSITIVE_INFINITY) / 2)) drop(executor);
      else idle.push(executor);
      const peakMiB = Math.round(Math.max(watched.peakBytes(), resident) / MIB);
      return { status, why, rows, schedule, measured: { seconds: answer.seconds, peakMiB, attempts: 1, worker } };
    }
    drop(executor);
    if ("kind" in answer && answer.kind === "unfit")
      throw new InputError("a process for tasks", answer.why).saying(answer.why);
    const reason = watched.ended();
    if (reason === "cancelled" || signal.aborted) throw new CancelledError();
    const peakMiB = Math.round(watched.peakBytes() / MIB);
    const measured = { seconds, peakMiB, attempts: 1, worker };
    const none = { rows: [], schedule: null, measured };
    const { timeMs, memoryBytes: own } = job.budget;
    if (reason === "timeout")
      return { status: "timeout", why: `it took more than ${(timeMs as number) / 1000} s`, ...none };
    const death = answer as Death;
    const memory = own ?? memoryBytes;
    if (reason === "memory" || /heap out of memory/i.test(death.lastWords))
      return {
        status: "memory",
        why: memory === null ? "it took more memory than there is" : `it took more than ${gibText(memory)} of memory`,
        ...none,
      };
    const isKilled = death.signal !== null && !OF_THE_TASK.includes(death.signal);
    return { status: "crashed", why: `its process did not come to the end: ${deathText(death)}`, ...none, isKilled };
  };

  const execute = async (job: Job, signal: AbortSignal): Promise<Outcome> => {
    await turn();
    try {
      for (let crashes = 0, killed = 0; ; ) {
        if (signal.aborted || isClosed) throw new CancelledError();
        const { isKilled, ...outcome } = await once(job, signal);
        if (isKilled) killed++;
        else if (outcome.status === "crashed") crashes++;
        const isOver = outcome.status !== "crashed" || crashes === MOST_CRASHES || killed === MOST_KILLED;
        if (!isOver) continue;
        const attempts = crashes + killed + (outcome.status === "crashed" ? 0 : 1);
        return { hash: job.hash, ...outcome, measured: { ...outcome.measured, attempts } };
      }
    } finally {
      done();
    }
  };

  return {
    size,
    backend: first.backend,
    execute,
    close: async () => {
      isClosed = true;
      for (const executor of all) executor.end();
      for (const next of waiting.splice(0)) next();
    },
  };
}
