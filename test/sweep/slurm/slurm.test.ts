import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { version } from "../../../src/cli/version.ts";
import { contentHash, type Job, type Outcome, type SweepTask, taskHash } from "../../../src/model/sweep/task.ts";
import type { SweepEngine } from "../../../src/sweep/engine.ts";
import { listSweeps } from "../../../src/sweep/redis/admin.ts";
import { openRedisEngine } from "../../../src/sweep/redis/engine.ts";
import { openSlurmEngine, readSlurm, type SlurmEngineOptions } from "../../../src/sweep/slurm/engine.ts";
import { banyan, compile, MAIN } from "../../support/cli.ts";
import { redisMissing, startRedis } from "../../support/redis.ts";
import { slurmMissing, startSlurm, type TestSlurm } from "../../support/slurm.ts";

/** Job arrays by a real slurmctld and slurmd of this machine: elements do shares of real tasks. */

const folder = mkdtempSync(join(tmpdir(), "banyan-shares-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const jobFor = (task: SweepTask): Job => ({
  ...{ hash: taskHash(task, version), task },
  budget: { timeMs: null, memoryBytes: null },
});
const jobs = (count: number): Job[] =>
  Array.from({ length: count }, (_, i) => {
    const own = { topology: `ring:${3 + i}`, options: { collective: "allgather" }, inputs: {}, keep: false };
    return jobFor({ verb: "bound", ...own });
  });
/** Tasks that take long enough for somebody to come in between. */
const longJobs = (count: number): Job[] =>
  Array.from({ length: count }, (_, i) => {
    const options = { collective: "allreduce", algorithm: "forestcoll", size: `${i + 1}MiB` };
    return jobFor({ verb: "synth", topology: "dgx-a100:4", options, inputs: {}, keep: false });
  });

/** Hands tasks over and takes what comes of them, until all are there or there are `most`. */
async function outcomesOf(engine: SweepEngine, some: readonly Job[], most = some.length): Promise<Outcome[]> {
  await engine.submit(some);
  const all: Outcome[] = [];
  while (all.length < most) {
    const ended = await engine.ended();
    all.push(...ended);
    await engine.settled(ended.map(({ hash }) => hash));
  }
  return all;
}

describe("what --engine slurm is told", () => {
  it("reads shares and options of the job", () => {
    expect(readSlurm("slurm")).toEqual({ shares: 16, job: {} });
    expect(readSlurm("slurm?shares=100&partition=short&time=1:00:00")).toEqual({
      shares: 100,
      job: { partition: "short", time: "1:00:00" },
    });
  });
  it.each(["slurm?shares=0", "slurm?shares=x", "slurm?array=1-2", "slurm?time=1;rm", "slurm?Time=1"])(
    "refuses %s",
    (text) => {
      expect(() => readSlurm(text)).toThrow(/--engine slurm/);
    },
  );
});

describe("sweeps as job arrays", () => {
  let slurm: TestSlurm | undefined;
  let missing: string | undefined;
  const notes: string[] = [];
  const before = process.env["SLURM_CONF"];
  beforeAll(async () => {
    const started = slurmMissing ?? (await startSlurm());
    if (typeof started === "string") {
      missing = started;
      return;
    }
    slurm = started;
    Object.assign(process.env, slurm.env);
    await compile();
  });
  beforeEach(({ skip }) => skip(missing !== undefined, missing));
  afterAll(async () => {
    if (before === undefined) delete process.env["SLURM_CONF"];
    else process.env["SLURM_CONF"] = before;
    await slurm?.remove();
  });
  const optionsFor = (name: string, more: Partial<SlurmEngineOptions> = {}): SlurmEngineOptions => ({
    ...{ folder: join(folder, name), store: join(folder, name, "store"), sweep: name, version, backend: null },
    ...{ shares: 3, job: {}, command: [process.execPath, MAIN], signal: new AbortController().signal },
    note: (line) => notes.push(line),
    ...more,
  });

  it("does a sweep of the command line to the same bytes as this machine", async () => {
    const text = "axes: {topology: [mesh:3x3, ring:5], collective: [allgather, allreduce], seed: {from: 1, to: 4}}\n";
    writeFileSync(join(folder, "some.yaml"), `${text}keep: schedules\n`);
    const run = (name: string, engine: string) =>
      banyan(["sweep", "some.yaml", "-o", name, "--engine", engine, "-q"], { cwd: folder, env: slurm?.env ?? {} });
    expect(await run("local.sweep", "local")).toMatchObject({ code: 0 });
    expect(await run("slurm.sweep", "slurm?shares=2")).toMatchObject({ code: 0 });
    const [local, array] = ["local", "slurm"].map((name) => readFileSync(join(folder, `${name}.sweep/results.jsonl`)));
    expect(array).toEqual(local);
  });

  it("does every task in some element, and goes on without one that is begun again", async () => {
    const all = jobs(30);
    const engine = await openSlurmEngine(optionsFor("array"));
    const outcomes = await outcomesOf(engine, all);
    await engine.close();
    expect(outcomes.map(({ hash }) => hash).sort()).toEqual(all.map(({ hash }) => hash).sort());
    expect(new Set(outcomes.map(({ status }) => status))).toEqual(new Set(["done"]));
    const files = readdirSync(join(folder, "array/shares-3")).filter((file) => file.endsWith(".outcomes.jsonl"));
    expect(files).toHaveLength(3);
    // the same tasks once more: they are said again, not done again
    const again = await openSlurmEngine(optionsFor("array"));
    const second = await outcomesOf(again, all.slice(0, 5));
    await again.close();
    expect(second.map(({ measured }) => measured)).toEqual(
      second.map(({ hash }) => outcomes.find((one) => one.hash === hash)?.measured),
    );
  });

  it("finds what ended while its coordinator was away, and takes nothing twice", async () => {
    const all = jobs(24);
    const first = await openSlurmEngine(optionsFor("away"));
    const some = await outcomesOf(first, all, 5);
    // it is gone: not closed, not settled any more
    const known = new Set(some.map(({ hash }) => hash));
    const second = await openSlurmEngine(optionsFor("away"));
    const rest = await outcomesOf(
      second,
      all.filter(({ hash }) => !known.has(hash)),
    );
    await second.close();
    expect([...some, ...rest].map(({ hash }) => hash).sort()).toEqual(all.map(({ hash }) => hash).sort());
  });

  it("starts elements again that were cancelled", async () => {
    const all = longJobs(16);
    const engine = await openSlurmEngine(optionsFor("killed", { shares: 2 }));
    notes.length = 0;
    const some = await outcomesOf(engine, all, 1);
    const id = /job array (\d+)/.exec(notes.join("\n"))?.[1] as string;
    slurm?.run("scancel", "--signal=KILL", "--full", id);
    const rest: Outcome[] = [];
    while (some.length + rest.length < all.length) rest.push(...(await engine.ended()));
    await engine.close();
    expect(notes.filter((line) => line.startsWith("job array")).length).toBeGreaterThan(1);
    expect([...some, ...rest].map(({ hash }) => hash).sort()).toEqual(all.map(({ hash }) => hash).sort());
    expect(new Set([...some, ...rest].map(({ status }) => status))).toEqual(new Set(["done"]));
  });

  it("says at both ends why a worker is refused", async () => {
    notes.length = 0;
    const engine = await openSlurmEngine(optionsFor("version", { version: "0.0.1", shares: 1 }));
    await expect(outcomesOf(engine, jobs(2))).rejects.toThrow(/ended 3 times without doing a task/);
    await engine.cancel();
    expect(notes.join("\n")).toMatch(
      /worker \d+ on \S+ is refused: it is of version \S+, the sweep version of 0\.0\.1/,
    );
    const log = readFileSync(join(folder, "version/shares-1/1.log"), "utf8");
    expect(log).toMatch(/this worker is refused: it is of version/);
  });

  it.skipIf(redisMissing !== null)("starts workers of a queue by a script that has no password in it", async () => {
    const password = "s3cret";
    const redis = await startRedis({ password });
    const script = join(folder, "workers.sh");
    const address = `redis://:${password}@127.0.0.1:${redis.port}`;
    const { code } = await banyan(["worker", address, "--grace", "5s", "--script", script, "-q"]);
    expect(code).toBe(0);
    expect(readFileSync(script, "utf8")).not.toContain(password);
    const env = { ...process.env, BANYAN_REDIS_PASSWORD: password };
    execFileSync("sbatch", ["--ntasks=2", "--chdir", folder, script], { env });
    const signal = new AbortController().signal;
    const store = join(folder, "queue-store");
    const own = { sweep: "by slurm", version, backend: null, priority: 0, store, signal, note: () => undefined };
    const engine = await openRedisEngine(address, own);
    const all = jobs(30);
    const outcomes = await outcomesOf(engine, all);
    expect(outcomes.map(({ hash }) => hash).sort()).toEqual(all.map(({ hash }) => hash).sort());
    await expect.poll(async () => (await listSweeps(address)).workers.length).toBe(2);
    // workers end by themselves where they are told to
    slurm?.run("scancel", "--name=banyan-workers");
    await expect.poll(async () => (await listSweeps(address)).workers.length).toBe(0);
    await engine.close();
    await redis.remove();
  });

  it("takes its elements back", async () => {
    const engine = await openSlurmEngine(optionsFor("cancelled", { shares: 2 }));
    await outcomesOf(engine, longJobs(20), 1);
    expect(slurm?.run("squeue", "-h").trim()).not.toBe("");
    await engine.cancel();
    await expect.poll(() => slurm?.run("squeue", "-h", "-t", "PENDING,RUNNING").trim(), { timeout: 30_000 }).toBe("");
  });
});

describe.skipIf(slurmMissing === null)("a machine without Slurm", () => {
  it("is told so in one sentence", async () => {
    const options = { folder, store: join(folder, contentHash("x")), sweep: "x", version, backend: null, shares: 1 };
    const rest = { job: {}, command: [], signal: new AbortController().signal, note: () => undefined };
    await expect(openSlurmEngine({ ...options, ...rest })).rejects.toThrow(/sbatch is not there/);
  });
});
