import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { configDefaults, defineConfig } from "vitest/config";

/** What only `npm run test:all` runs: browsers, Python, set-up from nothing, campaigns. */
const LONG = [
  "test/web/e2e/**",
  "test/browser/**",
  "test/**/*-browser.test.ts",
  "test/run/export/browser.test.ts",
  "test/docs/commands.test.ts",
  "test/forged/**",
  "test/setup/no-compilers.test.ts",
  "test/bench/faults.test.ts",
  "test/sweep/slurm/**",
  "test/export/programs/jax-program.test.ts",
  "test/export/programs/torch-program.test.ts",
  "test/export/programs/languages.test.ts",
];
const triesAll = process.env["BANYAN_TESTS"] === "all";

const exclude = [...configDefaults.exclude, ...(triesAll ? [] : LONG)];

/** Files that put other things in the place of modules or globals: each runs in a process of its own. */
const REPLACING = readdirSync("test", { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".test.ts"))
  .map((file) => join("test", file).replaceAll("\\", "/"))
  .filter((file) => /\bvi\.(mock|stubGlobal)\(/.test(readFileSync(file, "utf8")));

export default defineConfig({
  test: {
    setupFiles: ["test/support/seeded.ts"],
    // A crash in native code then ends one fork, not the whole run.
    pool: "forks",
    // Vitest would leave one core to itself: on two cores the tests would then take half as long again.
    maxWorkers: "100%",
    // Longer than the longest limit of time that a solver is given, on a machine that is busy with others.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 60_000 } },
    projects: [
      // One process after another loads src/ once for all files, not for each: a third of the time.
      {
        extends: true,
        test: { name: "shared", isolate: false, include: ["test/**/*.test.ts"], exclude: [...exclude, ...REPLACING] },
      },
      { extends: true, test: { name: "alone", include: REPLACING, exclude } },
    ],
  },
});
