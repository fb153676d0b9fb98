import { describe, expect, it } from "vitest";
import { random } from "../../../src/base/random.ts";
import { scheduleJsonParts } from "../../../src/export/schedules/schedule-json.ts";
import { readSchedule } from "../../../src/import/schedules/schedule-json.ts";
import type { Collective } from "../../../src/model/collective/collective.ts";
import { rational } from "../../../src/model/numbers/rational.ts";
import { presetTopology } from "../../../src/model/presets/preset.ts";
import { makespanPs } from "../../../src/model/steps/step-schedule.ts";
import { stepsOfTrees, treeTransfers } from "../../../src/model/trees/tree-steps.ts";
import { simulateSchedule } from "../../../src/simulate/steps/replay.ts";
import { simulateTreeFlow } from "../../../src/simulate/trees/tree-flow.ts";
import { verify } from "../../../src/verify/verify.ts";
import { outOfRange, refused, unexpected } from "../../support/refusals.ts";
import { grownFlow, ringFlow } from "../../support/tree-flows.ts";

const mesh = presetTopology("mesh:3x2@10GB/s,1us");

describe("stepsOfTrees", () => {
  it("cuts each copy's part into chunks, those of a root one after the other", () => {
    const steps = stepsOfTrees(ringFlow(3, 1e9, 0, 1200), 2);
    expect(steps.collective.chunksPerNpu).toBe(4);
    expect(steps.collective.chunkBytes).toEqual(rational(100));
    expect(steps.chunk.length).toBe(treeTransfers(ringFlow(3, 1e9, 0, 1200), 2));
    // NPU 0 sends chunks 0, 1 clockwise and 2, 3 the other way; each link carries two trees at 1/2
    const sent = (from: number, to: number): [number, number][] =>
      Array.from(steps.chunk, (chunk, i): [number, number] => [steps.startPs[i], chunk]).filter(([, chunk], i) => {
        const route = steps.route[i];
        return steps.routes.source[route] === from && steps.routes.target[route] === to && chunk < 4;
      });
    expect(sent(0, 1)).toEqual([
      [0, 0],
      [200_000, 1],
    ]);
    expect(sent(0, 2)).toEqual([
      [0, 2],
      [200_000, 3],
    ]);
    expect(sent(1, 2)).toEqual([
      [200_000, 0],
      [400_000, 1],
    ]);
    expect(makespanPs(steps)).toBe(600_000);
  });

  it("sends the copies of a tree one after the other, piece by piece", () => {
    const topology = presetTopology("line:2@1GB/s,0us");
    const flow = grownFlow(topology, { kind: "broadcast", sizeBytes: 600, copies: 1 }, random(1));
    const triple = {
      ...flow,
      forests: [{ ...flow.forests[0], copies: Float64Array.of(3), copyBytesPerSecond: rational(1e9, 3) }],
    };
    const steps = stepsOfTrees(triple, 2);
    expect([...steps.chunk]).toEqual([0, 2, 4, 1, 3, 5]);
    expect([...steps.startPs]).toEqual([0, 1e5, 2e5, 3e5, 4e5, 5e5]);
  });

  it("an all-reduce whose roots are unequal keeps its name, also in files", () => {
    const shape = { kind: "allreduce", sizeBytes: 10_000, copies: 2, uneven: true } as const;
    const flow = grownFlow(mesh, shape, random(3));
    const steps = stepsOfTrees(flow, 1);
    expect(steps.collective.chunkCount % 6).not.toBe(0);
    expect(verify(steps).violations).toEqual([]);
    const copy = readSchedule([...scheduleJsonParts(steps)].join(""), "copy.json");
    expect(copy.collective).toEqual(steps.collective);
    expect(verify(copy).violations).toEqual([]);
  });

  it("a table of unequal shards is gathered, or summed, by roots with as many copies", () => {
    for (const reduces of [false, true]) {
      const flow = grownFlow(mesh, { kind: "allreduce", sizeBytes: 12_000, copies: 2, uneven: true }, random(4));
      const direction = reduces ? "in" : "out";
      const forests = flow.forests.filter((forest) => forest.direction === direction);
      const [everyone, one] = [{ kind: "group" }, { kind: "one", npu: Int32Array.of(0) }] as const;
      const placement = reduces ? { pre: everyone, post: one } : { pre: one, post: everyone };
      const table: Collective = { ...flow.collective, kind: "custom", reduces, ...placement };
      const steps = stepsOfTrees({ ...flow, forests, collective: table }, 3);
      expect(verify(steps).violations).toEqual([]);
      expect(simulateSchedule(steps).ps).toBe(simulateTreeFlow({ ...flow, forests, collective: table }, 3).ps);
    }
  });

  it("holds where shares are rounded", () => {
    const flow = grownFlow(mesh, { kind: "allgather", sizeBytes: 12_000, copies: 3 }, random(5));
    const [forest] = flow.forests;
    const { num, den } = forest.copyBytesPerSecond;
    const odd = {
      ...flow,
      forests: [{ ...forest, copyBytesPerSecond: rational(num * 2n ** 60n - den, den * 2n ** 60n) }],
    };
    const steps = stepsOfTrees(odd, 4);
    expect(verify(steps).violations).toEqual([]);
    const { ps } = simulateTreeFlow(odd, 4);
    expect(simulateSchedule(steps).ps).toBe(ps);
    expect(ps / simulateTreeFlow(flow, 4).ps).toBeCloseTo(1, 9);
  });

  it("is planned to take hardly longer than chunks in a row that pay their latency each", () => {
    for (const [bytes, pieces] of [
      [4, 1],
      [400, 2],
      [4e6, 50],
    ]) {
      const steps = stepsOfTrees(ringFlow(5, 1e9, 1e6, bytes), pieces);
      const slot = steps.endPs[0] - steps.startPs[0];
      const planned = makespanPs(steps) - (pieces + 3) * slot;
      // a picosecond where two that start one after the other would be planned at once
      expect(planned >= 0 && planned <= 4 * (pieces + 3)).toBe(true);
    }
  });

  it("long latencies and short chunks lengthen the plan, not the replay", () => {
    for (const latency of ["0us", "3us", "100000us"]) {
      const topology = presetTopology(`ring:5@10GB/s,${latency}`);
      const flow = grownFlow(topology, { kind: "reducescatter", sizeBytes: 5000, copies: 2 }, random(6));
      const steps = stepsOfTrees(flow, 3);
      expect(verify(steps).violations).toEqual([]);
      expect(simulateSchedule(steps).ps).toBe(simulateTreeFlow(flow, 3).ps);
    }
  });

  it("says what it refuses", () => {
    const flow = ringFlow(4, 1e9, 10, 100);
    const [forest] = flow.forests;
    expect(() => stepsOfTrees(flow, 0)).toThrow(unexpected("the number of pieces", 0));
    expect(() => stepsOfTrees(flow, 1e6)).toThrow(outOfRange("the steps of a tree flow", 24000000, 10000000));
    const wide = { ...flow, forests: [{ ...forest, copyBytesPerSecond: rational(2e9) }] };
    expect(() => stepsOfTrees(wide, 1)).toThrow(unexpected("a tree over link 0>1", "2/1"));
    const lopsided = { ...flow, forests: [{ ...forest, copies: forest.copies.with(0, 2) }] };
    expect(() => stepsOfTrees(lopsided, 1)).toThrow(unexpected("the trees of the allgather", "different numbers"));
    const broadcast = { ...flow, collective: { ...flow.collective, kind: "broadcast" as const } };
    expect(() => stepsOfTrees(broadcast, 1)).toThrow(unexpected("the trees of a broadcast", "others"));
    const scatter = { ...flow, collective: { ...flow.collective, kind: "scatter" as const } };
    expect(() => stepsOfTrees(scatter, 1)).toThrow(unexpected("the collective of a tree flow", "scatter"));
    const huge = { ...flow, collective: { ...flow.collective, chunkBytes: rational(2n ** 50n) } };
    expect(() => stepsOfTrees(huge, 1)).toThrow(
      refused("too-long", "the time of a tree flow's steps", 5066549580791808000, 2.5),
    );
    expect(() => simulateTreeFlow(huge, 1)).toThrow(
      refused("too-long", "the simulated time", 5066549580791808000, 2.5),
    );
    const both = grownFlow(mesh, { kind: "allreduce", sizeBytes: 100, copies: 2 }, random(7));
    const more = { ...both.forests[1], copies: both.forests[1].copies.map((copies) => 2 * copies) };
    for (const concurrent of [false, true]) {
      expect(() => stepsOfTrees({ ...both, concurrent, forests: [both.forests[0], more] }, 1)).toThrow(
        unexpected("copies at root 0", 4, 2),
      );
    }
    expect(() => simulateTreeFlow({ ...both, concurrent: true, forests: [both.forests[0], more] }, 1)).toThrow(
      unexpected("copies at root 0", "different numbers"),
    );
  });
});
