import { describe, expect, it } from "vitest";
import { commandsHere } from "../support/cli-here.ts";

const { put, ends, json, run } = commandsHere();

const RING = Array.from({ length: 3 }, (_, step) =>
  Array.from({ length: 4 }, (__, npu) => `${step},${npu},${(npu + 1) % 4},${(npu - step + 4) % 4},copy`),
).flat();
const csv = (lines: readonly string[]): string => ["step,src,dst,chunk,op", ...lines, ""].join("\n");

describe("lists of sends on the command line", () => {
  const asked = "--topology ring:4 --collective allgather --size 1MiB";

  it("are verified, simulated, explained and exported, and come back as they were", async () => {
    put("mine.csv", csv(RING));
    expect(await run(`verify mine.csv ${asked}`)).toMatch(/^correct: 12 transfers/);
    const { time } = await json(`simulate mine.csv ${asked}`);
    await run(`export mine.csv --to csv -o again.csv --quiet ${asked}`);
    expect((await json(`simulate again.csv ${asked}`)).time).toEqual(time);
    expect(await run(`explain mine.csv ${asked}`)).toMatch(/pattern: a ring/);
  });

  it("are told of no options that simulate does not take", async () => {
    put("mine.csv", csv(RING));
    const text = await run("simulate mine.csv --topology ring:4 --collective allgather --size 1GiB");
    expect(text).toMatch(/more chunks reduce it/);
    expect(text).not.toMatch(/--chunks|--algorithm/);
  });

  it("are wrong with the row, also in JSON", async () => {
    put("wrong.csv", csv(RING.map((line) => (line === "0,3,0,3,copy" ? "5,3,0,3,copy" : line))));
    const verdict = await json(`verify wrong.csv ${asked}`, 1);
    expect(verdict.violations).toMatchObject([{ kind: "absent-chunk", row: 6, chunk: 3 }]);
    expect(await run(`explain wrong.csv ${asked}`, 1)).toMatch(
      /^\s*wrong: .* \(`banyan verify wrong\.csv` says all\)\n/,
    );
  });

  it("say which options complete them", async () => {
    expect((await ends("verify mine.csv")).err).toMatch(/does not say its network: --topology mesh:3x3/);
    expect((await ends("verify mine.csv --topology ring:4")).err).toMatch(/does not say what it makes: --collective/);
    expect((await ends("compare ring:4 --collective allreduce --sizes 1KiB --with mine.csv")).code).toBe(1);
  });

  it("stand beside our algorithms, as schedules and programs do, with the time that simulate has", async () => {
    await run("synth ring:4 --collective allgather --algorithm ring --size 1MiB -o ring.json --quiet");
    await run("export ring.json --to msccl-xml -o ring.xml --quiet");
    const line = "compare ring:4 --collective allgather --algorithms ring --sizes 1MiB,2MiB --with";
    const { rows } = await json(`${line} mine.csv,ring.json,ring.xml`);
    const at = (algorithm: string) =>
      rows.filter((row: { algorithm: string }) => row.algorithm === algorithm).map(({ us }: { us: number }) => us);
    expect(rows.map(({ own }: { own?: string }) => own ?? "ours")).toEqual(
      Array.from({ length: 2 }, () => ["ours", "schedule", "schedule", "program"]).flat(),
    );
    expect(at("ring.json")).toEqual(at("ring"));
    expect(at("mine.csv")[0]).toBe((await json(`simulate mine.csv ${asked}`)).time.us);
    expect(at("ring.xml")[0]).toBe((await json("simulate ring.xml --topology ring:4 --size 1MiB")).time.us);
  });

  it("are compared line by line as JSON lines, the whole comparison last", async () => {
    const out = await run("compare ring:4 --collective allgather --algorithms ring,bfb --sizes 1KiB --format jsonl");
    const lines = out
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(lines.map(({ schema }) => schema)).toEqual([
      "banyan/comparison-row@1",
      "banyan/comparison-row@1",
      "banyan/comparison@2",
    ]);
    expect(lines[2].rows).toHaveLength(2);
  });
});
