import { spawn, spawnSync } from "node:child_process";
import { existsSync, lstatSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { banyan, cliFolder, MAIN } from "../support/cli.ts";
import { banyanHere } from "../support/cli-here.ts";
import { triesAll } from "../support/runs.ts";

const folder = cliFolder();
const run = (line: string) => banyan(line.split(" "), { cwd: folder.at() });
const runHere = (line: string) => banyanHere(line.split(" "));
const visible = (): string[] => readdirSync(folder.at()).sort();

/** Starting takes up to 0.6 s. */
const AT_WORK_S = triesAll ? 2 : 1;

/** Starts a command; `atWork` resolves when it hears interrupts and has computed for so long that it is at work, `end` with its exit code. */
function start(line: string) {
  const child = spawn(process.execPath, [MAIN, ...line.split(" ")], {
    cwd: folder.at(),
    stdio: ["ignore", "pipe", "pipe"],
  });
  let [out, err] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    out += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    err += text;
  });
  const isAtWork = (): boolean => hearsInterrupts(child.pid as number) && cpuSeconds(child.pid as number) > AT_WORK_S;
  return {
    atWork: async () => {
      if (!existsSync("/proc/self/stat")) await sleep(2000);
      else while (child.exitCode === null && !isAtWork()) await sleep(20);
    },
    interrupt: () => child.kill("SIGINT"),
    end: new Promise<{ code: number | null; out: string; err: string }>((resolve) =>
      child.on("close", (code) => resolve({ code, out, err })),
    ),
  };
}
const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** As Linux tells it: the second bit of the signals that a process catches is SIGINT's. */
function hearsInterrupts(pid: number): boolean {
  const caught = /^SigCgt:\s*([0-9a-f]+)$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? "0";
  return (BigInt(`0x${caught}`) & 2n) !== 0n;
}

/** Of all threads of a process, of which Linux tells hundredths, behind the name in brackets. */
function cpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
    .replace(/^.*\) /, "")
    .split(" ");
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

describe("help and version", () => {
  it.each(["", "topology ", "bound ", "synth ", "verify ", "simulate ", "export ", "compare ", "list "])(
    "`banyan %s--help` explains itself with examples and names the options of every command",
    async (command) => {
      const { code, out, err } = await runHere(`${command}--help`);
      expect([code, err]).toEqual([0, ""]);
      expect(out).toMatch(
        command === "" ? /Start with:\n {2}banyan / : new RegExp(`Examples:\\n {2}banyan ${command}`),
      );
      for (const option of ["--json", "--quiet", "--backend", "--threads", "--debug", "--help", "--version"]) {
        expect(out).toContain(option);
      }
    },
  );

  it("gives examples that work", async () => {
    const { out } = await runHere("bound --help");
    const examples = out.split("Examples:\n")[1]?.trim().split("\n") ?? [];
    expect(examples.length).toBeGreaterThanOrEqual(2);
    for (const example of examples) {
      const { code, err } = await runHere(
        example
          .trim()
          .replace(/^banyan /, "")
          .replaceAll("'", ""),
      );
      expect([example, code, err]).toEqual([example, 0, ""]);
    }
  });

  it("prints the version of the package", async () => {
    const { version } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));
    expect(await runHere("synth --version")).toMatchObject({ code: 0, out: `${version}\n`, err: "" });
  });

  it("prints the help on standard error without a command", async () => {
    const { code, out, err } = await banyanHere([]);
    expect([code, out]).toEqual([2, ""]);
    expect(err).toContain("Start with:");
  });

  it("takes global options before and after the command", async () => {
    const before = await runHere("--json list collectives");
    const after = await runHere("list collectives --json");
    expect(before).toEqual(after);
    expect(JSON.parse(before.out).items).toHaveLength(9);
  });
});

describe("standard output and standard error", () => {
  it("has exactly one JSON object with --json, and nothing else anywhere", async () => {
    const { out, err } = await run("synth ring:4 --collective allgather --json");
    expect(err).toBe("");
    expect(Object.keys(JSON.parse(out))[0]).toBe("schema");
  });

  it("is silent with --quiet where a file was asked for", async () => {
    expect(await run("synth ring:4 --collective allgather --quiet -o q.json")).toEqual({ code: 0, out: "", err: "" });
    expect(existsSync(folder.at("q.json"))).toBe(true);
  });

  it("has no colours where it is no terminal", async () => {
    expect((await run("synth ring:4 --collective allgather")).out).not.toContain("\u001b");
  });

  it("shows where an error came from only with --debug", async () => {
    const plain = await runHere("topology mesh:0");
    const debug = await runHere("topology mesh:0 --debug");
    expect(plain.err.trimEnd().split("\n")).toHaveLength(1);
    expect(debug.err.startsWith(plain.err)).toBe(true);
    expect(debug.err).toMatch(/\n +at /);
  });

  it.skipIf(process.platform === "win32")("is silent when the reader has gone", () => {
    const command = `"${process.execPath}" "${MAIN}" topology torus:40x40x20 --json | head -c 10`;
    const { stdout, stderr } = spawnSync("sh", ["-c", command], { encoding: "utf8" });
    expect([stdout, stderr]).toEqual(['{\n  "schem', ""]);
  });

  it.skipIf(process.platform === "win32")("ends well when the reader of a file has gone", () => {
    const made = `"${process.execPath}" "${MAIN}" synth mesh:24x24 -c allgather -a ring -q -o -`;
    const command = `{ ${made}; echo "status $?" >&2; } | head -c 10`;
    const { stdout, stderr } = spawnSync("sh", ["-c", command], { encoding: "utf8" });
    expect([stdout.length, stderr]).toEqual([10, "status 0\n"]);
  });
});

describe("files are written beside and renamed", () => {
  it("replaces a file, and the file behind a link", async () => {
    folder.put("old.json", "old");
    symlinkSync(folder.at("old.json"), folder.at("link.json"));
    expect((await run("topology ring:4 --quiet -o link.json")).code).toBe(0);
    expect(lstatSync(folder.at("link.json")).isSymbolicLink()).toBe(true);
    expect(JSON.parse(readFileSync(folder.at("old.json"), "utf8")).name).toBe("ring:4");
  });

  it("keeps the file that was there when the work fails", async () => {
    folder.put("kept.json", "kept");
    const before = visible();
    expect((await run("synth mesh:3x3 --without 1,3 --collective allgather -o kept.json")).code).toBe(3);
    expect([readFileSync(folder.at("kept.json"), "utf8"), visible()]).toEqual(["kept", before]);
  });

  it.skipIf(!existsSync("/dev/null"))("writes to a device as it is", async () => {
    expect((await run("topology ring:4 --quiet -o /dev/null")).code).toBe(0);
    expect(lstatSync("/dev/null").isCharacterDevice()).toBe(true);
  });
});

describe.skipIf(process.platform === "win32")("Ctrl-C", () => {
  // Minutes of work, in JavaScript and in kernels.
  it.each([
    "torus:40x40 --collective alltoall --backend js",
    "torus:40x40 --collective alltoall",
    "dgx-h100:512 --without 0-rail0 --collective allgather --algorithm forestcoll --threads 2",
  ])("ends long work with exit code 130 and no file: %s", async (what) => {
    const before = visible();
    const { atWork, interrupt, end } = start(`synth ${what} --quiet -o long.json`);
    await atWork();
    interrupt();
    const { code, err } = await end;
    expect([code, err, visible()]).toEqual([130, "banyan: interrupted\n", before]);
  });

  it("leaves an object that says so under --json", async () => {
    const { atWork, interrupt, end } = start("synth torus:40x40 --collective alltoall --json");
    await atWork();
    interrupt();
    const { code, out } = await end;
    expect(code).toBe(130);
    expect(JSON.parse(out).error).toMatchObject({ code: 130, kind: "cancelled", message: "interrupted" });
  });

  it.each(["half.json", "half.bys"])("leaves a whole file or none when it comes while %s is written", async (name) => {
    const before = visible();
    const { interrupt, end } = start(`synth mesh:28x28 --collective allgather --trials 1 --quiet -o ${name}`);
    let ended = false;
    void end.then(() => {
      ended = true;
    });
    await sleep(400);
    while (!ended && !visible().some((file) => file.includes(name))) await sleep(2);
    interrupt();
    const { code } = await end;
    if (code === 0) expect((await run(`verify ${name}`)).code).toBe(0);
    else expect([code, visible()]).toEqual([130, before]);
  });
});
