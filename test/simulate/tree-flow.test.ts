import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { NamedCollective } from "../../src/model/collective.ts";
import { presetTopology } from "../../src/model/presets/preset.ts";
import { rational } from "../../src/model/rational.ts";
import { expandTrees } from "../../src/model/tree-expansion.ts";
import type { TreeFlow } from "../../src/model/tree-flow.ts";
import { stepsOfTrees } from "../../src/model/tree-steps.ts";
import { random } from "../../src/random.ts";
import { simulateSchedule } from "../../src/simulate/replay.ts";
import { simulateTreeFlow, treeFlowClock } from "../../src/simulate/tree-flow.ts";
import { verify } from "../../src/verify/verify.ts";
import { simpleTopology } from "../support/simple-schedules.ts";
import {
  grownFlow,
  idealPs,
  ringFlow,
  rotatedRingFlow,
  starFlow,
  torusTranslations,
  translatedFlow,
} from "../support/tree-flows.ts";

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
      // 1,000 bytes a tree, at half... each link carries 3 trees of one direction: y = 1/3 GB/s
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

/** Links one way only cannot carry reductions back: those draws are passed over. */
function anyFlowOrNull(shape: Parameters<typeof anyFlow>[0]): TreeFlow | null {
  try {
    return anyFlow(shape);
  } catch {
    return null;
  }
}

describe("laws of tree flows", () => {
  it("the replay of the steps reaches the closed form exactly, an all-reduce in phases at most that", () => {
    let compared = 0;
    fc.assert(
      fc.property(shapes, (shape) => {
        const flow = anyFlowOrNull(shape);
        fc.pre(flow !== null);
        const { replay, closed } = bothTimes(flow as TreeFlow, shape.pieces);
        if (flow?.collective.kind === "allreduce" && !flow.concurrent) expect(replay).toBeLessThanOrEqual(closed);
        else expect(replay).toBe(closed);
        compared++;
      }),
      { seed: 11, numRuns: 400 },
    );
    expect(compared).toBe(400);
  });
});
void [expandTrees, rational, idealPs, rotatedRingFlow, torusTranslations, translatedFlow, treeFlowClock];
