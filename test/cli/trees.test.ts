import { describe, expect, it } from "vitest";
import { commandsHere } from "../support/cli-here.ts";
import { quick, triesAll } from "../support/runs.ts";

const here = commandsHere();
const TREES = "--algorithm forestcoll";
const gather = (network: string, more = "") => `synth ${network} --collective allgather ${TREES}${more}`;

describe("banyan synth --algorithm forestcoll", () => {
  it.each<readonly [network: string, exact: string, k: number | null]>([
    ["dgx-a100:1", "2400/7", null],
    ["dgx-a100:2", "1040/3", 13],
    ["dgx-a100:3", "300", null],
    ["dgx-a100:4", "800/3", null],
    ["dgx-a100:5", "250", null],
    ["dgx-a100:6", "240", null],
    ["dgx-a100:128", "25600/127", 1],
  ])("reaches the published optimum on %s: %s GB/s", async (network, exact, k) => {
    const report = await here.json(gather(network));
    expect(report).toMatchObject({
      throughput: { exact, ...(k === null ? {} : { treesPerRoot: k }), ofBound: 1 },
      schedule: { kind: "trees" },
      verified: true,
      deterministic: true,
    });
    expect(report.throughput.bound.us).toBeLessThanOrEqual(report.time.us);
    expect(report.limit.us).toBeLessThanOrEqual(report.time.us);
  });

  const COPIES: readonly (readonly [k: number, exact: string])[] = [
    [1, "320"],
    [2, "1024/3"],
    [3, "2400/7"],
    [4, "1024/3"],
    [5, "8000/23"],
  ];
  it.each(quick(COPIES, ([k]) => k === 1))(
    "reaches the published throughput with %i copies per root on two MI250 boxes: %s GB/s",
    async (k, exact) => {
      const { throughput, verified, notes } = await here.json(gather("mi250:2", ` --k ${k}`));
      expect(throughput).toMatchObject({ exact, treesPerRoot: k });
      expect(verified).toBe(true);
      expect(throughput.ofBound).toBeLessThan(1);
      expect(notes[0]).toMatch(
        / of trees per root reach(es)? 9\d.*% of the optimum; at least \d.* % were sure beforehand$/,
      );
    },
  );

  it("writes trees as steps in the pieces that --chunks says", async () => {
    const made = "export dgx-a100:2 --collective allgather --size 1MiB --algorithm forestcoll --to steps -o";
    const counts = [];
    for (const chunks of ["", " --chunks 1", " --chunks 3"]) {
      await here.run(`${made} pieces.json --quiet${chunks}`);
      counts.push((await here.json("simulate pieces.json")).transfers);
    }
    expect(counts[2]).toBe(3 * counts[1]);
    expect(counts[0]).toBeGreaterThan(counts[1]);
  });

  it.runIf(triesAll)("takes fewer copies with --k auto where that is faster at the size asked for", async () => {
    const request = gather("dgx-a100:2", " --without 0-ib --size 256KiB");
    const [most, auto] = [await here.json(request), await here.json(`${request} --k auto`)];
    expect(most).toMatchObject({ throughput: { exact: "320", treesPerRoot: 4, ofBound: 1 } });
    expect(auto.throughput.treesPerRoot).toBeLessThan(4);
    expect(auto.time.us).toBeLessThan(most.time.us);
  });

  const SHAPES: readonly (readonly [shape: string, exact: string])[] = [
    ["3x3", "3/2"],
    ["4x4", "8/5"],
    ["5x5", "5/3"],
  ];
  it.each(quick(SHAPES, ([shape]) => shape === "3x3"))(
    "reduces a buffer on a %s mesh at %s of a link's rate",
    async (shape, exact) => {
      const report = await here.json(`synth mesh:${shape}@1GB/s,1us --collective allreduce ${TREES}`);
      expect(report).toMatchObject({ throughput: { exact, ofBound: 1 }, verified: true });
    },
  );

  it.each([
    ["broadcast", " --root 3", "100"],
    ["reduce", " --root 3", "100"],
    ["reducescatter", "", "800/7"],
    ["allreduce", "", "400/7"],
  ])("makes trees for %s", async (collective, root, exact) => {
    const report = await here.json(`synth ring:8@50GB/s,1us --collective ${collective}${root} ${TREES}`);
    expect(report).toMatchObject({ throughput: { exact }, verified: true });
  });

  it("makes trees for a group, and for shards of unequal size", async () => {
    const group = await here.json(gather("dgx-a100:2", " --group 0,1,8,9"));
    expect(group).toMatchObject({ throughput: { exact: "400", ofBound: 1 }, verified: true });
    const chunk = (holder: number) => ({ pre: [holder], post: [0, 1, 2] });
    const chunks = [0, 0, 1, 2].map(chunk);
    here.put("own.json", { format: "banyan-collective", version: 1, chunkBytes: "1MiB", chunks });
    const unequal = await here.json(`synth ring:3@50GB/s,1us --collective custom:own.json ${TREES}`);
    // NPU 1 receives three of four chunks through two links.
    expect(unequal).toMatchObject({
      throughput: { exact: "400/3", treesPerRoot: null, ofBound: 1 },
      verified: true,
    });
  });

  it("says for people how many trees there are, how high, what they reach and why it cannot be more", async () => {
    const text = await here.run(gather("dgx-a100:2", " --details"));
    for (const line of [
      / schedule +32 different trees, 13 copies per root by forestcoll, verified\n/,
      / trees +height 2, 2 on average; a copy holds 1\.667 GB\/s and is sent in \d+ pieces\n/,
      / throughput +346\.7 GB\/s +325 GB\/s +1040\/3 GB\/s exactly, with ever more pieces\n/,
      / limit +3\.0986 ms +346\.5 GB\/s +any algorithm: NPU 0 receives 1\.0066 GB through 325 GB\/s, 1\s+us or more/,
      / rate bound +3\.0973 ms +346\.7 GB\/s +100 % +trees, without latencies: NPU 0 receives 1\.0066 GB through 325 GB\/s\n/,
      / gap +[\d.]+ us is the time that \d+ pieces take through trees of height 2, latencies and waiting: it/,
      / synthesis +[\d.]+ \w+ on \w+ kernels, seed 1\n +policy +one root for all by symmetry\n/,
    ]) {
      expect(text).toMatch(line);
    }
  });

  it("names the collective's own bytes in the bound where latency rules its time", async () => {
    const { throughput } = await here.json(gather("ring:6@50GB/s,1us", " --size 6KB --without 0>1"));
    expect(throughput.bound).toMatchObject({ us: 0.1, because: "NPU 1 receives 5 KB through 50 GB/s" });
  });

  it("keeps fractions of a GB/s exactly", async () => {
    const rate = "12.345678901GB/s,1us";
    here.put("frac.csv", `from,to,bandwidth,latency\n0,1,${rate}\n1,0,${rate}\n`);
    expect(await here.json(gather("frac.csv"))).toMatchObject({ throughput: { exact: "12345678901/500000000" } });
  });
});
