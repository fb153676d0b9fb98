import { describe, expect, it } from "vitest";
import { commandsHere } from "../support/cli-here.ts";
import { unexpected } from "../support/refusals.ts";
import { triesAll } from "../support/runs.ts";

const here = commandsHere();
const OWN = {
  format: "banyan-collective",
  version: 1,
  chunkBytes: "1MiB",
  chunks: [{ pre: [0], post: [1, 2] }],
};

/** The line of a report that begins with a label. */
const lineOf = (report: string, label: string): string | undefined =>
  report.split("\n").find((line) => line.startsWith(`  ${label} `));

describe("constructions on the command line", () => {
  it.each([
    ["K(4", 'the end of the topology lacks "," or ")"', "   ^"],
    ["Pi(4;64)", 'character 5 of the topology is ";64)"; it must be "," or ")"', "    ^"],
    ["C(16,[3,4])", 'character 6 of the topology is "[3,4])"; it must be a whole number or braces', "     ^"],
    [
      "C(16,{4,8})",
      "C(16,{4,8}) is [4,8]; it must be offsets that connect all nodes (their greatest common divisor with 16 is 4, not 1)",
      "^",
    ],
    ["DC(6,{1,7})", "an offset of DC(6,{1,7}) is 7; it must be a whole number, 1 to 5", "^"],
    [
      "TwistedTorus(4,4)",
      "TwistedTorus(4,4) is [4,4]; it must be sizes k and 2k, both of them (SkewTorus(a,b,{t}) takes any sizes and twist t)",
      "^",
    ],
    [
      "K(3)*0",
      'character 6 of the topology is "0"; it must be the factor of a degree expansion, a whole number, 1 or more',
      "     ^",
    ],
  ])("%s gets a caret in every command, with --json too", async (text, sentence, caret) => {
    const said = `${sentence}\n  ${text}\n  ${caret}`;
    await here.refuses(`topology ${text}`, said);
    await here.refuses(`bound ${text} --collective allgather --json`, said);
    await here.refuses(`synth ${text} --collective allgather --algorithm bfb --json`, said);
    await here.refuses(`compare ${text} --collective alltoall --sizes 1MiB`, said);
    await here.refuses(`export ${text} --to dot -o x.dot`, said);
  });

  it.each([
    ["pi(4,64)", "Pi(4,64)"],
    ["K4,4", "K(4,4)"],
    ["C(16,3,4)", "C(16,{3,4})"],
    ["L3(c(16,{3,4}))", "L3(C(16,{3,4}))"],
    ["K(4)□2", "K(4)^2"],
  ])("%s is read as %s", async (text, meant) => {
    expect(lineOf(await here.run(`topology ${text}`), "sources")).toContain(`graph ${meant} (`);
  });

  it("refuses graphs that are too large at once", () =>
    here.refuses("topology K(1000000000)", unexpected("K(1000000000)", "about 1.0e+18 arcs", 10_000_000)));
});

describe("banyan topology of direct links", () => {
  it.each([
    ["torus:8x8", "regular of degree 4, links in opposite pairs, translations 8x8 take every NPU to every other"],
    ["Pi(4,64)", "not regular, of degree 4 at most, links not in opposite pairs, no group of translations found"],
    ["Diamond", "regular of degree 2, links not in opposite pairs, no group of translations found"],
  ])("%s: %s", async (text, words) => {
    expect(lineOf(await here.run(`topology ${text}`), "graph")).toBe(`  graph       ${words}`);
  });

  it.each([
    ["torus:8x8", "8 (Moore bound 3, of links in opposite pairs 4)"],
    ["K(4,4)", "2, Moore optimal"],
    ["LinePetersen", "3 (Moore bound 2)"],
    ["L3(C(16,{3,4}))", "6 (Moore bound 5)"],
  ])("%s has diameter %s", async (text, words) => {
    expect(lineOf(await here.run(`topology ${text}`), "diameter")).toBe(`  diameter    ${words}`);
  });

  it("is not told where there are switches, nor where NPUs do not reach each other", async () => {
    expect(lineOf(await here.run("topology dgx-a100:2"), "graph")).toBeUndefined();
    expect(lineOf(await here.run("topology UniRing(1,4) --without 0"), "graph")).toBeUndefined();
  });
});

describe("all-to-alls on the command line", () => {
  it("have the limit of their flow in bound, synth and compare alike", async () => {
    const graph = triesAll ? "Pi(4,64)" : "Pi(4,16)";
    const { limit, classLimits, details } = await here.json(`bound ${graph} --collective alltoall --size 64MiB`);
    expect(limit.kind).toBe("lengths");
    expect([classLimits, details.plannedBound.us]).toEqual([[], limit.us]);
    const made = await here.json(`synth ${graph} --collective alltoall --size 64MiB --algorithm mcf --chunks 1`);
    expect(made.limit.exact).toBe(limit.exact);
    expect(made.details.plannedBound.us).toBeGreaterThanOrEqual(limit.us);
    const compared = await here.json(`compare ${graph} --collective alltoall --sizes 64MiB --algorithms direct,mcf`);
    expect(compared.limits[0].limit.exact).toBe(limit.exact);
    for (const { us, ofLimit } of compared.rows) expect(ofLimit).toBeCloseTo(limit.us / us, 9);
  });

  it("have the same limit as a matrix", async () => {
    const row = (npu: number): string => [...Array(8).keys()].map((to) => (to === npu ? 0 : 2 ** 20)).join(",");
    const matrix = here.put("bytes.csv", [...Array(8).keys()].map(row).join("\n"));
    const { limit } = await here.json(`bound K(4,4) --collective custom:${matrix}`);
    const uniform = await here.json("bound K(4,4) --collective alltoall --size 8MiB");
    expect(limit.exact).toBe(uniform.limit.exact);
  });

  it("of one's own keep cuts where a chunk goes to several", async () => {
    const { limit } = await here.json(`bound K(4,4) --collective custom:${here.put("own.json", OWN)}`);
    expect(limit.kind).not.toBe("lengths");
    await here.refuses(
      "synth K(4,4) --collective custom:own.json --size 1MiB",
      "--size does not go with custom:FILE, which says it all",
    );
  });

  it("are explained by chunks that move", async () => {
    await here.run("synth K(4,4) --collective alltoall --algorithm direct -o a2a.json --quiet");
    const words = await here.run("explain a2a.json");
    expect(words.match(/chunk \d+: \d/g)).toHaveLength(3);
  });
});

describe("algorithms for direct links", () => {
  it.each([
    [
      "synth K(4,4) --collective allgather --algorithm expand --policy foo",
      'is "foo"; it must be one of expansion, bfb',
    ],
    ["synth K(4,4) --collective allgather --algorithm bfb --policy bfb", "does not go with bfb, which has no policies"],
    [
      "synth K(4,4) --collective alltoall --algorithm direct --policy bfb",
      "does not go with direct, which has no policies",
    ],
  ])("%s", (line, said) => here.refuses(line, `--policy ${said}`));

  it("are left out of a comparison where they do not apply, with the reason", async () => {
    const { rows, leftOut } = await here.json("compare dgx-a100:1 --collective allgather --sizes 1MiB");
    const named = (list: readonly { algorithm: string }[]) => list.map(({ algorithm }) => algorithm);
    expect(named(leftOut)).toEqual(["shifted-rings", "bfb", "expand", "tacos-ilp", "sccl", "taccl", "nvls"]);
    expect(named(rows)).not.toContain("bfb");
    const direct = await here.json("compare K(4,4) --collective allgather --sizes 1MiB");
    expect(named(direct.rows)).toEqual(expect.arrayContaining(["bfb", "expand"]));
  });

  it.each(["bfb", "expand"])("%s becomes a program that runs", async (algorithm) => {
    const file = `${algorithm}.xml`;
    await here.run(`export K(3,3) --collective allgather --algorithm ${algorithm} --to msccl-xml -o ${file} --quiet`);
    expect(await here.run(`verify ${file}`)).toContain("correct");
    expect(await here.run(`run ${file} --size 1152KiB`)).toContain("correct on all 6 GPUs");
  });

  it("mcf becomes programs of both runtimes", async () => {
    for (const [format, file] of [
      ["msccl-xml", "mcf.xml"],
      ["mscclpp-json", "mcf.json"],
    ]) {
      await here.run(`export K(3,3) --collective alltoall --algorithm mcf --to ${format} -o ${file} --quiet`);
      expect(await here.run(`run ${file} --size 1152KiB`)).toContain("correct on all 6 GPUs");
    }
  });
});

describe("banyan list", () => {
  it.each(["presets", "algorithms", "formats", "collectives", "gpus"])("%s fits 120 columns", async (what) => {
    const lines = (await here.run(`list ${what}`)).split("\n");
    expect(lines.filter((line) => line.length > 120)).toEqual([]);
  });

  it("has networks and graphs apart", async () => {
    const text = await here.run("list presets");
    const at = text.indexOf("Graphs and constructions");
    expect(text.indexOf("themis:")).toBeLessThan(at);
    expect(text.indexOf("K(m) or K(d,d)")).toBeGreaterThan(at);
    expect(at).toBeGreaterThan(0);
  });
});
