import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { InfeasibleError } from "../../../src/base/errors.ts";
import { jsKernels } from "../../../src/engine/kernels/js/kernels.ts";
import { openHighs } from "../../../src/engine/milp/highs.ts";
import { compare, divide, format, rational, toNumber } from "../../../src/model/numbers/rational.ts";
import { presetTopology } from "../../../src/model/presets/preset.ts";
import { degrade, without } from "../../../src/model/topology/modify.ts";
import type { Topology } from "../../../src/model/topology/topology.ts";
import { topologyBuilder } from "../../../src/model/topology/topology-builder.ts";
import { type AllReduceOptions, allReduceRates } from "../../../src/synthesize/forestcoll/allreduce-rates.ts";
import { paperTrees } from "../../../src/synthesize/forestcoll/grow.ts";
import { infeasible } from "../../support/refusals.ts";
import { runs, seen } from "../../support/runs.ts";
import { certifiedRate, faultsOf, flowProgramRate } from "./allreduce-oracle.ts";

const lp = await openHighs();
const rate = async (problem: Parameters<typeof jsKernels.rate>[0]) => jsKernels.rate(problem);
const everyone = ({ npuCount }: Topology): number[] => Array.from({ length: npuCount }, (_, v) => v);
const ratesOf = (topology: Topology, members = everyone(topology), options: AllReduceOptions = {}) =>
  allReduceRates(topology, Int32Array.from(members), { rate, lp }, options);

/** Returns a network of so many NPUs and then switches; links as [from, to, bandwidth]. */
function networkOf(npus: number, switches: number, links: readonly (readonly [number, number, number])[]): Topology {
  const builder = topologyBuilder("test");
  builder.addNumberedNpus(npus);
  for (let s = 0; s < switches; s++) builder.addSwitch(`s${s}`);
  for (const [from, to, bandwidth] of links) builder.addLink(from, to, bandwidth, 0);
  return builder.build();
}

describe("allReduceRates", () => {
  it.each([
    ["mesh:3x3", "3/2", "9/8"],
    ["mesh:4x4", "8/5", "16/15"],
    ["mesh:5x5", "5/3", "25/24"],
    ["mesh:4x3", "17/11", "12/11"],
    ["line:8", "1", "4/7"],
    ["ring:8", "8/7", "8/7"],
    ["grid:3x3x3", "27/13", "81/52"],
    ["mesh:8x8", "16/9", "64/63"],
    ["torus:8x8", "128/63", "128/63"],
    ["switch:8", "4/7", "4/7"],
    ["fc:5", "5/2", "5/2"],
    // GB/s below: half of the published all-gather
    ["dgx-a100:2", "520/3", "520/3", 1e9],
    ["mi250:1", "1200/7", "1200/7", 1e9],
    ["mi250:2", "2656/15", "2656/15", 1e9],
    ["fat-tree:16x4,leaf=4,tiers=2,oversub=2@450,50GB/s", "320/3", "320/3", 1e9],
  ])("solves %s: %s, where reduce-scatter and all-gather reach %s", async (name, best, uniform, unit = 50e9) => {
    const topology = presetTopology(name);
    const rates = await ratesOf(topology);
    const inUnits = (value: typeof rates.rate): string => format(divide(value, rational(unit)));
    expect(inUnits(rates.rate)).toBe(best);
    expect(inUnits(rates.bound)).toBe(best);
    expect(rates.optimal).toBe(true);
    expect(rates.uniformRate === null ? null : inUnits(rates.uniformRate)).toBe(uniform);
    expect(rates.uniform).toBe(best === uniform);
    expect(certifiedRate(topology, everyone(topology), rates)).toEqual(rates.bound);
    if (topology.nodeNames.length <= 12) expect(faultsOf(topology, everyone(topology), rates)).toEqual([]);
  });

  it("is exact with two bandwidths, and with odd ones", async () => {
    const mesh = presetTopology("mesh:4x3@80,35GiB/s,1us");
    const rates = await ratesOf(mesh);
    expect(format(divide(rates.rate, rational(35 * 2 ** 30)))).toBe("200/77");
    expect(rates.optimal).toBe(true);
    expect(faultsOf(mesh, everyone(mesh), rates)).toEqual([]);
    const usable = mesh.linkBytesPerSecond.map((b, l) => b - 1_000_003 * l);
    const odd = await ratesOf(mesh, everyone(mesh), { usable });
    expect(odd.optimal).toBe(true);
    expect(faultsOf({ ...mesh, linkBytesPerSecond: usable }, everyone(mesh), odd)).toEqual([]);
  });

  it("beats equal shares where one NIC has lost half of its bandwidth", async () => {
    const healthy = presetTopology("dgx-a100:2");
    const broken = degrade(healthy, [[`${healthy.nodeNames[0]}-${healthy.nodeNames[18]}`, 0.5]]);
    const rates = await ratesOf(broken);
    expect(rates.optimal).toBe(true);
    expect(rates.uniform).toBe(false);
    expect(compare(rates.rate, rates.uniformRate ?? rates.rate)).toBe(1);
    expect(certifiedRate(broken, everyone(broken), rates)).toEqual(rates.bound);
  });

  it("lets outsiders forward for a group", async () => {
    // corners of a mesh: everything comes in and goes out over two links each
    const mesh = presetTopology("mesh:3x3@1GB/s,0us");
    const members = [8, 0];
    const rates = await ratesOf(mesh, members);
    expect(format(divide(rates.rate, rational(1e9)))).toBe("2");
    expect(rates.copies.length).toBe(2);
    expect(certifiedRate(mesh, members, rates)).toEqual(rates.bound);
    expect(faultsOf(mesh, members, rates)).toEqual([]);
  });

  it("leaves capacity of no use at switches that have more in than out", async () => {
    const star = networkOf(3, 1, [
      [0, 3, 9],
      [1, 3, 4],
      [2, 3, 4],
      [3, 0, 4],
      [3, 1, 4],
      [3, 2, 4],
    ]);
    const rates = await ratesOf(star);
    expect(rates.uniformRate).toBeNull();
    expect(format(rates.rate)).toBe("3");
    expect(rates.optimal).toBe(true);
    expect(faultsOf(star, everyone(star), rates)).toEqual([]);
  });

  it("refuses members that cannot reach each other", async () => {
    const oneWay = networkOf(2, 0, [[0, 1, 1]]);
    await expect(ratesOf(oneWay)).rejects.toThrow(InfeasibleError);
    const apart = without(presetTopology("ring:4"), ["0-1", "0-3"]);
    await expect(ratesOf(apart)).rejects.toThrow(infeasible({ nodes: [1, 2, 3] }));
  });

  it("ends a search that is out of budget with bounds on both sides", async () => {
    const mesh = presetTopology("mesh:4x4@1GB/s,0us");
    const usable = mesh.linkBytesPerSecond.map((_, l) => 1 + ((l * 7919) % 9));
    const best = await ratesOf(mesh, everyone(mesh), { usable });
    expect(best.optimal).toBe(true);
    for (const options of [{ rounds: 1 }, { rounds: 0 }, { cuts: 1 }]) {
      const { rate: reached, bound, optimal } = await ratesOf(mesh, everyone(mesh), { usable, ...options });
      expect(optimal).toBe(compare(reached, bound) === 0);
      expect(compare(reached, best.rate)).toBeLessThanOrEqual(0);
      expect(compare(bound, best.bound)).toBeGreaterThanOrEqual(0);
    }
  });

  it("gives the same answer again", async () => {
    const mesh = presetTopology("mesh:5x4@80,35GiB/s,1us");
    expect(await ratesOf(mesh)).toEqual(await ratesOf(mesh));
  });

  const networks = fc
    .record({
      npus: fc.integer({ min: 2, max: 4 }),
      switches: fc.integer({ min: 0, max: 2 }),
      bothWays: fc.boolean(),
      links: fc.array(fc.tuple(fc.nat(), fc.nat(), fc.integer({ min: 1, max: 6 })), { minLength: 4, maxLength: 14 }),
    })
    .map(({ npus, switches, bothWays, links }) => {
      const nodes = npus + switches;
      const kept = links.map(([a, b, c]) => [a % nodes, b % nodes, c] as const).filter(([a, b]) => a !== b);
      // a ring keeps nearly all of them connected
      const ring = Array.from({ length: nodes }, (_, v) => [v, (v + 1) % nodes, 1] as const);
      const all = [...kept, ...(links.length % 3 === 0 ? [] : ring)];
      return networkOf(
        npus,
        switches,
        bothWays ? all.flatMap(([a, b, c]) => [[a, b, c] as const, [b, a, c] as const]) : all,
      );
    });

  it("equals the dissertation's program with flows on random networks, exactly solved and proved", async () => {
    let optimal = 0;
    let solved = 0;
    await fc.assert(
      fc.asyncProperty(networks, fc.boolean(), async (topology, group) => {
        const members = group && topology.npuCount > 2 ? everyone(topology).slice(1) : everyone(topology);
        const expected = flowProgramRate(topology, members, lp);
        if (expected < 1e-6) {
          await expect(ratesOf(topology, members)).rejects.toThrow(InfeasibleError);
          return;
        }
        const rates = await ratesOf(topology, members);
        solved++;
        if (rates.optimal) optimal++;
        expect(toNumber(rates.rate)).toBeCloseTo(expected, 6);
        expect(certifiedRate(topology, members, rates)).toEqual(rates.bound);
        expect(faultsOf(topology, members, rates)).toEqual([]);
      }),
      { numRuns: runs(200), seed: 1 },
    );
    expect(solved).toBeGreaterThan(seen(100));
    expect(optimal).toBe(solved);
  });

  it("has few copies where that is asked for, at a rate that is nearly as good", async () => {
    let coarse = 0;
    let worst = 1;
    await fc.assert(
      fc.asyncProperty(networks, fc.integer({ min: 0, max: 1000 }), async (small, odd) => {
        const topology = { ...small, linkBytesPerSecond: small.linkBytesPerSecond.map((b, l) => b * 10_007 + odd * l) };
        const members = everyone(topology);
        if (flowProgramRate(small, members, lp) < 1e-6) return;
        const exact = await ratesOf(topology);
        const few = await ratesOf(topology, members, { copiesPerMember: 16 });
        expect(few.bound).toEqual(exact.bound);
        expect(faultsOf(topology, members, few)).toEqual([]);
        const copies = few.copies.reduce((sum, own) => sum + own, 0);
        if (exact.copies.reduce((sum, own) => sum + own, 0) <= 16 * members.length) {
          expect(few).toEqual(exact);
          return;
        }
        // shares are rounded, one copy at most for each member
        expect(copies).toBeLessThanOrEqual(17 * members.length);
        expect(few.optimal).toBe(false);
        coarse++;
        worst = Math.min(worst, toNumber(divide(few.rate, exact.rate)));
      }),
      { numRuns: runs(100), seed: 3 },
    );
    expect(coarse).toBeGreaterThan(seen(30));
    expect(worst).toBeGreaterThan(0.6);
  });

  it("leaves capacities that trees of all copies can be packed in, both ways", async () => {
    const inUse = [
      presetTopology("mesh:3x3"),
      presetTopology("line:5"),
      ...fc.sample(networks, { numRuns: runs(60), seed: 5 }),
    ];
    let packed = 0;
    for (const topology of inUse) {
      const members = everyone(topology);
      if (flowProgramRate(topology, members, lp) < 1e-6) continue;
      const { copies, outCapacity, inCapacity } = await ratesOf(topology);
      const bothWays = [
        { capacity: outCapacity, linkSource: topology.linkSource, linkTarget: topology.linkTarget },
        { capacity: inCapacity, linkSource: topology.linkTarget, linkTarget: topology.linkSource },
      ];
      for (const { capacity, ...ends } of bothWays) {
        const network = { nodeCount: topology.nodeNames.length, npuCount: topology.npuCount, ...ends };
        const trees = paperTrees(network, {
          capacity: Array.from(capacity, BigInt),
          copies: Array.from(copies, BigInt),
        });
        copies.forEach((count, root) => {
          const own = trees.filter((tree) => tree.root === root).map((tree) => tree.copies);
          expect(own.reduce((sum, x) => sum + x, 0n)).toBe(BigInt(count));
        });
        packed++;
      }
    }
    expect(packed).toBeGreaterThan(seen(80));
  });
});
