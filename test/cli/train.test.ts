import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { commandsHere } from "../support/cli-here.ts";
import { TINY_LLAMA } from "../support/tiny-llama.ts";

const here = commandsHere();

interface Row {
  readonly collectives: string;
  readonly us: number;
  readonly computeUs: number;
  readonly exposedUs: Readonly<Record<string, number>>;
  readonly bubbleUs: number;
}

const rowsOf = async (line: string): Promise<readonly Row[]> => ((await here.json(line)) as { rows: Row[] }).rows;

describe("banyan train", () => {
  it("has parts that sum to the step, and no collectives faster than the limit", async () => {
    const file = here.put("config.json", TINY_LLAMA);
    const rows = await rowsOf(`train ${file} dgx-a100:2 -p tp=4,pp=2,dp=2 --batch 16 --algorithms library,best,ideal`);
    expect(rows.map(({ collectives }) => collectives)).toEqual(["library", "best", "ideal"]);
    for (const { us, computeUs, exposedUs, bubbleUs } of rows) {
      const exposed = Object.values(exposedUs).reduce((a, b) => a + b, 0);
      expect(computeUs + exposed + bubbleUs).toBeCloseTo(us, 3);
    }
    const [library, best, ideal] = rows.map(({ us }) => us) as [number, number, number];
    expect(best).toBeLessThanOrEqual(library * 1.001);
    expect(ideal).toBeLessThanOrEqual(best * 1.001);
    // they compute the same
    expect(new Set(rows.map(({ computeUs }) => computeUs)).size).toBe(1);
  });

  it("is not slower on a network of more bandwidth", async () => {
    const times: number[] = [];
    for (const speed of [10, 20, 40, 80]) {
      const [row] = await rowsOf(
        `train gpt2-small switch:8@${speed}GB/s,1us --accelerator a100 -p dp=8,zero=3 --batch 8 --algorithms ring`,
      );
      times.push((row as Row).us);
    }
    expect([...times].sort((a, b) => b - a)).toEqual(times);
    expect(times[0]).toBeGreaterThan(times[3] as number);
  });

  it("says what a failed link costs", async () => {
    const report = (await here.json(
      "train gpt2-small torus:4x4 --accelerator a100 -p dp=16,zero=3 --batch 16 --algorithms ring --without 0-1",
    )) as { rows: Row[]; wholeNetwork: Row[] };
    expect((report.rows[0] as Row).us).toBeGreaterThan((report.wholeNetwork[0] as Row).us);
  });

  it("finds a mesh that fits, not slower than one of one's own", async () => {
    const file = here.put("config.json", TINY_LLAMA);
    const auto = (await here.json(`train ${file} dgx-a100:1 --batch 16 --algorithms library`)) as {
      rows: Row[];
      search: { best: { us: number }[]; tried: number; simulated: number; tooLarge: number; pruned: number };
    };
    const { best, tried, simulated, tooLarge, pruned } = auto.search;
    expect(simulated + tooLarge + pruned).toBe(tried);
    expect([...best].sort((a, b) => a.us - b.us)).toEqual(best);
    const [own] = await rowsOf(`train ${file} dgx-a100:1 -p tp=8 --batch 16 --algorithms library`);
    expect((auto.rows[0] as Row).us).toBeLessThanOrEqual((own as Row).us);
  });

  it("writes a timeline whose slices are within the step", async () => {
    const file = here.put("config.json", TINY_LLAMA);
    const [row] = await rowsOf(`train ${file} dgx-a100:1 -p tp=4,pp=2 --batch 8 --algorithms ring --trace step.json`);
    const { traceEvents } = JSON.parse(readFileSync(here.at("step.json"), "utf8"));
    const slices = traceEvents.filter(({ ph }: { ph: string }) => ph === "X");
    const ends = slices.map(({ ts, dur }: { ts: number; dur: number }) => ts + dur);
    expect(Math.max(...ends)).toBeCloseTo((row as Row).us, 3);
    expect(slices.some(({ cat }: { cat: string }) => cat === "tensor")).toBe(true);
  });

  it("draws where the time goes", async () => {
    const file = here.put("config.json", TINY_LLAMA);
    await rowsOf(`train ${file} dgx-a100:1 -p tp=4,pp=2 --batch 8 --algorithms ring,ideal --svg step.svg`);
    const text = readFileSync(here.at("step.svg"), "utf8");
    expect(text).toMatch(/^<svg [\s\S]*<\/svg>\n$/);
    for (const word of ["waits: tp", "stage 1", "ideal", "bubble"]) expect(text).toContain(word);
  });

  it("gives links to what computations wait for first, where that is asked for", async () => {
    const line =
      "train gpt2-medium switch:4*switch:2@20,5GB/s --accelerator h100 -p tp=4,dp=2,order=dp-tp-cp-pp --batch 8 --algorithms ring";
    const [fair] = await rowsOf(line);
    const [blocking] = await rowsOf(`${line} --priority blocking`);
    expect((blocking as Row).us).toBeLessThan((fair as Row).us);
  });

  it("reads the Chakra traces that it writes, and takes as long", async () => {
    const file = here.put("config.json", TINY_LLAMA);
    const network = "ring:4@100GB/s,0.5us";
    const line = `train ${file} ${network} --accelerator a100 -p tp=2,pp=2 --batch 8 --algorithms ring --chakra traces`;
    const [own] = await rowsOf(line);
    const [read] = await rowsOf(`train traces ${network} --algorithms ring`);
    // times of traces are whole microseconds
    expect(Math.abs((read as Row).us / (own as Row).us - 1)).toBeLessThan(0.01);
  });

  it("takes the layers of an ASTRA-sim text", async () => {
    const rows = [1, 2].map((n) => `layer${n} -1 1000 NONE 0 1000 NONE 0 1000 ALLREDUCE 1048576 10`);
    const file = here.put("layers.txt", `DATA\n2\n${rows.join("\n")}\n`);
    const [row] = await rowsOf(`train ${file} ring:4@100GB/s,0.5us --algorithms ring`);
    // the first layer's input has no gradient
    expect((row as Row).computeUs).toBeCloseTo(5, 6);
    expect((row as Row).us).toBeGreaterThan(5);
  });

  it.each([
    ["train llama3-8b dgx-h100:1 -p tp=8", /--batch/],
    ["train llama3-8b dgx-h100:1 -p tp=3 --batch 8", /divisors of 8/],
    ["train llama3-8b dgx-h100:1 -p tp=2,dp=2 --batch 8", /dp=4 makes them 8/],
    ["train llama3-8b dgx-h100:1 -p px=2 --batch 8", /ways such as/],
    ["train llama3-8b dgx-h100:1 -p tp=2,tp=4 --batch 8", /each way once/],
    ["train llama3-8b dgx-h100:1 -p tp=8 --batch 8 --seq 4097", /sequence/],
    ["train llama3-8b mesh:2x4 -p tp=8 --batch 8", /--accelerator/],
    ["train llama3-8b mesh:2x4 -p tp=8 --batch 8 --accelerator h100,colour=red", /memory=80GB/],
    ["train llama4-8b dgx-h100:1 -p tp=8 --batch 8", /llama3-8b/],
    ["train llama3-70b dgx-h100:1 -p tp=8 --batch 8", /it fits with|nearest comes/],
    ["train llama3-8b dgx-h100:1 -p tp=8 --batch 8 --algorithms magic", /magic/],
  ])("refuses %s", async (line, said) => {
    const { code, err, out } = await here.ends(line);
    expect([code, out]).toEqual([2, ""]);
    expect(err).toMatch(said);
    expect(err.trim().split("\n")).toHaveLength(1);
  });
});
