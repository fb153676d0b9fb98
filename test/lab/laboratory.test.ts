import { type ChildProcess, spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { networkInterfaces } from "node:os";
import { setTimeout as pause } from "node:timers/promises";
import { Ajv } from "ajv";
import { beforeAll, describe, expect, it } from "vitest";
import { laboratoryHindrance, runningLaboratories } from "../../src/lab/laboratory.ts";
import { mpiToolchains } from "../../src/mpi/toolchain.ts";
import { banyan, compile, MAIN } from "../support/cli.ts";

/** Laboratories of this machine, where it can have them: small ones, at rates that no machine is too slow for. */

const MPI = mpiToolchains();
const hindrance = laboratoryHindrance() ?? (MPI.length === 0 ? "no MPI library is installed" : null);
const schemaOf = (name: string) => JSON.parse(readFileSync(new URL(`../../schemas/${name}`, import.meta.url), "utf8"));

/** Returns the command lines of all processes. */
const commandLines = (): string[] =>
  readdirSync("/proc").flatMap((name) => {
    try {
      return /^\d+$/.test(name) ? [readFileSync(`/proc/${name}/cmdline`, "utf8").replaceAll("\0", " ")] : [];
    } catch {
      return [];
    }
  });

const until = async (holds: () => boolean, what: string): Promise<void> => {
  for (let tries = 0; !holds(); tries++) {
    if (tries === 600) throw new Error(`${what} does not come`);
    await pause(50);
  }
};

let turn = 0;
/** Starts a laboratory in which processes sleep; returns it once they do, and how many of its processes there are. */
async function sleeping(): Promise<{
  child: ChildProcess;
  ended: Promise<number | null>;
  left: () => number;
  err: () => string;
}> {
  // nobody else sleeps for so long
  const seconds = `${90_000 + process.pid}.${++turn}`;
  const child = spawn(process.execPath, [MAIN, "lab", "ring:3", "--rate", "50Mbps", "--", "sleep", seconds], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  let text = "";
  child.stderr?.setEncoding("utf8").on("data", (part: string) => {
    text += part;
  });
  const ended = new Promise<number | null>((done) => child.on("close", done));
  const left = (): number => commandLines().filter((line) => line.includes(seconds) && !line.includes(MAIN)).length;
  await until(() => commandLines().filter((line) => line === `sleep ${seconds} `).length === 3, "a laboratory");
  return { child, ended, left, err: () => text };
}
const ofStarter = (pid: number | undefined) => runningLaboratories().filter(({ starter }) => starter === pid);

describe.skipIf(hindrance !== null)(`a laboratory${hindrance === null ? "" : `: ${hindrance}`}`, () => {
  beforeAll(compile, 120_000);

  it("runs a program on each NPU, under names of their own, and ends with its exit code", {
    timeout: 60_000,
  }, async () => {
    const { out, code } = await banyan(["lab", "mesh:2x2", "--without", "0-1", "--", "hostname"]);
    expect([code, out.trim().split("\n").sort()]).toEqual([0, ["npu0", "npu1", "npu2", "npu3"]]);
    expect((await banyan(["lab", "ring:3", "-q", "--", "sh", "-c", "exit 3"])).code).toBe(3);
  });

  it.each(MPI.map(({ flavour }) => flavour))(
    "measures plans that are right beside the library, with %s",
    { timeout: 120_000 },
    async (flavour) => {
      const line = [
        "lab",
        "ring:3",
        "--rate",
        "50Mbps",
        "--sizes",
        "48KiB",
        "--repeats",
        "2",
        "--mpi",
        flavour,
        "--json",
      ];
      const { out, code, err } = await banyan(line);
      const report = JSON.parse(out);
      expect([code, err.includes("wrong")]).toEqual([0, false]);
      const ajv = new Ajv({ allErrors: true, strict: false });
      ajv.addSchema(schemaOf("error.schema.json"));
      const validate = ajv.compile(schemaOf("lab.schema.json"));
      expect([validate(report), validate.errors]).toEqual([true, null]);
      expect(report.sizes).toHaveLength(1);
      expect(report.sizes[0]).toMatchObject({ sizeBytes: 49_152, measured: { calls: 2, right: true } });
      expect(report.sizes[0].library).toMatchObject([{ isOwnChoice: true, times: { right: true } }]);
    },
  );

  it.each(["SIGKILL", "SIGINT", "SIGTERM"] as const)("is no more after %s", { timeout: 60_000 }, async (signal) => {
    const { child, ended, left } = await sleeping();
    expect(ofStarter(child.pid)).toMatchObject([{ network: "ring:3", orphaned: null }]);
    child.kill(signal);
    await ended;
    await until(() => left() === 0, "the end of all processes");
    expect(ofStarter(child.pid)).toEqual([]);
    expect(Object.keys(networkInterfaces()).filter((name) => /^(?:e\d+|m\d+|mgmt|nic0)$/.test(name))).toEqual([]);
  });

  it("is no more when what holds it is killed, and says so", { timeout: 60_000 }, async () => {
    const { child, ended, left, err } = await sleeping();
    process.kill(ofStarter(child.pid)[0]?.pids[0] as number, "SIGKILL");
    expect(await ended).toBe(2);
    expect(err()).toMatch(/ended from outside/);
    await until(() => left() === 0, "the end of all processes");
  });

  it("is ended by --clean where what started it is stopped, and left where it is at work", {
    timeout: 60_000,
  }, async () => {
    const { child, ended, left } = await sleeping();
    const clean = async () => JSON.parse((await banyan(["lab", "--clean", "--json"])).out);
    const own = (list: { startedBy: number }[]) => list.filter(({ startedBy }) => startedBy === child.pid);
    const before = await clean();
    expect([own(before.inUse).length, own(before.ended).length]).toEqual([1, 0]);
    child.kill("SIGSTOP");
    const { ended: those } = await clean();
    expect(own(those)).toMatchObject([{ topology: "ring:3", starterIs: "stopped" }]);
    await until(() => left() === 0, "the end of all processes");
    child.kill("SIGCONT");
    expect(await ended).toBe(2);
  });
});

describe("a laboratory that is refused", () => {
  it("says what there is no MPI library of", async () => {
    const { code, err } = await banyan(["lab", "ring:3"], { env: { PATH: "" } });
    expect([code, err]).toEqual([2, expect.stringMatching(/no MPI library was found .*openmpi-bin/)]);
  });
});
