import { expect } from "vitest";
import { jsKernels } from "../../src/engine/kernels/js/kernels.ts";
import { type Rational, rational } from "../../src/model/numbers/rational.ts";
import { networkSymmetry } from "../../src/model/symmetry/network-symmetry.ts";
import type { Topology } from "../../src/model/topology/topology.ts";
import type { NetworkSymmetry } from "../../src/model/trees/tree-flow.ts";
import type { SymmetricForest } from "../../src/synthesize/forestcoll/grow.ts";
import { rateOfTopology } from "./rate-problems.ts";
import { elementsOf } from "./symmetry-oracle.ts";

/** The smallest k at which trees of the optimal rate 1/x* take whole copies of every link, and U = k/x*. */
export function optimumOf(topology: Topology): { readonly k: number; readonly U: Rational } {
  const { shards, capacity } = jsKernels.rate(rateOfTopology(topology));
  const { num, den } = rational(shards, capacity);
  let divisor = den;
  for (const bandwidth of topology.linkBytesPerSecond) {
    let b = BigInt(bandwidth);
    while (b !== 0n) [divisor, b] = [b, divisor % b];
  }
  return { k: Number(den / divisor), U: rational(num, divisor) };
}

export function symmetryOf(topology: Topology): NetworkSymmetry {
  const symmetry = networkSymmetry(topology);
  if (symmetry === null) throw new Error(`no symmetry of ${topology.name}`);
  return symmetry;
}

/** Returns the edges of tree t as lists of links. */
const edgesOf = ({ trees }: SymmetricForest, t: number, npuCount: number): number[][] =>
  Array.from({ length: npuCount - 1 }, (_, i) => {
    const e = t * (npuCount - 1) + i;
    return [...trees.links.subarray(trees.linkOffset[e], trees.linkOffset[e + 1])];
  });

/**
 * Checks from the definition that a forest of root 0 and all its images are k trees for every root within floor(U * bandwidth)
 * copies: links between two nodes of equal bandwidth and latency are looked at together. O(order * links of all edges).
 */
export function expectForest(
  topology: Topology,
  symmetry: NetworkSymmetry,
  forest: SymmetricForest,
  k: number,
  U: Rational,
): void {
  const { npuCount, linkSource, linkTarget, linkBytesPerSecond, linkLatencyPs } = topology;
  const { root, copies } = forest.trees;
  expect(root.every((npu) => npu === 0)).toBe(true);
  expect(copies.every((count) => Number.isSafeInteger(count) && count >= 1)).toBe(true);
  expect(copies.reduce((sum, count) => sum + count, 0)).toBe(k);
  expect(forest.trees.linkOffset.length).toBe(root.length * (npuCount - 1) + 1);

  const elements = elementsOf(topology, symmetry);
  const place = (from: number, to: number, link: number): string =>
    `${from} ${to} ${linkBytesPerSecond[link]} ${linkLatencyPs[link]}`;
  const load = new Map<string, bigint>();
  let height = 0;
  for (let t = 0; t < root.length; t++) {
    const edges = edgesOf(forest, t, npuCount);
    const depth = new Map([[0, 0]]);
    for (const edge of edges) {
      const [first, last] = [edge[0] as number, edge[edge.length - 1] as number];
      const [from, to] = [linkSource[first] as number, linkTarget[last] as number];
      expect(to).toBeLessThan(npuCount);
      expect(depth.has(to)).toBe(false);
      const before = depth.get(from);
      expect(before).toBeDefined();
      depth.set(to, Number(before) + 1);
      for (let i = 1; i < edge.length; i++) {
        expect(linkSource[edge[i] as number]).toBe(linkTarget[edge[i - 1] as number]);
        expect(linkSource[edge[i] as number]).toBeGreaterThanOrEqual(npuCount);
      }
    }
    expect(depth.size).toBe(npuCount);
    height = Math.max(height, ...depth.values());
    for (const map of elements) {
      for (const link of edges.flat()) {
        const at = place(map[linkSource[link] as number] as number, map[linkTarget[link] as number] as number, link);
        load.set(at, (load.get(at) ?? 0n) + BigInt(copies[t] as number));
      }
    }
  }
  expect(forest.height).toBe(height);

  const room = new Map<string, bigint>();
  for (let link = 0; link < linkSource.length; link++) {
    const at = place(linkSource[link] as number, linkTarget[link] as number, link);
    const copiesThatFit = (U.num * BigInt(linkBytesPerSecond[link] as number)) / U.den;
    room.set(at, (room.get(at) ?? 0n) + copiesThatFit);
  }
  for (const [at, used] of load)
    expect(used <= (room.get(at) ?? -1n), `${used} of ${room.get(at)} on ${at}`).toBe(true);
}
