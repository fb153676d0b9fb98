import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CancelledError } from "../../src/base/errors.ts";
import { type Job, type SweepTask, taskHash } from "../../src/model/sweep/task.ts";
import { type ExecutorOptions, type Executors, openExecutors } from "../../src/sweep/executors.ts";
import { openStore } from "../../src/sweep/store.ts";
import { compile } from "../support/cli.ts";

const folder = mkdtempSync(join(tmpdir(), "banyan-executors-"));
const opened: Executors[] = [];
beforeAll(compile, 120_000);
afterAll(async () => {
  for (const executors of opened) await executors.close();
  rmSync(folder, { recursive: true });
});

const open = async (more: Partial<ExecutorOptions> = {}): Promise<Executors> => {
  const executors = await openExecutors({
    size: 1,
    backend: null,
    threads: 0,
    store: folder,
    memoryBytes: null,
    ...more,
  });
  opened.push(executors);
  return executors;
};
const job = (topology: string, options: SweepTask["options"], more: Partial<Job["budget"]> = {}, keep = false): Job => {
  const task: SweepTask = { verb: "synth", topology, options, inputs: {}, keep };
  return { hash: taskHash(task, "test"), task, budget: { timeMs: null, memoryBytes: null, ...more } };
};
const never = new AbortController().signal;
/** Takes some ten seconds. */
const LONG = job("mesh:60x60", { collective: "allreduce", degrade: "0-1=0.5" });

/** Processes that do tasks for this one. */
const children = (): number[] =>
  execFileSync("pgrep", ["-P", String(process.pid), "-f", "executor-process"], { encoding: "utf8" })
    .split("\n")
    .filter(Boolean)
    .map(Number);

describe.skipIf(process.platform !== "linux")("processes for tasks", () => {
  it("do a task and keep its schedule under its hash", async () => {
    const executors = await open();
    const one = job("mesh:3x3", { collective: "allgather", size: "9KiB" }, {}, true);
    const { status, rows, schedule, measured } = await executors.execute(one, never);
    expect([status, rows[0]?.["npus"], measured.attempts]).toEqual(["done", 9, 1]);
    const kept = await (await openStore(folder)).get(schedule?.sha256 as string);
    expect([kept.length, JSON.parse(new TextDecoder().decode(kept)).format]).toEqual([
      schedule?.bytes,
      "banyan-schedule",
    ]);
  });

  it("say what is refused and what cannot be, and go on", async () => {
    const executors = await open();
    const refused = await executors.execute(job("mesh:3x3", { collective: "allgather", root: "1" }), never);
    const infeasible = await executors.execute(job("line:3", { collective: "allgather", without: "1" }), never);
    const done = await executors.execute(job("line:3", { collective: "allgather" }), never);
    expect([refused.status, infeasible.status, done.status]).toEqual(["refused", "infeasible", "done"]);
    expect(refused.why).toMatch(/^--root/);
  });

  it("end a task whose time is over, one that eats memory, and one that is cancelled", async () => {
    const executors = await open();
    const { budget } = LONG;
    const late = await executors.execute({ ...LONG, budget: { ...budget, timeMs: 300 } }, never);
    expect([late.status, late.why]).toEqual(["timeout", "it took more than 0.3 s"]);
    const large = await executors.execute({ ...LONG, budget: { ...budget, memoryBytes: 90 * 2 ** 20 } }, never);
    expect([large.status, large.why]).toEqual(["memory", "it took more than 90 MiB of memory"]);
    const stop = new AbortController();
    setTimeout(() => stop.abort(), 200);
    await expect(executors.execute(LONG, stop.signal)).rejects.toThrow(CancelledError);
    expect((await executors.execute(job("ring:4", { collective: "allgather" }), never)).status).toBe("done");
  });

  it("do a task again whose process was killed, and give up one that crashes twice", async () => {
    const executors = await open();
    const before = children();
    const own = (): number => children().find((pid) => !before.includes(pid)) ?? (before.at(-1) as number);
    const slow = job("mesh:30x30", { collective: "allgather", degrade: "0-1=0.5" });
    const undisturbed = await executors.execute(slow, never);
    const killed = executors.execute(slow, never);
    await new Promise((resolve) => setTimeout(resolve, 50));
    process.kill(own(), "SIGKILL");
    const { hash, status, rows, measured } = await killed;
    expect({ hash, status, rows }).toEqual({ hash, status: "done", rows: undisturbed.rows });
    expect(measured.attempts).toBe(2);
    let crashing = true;
    const crash = (async () => {
      while (crashing) {
        // time enough for a process to start and to be at work
        await new Promise((resolve) => setTimeout(resolve, 1500));
        for (const pid of children()) if (!before.includes(pid)) process.kill(pid, "SIGSEGV");
      }
    })();
    const crashed = await executors.execute(LONG, never).finally(() => {
      crashing = false;
    });
    await crash;
    expect([crashed.status, crashed.why, crashed.measured.attempts]).toEqual([
      "crashed",
      "its process did not come to the end: it was ended by SIGSEGV",
      2,
    ]);
  });

  it("refuse a backend that is not there", async () => {
    await expect(open({ backend: "abacus" })).rejects.toThrow(/abacus/);
  });
});
