import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { builtMpi, type MpiToolchain } from "../../src/mpi/toolchain.ts";
import { MPI_HERE, mpiJob, mpiMissing } from "../support/mpi-jobs.ts";
import { draws, madeUpPlan, type PlanWish, sealed, writePlans } from "../support/mpi-plans.ts";
import { runs } from "../support/runs.ts";

let folder = "";
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "banyan-mpi-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

const planOf = (wish: Partial<PlanWish>): string =>
  madeUpPlan({ collective: "allreduce", ranks: 3, shape: "ring", draw: draws(3), ...wish });

let folders = 0;
/** Writes plans into a folder of their own. */
function folderOf(plans: Readonly<Record<string, string>>): string {
  const path = join(folder, `f${folders++}`);
  mkdirSync(path);
  for (const [name, text] of Object.entries(plans)) writeFileSync(join(path, name), text);
  return path;
}

/** Times an all-reduce of 3 ranks and 4,096 bytes unless `args` say otherwise; returns what was said, with the results. */
async function timed(toolchain: MpiToolchain, plans: string, args: readonly string[] = [], more = {}) {
  const program = await builtMpi(toolchain, "time-calls");
  const words = ["--collective", "allreduce", "--bytes", "4096", "--warmup", "1", "--repeats", "1", "--check", ...args];
  const env = { BANYAN_VERBOSE: "1" };
  const { code, stdout, stderr } = await mpiJob(toolchain, { ranks: 3, program, args: words, plans, env, ...more });
  const results = stdout.split("\n").flatMap((line) => (line.startsWith("{") ? [JSON.parse(line)] : []));
  const said = stderr.split("\n").filter((line) => line.startsWith("banyan: "));
  return {
    code,
    all: stdout + stderr,
    said,
    results,
    isRight: results.length > 0 && results.every((one) => one.right === true),
  };
}

const asTyped = (text: string) => text.slice(0, text.lastIndexOf("end "));

describe.skipIf(mpiMissing !== null).each(MPI_HERE)("calls by plans over $version", (toolchain) => {
  it("uses the first plan that fits, by the names of files, and says so once", async () => {
    const plans = folderOf({ "a.plan": planOf({ bytes: "0 100" }), "b.plan": planOf({}), "c.plan": planOf({}) });
    const { said, isRight } = await timed(toolchain, plans, ["--bytes", "64", "--bytes", "8192"]);
    expect(said).toHaveLength(2);
    expect(said[0]).toContain("plan b.plan");
    expect(said[1]).toContain("plan a.plan");
    expect(isRight).toBe(true);
  });

  it.each([
    ["another size", { "a.plan": planOf({ bytes: "0 4095" }) }, "other sizes"],
    ["another group", { "a.plan": planOf({ ranks: 2 }) }, "another group"],
    ["other members", { "a.plan": planOf({ between: ["group 0 1 3"] }) }, "another group"],
    [
      "a host that is not there",
      { "a.plan": planOf({ between: [0, 1, 2].map((r) => `host ${r} nowhere ${r}`) }) },
      "another group",
    ],
    ["another operation", { "a.plan": planOf({ between: ["ops prod max"] }) }, "other operations"],
    ["another collective", { "a.plan": planOf({ collective: "allgather" }) }, "there is no plan for it"],
    ["the library", { "a.plan": sealed(asTyped(planOf({})).replace(/lanes[\s\S]*/, "library\n")) }, "a plan says so"],
    ["another version", { "a.plan": sealed(asTyped(planOf({})).replace("plan 1\n", "plan 2\n")) }, "another version"],
  ])("leaves calls to the library where plans are for %s", async (_, plans, why) => {
    const { said, isRight } = await timed(toolchain, folderOf(plans));
    expect(said.join("\n")).toContain(why);
    expect(said.join("\n")).not.toMatch(/: plan /);
    expect(isRight).toBe(true);
  });

  it("finds members by their number and by their host", async () => {
    const name = hostname();
    const plans = folderOf({ "a.plan": planOf({ between: ["group 2 0 1"] }) });
    const hosts = folderOf({
      "a.plan": planOf({ between: ["group 7 9 4", `host 9 ${name} 2`, `host 4 ${name} 0`, `host 7 ${name} 1`] }),
    });
    for (const one of [plans, hosts]) {
      const { said, isRight } = await timed(toolchain, one);
      expect(said.join("\n")).toContain("plan a.plan");
      expect(isRight).toBe(true);
    }
  });

  it("refuses a damaged plan with one line that names its line, and goes on", async () => {
    const text = planOf({});
    const plans = folderOf({
      "a.plan": text.replace("\nrank 1\n", "\nrank 2\n"),
      "b.plan": sealed(asTyped(text).replace("rank 1", "rank 2")),
    });
    const { said, isRight } = await timed(toolchain, plans, [], { env: {} });
    expect(said).toHaveLength(2);
    expect(said[0]).toMatch(/a\.plan is not used: line \d+: the checksum/);
    expect(said[1]).toMatch(/b\.plan is not used: line \d+: expected the next rank/);
    expect(isRight).toBe(true);
  });

  it("uses no plan where the ranks have different ones", async () => {
    const one = folderOf({ "a.plan": planOf({}) });
    const other = folderOf({ "a.plan": planOf({ chunks: 3 }) });
    const before = `test "$RANK" = 1 && export BANYAN_PLANS='${other}'`;
    const { said, isRight } = await timed(toolchain, one, [], { before });
    expect(said).toEqual(["banyan: no plan is used: the ranks have different plans (BANYAN_PLANS, BANYAN_SEGMENT)"]);
    expect(isRight).toBe(true);
  });

  it("ends with the library's error where a rank dies", async () => {
    const plans = folderOf({ "a.plan": planOf({}) });
    const before = `test "$RANK" = 1 && { (sleep 1; kill -9 $$) & }`;
    const { code, results, said, all } = await timed(toolchain, plans, ["--repeats", "100000000"], { before });
    expect(said.join("\n")).toContain("plan a.plan");
    expect(all).toMatch(/signal 9|SIGNAL: 9|EXIT CODE: 9/);
    expect(code).not.toBe(null);
    expect(code).not.toBe(0);
    expect(results).toEqual([]);
  });
});

describe.skipIf(mpiMissing !== null)("the reader of plans", () => {
  it("refuses plans with any line, byte or end that is another, and reads no place outside of its buffer", async () => {
    const plans = join(folder, "damage");
    writePlans(plans, [2, 3], "random", 5);
    const files = readdirSync(plans).map((name) => join(plans, name));
    const program = await builtMpi(MPI_HERE[0], "damage");
    const job = await mpiJob(MPI_HERE[0], { ranks: 1, program, args: ["1", String(runs(2_000)), ...files] });
    const { damaged, refused, resealed, resealedRefused, wrong } = JSON.parse(job.stdout);
    expect(wrong).toBe(0);
    expect(refused).toBe(damaged);
    expect(damaged).toBeGreaterThan(10_000);
    expect(resealedRefused).toBeGreaterThan(resealed / 2);
  });

  it("accepts what the maker of test plans writes", () => {
    const plans = join(folder, "damage");
    expect(readFileSync(join(plans, "allreduce-3-0.plan"), "latin1")).toMatch(
      /^banyan-mpi-plan 1\n[\s\S]*\nend [0-9a-f]{16}\n$/,
    );
  });
});
