import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { Redis } from "ioredis";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type { Outcome } from "../../../src/model/sweep/task.ts";
import { sweepKey } from "../../../src/sweep/redis/board.ts";
import { compile } from "../../support/cli.ts";
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
  /** Resolves to its exit code and what it said on standard error. */
  readonly ended: Promise<{ readonly code: number | null; readonly err: string }>;
}

function started(...args: string[]): Started {
  const child = spawn(process.execPath, [SCRIPT, ...args], { stdio: ["ignore", "ignore", "pipe"] });
  children.add(child);
  let err = "";
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    err += text;
  });
  const ended = new Promise<{ code: number | null; err: string }>((resolve) => {
    child.once("close", (code) => {
      children.delete(child);
      resolve({ code, err });
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
      expect(await coordinator("tiny", count).ended).toEqual({ code: 0, err: "" });
      expectAll("tiny", count);
      expect(new Set(linesOf("tiny").map(({ measured }) => measured.worker)).size).toBe(4);
      const client = new Redis(redis.port);
      const own = (await client.keys("banyan:*")).filter(
        (key) => !key.startsWith("banyan:tasks-") || /:[0-9a-f]{16}-/.test(key),
      );
      client.disconnect();
      expect(own.filter((key) => !key.startsWith("banyan:workers"))).toEqual([]);
      for (const { child } of workers) child.kill("SIGTERM");
      for (const { ended } of workers) expect(await ended).toEqual({ code: 0, err: "" });
    });

    it("loses nothing to workers that are killed again and again", async () => {
      const count = triesAll ? 600 : 100;
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

    it.each(["SIGTERM", "SIGKILL"] as const)(
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
  },
);
