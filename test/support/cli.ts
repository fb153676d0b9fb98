import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll } from "vitest";
import { withLock } from "../../scripts/lock.mjs";
import { readStamp, stepHash } from "../../scripts/stamp.mjs";

/** Runs the compiled command line as a process of its own. */

const root = fileURLToPath(new URL("../..", import.meta.url));
export const MAIN = join(root, "dist/cli/main.js");
/** What searches keep, away from the user's own. */
const CACHE = join(tmpdir(), "banyan-test-cache");
/** Hides the native add-on from a process. */
export const NO_ADDON = { BANYAN_ADDON: join(root, "no/such/banyan.node") };

export interface Ran {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

export interface RunOptions {
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
}

function nodeRun(args: readonly string[], { cwd = root, env = {} }: RunOptions = {}): Promise<Ran> {
  const { BANYAN_BACKEND: _, ...clean } = process.env;
  const child = spawn(process.execPath, args, {
    cwd,
    env: { ...clean, BANYAN_CACHE_DIR: CACHE, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let [out, err] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    out += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    err += text;
  });
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => resolve({ code, out, err }));
  });
}

/** Returns what `banyan ...args` writes and its exit code. */
export const banyan = (args: readonly string[], options?: RunOptions): Promise<Ran> =>
  nodeRun([MAIN, ...args], options);

/** Compiles src/ where dist/ is not what src/ says. */
export async function compile(): Promise<void> {
  const stale = (): boolean => {
    const stamp = readStamp("dist");
    return stamp?.ok !== true || stamp.hash !== stepHash.dist();
  };
  if (!stale()) return;
  await withLock(async () => {
    if (!stale()) return;
    const { code, out, err } = await nodeRun([join(root, "scripts/build-ts.mjs")]);
    if (code !== 0) throw new Error(`dist/ does not compile:\n${out}${err}`);
  });
}

/** Compiles before the tests of a file, and gives them a folder that goes afterwards. */
export function cliFolder(): {
  readonly at: (...parts: string[]) => string;
  put(name: string, content: unknown): string;
} {
  const folder = mkdtempSync(join(tmpdir(), "banyan-cli-"));
  beforeAll(compile, 120_000);
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return {
    at: (...parts) => join(folder, ...parts),
    /** Writes a file: a text as it is, anything else as JSON. Returns its name. */
    put(name, content) {
      writeFileSync(join(folder, name), typeof content === "string" ? content : JSON.stringify(content));
      return name;
    },
  };
}
