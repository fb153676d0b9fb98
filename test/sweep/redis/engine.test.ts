import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type { Job, Outcome } from "../../../src/model/sweep/task.ts";
import type { SweepEngine } from "../../../src/sweep/engine.ts";
import { loadOptional } from "../../../src/sweep/optional-package.ts";
import { readRedisAddress } from "../../../src/sweep/redis/address.ts";
import { cancelSweep, listSweeps } from "../../../src/sweep/redis/admin.ts";
import { openRedisEngine, type RedisEngineOptions } from "../../../src/sweep/redis/engine.ts";
import { runRedisWorker } from "../../../src/sweep/redis/worker.ts";
import type { WorkerOptions } from "../../../src/sweep/worker-options.ts";
import { fakeExecutors, fakeJobs } from "../../support/fake-executors.ts";
import { freePort, redisMissing, startRedis, type TestRedis } from "../../support/redis.ts";

/** What coordinators and workers say to each other by a real server, in this process. */

const folder = mkdtempSync(join(tmpdir(), "banyan-engine-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const SECRET = "s3cret:word";

describe("the address of a server", () => {
  it("has host, port, database, user, password, prefix and patience", () => {
    const text = `redis://me:${encodeURIComponent(SECRET)}@queue.example:7000/3?prefix=lab&patience=5`;
    expect(readRedisAddress(text, {})).toEqual({
      ...{ host: "queue.example", port: 7000, db: 3, username: "me", password: SECRET, tls: null },
      ...{ prefix: "lab", patienceMs: 5000, shown: "redis://queue.example:7000/3?prefix=lab" },
    });
    expect(readRedisAddress("redis://[::1]", {})).toMatchObject({ host: "::1", port: 6379, db: 0, prefix: "banyan" });
  });

  it("takes the password from the environment, or from a file that it names", () => {
    expect(readRedisAddress("redis://a", { BANYAN_REDIS_PASSWORD: SECRET }).password).toBe(SECRET);
    expect(() => readRedisAddress("redis://a", { BANYAN_REDIS_PASSWORD_FILE: join(folder, "none") })).toThrow(
      /cannot be read/,
    );
  });

  it.each([
    [`redis://:${SECRET}@`, /has no host|no address/],
    [`redis://:${SECRET}@a:b`, /no address/],
    [`redis://:${SECRET}@a?prefx=b`, /prefx/],
    [`redis://:${SECRET}@a/x`, /database/],
    [`redis://:${SECRET}@a?prefix=a%20b`, /prefix/],
    [`redis://:${SECRET}@a?ca=x`, /rediss/],
    [`rediss://:${SECRET}@a?ca=none.pem`, /"none\.pem" cannot be read \(ENOENT\)/],
    [`redis://:${SECRET}@a?patience=-1`, /patience/],
  ])("is refused without showing the password: %s", (text, sentence) => {
    const refused = ((): string => {
      try {
        return readRedisAddress(text, {}).shown;
      } catch (error) {
        return (error as Error).message;
      }
    })();
    expect(refused).toMatch(sentence);
    expect(refused).not.toContain(SECRET);
  });

  it("needs packages, and says how they are installed together", async () => {
    const absent = Object.assign(new Error("none"), { code: "ERR_MODULE_NOT_FOUND" });
    await expect(loadOptional("bullmq", "redis://", () => Promise.reject(absent), "bullmq ioredis")).rejects.toThrow(
      /npm install bullmq ioredis$/,
    );
  });
});

describe.skipIf(redisMissing !== null)(`a server's queues${redisMissing === null ? "" : `: ${redisMissing}`}`, () => {
  let redis: TestRedis;
  const stops: AbortController[] = [];
  const workers: Promise<unknown>[] = [];
  const engines: SweepEngine[] = [];
  beforeAll(async () => {
    redis = await startRedis({ password: SECRET, tls: true });
  });
  afterEach(async () => {
    await Promise.all(engines.splice(0).map((engine) => engine.cancel().then(() => engine.close())));
    for (const stop of stops.splice(0)) stop.abort();
    await Promise.allSettled(workers.splice(0));
  });
  afterAll(() => redis.remove());

  let names = 0;
  const url = (more = ""): string =>
    `rediss://:${encodeURIComponent(SECRET)}@127.0.0.1:${redis.port}?ca=${redis.ca}&prefix=p${names}${more}`;
  async function engineFor(
    sweep: string,
    more: Partial<RedisEngineOptions> = {},
    address = url(),
  ): Promise<SweepEngine> {
    const engine = await openRedisEngine(address, {
      ...{ sweep, version: "1", backend: null, priority: 0, store: join(folder, "store") },
      ...{ signal: new AbortController().signal, note: () => undefined },
      ...more,
    });
    engines.push(engine);
    return engine;
  }
  function work(more: Partial<WorkerOptions> = {}, address = url()): { stop: () => void; ended: Promise<number> } {
    const stop = new AbortController();
    stops.push(stop);
    const ended = runRedisWorker(address, {
      ...{ version: "1", backend: null, kernels: "native", threads: 1, size: 1, memoryBytes: null, graceMs: 5000 },
      ...{ signal: stop.signal, open: fakeExecutors(5), note: () => undefined, progress: () => undefined },
      ...more,
    });
    workers.push(ended);
    ended.catch(() => undefined);
    return { stop: () => stop.abort(), ended };
  }
  async function through(engine: SweepEngine, jobs: readonly Job[]): Promise<Outcome[]> {
    await engine.submit(jobs);
    return await collected(engine, jobs.length);
  }
  async function collected(engine: SweepEngine, count: number): Promise<Outcome[]> {
    const all: Outcome[] = [];
    while (all.length < count) {
      const ended = await engine.ended();
      all.push(...ended);
      await engine.settled(ended.map(({ hash }) => hash));
    }
    return all;
  }
  const hashes = (of: readonly { readonly hash: string }[]): string[] => of.map(({ hash }) => hash).sort();
  afterEach(() => {
    names++;
  });

  it("is reached by TLS with the password, and refused otherwise in one sentence", async () => {
    work();
    const jobs = fakeJobs(20);
    expect(hashes(await through(await engineFor("secure"), jobs))).toEqual(hashes(jobs));
    const at = `127.0.0.1:${redis.port}`;
    await expect(engineFor("x", {}, `rediss://:wrong@${at}?ca=${redis.ca}`)).rejects.toThrow(
      /cannot be used: WRONGPASS/,
    );
    await expect(engineFor("x", {}, `rediss://${at}?ca=${redis.ca}`)).rejects.toThrow(/cannot be used: NOAUTH/);
    await expect(engineFor("x", {}, `rediss://:${encodeURIComponent(SECRET)}@${at}`)).rejects.toThrow(
      /cannot be used: .*certificate/,
    );
    await expect(engineFor("x", {}, `redis://127.0.0.1:${await freePort()}`)).rejects.toThrow(/ECONNREFUSED/);
    const insecure = await engineFor("y", {}, `rediss://:${encodeURIComponent(SECRET)}@${at}?insecure=1&prefix=p0`);
    expect(hashes(await through(insecure, jobs))).toEqual(hashes(jobs));
  });

  it("refuses workers of another version at both ends", async () => {
    const notes: string[] = [];
    const engine = await engineFor("versions", { version: "2", note: (line) => notes.push(line) });
    await engine.submit(fakeJobs(3));
    await expect(work().ended).rejects.toThrow("this worker is refused: it is of version 1, the sweep versions of 2");
    await expect
      .poll(() => notes.join("\n"))
      .toMatch(/^worker \d+ on \S+ is refused: it is of version 1, the sweep versions of 2$/m);
    expect(engine.state().pending).toBe(3);
    work({ version: "2" });
    expect(await collected(engine, 3)).toHaveLength(3);
  });

  it("refuses workers without the native build, and those that do not reach the store, at both ends", async () => {
    const notes: string[] = [];
    const engine = await engineFor("native", { backend: "native", note: (line) => notes.push(line) });
    await engine.submit(fakeJobs(3));
    const reason = "it is without the native build, which the sweep native asks for";
    await expect(work({ kernels: "wasm" }).ended).rejects.toThrow(`this worker is refused: ${reason}`);
    await expect(work({ backend: "js" }).ended).rejects.toThrow(
      /it has --backend js, the sweep native asks for native/,
    );
    await expect.poll(() => notes.join("\n")).toContain(`is refused: ${reason}`);
    rmSync(join(folder, "store"), { recursive: true });
    await expect(work().ended).rejects.toThrow(/it does not reach the store .* of the sweep native/);
    await expect.poll(() => notes.join("\n")).toContain("it does not reach the store");
    const again = await engineFor("second", { store: join(folder, "other") });
    await engine.cancel();
    work();
    expect(await through(again, fakeJobs(2))).toHaveLength(2);
  });

  it("does sweeps of a greater priority first", async () => {
    const order: string[] = [];
    const [low, high] = [await engineFor("low", { priority: -5 }), await engineFor("high", { priority: 5 })];
    const [lows, highs] = [fakeJobs(40), fakeJobs(40, 100)];
    await low.submit(lows);
    await high.submit(highs);
    const urgent = new Set(highs.map(({ hash }) => hash));
    const seen = (job: Job): undefined => void order.push(urgent.has(job.hash) ? "high" : "low");
    work({ open: fakeExecutors(1, seen), size: 2 });
    const [, ofHigh] = await Promise.all([collected(low, 40), collected(high, 40)]);
    expect(hashes(ofHigh)).toEqual(hashes(highs));
    // what a worker has taken before the others came is its own
    expect(order.slice(0, 40).filter((one) => one === "high").length).toBeGreaterThanOrEqual(38);
  });

  it("lists sweeps and workers, and cancels a sweep from anywhere", async () => {
    const engine = await engineFor("to be cancelled");
    await engine.submit(fakeJobs(50));
    const began: string[] = [];
    const other = await engineFor("goes on");
    const open = fakeExecutors(3_600_000, ({ hash }) => void began.push(hash));
    work({ open, size: 2 });
    await expect.poll(async () => (await listSweeps(url())).workers.map(({ busy }) => busy)).toEqual([2]);
    const { sweeps } = await listSweeps(url());
    expect(sweeps.find(({ name }) => name === "to be cancelled")).toMatchObject({
      ...{ version: "1", isAlive: true, waiting: 48, running: 2, ended: 0 },
    });
    const outcome = engine.ended();
    outcome.catch(() => undefined);
    expect(await cancelSweep(url(), "to be cancelled")).toBe(48);
    await expect(outcome).rejects.toThrow(
      /the sweep to be cancelled was cancelled elsewhere; .* the same command goes on/,
    );
    await expect.poll(async () => (await listSweeps(url())).workers.map(({ busy }) => busy)).toEqual([0]);
    expect((await listSweeps(url())).sweeps.map(({ name }) => name)).toEqual(["goes on"]);
    await expect(cancelSweep(url(), "none")).rejects.toThrow(/goes on/);
    expect(other.state()).toEqual({ workers: 2, pending: 0 });
  });

  it("cancels what its coordinator asked for, and does it when it is asked again", async () => {
    const engine = await engineFor("twice");
    const jobs = fakeJobs(30);
    const held = work({ open: fakeExecutors(3_600_000) });
    await engine.submit(jobs);
    await expect.poll(async () => (await listSweeps(url())).sweeps[0]?.running).toBe(1);
    await engine.cancel();
    await engine.close();
    expect((await listSweeps(url())).sweeps).toEqual([]);
    held.stop();
    expect(await held.ended).toBe(0);
    work();
    expect(hashes(await through(await engineFor("twice"), jobs))).toEqual(hashes(jobs));
  });

  it("hands back what a worker does not end in its grace, and counts no failure", async () => {
    const engine = await engineFor("grace");
    const [job] = fakeJobs(1) as [Job];
    const slow = work({ open: fakeExecutors(3_600_000), graceMs: 100 });
    await engine.submit([job]);
    await expect.poll(async () => (await listSweeps(url())).sweeps[0]?.running).toBe(1);
    slow.stop();
    expect(await slow.ended).toBe(0);
    expect((await listSweeps(url())).sweeps[0]).toMatchObject({ waiting: 1, running: 0 });
    work();
    expect(await collected(engine, 1)).toMatchObject([{ status: "done", measured: { attempts: 2 } }]);
  });

  it("ends what runs within its grace", async () => {
    const engine = await engineFor("ends");
    const slow = work({ open: fakeExecutors(500) });
    await engine.submit(fakeJobs(2));
    await expect.poll(async () => (await listSweeps(url())).sweeps[0]?.running).toBe(1);
    slow.stop();
    expect(await slow.ended).toBe(1);
    expect(await collected(engine, 1)).toMatchObject([{ status: "done", measured: { attempts: 1 } }]);
    expect((await listSweeps(url())).workers).toEqual([]);
  });

  it("begins anew what crashed, elsewhere where it can, and says so in the end", async () => {
    const engine = await engineFor("crashes");
    const [first, second] = fakeJobs(2) as [Job, Job];
    const times = new Map<string, number>();
    const seen = ({ hash }: Job): Outcome["status"] => {
      times.set(hash, (times.get(hash) ?? 0) + 1);
      return hash === first.hash || times.get(hash) === 1 ? "crashed" : "done";
    };
    work({ open: fakeExecutors(1, seen) });
    const outcomes = await through(engine, [first, second]);
    expect(outcomes.find(({ hash }) => hash === first.hash)).toMatchObject({
      status: "crashed",
      measured: { attempts: 2 },
    });
    expect(outcomes.find(({ hash }) => hash === second.hash)).toMatchObject({
      status: "done",
      measured: { attempts: 2 },
    });
    expect([...times.values()]).toEqual([2, 2]);
  });

  it("stops waiting when it is told to", async () => {
    const stop = new AbortController();
    const engine = await engineFor("stopped", { signal: stop.signal });
    await engine.submit(fakeJobs(2));
    const outcome = engine.ended();
    outcome.catch(() => undefined);
    await pause(50);
    stop.abort();
    await expect(outcome).rejects.toThrow("cancelled");
    await engine.close();
    // its tasks stay for whoever goes on
    expect((await listSweeps(url())).sweeps[0]).toMatchObject({ name: "stopped", waiting: 2 });
    engines.splice(0);
    await cancelSweep(url(), "stopped");
  });

  it("says what is safe, and how to go on, when the server stays lost", async () => {
    const own = await startRedis();
    const notes: string[] = [];
    const address = `${own.url}?patience=1`;
    const engine = await engineFor("lost", { note: (line) => notes.push(line) }, address);
    const worker = work({}, address);
    await engine.submit(fakeJobs(1, 7));
    await collected(engine, 1);
    await engine.submit(fakeJobs(1));
    await own.stop("SIGKILL");
    await expect(collected(engine, 1)).rejects.toThrow(
      /is lost: it has not answered for 0 min .*; what ended is in this sweep's journal, and the same command goes on from there/,
    );
    await expect(worker.ended).rejects.toThrow(/is lost: .* tasks go to other workers/);
    expect(notes[0]).toMatch(/is lost.*: trying again/);
    await own.remove();
  });
});
