import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openEngine } from "../../src/engine/engine.ts";
import { openHighs } from "../../src/engine/milp/highs.ts";
import type { Engine } from "../../src/engine/types.ts";
import { toNumber } from "../../src/model/numbers/rational.ts";
import { PS_PER_SECOND } from "../../src/model/numbers/units.ts";
import type { Topology } from "../../src/model/topology/topology.ts";
import { allToAllOn, limitWithFlow } from "../../src/run/all-to-all.ts";
import { sumsLimit } from "../../src/run/sums-limit.ts";
import { synthesize } from "../../src/run/synthesize.ts";
import { allToAllRate } from "../support/concurrent-problems.ts";
import { everyone } from "../support/everyone.ts";
import { drawnNetwork, drawsOf } from "../support/partition-limits.ts";
import { runs } from "../support/runs.ts";
import { wholeCollective } from "../support/synthesis.ts";
import { flowProgramRate } from "../synthesize/forestcoll/allreduce-oracle.ts";

/** What is proved of networks beside linear programs of what flows, written from the definitions alone. */

const NETWORKS = runs(44);
const BYTES = 720_720;
const GB = 1e9;
const DIGITS = 6;

const lp = await openHighs();
let engine: Engine;
beforeAll(async () => {
  engine = await openEngine({ threads: 0 });
});
afterAll(async () => engine.close());

/** Without latency; half of them with as much bandwidth each way. */
const networks: readonly Topology[] = Array.from({ length: NETWORKS }, (_, seed) =>
  drawnNetwork(drawsOf(1000 + seed), { mostNpus: 7, mostSwitches: 3, bothWays: seed % 2 === 0 }),
);
const inGb = (topology: Topology): Topology => ({
  ...topology,
  linkBytesPerSecond: topology.linkBytesPerSecond.map((bandwidth) => bandwidth / GB),
});
/** Returns the GB/s of the whole buffer at which a limit is met. */
const rateOfLimit = (ps: number): number => (BYTES * PS_PER_SECOND) / ps / GB;

describe("what is proved is what a linear program of flows gives", () => {
  it.each(["allgather", "reducescatter", "allreduce"] as const)("%s: rate and bound of trees", async (kind) => {
    const limits: number[] = [];
    for (const [i, topology] of networks.entries()) {
      const wanted = flowProgramRate(inGb(topology), [...everyone(topology.npuCount)], lp, kind);
      const asked = { collective: kind, sizeBytes: BYTES, algorithm: "forestcoll" };
      const { report } = await synthesize(engine, topology, asked);
      expect((report.throughput?.algbwGBps ?? 0) / wanted, `${i}`).toBeCloseTo(1, DIGITS);
      expect(report.throughput?.ofBound, `${i}`).toBe(1);
      const collective = wholeCollective(topology, kind, BYTES);
      const { limit } = await limitWithFlow(engine, topology, collective);
      const limited = rateOfLimit(toNumber(limit.ps)) / wanted;
      expect(limited, `${i}`).toBeGreaterThan(1 - 10 ** -DIGITS);
      limits.push(limited);
      const sums = await sumsLimit(engine, topology, collective);
      if (kind === "allreduce") {
        expect(sums === null ? 0 : rateOfLimit(toNumber(sums.ps)) / wanted, `${i}`).toBeCloseTo(1, DIGITS);
      }
    }
    // what holds for any algorithm is proved by cuts and partitions: nearly always as much
    expect(limits.filter((one) => one < 1 + 10 ** -DIGITS).length / NETWORKS).toBeGreaterThan(0.8);
  });

  it("all-to-all: rate, bound and limit", async () => {
    for (const [i, topology] of networks.entries()) {
      const wanted = allToAllRate(topology, null, GB, lp);
      const { rate, bound } = await allToAllOn(engine, topology, { gap: 1e-9 });
      expect(toNumber(rate) / GB / wanted, `${i}`).toBeCloseTo(1, DIGITS);
      expect(toNumber(bound) / GB / wanted, `${i}`).toBeCloseTo(1, DIGITS);
      const { limit } = await limitWithFlow(engine, topology, wholeCollective(topology, "alltoall", BYTES));
      const limited = rateOfLimit(toNumber(limit.ps)) / topology.npuCount / wanted;
      expect(limited, `${i}`).toBeGreaterThan(1 - 10 ** -DIGITS);
      // proved within half a per cent, in less time
      expect(limited, `${i}`).toBeLessThan(1.005);
    }
  });
});
