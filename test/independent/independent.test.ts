import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { judgeIndependently } from "../../src/independent/independent.ts";
import { type ClaimedFile, claimedFiles, type Json, opinionOf } from "../support/claimed-files.ts";
import { banyanHere } from "../support/cli-here.ts";

describe("schedule files", () => {
  let files: ClaimedFile[] = [];
  const folder = mkdtempSync(join(tmpdir(), "independent-"));
  beforeAll(async () => {
    files = await claimedFiles();
  }, 600_000);
  afterAll(() => rmSync(folder, { recursive: true }));

  it("of every kind pass with all that they claim", () => {
    expect(files.length).toBeGreaterThan(40);
    const kinds = new Set<string>();
    for (const { name, text } of files) {
      const { claims } = JSON.parse(text);
      const opinion = opinionOf(text);
      const claimed = ["rules", "time", "limit", ...(claims.classLimit === null ? [] : ["class limit"])];
      const all = claims.throughput === undefined ? claimed : [...claimed, "throughput"];
      expect({ name, opinion }).toEqual({ name, opinion: Object.fromEntries(all.map((claim) => [claim, "checked"])) });
      for (const [of, limit] of [
        ["any", claims.limit],
        [claims.classLimit?.of, claims.classLimit],
      ])
        if (limit !== null) kinds.add(`${of} ${limit.kind}${limit.witness.lengths === undefined ? "" : " by lengths"}`);
    }
    expect([...kinds]).toEqual(
      expect.arrayContaining([
        ...["any cut", "any latency", "any partition", "any work by lengths", "sums at one NPU dual"],
        ...["cut", "latency", "work", "tail"].map((kind) => `whole chunks ${kind}`),
      ]),
    );
  });

  it("are what `synth -o` and `export --to json` write, and read as if they claimed nothing", async () => {
    const [made, exported, again] = ["made.json", "exported.json", "again.json"].map((name) => join(folder, name));
    const asked = ["mesh:2x3", "--collective", "allreduce", "--size", "1MiB", "--algorithm", "ring"];
    expect((await banyanHere(["synth", ...asked, "-o", made as string])).code).toBe(0);
    expect((await banyanHere(["export", ...asked, "--to", "json", "-o", exported as string])).code).toBe(0);
    const verified = await banyanHere(["verify", made as string]);
    expect(verified.out).toContain("the times and limits written in the file were not re-checked");
    const judged = await banyanHere(["verify", made as string, "--independent"]);
    expect([judged.code, judged.out.split("\n").filter((line) => line.startsWith("checked: ")).length]).toEqual([0, 4]);
    const json = await banyanHere(["verify", exported as string, "--independent", "--json"]);
    expect(JSON.parse(json.out)).toMatchObject({ schema: "banyan/independent@1", correct: true, file: exported });
    // nobody has judged what is read, so nothing is claimed of it
    expect((await banyanHere(["export", made as string, "--to", "json", "-o", again as string])).code).toBe(0);
    expect((await banyanHere(["verify", again as string])).out).not.toContain("claims");
  });

  it("with a false claim give exit code 1, others one sentence and 2", async () => {
    const path = join(folder, "false.json");
    const file: Json = JSON.parse((files[0] as ClaimedFile).text);
    file.claims.time.ps--;
    writeFileSync(path, JSON.stringify(file));
    const judged = await banyanHere(["verify", path, "--independent"]);
    expect([judged.code, judged.out]).toEqual([1, expect.stringContaining("WRONG: time: it takes")]);
    for (const text of [
      "",
      "[]",
      "{}",
      '{"format": "banyan-schedule", "version": 1}',
      '{"format": "banyan-phases", "version": 2}',
    ]) {
      writeFileSync(path, text);
      const refused = await banyanHere(["verify", path, "--independent"]);
      expect([refused.code, refused.err.trim().split("\n").length, refused.out]).toEqual([2, 1, ""]);
    }
  });

  it("rest on a search where a witness is an integer program", () => {
    const file: Json = JSON.parse((files[0] as ClaimedFile).text);
    file.claims.limit = { ps: "1", kind: "program", witness: { kind: "program", model: "m", slots: 1 } };
    const { correct, findings } = judgeIndependently(JSON.stringify(file));
    expect([correct, findings.find(({ claim }) => claim === "limit")?.verdict]).toEqual([true, "not checkable here"]);
  });
});
