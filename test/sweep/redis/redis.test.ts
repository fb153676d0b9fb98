import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { Redis } from "ioredis";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { version } from "../../../src/cli/version.ts";
import { type Job, type Outcome, type SweepTask, taskHash } from "../../../src/model/sweep/task.ts";
import { cancelSweep } from "../../../src/sweep/redis/admin.ts";
import { sweepKey } from "../../../src/sweep/redis/board.ts";
import { openRedisEngine } from "../../../src/sweep/redis/engine.ts";
import { compile, MAIN, type Ran } from "../../support/cli.ts";
import { fakeJobs, fakeOutcome } from "../../support/fake-executors.ts";
import { redisMissing, startRedis, type TestRedis } from "../../support/redis.ts";
import { triesAll } from "../../support/runs.ts";

/** Sweeps by processes of their own on a real server: what is killed, and when. */

const SCRIPT = fileURLToPath(new URL("../../support/redis-process.mjs", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "banyan-queues-"));
const children = new Set<ChildProcess>();
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Started {
  readonly child: ChildProcess;
  readonly ended: Promise<Ran>;
}

const started = (...args: string[]): Started => startedBy([SCRIPT, ...args]);

function startedBy(args: readonly string[]): Started {
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "pipe"] });
  children.add(child);
  let [out, err] = ["", ""];
  child.stdout?.setEncoding("utf8").on("data", (text: string) => {
    out += text;
  });
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    err += text;
  });
  const ended = new Promise<Ran>((resolve) => {
    child.once("close", (code) => {
      children.delete(child);
      resolve({ code, out, err });
    });
  });
  return { child, ended };
}

const journalOf = (name: string): string => join(folder, `${name}.jsonl`);
const linesOf = (name: string): Outcome[] => {
  const text = ((): string => {
    try {
      return readFileSync(journalOf(name), "utf8");
    } catch {
      return "";
    }
  })();
  return text
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Outcome);
};
const withoutMeasured = ({ measured: _, ...rest }: Outcome): unknown => rest;
const byHash = (a: Outcome, b: Outcome): number => (a.hash < b.hash ? -1 : 1);

/** Holds a journal against what an undisturbed run records. */
function expectAll(name: string, count: number): void {
  const expected = fakeJobs(count).map((job) => fakeOutcome(job));
  expect(linesOf(name).sort(byHash).map(withoutMeasured)).toEqual(expected.sort(byHash).map(withoutMeasured));
}

describe.skipIf(redisMissing !== null)(
  `sweeps on a Redis server${redisMissing === null ? "" : `: ${redisMissing}`}`,
  () => {
    let redis: TestRedis;
    beforeAll(async () => {
      await compile();
      redis = await startRedis();
    });
    afterEach(() => {
      for (const child of children) child.kill("SIGKILL");
    });
    afterAll(() => redis.remove());

    const worker = (ms: number, size = 1): Started => started("worker", redis.url, `${ms}`, `${size}`);
    const coordinator = (name: string, count: number): Started =>
      started("coordinator", redis.url, name, `${count}`, journalOf(name));
    async function until(done: () => boolean): Promise<void> {
      while (!done()) await pause(20);
    }

    it("does every task once with four workers, and leaves nothing on the server", async () => {
      const count = triesAll ? 10_000 : 500;
      const workers = [0, 1, 2, 3].map(() => worker(0));
      expect(await coordinator("tiny", count).ended).toEqual({ code: 0, out: "", err: "" });
      expectAll("tiny", count);
      expect(new Set(linesOf("tiny").map(({ measured }) => measured.worker)).size).toBe(4);
      const client = new Redis(redis.port);
      const own = (await client.keys("banyan:*")).filter(
        (key) => !key.startsWith("banyan:tasks-") || /:[0-9a-f]{16}-/.test(key),
      );
      client.disconnect();
      expect(own.filter((key) => !key.startsWith("banyan:workers"))).toEqual([]);
      for (const { child } of workers) child.kill("SIGTERM");
      for (const { ended } of workers) expect(await ended).toEqual({ code: 0, out: "", err: "" });
    });

    it.runIf(triesAll)("loses nothing to workers that are killed again and again", async () => {
      const count = 600;
      let workers = [0, 1].map(() => worker(20, 2));
      const running = coordinator("killed", count);
      let kills = 0;
      while (linesOf("killed").length < count - 10 && kills < 20) {
        await pause(700);
        const [first, ...others] = workers;
        first?.child.kill("SIGKILL");
        workers = [...others, worker(20, 2)];
        kills++;
      }
      expect(kills).toBeGreaterThan(1);
      expect((await running.ended).code).toBe(0);
      expectAll("killed", count);
    });

    it.each(triesAll ? (["SIGTERM", "SIGKILL"] as const) : (["SIGKILL"] as const))(
      "goes on when the server is ended by %s and started again",
      async (signal) => {
        const name = `restarted-${signal}`;
        const count = 300;
        worker(10, 2);
        worker(10, 2);
        const running = coordinator(name, count);
        for (const part of [50, 150]) {
          await until(() => linesOf(name).length > part);
          await redis.stop(signal);
          await pause(500);
          await redis.start();
        }
        const { code, err } = await running.ended;
        expect(code).toBe(0);
        expect(err).toContain("is lost");
        expect(err).toContain("is there again");
        expectAll(name, count);
      },
    );

    it("collects what ended while its coordinator was killed", async () => {
      const count = 300;
      const name = "orphaned";
      const first = coordinator(name, count);
      const one = worker(5, 2);
      await until(() => linesOf(name).length > 50);
      first.child.kill("SIGKILL");
      await first.ended;
      const before = linesOf(name).length;
      // the tasks that were handed over are done without it
      const client = new Redis(redis.port);
      while ((await client.hlen(`banyan:results:${sweepKey(name)}`)) < count - before) await pause(50);
      one.child.kill("SIGTERM");
      await one.ended;
      // nobody works any more
      expect((await coordinator(name, count).ended).code).toBe(0);
      expectAll(name, count);
      expect(await client.keys("banyan:results:*")).toEqual([]);
      client.disconnect();
    });

    it("is run by one coordinator at a time", async () => {
      const first = coordinator("single", 1);
      const client = new Redis(redis.port);
      await expect.poll(() => client.hexists("banyan:sweeps", sweepKey("single"))).toBe(1);
      client.disconnect();
      expect(await coordinator("single", 1).ended).toEqual({
        code: 2,
        out: "",
        err: `the sweep single is run by process ${first.child.pid} on ${hostname()} already\n`,
      });
      first.child.kill("SIGKILL");
      await first.ended;
      expect(await cancelSweep(redis.url, "single")).toBe(1);
    });

    const commandLine = (...args: string[]): Promise<Ran> => {
      const run = startedBy([MAIN, "worker", redis.url, ...args]);
      return run.ended;
    };

    it("has `banyan worker` for real tasks, which SIGTERM ends when what runs is done", async () => {
      const options = { sweep: "real", version, backend: null, priority: 0, store: join(folder, "store") };
      const engine = await openRedisEngine(redis.url, {
        ...options,
        signal: new AbortController().signal,
        note: () => {},
      });
      const jobs = Array.from({ length: 20 }, (_, i): Job => {
        const own = { topology: `ring:${3 + i}`, options: { collective: "allgather" }, inputs: {}, keep: false };
        const task: SweepTask = { verb: "bound", ...own };
        return { hash: taskHash(task, version), task, budget: { timeMs: null, memoryBytes: null } };
      });
      await engine.submit(jobs);
      const { child, ended } = startedBy([MAIN, "worker", redis.url, "--concurrency", "2"]);
      const outcomes: Outcome[] = [];
      while (outcomes.length < jobs.length) outcomes.push(...(await engine.ended()));
      expect(outcomes.map(({ hash }) => hash).sort()).toEqual(jobs.map(({ hash }) => hash).sort());
      expect(new Set(outcomes.map(({ status }) => status))).toEqual(new Set(["done"]));
      await engine.close();
      child.kill("SIGTERM");
      expect(await ended).toMatchObject({ code: 0, out: expect.stringContaining("20 tasks done") });
    });

    it.runIf(process.platform === "linux")(
      "leaves no process behind where `banyan worker` is killed in the middle of a task",
      async () => {
        const options = { sweep: "long", version, backend: null, priority: 0, store: join(folder, "store") };
        const engine = await openRedisEngine(redis.url, {
          ...options,
          signal: new AbortController().signal,
          note: () => {},
        });
        const own = { topology: "mesh:24x24", inputs: {}, keep: false };
        const task: SweepTask = {
          verb: "synth",
          ...own,
          options: { collective: "allreduce", trials: "3000", chunks: "4" },
        };
        await engine.submit([{ hash: taskHash(task, version), task, budget: { timeMs: null, memoryBytes: null } }]);
        const { child, ended } = startedBy([MAIN, "worker", redis.url, "--concurrency", "1"]);
        const parentOf = (pid: string): string => {
          try {
            return readFileSync(`/proc/${pid}/stat`, "utf8")
              .replace(/^.*\) /, "")
              .split(" ")[1] as string;
          } catch {
            return "";
          }
        };
        const ofWorker = (): string[] =>
          readdirSync("/proc").filter((pid) => /^\d+$/.test(pid) && parentOf(pid) === String(child.pid));
        await expect.poll(() => ofWorker().length).toBe(1);
        const [executor] = ofWorker() as [string];
        await pause(1000);
        child.kill("SIGKILL");
        await ended;
        expect(existsSync(`/proc/${executor}`)).toBe(true);
        await expect.poll(() => existsSync(`/proc/${executor}`), { timeout: 10_000 }).toBe(false);
        await engine.cancel();
        await engine.close();
      },
    );

    it("ends `banyan worker` of another version with exit code 2", async () => {
      const options = { sweep: "old", version: "0.0.1", backend: null, priority: 0, store: join(folder, "store") };
      const engine = await openRedisEngine(redis.url, {
        ...options,
        signal: new AbortController().signal,
        note: () => {},
      });
      const { code, err } = await commandLine();
      await engine.close();
      expect(code).toBe(2);
      expect(err).toBe(`banyan: this worker is refused: it is of version ${version}, the sweep old of 0.0.1\n`);
    });
  },
);
