import { InputError } from "../base/errors.ts";
import type { Laboratory } from "./laboratory.ts";
import { type Launch, launchCommand } from "./launch.ts";

/** What Open MPI says of its launcher on machines of few cores; it means nothing. */
const MEANINGLESS = /plm:rsh: Warning: setpgid/;

/** Returns what was said without the lines that mean nothing. */
export const withoutMeaningless = (text: string): string =>
  text
    .split(/(?<=\n)/)
    .filter((line) => !MEANINGLESS.test(line))
    .join("");

/** What came of a job. */
export interface JobResult {
  readonly out: string;
  /** Why it failed, in a line; null: it did not. */
  readonly failure: string | null;
}

/** How long a job may take, and when it has said all. */
export interface JobLimits {
  readonly seconds: number;
  readonly signal: AbortSignal;
  /** Returns whether what it printed so far is all; what does not end by itself then is ended. */
  readonly isDone?: (out: string) => boolean;
}

const TIMED_OUT = 124;
/** How long processes may take to leave once all is said: MPICH over UCX's TCP may wait in MPI_Finalize for ever. */
const LEAVE_MS = 3000;

/** Returns the first line of errors that says something: launchers frame what they say. */
function firstWords(text: string): string {
  const line = withoutMeaningless(text)
    .split("\n")
    .find((one) => /[a-z]{3}/i.test(one));
  return (line ?? "no word of why").trim().slice(0, 200);
}

/**
 * Returns what a job printed: one process per NPU, ended after so many seconds. Throws what `signal` was aborted with, and
 * InputError where the laboratory ended in the middle.
 */
export async function runJob(
  laboratory: Laboratory,
  launch: Launch,
  { seconds, signal, isDone = () => false }: JobLimits,
): Promise<JobResult> {
  const { command, env } = launchCommand(launch);
  const child = laboratory.start(["timeout", "--foreground", "-k", "2", `${seconds}`, ...command], { npu: 0, env });
  let [out, errors] = ["", ""];
  let leaving: NodeJS.Timeout | undefined;
  const leave = (): void => {
    // the launcher ends its processes; what it leaves goes with the laboratory
    if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, "SIGTERM");
  };
  child.stdout?.setEncoding("utf8").on("data", (text: string) => {
    out += text;
    if (isDone(out)) leaving ??= setTimeout(leave, LEAVE_MS);
  });
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    errors += text;
  });
  const code = await new Promise<number>((done) => {
    child.on("close", (status) => done(status ?? 1)).on("error", () => done(1));
  });
  clearTimeout(leaving);
  signal.throwIfAborted();
  if (laboratory.hasEnded()) throw endedEarly();
  if (code === 0 || isDone(out)) return { out, failure: null };
  return { out, failure: code === TIMED_OUT ? `not done after ${seconds} s` : firstWords(errors) };
}

/** Returns the error of a laboratory that others ended. */
export const endedEarly = (): InputError =>
  new InputError("the laboratory", "processes that nobody ends", "ended").saying(
    "the laboratory was ended from outside, and all that ran in it",
  );
