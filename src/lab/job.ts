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

const TIMED_OUT = 124;

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
  { seconds, signal }: { readonly seconds: number; readonly signal: AbortSignal },
): Promise<JobResult> {
  const { command, env } = launchCommand(launch);
  const child = laboratory.start(["timeout", "-k", "2", `${seconds}`, ...command], { npu: 0, env });
  let [out, errors] = ["", ""];
  child.stdout?.setEncoding("utf8").on("data", (text: string) => {
    out += text;
  });
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    errors += text;
  });
  const code = await new Promise<number>((done) => {
    child.on("close", (status) => done(status ?? 1)).on("error", () => done(1));
  });
  signal.throwIfAborted();
  if (laboratory.hasEnded()) throw endedEarly();
  if (code === 0) return { out, failure: null };
  return { out, failure: code === TIMED_OUT ? `not done after ${seconds} s` : firstWords(errors) };
}

/** Returns the error of a laboratory that others ended. */
export const endedEarly = (): InputError =>
  new InputError("the laboratory", "processes that nobody ends", "ended").saying(
    "the laboratory was ended from outside, and all that ran in it",
  );
