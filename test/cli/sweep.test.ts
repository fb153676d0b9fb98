import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { banyan, cliFolder, MAIN } from "../support/cli.ts";

/** Sweeps as processes: stopped in every way, they go on where they were and come to the same results. */

const folder = cliFolder();
const SWEEP = `sweep: some
axes:
  topology: [mesh:3x3, ring:6]
  failures: [none, {each: links}, {every: 2, of: links}]
  collective: [allgather, allreduce]
keep: schedules
`;
const root = process.getuid?.() === 0;

const run = (...args: readonly string[]) => banyan(["sweep", "some.yaml", ...args], { cwd: folder.at() });
const resultsOf = (name: string): string => readFileSync(folder.at(name, "results.jsonl"), "utf8");
const storeOf = (name: string): string[] =>
  readdirSync(folder.at(name, "store"), { recursive: true })
    .map(String)
    // what a killed process was writing
    .filter((path) => !path.startsWith(".writing"))
    .sort();
const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Runs the sweep until `disturb` is through, or it ends; returns its exit code. */
async function disturbed(name: string, disturb: (sweep: ChildProcess, isOver: () => boolean) => Promise<void>) {
  const child = spawn(process.execPath, [MAIN, "sweep", "some.yaml", "-o", name, "-q"], {
    cwd: folder.at(),
    stdio: "ignore",
  });
  let isOver = false;
  const ended = new Promise<number | null>((resolve) =>
    child.on("close", (code) => {
      isOver = true;
      resolve(code);
    }),
  );
  await disturb(child, () => isOver);
  return ended;
}

/** The processes that a process started. */
function childrenOf(pid: number): number[] {
  try {
    return execFileSync("pgrep", ["-P", String(pid)], { encoding: "utf8" })
      .split("\n")
      .filter(Boolean)
      .map(Number);
  } catch {
    return [];
  }
}

describe.skipIf(process.platform !== "linux")("sweeps", () => {
  it("do what is alike once, come to the same results whatever is killed, and do nothing twice", async () => {
    folder.put("some.yaml", SWEEP);
    const whole = await run("-o", "whole", "--json");
    const { points, tasks, statuses, rows } = JSON.parse(whole.out);
    expect([whole.code, points, rows, statuses.done + statuses.infeasible]).toEqual([0, 202, tasks, tasks]);
    expect(tasks).toBeLessThan(points / 3);
    const counted = resultsOf("whole")
      .trim()
      .split("\n")
      .reduce((sum, line) => sum + JSON.parse(line).count, 0);
    expect(counted).toBe(points);

    // the coordinator is killed, twice
    for (const ms of [900, 1100])
      await disturbed("killed", async (child) => {
        await wait(ms);
        child.kill("SIGKILL");
      });
    const before = readFileSync(folder.at("killed", "outcomes.jsonl"), "utf8");
    const again = await run("-o", "killed", "--json");
    const known = JSON.parse(again.out).before;
    expect(again.code).toBe(0);
    expect(known).toBe(before.split("\n").length - 1);
    expect(readFileSync(folder.at("killed", "outcomes.jsonl"), "utf8").trim().split("\n")).toHaveLength(tasks);
    expect(resultsOf("killed")).toBe(resultsOf("whole"));
    expect(storeOf("killed")).toEqual(storeOf("whole"));

    // processes are killed while they work
    let kills = 0;
    const code = await disturbed("workers", async ({ pid }, isOver) => {
      while (!isOver()) {
        await wait(1200);
        const [child] = childrenOf(pid as number);
        if (child === undefined) continue;
        process.kill(child, "SIGKILL");
        kills++;
      }
    });
    expect([code, kills > 0]).toEqual([0, true]);
    expect(resultsOf("workers")).toBe(resultsOf("whole"));
  });

  it("are extended by what the file has more, and refuse a folder that another process works on", async () => {
    folder.put("some.yaml", SWEEP.replace(", ring:6", ""));
    await run("-o", "grown", "-q");
    folder.put("some.yaml", SWEEP);
    const { before, tasks } = JSON.parse((await run("-o", "grown", "--json")).out);
    expect([before > 0, before < tasks, resultsOf("grown")]).toEqual([true, true, resultsOf("whole")]);
    let refusal = "";
    await disturbed("both", async (child) => {
      await wait(700);
      refusal = (await run("-o", "both")).err;
      child.kill("SIGKILL");
    });
    expect(refusal).toMatch(/both is worked on by process \d+ of/);
    expect((await run("-o", "both", "-q")).code).toBe(0);
  });

  it("say how much there is to do without doing it", async () => {
    folder.put("some.yaml", SWEEP);
    const { code, out } = await run("-o", "dry", "--dry-run", "--json");
    expect([code, JSON.parse(out)]).toMatchObject([0, { schema: "banyan/sweep-plan@1", points: 202, isLonger: false }]);
    folder.put("net.csv", "from,to,bandwidth,latency\na,b,10GB/s,1us\nb,a,10GB/s,1us\n");
    folder.put("some.yaml", "axes: {topology: [net.csv], collective: [allgather]}");
    expect(await run("-o", "dry", "--dry-run", "-q")).toMatchObject({ code: 0, err: "" });
    expect(readdirSync(folder.at())).not.toContain("dry");
  });

  it.skipIf(!root)("say that a disk is full, and go on when there is room", async () => {
    folder.put("some.yaml", SWEEP);
    mkdirSync(folder.at("small"));
    try {
      execFileSync("mount", ["-t", "tmpfs", "-o", "size=128k", "tmpfs", folder.at("small")], { stdio: "ignore" });
    } catch {
      return; // no right to mount here
    }
    try {
      const full = await run("-o", "small/s", "-q");
      expect(full.code).toBe(2);
      expect(full.err).toMatch(/disk with room|the disk is full/);
      expect(full.err).toMatch(/what was done is safe in small\/s, and the same command goes on/);
      execFileSync("mount", ["-o", "remount,size=64m", folder.at("small")]);
      expect((await run("-o", "small/s", "-q")).code).toBe(0);
      await run("-o", "large", "-q");
      expect(resultsOf("small/s")).toBe(resultsOf("large"));
    } finally {
      execFileSync("umount", ["-l", folder.at("small")]);
    }
  });
});
