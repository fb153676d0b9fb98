import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findCommand } from "../../scripts/toolchain.mjs";

/** Sets up a copy of this tree on a machine whose compilers are hidden and runs the main job there. */

const root = fileURLToPath(new URL("../..", import.meta.url));
const yowasp = join(root, ".setup/yowasp");
const fetched = existsSync(join(yowasp, "node_modules"));
const LEFT_OUT = /^(node_modules|\.git|\.setup|build(-[a-z-]+)?|coverage)$/;
/** At the top only: what neither the set-up nor the main job reads. */
const NOT_NEEDED = ["bench", "dist-web", "docs", "test"].map((name) => join(root, name));
let home: string;
let tree: string;
let env: NodeJS.ProcessEnv;

beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), "banyan-bare-"));
  tree = join(home, "tree");
  const isTaken = (path: string) => !LEFT_OUT.test(basename(path)) && !NOT_NEEDED.includes(path);
  cpSync(root, tree, { recursive: true, filter: (path) => path === root || isTaken(path) });
  symlinkSync(join(root, "node_modules"), join(tree, "node_modules"));
  // A compiled dist/ is taken along, so that this test does not wait for tsc.
  const stamp = join(root, ".setup/dist.stamp");
  mkdirSync(join(tree, ".setup"));
  if (existsSync(stamp)) cpSync(stamp, join(tree, ".setup/dist.stamp"));
  const bin = join(home, "bin");
  mkdirSync(bin);
  for (const program of ["node", "npm", "npx", "sh", "env"]) {
    const file = findCommand(program, process.env);
    if (file !== undefined) symlinkSync(file, join(bin, program));
  }
  env = {
    PATH: bin,
    HOME: home,
    // Nothing listens there: a machine without network.
    npm_config_registry: "http://127.0.0.1:9/",
    npm_config_cache: join(home, "npm"),
    npm_config_update_notifier: "false",
  };
});

afterAll(() => rmSync(home, { recursive: true, force: true }));

function run(script: string, environment = env) {
  const result = spawnSync("node", [join("scripts", script)], { cwd: tree, env: environment, encoding: "utf8" });
  return { ...result, lines: result.stdout.split("\n") };
}

/** The same machine with a network: npm is configured as it is here. */
function online(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => !name.startsWith("BANYAN_"));
  return { ...Object.fromEntries(kept), PATH: env["PATH"] };
}

describe.skipIf(process.platform === "win32")("without compilers", () => {
  it("and without network runs the main job on the JavaScript kernels and says why", () => {
    const { lines, status, stderr } = run("start.mjs");
    expect(lines, stderr).toContain(
      "backend: js (no C++ compiler found; emcc is missing and the npm registry does not answer)",
    );
    expect(status, stderr).toBe(0);
    expect(JSON.parse(readFileSync(join(tree, "schedule.json"), "utf8"))).toBeTypeOf("object");
  });

  it("does nothing the second time but say so", () => {
    const { lines } = run("setup.mjs");
    expect(lines[0]).toBe("setup: everything is up to date");
    expect(lines.filter((line) => line !== "")).toHaveLength(2);
  });

  // The compiler to WebAssembly that npm serves weighs 100 MB: this runs in CI, and where it has been fetched before.
  it.runIf(fetched || process.env["CI"])(
    "runs on WebAssembly with the compiler that npm serves",
    ({ skip }) => {
      if (fetched) symlinkSync(yowasp, join(tree, ".setup/yowasp"));
      const { lines, status, stderr } = run("start.mjs", online());
      const unanswered = lines.find((line) => /registry does not answer|could not be fetched/.test(line));
      skip(unanswered !== undefined, unanswered);
      expect(lines, stderr).toContain("backend: wasm (no C++ compiler found)");
      expect(status, stderr).toBe(0);
    },
    900_000,
  );

  it("refuses to go on when the native add-on is required", () => {
    const { status, stderr } = run("setup.mjs", { ...env, BANYAN_REQUIRE_NATIVE: "1" });
    expect([status, stderr]).toEqual([1, "setup: no C++ compiler found\n"]);
  });
});
