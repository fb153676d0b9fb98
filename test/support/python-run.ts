import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** Small substitutes of jax and torch, which do what exported programs ask of them. */
const STAND_INS = fileURLToPath(new URL("./python", import.meta.url));

/** Returns why programs that import a module of Python's cannot run here; "" where they can. */
export function withoutPython(module: string): string {
  const { status, error } = spawnSync("python3", ["-c", `import ${module}`]);
  if (error !== undefined) return "no python3 here";
  return status === 0 ? "" : `python3 has no ${module} here`;
}

/** Runs a program of Python on the stand-ins; `failed` is its last line on stderr where it does not exit with 0. */
export function runPython(
  parts: Iterable<string>,
  args: readonly string[] = [],
  variables: Readonly<Record<string, string>> = {},
): { out: string; failed: string } {
  const folder = mkdtempSync(join(tmpdir(), "banyan-python-"));
  try {
    const path = join(folder, "program.py");
    writeFileSync(path, [...parts].join(""));
    const env = { ...process.env, PYTHONPATH: STAND_INS, PYTHONDONTWRITEBYTECODE: "1", ...variables };
    const { status, stdout, stderr } = spawnSync("python3", [path, ...args], { encoding: "utf8", env });
    return { out: stdout, failed: status === 0 ? "" : (stderr.trim().split("\n").at(-1) ?? `status ${status}`) };
  } finally {
    rmSync(folder, { recursive: true });
  }
}
