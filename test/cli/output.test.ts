import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { cliFolder, MAIN } from "../support/cli.ts";

const folder = cliFolder();

/** Runs a line of the shell in which `banyan` is the command; its folder is the test's. */
function shell(line: string): { readonly code: number | null; readonly out: string; readonly err: string } {
  const { status, stdout, stderr } = spawnSync("bash", ["-c", `banyan() { "$NODE" "$MAIN" "$@"; }; ${line}`], {
    cwd: folder.at(),
    encoding: "utf8",
    env: { ...process.env, NODE: process.execPath, MAIN },
  });
  return { code: status, out: stdout, err: stderr };
}

const FULL =
  'banyan: standard output is "ENOSPC: no space left on device, write"; it must be a file on a disk with room\n';
const LIMIT = /^banyan: .+ is .+; it must be a file below the limit for sizes of files \(ulimit -f\)\n$/;

describe.skipIf(!existsSync("/dev/full"))("standard output on a full disk", () => {
  it.each([
    "topology mesh:3x3 --json",
    "topology mesh:3x3",
    "compare ring:4 --collective allgather --sizes 1KiB --algorithms ring --format csv",
    "synth ring:4 --collective allgather --json --quiet",
    "list presets",
    "--help",
    "--version",
  ])("ends with status 2 and one sentence: %s", (command) => {
    expect(shell(`banyan ${command} > /dev/full`)).toEqual({ code: 2, out: "", err: FULL });
  });

  it("ends the server that cannot say where it is", () => {
    const line = 'mkdir app; touch app/index.html; BANYAN_APP="$PWD/app" banyan serve --port 0 > /dev/full';
    expect(shell(line)).toEqual({ code: 2, out: "", err: FULL });
  });

  it("does not hide that a schedule is wrong or cannot be", () => {
    expect(shell("banyan synth mesh:3x3 --without 1,3 --collective allgather > /dev/full").code).toBe(3);
  });

  it("changes no exit code where only standard error is full", () => {
    expect(shell("banyan topology mesh:0 2> /dev/full").code).toBe(2);
    expect(shell("banyan nonsense 2> /dev/full").code).toBe(2);
    expect(shell("banyan list presets > /dev/null 2> /dev/full").code).toBe(0);
  });
});

describe.skipIf(process.platform === "win32")("a disk that takes only a part", () => {
  it("is told of standard output, whose first part is there", () => {
    const { code, err } = shell("ulimit -f 1; banyan topology mesh:6x6 --json > part.json");
    expect([code, err]).toEqual([2, expect.stringMatching(LIMIT)]);
    expect([512, 1024]).toContain(statSync(folder.at("part.json")).size);
  });

  it.each(["topology mesh:6x6", "synth mesh:6x6 --collective allgather --trials 1"])(
    "leaves the old file and nothing else: %s",
    (command) => {
      folder.put("kept.json", "kept");
      const before = readdirSync(folder.at()).sort();
      const { code, out, err } = shell(`ulimit -f 1; banyan ${command} --quiet -o kept.json`);
      expect([code, out, err]).toEqual([2, "", expect.stringMatching(LIMIT)]);
      expect([readFileSync(folder.at("kept.json"), "utf8"), readdirSync(folder.at()).sort()]).toEqual(["kept", before]);
    },
  );
});

describe.skipIf(!existsSync("/dev/stdout"))("-o /dev/stdout", () => {
  it("adds to what a shell has written, and stands before the report", () => {
    folder.put("log", "");
    expect(shell("{ echo head; banyan topology ring:4 -o /dev/stdout; echo foot; } > log")).toEqual({
      code: 0,
      out: "",
      err: "",
    });
    const log = readFileSync(folder.at("log"), "utf8");
    expect(log).toMatch(/^head\n\{\n {2}"format".*\n\}\nring:4\n.*\nfoot\n$/s);
  });

  it("is -o - too, which has no report", () => {
    for (const command of ["topology ring:4 -o -", "export ring:4 --to json -o - --collective allgather"]) {
      const { code, out } = shell(`banyan ${command} 2>/dev/null | cat`);
      expect([code, JSON.parse(out).topology?.name ?? JSON.parse(out).name]).toEqual([0, "ring:4"]);
    }
  });

  it("goes through a pipe", () => {
    const { code, out } = shell("banyan topology ring:4 --quiet -o /dev/stdout | cat");
    expect([code, JSON.parse(out).name]).toEqual([0, "ring:4"]);
  });
});
