import { describe, expect, it } from "vitest";
import { random } from "../../../src/base/random.ts";
import { presetTopology } from "../../../src/model/presets/preset.ts";
import { bestPieces } from "../../../src/model/trees/tree-times.ts";
import { treeFlowClock } from "../../../src/simulate/trees/tree-flow.ts";
import { grownFlow, idealPs, ringFlow } from "../../support/tree-flows.ts";

describe("bestPieces", () => {
  for (const network of ["dgx-a100:2", "mi250:2", "torus:8x8"]) {
    it(`on ${network}: 1 GiB within 5 % of the throughput, 1 MiB in few pieces`, () => {
      const topology = presetTopology(network);
      for (const kind of ["allgather", "allreduce"] as const) {
        const flow = grownFlow(topology, { kind, sizeBytes: 2 ** 30, copies: 4 }, random(1));
        const clock = treeFlowClock(flow);
        const many = bestPieces(flow, 2 ** 30, clock);
        expect(clock(many)).toBeLessThan(1.05 * idealPs(flow));
        const few = bestPieces(flow, 2 ** 20, clock);
        expect(few).toBeLessThanOrEqual(Math.max(1, many / 8));
      }
    });
  }

  it("is the fewest of those that do as well, of at least a byte each, and at most 4,096", () => {
    const flow = ringFlow(4, 1e9, 0, 8000);
    expect(bestPieces(flow, 8000, () => 5)).toBe(1);
    expect(bestPieces(flow, 8000, (pieces) => 1 / pieces)).toBe(1000);
    expect(bestPieces(flow, 1 << 30, (pieces) => 1e6 - pieces)).toBe(1);
    expect(bestPieces(flow, 1 << 30, (pieces) => 1e9 - 1e5 * pieces)).toBe(4096);
    expect(bestPieces(flow, 3, (pieces) => 9 / pieces)).toBe(1);
  });
});
