import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { banyan, compile } from "../support/cli.ts";
import { commandsHere } from "../support/cli-here.ts";

/** Under --json every failure is one object on standard output, whatever it is and wherever it happens. */
const here = commandsHere();

const VERBS: readonly (readonly [line: string, place: RegExp])[] = [
  ["topology no-such", /the topology/],
  ["bound mesh:3x3 --collective nothing", /^--collective$/],
  ["synth mesh:3x3", /^--collective$/],
  ["synth mesh:3x3 --collective allgather -o no/such/here.json", /^-o$/],
  ["verify cut.json", /^cut\.json line 2, column 1$/],
  ["simulate cut.json", /^cut\.json line 2, column 1$/],
  ["export cut.json --to dot -o out.dot", /^cut\.json line 2, column 1$/],
  ["run cut.json", /cut\.json/],
  ["explain cut.json", /cut\.json line 2/],
  ["compare mesh:3x3 --collective allgather --sizes 1XB", /^--sizes$/],
  ["calibrate mesh:3x3 no-such.log", /LOG/],
  ["search --nodes 1 --degree 2", /^--nodes$/],
  ["serve no-such.json", /FILE/],
  ["list nothing", /what to list/],
  ["snth mesh:3x3", /^snth$/],
  ["synth mesh:3x3 --sise 3", /^--sise$/],
  ["topology", /^TOPO$/],
  ["bound mesh:3x3", /^--collective$/],
  ["export mesh:3x3 --to dot", /^-o$/],
  ["verify a.json b.json", /^verify$/],
];

describe("a failure under --json", () => {
  it.each(VERBS)("%s", async (line, place) => {
    here.put("cut.json", '{"format":"banyan-schedule"\n');
    const { code, out, err } = await here.ends(`${line} --json`);
    const { schema, error } = JSON.parse(out);
    expect([code, schema, error.code, error.kind]).toEqual([2, "banyan/error@1", 2, "input"]);
    expect(error.place).toMatch(place);
    expect(err).toBe(`banyan: ${error.message}\n`);
  });
  it.each([
    ["snth mesh:3x3", "unknown-name", null, '"snth"'],
    ["synth mesh:3x3 --sise 3", "unknown-name", null, '"--sise"'],
    ["bound mesh:3x3 --algorithm ring", "unknown-name", null, '"--algorithm"'],
    ["topology", "missing", null, null],
    ["bound mesh:3x3", "missing", "collective", null],
    ["bound mesh:3x3 -c", "missing", "collective", null],
    ["verify a.json b.json", "unexpected", null, '"b.json"'],
    ["bound mesh:3x3 -c allgather -s 1MiB -s 2MiB", "unexpected", "sizeBytes", '"2MiB"'],
    ["", "missing", null, null],
  ])("of a command line that cannot be read is data too: %s", async (line, code, option, received) => {
    const { out } = await here.ends(`${line} --json`.trim());
    const { mistake } = JSON.parse(out).error;
    expect(mistake).toEqual({ code, option, received, expected: expect.stringMatching(/./) });
  });
  it("is an object where no command is given, and where no word but --json is", async () => {
    const { code, out } = await here.ends("--json");
    expect([code, JSON.parse(out).error.place]).toEqual([2, "the command"]);
  });
  it("of what cannot exist has its witness and exit code 3", async () => {
    const { code, out } = await here.ends("synth mesh:3x3 --without 0-1,0-3 --collective allgather --json");
    expect(code).toBe(3);
    expect(JSON.parse(out).error).toMatchObject({ code: 3, kind: "infeasible", witness: { from: "0", to: "1" } });
  });
  it("of a mistake of ours is an object with exit code 1", async () => {
    here.put("broken.mjs", "Int32Array.from = () => { throw new TypeError('no such thing'); };");
    const preload = { NODE_OPTIONS: `--import=${here.at("broken.mjs")}` };
    await compile();
    const line = "topology mesh:3x3 --without 4 --json";
    const { code, out } = await banyan(line.split(" "), { cwd: here.at(), env: preload });
    expect(code).toBe(1);
    expect(JSON.parse(out).error).toMatchObject({ code: 1, kind: "internal", place: null });
  });
  it("of phases that are wrong, which cannot be simulated, is an object with exit code 1", async () => {
    const made = await here.ends(
      "synth torus:30x30 --collective allreduce --algorithm themis --chunks 4 -o p.json --json",
    );
    expect(made.code).toBe(0);
    const file = JSON.parse(readFileSync(here.at("p.json"), "utf8"));
    expect(file.format).toBe("banyan-phases");
    file.phases.endPs[0] = 1;
    here.put("wrong.json", file);
    const { code, out } = await here.ends("simulate wrong.json --json --quiet");
    expect(code).toBe(1);
    expect(JSON.parse(out).error).toMatchObject({ code: 1, kind: "wrong" });
    expect(JSON.parse(out).error.message).toMatch(/these phases are wrong/);
  });
});
