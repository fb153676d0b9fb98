import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    setupFiles: ["test/support/seeded.ts"],
    // A crash in native code then ends one fork, not the whole run.
    pool: "forks",
    // Vitest would leave one core to itself: on two cores the tests would then take half as long again.
    maxWorkers: "100%",
    testTimeout: 60_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 30_000 } },
  },
});
