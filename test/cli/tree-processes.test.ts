import { readFileSync } from "node:fs";
import { beforeAll, describe, expect, it } from "vitest";
import { BACKENDS } from "../../src/engine/contract/kernels.ts";
import { banyan, compile } from "../support/cli.ts";
import { commandsHere } from "../support/cli-here.ts";

/** Trees on every backend, and by the compiled command; what commands say is tested in trees*.test.ts and tree-files*.test.ts. */

const here = commandsHere();
const run = (line: string) => banyan(line.split(" "), { cwd: here.at() });
beforeAll(compile, 120_000);
const MESH = "synth mesh:3x3@50GB/s,1us --collective allgather --algorithm forestcoll";

describe("the command banyan, of trees", () => {
  it("makes the same file on every backend, with any number of threads", async () => {
    const files: string[] = [];
    for (const how of [...BACKENDS.map((backend) => `--backend ${backend}`), "--threads 0", "--threads 2"]) {
      const { code } = await here.ends(`${MESH} --quiet -o same.json ${how}`);
      // A backend that is not built here cannot be compared.
      if (code === 0) files.push(readFileSync(here.at("same.json"), "utf8"));
    }
    expect(files.length).toBeGreaterThanOrEqual(3);
    expect(new Set(files).size).toBe(1);
  });

  it("ends with 0, 1 or 2 for a file that is right, wrong or no schedule", async () => {
    await here.run("synth ring:4 --collective allgather --algorithm forestcoll --quiet -o right.json");
    const text = readFileSync(here.at("right.json"), "utf8");
    expect(await run("verify right.json --quiet")).toEqual({ code: 0, out: "", err: "" });
    here.put("wrong.json", text.replace(/("copyBytesPerSecond":\s*")/, "$19"));
    const wrong = await run("verify wrong.json");
    expect([wrong.code, wrong.err]).toEqual([1, ""]);
    expect(wrong.out).toMatch(/^wrong: 8 violations in wrong\.json\n/);
    here.put("none.json", text.slice(0, text.length / 2));
    const none = await run("verify none.json");
    expect([none.code, none.out]).toEqual([2, ""]);
    // one line, which begins with the place
    expect(none.err).toMatch(/^banyan: none\.json line \d+, column \d+: the text stops too early[^\n]+\n$/);
  });
});
