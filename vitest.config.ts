import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
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
