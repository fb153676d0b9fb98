import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openEngine } from "../../src/engine/engine.ts";
import type { Engine } from "../../src/engine/types.ts";
import type { NamedCollective } from "../../src/model/collective/collective.ts";
import { presetTopology } from "../../src/model/presets/preset.ts";
import { switchCount, type Topology } from "../../src/model/topology/topology.ts";
import { synthesize } from "../../src/run/synthesize.ts";
import { simulateSchedule } from "../../src/simulate/steps/replay.ts";
import { verifySchedule } from "../../src/verify/steps/schedule.ts";
import { connectedTopology } from "../support/connected-topology.ts";
import { quick, runs } from "../support/runs.ts";
import { synthesizeWith, wholeCollective } from "../support/synthesis.ts";

let engine: Engine;
beforeAll(async () => {
  engine = await openEngine();
});
afterAll(() => engine.close());

/** Returns the latency of the shortest way from each NPU to each other (Floyd and Warshall), of a network without switches. */
function waysPs({ npuCount, linkSource, linkTarget, linkLatencyPs }: Topology): readonly (readonly number[])[] {
  const far = Array.from({ length: npuCount }, (_, u) =>
    Array.from({ length: npuCount }, (_, v) => (u === v ? 0 : Number.POSITIVE_INFINITY)),
  ) as number[][];
  const at = (u: number, v: number): number => (far[u] as number[])[v] as number;
  const set = (u: number, v: number, ps: number): void => {
    (far[u] as number[])[v] = Math.min(at(u, v), ps);
  };
  linkSource.forEach((u, link) => {
    set(u, linkTarget[link], linkLatencyPs[link]);
  });
  for (let k = 0; k < npuCount; k++)
    for (let u = 0; u < npuCount; u++) for (let v = 0; v < npuCount; v++) set(u, v, at(u, k) + at(k, v));
  return far;
}

/** Returns what links may take for all bytes, of so many on each NPU. */
const bytesPs = ({ npuCount, linkBytesPerSecond }: Topology, bytes: number): number =>
  bytes * npuCount * Math.ceil((bytes * 1e12) / Math.min(...linkBytesPerSecond));

const withoutSwitches = connectedTopology().filter((topology) => switchCount(topology) === 0);

describe("where latency is all that counts", () => {
  it.each<NamedCollective>(["allgather", "reducescatter", "broadcast", "reduce"])(
    "a %s takes that of the longest way, and the bytes",
    async (kind) => {
      const requests = fc.record({
        topology: withoutSwitches,
        chunks: fc.integer({ min: 1, max: 4 }),
        root: fc.nat(),
        seed: fc.nat(2 ** 32 - 1),
      });
      const property = fc.asyncProperty(requests, async ({ topology, chunks, root, seed }) => {
        const { npuCount } = topology;
        const collective = wholeCollective(topology, kind, npuCount * chunks, chunks, root % npuCount);
        const { schedule } = await synthesizeWith(engine.kernels, { topology, collective, seed });
        expect(verifySchedule(schedule).violations).toEqual([]);
        const farthestPs = Math.max(...waysPs(topology).flat());
        expect(simulateSchedule(schedule).ps).toBeLessThanOrEqual(farthestPs + bytesPs(topology, npuCount * chunks));
      });
      await fc.assert(property, { numRuns: runs(60), seed: 11 });
    },
  );

  it("an allreduce takes that of the longest ways to and from the NPU that is nearest to all, and the bytes", async () => {
    const requests = fc.record({ topology: withoutSwitches, seed: fc.nat(2 ** 32 - 1) });
    const property = fc.asyncProperty(requests, async ({ topology, seed }) => {
      const { npuCount } = topology;
      const collective = wholeCollective(topology, "allreduce", npuCount, 1, 0);
      const { schedule } = await synthesizeWith(engine.kernels, { topology, collective, seed });
      expect(verifySchedule(schedule).violations).toEqual([]);
      const ways = waysPs(topology);
      const thereAndBackPs = ways.map((from, v) => Math.max(...ways.map((to) => to[v] as number)) + Math.max(...from));
      const mostPs = Math.min(...thereAndBackPs) + 2 * bytesPs(topology, npuCount);
      expect(simulateSchedule(schedule).ps).toBeLessThanOrEqual(mostPs);
    });
    await fc.assert(property, { numRuns: runs(60), seed: 12 });
  });
});

describe("at small sizes", () => {
  const NETWORKS = ["dgx1", "dragonfly:4x5@400,200GB/s", "switch:8*switch:4@300,25GB/s,0.5us", "K(4,4)@25Gbps,13.33us"];
  it.each(quick(NETWORKS, (name) => name === "dgx1"))(
    "on %s tacos is within two hundredths of the best of the others",
    { timeout: 180_000 },
    async (name) => {
      const topology = presetTopology(name);
      for (const collective of ["allgather", "allreduce"] as const) {
        for (const sizeBytes of [1024, 65_536, 1_000_000]) {
          const usBy = async (algorithm: string, chunks?: "auto"): Promise<number> => {
            const asked = { collective, sizeBytes, algorithm, ...(chunks === undefined ? {} : { chunks }) };
            return (await synthesize(engine, topology, asked, false)).report.time.us;
          };
          const rivals = switchCount(topology) > 0 ? ["forestcoll", "themis"] : ["bfb", "rings", "forestcoll"];
          const us = await usBy("tacos", "auto");
          for (const rival of rivals) {
            const their = await usBy(rival).catch(() => Number.POSITIVE_INFINITY);
            expect(us, `${collective} of ${sizeBytes} bytes: ${rival}`).toBeLessThanOrEqual(1.02 * their);
          }
        }
      }
    },
  );
});
