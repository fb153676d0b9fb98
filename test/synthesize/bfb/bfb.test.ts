import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { InfeasibleError, InputError } from "../../../src/base/errors.ts";
import { bigLcm } from "../../../src/model/numbers/integers.ts";
import { presetTopology } from "../../../src/model/presets/preset.ts";
import { makespanOf } from "../../../src/model/steps/schedule.ts";
import { topologyBuilder } from "../../../src/model/topology/topology-builder.ts";
import { simulate } from "../../../src/simulate/simulate.ts";
import { bfb } from "../../../src/synthesize/bfb/bfb.ts";
import {
  balance,
  broadcast,
  diameterOf,
  faults,
  graph,
  networkOfGraph,
  regularDigraphs,
} from "../../support/breadth-first.ts";
import { connectedTopology } from "../../support/connected-topology.ts";
import { unexpected } from "../../support/refusals.ts";
import { runs } from "../../support/runs.ts";
import { wholeCollective } from "../../support/synthesis.ts";

const KINDS = ["allgather", "reducescatter", "allreduce"] as const;

describe("bfb", () => {
  // T_L / alpha and T_B in M / B
  it.each([
    ["UniRing(1,6)", 5, "5/6"],
    ["BiRing(2,9)", 4, "8/9"],
    ["BiRing(2,8)", 4, "7/8"],
    ["Q(4)", 4, "15/16"],
    ["Torus(3,4,2)", 4, "23/24"],
    ["Torus(3,3,2)", 3, "17/18"],
    ["TwistedTorus(6,3)", null, "17/18"],
    ["C(16,{3,4})", 3, "15/16"],
    ["C(13,{2,3,5})", null, "12/13"],
    ["K(7)", 1, "6/7"],
    ["Pi(4,64)", 3, "21/16"],
    ["DBJ(4,2)", 2, null],
    ["H(2,3)", 2, "8/9"],
  ])("gives every collective on %s in the least comm steps, verified", async (text, steps, bandwidth) => {
    const of = graph(text);
    const topology = networkOfGraph(of, text);
    for (const kind of KINDS) {
      const { schedule, direct } = await broadcast(topology, kind);
      expect(faults(schedule)).toEqual([]);
      expect(direct?.steps).toBe(steps ?? diameterOf(of));
      if (bandwidth !== null && kind === "allgather") expect(direct?.bandwidth).toBe(bandwidth);
      expect(simulate(schedule).ps).toBeGreaterThan(0);
    }
  });

  it("gives every collective on random digraphs, also of fewer parts than would be best", async () => {
    await fc.assert(
      fc.asyncProperty(
        regularDigraphs(14),
        fc.constantFrom(...KINDS),
        fc.option(fc.integer({ min: 1, max: 5 }), { nil: undefined }),
        async (of, kind, chunks) => {
          const { schedule } = await broadcast(networkOfGraph(of), kind, chunks === undefined ? {} : { chunks });
          expect(faults(schedule)).toEqual([]);
        },
      ),
      { numRuns: runs(60) },
    );
  });

  it("gives every collective over links of mixed latencies and bandwidths", async () => {
    await fc.assert(
      fc.asyncProperty(
        connectedTopology(9).filter(({ nodeNames, npuCount }) => nodeNames.length === npuCount),
        fc.constantFrom(...KINDS),
        fc.option(fc.integer({ min: 1, max: 4 }), { nil: undefined }),
        async (topology, kind, chunks) => {
          const { schedule } = await broadcast(topology, kind, chunks === undefined ? {} : { chunks });
          expect(faults(schedule)).toEqual([]);
        },
      ),
      { numRuns: runs(60) },
    );
  });

  it("makes one NPU stand for all over unequal links that translations leave as they are", async () => {
    const { schedule, policy, direct } = await broadcast(presetTopology("torus:4x3@100,25GB/s"), "allreduce");
    expect(faults(schedule)).toEqual([]);
    expect(policy).toMatch(/^breadth-first, one NPU for all, .*; comm steps take [\d.]+ us \([\d.]+ were shards cut/);
    expect(direct).toBeUndefined();
  });

  it("keeps large collectives as arrival logs, one for all NPUs of a torus", async () => {
    const { schedule, chunks, direct } = await broadcast(presetTopology("torus:32x32"), "allreduce");
    expect(chunks).toBe(4);
    expect(faults(schedule)).toEqual([]);
    expect(schedule).toMatchObject({ kind: "slots", symmetry: [32, 32], slots: 1023 });
    expect(direct).toMatchObject({ steps: 32, bandwidth: "1023/1024", bandwidthOptimal: true, mooreOptimal: false });
  });

  it("keeps the log of every NPU where none looks like the others", async () => {
    const mesh = presetTopology("mesh:20x20");
    const { schedule } = await broadcast(mesh, "allreduce", { chunks: 13 });
    expect(schedule).toMatchObject({ kind: "slots", symmetry: null });
    expect(faults(schedule)).toEqual([]);
  });

  it("cuts shards as often as loads need, and no more", async () => {
    expect((await broadcast(networkOfGraph(graph("H(2,3)")), "allgather")).chunks).toBe(1);
    expect((await broadcast(networkOfGraph(graph("Q(3)")), "allreduce")).chunks).toBe(3);
    const both = await broadcast(networkOfGraph(graph("Pi(3,11)")), "allreduce");
    const [gather, scatter] = await Promise.all(
      (["allgather", "reducescatter"] as const).map((kind) => broadcast(networkOfGraph(graph("Pi(3,11)")), kind)),
    );
    expect(both.chunks).toBe(Number(bigLcm(BigInt(gather.chunks), BigInt(scatter.chunks))));
  });

  it("predicts T_L + T_B of both halves", async () => {
    // 16 NPUs, 4 links of 25 GB/s, 1 MiB: 3 * 0.5 us + 15/16 * 2^20 / 1e5 us, twice
    const { direct } = await broadcast(networkOfGraph(graph("C(16,{3,4})")), "allreduce");
    expect(direct?.predictedUs).toBeCloseTo(2 * (1.5 + (15 / 16) * 10.48576), 9);
  });

  it("tells Moore's bounds, that of paired links where links come in pairs", async () => {
    const oneWay = await broadcast(networkOfGraph(graph("Kautz(4,2)")), "allgather");
    expect(oneWay.direct).toMatchObject({ nodes: 80, degree: 4, steps: 3, mooreSteps: 3, mooreOptimal: true });
    expect(oneWay.direct?.bidirectionalMooreSteps).toBeNull();
    const paired = await broadcast(networkOfGraph(graph("Odd(3)")), "allgather");
    expect(paired.direct).toMatchObject({ degree: 3, steps: 2, mooreSteps: 2, bidirectionalMooreSteps: 2 });
    expect(paired.direct).toMatchObject({ bandwidthOptimal: true, leastBandwidth: "9/10" });
  });

  it("takes as long back as forth where nodes have different numbers of links", async () => {
    const mesh = presetTopology("mesh:3x2");
    const [gather, scatter] = await Promise.all(
      (["allgather", "reducescatter"] as const).map((kind) => broadcast(mesh, kind)),
    );
    expect(scatter.direct).toEqual(gather.direct);
  });

  it("says which NPU an NPU cannot reach, also over unequal links", async () => {
    for (const bandwidth of [50e9, 25e9]) {
      const builder = topologyBuilder("one way");
      for (const npu of ["a", "b", "c"]) builder.addNpu(npu);
      builder.addLink(0, 1, 50e9, 1000);
      builder.addLink(1, 0, bandwidth, 1000);
      builder.addLink(2, 1, 50e9, 1000);
      await expect(broadcast(builder.build(), "allgather")).rejects.toThrow(InfeasibleError);
    }
  });

  it("refuses switches, groups and more parts than it can number", async () => {
    await expect(broadcast(presetTopology("switch:8"), "allgather")).rejects.toThrow(
      unexpected("bfb", "switch:8, which has switches"),
    );
    await expect(broadcast(presetTopology("ring:4"), "allgather", { chunks: 40_000 })).rejects.toThrow(InputError);
    const topology = presetTopology("ring:4");
    const whole = wholeCollective(topology, "allgather", 1024);
    const collective = { ...whole, groupSize: 2, groupMembers: Int32Array.of(0, 1) };
    const request = { topology, collective, seed: 1, trials: null, policy: null, switchDegree: null };
    const context = { runner: { balance } } as unknown as Parameters<typeof bfb.synthesize>[1];
    await expect(bfb.synthesize(request, context)).rejects.toThrow(unexpected("group", "1 of 2 of 4 NPUs"));
  });

  it("plans an all-reduce twice as long as its all-gather on networks that are their own reverse", async () => {
    const [gather, reduce] = await Promise.all(
      (["allgather", "allreduce"] as const).map((kind) => broadcast(presetTopology("torus:4x4"), kind)),
    );
    expect(makespanOf((reduce as typeof gather).schedule)).toBe(2 * makespanOf(gather.schedule));
  });
});
