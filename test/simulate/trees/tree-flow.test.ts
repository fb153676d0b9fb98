import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { random } from "../../../src/base/random.ts";
import type { NamedCollective } from "../../../src/model/collective/collective.ts";
import { rational } from "../../../src/model/numbers/rational.ts";
import { presetTopology } from "../../../src/model/presets/preset.ts";
import { expandTrees } from "../../../src/model/trees/tree-expansion.ts";
import type { TreeFlow } from "../../../src/model/trees/tree-flow.ts";
import { stepsOfTrees } from "../../../src/model/trees/tree-steps.ts";
import { simulateSchedule } from "../../../src/simulate/steps/replay.ts";
import { simulateTreeFlow, treeFlowClock } from "../../../src/simulate/trees/tree-flow.ts";
import { verifyTreeFlow } from "../../../src/verify/trees/tree-flow.ts";
import { verify } from "../../../src/verify/verify.ts";
import { runs } from "../../support/runs.ts";
import { simpleTopology } from "../../support/simple-schedules.ts";
import {
  greatestRate,
  grownFlow,
  idealPs,
  ringFlow,
  rotatedRingFlow,
  starFlow,
  torusTranslations,
  translatedFlow,
} from "../../support/tree-flows.ts";

const KINDS = ["allgather", "reducescatter", "allreduce", "broadcast", "reduce"] as const;

/** What the replay of the steps and the closed form say. */
function bothTimes(flow: TreeFlow, pieces: number): { replay: number; closed: number } {
  const steps = stepsOfTrees(flow, pieces);
  expect(verify(steps).violations).toEqual([]);
  return { replay: simulateSchedule(steps).ps, closed: simulateTreeFlow(flow, pieces).ps };
}

describe("trees by hand", () => {
  it("a ring of 4 at 1 GB/s takes (pieces + 2) chunks and 3 latencies", () => {
    for (const direction of ["out", "in"] as const) {
      const flow = ringFlow(4, 1e9, 500, 8000, direction);
      // 1,000 bytes a tree; each link carries 3 trees: 1/3 GB/s each
      expect(simulateTreeFlow(flow, 1).ps).toBe(3 * 3_000_000 + 3 * 500);
      expect(simulateTreeFlow(flow, 10).ps).toBe(12 * 300_000 + 3 * 500);
      expect(bothTimes(flow, 10)).toEqual({ replay: 3_601_500, closed: 3_601_500 });
    }
  });

  it("a star through a switch takes all bytes at the port and 2 latencies", () => {
    const flow = starFlow(5, 2e9, 700, 5000);
    expect(bothTimes(flow, 1)).toEqual({ replay: 2_001_400, closed: 2_001_400 });
    expect(simulateTreeFlow(flow, 1).linkBusyPs[0]).toBe(2_000_000);
  });

  it("one NPU alone takes no time", () => {
    const topology = presetTopology("ring:4");
    const flow = grownFlow(topology, { kind: "allreduce", members: [2], sizeBytes: 100, copies: 3 }, random(1));
    expect(bothTimes(flow, 2)).toEqual({ replay: 0, closed: 0 });
  });
});

const shapes = fc.record({
  seed: fc.nat({ max: 2 ** 31 }),
  kind: fc.constantFrom<(typeof KINDS)[number]>(...KINDS),
  copies: fc.integer({ min: 1, max: 5 }),
  pieces: fc.integer({ min: 1, max: 7 }),
  sizeBytes: fc.constantFrom(1, 1000, 12345, 10 ** 6),
  concurrent: fc.boolean(),
  uneven: fc.boolean(),
});

function anyFlow({
  seed,
  kind,
  copies,
  sizeBytes,
  concurrent,
  uneven,
}: {
  seed: number;
  kind: NamedCollective;
  copies: number;
  sizeBytes: number;
  concurrent: boolean;
  uneven: boolean;
}): TreeFlow {
  const draws = random(seed, 3);
  const topology = simpleTopology(draws);
  const members = Array.from({ length: topology.npuCount }, (_, npu) => npu).filter(
    (npu) => npu === 0 || draws.below(4) > 0,
  );
  if (draws.below(2) === 0) members.reverse();
  const reduces = kind === "allreduce";
  return grownFlow(
    topology,
    {
      kind,
      copies,
      sizeBytes,
      members,
      rootRank: kind === "broadcast" || kind === "reduce" ? draws.below(members.length) : 0,
      concurrent: reduces && concurrent,
      uneven: reduces && uneven,
    },
    draws,
  );
}

describe("laws of tree flows", () => {
  it("the replay of the steps reaches the closed form exactly, an all-reduce in phases at most that", () => {
    fc.assert(
      fc.property(shapes, (shape) => {
        const flow = anyFlow(shape);
        const { replay, closed } = bothTimes(flow, shape.pieces);
        if (flow.collective.kind === "allreduce" && !flow.concurrent) expect(replay).toBeLessThanOrEqual(closed);
        else expect(replay).toBe(closed);
      }),
      { seed: 11, numRuns: runs(400) },
    );
  });
});

describe("an all-reduce side by side", () => {
  it("is replayed in the closed form's time, whichever copies in-trees hand to out-trees", () => {
    fc.assert(
      fc.property(shapes, fc.integer({ min: 2, max: 12 }), (shape, copies) => {
        const flow = anyFlow({ ...shape, kind: "allreduce", concurrent: true, copies });
        const { replay, closed } = bothTimes(flow, shape.pieces);
        expect(replay).toBe(closed);
      }),
      { seed: 14, numRuns: runs(200) },
    );
  });
});

describe("laws of the closed form", () => {
  const seeds = fc.record({
    seed: fc.nat({ max: 2 ** 31 }),
    kind: fc.constantFrom(...KINDS),
    concurrent: fc.boolean(),
  });
  const drawn = ({ seed, kind, concurrent }: { seed: number; kind: (typeof KINDS)[number]; concurrent: boolean }) =>
    anyFlow({ seed, kind, concurrent, copies: 3, sizeBytes: 1 << 20, uneven: false });

  it("no number of pieces beats the throughput, and many pieces come near it", () => {
    fc.assert(
      fc.property(seeds, fc.integer({ min: 1, max: 5000 }), (draw, pieces) => {
        const flow = drawn(draw);
        const clock = treeFlowClock(flow);
        if (flow.collective.groupSize < 2) return;
        const bytesOnly = idealPs(flow);
        expect(clock(pieces)).toBeGreaterThanOrEqual(Math.floor(bytesOnly));
        const vast = 2 ** 40;
        expect(clock(4096, vast)).toBeLessThan((bytesOnly * vast * 1.01) / flow.collective.sizeBytes);
      }),
      { seed: 12, numRuns: runs(200) },
    );
  });

  it("twice the size takes twice as long but for latencies, which come once, and rounding", () => {
    fc.assert(
      fc.property(seeds, fc.integer({ min: 1, max: 100 }), (draw, pieces) => {
        const flow = drawn(draw);
        const clock = treeFlowClock(flow);
        const [once, twice, fourTimes] = [1, 2, 4].map((times) => clock(pieces, times * (1 << 28)));
        const chunks = 2 * 3 * pieces + 20;
        expect(Math.abs(fourTimes - twice - 2 * (twice - once))).toBeLessThanOrEqual(12e6 + 10 * chunks);
        expect(once).toBeLessThanOrEqual(twice);
      }),
      { seed: 13, numRuns: runs(200) },
    );
  });
});

describe("tree flows with symmetry", () => {
  const KINDS_OF_ALL = ["allgather", "reducescatter", "allreduce"] as const;
  const torus = presetTopology("torus:3x4@10,7GB/s,1us");
  const translations = torusTranslations([3, 4]);

  function sameWrittenOut(flow: TreeFlow, pieces: number): void {
    const whole = expandTrees(flow);
    expect(verifyTreeFlow(flow).violations).toEqual([]);
    expect(verifyTreeFlow(whole).violations).toEqual([]);
    const [listed, expanded] = [simulateTreeFlow(flow, pieces), simulateTreeFlow(whole, pieces)];
    expect(listed.ps).toBe(expanded.ps);
    listed.linkBusyPs.forEach((busy, link) => {
      expect(busy).toBeCloseTo(expanded.linkBusyPs[link], 3);
    });
    const { replay, closed } = bothTimes(flow, pieces);
    if (flow.collective.kind === "allreduce" && !flow.concurrent) expect(replay).toBeLessThanOrEqual(closed);
    else expect(replay).toBe(closed);
  }

  it("take as long as written out, whose replay takes", () => {
    for (let seed = 0; seed < 24; seed++) {
      const kind = KINDS_OF_ALL[seed % 3];
      const concurrent = kind === "allreduce" && seed % 2 === 0;
      const shape = { kind, sizeBytes: 10_000, copies: 1 + (seed % 4), concurrent };
      sameWrittenOut(translatedFlow(torus, translations, shape, seed), 1 + (seed % 3));
    }
  });

  it("may have several images of a tree at one root", () => {
    const ring = presetTopology("ring:4@1GB/s,1us");
    const mirror = { sizes: [2], steps: [Int32Array.of(0, 3, 2, 1)] };
    for (let seed = 0; seed < 60; seed++) {
      const { forests, ...rest } = grownFlow(
        ring,
        { kind: "allreduce", sizeBytes: 10 ** (3 + (seed % 5)), copies: 2 + (seed % 4), concurrent: seed % 4 > 0 },
        random(seed, 9),
      );
      // roots 0 and 2 stay where they are: their copies double, as do those of 1 and 3 by each other's images
      const half = forests.map((forest) => ({ ...forest, copyBytesPerSecond: rational(1) }));
      const listed = { ...rest, forests: half, symmetry: mirror };
      const whole = expandTrees(listed).forests;
      const together = greatestRate(ring, whole);
      const fitting = half.map((forest, f) => ({
        ...forest,
        copyBytesPerSecond: rest.concurrent ? together : greatestRate(ring, [whole[f]]),
      }));
      sameWrittenOut({ ...listed, forests: fitting }, 2);
    }
  });

  it("a ring by its rotations is the ring", () => {
    const [turned, whole] = [rotatedRingFlow(6, 3e9, 250, 6006), ringFlow(6, 3e9, 250, 6006)];
    expect(simulateTreeFlow(turned, 5)).toEqual(simulateTreeFlow(whole, 5));
  });
});
