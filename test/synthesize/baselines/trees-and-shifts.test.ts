import { describe, expect, it } from "vitest";
import type { CollectiveKind, NamedCollective } from "../../../src/model/collective/collective.ts";
import { doubleBinaryTree, fromTheRoot } from "../../../src/model/graph/double-binary-tree.ts";
import { presetTopology } from "../../../src/model/presets/preset.ts";
import { type StepSchedule, transferCount } from "../../../src/model/steps/step-schedule.ts";
import { linkCount } from "../../../src/model/topology/topology.ts";
import { simulateSchedule } from "../../../src/simulate/steps/replay.ts";
import { doubleBinaryTrees } from "../../../src/synthesize/baselines/double-binary-tree.ts";
import { shiftedRings, shiftsOf } from "../../../src/synthesize/baselines/rings.ts";
import type { Synthesizer } from "../../../src/synthesize/synthesizer.ts";
import { verifySchedule } from "../../../src/verify/steps/schedule.ts";
import { baselineSchedule } from "../../support/baselines.ts";
import { wholeCollective } from "../../support/synthesis.ts";

async function made(
  synthesizer: Synthesizer,
  expression: string,
  kind: CollectiveKind,
  chunks: number,
  bytes = 2 ** 20,
) {
  const topology = presetTopology(expression);
  const collective = wholeCollective(topology, kind as NamedCollective, bytes, chunks);
  const request = { topology, collective, seed: 1, trials: null, policy: null, switchDegree: null };
  const { schedule } = await synthesizer.synthesize(request, {} as never);
  expect(verifySchedule(schedule as StepSchedule).violations).toEqual([]);
  return schedule as StepSchedule;
}

describe("double binary trees", () => {
  it("span all ranks from one root each, and no rank but one has children in both", () => {
    for (let ranks = 1; ranks <= 130; ranks++) {
      const inner = doubleBinaryTree(ranks).map((parent) => {
        expect([...fromTheRoot(parent)].sort((a, b) => a - b)).toEqual([...Array(ranks).keys()]);
        const children = new Map<number, number>();
        for (const up of parent) if (up >= 0) children.set(up, (children.get(up) ?? 0) + 1);
        expect(Math.max(0, ...children.values())).toBeLessThanOrEqual(2);
        return new Set(children.keys());
      });
      const both = [...(inner[0] as Set<number>)].filter((rank) => inner[1]?.has(rank));
      expect(both.length).toBeLessThanOrEqual(ranks % 2);
    }
  });

  it("are logarithmically deep", () => {
    for (const [ranks, depth] of [
      [8, 3],
      [1024, 10],
    ] as const) {
      for (const parent of doubleBinaryTree(ranks)) {
        const depths = new Map<number, number>();
        for (const rank of fromTheRoot(parent)) depths.set(rank, (depths.get(parent[rank] as number) ?? -1) + 1);
        expect(Math.max(...depths.values())).toBe(depth);
      }
    }
  });

  it("all-reduce on their own links, and on others", async () => {
    for (const network of ["dbt:2", "dbt:7", "dbt:12", "mesh:3x3", "switch:6"]) {
      const schedule = await made(doubleBinaryTrees, network, "allreduce", 2);
      const { npuCount } = schedule.topology;
      expect(transferCount(schedule)).toBe(4 * npuCount * (npuCount - 1));
    }
    expect(linkCount(presetTopology("dbt:12"))).toBe(4 * 11);
  });

  it("are a pipeline: many chunks take little longer than the bytes of the busiest link", async () => {
    const bytes = 2 ** 30;
    const schedule = await made(doubleBinaryTrees, "dbt:16@25GB/s,1us", "allreduce", 16, bytes);
    // an edge carries half of the data up and half of it down, each way on its own link
    const us = bytes / 2 / 25e3;
    expect(simulateSchedule(schedule).ps / 1e6).toBeLessThan(1.1 * us);
  });
});

describe("trees that share ports", () => {
  it("take turns: through a switch a double binary tree comes near the bytes of its busiest port", async () => {
    const sizeBytes = 2 ** 30;
    for (const ranks of [4, 8, 16, 32]) {
      const network = `switch:${ranks}`;
      const schedule = await baselineSchedule({ algorithm: "dbt", network, kind: "allreduce", sizeBytes });
      const sent = new Map<number, number>();
      for (const route of schedule.route) {
        const from = schedule.routes.source[route];
        sent.set(from, (sent.get(from) ?? 0) + 1);
      }
      const { topology, collective } = schedule;
      const chunkPs = (sizeBytes / collective.chunkCount / topology.linkBytesPerSecond[0]) * 1e12;
      const least = Math.max(...sent.values()) * chunkPs;
      const { ps } = simulateSchedule(schedule);
      expect(ps).toBeGreaterThan(least);
      expect(ps).toBeLessThan(1.12 * least);
    }
  });

  it("have as many chunks as pay, one where latency is all", async () => {
    const chunks = async (sizeBytes: number): Promise<number> => {
      const schedule = await baselineSchedule({ algorithm: "dbt", network: "switch:16", kind: "allreduce", sizeBytes });
      return schedule.collective.chunksPerNpu;
    };
    expect(await chunks(1024)).toBe(1);
    expect(await chunks(2 ** 30)).toBeGreaterThan(await chunks(2 ** 22));
  });
});

describe("shifted rings", () => {
  it("use every step that makes one ring", () => {
    expect(shiftsOf(presetTopology("shifted-ring:1024"))).toEqual([1, 3, 1021, 1023]);
    expect(shiftsOf(presetTopology("shifted-ring:9"))).toEqual([1, 2, 7, 8]);
    expect(shiftsOf(presetTopology("circulant:12,2,5"))).toEqual([5, 7]);
    expect(shiftsOf(presetTopology("mesh:3x3"))).toEqual([]);
  });

  it("gather, scatter and reduce with every link equally loaded", async () => {
    for (const kind of ["allgather", "reducescatter", "allreduce"] as const) {
      const schedule = await made(shiftedRings, "shifted-ring:10", kind, 4);
      const loads = new Map<number, number>();
      for (const route of schedule.route) loads.set(route, (loads.get(route) ?? 0) + 1);
      expect([...new Set(loads.values())]).toEqual([kind === "allreduce" ? 18 : 9]);
      expect(loads.size).toBe(40);
    }
  });

  it("refuse a network without such rings, and one that has no second ring", async () => {
    await expect(made(shiftedRings, "mesh:3x3", "allgather", 1)).rejects.toThrow("links from every NPU i to i + a");
    expect(() => presetTopology("shifted-ring:6")).toThrow("not 6");
    expect(() => presetTopology("shifted-ring:4")).toThrow("5 NPUs or more");
  });
});
