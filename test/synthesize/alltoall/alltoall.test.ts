import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { random } from "../../../src/base/random.ts";
import { openHighs } from "../../../src/engine/milp/highs.ts";
import { readAlltoallv, readCollectiveJson } from "../../../src/import/collectives/collective.ts";
import { limitOf } from "../../../src/model/bounds/bounds.ts";
import { collective } from "../../../src/model/collective/collective.ts";
import { toNumber } from "../../../src/model/numbers/rational.ts";
import { presetTopology } from "../../../src/model/presets/preset.ts";
import { makespanPs } from "../../../src/model/steps/step-schedule.ts";
import { without } from "../../../src/model/topology/modify.ts";
import type { Topology } from "../../../src/model/topology/topology.ts";
import { topologyBuilder } from "../../../src/model/topology/topology-builder.ts";
import { simulate } from "../../../src/simulate/simulate.ts";
import { verify } from "../../../src/verify/verify.ts";
import { availableKernels } from "../../support/backends.ts";
import { allToAllRate } from "../../support/concurrent-problems.ts";
import { connectedTopology } from "../../support/connected-topology.ts";
import { unexpected } from "../../support/refusals.ts";
import { runs } from "../../support/runs.ts";
import { columnsOf, synthesizeWith, wholeCollective } from "../../support/synthesis.ts";

type Request = Parameters<typeof synthesizeWith>[1];

const [fastest] = await availableKernels();
const make = (request: Request) => synthesizeWith(fastest, request, { algorithm: "mcf" });

const alltoall = (topology: Topology, chunks: number, size = 2 ** 30): Request => ({
  topology,
  collective: wholeCollective(topology, "alltoall", size, chunks),
  trials: 4,
});

/** Returns 6 to 12 NPUs on 2 to 4 switches, every link with a rate of its own. */
function unevenSwitches(seed: number): Topology {
  const draws = random(seed, 77);
  const [npus, switches] = [6 + draws.below(7), 2 + draws.below(3)];
  const builder = topologyBuilder(`uneven ${seed}`);
  builder.addNumberedNpus(npus);
  for (let s = 0; s < switches; s++) builder.addSwitch(`s${s}`);
  const link = (from: number, to: number): void => {
    builder.addLink(from, to, (10 + 5 * draws.below(19)) * 1e9, 500_000 * (1 + draws.below(4)));
  };
  for (let v = 0; v < npus; v++) {
    const sure = draws.below(switches);
    for (let s = 0; s < switches; s++) {
      if (s !== sure && draws.below(2) === 1) continue;
      link(v, npus + s);
      link(npus + s, v);
    }
  }
  for (let s = 0; s < switches; s++) {
    for (let o = 0; o < switches; o++) if (o !== s && draws.below(3) > 0) link(npus + s, npus + o);
  }
  return builder.build();
}

describe("mcf", () => {
  it("makes what the judge accepts, never faster than the bound it proves, which is never below that of cuts by much", async () => {
    const problems = fc.tuple(
      connectedTopology(7),
      fc.integer({ min: 1, max: 3 }),
      fc.integer({ min: 1, max: 2 ** 30 }),
    );
    await fc.assert(
      fc.asyncProperty(problems, async ([topology, chunks, size]) => {
        const request = alltoall(topology, chunks, size);
        const { schedule, limit } = await make(request);
        expect(verify(schedule, {}).violations).toEqual([]);
        const proved = toNumber((limit as NonNullable<typeof limit>).ps);
        const { ps } = simulate(schedule, { switching: "cut-through" });
        expect(ps).toBeGreaterThanOrEqual(proved * (1 - 1e-12));
        // flows know no latency
        const linkLatencyPs = new Float64Array(topology.linkLatencyPs.length);
        const cuts = limitOf({ ...topology, linkLatencyPs }, request.collective);
        if (cuts.witness.kind !== "latency") expect(proved).toBeGreaterThanOrEqual(toNumber(cuts.ps) * 0.98);
      }),
      { numRuns: runs(25), seed: 9 },
    );
  });

  it.each([
    ["ring:8", 2],
    ["mesh:6x6", 2],
    ["torus:4x4x4", 2],
    ["hypercube:5", 2],
    ["circulant:30,1,7", 2],
    ["dgx-a100:2", 2],
    ["dragonfly:4x5", 2],
  ])("sends 1 GiB over %s in %i chunks within a twentieth of what is proved", async (name, chunks) => {
    const { schedule, limit } = await make(alltoall(presetTopology(name), chunks));
    expect(verify(schedule, {}).violationCount).toBe(0);
    expect(toNumber((limit as NonNullable<typeof limit>).ps) / makespanPs(schedule)).toBeGreaterThan(0.95);
  });

  it.each([2, 11, 12, 13, 14, 15])(
    "shares links of uneven switches among routes: network %d within 4 %% of the bound",
    async (seed) => {
      const request = alltoall(unevenSwitches(seed), 16, 2 ** 28);
      const { schedule, limit } = await make(request);
      expect(verify(schedule, {}).violations).toEqual([]);
      const { ps } = simulate(schedule, { switching: "cut-through" });
      expect(toNumber((limit as NonNullable<typeof limit>).ps) / ps).toBeGreaterThan(0.96);
    },
  );

  it("goes around a link that failed", async () => {
    const mesh = without(presetTopology("mesh:4x4"), ["0>1"]);
    const { schedule, limit } = await make(alltoall(mesh, 4));
    expect(verify(schedule, {}).violationCount).toBe(0);
    expect(toNumber((limit as NonNullable<typeof limit>).ps) / makespanPs(schedule)).toBeGreaterThan(0.9);
  });

  it("lets outsiders relay for process groups", async () => {
    const topology = presetTopology("ring:6");
    const groups = [Int32Array.of(0, 3), Int32Array.of(5, 2)];
    const request = { kind: "alltoall", groups, sizeBytes: 2 ** 20, chunksPerNpu: 2, rootRank: 0 } as const;
    const { schedule } = await make({ topology, collective: collective(request) });
    expect(verify(schedule, {}).violations).toEqual([]);
    const relays = new Set([...schedule.route].map((route) => schedule.routes.target[route]));
    expect([1, 4].some((npu) => relays.has(npu))).toBe(true);
  });

  it("takes no long ways for few messages: 4 slots where the flow's paths took 5", async () => {
    const topology = presetTopology("torus:4x4@50GB/s,0us");
    const groups = [Int32Array.of(0, 1, 5), Int32Array.of(2, 3, 7)];
    const request = { kind: "alltoall", groups, sizeBytes: 9 * 50_000, chunksPerNpu: 3, rootRank: 0 } as const;
    const { schedule } = await make({ topology, collective: collective(request) });
    expect(verify(schedule, {}).violations).toEqual([]);
    expect(makespanPs(schedule)).toBeLessThanOrEqual(4_000_000);
  });

  it("sends an all-to-all-v, its bound in proportion to what is sent", async () => {
    const topology = presetTopology("ring:4");
    const sent = async (scale: number) => {
      const rows = ["0 1 2 3", "4 0 0 0", "0 0 0 0", "1 1 1 0"];
      const text = rows.map((row) => row.replace(/\d/g, (n) => `${Number(n) * scale}`)).join("\n");
      return make({ topology, collective: readAlltoallv(text, "m", topology) });
    };
    const [one, ten] = [await sent(1_000_000), await sent(10_000_000)];
    expect(verify(one.schedule, {}).violations).toEqual([]);
    expect(toNumber((ten.limit as NonNullable<typeof ten.limit>).ps)).toBeCloseTo(
      10 * toNumber((one.limit as NonNullable<typeof one.limit>).ps),
      3,
    );
  });

  // many small chunks, whose latency does not keep links: 0.886, 0.843, 0.957 where only planned times were made short
  it.each([
    [0, "any bytes", 2 ** 25],
    [0, "few large", 2 ** 28],
    [1, "any bytes", 2 ** 25],
    [3, "any bytes", 2 ** 25],
  ] as const)(
    "sends an all-to-all-v over uneven switches within 3 hundredths of the optimum: network %i, %s",
    async (seed, sizes, most) => {
      const topology = unevenSwitches(seed);
      const { npuCount } = topology;
      const draws = random(seed, 78);
      const bytes = Float64Array.from({ length: npuCount ** 2 }, (_, pair) => {
        const size = sizes === "any bytes" ? 1 + draws.below(most) : Math.floor(most / (1 + draws.below(64)));
        return pair % (npuCount + 1) === 0 ? 0 : size;
      });
      const rows = Array.from({ length: npuCount }, (_, npu) => bytes.subarray(npu * npuCount, (npu + 1) * npuCount));
      const table = readAlltoallv(rows.map((row) => row.join(" ")).join("\n"), "m", topology);
      const { schedule, limit } = await make({ topology, collective: table });
      expect(verify(schedule, {}).violations).toEqual([]);
      const { ps } = simulate(schedule, { switching: "cut-through" });
      // what is sent in fractions, without padding, by a linear program of its own
      const leastPs =
        1e12 /
        allToAllRate(
          topology,
          bytes.map((size) => size / 1e9),
          1e9,
          await openHighs(),
        );
      expect(toNumber((limit as NonNullable<typeof limit>).ps)).toBeGreaterThan(0.995 * leastPs);
      expect(ps).toBeGreaterThan(leastPs);
      expect(leastPs / ps).toBeGreaterThan(0.97);
    },
  );

  it("has nothing to send where chunks are at home", async () => {
    const topology = presetTopology("ring:3");
    const chunks = [{ pre: [1], post: [1] }];
    const text = JSON.stringify({ format: "banyan-collective", version: 1, chunkBytes: 8, chunks });
    const { schedule, limit } = await make({ topology, collective: readCollectiveJson(text, "c", topology) });
    expect([schedule.chunk.length, limit]).toEqual([0, undefined]);
  });

  it.each([
    [{ pre: [0], post: [1, 2] }, false, "chunk 0 of 1 for 2"],
    [{ pre: [0, 1], post: [2] }, false, "chunk 0 of 2 for 1"],
    [{ pre: [0, 1], post: [2] }, true, "one that reduces"],
  ])("refuses chunks that are not of one NPU for one: %j", async (chunk, reduces, received) => {
    const topology = presetTopology("ring:3");
    const file = { format: "banyan-collective", version: 1, chunkBytes: 8, reduces, chunks: [chunk] };
    const table = readCollectiveJson(JSON.stringify(file), "c", topology);
    await expect(make({ topology, collective: table })).rejects.toThrow(received);
  });

  it("refuses to unwind switches", async () => {
    const request = { ...alltoall(presetTopology("dgx-a100:1"), 1), switchDegree: 2 };
    await expect(make(request)).rejects.toThrow(unexpected("switchDegree", 2, "ports"));
  });

  it("gives the same schedule again", async () => {
    const request = alltoall(presetTopology("mesh:3x3"), 2);
    expect(columnsOf((await make(request)).schedule)).toEqual(columnsOf((await make(request)).schedule));
  });
});
