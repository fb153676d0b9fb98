import { spawn } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { compile } from "../support/cli.ts";

const MAIN = fileURLToPath(new URL("../../dist/cli/main.js", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "banyan-interrupted-"));
beforeAll(compile, 120_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Runs an export of programs by size and interrupts it once `isTime` says so of the folder; returns what it said. */
function interrupted(
  line: string,
  isTime: () => boolean,
): Promise<{ readonly code: number | null; readonly err: string }> {
  const child = spawn(process.execPath, [MAIN, ...line.split(" ")], { cwd: folder });
  let err = "";
  child.stderr.on("data", (text: Buffer) => {
    err += text;
  });
  const timer = setInterval(() => {
    if (!isTime()) return;
    clearInterval(timer);
    child.kill("SIGINT");
  }, 5);
  return new Promise((resolve) =>
    child.on("close", (code) => {
      clearInterval(timer);
      resolve({ code, err });
    }),
  );
}

const SIZES = "--to msccl-xml --sizes 1KiB,64KiB,1MiB,64MiB,1GiB";
/** Returns the files that are kept beside a folder that is not there yet. */
const keptFor = (name: string): string[] =>
  readdirSync(folder)
    .filter((one) => one.startsWith(`.${name}.banyan-`))
    .flatMap((one) => {
      try {
        return readdirSync(join(folder, one));
      } catch {
        return []; // the one before
      }
    });

describe("an export of programs by size that is interrupted", () => {
  it("leaves the programs of the sizes that were finished, and says which", async () => {
    const { code, err } = await interrupted(`export dgx-a100:1 -c allreduce -a ring ${SIZES} -o some`, () =>
      keptFor("some").some((name) => name.startsWith("2-")),
    );
    expect(code).toBe(130);
    expect(err).toMatch(
      /banyan: interrupted\nbanyan: some has the programs of [234] of 5 sizes: 1 KiB, 64 KiB.*; not those of .*1 GiB\n$/,
    );
    const files = readdirSync(join(folder, "some"));
    expect(files[0]).toBe("1-allreduce-0-2047-ring.xml");
    expect(files.at(-1)).toMatch(/-up-ring\.xml$/);
  }, 60_000);

  it("leaves nothing before the first size was finished", async () => {
    const begun = performance.now();
    const { code, err } = await interrupted(
      `export dgx-a100:2 -c allreduce ${SIZES} -o none`,
      () => performance.now() - begun > 3000,
    );
    expect(code).toBe(130);
    expect(err).toMatch(/banyan: interrupted\n(banyan: none is not written: none of 5 sizes was finished\n)?$/);
    expect(readdirSync(folder).filter((name) => name.includes("none"))).toEqual([]);
  }, 60_000);
});
