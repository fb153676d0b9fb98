import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { ALGORITHMS } from "../../src/synthesize/catalog.ts";
import { commandsHere } from "../support/cli-here.ts";
import { refused, unexpected } from "../support/refusals.ts";
import { elementsOf } from "../support/svg-elements.ts";

const here = commandsHere();
const SYNTH = "synth dgx-a100:1 --collective allgather --algorithm auto --time-limit 600s";

describe("synth --algorithm auto", () => {
  it("says what was tried, what was chosen and why, and what was left out", async () => {
    const { algorithm, auto, verified } = await here.json(`${SYNTH} --size 1MiB`);
    expect(verified).toBe(true);
    const text = await here.run(`${SYNTH} --size 1MiB`);
    expect(text).toContain(`  chosen      ${algorithm}: ${auto.because}\n`);
    for (const one of auto.tried) {
      const mark = one.algorithm === algorithm ? "\\*" : " ";
      expect(text).toMatch(new RegExp(`${mark} ${one.algorithm} +[\\d.]+ us +[\\d.]+ %`));
    }
    expect(text).toMatch(/left out +\S.*: needs /);
    expect(text).not.toContain("the time limit decided");
  });

  it("says when the clock decided", async () => {
    const text = await here.run("synth dgx-a100:1 --collective allgather --algorithm auto --time-limit 0s");
    expect(text).toMatch(/note +the time limit decided what was tried/);
    expect(text.replace(/\s+/g, " ")).toMatch(/, \S+: not tried: the time limit was reached /);
    for (const line of text.split("\n")) expect(line.length).toBeLessThanOrEqual(120);
  });

  it.each(["1KiB", "1GiB"])("writes what won at %s to a file of either kind", async (size) => {
    for (const name of ["won.json", "won.bys"]) {
      await here.run(`${SYNTH} --size ${size} -o ${name} --quiet`);
      expect(await here.run(`verify ${name}`)).toMatch(/^correct: /);
    }
  });

  it("is what a program and a folder of programs may be made by", async () => {
    const line = "export fc:4 --collective allgather --to msccl-xml --algorithm auto";
    await here.run(`${line} --size 1MiB -o auto.xml --quiet`);
    expect(await here.run("verify auto.xml")).toContain("correct");
    await here.run(`${line} --sizes 64KiB,16MiB -o folder --quiet`);
  });

  it.each([
    ["synth ring:4 --collective allgather --algorithm atuo", refused("unknown-name", "algorithm", "atuo", "auto")],
    [
      "synth ring:4 --collective allgather --algorithm auto --policy oldest",
      refused("not-together", "policy", "oldest", "--algorithm"),
    ],
    ["synth ring:4 --collective allgather --time-limit 5s", refused("not-applicable", "timeLimitMs", "tacos")],
    ["synth ring:4 --collective allgather --algorithm auto --time-limit soon", unexpected("timeLimitMs", "soon")],
    [
      "compare ring:4 --collective allgather --sizes 1MiB --algorithms auto",
      refused("unknown-name", "algorithms", "auto"),
    ],
    [
      "compare ring:6 --collective allreduce --sizes 1MiB --algorithms rhd",
      refused("not-applicable", "algorithms", "rhd"),
    ],
  ])("refuses %s", (line, sentence) => here.refuses(line, sentence));
});

describe("algorithms that do not apply", () => {
  it("say what they need and what the network can have", async () => {
    await here.refuses(
      "synth ring:6 --collective allreduce --algorithm rhd",
      refused("not-applicable", "algorithm", "rhd"),
    );
  });

  it("are listed for a network with what they need", async () => {
    const { items } = await here.json("list algorithms --topology mesh:3x3 --collective allreduce");
    expect(items).toHaveLength(ALGORITHMS.length);
    for (const { collectives, needs } of items) expect(collectives.length > 0).toBe(needs === "");
    const text = await here.run("list algorithms --topology mesh:3x3");
    expect(text).toMatch(/ c-cube +a DGX-1/);
    expect(text).toMatch(/ ring +allgather, /);
    await here.refuses("list presets --topology ring:4", refused("not-together", "topology", "ring:4"));
    await here.refuses(
      "list algorithms --collective allreduce",
      refused("not-alone", "collective", "allreduce", "--topology"),
    );
  });
});

describe("compare", () => {
  const line = "compare dgx-a100:2 --collective allreduce --sizes 1KiB,1GiB --algorithms ring,nccl-rings,forestcoll";

  it("shows NCCL's model below the lines, and that all are verified", async () => {
    const text = await here.run(line);
    expect(text).toContain("all 6 lines verified");
    expect(text.match(/^ +NCCL model +[\d.]+ \w+ +[\d.]+ +[\d.]+$/gm)).toHaveLength(2);
    expect(text).toMatch(/NCCL model {2}(Ring|Tree|NVLS|NVLSTree|PAT)\/(LL|LL128|Simple), \d+ channels?: /);
    const { rows, references } = await here.json(line);
    expect(references).toHaveLength(2);
    expect(rows.filter(({ best }: { best: boolean }) => best)).toHaveLength(2);
  });

  it("is a plot with a line each, the limit and the model", async () => {
    await here.run(`${line} --format svg -o plot.svg`);
    const texts = elementsOf(readFileSync(here.at("plot.svg"), "utf8")).map(({ text }) => text);
    for (const name of ["ring", "nccl-rings", "forestcoll", "limit", "NCCL model"]) expect(texts).toContain(name);
  });

  it("leaves out what cannot, with the reason alone", async () => {
    const { leftOut } = await here.json("compare ring:6 --collective allreduce --sizes 1MiB --algorithms rhd,ring");
    expect(leftOut).toEqual([{ algorithm: "rhd", reason: "needs a number of NPUs that is a power of two" }]);
  });
});
