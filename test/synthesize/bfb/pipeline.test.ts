import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { synthesisReport } from "../../../src/cli/reports/synthesis-report.ts";
import { openEngine } from "../../../src/engine/engine.ts";
import type { Engine } from "../../../src/engine/types.ts";
import { presetTopology } from "../../../src/model/presets/preset.ts";
import type { SynthesizeOptions } from "../../../src/request/options.ts";
import { synthesize } from "../../../src/run/synthesize.ts";

let engine: Engine;
beforeAll(async () => {
  engine = await openEngine({ threads: 0, backend: "js" });
});
afterAll(async () => engine.close());

const run = (name: string, options: Partial<SynthesizeOptions> = {}) =>
  synthesize(engine, presetTopology(name), { collective: "allgather", algorithm: "bfb", ...options });
const plain = { good: String, bad: String, dim: String } as unknown as Parameters<typeof synthesisReport>[2];

describe("bfb asked for by name", () => {
  it("takes the chunks per NPU with which it is optimal, unless told", async () => {
    for (const chunks of [undefined, "auto"] as const) {
      const { report } = await run("torus:3x3x2", chunks === undefined ? {} : { chunks });
      expect(report.collective.chunksPerNpu).toBe(5);
      expect(report.direct).toMatchObject({ steps: 3, bandwidth: "17/18", bandwidthOptimal: true });
    }
    const { report } = await run("torus:3x3x2", { chunks: 1 });
    expect(report.collective.chunksPerNpu).toBe(1);
    // loads of 1, 8/5 and 4/5 shards, rounded up
    expect(report.direct).toMatchObject({ steps: 3, bandwidth: "10/9", bandwidthOptimal: false });
  });

  it("says in its report how good the comm steps are", async () => {
    const { schedule, report } = await run("torus:8x8", { sizeBytes: 2 ** 20 });
    const lines = synthesisReport(report, schedule, plain);
    expect(lines).toContain(
      "  comm steps  8 (Moore bound 3, 4 where links come in pairs), T_B 0.9844 M/B (63/64), the least",
    );
    expect(lines).toContain("  predicted   9.161 us by comm steps (T_L + T_B)");
  });

  it("counts its facts for both halves of an all-reduce, and has none over unequal links", async () => {
    const [gather, reduce] = await Promise.all([run("ring:6"), run("ring:6", { collective: "allreduce" })]);
    expect(reduce.report.direct?.predictedUs).toBeCloseTo(2 * (gather.report.direct?.predictedUs ?? 0), 6);
    expect((await run("torus:4x4@100,50GB/s")).report.direct).toBeUndefined();
  });

  it("has nothing to do for one NPU", async () => {
    const { report } = await run("ring:4", { group: "0" });
    expect(report.schedule.transfers).toBe(0);
  });
});
