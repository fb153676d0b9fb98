import * as fc from "fast-check";
import { expect, it } from "vitest";
import { CancelledError, InternalError } from "../../src/base/errors.ts";
import type { Kernels, PackedTrees, PackProblem } from "../../src/engine/contract/kernels.ts";
import { shareColumns } from "../../src/engine/pool/pool.ts";
import {
  brokenPackLaws,
  heightOf,
  isViolated,
  type PackSettings,
  packOf,
  packOfPreset,
  packProblems,
} from "../support/pack-problems.ts";
import { bothWays, type LinkRow } from "../support/rate-problems.ts";
import { runs } from "../support/runs.ts";

const star = (npus: number, capacity: number): LinkRow[] =>
  bothWays(Array.from({ length: npus }, (_, v) => [v, npus, capacity] as const));
const ring = (npus: number, capacity: number): LinkRow[] =>
  bothWays(Array.from({ length: npus }, (_, v) => [v, (v + 1) % npus, capacity] as const));
const ones = (count: number): number[] => Array.from({ length: count }, () => 1);

/** What every backend's pack kernel must do. */
export function packContract(kernels: Kernels): void {
  /** Returns the trees of a problem that can be packed, checked. */
  const packed = (problem: PackProblem): PackedTrees => {
    const outcome = kernels.pack(problem);
    expect(brokenPackLaws(problem, outcome)).toEqual([]);
    if (outcome?.kind !== "packed") throw new Error(`the trees are not packed: ${outcome?.kind}`);
    return outcome.trees;
  };

  it("packs a tree over one link", () => {
    expect(kernels.pack(packOf([2, 0], 0, [[0, 1, 5]]))).toMatchObject({
      kind: "packed",
      trees: {
        root: Int32Array.of(0),
        copies: Float64Array.of(2),
        linkOffset: Float64Array.of(0, 1),
        links: Int32Array.of(0),
      },
    });
  });

  it("uses up all links of a ring and of a star", () => {
    // a ring of 5 with 2 copies each way: 4 edges a tree, 10 links
    const onRing = packed(packOf(ones(5), 0, ring(5, 2)));
    expect(onRing.links.length).toBe(20);
    const onStar = packOf(ones(6), 1, star(6, 5));
    expect(packed(onStar).root.length).toBe(6);
  });

  it("leads paths through nodes that only forward", () => {
    const chain: LinkRow[] = bothWays([
      [0, 2, 1],
      [2, 3, 1],
      [3, 1, 1],
    ]);
    const trees = packed(packOf([1, 1], 2, chain));
    expect(trees.linkOffset).toEqual(Float64Array.of(0, 3, 6));
  });

  it.each([
    ["no copies", packOf([0, 0, 0], 0, ring(3, 1)), 0],
    ["one NPU", packOf([7], 0, []), 1],
    ["one NPU on a switch", packOf([7], 1, star(1, 1)), 1],
    ["one root", packOf([3, 0, 0, 0], 0, ring(4, 3)), 1],
  ])("answers for %s", (_, problem, trees) => {
    expect(packed(problem).root.length).toBe(trees);
  });

  it("names the set that too many copies start in", () => {
    const halves: LinkRow[] = bothWays([
      [0, 1, 9],
      [2, 3, 9],
      [1, 2, 1],
    ]);
    const problem = packOf([1, 1, 0, 0], 0, halves);
    expect(kernels.pack(problem)).toEqual({ kind: "violated", cut: Uint8Array.of(1, 1, 0, 0) });
    expect(kernels.pack(packOf([1, 0], 0, []))).toEqual({ kind: "violated", cut: Uint8Array.of(1, 0) });
    expect(kernels.pack(packOf([2, 0], 0, [[0, 1, 1]]))).toEqual({ kind: "violated", cut: Uint8Array.of(1, 0) });
  });

  it("stays exact up to 2^53 - 1", () => {
    const third = Math.floor(Number.MAX_SAFE_INTEGER / 3);
    const chain: LinkRow[] = [
      [0, 1, third],
      [1, 2, third],
    ];
    expect(packed(packOf([third, 0, 0], 0, chain)).copies).toEqual(Float64Array.of(third));
    const over = [chain[0], [1, 2, third - 1]] as LinkRow[];
    expect(kernels.pack(packOf([third, 0, 0], 0, over))).toMatchObject({ kind: "violated" });
    const half = 2 ** 50;
    const uneven = ring(3, half).map(([s, t, c], i) => [s, t, c - 5 * (i >> 1)] as const);
    packed(packOf([half - 5, half - 10, 0], 0, uneven, { loadPrice: 1000 }));
  });

  it("packs random networks exactly where no set forbids it", () => {
    fc.assert(
      fc.property(packProblems(), (problem) => {
        const outcome = kernels.pack(problem);
        expect(brokenPackLaws(problem, outcome)).toEqual([]);
        expect(outcome?.kind).toBe(isViolated(problem) ? "violated" : "packed");
      }),
      { numRuns: runs(400) },
    );
  });

  it("packs larger random networks whose links must all be used up", () => {
    fc.assert(
      fc.property(packProblems(12), (problem) => {
        expect(brokenPackLaws(problem, kernels.pack(problem))).toEqual([]);
      }),
      { numRuns: runs(60) },
    );
  });

  it.each<[string, number, PackSettings]>([
    ["dgx-a100:2", 20, {}],
    ["dgx-a100:8", 2, {}],
    ["dgx-h100:9", 2, {}],
    ["fat-tree:16x4,leaf=4,tiers=2@450,50GB/s", 2, {}],
    ["dgx-a100:3", 20, { scheduled: true, loadPrice: 1000, depthPrice: 250 }],
    ["mi250:2", 40, {}],
    ["mi250:4", 40, { seed: 7 }],
    ["torus:6x6", 40, {}],
    ["fat-tree:16x4,leaf=4,tiers=3,oversub=2@450,50GB/s", 30, {}],
  ])("packs an optimal all-gather on %s in trees no higher than %i", (preset, height, settings) => {
    const problem = packOfPreset(preset, kernels, settings);
    expect(heightOf(problem, packed(problem))).toBeLessThanOrEqual(height);
  });

  it.each([
    ["mi250:1", 400, 7],
    ["torus:4x4", 300, 6],
  ] as const)("lowers the trees of %s by %i repairs to %i edges or less", (preset, repairs, height) => {
    const problem = packOfPreset(preset, kernels);
    const repaired = { ...problem, repairs };
    const before = heightOf(problem, packed(problem));
    const after = heightOf(problem, packed(repaired));
    expect(after).toBeLessThan(before);
    expect(after).toBeLessThanOrEqual(height);
    expect(kernels.pack({ ...repaired, enoughHeight: before })).toEqual(kernels.pack(problem));
  });

  it("counts sweeps and rollbacks", () => {
    const easy = kernels.pack(packOfPreset("dgx-a100:8", kernels));
    expect(easy).toMatchObject({ kind: "packed", sweeps: 1, rollbacks: 0 });
    const hard = kernels.pack(packOfPreset("torus:6x6", kernels));
    expect(hard?.kind === "packed" && Math.min(hard.sweeps, hard.rollbacks)).toBeGreaterThan(0);
  });

  it("returns null when there is too little room", () => {
    const problem = packOf(ones(6), 1, star(6, 5));
    const { links } = packed(problem);
    expect(packed({ ...problem, maxTrees: 6, maxLinks: links.length }).links).toEqual(links);
    expect(kernels.pack({ ...problem, maxTrees: 5 })).toBeNull();
    expect(kernels.pack({ ...problem, maxLinks: links.length - 1 })).toBeNull();
    expect(kernels.pack({ ...problem, maxTrees: 0, maxLinks: 0 })).toBeNull();
  });

  it("keeps a packing whose repairs do not fit the room", () => {
    const problem = packOfPreset("torus:4x4", kernels);
    const { root, links } = packed(problem);
    packed({ ...problem, repairs: 50, maxTrees: root.length, maxLinks: links.length });
  });

  it("leaves a pack problem as it was, reads it in shared memory, stops when the cancel flag is set", () => {
    const problem = packOfPreset("dgx-a100:3", kernels, { repairs: 3 });
    const copy = structuredClone(problem);
    expect(kernels.pack(shareColumns(problem))).toEqual(kernels.pack(problem));
    expect(problem).toEqual(copy);
    expect(() => kernels.pack(problem, Int32Array.of(1))).toThrow(CancelledError);
  });

  const good = packOf(ones(3), 1, star(3, 5));
  const links = good.capacity.length;
  it.each<[string, Partial<PackProblem>]>([
    ["no NPUs", { npuCount: 0, copies: new Float64Array(0) }],
    ["more NPUs than nodes", { nodeCount: 2 }],
    ["a fractional count", { nodeCount: 4.5 }],
    ["a link from node 4 of 4", { linkSource: new Int32Array(links).fill(4) }],
    ["a link to node -1", { linkTarget: new Int32Array(links).fill(-1) }],
    ["a link to itself", { linkTarget: good.linkSource }],
    ["a negative capacity", { capacity: new Float64Array(links).fill(-1) }],
    ["a fractional capacity", { capacity: new Float64Array(links).fill(1.5) }],
    ["a NaN capacity", { capacity: new Float64Array(links).fill(Number.NaN) }],
    ["capacities beyond exact integers", { capacity: new Float64Array(links).fill(2 ** 51) }],
    ["too few capacities", { capacity: new Float64Array(links - 1) }],
    ["negative copies", { copies: Float64Array.of(1, -1, 1) }],
    ["fractional copies", { copies: Float64Array.of(1, 0.5, 1) }],
    ["too few copies", { copies: Float64Array.of(1, 1) }],
    ["a depth price of 1001", { depthPrice: 1001 }],
    ["a negative load price", { loadPrice: -1 }],
    ["a fractional price", { loadPrice: 0.5 }],
    ["a seed of 2^32", { seed: 2 ** 32 }],
    ["negative repairs", { repairs: -1 }],
    ["a negative height", { enoughHeight: -1 }],
    ["negative room", { maxTrees: -1 }],
    ["room for half a link", { maxLinks: 0.5 }],
  ])("refuses a pack problem with %s", (_, part) => {
    expect(() => kernels.pack({ ...good, ...part })).toThrow(InternalError);
  });
}
