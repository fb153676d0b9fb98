import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    // A crash in native code then ends one fork, not the whole run.
    pool: "forks",
    testTimeout: 30_000,
  },
});
