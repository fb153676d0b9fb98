import { existsSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { commandsHere } from "../support/cli-here.ts";
import { unexpected } from "../support/refusals.ts";
import { quick, triesAll } from "../support/runs.ts";

const here = commandsHere();

const CASES = [
  ["rhd", "mesh:4x4", "allreduce"],
  ["bruck", "switch:6", "alltoall"],
  ["bruck", "switch:6", "allgather"],
  ["pat", "switch:6", "reducescatter"],
  ["rings", "torus:3x3", "allreduce"],
  ["nccl-rings", "dgx-a100:2", "allgather"],
  ["nccl-tree", "dgx-a100:2", "allreduce"],
  ["dbt", "switch:5", "allreduce"],
  ["themis", "torus:3x4", "allreduce"],
  ["blueconnect", "dgx-a100:2", "allreduce"],
  ["c-cube", "dgx1", "allreduce"],
  ["tto", "mesh:3x3", "allreduce"],
  ["nvls", "dgx-h100:1", "allreduce"],
] as const;

describe("each algorithm that a library or a paper has", () => {
  it.each(CASES)("%s on %s makes %s", async (name, network, collective) => {
    const line = `synth ${network} --collective ${collective} --size 1MiB --algorithm ${name} -o ${name}.json`;
    const report = await here.json(line);
    expect(report).toMatchObject({ schema: "banyan/result@2", algorithm: name, verified: true });
    const { time: played, limit, classLimit, ofLimit, ofClassLimit, details, synthesis } = report;
    const planned = details.planned === null ? [] : [details.planned.us, details.plannedBound.us];
    const ofClass = classLimit === null ? [] : [classLimit.us];
    const shares = [ofLimit, ofClassLimit, details.ofPlannedBound].filter((share) => share !== null);
    for (const number of [
      played.algbwGBps,
      played.busbwGBps,
      limit.us,
      synthesis.ms,
      ...shares,
      ...planned,
      ...ofClass,
    ])
      expect(number).toSatisfy(Number.isFinite);
    expect(played.us).toBeGreaterThanOrEqual(limit.us);
    expect(shares).toHaveLength(1 + ofClass.length + planned.length / 2);
    for (const share of shares) expect(share).toBeLessThanOrEqual(1);
    expect(await here.run(`verify ${name}.json`)).toMatch(/^correct: /);
    const { time } = await here.json(`simulate ${name}.json`);
    expect(time.us).toBe(report.time.us);
    expect(await here.run(`${line} --quiet`)).toBe("");
  });

  it.each(CASES)("%s on %s: its report of %s fits 120 columns", async (name, network, collective) => {
    const text = await here.run(`synth ${network} --collective ${collective} --size 1MiB --algorithm ${name}`);
    for (const line of text.split("\n")) expect(line.length).toBeLessThanOrEqual(120);
  });

  it.each(quick(["rhd", "rings", "themis", "tto"], (name) => name === "rhd"))(
    "%s goes through files of every kind and back",
    async (name) => {
      const network = triesAll ? "mesh:4x4" : "mesh:2x2";
      await here.run(`synth ${network} --collective allreduce --size 1MiB --algorithm ${name} -o a.json --quiet`);
      await here.run("export a.json --to bys -o a.bys --quiet");
      await here.run("export a.json --to msccl-xml -o a.xml --quiet");
      await here.run("export a.json --to mscclpp-json -o plan.json --quiet");
      for (const file of ["a.bys", "a.xml", "plan.json"])
        expect(await here.run(`verify ${file}`)).toMatch(/^correct: /);
      for (const file of ["a.xml", "plan.json"]) expect((await here.json(`run ${file}`)).correct).toBe(true);
      for (const format of ["report", "svg", "perfetto", "jax", "chakra"])
        await here.run(`export a.json --to ${format} -o ${name}-${format} --quiet`);
    },
  );
});

describe("algorithms that do not apply", () => {
  it.each([
    ["rhd", "ring:6", "a number of NPUs that is a power of two"],
    ["c-cube", "dgx-a100:1", "a DGX-1 "],
    ["themis", "circulant:16,1,3", "a product of rings, lines, fully connected and switch dimensions"],
    ["blueconnect", "circulant:16,1,3", "a product of rings, lines, fully connected and switch dimensions"],
    ["tto", "torus:4x4", "a 2D mesh of 3x3 or more"],
    ["nvls", "dgx-a100:1", "switches that sum and duplicate"],
    ["nccl-tree", "mesh:4x4", "boxes with equally many NPUs each"],
  ])("%s on %s says what it needs, and what can be had", async (name, network, needs) => {
    const sentence = new RegExp(
      `^banyan: --algorithm ${name} needs ${needs}[^\\n]*; ${network} does not give it; [^\\n]*list algorithms[^\\n]*\n$`,
    );
    const line = `synth ${network} --collective allreduce --algorithm ${name} -o none.json`;
    await here.refuses(line, sentence);
    await here.refuses(`${line} --json`, sentence);
    expect(existsSync(here.at("none.json"))).toBe(false);
  });

  it.each([
    ["thmis", "themis"],
    ["blueconect", "blueconnect"],
    ["halving-doubling", "rhd"],
    ["double_binary_tree", "dbt"],
    ["tree", "nccl-tree"],
  ])("%s may mean %s", async (name, meant) => {
    const sentence = new RegExp(`^banyan: --algorithms? is "${name}"; did you mean "${meant}"\\? .*\\n$`);
    await here.refuses(`synth dgx1 --collective allreduce --algorithm ${name}`, sentence);
    await here.refuses(`compare dgx1 --collective allreduce --sizes 1MiB --algorithms ring,${name}`, sentence);
  });
});

describe("phases of a network of 4,096 NPUs", () => {
  it("are written, judged, replayed and told, and refused where steps are meant", async () => {
    const line = "synth torus:16x16x16 --collective allreduce --size 256MiB --algorithm themis --policy scf";
    const { time, schedule } = await here.json(`${line} -o phases.json`);
    expect(schedule.phases).toBeGreaterThan(0);
    expect(await here.run("verify phases.json")).toMatch(/^correct: \d+ phases of /);
    expect((await here.json("simulate phases.json")).time.us).toBe(time.us);
    expect(await here.run("explain phases.json")).toMatch(
      /reduce-scatters over 0, 1, 2, then all-gathers over 2, 1, 0/,
    );
    await here.refuses("export phases.json --to steps -o s.json", unexpected("--to steps", 34351349760, 6));
    await here.refuses("export phases.json --to msccl-xml -o s.xml", unexpected("to", "3072 phases", "--to"));
    for (const file of ["s.json", "s.xml"]) expect(existsSync(here.at(file))).toBe(false);
  });
});

describe("compare and auto at the issue's sizes", () => {
  it.runIf(triesAll)("auto is never worse than the best line of compare, of a network with boxes", async () => {
    const sizes = ["1KiB", "1MiB", "64MiB"];
    await here.run(`compare dgx-a100:2 --collective allgather --sizes ${sizes.join(",")} --format json -o lines.json`);
    const { rows } = JSON.parse(readFileSync(here.at("lines.json"), "utf8"));
    for (const row of rows) expect(row.verified).toBe(true);
    for (const [i, size] of sizes.entries()) {
      const line = `synth dgx-a100:2 --collective allgather --size ${size} --algorithm auto --time-limit 600s`;
      const { time } = await here.json(line);
      const ofSize = rows.filter(
        ({ sizeBytes }: { sizeBytes: number }) => sizeBytes === [2 ** 10, 2 ** 20, 2 ** 26][i],
      );
      expect(time.us).toBeLessThanOrEqual(Math.min(...ofSize.map(({ us }: { us: number }) => us)));
    }
  });
});
