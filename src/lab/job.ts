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
  let isLate = false;
  const child = laboratory.start(command, { npu: 0, env });
  const limit = setTimeout(() => {
    isLate = true;
    endAll(laboratory);
  }, seconds * 1000);
  let [out, errors] = ["", ""];
  let leaving: NodeJS.Timeout | undefined;
  child.stdout?.setEncoding("utf8").on("data", (text: string) => {
    out += text;
    if (isDone(out)) leaving ??= setTimeout(() => endAll(laboratory), LEAVE_MS);
  });
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    errors += text;
  });
  const code = await new Promise<number>((done) => {
    child.on("close", (status) => done(status ?? 1)).on("error", () => done(1));
  });
  clearTimeout(leaving);
  clearTimeout(limit);
  signal.throwIfAborted();
  if (code === 0 || isDone(out)) return { out, failure: null };
  if (await laboratory.hasEnded()) throw endedEarly();
  return { out, failure: isLate ? `not done after ${seconds} s` : firstWords(errors) };
}

/** Ends all that runs in a laboratory, but for what holds it: launchers leave processes behind that wait for each other. */
function endAll(laboratory: Laboratory): void {
  laboratory.start(["bash", "-c", "kill -KILL -1"]);
}

/** Returns the error of a laboratory that others ended. */
export const endedEarly = (): InputError =>
  new InputError("the laboratory", "processes that nobody ends", "ended").saying(
    "the laboratory was ended from outside, and all that ran in it",
  );
