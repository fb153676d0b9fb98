import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { random } from "../../../src/base/random.ts";
import { jsKernels } from "../../../src/engine/kernels/js/kernels.ts";
import { rational } from "../../../src/model/numbers/rational.ts";
import { presetTopology } from "../../../src/model/presets/preset.ts";
import type { Topology } from "../../../src/model/topology/topology.ts";
import { topologyBuilder } from "../../../src/model/topology/topology-builder.ts";
import type { TreeFlow } from "../../../src/model/trees/tree-flow.ts";
import { heightsOf } from "../../../src/model/trees/tree-times.ts";
import {
  type BinaryTree,
  binaryTreePair,
  cCube,
  cubeLinks,
  hybridCubeMesh,
} from "../../../src/synthesize/trees/c-cube.ts";
import { throughputOf } from "../../../src/verify/trees/certificate.ts";
import { verifyTreeFlow } from "../../../src/verify/trees/tree-flow.ts";
import { shuffle } from "../../support/draws.ts";
import { unexpected } from "../../support/refusals.ts";
import { runs } from "../../support/runs.ts";
import { treeContext, treeRequest, type Wish } from "../../support/tree-requests.ts";

const context = treeContext(jsKernels);
const make = (network: Topology | string, wish?: Wish) => cCube.make(treeRequest(network, "allreduce", wish), context);

/** Returns how many links trees take between two nodes, [n][n], and of each node. */
function taken(trees: readonly BinaryTree[], nodes: number) {
  const links = Array.from({ length: nodes }, () => new Array<number>(nodes).fill(0));
  const ports = new Array<number>(nodes).fill(0);
  for (const { parent } of trees) {
    parent.forEach((to, from) => {
      if (to < 0) return;
      links[from][to]++;
      links[to][from]++;
      ports[from]++;
      ports[to]++;
    });
  }
  return { links, ports };
}

/** Returns the depth of each node, walking up from it; NaN where that leads nowhere. */
const depths = ({ parent }: BinaryTree): number[] =>
  parent.map((_, v) => {
    let depth = 0;
    for (let u = v; parent[u] >= 0; u = parent[u]) if (++depth > parent.length) return Number.NaN;
    return depth;
  });

/** A DGX-1 whose GPUs have other numbers, double links as two where `apart`. */
function renumbered(seed: number, apart: boolean): Topology {
  const npuAt = Int32Array.from({ length: 8 }, (_, i) => i);
  shuffle(npuAt, random(seed));
  const builder = topologyBuilder("a DGX-1 of other numbers");
  for (let v = 0; v < 8; v++) builder.addNpu(`${v}`);
  const nic = builder.addSwitch("nic");
  cubeLinks().forEach((row, a) => {
    row.forEach((count, b) => {
      if (a > b) return;
      for (let i = 0; i < (apart ? count : Math.min(count, 1)); i++) {
        builder.addDuplex(npuAt[a], npuAt[b], apart ? 25e9 : 25e9 * count, 700_000);
      }
    });
  });
  for (let v = 0; v < 8; v++) builder.addDuplex(v, nic, 12e9, 1_000_000);
  return builder.build();
}

describe("two binary trees", () => {
  it("span a DGX-1 in 3 hops, take no link twice and 4 of each GPU at most", () => {
    const trees = binaryTreePair(cubeLinks(), 4) as [BinaryTree, BinaryTree];
    const { links, ports } = taken(trees, 8);
    for (const tree of trees) {
      expect(Math.max(...depths(tree))).toBe(3);
      for (let v = 0; v < 8; v++) expect(tree.parent.filter((p) => p === v).length).toBeLessThanOrEqual(2);
    }
    links.forEach((row, a) => {
      row.forEach((count, b) => {
        expect(count).toBeLessThanOrEqual(cubeLinks()[a][b]);
      });
    });
    expect(Math.max(...ports)).toBeLessThanOrEqual(4);
  });

  it("exist as brute force says, on small networks of all kinds", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 2, max: 4 }),
        fc.array(fc.integer({ min: 0, max: 2 }), { minLength: 6, maxLength: 6 }),
        fc.integer({ min: 1, max: 4 }),
        (nodes, counts, ports) => {
          const links = Array.from({ length: nodes }, () => new Array<number>(nodes).fill(0));
          let i = 0;
          for (let a = 0; a < nodes; a++) for (let b = 0; b < a; b++) links[a][b] = links[b][a] = counts[i++];
          const found = binaryTreePair(links, ports);
          const least = leastHeight(links, ports);
          expect(found === null ? null : Math.max(...found.flatMap(depths))).toBe(least);
          if (found === null) return;
          const used = taken(found, nodes);
          expect(Math.max(...used.ports)).toBeLessThanOrEqual(ports);
          for (let a = 0; a < nodes; a++)
            for (let b = 0; b < nodes; b++) expect(used.links[a][b]).toBeLessThanOrEqual(links[a][b]);
        },
      ),
      { numRuns: runs(300) },
    );
  });
});

/** Returns the least height of two trees that keep the rules, by trying all pairs of parent columns; null without one. */
function leastHeight(links: readonly (readonly number[])[], ports: number): number | null {
  const nodes = links.length;
  const trees: BinaryTree[] = [];
  for (let code = 0; code < (nodes + 1) ** nodes; code++) {
    const parent = Array.from({ length: nodes }, (_, v) => (Math.floor(code / (nodes + 1) ** v) % (nodes + 1)) - 1);
    if (parent.filter((p) => p < 0).length !== 1 || parent.some((p, v) => p === v)) continue;
    const tree = { order: [], parent };
    if (depths(tree).some(Number.isNaN)) continue;
    if (parent.every((_, v) => parent.filter((p) => p === v).length <= 2)) trees.push(tree);
  }
  let least: number | null = null;
  for (const first of trees) {
    for (const second of trees) {
      const used = taken([first, second], nodes);
      if (used.ports.some((count) => count > ports)) continue;
      if (used.links.some((row, a) => row.some((count, b) => count > links[a][b]))) continue;
      const height = Math.max(...depths(first), ...depths(second));
      if (least === null || height < least) least = height;
    }
  }
  return least;
}

/** Returns the bandwidth that trees hold of the links that leave and enter each NPU, in GB/s. */
function heldGBps({ forests, topology }: TreeFlow): number[] {
  const held = new Array<number>(topology.npuCount).fill(0);
  for (const { links, copyBytesPerSecond } of forests) {
    for (const link of links) held[topology.linkSource[link]] += Number(copyBytesPerSecond.num) / 1e9;
  }
  return held;
}

describe("c-cube", () => {
  it("carries 50 GB/s over the 25 GB/s links of a DGX-1, at most 100 GB/s out of a GPU of its 150", async () => {
    const { flow } = await make("dgx1");
    expect(verifyTreeFlow(flow).violations).toEqual([]);
    expect(throughputOf(flow)).toEqual(rational(50e9));
    expect(flow.concurrent).toBe(true);
    expect(heightsOf(flow).greatest).toBe(3);
    expect(Math.max(...heldGBps(flow))).toBeLessThanOrEqual(100);
  });

  it("knows a DGX-1 by its links, whatever the numbers of its GPUs, and lays its trees over it", async () => {
    for (let seed = 0; seed < 20; seed++) {
      const topology = renumbered(seed, seed % 2 === 0);
      const { flow } = await make(topology);
      expect(verifyTreeFlow(flow).violations).toEqual([]);
      expect(throughputOf(flow)).toEqual(rational(50e9));
      const links = [...flow.forests[0].links, ...flow.forests[1].links];
      if (seed % 2 === 0) expect(new Set(links).size).toBe(28);
    }
  });

  it("takes one box of several, in any order of its GPUs", async () => {
    const { flow } = await make("ndv2:2", { members: [15, 9, 10, 14, 8, 11, 13, 12] });
    expect(verifyTreeFlow(flow).violations).toEqual([]);
    expect(throughputOf(flow)).toEqual(rational(50e9));
  });

  it.each(["ring:8", "hypercube:3", "fc:8", "dgx-a100:1", "ndv2:2", "dgx1 without a link"])(
    "refuses %s",
    async (name) => {
      const whole = presetTopology(name === "dgx1 without a link" ? "dgx1" : name);
      const cut = <T extends Int32Array | Float64Array>(column: T): T => column.slice(1) as T;
      const topology = name.startsWith("dgx1")
        ? {
            ...whole,
            linkSource: cut(whole.linkSource),
            linkTarget: cut(whole.linkTarget),
            linkBytesPerSecond: cut(whole.linkBytesPerSecond),
            linkLatencyPs: cut(whole.linkLatencyPs),
          }
        : whole;
      const { collective } = treeRequest(topology, "allreduce");
      expect(cCube.refuses?.(topology, collective)).not.toBeNull();
      await expect(make(topology)).rejects.toThrow(unexpected("the topology", topology.name, 8));
    },
  );

  it("refuses what it cannot do with a box", async () => {
    await expect(make("dgx1", { copiesPerRoot: 2 })).rejects.toThrow(unexpected("k", 2));
    const { flow } = await make("dgx1");
    await expect(make("dgx1", { repair: flow })).rejects.toThrow(unexpected("repair", "a schedule"));
    const usable = presetTopology("dgx1").linkBytesPerSecond.map((b) => b / 2);
    expect(throughputOf((await make("dgx1", { usable })).flow)).toEqual(rational(25e9));
    const narrowed = usable.map((b, link) => (link === 0 ? b - 1 : b));
    await expect(make("dgx1", { usable: narrowed })).rejects.toThrow(unexpected("the topology", "dgx1", 8));
    expect(hybridCubeMesh(presetTopology("dgx1"), Int32Array.of(0, 1, 2), usable)).toBeNull();
  });
});
