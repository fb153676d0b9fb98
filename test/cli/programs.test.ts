import { existsSync, readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { readProgram } from "../../src/import/programs/program.ts";
import { sizeRangeViolations } from "../../src/verify/runtime/size-ranges.ts";
import { commandsHere } from "../support/cli-here.ts";
import { outOfRange, unexpected } from "../support/refusals.ts";

const here = commandsHere();
const fixture = (name: string): string =>
  readFileSync(fileURLToPath(new URL(`../fixtures/${name}`, import.meta.url)), "utf8");
const EXPORT = "export ring:4 --collective allgather";

describe("a pasted matrix", () => {
  it("becomes XML in one command, which verifies within the limits of every runtime, and runs", async () => {
    here.put("paste.txt", fixture("two-boards.nvidia-smi.txt"));
    await here.run(
      "export paste.txt --gpu v100 --collective allgather --to msccl-xml --dialect rccl --placement out -o paste.xml",
    );
    for (const target of ["msccl", "azure", "rccl"]) {
      expect(await here.json(`verify paste.xml --target ${target}`)).toMatchObject({
        correct: true,
        target,
        violationCount: 0,
        program: { collective: "allgather", machine: "msccl" },
      });
    }
    const ran = await here.json("run paste.xml --size 96KiB --threads 1");
    expect(ran).toMatchObject({ correct: true, dtype: "i32", sizeBytes: 96 * 1024 });
    expect(ran.calls.map(({ outcome }: { outcome: string }) => outcome)).toEqual(["correct"]);
  });
});

describe("export of programs", () => {
  it("says what was written, with one step and one block by their names", async () => {
    expect(await here.run(`${EXPORT} --algorithm direct --to msccl-xml -o direct.xml`)).toMatch(
      /^direct\.xml: allgather of 4 GPUs, in place and out of place, Simple: \d+ instructions in \d+ thread blocks, at most \d+ on a GPU and (1 step|\d\d* steps) in one; verified, [\d.]+ KiB\n {2}[\d.]+ ms for 1 GiB in the simulation of programs; the schedule itself takes [\d.]+ ms\n {2}between the two: pieces and an order of its own -[\d.]+ ms\n {2}by direct: [\d.]+ % of the limit of any algorithm \([\d.]+ ms\)\n/,
    );
  });

  it("rewrites a program for other runtimes, with a range in their terms", async () => {
    await here.run(`${EXPORT} --algorithm direct --to msccl-xml --dialect rccl --placement in -o rccl.xml`);
    for (const dialect of ["msccl", "azure", "rccl"]) {
      await here.run(`export rccl.xml --to msccl-xml --dialect ${dialect} --max-bytes 32MiB -o ${dialect}-too.xml`);
      expect(await here.json(`verify ${dialect}-too.xml --target ${dialect}`)).toMatchObject({ correct: true });
      const { maxBytes, inPlace, outOfPlace } = readProgram(readFileSync(here.at(`${dialect}-too.xml`), "utf8"), "f");
      expect([maxBytes, inPlace, outOfPlace]).toEqual([2 ** 25 + (dialect === "msccl" ? 1 : 0), true, false]);
    }
  });

  it("refuses to rewrite what a runtime cannot run, with the step, and writes nothing", async () => {
    here.put("fused.xml", fixture("msccl-fused.xml"));
    await here.refuses(
      "export fused.xml --to msccl-xml --dialect rccl -o never.xml",
      unexpected("dialect", "rccl", 5, "--dialect"),
    );
    expect(existsSync(here.at("never.xml"))).toBe(false);
  });

  it("writes plans that verify and run, with as many instances as are asked for", async () => {
    for (const instances of [1, 2]) {
      await here.run(`${EXPORT} --to mscclpp-json --instances ${instances} --placement out -o plan${instances}.json`);
      expect(await here.json(`verify plan${instances}.json --target mscclpp`)).toMatchObject({ correct: true });
      expect(await here.json(`run plan${instances}.json --threads 1`)).toMatchObject({ correct: true });
    }
    const blocks = async (n: number): Promise<number> => (await here.json(`verify plan${n}.json`)).facts.blocks;
    expect(await blocks(2)).toBeGreaterThan(await blocks(1));
  });

  it("by size writes a folder whose ranges meet and do not overlap", async () => {
    for (const dialect of ["msccl", "azure", "rccl"] as const) {
      const { files } = await here.json(
        `${EXPORT} --to msccl-xml --sizes 1KiB,1MiB --algorithm direct --dialect ${dialect} -o by-${dialect}`,
      );
      const names = readdirSync(here.at(`by-${dialect}`)).sort();
      expect(files.map(({ file }: { file: string }) => file)).toEqual(names);
      const programs = names.map((name) => ({
        name,
        program: readProgram(readFileSync(here.at(`by-${dialect}/${name}`), "utf8"), name),
      }));
      expect(sizeRangeViolations(programs, dialect)).toEqual([]);
      expect(files[0].minBytes).toBe(0);
      expect(files.at(-1).maxBytes).toBeNull();
      for (let i = 1; i < files.length; i++) expect(files[i].minBytes).toBe(files[i - 1].maxBytes + 1);
      expect(await here.json(`verify by-${dialect} --target ${dialect}`)).toMatchObject({
        correct: true,
        violations: [],
      });
      await here.refuses(`run by-${dialect}`, unexpected("the program", `by-${dialect}`, `by-${dialect}/${names[0]}`));
      const told = (await here.ends(`explain by-${dialect}`)).err;
      expect(told).toContain(`a file, not a folder, such as "by-${dialect}/${names[0]}"\n`);
    }
  });

  it("notes which GPUs a machine was taken to have", async () => {
    const smi = new URL("../../examples/nvidia-smi-h100.txt", import.meta.url).pathname;
    const line = `synth ${smi} --collective allgather --algorithm direct -o h100.json`;
    expect((await here.ends(line)).err).toMatch(/GPUs taken as h100: 18 NVLinks/);
    expect((await here.ends(`${line} --quiet`)).err).toBe("");
    expect((await here.ends(`${line} --gpu b200`)).err).toBe("");
  });
});

describe("simulate of programs", () => {
  it("says how they stand to the limit of their ranks, whatever NPUs are called", async () => {
    await here.run("topology ring:4@50GB/s,1us -o plain.json --quiet");
    const text = readFileSync(here.at("plain.json"), "utf8");
    here.put("commas.json", text.replaceAll('"0"', '"gpu 0, box 1"'));
    await here.run(`${EXPORT} --to msccl-xml -o ag.xml`);
    for (const network of ["plain.json", "commas.json", "ring:6@50GB/s,1us --group 2,3,4,5"]) {
      const { limit, time, ofLimit } = await here.json(`simulate ag.xml --size 4MB --topology ${network}`);
      // each rank receives three shards of 1 MB through two links of 1 us
      expect([network, limit.us]).toEqual([network, 31]);
      expect(ofLimit).toBeCloseTo(limit.us / time.us, 12);
      expect(ofLimit).toBeLessThanOrEqual(1);
    }
  });
});

describe("explain of programs", () => {
  it("says for each runtime whether it would select the file, and microsoft/msccl's own rule", async () => {
    await here.run(`${EXPORT} --algorithm direct --to msccl-xml --placement both --instances 1 -o both.xml`);
    const { selected } = await here.json("explain both.xml --size 1MiB");
    const of = (runtime: string, inPlace: boolean) =>
      selected.find((one: { runtime: string; inPlace: boolean }) => one.runtime === runtime && one.inPlace === inPlace);
    expect(of("msccl", false).reasons).toEqual([
      "microsoft/msccl looks at inplace only, and selects it for calls in place",
    ]);
    expect(of("azure", false)).toMatchObject({ selected: true, reasons: [] });
    expect(selected).toHaveLength(6);
    expect(await here.run("explain both.xml")).toContain("a GPU has 1 chunk of input, 4 of output");
  });

  it("names the links that limit it on a network, and refuses one too small", async () => {
    await here.run(`${EXPORT} --algorithm direct --to msccl-xml -o limited.xml`);
    const limit = (lines: readonly string[]) => lines.filter((line) => line.startsWith("limit: "));
    expect(limit((await here.json("explain limited.xml")).lines)).toEqual([]);
    const { lines } = await here.json("explain limited.xml --topology ring:4 --degrade 0>1=0.1 --size 1MiB");
    expect(limit(lines)).toEqual([
      expect.stringMatching(/^limit: simulated on ring:4 .* at 1 MiB it takes .*; 0>1 \(5 GB\/s\) is 9\d\.?\d* % busy/),
    ]);
    await here.refuses("explain limited.xml --topology ring:3", outOfRange("the network ring:3", 3, 4));
  });
});
