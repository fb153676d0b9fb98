import * as fc from "fast-check";
import { expect, it } from "vitest";
import { CancelledError, InternalError } from "../../src/base/errors.ts";
import type { Kernels, PartitionProblem } from "../../src/engine/contract/kernels.ts";
import { shareColumns } from "../../src/engine/pool/pool.ts";
import { presetTopology } from "../../src/model/presets/preset.ts";
import {
  leastBorder,
  narrowestByOracle,
  partitionOf,
  partitionOfTopology,
  partitionProblems,
  ratioOf,
} from "../support/partition-problems.ts";
import { bothWays } from "../support/rate-problems.ts";
import { runs } from "../support/runs.ts";

/** What every backend's partition kernel must do. */
export function partitionContract(kernels: Kernels): void {
  it.each([
    ["a mesh into its NPUs", "mesh:3x3", 9],
    ["pairs of fast neighbours into pairs", "mi250:1", 8],
    ["boxes into boxes", "dgx-a100:4", 4],
    ["what stands under a leaf switch", "fat-tree:4x2,leaf=2,tiers=2,oversub=4@450,50GB/s", 2],
  ])("parts %s", (_, preset, parts) => {
    const problem = partitionOfTopology(presetTopology(preset));
    const part = kernels.partition(problem);
    expect(Math.max(...part) + 1).toBe(parts);
    const size = problem.start.length / parts;
    expect([...part]).toEqual(Array.from(part, (_own, npu) => Math.floor(npu / size)));
  });

  it("parts nothing where there is one terminal, and everything where nothing is linked", () => {
    expect(kernels.partition(partitionOf(1, 2, bothWays([[0, 1, 3]])))).toEqual(Int32Array.of(0));
    expect(kernels.partition(partitionOf(3, 0, []))).toEqual(Int32Array.of(0, 1, 2));
  });

  it("takes a switch along with several parts, but none that is outside", () => {
    // from A over s to B and C, and from A to B: with s the part A has 2 leave it, without s 11
    const links = [
      [0, 3, 10],
      [3, 1, 1],
      [3, 2, 1],
      [1, 0, 9],
      [2, 0, 9],
    ] as const;
    const free = partitionOf(3, 1, links);
    const bound = partitionOf(3, 0, links, { outside: 1 });
    // {A}, {B, C}: 2 + 18; A, B, C: (2 + 9 + 9) / 2; without s {A, B}, {C}: 11 + 9 and A, B, C: (10 + 18) / 2
    expect(ratioOf(leastBorder(free), kernels.partition(free))).toEqual({ border: 20n, others: 2n });
    expect(ratioOf(leastBorder(bound), kernels.partition(bound))).toEqual({ border: 28n, others: 2n });
  });

  it("stays exact beyond 64 bits", () => {
    const most = Number.MAX_SAFE_INTEGER;
    const ring = bothWays([0, 1, 2, 3, 4].map((v) => [v, (v + 1) % 5, most - (v === 2 ? 1 : 0)] as const));
    const many = partitionOf(5, 0, Array.from({ length: 40 }, () => ring).flat());
    const { border, others } = narrowestByOracle(many) as { border: bigint; others: bigint };
    const found = ratioOf(leastBorder(many), kernels.partition(many));
    expect(found.border * others).toBe(border * found.others);
  });

  it("finds the least ratio of all partitions and sets of switches on random networks", () => {
    fc.assert(
      fc.property(partitionProblems, (problem) => {
        const part = kernels.partition(problem);
        const found = ratioOf(leastBorder(problem), part);
        const best = narrowestByOracle(problem);
        if (best === null) expect(found.others).toBe(0n);
        else expect(found.border * best.others).toBe(best.border * found.others);
        let next = 0;
        for (const own of part) {
          expect(own).toBeLessThanOrEqual(next);
          next = Math.max(next, own + 1);
        }
      }),
      { numRuns: runs(400) },
    );
  });

  it("leaves a partition problem as it was, reads it in shared memory, stops when the cancel flag is set", () => {
    const problem = partitionOfTopology(presetTopology("dgx-a100:3"));
    const copy = structuredClone(problem);
    expect(kernels.partition(shareColumns(problem))).toEqual(kernels.partition(problem));
    expect(problem).toEqual(copy);
    expect(() => kernels.partition(problem, Int32Array.of(1))).toThrow(CancelledError);
  });

  const good = partitionOfTopology(presetTopology("mesh:2x2"));
  const links = good.capacity.length;
  it.each<[string, Partial<PartitionProblem>]>([
    ["no terminals", { start: new Int32Array() }],
    ["more terminals than nodes", { nodeCount: 3 }],
    ["a fractional count", { nodeCount: 4.5 }],
    ["terminals outside", { outsideCount: 1 }],
    ["more switches than its links have ends", { nodeCount: 4 + 2 * links + 1 }],
    ["fewer than no nodes outside", { outsideCount: -1 }],
    ["a link from node 4 of 4", { linkSource: new Int32Array(links).fill(4) }],
    ["a link to node -1", { linkTarget: new Int32Array(links).fill(-1) }],
    ["a link to itself", { linkTarget: good.linkSource }],
    ["a capacity of 0", { capacity: new Float64Array(links) }],
    ["a fractional capacity", { capacity: new Float64Array(links).fill(1.5) }],
    ["a NaN capacity", { capacity: new Float64Array(links).fill(Number.NaN) }],
    ["a capacity beyond exact integers", { capacity: new Float64Array(links).fill(2 ** 53) }],
    ["too few capacities", { capacity: new Float64Array(links - 1).fill(1) }],
    ["part 4 of 4 terminals", { start: Int32Array.of(0, 1, 2, 4) }],
    ["part -1", { start: Int32Array.of(0, 1, 2, -1) }],
  ])("refuses a partition problem with %s", (_, part) => {
    expect(() => kernels.partition({ ...good, ...part })).toThrow(InternalError);
  });
}
