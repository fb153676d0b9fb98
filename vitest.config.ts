import { configDefaults, defineConfig } from "vitest/config";

/** What only `npm run test:all` runs: browsers, Python, set-up from nothing, campaigns. */
const LONG = [
  "test/web/e2e/**",
  "test/browser/**",
  "test/**/*-browser.test.ts",
  "test/run/export/browser.test.ts",
  "test/forged/**",
  "test/setup/no-compilers.test.ts",
  "test/bench/faults.test.ts",
  "test/export/programs/jax-program.test.ts",
  "test/export/programs/torch-program.test.ts",
];
const triesAll = process.env["BANYAN_TESTS"] === "all";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    exclude: [...configDefaults.exclude, ...(triesAll ? [] : LONG)],
    setupFiles: ["test/support/seeded.ts"],
    // A crash in native code then ends one fork, not the whole run.
    pool: "forks",
    // Vitest would leave one core to itself: on two cores the tests would then take half as long again.
    maxWorkers: "100%",
    // Longer than the longest limit of time that a solver is given, on a machine that is busy with others.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 60_000 } },
  },
});
