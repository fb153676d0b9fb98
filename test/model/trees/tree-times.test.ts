import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { random } from "../../../src/base/random.ts";
import { compare, rational } from "../../../src/model/numbers/rational.ts";
import { presetTopology } from "../../../src/model/presets/preset.ts";
import { topologyBuilder } from "../../../src/model/topology/topology-builder.ts";
import type { Forest } from "../../../src/model/trees/tree-flow.ts";
import { fillPs, heightsOf, paceOf, reachOf } from "../../../src/model/trees/tree-times.ts";
import { outOfRange } from "../../support/refusals.ts";
import { runs } from "../../support/runs.ts";
import { forestOf, grownFlow, ringFlow, starFlow } from "../../support/tree-flows.ts";

const forestAt = (num: bigint, den: bigint): Forest =>
  forestOf(presetTopology("ring:3"), "out", [], rational(num, den));

describe("paceOf", () => {
  it("is the forest's own where shares are fractions of whole numbers", () => {
    const topology = presetTopology("dgx-a100:2");
    const { bytesPerSecond, shareNum, shareDen } = paceOf(topology, forestAt(25_000_000_000n, 13n));
    expect(bytesPerSecond).toEqual(rational(25_000_000_000n, 13n));
    topology.linkBytesPerSecond.forEach((bandwidth, link) => {
      expect(rational(shareNum[link], shareDen[link])).toEqual(rational(25_000_000_000n, 13n * BigInt(bandwidth)));
    });
  });

  it("is rounded down a little where they are not", () => {
    const topology = presetTopology("dgx-a100:2");
    fc.assert(
      fc.property(
        fc.bigInt({ min: 2n ** 54n, max: 2n ** 80n }),
        fc.bigInt({ min: 1n, max: 25n * 10n ** 9n }),
        (den, whole) => {
          const exact = rational(den * whole - 1n, den);
          const { bytesPerSecond, shareNum, shareDen } = paceOf(topology, forestAt(exact.num, exact.den));
          expect(compare(bytesPerSecond, exact)).toBeLessThanOrEqual(0);
          expect(compare(bytesPerSecond, rational(exact.num * 30000n - exact.den, exact.den * 30000n))).toBeGreaterThan(
            0,
          );
          topology.linkBytesPerSecond.forEach((bandwidth, link) => {
            expect(Number.isSafeInteger(shareDen[link]) && shareNum[link] <= shareDen[link]).toBe(true);
            const share = rational(bytesPerSecond.num, bytesPerSecond.den * BigInt(bandwidth));
            expect(rational(shareNum[link], shareDen[link])).toEqual(share);
          });
        },
      ),
      { seed: 1, numRuns: runs(100) },
    );
  });

  it("refuses what rounds to nothing", () => {
    expect(() => paceOf(presetTopology("ring:3"), forestAt(1n, 2n ** 80n))).toThrow(
      outOfRange("a forest's bandwidth of a copy", "1/1208925819614629174706176", 180143),
    );
  });
});

describe("how far trees reach", () => {
  it("rings reach n - 1 edges, stars one", () => {
    expect(heightsOf(ringFlow(5, 1e9, 10, 100))).toEqual({ greatest: 4, mean: 4 });
    expect(heightsOf(starFlow(5, 1e9, 10, 100))).toEqual({ greatest: 1, mean: 1 });
    const reach = reachOf(ringFlow(5, 1e9, 10, 100), ringFlow(5, 1e9, 10, 100).forests[0]);
    expect([...reach.hops.slice(0, 1), ...reach.latencyPs.slice(0, 1), reach.edgePs]).toEqual([4, 40, 10]);
  });

  it("the mean height counts copies", () => {
    const builder = topologyBuilder("line");
    for (const name of ["a", "b", "c"]) builder.addNpu(name);
    for (const [from, to] of [
      [0, 1],
      [1, 2],
      [0, 2],
    ])
      builder.addLink(from, to, 1e9, 0);
    const topology = builder.build();
    const trees = [
      { root: 0, copies: 3, edges: [[0], [1]] },
      { root: 0, copies: 1, edges: [[0], [2]] },
    ];
    const { collective } = grownFlow(topology, { kind: "broadcast", sizeBytes: 1, copies: 1 }, random(1));
    const flow = { kind: "trees", topology, collective, concurrent: false, symmetry: null, certificate: null } as const;
    expect(heightsOf({ ...flow, forests: [forestOf(topology, "out", trees)] })).toEqual({ greatest: 2, mean: 1.75 });
  });

  it("points decide when the last member is reached", () => {
    const topology = presetTopology("mesh:3x3@10GB/s,1us");
    for (let seed = 0; seed < 50; seed++) {
      const draws = random(seed, 1);
      const uneven = { ...topology, linkLatencyPs: topology.linkLatencyPs.map(() => draws.below(5000)) };
      const direction = seed % 2 === 0 ? "allgather" : "reducescatter";
      const flow = grownFlow(uneven, { kind: direction, sizeBytes: 1000, copies: 2 }, draws);
      const [forest] = flow.forests;
      const reach = reachOf(flow, forest);
      forest.root.forEach((root, tree) => {
        const serial = draws.below(10_000);
        expect(fillPs(reach, tree, serial)).toBe(lastArrival(uneven, forest, tree, root, serial));
      });
    }
  });
});

function lastArrival(
  topology: ReturnType<typeof presetTopology>,
  forest: Forest,
  tree: number,
  root: number,
  serial: number,
): number {
  const at = new Map([[root, 0]]);
  const [near, far] =
    forest.direction === "out"
      ? [topology.linkSource, topology.linkTarget]
      : [topology.linkTarget, topology.linkSource];
  for (let edge = tree * 8; edge < tree * 8 + 8; edge++) {
    const links = [...forest.links.slice(forest.linkOffset[edge], forest.linkOffset[edge + 1])];
    const latency = links.reduce((sum, link) => sum + topology.linkLatencyPs[link], 0);
    at.set(far[links.at(-1) as number], (at.get(near[links[0]]) as number) + serial + latency);
  }
  return Math.max(...at.values());
}
