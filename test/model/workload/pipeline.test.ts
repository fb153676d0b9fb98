import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type PipelinePass, passesOf } from "../../../src/model/workload/pipeline.ts";

const SHAPES = fc
  .tuple(fc.integer({ min: 1, max: 6 }), fc.integer({ min: 1, max: 4 }), fc.integer({ min: 1, max: 5 }))
  .map(([stages, interleaved, groups]) => ({ stages, interleaved, microBatches: stages * groups }));

/** Returns how many micro batches are forward and not yet backward, at most. */
function mostUnderWay(passes: readonly PipelinePass[]): number {
  let now = 0;
  return Math.max(...passes.map(({ backward }) => (now += backward ? -1 : 1)));
}

describe("passes of a stage", () => {
  it("are the published ones of a pipeline of 4 stages, 8 micro batches", () => {
    const text = (stage: number): string =>
      passesOf({ stages: 4, interleaved: 1, microBatches: 8 }, stage, "1f1b", true)
        .map(({ microBatch, backward }) => `${backward ? "b" : "f"}${microBatch + 1}`)
        .join(" ");
    expect(text(0)).toBe("f1 f2 f3 f4 b1 f5 b2 f6 b3 f7 b4 f8 b5 b6 b7 b8");
    expect(text(3)).toBe("f1 b1 f2 b2 f3 b3 f4 b4 f5 b5 f6 b6 f7 b7 f8 b8");
  });

  it("take every micro batch through every part once each way, forward before backward", () => {
    fc.assert(
      fc.property(SHAPES, fc.constantFrom("1f1b", "gpipe"), (shape, order) => {
        for (let stage = 0; stage < shape.stages; stage++) {
          const passes = passesOf(shape, stage, order as "1f1b", true);
          const at = (backward: boolean, part: number, mb: number): number =>
            passes.findIndex((p) => p.backward === backward && p.part === part && p.microBatch === mb);
          expect(passes).toHaveLength(2 * shape.microBatches * shape.interleaved);
          for (let part = 0; part < shape.interleaved; part++) {
            for (let mb = 0; mb < shape.microBatches; mb++) {
              expect(at(false, part, mb)).toBeGreaterThanOrEqual(0);
              expect(at(true, part, mb)).toBeGreaterThan(at(false, part, mb));
            }
          }
        }
      }),
    );
  });

  it("have as many micro batches under way as there are stages behind, at most", () => {
    for (let stage = 0; stage < 4; stage++) {
      const shape = { stages: 4, interleaved: 1, microBatches: 8 };
      expect(mostUnderWay(passesOf(shape, stage, "1f1b", true))).toBe(4 - stage);
      expect(mostUnderWay(passesOf(shape, stage, "gpipe", true))).toBe(8);
    }
  });

  it("refuse interleaved parts with micro batches that make no whole groups", () => {
    expect(() => passesOf({ stages: 4, interleaved: 2, microBatches: 6 }, 0, "1f1b", true)).toThrow(
      /multiple of the 4/,
    );
  });
});
