import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { lagsOf, leastTime } from "../../../src/model/bounds/lag.ts";
import { add, multiply, rational, subtract } from "../../../src/model/numbers/rational.ts";
import { PS_PER_SECOND } from "../../../src/model/numbers/units.ts";
import { nodeCount, type Topology } from "../../../src/model/topology/topology.ts";
import { drawnNetwork, drawsOf } from "../../support/partition-limits.ts";
import { runs } from "../../support/runs.ts";

/** Returns the least latencies between all nodes over ways whose inner nodes are in no part (Floyd and Warshall). */
function distances({ linkSource, linkTarget, linkLatencyPs }: Topology, part: Int32Array): number[][] {
  const far = Array.from(part, (_, a) => Array.from(part, (__, b) => (a === b ? 0 : Number.POSITIVE_INFINITY)));
  linkLatencyPs.forEach((ps, link) => {
    const row = far[linkSource[link]] as number[];
    row[linkTarget[link]] = Math.min(row[linkTarget[link]] as number, ps);
  });
  part.forEach((own, via) => {
    if (own >= 0) return;
    for (const row of far) {
      row.forEach((known, b) => {
        row[b] = Math.min(known, (row[via] as number) + ((far[via] as number[])[b] as number));
      });
    }
  });
  return far;
}

describe("bandwidth and latency together", () => {
  it("by the least time links have carried the bytes, and not sooner", () => {
    fc.assert(
      fc.property(
        fc.bigInt({ min: 1n, max: 10n ** 15n }),
        fc.integer({ min: 1, max: 9 }),
        fc.uniqueArray(fc.nat({ max: 1e9 }), { minLength: 1, maxLength: 6 }),
        fc.array(fc.bigInt({ min: 1n, max: 10n ** 12n }), { minLength: 6, maxLength: 6 }),
        (num, den, delays, bandwidths) => {
          const bytes = rational(num, den);
          const lags = new Map(delays.sort((a, b) => a - b).map((ps, i) => [ps, bandwidths[i] as bigint]));
          const time = leastTime(bytes, lags);
          if (time === null) throw new Error("no time");
          let carried = rational(0);
          for (const [ps, bytesPerSecond] of lags) {
            const since = subtract(time, rational(ps));
            if (since.num > 0n) carried = add(carried, multiply(since, rational(bytesPerSecond)));
          }
          expect(carried).toEqual(multiply(bytes, rational(PS_PER_SECOND)));
        },
      ),
      { numRuns: runs(400) },
    );
    expect(leastTime(rational(1), new Map())).toBeNull();
  });

  it("takes for a link the shortest way over it from its part to another, exactly where there are two parts", () => {
    fc.assert(
      fc.property(fc.nat(), fc.integer({ min: 2, max: 5 }), (seed, most) => {
        const draws = drawsOf(seed);
        const topology = drawnNetwork(draws, { mostNpus: 7, mostSwitches: 4, latencies: [0, 1, 5, 7, 20] });
        const { npuCount, linkSource, linkTarget, linkLatencyPs, linkBytesPerSecond } = topology;
        const parts = Math.min(most, npuCount);
        const part = new Int32Array(nodeCount(topology)).fill(-1);
        for (let npu = 0; npu < npuCount; npu++) part[npu] = npu < parts ? npu : draws.below(parts);
        const far = distances(topology, part);
        const least = (own: number, link: number): number => {
          let best = Number.POSITIVE_INFINITY;
          for (let a = 0; a < npuCount; a++) {
            for (let b = 0; b < npuCount; b++) {
              if (part[a] !== own || part[b] === own) continue;
              const [to, on] = [far[a]?.[linkSource[link]], far[linkTarget[link]]?.[b]] as [number, number];
              best = Math.min(best, to + linkLatencyPs[link] + on);
            }
          }
          return best;
        };
        for (let link = 0; link < linkSource.length; link++) {
          for (let own = 0; own < parts; own++) {
            const lies = (node: number, inside: boolean): boolean => part[node] < 0 || (part[node] === own) === inside;
            if (!lies(linkSource[link], true) || !lies(linkTarget[link], false)) continue;
            const found = [...lagsOf(topology, part, (visit) => visit(link, own))];
            const lag = found.length === 0 ? Number.POSITIVE_INFINITY : (found[0] as [number, bigint])[0];
            expect(lag).toBeLessThanOrEqual(least(own, link));
            if (parts === 2) expect(lag).toBe(least(own, link));
            if (found.length > 0) expect(found[0]?.[1]).toBe(BigInt(linkBytesPerSecond[link]));
          }
        }
      }),
      { numRuns: runs(200) },
    );
  });
});
