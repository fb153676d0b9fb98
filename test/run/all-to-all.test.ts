import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openEngine } from "../../src/engine/engine.ts";
import type { Engine } from "../../src/engine/types.ts";
import { collective } from "../../src/model/collective/collective.ts";
import { compare, toNumber } from "../../src/model/numbers/rational.ts";
import { presetTopology } from "../../src/model/presets/preset.ts";
import { without } from "../../src/model/topology/modify.ts";
import type { Topology } from "../../src/model/topology/topology.ts";
import { allToAllOn, limitWithFlow } from "../../src/run/all-to-all.ts";
import { limitWithBottleneck } from "../../src/run/bottleneck.ts";
import { everyone } from "../support/everyone.ts";
import { quick } from "../support/runs.ts";
import { wholeCollective } from "../support/synthesis.ts";

const MIB = 2 ** 20;
let engines: Engine[];
beforeAll(async () => {
  engines = await Promise.all([0, 1, 2].map((threads) => openEngine({ threads })));
});
afterAll(async () => {
  for (const engine of engines) await engine.close();
});

const allToAll = (topology: Topology, chunks = 1) => wholeCollective(topology, "alltoall", MIB, chunks);

describe("the limit of an all-to-all", () => {
  it("does not fall off a cliff where the flow of all NPUs takes too long: dbt:256, 384, 640", async () => {
    const limits: number[] = [];
    for (const npus of [256, 384, 640]) {
      const topology = presetTopology(`dbt:${npus}@25Gbps,10us`);
      const { limit, foundBy } = await limitWithFlow(engines[2], topology, allToAll(topology));
      expect(limit.witness.kind).toBe("lengths");
      expect(foundBy === null).toBe(npus < 640);
      limits.push(toNumber(limit.ps) / 1e9);
    }
    expect(limits[0]).toBeCloseTo(5.3628, 1);
    expect(limits[1]).toBeGreaterThan(7.1);
    expect(limits[2]).toBeGreaterThan(12.8);
  });

  it("is the same on any number of threads, and no less than cuts prove", async () => {
    const topology = without(presetTopology("dgx-h100:80"), ["0-rail0"]);
    const goal = allToAll(topology, 3);
    const found = [];
    for (const engine of engines) found.push(await limitWithFlow(engine, topology, goal));
    expect(found[0].foundBy).toContain("stand for 640");
    for (const other of found) expect(other).toEqual(found[0]);
    const cut = limitWithBottleneck(engines[0].kernels, topology, goal);
    expect(compare(found[0].limit.ps, cut.ps)).toBeGreaterThanOrEqual(0);
  });

  it.each(quick(["torus:12x12x12", "ring:512"], (name) => name.startsWith("torus")))(
    "is that of one NPU's flow where all are alike, however many: %s",
    async (name) => {
      const topology = presetTopology(name);
      const { limit, foundBy } = await limitWithFlow(engines[0], topology, allToAll(topology));
      expect(foundBy).toBeNull();
      // cuts, with latency, may prove more than the flow
      const cut = toNumber(limitWithBottleneck(engines[0].kernels, topology, allToAll(topology)).ps);
      const { rate, bound } = await allToAllOn(engines[0], topology);
      const perSecond = (MIB / topology.npuCount) * 1e12;
      expect(toNumber(limit.ps)).toBeGreaterThanOrEqual((perSecond / toNumber(bound)) * (1 - 1e-9));
      expect(toNumber(limit.ps)).toBeLessThanOrEqual(Math.max(cut, (perSecond / toNumber(rate)) * (1 + 1e-9)));
    },
  );

  it("of groups is told by the groups: many NPUs, few that send", async () => {
    const topology = presetTopology("mesh:32x32");
    const groups = [Int32Array.of(0, 31, 700), Int32Array.of(5, 900, 1023)];
    const goal = collective({ kind: "alltoall", groups, sizeBytes: MIB, chunksPerNpu: 1, rootRank: 0 });
    const { limit } = await limitWithFlow(engines[0], topology, goal);
    expect(toNumber(limit.ps)).toBeGreaterThan(0);
    expect(compare(limit.ps, limitWithBottleneck(engines[0].kernels, topology, goal).ps)).toBeGreaterThanOrEqual(0);
  });

  it("says that cuts are all where a flow of so many NPUs takes long, and leaves others as they are", async () => {
    const topology = presetTopology("mesh:190x190");
    const { limit, foundBy } = await limitWithFlow(engines[0], topology, allToAll(topology));
    expect(limit.witness.kind).toBe("cut");
    expect(foundBy).toContain("cuts alone");
    const ring = presetTopology("ring:4");
    const members = [everyone(4)];
    const gather = collective({ kind: "allgather", groups: members, sizeBytes: MIB, chunksPerNpu: 1, rootRank: 0 });
    expect(await limitWithFlow(engines[0], ring, gather)).toEqual({
      limit: limitWithBottleneck(engines[0].kernels, ring, gather),
      foundBy: null,
    });
  });
});
