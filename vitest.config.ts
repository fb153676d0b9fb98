import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { configDefaults, defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

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
const triesAll = ["all", "large"].includes(process.env["BANYAN_TESTS"] ?? "");

const exclude = [...configDefaults.exclude, ...(triesAll ? [] : LONG)];

/** Files that put other things in the place of modules or globals: each runs in a process of its own. */
const REPLACING = readdirSync("test", { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".test.ts"))
  .map((file) => join("test", file).replaceAll("\\", "/"))
  .filter((file) => /\bvi\.(mock|stubGlobal)\(/.test(readFileSync(file, "utf8")));

/** What takes longest. Where times are not known yet Vitest begins with the largest files, and some of these are a few lines. */
const LONGEST = [
  "test/docs/commands.test.ts",
  "test/run/programs/programs.test.ts",
  "test/docs/pages-browser.test.ts",
  "test/run/programs/library-time.test.ts",
  "test/web/e2e/accessibility.test.ts",
  "test/web/e2e/address.test.ts",
  "test/run/one-scale.test.ts",
  "test/synthesize/forestcoll/box-networks.test.ts",
  "test/mpi/matrix.test.ts",
  "test/sweep/redis/redis.test.ts",
  "test/run/auto/never-worse.test.ts",
  "test/setup/no-compilers.test.ts",
  "test/synthesize/streams.test.ts",
  "test/cli/programs.test.ts",
];

/** What takes longest begins first, so that no processor waits for another at the end; what has processes of its own still goes before. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId, project }: TestSpecification): number => {
      if (project.config.isolate) return -1;
      const found = LONGEST.findIndex((file) => moduleId.replaceAll("\\", "/").endsWith(`/${file}`));
      return found === -1 ? LONGEST.length : found;
    };
    return (await super.sort(files)).sort((a, b) => place(a) - place(b));
  }
}

export default defineConfig({
  test: {
    sequence: { sequencer: LongestFirst },
    setupFiles: ["test/support/seeded.ts"],
    // A crash in native code then ends one fork, not the whole run.
    pool: "forks",
    // Vitest would leave one core to itself: on two cores the tests would then take half as long again.
    maxWorkers: "100%",
    // Longer than the longest limit of time that a solver is given, on a machine that is busy with others.
    testTimeout: 300_000,
    hookTimeout: 300_000,
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
