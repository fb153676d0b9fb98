import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Context } from "../../src/cli/context.ts";
import { cacheFolder, cacheText, evaluationsOf, openSearchCache } from "../../src/cli/files/search-cache.ts";
import { EVALUATIONS_VERSION } from "../../src/synthesize/finder/evaluated.ts";
import { commandsHere } from "../support/cli-here.ts";
import { missing, outOfRange, refused, unexpected } from "../support/refusals.ts";

const here = commandsHere();
// biome-ignore lint/suspicious/noExplicitAny: rows of a report
const named = (report: any) => report.rows.map((row: any) => [row.topology, row.steps, row.bandwidth]);

describe("banyan search", () => {
  it("prints the networks, the bound and what to go on with", async () => {
    expect(await here.run("search --nodes 32 --degree 4")).toMatchInlineSnapshot(`
      "
        networks    32 nodes of degree 4; links may lead one way (--bidirectional: in pairs)
        figures     alpha 10 us, 12.5 GB/s per node (4 links of 25Gbps), 1 MiB

          topology                    T_L/alpha  T_B B/M  diameter  2(T_L + T_B)  Moore  BW
        * Cayley(8,4,7,{1,22,26,31})          3   0.9688         3     222.53 us  yes    yes
          bound                               3   0.9688         3     222.53 us

        best        Cayley(8,4,7,{1,22,26,31}): an all-reduce of 1 MiB in 222.53 us, 1 times the bound
        model       whole steps: a node passes on what it has received whole; cut-through, as \`synth\` simulates, can be faster
        go on with  banyan synth 'Cayley(8,4,7,{1,22,26,31})@25Gbps,10us' --algorithm expand --collective allreduce --size 1MiB
      "
    `);
  });

  it("says where fewer ports are better, with the bandwidth that each then has", async () => {
    const text = await here.run("search --nodes 27 --degree 4 --size 1MiB");
    expect(text).toMatch(
      /fewer ports +are better here: L\(DC\(9,\{1,3,4\}\)\) takes 221\.56 us with 3 ports a node \(--degree 3\) of 33\.\d+Gbps/,
    );
    expect(await here.run("search --nodes 64 --degree 4 --size 1MiB")).not.toMatch(/fewer/);
  });

  it("meets the figures of tables 3.4 and A.1 in JSON", async () => {
    const report = await here.json("search --nodes 1024 --degree 4");
    expect(report).toMatchObject({ schema: "banyan/search@1", nodes: 1024, degree: 4, alphaUs: 10 });
    expect(report.bound).toMatchObject({ steps: 5, bandwidth: "1023/1024" });
    expect(report.bound.allreduceUs).toBeCloseTo(267.61, 2);
    expect(report.bound.alltoallUs).toBeCloseTo(382.3, 1);
    expect(report.rows[report.best].allreduceUs).toBeLessThan(291.05);
  });

  it("makes and judges the schedule of every network, as predicted", async () => {
    for (const line of [
      "search --nodes 12 --degree 4 --bidirectional --verify",
      "search --nodes 36 --degree 3 --verify",
      "search --nodes 32 --degree 4 --verify",
      "search --nodes 24 --degree 4 --bidirectional --verify",
    ]) {
      const { rows } = await here.json(line);
      for (const { topology, verdict, steps, bandwidth, allreduceUs } of rows) {
        const { simulatedUs, ...made } = verdict;
        expect([topology, made]).toEqual([topology, { outcome: "as predicted", steps, bandwidth, reason: null }]);
        // passing on what is still arriving is no slower than whole steps
        expect(simulatedUs).toBeGreaterThan(0);
        expect(simulatedUs).toBeLessThanOrEqual(allreduceUs * (1 + 1e-6));
      }
    }
  });

  it("weighs a mix of sizes", async () => {
    const { sizes, rows } = await here.json("search --nodes 32 --degree 4 --size 1MiB:3,64MiB:1");
    expect(sizes).toEqual([
      { sizeBytes: 2 ** 20, weight: 3 },
      { sizeBytes: 2 ** 26, weight: 1 },
    ]);
    const [small, large] = await Promise.all(
      ["1MiB", "64MiB"].map((size) => here.json(`search --nodes 32 --degree 4 --size ${size}`)),
    );
    const mean = (3 * small.rows[0].allreduceUs + large.rows[0].allreduceUs) / 4;
    expect(rows[0].allreduceUs).toBeCloseTo(mean, 9);
  });

  it("writes the plot and the report", async () => {
    await here.run("search --nodes 32 --degree 4 --svg f.svg -o f.json --quiet");
    expect(readFileSync(here.at("f.svg"), "utf8")).toContain("Networks of 32 nodes of degree 4");
    expect(JSON.parse(readFileSync(here.at("f.json"), "utf8"))).toMatchObject({ schema: "banyan/search@1" });
    await here.run("search --nodes 32 --degree 4 -o g.svg --quiet");
    expect(readFileSync(here.at("g.svg"), "utf8")).toBe(readFileSync(here.at("f.svg"), "utf8"));
  });

  it("lists all sizes with --all", async () => {
    const { rows } = await here.json("search --all --max-nodes 12 --degrees 2,4");
    const sizes = (degree: number) =>
      new Set(
        rows.filter((row: { degree: number }) => row.degree === degree).map((row: { nodes: number }) => row.nodes),
      );
    expect([sizes(2).size, sizes(4).size]).toEqual([11, 11]);
    expect(await here.run("search --all --max-nodes 12 --degrees 4")).toContain("degree  sizes  networks  kinds");
  });

  it("finds the same with its cache, without one, and beside a damaged one, which it names", async () => {
    const line = "search --nodes 100 --degree 4";
    const first = named(await here.json(line));
    const file = join(here.at("cache"), `networks-${EVALUATIONS_VERSION}.json`);
    expect(existsSync(file)).toBe(true);
    expect(named(await here.json(line))).toEqual(first);
    expect(named(await here.json(`${line} --no-cache`))).toEqual(first);
    writeFileSync(file, readFileSync(file, "utf8").replace('"steps":', '"steps":1'));
    const notes: string[] = [];
    const context = { options: {}, note: (text: string) => notes.push(text) } as unknown as Context;
    expect(openSearchCache(context).evaluations.size).toBe(0);
    expect(notes).toEqual([`the cache ${file} is damaged and not used`]);
    expect(named(await here.json(`${line} --quiet`))).toEqual(first);
    expect(named(await here.json(line))).toEqual(first);
  });

  it.each([
    ["--nodes 12", missing("degree")],
    ["--degree 4", missing("nodes")],
    ["--nodes 1 --degree 4", outOfRange("nodes", "1", 2)],
    ["--nodes 12 --degree 0", outOfRange("degree", "0")],
    ["--nodes 1e9 --degree 4", outOfRange("nodes", "1e9", 10000)],
    ["--nodes 9 --degree 3 --bidirectional", unexpected("degree", 3, 4, 10)],
    [
      "--nodes 4 --degree 1 --bidirectional",
      unexpected("--nodes and --degree", "4 and 1 both ways", "--nodes", 4, "--degree", 2),
    ],
    ["--nodes 8 --degree 2 --collective alltoal", refused("unknown-name", "collective", "alltoal", "alltoall")],
    ["--nodes 8 --degree 2 --size 1MiB:0", outOfRange("a weight of --size", "0")],
    ["--nodes 8 --degree 2 --size 1:2:3", unexpected("sizeBytes", "1:2:3")],
    ["--nodes 8 --degree 2 --alpha 3", unexpected("alphaPs", "3")],
    ["--nodes 8 --degree 2 --max-nodes 9", refused("not-alone", "maxNodes", "9", "--all")],
    ["--all --nodes 8", refused("not-together", "nodes", "8", "--all")],
    ["--all --degrees 2,x", unexpected("degrees", "x")],
  ])("refuses %s in one sentence", async (line, sentence) => {
    await here.refuses(`search ${line}`, sentence);
  });
});

describe("the cache of searches", () => {
  it("lies where the platform keeps such things", () => {
    expect(cacheFolder({ BANYAN_CACHE_DIR: "/c", XDG_CACHE_HOME: "/x" }, "linux", "/h")).toBe("/c");
    expect(cacheFolder({ XDG_CACHE_HOME: "/x" }, "linux", "/h")).toBe(join("/x", "banyan"));
    expect(cacheFolder({ XDG_CACHE_HOME: "relative" }, "linux", "/h")).toBe(join("/h", ".cache", "banyan"));
    expect(cacheFolder({ LOCALAPPDATA: "/l" }, "win32", "/h")).toBe(join("/l", "banyan"));
  });

  it("reads back what it wrote, and nothing that was changed or cut", () => {
    const graph = { family: "DC", parameters: [8, 1, 3], lines: 0, steps: 3, bandwidth: "7/8" };
    const text = cacheText(new Map([["DC 8 2", [graph]]]));
    expect(evaluationsOf(text)).toEqual(new Map([["DC 8 2", [graph]]]));
    for (const wrong of [text.replace("7/8", "1/8"), text.slice(0, -9), "", "{}", text.replace("networks", "nets")])
      expect(evaluationsOf(wrong)).toBeNull();
  });
});
