import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { InputError } from "../../../src/base/errors.ts";
import { random } from "../../../src/base/random.ts";
import { demandBalance, trimToEulerian, unbalancedNode } from "../../../src/model/graph/eulerian.ts";
import { presetTopology } from "../../../src/model/presets/preset.ts";
import { degrade, without } from "../../../src/model/topology/modify.ts";
import type { Topology } from "../../../src/model/topology/topology.ts";
import { topologyBuilder } from "../../../src/model/topology/topology-builder.ts";
import { outOfRange, unexpected } from "../../support/refusals.ts";
import { runs } from "../../support/runs.ts";

type Row = readonly [number, number, number];

/** Returns a network of NPUs, then switches, and links from, to, bytes per second. */
function networkOf(npus: number, switches: number, rows: readonly Row[]): Topology {
  const builder = topologyBuilder("drawn");
  builder.addNumberedNpus(npus);
  for (let i = 0; i < switches; i++) builder.addSwitch(`sw${i}`);
  for (const [from, to, bandwidth] of rows) builder.addLink(from, to, bandwidth, 0);
  return builder.build();
}

function drawnNetwork(seed: number, nodes: number, links: number, most: number): Topology {
  const draws = random(seed, 91);
  return networkOf(
    nodes,
    0,
    Array.from({ length: links }, () => {
      const from = draws.below(nodes);
      return [from, (from + 1 + draws.below(nodes - 1)) % nodes, 1 + draws.below(most)] as const;
    }),
  );
}

const balanceOf = ({ linkSource, linkTarget, nodeNames }: Topology, bandwidth: ArrayLike<number>): number[] => {
  const balance = nodeNames.map(() => 0);
  for (let e = 0; e < linkSource.length; e++) {
    balance[linkSource[e]] -= bandwidth[e];
    balance[linkTarget[e]] += bandwidth[e];
  }
  return balance;
};

const total = (column: ArrayLike<number>): number => Array.from(column).reduce((a, b) => a + b, 0);

/** Returns the greatest sum of capacities, each up to its link's, that leave every node balanced, by trying all. */
function greatestByTrial(topology: Topology): number {
  const { linkBytesPerSecond } = topology;
  const kept = linkBytesPerSecond.map(() => 0);
  let best = 0;
  for (;;) {
    if (balanceOf(topology, kept).every((surplus) => surplus === 0)) best = Math.max(best, total(kept));
    let e = 0;
    while (e < kept.length && kept[e] === linkBytesPerSecond[e]) kept[e++] = 0;
    if (e === kept.length) return best;
    kept[e]++;
  }
}

describe("unbalancedNode", () => {
  it.each(["dgx-a100:2", "mi250:2", "mesh:4x5", "fat-tree:8x8,leaf=2,tiers=2,oversub=2"])(
    "finds none in %s",
    (name) => {
      expect(unbalancedNode(presetTopology(name))).toBeNull();
    },
  );

  it("names the first node with its exact sums, and of a group's network only those that forward", () => {
    const topology = networkOf(3, 1, [
      [0, 1, 5],
      [1, 0, 4],
      [2, 3, 2 ** 53 - 1],
      [2, 3, 2 ** 53 - 1],
      [3, 2, 2 ** 53 - 1],
      [3, 2, 2 ** 53 - 2],
    ]);
    expect(unbalancedNode(topology)).toEqual({ node: 0, bytesPerSecondIn: 4n, bytesPerSecondOut: 5n });
    const most = BigInt(2 ** 53 - 1);
    expect(unbalancedNode(topology, [0, 1])?.node).toBe(2);
    expect(unbalancedNode(topology, Int32Array.of(0, 1, 2))).toEqual({
      node: 3,
      bytesPerSecondIn: 2n * most,
      bytesPerSecondOut: 2n * most - 1n,
    });
  });
});

describe("demandBalance", () => {
  it("refuses a network with the node's name and both sums", () => {
    const broken = without(presetTopology("ring:4"), ["0>1"]);
    expect(() => demandBalance(broken)).toThrow(InputError);
    expect(() => demandBalance(broken)).toThrow(
      unexpected("node 0 of ring:4 without 0>1", "100 GB/s in, 50 GB/s out", "--eulerian"),
    );
    expect(() => demandBalance(broken, [0, 1, 2, 3])).not.toThrow();
  });

  it("tells sums apart that differ by a byte", () => {
    const topology = networkOf(2, 0, [
      [0, 1, 25_000_000_001],
      [1, 0, 25_000_000_000],
    ]);
    expect(() => demandBalance(topology)).toThrow(
      unexpected("node 0 of drawn", "25000000000 B/s in, 25000000001 B/s out", "--eulerian"),
    );
  });
});

describe("trimToEulerian", () => {
  it("leaves a balanced network as it is", () => {
    const topology = presetTopology("mi250:1");
    const { usable, statement } = trimToEulerian(topology);
    expect(usable).toEqual(topology.linkBytesPerSecond);
    expect(statement).toBe("every node has as much bandwidth in as out");
  });

  it("says what it takes away", () => {
    const topology = degrade(presetTopology("ring:4"), [["0>1", 0.5]]);
    const { statement } = trimToEulerian(topology);
    expect(statement).toBe(
      "25 GB/s of 375 GB/s taken from 1 of 8 links, so that every node has as much in as out: 1>0 50 GB/s to 25 GB/s",
    );
  });

  it("keeps the greatest sum of all balanced parts (300 small networks, every part tried)", () => {
    for (let seed = 0; seed < 300; seed++) {
      const topology = drawnNetwork(seed, 2 + (seed % 4), 2 + (seed % 6), 1 + (seed % 3));
      const { usable } = trimToEulerian(topology);
      expect(balanceOf(topology, usable).every((surplus) => surplus === 0)).toBe(true);
      expect(usable.every((kept, e) => kept >= 0 && kept <= topology.linkBytesPerSecond[e])).toBe(true);
      expect(total(usable)).toBe(greatestByTrial(topology));
    }
  });

  it("does not depend on the unit of bandwidth", () => {
    fc.assert(
      fc.property(fc.nat({ max: 1e6 }), fc.integer({ min: 1, max: 1e9 }), (seed, unit) => {
        const topology = drawnNetwork(seed, 8, 30, 100);
        const scaled = { ...topology, linkBytesPerSecond: topology.linkBytesPerSecond.map((b) => b * unit) };
        expect(trimToEulerian(scaled).usable).toEqual(trimToEulerian(topology).usable.map((b) => b * unit));
      }),
      { numRuns: runs(30) },
    );
  });

  it("trims 10,000 links of 500 nodes in seconds", () => {
    const topology = drawnNetwork(7, 500, 10_000, 1e9);
    const { usable } = trimToEulerian(topology);
    expect(balanceOf(topology, usable).every((surplus) => surplus === 0)).toBe(true);
    expect(total(usable)).toBeGreaterThan(0.8 * total(topology.linkBytesPerSecond));
  });

  it("refuses bandwidths whose sum is no exact number", () => {
    const most = 2 ** 53 - 1;
    const topology = networkOf(2, 0, [
      [0, 1, most],
      [0, 1, most - 1],
      [1, 0, 3],
    ]);
    expect(() => trimToEulerian(topology)).toThrow(outOfRange("the bandwidths of drawn", 18014398509481984));
  });
});
