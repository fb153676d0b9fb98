import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { NamedCollective } from "../../../src/model/collective/collective.ts";
import { ceil } from "../../../src/model/numbers/rational.ts";
import { presetTopology } from "../../../src/model/presets/preset.ts";
import { serializationPs } from "../../../src/model/routes/routes.ts";
import type { StepSchedule } from "../../../src/model/steps/step-schedule.ts";
import { simulateSchedule } from "../../../src/simulate/steps/replay.ts";
import { baselineSchedule } from "../../support/baselines.ts";
import { runs } from "../../support/runs.ts";

/** Latency of NPU -> switch -> NPU, and the serialisation of one chunk. */
function costs({ topology, collective }: StepSchedule): { hopPs: number; chunkPs: number } {
  const chunkPs = Number(ceil(serializationPs(collective.chunkBytes, topology.linkBytesPerSecond[0])));
  return { hopPs: topology.linkLatencyPs[0] + topology.linkLatencyPs[topology.npuCount], chunkPs };
}

const onSwitch = async (algorithm: string, ranks: number, kind: NamedCollective, sizeBytes: number, chunks = 1) => {
  const schedule = await baselineSchedule({ algorithm, network: `switch:${ranks}`, kind, chunks, sizeBytes });
  return { schedule, ps: simulateSchedule(schedule).ps, ...costs(schedule) };
};

/** Ranks sent on to (or back to), each one round. */
function distancesOf({ routes, route, topology: { npuCount } }: StepSchedule, back = false): number[] {
  const on = [...route].map((r) => routes.target[r] - routes.source[r]);
  const distances = new Set(on.map((distance) => ((back ? -distance : distance) + npuCount) % npuCount));
  return [...distances].sort((a, b) => a - b);
}

const powersBelow = (ranks: number): number[] => Array.from({ length: Math.ceil(Math.log2(ranks)) }, (_, i) => 2 ** i);

const SIZES = [16, 2 ** 16, 2 ** 20, 2 ** 24, 2 ** 30];

describe("on a switch of equal links, with one chunk per NPU", () => {
  // rounds of one message each; every NPU sends N - 1 blocks in all
  const rounds = (algorithm: string, ranks: number): number => {
    if (algorithm === "ring") return ranks - 1;
    return algorithm === "direct" ? 1 : Math.ceil(Math.log2(ranks));
  };

  it.each(["ring", "direct", "rhd", "bruck", "pat"])("%s takes what the alpha-beta model says", async (algorithm) => {
    for (const kind of ["allgather", "reducescatter"] as const) {
      for (const ranks of [2, 8, 16, 32]) {
        for (const size of SIZES) {
          const { ps, hopPs, chunkPs } = await onSwitch(algorithm, ranks, kind, size);
          expect(ps).toBe(rounds(algorithm, ranks) * hopPs + (ranks - 1) * chunkPs);
        }
      }
    }
  });

  it.each(["ring", "direct", "rhd"])("%s all-reduces in twice that", async (algorithm) => {
    for (const size of SIZES) {
      const { ps, hopPs, chunkPs } = await onSwitch(algorithm, 16, "allreduce", size);
      expect(ps).toBe(2 * (rounds(algorithm, 16) * hopPs + 15 * chunkPs));
    }
  });

  it.each(["bruck", "pat"])(
    "%s has ceil(log2 N) rounds for any N, and never more than they cost",
    async (algorithm) => {
      for (let ranks = 2; ranks <= 33; ranks++) {
        for (const kind of ["allgather", "reducescatter"] as const) {
          const { schedule, ps, hopPs, chunkPs } = await onSwitch(algorithm, ranks, kind, 2 ** 20);
          expect(distancesOf(schedule, kind === "reducescatter")).toEqual(powersBelow(ranks));
          expect(ps).toBeGreaterThanOrEqual(hopPs + (ranks - 1) * chunkPs);
          expect(ps).toBeLessThanOrEqual(Math.ceil(Math.log2(ranks)) * hopPs + (ranks - 1) * chunkPs);
        }
      }
    },
  );

  it("bruck exchanges in ceil(log2 N) rounds, in which blocks go by the bits of their distance", async () => {
    for (let ranks = 2; ranks <= 20; ranks++) {
      const { schedule } = await onSwitch("bruck", ranks, "alltoall", 2 ** 20);
      expect(distancesOf(schedule)).toEqual(powersBelow(ranks));
      const bits = Array.from({ length: ranks }, (_, distance) => distance.toString(2).replaceAll("0", "").length);
      expect(schedule.chunk.length).toBe(ranks * bits.reduce((a, b) => a + b));
    }
  });

  it("more chunks hide latency and move no byte more", async () => {
    for (const algorithm of ["rhd", "bruck", "pat", "ring"]) {
      const [one, four] = [
        await onSwitch(algorithm, 16, "allgather", 2 ** 22),
        await onSwitch(algorithm, 16, "allgather", 2 ** 22, 4),
      ];
      expect(four.ps).toBeLessThan(one.ps);
      expect(four.ps).toBeGreaterThanOrEqual(one.hopPs + 15 * one.chunkPs - 15 * 4);
      expect(four.schedule.chunk.length).toBe(4 * one.schedule.chunk.length);
    }
  });
});

describe("traffic", () => {
  const sentBy = ({ routes, route, topology }: StepSchedule): number[] => {
    const sent = new Array<number>(topology.npuCount).fill(0);
    for (const r of route) sent[routes.source[r]] = (sent[routes.source[r]] as number) + 1;
    return sent;
  };

  it("is (N - 1) / N of the data from every NPU, on any network", async () => {
    const property = fc.asyncProperty(
      fc.constantFrom("rhd", "bruck", "pat", "ring", "direct", "rings"),
      fc.constantFrom("switch:8", "ring:8", "mesh:4x4", "dgx1", "hypercube:3", "fc:4"),
      fc.constantFrom<NamedCollective>("allgather", "reducescatter"),
      fc.integer({ min: 1, max: 4 }),
      async (algorithm, network, kind, chunks) => {
        const schedule = await baselineSchedule({ algorithm, network, kind, chunks });
        const { npuCount } = schedule.topology;
        expect(new Set(sentBy(schedule))).toEqual(new Set([(npuCount - 1) * chunks]));
      },
    );
    await fc.assert(property, { numRuns: runs(60), seed: 5 });
  });

  it("of halving-doubling stays near with distance doubling: half of it goes to the next NPU", async () => {
    const distances = async (policy: string): Promise<Map<number, number>> => {
      const network = "switch:16";
      const { routes, route } = await baselineSchedule({
        algorithm: "rhd",
        network,
        kind: "reducescatter",
        chunks: 1,
        policy,
      });
      const many = new Map<number, number>();
      for (const r of route) {
        const distance = Math.abs(routes.source[r] - routes.target[r]);
        many.set(distance, (many.get(distance) ?? 0) + 1);
      }
      return many;
    };
    expect(await distances("distance-doubling")).toEqual(
      new Map([
        [1, 128],
        [2, 64],
        [4, 32],
        [8, 16],
      ]),
    );
    expect(await distances("distance-halving")).toEqual(
      new Map([
        [8, 128],
        [4, 64],
        [2, 32],
        [1, 16],
      ]),
    );
  });

  it("of PAT is largest between neighbours, of Bruck between far ranks", async () => {
    const last = async (algorithm: string): Promise<Set<number>> => {
      const { routes, route, topology } = await baselineSchedule({
        algorithm,
        network: "switch:16",
        kind: "allgather",
        chunks: 1,
      });
      const { npuCount } = topology;
      const most = new Map<number, number>();
      for (const r of route) {
        const distance = (routes.target[r] - routes.source[r] + npuCount) % npuCount;
        most.set(distance, (most.get(distance) ?? 0) + 1);
      }
      const top = Math.max(...most.values());
      return new Set([...most].filter(([, many]) => many === top).map(([distance]) => distance));
    };
    expect(await last("pat")).toEqual(new Set([1]));
    expect(await last("bruck")).toEqual(new Set([8]));
  });
});

describe("one ring", () => {
  it("both ways takes half as long on a ring of links", async () => {
    const times = await Promise.all(
      ["natural", "bidirectional"].map(async (policy) => {
        const network = presetTopology("ring:8");
        return simulateSchedule(
          await baselineSchedule({
            algorithm: "ring",
            network,
            kind: "allreduce",
            chunks: 2,
            policy,
            sizeBytes: 2 ** 30,
          }),
        ).ps;
      }),
    );
    expect((times[0] as number) / (times[1] as number)).toBeCloseTo(2, 2);
  });

  it("broadcasts as a pipeline of as many chunks as pay", async () => {
    for (const kind of ["broadcast", "reduce"] as const) {
      for (const policy of ["natural", "bidirectional"]) {
        const sizeBytes = 2 ** 28;
        const schedule = await baselineSchedule({ algorithm: "ring", network: "ring:8", kind, policy, sizeBytes });
        const { topology, collective } = schedule;
        const whole = (sizeBytes / topology.linkBytesPerSecond[0]) * 1e12;
        const least = policy === "natural" ? whole : whole / 2;
        expect(simulateSchedule(schedule).ps).toBeLessThan(1.05 * least);
        expect(collective.chunksPerNpu).toBeGreaterThan(8);
        const small = await baselineSchedule({ algorithm: "ring", network: "ring:8", kind, policy, sizeBytes: 1024 });
        expect(small.collective.chunksPerNpu).toBeLessThanOrEqual(4);
      }
    }
  });
});
