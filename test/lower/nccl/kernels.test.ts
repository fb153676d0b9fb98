import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type RingKind, ringProgram, treeProgram } from "../../../src/lower/nccl/kernels.ts";
import { doubleBinaryTree } from "../../../src/model/graph/double-binary-tree.ts";
import { presetTopology } from "../../../src/model/presets/preset.ts";
import { blockCount, instructionCount } from "../../../src/model/program/program.ts";
import { boxesWithRings, channelRings, channelTrees } from "../../../src/model/routes/rings.ts";
import { simulateProgram } from "../../../src/simulate/program/program.ts";
import { verifyProgram } from "../../../src/verify/program/program.ts";
import { runs } from "../../support/runs.ts";

const KINDS: readonly RingKind[] = ["allreduce", "allgather", "reducescatter", "broadcast", "reduce"];
const PROTOCOLS = ["Simple", "LL", "LL128"] as const;

/** Any order of ranks, by what is drawn for each. */
const orderOf = (draws: readonly number[]): Int32Array =>
  Int32Array.from([...draws.keys()].sort((a, b) => (draws[a] as number) - (draws[b] as number) || a - b));

const oneOrMore = (ranks: number) =>
  fc.array(fc.array(fc.integer({ min: 0, max: 99 }), { minLength: ranks, maxLength: ranks }), {
    minLength: 1,
    maxLength: 4,
  });

describe("ringProgram", () => {
  it("does what the collective is, in and out of place, for any rings", () => {
    const asked = fc
      .integer({ min: 2, max: 7 })
      .chain((ranks) => fc.tuple(oneOrMore(ranks), fc.nat({ max: ranks - 1 })));
    fc.assert(
      fc.property(
        asked,
        fc.constantFrom(...KINDS),
        fc.constantFrom(...PROTOCOLS),
        ([draws, rootRank], collective, protocol) => {
          const program = ringProgram({ collective, rootRank, protocol }, draws.map(orderOf));
          const { violationCount, violations } = verifyProgram(program, { limit: 1 });
          expect(violations).toEqual([]);
          expect(violationCount).toBe(0);
          expect(blockCount(program)).toBe(draws.length * program.rankCount);
        },
      ),
      { numRuns: runs(100) },
    );
  });

  it("takes the steps of NCCL's kernels, and as long as rings do", () => {
    const box = presetTopology("dgx-h100:1");
    const order = Int32Array.from({ length: 8 }, (_, i) => i);
    const orders = Array.from({ length: 24 }, () => order);
    const program = ringProgram({ collective: "allreduce", protocol: "Simple" }, orders);
    expect(instructionCount(program) / 8 / 24).toBe(2 * 8 - 1);
    const sizeBytes = 2 ** 30;
    const { ps } = simulateProgram(program, box, { sizeBytes });
    // 14 of 8 parts over 450 GB/s, and what pipelines take to fill
    const least = (14 / 8) * (sizeBytes / 450e9) * 1e12;
    expect(ps / least).toBeGreaterThan(1);
    expect(ps / least).toBeLessThan(1.05);
  });
});

describe("treeProgram", () => {
  it("is an all-reduce for any trees", () => {
    const tree = fc
      .integer({ min: 2, max: 9 })
      .chain((ranks) => fc.tuple(...Array.from({ length: ranks }, (_, i) => fc.nat({ max: Math.max(0, i - 1) }))));
    fc.assert(
      fc.property(tree, fc.integer({ min: 1, max: 3 }), fc.constantFrom(...PROTOCOLS), (draws, channels, protocol) => {
        // rank 0 is the root, others hang from one before them; NCCL's have at most three children
        const parents = Array.from({ length: channels }, () => Int32Array.from(draws, (up, i) => (i === 0 ? -1 : up)));
        const { violations, violationCount } = verifyProgram(treeProgram(protocol, parents), { limit: 1 });
        expect(violations).toEqual([]);
        expect(violationCount).toBe(0);
      }),
      { numRuns: runs(100) },
    );
  });

  it.each(["dgx-h100:2", "dgx-a100:4", "dgx-h100:3"])("is one with the trees and rings of %s", (preset) => {
    const boxes = boxesWithRings(presetTopology(preset));
    if (boxes === null) throw new Error("no boxes");
    const trees = channelTrees(boxes, doubleBinaryTree(boxes.npus.length));
    expect(verifyProgram(treeProgram("Simple", trees)).violationCount).toBe(0);
    const rings = channelRings(boxes);
    for (const collective of KINDS)
      expect(verifyProgram(ringProgram({ collective, protocol: "LL" }, rings)).violationCount).toBe(0);
  });
});
