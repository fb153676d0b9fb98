import { readFileSync, symlinkSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { commandsHere } from "../support/cli-here.ts";

const here = commandsHere();
const textOf = (file: string): string => readFileSync(here.at(file), "utf8");
const refusal = async (line: string): Promise<string> => {
  const { code, failure } = await here.ends(line);
  expect([line, code]).toEqual([line, 2]);
  return failure?.message ?? "";
};

describe("a file that is not what is wanted", () => {
  it("is named where --repair is a program", async () => {
    await here.run("synth ring:4 -c allgather -s 1MiB -o old.json -q");
    await here.run("export old.json --to msccl-xml -o old.xml -q");
    expect(await refusal("synth ring:4 --without 0-1 --repair old.xml")).toMatch(
      /--repair is old\.xml, a program; it must be a schedule \(JSON or \.bys, .*\); `banyan verify old\.xml` takes it/,
    );
    expect((await here.ends("verify old.xml")).code).toBe(0);
  });

  it("is named where JSON is cut off", async () => {
    await here.run("synth ring:4 -c allgather -s 1MiB -o whole.json -q");
    here.put("cut.json", textOf("whole.json").slice(0, 2000));
    expect(await refusal("verify cut.json")).toMatch(
      /^cut\.json line \d+, column \d+: the text stops too early, so the file is cut off; write or copy it/,
    );
    expect(await refusal("verify --independent cut.json")).toMatch(/cut off/);
  });
});

describe("sends that are counted from 1", () => {
  const ring = (npu: number, chunk: number): string =>
    [
      "step,src,dst,chunk",
      ...[0, 1, 2].flatMap((step) =>
        [0, 1, 2, 3].map((i) => `${step},${i + npu},${((i + 1) % 4) + npu},${((i - step + 4) % 4) + chunk}`),
      ),
    ].join("\n");

  it.each([
    [1, 1, "NPUs and chunks from 1, and banyan from 0 (the 4 NPUs of ring:4 are 0 to 3); take 1 off src, dst, chunk"],
    [1, 0, "NPUs from 1, and banyan from 0 (the 4 NPUs of ring:4 are 0 to 3); take 1 off src, dst"],
    [0, 1, "chunks from 1, and banyan from 0 (its 4 chunks are 0 to 3); take 1 off chunk"],
  ])("are refused as such (NPUs from %i, chunks from %i)", async (npu, chunk, says) => {
    here.put("sends.csv", ring(npu, chunk));
    expect(await refusal("verify sends.csv --topology ring:4 -c allgather")).toBe(`sends.csv counts ${says}`);
  });

  it("are correct when they are counted from 0", async () => {
    here.put("sends.csv", ring(0, 0));
    expect((await here.ends("verify sends.csv --topology ring:4 -c allgather")).code).toBe(0);
  });
});

describe("an option without a value that is given one", () => {
  it.each([
    ["calibrate --help=1", "did you mean `banyan calibrate --help`?"],
    ["--version=1", "did you mean `banyan --version`?"],
  ])("%s", async (line, meant) => {
    const word = line.split(" ").at(-1) as string;
    expect(await refusal(line)).toBe(`${word.split("=")[0]} takes no value, and here is '${word}'; ${meant}`);
  });
});

describe("what is written over what is read", () => {
  it("is refused, and the file stays", async () => {
    await here.run("synth ring:4 -c allgather -s 1MiB -o a.json -q");
    await here.run("topology ring:4 -o net.json -q");
    symlinkSync("a.json", here.at("link.json"));
    const kept = { "a.json": textOf("a.json"), "net.json": textOf("net.json") };
    for (const line of [
      "export a.json --to json -o a.json",
      "export a.json --to json -o ./a.json",
      "export a.json --to json -o link.json",
      "synth ring:4 --without 0-1 --repair a.json -o a.json",
      "synth net.json -c allgather -o net.json",
      "topology net.json --without 0-1 -o net.json",
      "compare ring:4 -c allgather --sizes 1MiB --with a.json -o a.json",
      "verify a.json --record a.json",
      "simulate a.json --trace a.json",
    ]) {
      expect([line, await refusal(line)]).toEqual([
        line,
        expect.stringMatching(/the file that is read, which would be lost/),
      ]);
      expect({ "a.json": textOf("a.json"), "net.json": textOf("net.json") }).toEqual(kept);
    }
    expect(await refusal("export a.json --to json -o a.json")).toBe(
      "-o is a.json, the file that is read, which would be lost; give what is written another name, such as new-a.json",
    );
  });

  it("is no such thing where another file is replaced", async () => {
    await here.run("synth ring:4 -c allgather -s 1MiB -o first.json -q");
    await here.run("synth ring:4 -c allgather -s 2MiB -o first.json -q");
    await here.run("export first.json --to json -o second.json -q");
    await here.run("export first.json --to json -o second.json -q");
  });
});
