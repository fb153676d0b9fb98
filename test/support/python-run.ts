import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** Small substitutes of jax and torch, which do what exported programs ask of them. */
const STAND_INS = fileURLToPath(new URL("./python", import.meta.url));

/** Scripts that call what was written. */
const SCRIPTS = fileURLToPath(new URL("./python-scripts", import.meta.url));

/** Returns why programs that import a module of Python's cannot run here; "" where they can. */
export function withoutPython(module: string): string {
  const { status, error } = spawnSync("python3", ["-c", `import ${module}`]);
  if (error !== undefined) return "no python3 here";
  return status === 0 ? "" : `python3 has no ${module} here`;
}

interface PythonRun {
  readonly out: string;
  /** Its last line on stderr where it does not exit with 0. */
  readonly failed: string;
}

/** Runs a program of Python on the stand-ins. */
export function runPython(
  parts: Iterable<string>,
  args: readonly string[] = [],
  variables: Readonly<Record<string, string>> = {},
): PythonRun {
  return inFolder(parts, (path) => started("python3", [path, ...args], { PYTHONPATH: STAND_INS, ...variables }));
}

/** Returns a python that has torch itself, with processes that talk to each other; null where there is none. */
export function pythonWithTorch(): string | null {
  const works = (python: string): boolean =>
    spawnSync(python, ["-c", "import torch.distributed as dist; assert dist.is_gloo_available()"]).status === 0;
  return ["python3", "/usr/bin/python3"].find(works) ?? null;
}

/** Runs a program of torch itself, or a script of ours that is told the program's path. */
export function runTorch(python: string, parts: Iterable<string>, args: readonly string[], script?: string): PythonRun {
  return inFolder(parts, (path) =>
    started(python, [...(script === undefined ? [] : [join(SCRIPTS, script)]), path, ...args], {}),
  );
}

function inFolder(parts: Iterable<string>, run: (path: string) => PythonRun): PythonRun {
  const folder = mkdtempSync(join(tmpdir(), "banyan-python-"));
  try {
    const path = join(folder, "program.py");
    writeFileSync(path, [...parts].join(""));
    return run(path);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function started(python: string, args: readonly string[], variables: Readonly<Record<string, string>>): PythonRun {
  const env = { ...process.env, PYTHONDONTWRITEBYTECODE: "1", ...variables };
  const { status, stdout, stderr } = spawnSync(python, args, { encoding: "utf8", env });
  return { out: stdout, failed: status === 0 ? "" : (stderr.trim().split("\n").at(-1) ?? `status ${status}`) };
}
