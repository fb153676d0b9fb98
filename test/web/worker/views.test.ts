import { describe, expect, it } from "vitest";
import { presetTopology } from "../../../src/model/presets/preset.ts";
import { treeCounts } from "../../../src/report/amounts.ts";
import type { Options } from "../../../src/request/option-table.ts";
import type { HopsView, TrafficView } from "../../../src/web/protocol.ts";
import { heldBy, holdingsOf } from "../../../src/web/views/time/holdings.ts";
import { rateSentences } from "../../../src/web/views/trees/trees.ts";
import { refused } from "../../support/refusals.ts";
import { quick, triesAll } from "../../support/runs.ts";
import { ask, networkWish, shown, wishOf } from "../../support/worker-asks.ts";

/** One schedule of every kind and of every way through the network. */
const CASES: readonly (readonly [topology: string, options: Options])[] = [
  ["mesh:3x3", { collective: "allgather", size: "9MiB" }],
  ["mesh:3x3", { collective: "allreduce", size: "9MiB" }],
  ["dgx-a100:2", { collective: "alltoall", size: "16MiB" }],
  ["mesh:2x3", { collective: "allgather", algorithm: "direct", size: "6MiB" }],
  ["dgx1", { collective: "allgather", algorithm: "forestcoll", size: "64MiB" }],
  ["dgx-a100:2", { collective: "reducescatter", algorithm: "forestcoll", size: "64MiB" }],
  ["dgx-a100:2", { collective: "allreduce", algorithm: "forestcoll", size: "64MiB" }],
  ["torus:4x4", { collective: "allreduce", algorithm: "themis", size: "64MiB" }],
  ["mesh:2x2", { collective: "allgather", algorithm: "taccl", size: "1KiB" }],
];

/** Plays hops in the order of their ends: a copy must have its chunk when it starts, all must have what they want at the end. */
function expectPlayable(view: HopsView, npus: number, reduces: boolean): void {
  const arrival = new Map<number, number>();
  const key = (npu: number, chunk: number): number => npu * view.chunkCount + chunk;
  for (let npu = 0; npu < npus; npu++)
    for (let i = view.heldOffset[npu]; i < view.heldOffset[npu + 1]; i++) arrival.set(key(npu, view.held[i]), 0);
  let [early, unsorted] = [0, 0];
  for (let i = 0; i < view.chunk.length; i++) {
    if (i > 0 && view.endPs[i] < view.endPs[i - 1]) unsorted++;
    const since = arrival.get(key(view.source[i], view.chunk[i])) ?? Number.POSITIVE_INFINITY;
    if (since > (reduces ? view.endPs[i] : view.startPs[i])) early++;
    const at = key(view.target[i], view.chunk[i]);
    if (!arrival.has(at)) arrival.set(at, view.endPs[i]);
  }
  let missing = 0;
  for (let npu = 0; npu < npus; npu++)
    for (let i = view.wantedOffset[npu]; i < view.wantedOffset[npu + 1]; i++)
      if (!arrival.has(key(npu, view.wanted[i]))) missing++;
  expect({ early, unsorted, missing }).toEqual({ early: 0, unsorted: 0, missing: 0 });
}

/** Adds up what the hops carry, one by one. */
function expectTraffic(traffic: TrafficView | null, { source, target, chunkBytes }: HopsView): void {
  const bytes = new Map<number, number>();
  const pairOf = (from: number, to: number): number => from * 1e6 + to;
  source.forEach((from, hop) => {
    const pair = pairOf(from, target[hop]);
    bytes.set(pair, (bytes.get(pair) ?? 0) + chunkBytes);
  });
  expect(traffic?.bytes).toHaveLength(bytes.size);
  traffic?.bytes.forEach((some, pair) => {
    expect(some / (bytes.get(pairOf(traffic.source[pair], traffic.target[pair])) ?? 0)).toBeCloseTo(1, 9);
  });
}

describe("views of a schedule in time", () => {
  it.each(CASES)("%s %o", async (topology, options) => {
    const schedule = await ask("make", { wish: wishOf(topology, options) });
    const { npuCount } = presetTopology(topology);
    const timeline = shown(await ask("timeline", { schedule: schedule.ref }));
    const hops = shown(await ask("hops", { schedule: schedule.ref }));
    const loads = shown(await ask("loads", { schedule: schedule.ref }));
    expect([timeline.totalPs, hops.totalPs, loads.totalPs].map(Math.round)).toEqual(
      Array(3).fill(Math.round(schedule.totalPs)),
    );
    expectPlayable(hops, npuCount, options["collective"] === "allreduce" || options["collective"] === "reducescatter");
    // each link is held in the timeline for as long as the simulation says
    const busy = new Float64Array(loads.busyPs.length);
    timeline.link.forEach((link, i) => {
      busy[link] += (timeline.lastsPs[i] as number) * (timeline.share[i] as number);
    });
    busy.forEach((ps, link) => {
      expect(ps).toBeCloseTo(loads.busyPs[link] as number, -Math.log10((loads.busyPs[link] as number) * 1e-5 + 1));
    });
    expect(timeline.startPs.every((ps, i) => i === 0 || ps >= (timeline.startPs[i - 1] as number))).toBe(true);
    // use over time is the same, spread out
    const { linkBytesPerSecond } = presetTopology(topology);
    const all = linkBytesPerSecond.reduce((a, b) => a + b);
    const used = loads.busyPs.reduce((sum, ps, link) => sum + ps * (linkBytesPerSecond[link] as number), 0);
    const mean = loads.overTime.reduce((a, b) => a + b) / loads.overTime.length;
    expect(loads.overTime).toHaveLength(400);
    expect(mean).toBeCloseTo(used / all / loads.totalPs, 4);
    expect(loads.overTime.every((share) => share >= 0 && share < 1.0001)).toBe(true);
    expectTraffic(loads.traffic, hops);
  });

  it("adds up traffic where all of a tree is one transfer: what NPUs send is what their links carry", async () => {
    const options = { collective: "allgather", algorithm: "forestcoll", size: "64GiB" };
    const { ref } = await ask("make", { wish: wishOf("dgx-h100:48", options, { without: "3" }) });
    const { note } = shown(await ask("hops", { schedule: ref }));
    expect(note).toMatch(/^All that a tree carries is shown as one transfer/);
    const { forests } = shown(await ask("trees", { schedule: ref }));
    expect(new Set(forests[0]?.copies).size).toBeGreaterThan(1);
    const { traffic, busyPs } = shown(await ask("loads", { schedule: ref }));
    const { npuCount, linkSource, linkBytesPerSecond } = await ask("network", {
      wish: networkWish("dgx-h100:48", { without: "3" }),
    });
    const sent = new Float64Array(npuCount);
    traffic?.bytes.forEach((bytes, pair) => {
      sent[traffic.source[pair]] += bytes;
    });
    const carried = new Float64Array(npuCount);
    linkSource.forEach((node, link) => {
      if (node < npuCount) carried[node] += (busyPs[link] / 1e12) * linkBytesPerSecond[link];
    });
    sent.forEach((bytes, npu) => {
      expect(bytes / carried[npu]).toBeCloseTo(1, 4);
    });
  });

  it("keeps pieces of trees together where they are many, and says so", async () => {
    const wish = wishOf("dgx-a100:4", { collective: "allgather", algorithm: "forestcoll", size: "64GiB" });
    const schedule = await ask("make", { wish });
    const hops = shown(await ask("hops", { schedule: schedule.ref }));
    expect(hops.note).toBe("");
    const many = await ask("make", {
      wish: wishOf("dgx-h100:16", { collective: "allgather", algorithm: "forestcoll", size: "64GiB" }),
    });
    const copies = shown(await ask("hops", { schedule: many.ref }));
    expect(copies.note).toContain("shown as one transfer");
    expect(copies.totalPs).toBe(Math.round(many.totalPs));
    expect(copies.chunk).toHaveLength(128 * 127 * (many.report.throughput?.treesPerRoot ?? 0));
    expect(copies.chunkBytes).toBeCloseTo(2 ** 36 / copies.chunkCount);
  });

  it.runIf(triesAll)(
    "hold links no longer where pieces are kept together: many copies of a tree share its rate",
    async () => {
      const options = { collective: "allreduce", algorithm: "forestcoll", size: "1GiB" };
      const { ref } = await ask("make", { wish: wishOf("dgx-a100:2", options, { without: "2" }) });
      const timeline = shown(await ask("timeline", { schedule: ref }));
      const loads = shown(await ask("loads", { schedule: ref }));
      expect(timeline.note).toContain("shown as one transfer");
      const busy = new Float64Array(loads.busyPs.length);
      timeline.link.forEach((link, i) => {
        busy[link] += timeline.lastsPs[i] * timeline.share[i];
      });
      const off = busy.map((ps, link) => Math.abs(ps - loads.busyPs[link]) / loads.totalPs);
      expect(Math.max(...off)).toBeLessThan(1e-4);
      expect(Math.max(...loads.overTime)).toBeLessThanOrEqual(1);
    },
  );

  it.each(
    quick(
      [
        ["mesh:4x4", "allgather", "5GiB"],
        ["mesh:4x4", "allreduce", "5GiB"],
        ["dgx-h100:16", "allgather", "64GiB"],
        ["dgx-h100:16", "reducescatter", "64GiB"],
        ["dgx-h100:16", "allreduce", "64GiB"],
      ] as const,
      ([topology, collective]) => topology === "mesh:4x4" && collective === "allgather",
    ),
  )("give everyone what they want in the end, however coarse: %s %s", async (topology, collective, size) => {
    const { ref } = await ask("make", { wish: wishOf(topology, { collective, algorithm: "forestcoll", size }) });
    const hops = shown(await ask("hops", { schedule: ref }));
    const { npuCount } = presetTopology(topology);
    const holdings = holdingsOf(hops, npuCount);
    const isWhole = (npu: number): boolean => {
      const held = heldBy(holdings, npu, hops.totalPs);
      const wanted = hops.wanted.subarray(hops.wantedOffset[npu], hops.wantedOffset[npu + 1]);
      return wanted.every((chunk) => held[chunk] === holdings.whole[chunk]);
    };
    expect(hops.isPipelined).toBe(topology.startsWith("dgx"));
    expect(Array.from({ length: npuCount }, (_, npu) => npu).filter((npu) => !isWhole(npu))).toEqual([]);
    // none is empty, and no contribution comes twice
    expect(
      holdings.amount.filter((amount, hop) => amount <= 0 || amount > holdings.whole[hops.chunk[hop]]),
    ).toHaveLength(0);
  });

  it("refuses what cannot be shown in a sentence", async () => {
    const phases = wishOf("torus:60x60", { collective: "allreduce", algorithm: "themis", chunks: "8" });
    const { ref, kind } = await ask("make", { wish: phases });
    expect(kind).toBe("phases");
    expect(await ask("timeline", { schedule: ref })).toEqual({
      refusal: expect.stringMatching(/^The schedule has [\d,]+ transfers; at most 4,000,000 are shown one by one\./),
    });
    const loads = shown(await ask("loads", { schedule: ref }));
    expect(loads.overTime).toHaveLength(0);
    expect(Math.max(...loads.busyPs) / loads.totalPs).toBeGreaterThan(0.5);
    expect(Math.max(...loads.busyPs) / loads.totalPs).toBeLessThanOrEqual(1);
    expect(await ask("trees", { schedule: ref })).toEqual({ refusal: "The schedule is not one of trees." });
  });

  it("has no transfers where switches sum", async () => {
    const wish = wishOf("gb200-nvl72", { collective: "allreduce", algorithm: "nvls" });
    const { ref, report, lacks } = await ask("make", { wish });
    expect(report.schedule.transfers).toBeNull();
    expect(lacks["svg: time"]).toBe("messages");
    expect(await ask("hops", { schedule: ref })).toEqual({ refusal: expect.stringContaining("Switches duplicate") });
    expect(Math.max(...shown(await ask("loads", { schedule: ref })).busyPs)).toBeGreaterThan(0);
  });
});

describe("trees", () => {
  it("are listed with their images, and each reaches everyone", async () => {
    const wish = wishOf("dgx-h100:2", { collective: "allreduce", algorithm: "forestcoll" });
    const { ref, report } = await ask("make", { wish });
    const { forests, rate, because } = shown(await ask("trees", { schedule: ref }));
    expect(forests.map(({ direction }) => direction)).toEqual(["in", "out"]);
    expect(rate).toMatch(/GB\/s$/);
    expect(because).toBe(report.throughput?.bound.because);
    expect(forests.flatMap(({ root }) => [...root])).toHaveLength(report.throughput?.distinctTrees ?? 0);
    const { wires } = await ask("network", { wish: wish.network });
    for (const [forest, { root, height, copies }] of forests.entries()) {
      for (const tree of [0, root.length - 1]) {
        const view = await ask("tree", { schedule: ref, forest, tree });
        expect([view.root, view.copies, Math.max(...view.depth)]).toEqual([root[tree], copies[tree], height[tree]]);
        expect(new Set([view.root, ...view.to]).size).toBe(16);
        view.from.forEach((from, edge) => {
          let node = from;
          for (let i = view.wireOffset[edge] as number; i < (view.wireOffset[edge + 1] as number); i++) {
            const wire = view.wires[i] as number;
            const [a, b] = [wires.a[wire], wires.b[wire]];
            expect([a, b]).toContain(node);
            node = (node === a ? b : a) as number;
          }
          expect(node).toBe(view.to[edge]);
        });
      }
    }
    await expect(ask("tree", { schedule: ref, forest: 2, tree: 0 })).rejects.toThrow(
      refused("unknown-name", "the tree", "forest 2, tree 0"),
    );
  });

  it("say what holds them back where they do not reach the bound, which then proves nothing of them", async () => {
    const blink = await ask("make", { wish: wishOf("dgx1", { collective: "allreduce", algorithm: "blink" }) });
    const slow = shown(await ask("trees", { schedule: blink.ref }));
    expect(slow).toMatchObject({ rate: "75 GB/s", boundRate: "85.71 GB/s" });
    const [bound, held, ...more] = rateSentences(slow);
    expect(bound).toMatch(/^The bound is 85.71 GB\/s \(87\.5 % reached\): the 8 NPUs send each other /);
    expect(held).toMatch(/^What holds these trees back: .* are 100 % full; .*\.$/);
    expect(more).toEqual([]);
    const best = await ask("make", { wish: wishOf("dgx-h100:1", { collective: "allreduce", algorithm: "nvls" }) });
    const fast = shown(await ask("trees", { schedule: best.ref }));
    expect(fast).toMatchObject({ rate: "400 GB/s", boundRate: "450 GB/s" });
    expect(rateSentences(fast)[1]).toMatch(/all 16 links are 88.88 % full/);
    const all = await ask("make", { wish: wishOf("dgx-h100:1", { collective: "allgather", algorithm: "nvls" }) });
    const most = shown(await ask("trees", { schedule: all.ref }));
    expect(most.boundRate).toBe(most.rate);
    expect(rateSentences(most)).toEqual([expect.stringMatching(/^No trees can beat this: /)]);
  });

  it("are counted alike wherever they are counted", async () => {
    const wish = wishOf("dgx-h100:4", { collective: "allreduce", algorithm: "nvls", size: "256MiB" });
    const { ref, report } = await ask("make", { wish });
    const { forests } = shown(await ask("trees", { schedule: ref }));
    expect(forests.map(({ root }) => root.length)).toEqual([32, 32]);
    expect(treeCounts(report)).toBe(`64 trees, ${report.schedule.pieces} pieces a copy`);
    expect(treeCounts({ schedule: { trees: 1, pieces: 1 } })).toBe("1 tree, 1 piece a copy");
  });
});
