import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { banyan, cliFolder, type Ran } from "../support/cli.ts";
import { banyanHere } from "../support/cli-here.ts";
import { expectVisible, HOSTILE, hostileNetwork } from "../support/hostile-names.ts";

/** What the command line writes of hostile names on both of its streams. */
const { at, put } = cliFolder();
const cwd = at();
const before = process.cwd();
beforeAll(() => process.chdir(cwd));
afterAll(() => process.chdir(before));

/** Names that a file can have. */
const PATHS = HOSTILE.filter((name) => !/[/\0]|\p{Cs}/u.test(name)).map((name) => `x${name}.json`);

/** Returns what a command line wrote, in this process or as one of its own; fails where that could forge anything. */
async function harmless(running: Promise<Ran>, args: readonly string[], code: number): Promise<Ran> {
  const ran = await running;
  expect([args, ran.code, ran.err.includes("internal error")]).toEqual([args, code, false]);
  expectVisible(ran.out, `stdout of ${args.join(" ")}`);
  expectVisible(ran.err, `stderr of ${args.join(" ")}`);
  if (args.includes("--json") && ran.out !== "") JSON.parse(ran.out);
  return ran;
}
const run = (args: readonly string[], code = 0): Promise<Ran> => harmless(banyanHere(args), args, code);
const runAlone = (args: readonly string[], code: number): Promise<Ran> => harmless(banyan(args, { cwd }), args, code);

describe("reports of hostile networks", () => {
  it.each([0, 8, 16])(
    "show them escaped, each line our own: names from %i on",
    async (first) => {
      const net = put(PATHS[first % PATHS.length] as string, hostileNetwork(first));
      const schedule = `s${first}.json`;
      const [node = "", next = ""] = [HOSTILE[first], HOSTILE[first + 1]];
      await run(["synth", net, "--collective", "allgather", "-o", schedule]);
      const readAgain = readFileSync(join(cwd, schedule), "utf8");
      expect(JSON.parse(readAgain).topology.nodes[0].id).toBe(node);
      const lines: (readonly string[])[] = [
        ["topology", net],
        ["bound", net, "--collective", "allreduce"],
        ["synth", net, "--collective", "allgather", "--algorithm", "forestcoll", "--json"],
        ["verify", schedule],
        ["simulate", schedule, "--trace", `t${first}.json`],
        ["explain", schedule],
        ["compare", net, "--collective", "allgather", "--sizes", "1MiB", "--algorithms", "ring,direct"],
        ["list", "algorithms", "--topology", net, "--collective", "allreduce"],
      ];
      for (const line of lines) await run(line);
      // refused, or cannot exist
      if (!/[,;>\0]|\p{Cs}/u.test(node + next)) {
        await run(["synth", net, "--collective", "broadcast", "--root", `${node}!`], 2);
        await run(["topology", net, "--without", `${node}>${next}!`], 2);
      }
      for (const file of [schedule, `t${first}.json`]) expectVisible(readFileSync(join(cwd, file), "utf8"), file);
    },
    300_000,
  );
});

describe("words of the command line", () => {
  it("are escaped in what is said of them", async () => {
    const evil = "\u001b[31m\u202ex\r\nbanyan: forged\u009b";
    const alone: (readonly string[])[] = [[evil], ["topology", "ring:4", `--${evil}`], ["topology", `L(${evil})`]];
    const lines: (readonly string[])[] = [
      ["topology", evil],
      ["synth", "ring:4", "--collective", evil],
      ["synth", "ring:4", "--collective", "allgather", "--algorithm", evil],
      ["synth", "ring:4", "--collective", `custom:${evil}`],
      ["synth", "ring:4", "--collective", "allgather", "-o", `no/such/${evil}`],
      ["verify", `${evil}.bys`],
      ["export", "ring:4", "--to", evil, "-o", "out"],
      ["list", evil],
      ["serve", evil],
      ["serve", "--host", evil],
    ];
    for (const line of [...alone, ...lines]) {
      const { err } = await (alone.includes(line) ? runAlone : run)(line, 2);
      expect(err).toMatch(/^banyan: .*\\u001b\[31m\\u202ex/);
    }
  }, 300_000);

  it("are escaped where the environment and debugging bring them", async () => {
    const evil = "\u001b[31m\u202e\nbanyan: forged";
    const ran = await banyan(["synth", "ring:4", "--collective", "allgather", "--debug"], {
      cwd,
      env: { BANYAN_BACKEND: evil },
    });
    expect(ran.code).toBe(2);
    expectVisible(ran.err, "stderr");
  });
});
