import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { BACKENDS } from "../../src/engine/contract/kernels.ts";
import { presetTopology } from "../../src/model/presets/preset.ts";
import { topologyHash } from "../../src/model/topology/topology.ts";
import { banyan, compile, NO_ADDON } from "../support/cli.ts";
import { commandsHere } from "../support/cli-here.ts";

const here = commandsHere();
const { run, json } = here;
const file = (name: string) => JSON.parse(readFileSync(here.at(name), "utf8"));

describe("banyan synth", () => {
  it("prints the promised report and writes the schedule", async () => {
    const report = await json("synth mesh:3x3 --collective allgather --size 9MiB -o s.json");
    expect(report).toMatchObject({
      schema: "banyan/result@2",
      topology: { name: "mesh:3x3", npus: 9, switches: 0, links: 24, hash: topologyHash(presetTopology("mesh:3x3")) },
      collective: { kind: "allgather", sizeBytes: 9437184, chunksPerNpu: 1 },
      algorithm: "tacos",
      schedule: { kind: "steps", transfers: 72, file: "s.json" },
      time: { model: "network/cut-through" },
      details: { planned: { model: "link-busy" } },
      verified: true,
      deterministic: true,
      synthesis: { seed: 1 },
    });
    const { time, limit, classLimit, details } = report;
    const { planned, plannedBound } = details;
    expect(planned.us).toBeGreaterThanOrEqual(plannedBound.us);
    expect(time.us).toBeLessThanOrEqual(planned.us);
    expect(time.us).toBeGreaterThanOrEqual(classLimit.us);
    expect(classLimit).toMatchObject({ of: "whole chunks", holdsFor: "whole chunks over these routes" });
    expect(details.ofPlannedBound).toBeCloseTo(plannedBound.us / planned.us, 12);
    expect(report.ofLimit).toBeCloseTo(limit.us / time.us, 12);
    expect(report.ofClassLimit).toBeCloseTo(classLimit.us / time.us, 12);
    expect(file("s.json")).toMatchObject({ format: "banyan-schedule", about: { algorithm: "tacos", seed: 1 } });
  });

  it("names the limits and why they hold, the time and what lies between, both time models on request, and the file", async () => {
    const text = await run("synth mesh:10x10@50GiB/s,0.5us --collective allgather --size 1GiB -o m.json --details");
    const steady = text.replace(/ in [\d.]+ \w+ on \w+/, " in TIME on BACKEND").replace(/\([\d.]+ KiB\)/, "(SIZE)");
    expect(steady).toMatchInlineSnapshot(`
      "
        topology    mesh:10x10@50GiB/s,0.5us: 100 NPUs, 360 links
        collective  all-gather of 1 GiB, 100 chunks of about 10.24 MiB
        schedule    9900 transfers by tacos, verified

                          time       algbw       busbw  of limit
        limit        9.9005 ms  108.5 GB/s                        any algorithm: NPU 0 receives 1.063 GB through 107.37 GB/s,
                                                                  500 ns or more on the way
        class limit  10.001 ms  107.4 GB/s                        whole chunks over these routes: NPU 0 receives 99 chunks
                                                                  through 107.37 GB/s
        schedule     10.002 ms  107.3 GB/s  106.3 GB/s   98.98 %  network/cut-through
        gap         100 us is the cost of whole chunks of this size: more chunks (--chunks auto) reduce it
                    2 us is about the latency (9 us for one byte), on top of the time for the bytes: it matters less at
                      larger sizes
        of class    99.98 % of the class limit

                         time       algbw     busbw  of bound
        its bound   10.025 ms  107.1 GB/s                      link-busy, these routes and chunks: NPU 0 receives 99 chunks
                                                               through 107.37 GB/s
        planned     10.025 ms  107.1 GB/s  106 GB/s     100 %  link-busy
        reference    9.909 ms                                  TACOS ideal, not a bound
        latency          9 us                                  of one byte, any algorithm

        synthesis   1 trial in TIME on BACKEND kernels, seed 1
        policy      oldest
        file        m.json (SIZE)
      "
    `);
  });

  it("makes the same file on every backend, with any number of threads", async () => {
    const files: string[] = [];
    for (const how of [...BACKENDS.map((backend) => `--backend ${backend}`), "--threads 0", "--threads 2"]) {
      const { code } = await here.ends(
        `synth switch:6 --collective allreduce --size 1MiB --trials 5 --quiet -o same.json ${how}`,
      );
      // A backend that is not built here cannot be compared.
      if (code === 0) files.push(readFileSync(here.at("same.json"), "utf8"));
    }
    expect(files.length).toBeGreaterThanOrEqual(3);
    expect(new Set(files).size).toBe(1);
  });

  it("takes chunks in exponential notation, groups, roots, failures and slow links", async () => {
    const report = await json(
      "synth mesh:4x4 --without 7,9 --degrade 0-1=0.5 --collective broadcast --group 0,1,2,4 --root 4 --chunks 1e1 --size 1MB",
    );
    expect(report).toMatchObject({
      topology: { name: "mesh:4x4 without 7,9 degraded 0-1=0.5", npus: 14 },
      collective: { kind: "broadcast", chunksPerNpu: 10, groups: 1, groupSize: 4 },
      verified: true,
    });
  });

  it("makes a collective of one's own", async () => {
    const chunks = [
      { pre: [0], post: [1, 2] },
      { pre: [3], post: [0] },
    ];
    here.put("own.json", { format: "banyan-collective", version: 1, chunkBytes: "1MiB", chunks });
    const report = await json("synth ring:4 --collective custom:own.json");
    expect(report).toMatchObject({ collective: { kind: "custom", sizeBytes: 2 ** 21 }, verified: true });
  });
});

describe("banyan topology", () => {
  it("writes a file that stands for the same network", async () => {
    await run("topology dgx-a100:2 --without 3 -o net.json --quiet");
    const direct = await json("bound dgx-a100:2 --without 3 --collective allgather");
    const through = await json("bound net.json --collective allgather");
    expect(through).toEqual(direct);
    expect(await json("topology net.json")).toEqual({
      schema: "banyan/topology@1",
      verb: "topology",
      ok: true,
      warnings: [],
      ...file("net.json"),
    });
  });

  it("shows wiring, figures and their sources", async () => {
    expect(await run("topology dgx-a100:2")).toMatchInlineSnapshot(`
      "dgx-a100:2

        NPUs        16 (8 x 2) in 2 groups of 8: box0, box1
        switches    3
        links       64, one direction each
                    16  NPU > switch  300 GB/s  500 ns
                    16  switch > NPU  300 GB/s  500 ns
                    16  NPU > switch   25 GB/s  2.5 us
                    16  switch > NPU   25 GB/s  2.5 us
        per NPU     2 links out, 325 GB/s; 2 links in, 325 GB/s
        connected   every NPU reaches every other
        hash        dbe2ad80c1da43d6
        sources     NVLink rates: ml-engineering NVLink table (V100 6x25, A100 12x25, H100/H200 18x25, B200 18x50 GB/s)
                    NVSwitch port latency 0.5 us: a model figure, not measured
                    8 HDR NICs of 200 Gb/s, one IB switch: ForestColl's A100 clusters
                    NIC link latency 2.5 us (InfiniBand), 5 us (EFA): model figures, not measured

        0      > nvsw0, ib
        1      > nvsw0, ib
        2      > nvsw0, ib
        3      > nvsw0, ib
        4      > nvsw0, ib
        5      > nvsw0, ib
        6      > nvsw0, ib
        7      > nvsw0, ib
        8      > nvsw1, ib
        9      > nvsw1, ib
        10     > nvsw1, ib
        11     > nvsw1, ib
        12     > nvsw1, ib
        13     > nvsw1, ib
        14     > nvsw1, ib
        15     > nvsw1, ib
        nvsw0  > 0, 1, 2, 3, 4, 5, 6, 7
        nvsw1  > 8, 9, 10, 11, 12, 13, 14, 15
        ib     > 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
      "
    `);
  });

  it("reads the file where one is named like a preset", async () => {
    here.put("ring", "from,to,bandwidth,latency\n0,1,10GB/s,1us\n1,0,10GB/s,1us\n");
    const text = await run("topology ring");
    expect(text).toContain("10 GB/s");
  });

  it("says which NPU cannot reach which", async () => {
    expect(await run("topology mesh:3x3 --without 1,3")).toContain("no: NPU 0 cannot reach NPU 2");
  });
});

describe("banyan bound", () => {
  it("gives limit and bound with their witnesses", async () => {
    const bound = await json("bound mesh:3x3@50GB/s,1us --collective allgather --size 9MB");
    // A corner has two links of 1 us and lacks 8 MB.
    expect(bound.limit).toMatchObject({ us: 81, exact: "81", kind: "cut", witness: { npusInside: 1, exitGBps: 100 } });
    // A chunk of 1 MB takes four hops of 21 us from corner to corner, and eight through two links as long as they are planned.
    expect(bound.classLimits).toMatchObject([{ us: 84, of: "whole chunks", kind: "latency" }]);
    expect(bound.details).toMatchObject({ plannedBound: { us: 84 }, routes: "links" });
  });

  it("bounds more chunks closer to the limit", async () => {
    const line = "bound mesh:3x3@50GB/s,0us --collective broadcast --size 1GiB --chunks";
    type Bounds = { classLimits: { us: number }[]; details: { plannedBound: { us: number } } };
    const plannedOf = ({ details }: Bounds): number => details.plannedBound.us;
    const classOf = ({ classLimits }: Bounds): number => classLimits[0]?.us as number;
    const [coarse, fine] = [await json(`${line} 1`), await json(`${line} 1000`)];
    expect(coarse.limit).toMatchObject({ exact: fine.limit.exact, because: fine.limit.because });
    for (const of of [plannedOf, classOf]) {
      expect(of(fine)).toBeLessThan(of(coarse));
      expect(of(fine)).toBeGreaterThanOrEqual(fine.limit.us);
    }
  });
});

describe("banyan verify", () => {
  it("says in one line that a schedule is correct, and nothing with --quiet", async () => {
    await run("synth ring:4@50GB/s,1us --collective allgather --size 4MB --quiet -o ok.json");
    expect(await run("verify ok.json --topology ring:4@50GB/s,1us")).toBe(
      "correct: 12 transfers make all-gather of 4 MB, 4 chunks of 1 MB, among all 4 NPUs of ring:4@50GB/s,1us (8 links, hash 707af383948390a5) planned to end after 42 us (link-busy)\nthe times and limits written in the file were not re-checked; `banyan verify ok.json --independent` does\n",
    );
    expect(await run("verify ok.json --quiet")).toBe("");
    expect(await json("verify ok.json")).toMatchObject({ correct: true, transfers: 12, violations: [] });
  });

  it("ends with exit code 1 and names rank, chunk, link and time of what is wrong", async () => {
    await run("synth ring:4@50GB/s,1us --collective allgather --size 4MB --quiet -o wrong.json");
    const wrong = file("wrong.json");
    const late = wrong.transfers.startPs.findIndex((ps: number) => ps > 0);
    // One transfer leaves before its chunk has come.
    wrong.transfers.startPs[late] -= 5e6;
    wrong.transfers.endPs[late] -= 5e6;
    here.put("wrong.json", wrong);
    expect(await run("verify wrong.json", 1)).toMatch(
      /^wrong: \d+ violations? in wrong\.json\n {2}.*rank \d .*chunk \d on link \d>\d at 16 us/,
    );
    const report = await json("verify wrong.json", 1);
    expect(report.correct).toBe(false);
    const found = report.violations.find(({ kind }: { kind: string }) => kind === "absent-chunk");
    expect(found).toMatchObject({
      npu: expect.stringMatching(/^\d$/),
      link: expect.stringMatching(/^\d>\d$/),
      chunk: expect.any(Number),
      timeUs: 16,
    });
  });
});

describe("banyan simulate", () => {
  it("gives planned and simulated time and how busy the links were", async () => {
    await run("synth ring:4@50GB/s,1us --collective allgather --size 4MB --quiet -o ring.json");
    const found = await json("simulate ring.json");
    // Two rounds of 20 us serialisation; the latency is paid on the way only.
    expect(found).toMatchObject({
      verified: true,
      time: { us: 42, model: "network/cut-through" },
      details: { planned: { us: 42, model: "link-busy" } },
      trace: null,
    });
    expect(found.links.maxUtilisation).toBeCloseTo(40 / 42, 12);
    expect(await json("simulate ring.json --switching store-and-forward")).toMatchObject({ time: { us: 42 } });
    expect(await json("simulate ring.json --reference")).toMatchObject({
      time: { us: 42, model: "network/reference" },
    });
  });

  it("writes a trace with a slice per transfer and link", async () => {
    await run("synth switch:4 --collective allgather --size 4MB --quiet -o sw.json");
    expect(await run("simulate sw.json --trace trace.json --quiet")).toBe("");
    const slices = file("trace.json").traceEvents.filter(({ ph }: { ph: string }) => ph === "X");
    expect(slices).toHaveLength(2 * file("sw.json").transfers.count);
  });

  it("fails for a schedule that is wrong", async () => {
    await run("synth ring:4 --collective allgather --size 4MB --quiet -o short.json");
    const { transfers, ...rest } = file("short.json");
    const cut = Object.fromEntries(
      Object.entries(transfers).map(([key, value]) => [key, Array.isArray(value) ? value.slice(0, -1) : 11]),
    );
    here.put("short.json", { ...rest, transfers: cut });
    const { code, err } = await here.ends("simulate short.json");
    expect([code, err]).toEqual([
      1,
      "banyan: this schedule is wrong (1 violation; `banyan verify short.json` lists them)\n",
    ]);
  });
});

describe("banyan compare", () => {
  const line = "compare ring:6 --collective allgather --sizes 6KB,6MB --algorithms ring,tacos";

  it("has a row per size and algorithm, one of each size the best", async () => {
    const { schema, rows } = await json(line);
    expect(schema).toBe("banyan/comparison@2");
    expect(rows.map(({ sizeBytes, algorithm }: never) => [sizeBytes, algorithm])).toEqual([
      [6000, "ring"],
      [6000, "tacos"],
      [6e6, "ring"],
      [6e6, "tacos"],
    ]);
    for (const size of [6000, 6e6]) {
      const ofSize = rows.filter((row: { sizeBytes: number }) => row.sizeBytes === size);
      const best = ofSize.filter((row: { best: boolean }) => row.best);
      expect(best).toHaveLength(1);
      expect(best[0].us).toBe(Math.min(...ofSize.map((row: { us: number }) => row.us)));
    }
  });

  it("prints the same as CSV and as a table", async () => {
    const csv = (await run(`${line} --format csv`)).trimEnd().split("\n");
    expect(csv).toHaveLength(5);
    expect(csv[0]).toBe(
      "sizeBytes,algorithm,us,algbwGBps,busbwGBps,ofLimit,synthesisMs,best,chunks,verified,library,programUs,libraryUs,gain",
    );
    expect(csv[4]).toMatch(/^6000000,tacos,[\d.]+,[\d.]+,[\d.]+,1,[\d.]+,true,\d+,true,,,,(tie|[\d.]+ x)$/);
    const table = await run(line);
    expect(table).toMatch(/6 MB +ring +\d+ +[\d.]+ \w+ .*%/);
    expect(table).toMatch(/\* tacos +\d+ +[\d.]+ \w+ .*%/);
    expect(table).toMatch(/limit +6 KB: .*NPU 0/);
  });
});

describe("banyan list", () => {
  it.each(["presets", "algorithms", "collectives", "formats", "backends"])(
    "lists %s for people and programs",
    async (what) => {
      const { items } = await json(`list ${what}`);
      const lines = (await run(`list ${what}`)).trimEnd().split("\n");
      // long texts go on in further lines, indented; presets and algorithms are tables under titles
      const heads = { presets: 4, algorithms: 6 }[what] ?? 1;
      expect(lines.filter((line) => /^ {2}\S/.test(line))).toHaveLength(items.length + heads);
      const labels: string[] = items.map(({ form, name }: { form?: string; name: string }) => form ?? name);
      const cells = lines.map((line) => line.trim().split(/ {2,}/));
      expect(labels.filter((label) => !cells.some((row) => row[0] === label || row[1] === label))).toEqual([]);
      expect(items.length).toBeGreaterThanOrEqual(3);
    },
  );

  it("says why a backend does not load, and what builds it", async () => {
    await compile();
    const { out } = await banyan(["list", "backends"], { env: NO_ADDON });
    expect(out).toMatch(/native +no +the native add-on is not built; build it with `npm run build:native`/);
  });
});
