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

  it("is the fewest of those that do as well, of at least a byte each, and at most 16,384", () => {
    const flow = ringFlow(4, 1e9, 0, 8000);
    expect(bestPieces(flow, 8000, () => 5)).toBe(1);
    expect(bestPieces(flow, 8000, (pieces) => 1 / pieces)).toBe(1000);
    expect(bestPieces(flow, 1 << 30, (pieces) => 1e7 - pieces)).toBe(1);
    expect(bestPieces(flow, 1 << 30, (pieces) => 1e10 - 1e5 * pieces)).toBe(16_384);
    expect(bestPieces(flow, 3, (pieces) => 9 / pieces)).toBe(1);
  });

  it("gives nothing away where even the fewest that do as well are many", () => {
    const flow = ringFlow(4, 1e9, 0, 8000);
    // filling the pipeline takes the less and sending the more, the more pieces there are: 2^13 take the least time
    const timed = (fill: number) => (pieces: number) => 1e9 + fill / pieces + pieces * (fill / 2 ** 26);
    expect(bestPieces(flow, 1 << 30, timed(1e11))).toBeLessThan(4096);
    expect(bestPieces(flow, 1 << 30, timed(6e11))).toBeGreaterThan(7700);
    expect(bestPieces(flow, 1 << 30, timed(6e11))).toBeLessThan(8700);
  });
});
