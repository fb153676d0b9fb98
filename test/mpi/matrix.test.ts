import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { builtMpi } from "../../src/mpi/toolchain.ts";
import { MPI_HERE, mpiJob, mpiMissing } from "../support/mpi-jobs.ts";
import { writePlans } from "../support/mpi-plans.ts";
import { triesAll } from "../support/runs.ts";

/** BANYAN_MPI_TESTS=large: minutes, by hand. */
const isLarge = process.env["BANYAN_MPI_TESTS"] === "large";

/** 16 ranks on two processors take minutes. */
const MOST_SECONDS = isLarge ? 900 : 60;

/** Ranks, how much of the matrix, and how plans go; null: the library alone, which shows that the matrix itself is right. */
type Row = readonly [ranks: number, level: string, shape: "ring" | "direct" | "random" | null];
const QUICK: readonly Row[] = [[3, "quick", "random"]];
const ALL: readonly Row[] = [
  ...QUICK,
  [2, "quick", "direct"],
  [2, "quick", null],
  [3, "quick", null],
  [4, "quick", "ring"],
  [5, "quick", "random"],
  [8, "quick", "random"],
];
const LARGE: readonly Row[] = [
  ...[2, 3, 4, 5, 7, 8, 16].flatMap((n): Row[] => [
    [n, "all", "random"],
    [n, "quick", "ring"],
    [n, "quick", "direct"],
  ]),
  [3, "large", "random"],
];
const rows = isLarge ? LARGE : triesAll ? ALL : QUICK;

describe.skipIf(mpiMissing !== null)("every collective in every form, judged byte by byte", () => {
  let folder = "";
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "banyan-mpi-"));
    for (const shape of ["ring", "direct", "random"] as const)
      writePlans(join(folder, shape), [2, 3, 4, 5, 6, 7, 8, ...(isLarge ? [15, 16] : [])], shape, 7);
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  // MPICH's calls wait busily: more ranks than processors take it minutes
  for (const toolchain of MPI_HERE)
    for (const [ranks, level, shape] of rows)
      it.skipIf(toolchain.flavour === "mpich" && ranks > 4 && !isLarge)(
        `${toolchain.version}, ${ranks} ranks, ${level}, ${shape ?? "without"} plans`,
        async () => {
          const program = await builtMpi(toolchain, "matrix");
          const plans = shape === null ? {} : { plans: join(folder, shape) };
          const { stdout, stderr } = await mpiJob(toolchain, {
            ranks,
            program,
            args: [level],
            seconds: MOST_SECONDS,
            ...plans,
          });
          expect(stderr).toBe("");
          const { checks, failures } = JSON.parse(stdout);
          expect(failures).toBe(0);
          expect(checks).toBeGreaterThan(ranks * 1_000);
        },
        MOST_SECONDS * 1000 + 120_000,
      );
});
