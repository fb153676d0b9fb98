import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect } from "vitest";
import { visible } from "../../src/base/visible.ts";
import { readCommandLine } from "../../src/cli/command-line.ts";
import { COMMANDS } from "../../src/cli/commands.ts";
import { inputsOf } from "../../src/cli/context.ts";
import { failureJson, failureLines, failureOf } from "../../src/cli/failure.ts";
import { type CommandName, type Failure, verbIn } from "../../src/cli/protocol.ts";
import { styleOf } from "../../src/cli/reports/style.ts";
import type { Ran } from "./cli.ts";
import type { Refusal } from "./refusals.ts";

/** How a command line ends in this process; `failure` is null where it does not fail. */
export interface RanHere extends Ran {
  readonly failure: Failure | null;
}

/**
 * Runs command lines in this process, without the threads of the command (cli.ts starts it as a process of its own): 0.3 s
 * sooner each. Progress is not shown. test/cli/processes.test.ts holds one against the other.
 */
export async function banyanHere(argv: readonly string[]): Promise<RanHere> {
  let [out, err] = ["", ""];
  const note = (text: string): void => {
    err += `banyan: ${text}\n`;
  };
  const [json, debug] = ["--json", "--debug"].map((option) => argv.includes(option)) as [boolean, boolean];
  let verb: CommandName | null = verbIn(argv);
  const fail = (failure: Failure): RanHere => {
    note(debug ? `${failureLines(failure)}\n${failure.stack}` : failureLines(failure));
    if (json) out += failureJson(failure, verb);
    return { code: failure.code, out, err, failure };
  };
  const job = readCommandLine(argv);
  if ("out" in job) {
    if (job.failure === null) return { code: 0, out: job.out, err: job.err, failure: null };
    err += job.err;
    return fail(job.failure);
  }
  verb = job.command;
  const quiet = job.options["quiet"] === true;
  const warnings: string[] = [];
  const context = {
    verb: job.command,
    warnings,
    options: job.options,
    json,
    quiet,
    style: styleOf(false),
    terminal: null,
    inputs: inputsOf(job.args, job.options),
    keep: () => undefined,
    keepFolder: () => undefined,
    signal: new AbortController().signal,
    out: (text: string) => {
      out += text;
      return true;
    },
    note: (text: string) => {
      warnings.push(visible(text));
      if (!quiet) note(visible(text));
    },
    grace: () => undefined,
    progress: () => undefined,
    uninterrupted: <T>(work: () => T): T => work(),
    temporary: { add: () => undefined, remove: () => undefined },
  };
  try {
    const { run } = await COMMANDS[job.command]();
    return { code: await run(context, job.args), out, err, failure: null };
  } catch (error) {
    return fail(failureOf(error));
  }
}

export interface CommandsHere {
  /** Returns the path of the folder where commands run, or of a file in it. */
  at(...parts: string[]): string;
  /** Writes a file: a text as it is, anything else as JSON. Returns its name. */
  put(name: string, content: unknown): string;
  /** Returns how a command line ends, and all that it writes. */
  ends(line: string): Promise<RanHere>;
  /** Returns what a command line writes; fails unless it ends with the exit code and says nothing on standard error. */
  run(line: string, code?: number): Promise<string>;
  /** Returns what it writes with --json. */
  // biome-ignore lint/suspicious/noExplicitAny: a report, told apart by the test.
  json(line: string, code?: number): Promise<any>;
  /**
   * Runs a command line that is refused: exit code, nothing on standard output, what kind of mistake it is, one line.
   * A sentence stands for what has no kind: command lines that cannot be read, schedules that are wrong.
   */
  refuses(line: string, refusal: Refusal | string | RegExp, code?: number): Promise<void>;
}

/** Gives the tests of a file a folder in which their commands run in this process. */
export function commandsHere(): CommandsHere {
  const folder = mkdtempSync(join(tmpdir(), "banyan-here-"));
  const [before, cache] = [process.cwd(), process.env["BANYAN_CACHE_DIR"]];
  beforeAll(() => {
    process.chdir(folder);
    process.env["BANYAN_CACHE_DIR"] = join(folder, "cache");
  });
  afterAll(() => {
    process.chdir(before);
    if (cache === undefined) delete process.env["BANYAN_CACHE_DIR"];
    else process.env["BANYAN_CACHE_DIR"] = cache;
    rmSync(folder, { recursive: true, force: true });
  });
  const ends = (line: string): Promise<RanHere> => banyanHere(line === "" ? [] : line.split(" "));
  const run = async (line: string, code = 0): Promise<string> => {
    const ran = await ends(line);
    expect([ran.code, ran.err]).toEqual([code, ""]);
    return ran.out;
  };
  return {
    at: (...parts) => join(folder, ...parts),
    put(name, content) {
      writeFileSync(join(folder, name), typeof content === "string" ? content : JSON.stringify(content));
      return name;
    },
    ends,
    run,
    json: async (line, code) => JSON.parse(await run(`${line} --json`, code)),
    async refuses(line, refusal, code = 2) {
      const ran = await ends(line);
      expect(ran.code).toBe(code);
      if (line.includes(" --json")) expect(JSON.parse(ran.out)).toMatchObject({ error: { code } });
      else expect(ran.out).toBe("");
      if (typeof refusal === "string") expect(ran.err).toBe(`banyan: ${refusal}\n`);
      else if (refusal instanceof RegExp) expect(ran.err).toMatch(refusal);
      else expect(ran.failure).toEqual(refusal);
      // behind its sentence there may be a line with a caret
      expect(ran.err.startsWith(`banyan: ${ran.failure?.message}\n`), ran.err).toBe(true);
    },
  };
}
