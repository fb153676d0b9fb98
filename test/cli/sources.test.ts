import { execFileSync, spawn } from "node:child_process";
import { closeSync, openSync, symlinkSync, truncateSync, utimesSync, writeFileSync, writeSync } from "node:fs";
import { createServer } from "node:net";
import { describe, expect, it } from "vitest";
import { openSource, readText, textFrom } from "../../src/cli/files/input-file.ts";
import { cliFolder, MAIN } from "../support/cli.ts";
import { commandsHere } from "../support/cli-here.ts";
import { type Refusal, unexpected } from "../support/refusals.ts";

const { at, put, refuses } = commandsHere();
const { at: inFolder } = cliFolder();
const onUnix = process.platform !== "win32";

describe.runIf(onUnix)("what is no plain file", () => {
  it("/dev/zero and /dev/urandom, also through a link, are refused after their first bytes", async () => {
    symlinkSync("/dev/zero", at("zero"));
    for (const line of ["verify zero", "topology zero", "verify /dev/zero"]) {
      await refuses(line, /^banyan: \S+ is bytes that are no text; it must be a text in UTF-8\n$/);
    }
    await refuses("synth ring:4 --collective custom:zero", unexpected("zero", "bytes that are no text"));
    await refuses("synth ring:4 --collectives zero", unexpected("zero", "bytes that are no text"));
    await refuses("calibrate ring:4 zero --collective allreduce", unexpected("zero", "bytes that are no text"));
  });

  it("links that lead to each other, folders, sockets and block devices get a sentence each", async () => {
    symlinkSync(at("there"), at("here"));
    symlinkSync(at("here"), at("there"));
    const loop = "a file, not links that lead to each other,";
    await refuses("verify here", unexpected("the file", "here", loop));
    await refuses("topology here", unexpected("the topology", "here", loop));
    await refuses("export here --to svg -o x.svg", unexpected("the file", "here", loop));
    const server = createServer();
    await new Promise<void>((resolve) => {
      server.listen(at("socket"), resolve);
    });
    await refuses("topology socket", unexpected("the topology", "socket"));
    server.close();
    expect(() => readText("/", "the file")).toThrow(unexpected("the file", "/"));
  });

  it("a name longer than the system allows is a preset that does not exist", async () => {
    await refuses(`topology ${"a".repeat(5000)}`, unexpected("the topology", "a".repeat(5000), "preset"));
  });

  it("files of /proc, whose size is 0, are read", () => {
    if (process.platform !== "linux") return;
    expect(readText("/proc/self/status", "the file")).toContain("VmRSS");
  });

  /** Returns how `banyan verify -` ends where its standard input is what a shell makes of it. */
  const fromShell = async (before: string): Promise<readonly [unknown, string]> => {
    const shell = spawn("sh", ["-c", `${before} | "$0" "$1" verify - --quiet`, process.execPath, MAIN]);
    let err = "";
    shell.stderr.setEncoding("utf8").on("data", (text: string) => {
      err += text;
    });
    return [await new Promise((resolve) => shell.on("close", resolve)), err];
  };

  it("an endless pipe is read to 512 MiB and no further", async () => {
    expect(await fromShell("yes")).toEqual([
      2,
      "banyan: the schedule or program, standard input, is longer than 536870887 bytes, the most that is read of what is no plain file\n",
    ]);
  }, 120_000);

  it("a slow pipe is waited for, and so is the socket that a program gives as standard input", async () => {
    expect((await fromShell("(sleep 0.3; echo '{}'; sleep 0.3)"))[1]).toContain(
      "banyan: standard input: format is missing",
    );
    const banyan = spawn(process.execPath, [MAIN, "verify", "-", "--quiet"], { stdio: ["pipe", "pipe", "pipe"] });
    let err = "";
    banyan.stderr.setEncoding("utf8").on("data", (text: string) => {
      err += text;
    });
    const ended = new Promise((resolve) => {
      banyan.on("close", resolve);
    });
    setTimeout(() => banyan.stdin.end("{}"), 500);
    expect(await ended).toBe(2);
    expect(err).toContain("banyan: standard input: format is missing");
  }, 120_000);

  it("a pipe that nobody writes to waits until Ctrl-C", async () => {
    const pipe = inFolder("pipe");
    execFileSync("mkfifo", [pipe]);
    const banyan = spawn(process.execPath, [MAIN, "verify", pipe], { stdio: ["ignore", "pipe", "pipe"] });
    const ended = new Promise((resolve) => {
      banyan.on("close", (code, signal) => resolve(code ?? signal));
    });
    let asked = false;
    banyan.stderr.once("data", () => {
      asked = true;
    });
    for (let waited = 0; !asked && waited < 600; waited++) {
      await new Promise((resolve) => setTimeout(resolve, 100));
      if (waited >= 30) break;
    }
    banyan.kill("SIGINT");
    expect([130, "SIGINT"]).toContain(await ended);
  }, 120_000);
});

describe("a file that changes while it is read", () => {
  const changed = (change: (path: string) => void): (() => string) => {
    const path = at(put("file.txt", "some text"));
    utimesSync(path, 1, 1);
    const source = openSource(path, "the file");
    change(path);
    return () => textFrom(source, "file.txt", "the file");
  };

  it("is refused where it grew, became shorter or was written to", () => {
    const refusal = (what: string): Refusal =>
      unexpected("the file", `${at("file.txt")}, which ${what} while it was read`);
    expect(changed((path) => writeFileSync(path, "some text and more"))).toThrow(refusal("grew"));
    expect(changed((path) => truncateSync(path, 4))).toThrow(refusal("became shorter"));
    const overwrite = (path: string): void => {
      const file = openSync(path, "r+");
      writeSync(file, "SOME");
      closeSync(file);
    };
    expect(changed(overwrite)).toThrow(refusal("was written to"));
    expect(changed(() => undefined)()).toBe("some text");
  });
});

describe("numbers of 190 digits", () => {
  const nines = "9".repeat(190);
  it("are cut in sentences", async () => {
    await refuses(
      `topology mesh:${nines}`,
      'a size of mesh in mesh:999999999999... (190 digits) is "999999999999... (190 digits)"; it must be a whole number, 1 or more',
    );
    await refuses(
      `synth ring:4 --collective allgather --chunks ${nines}`,
      '--chunks is "999999999999... (190 digits)"; it must be a whole number, 1 or more',
    );
  });
});
