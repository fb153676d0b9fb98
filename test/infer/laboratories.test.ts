import { describe, expect, it } from "vitest";
import type { Inferred } from "../../src/infer/infer.ts";
import { inferNetwork } from "../../src/infer/infer.ts";
import { nodeCount, type Topology } from "../../src/model/topology/topology.ts";
import {
  type HiddenNetwork,
  hiddenLaboratory,
  hiddenProber,
  randomOrder,
  renumbered,
} from "../support/hidden-network.ts";
import { LABORATORIES } from "../support/random-laboratories.ts";
import { triesAll } from "../support/runs.ts";

/** Returns sets of pairs that share something, with the narrowest capacity of each. */
function sharedSets(ways: readonly (readonly number[] | null)[], capacity: ArrayLike<number>): Map<string, number> {
  const users = Array.from(capacity, (): number[] => []);
  for (const [pair, way] of ways.entries()) for (const r of way ?? []) (users[r] as number[]).push(pair);
  const sets = new Map<string, number>();
  for (const [r, pairs] of users.entries()) {
    if (pairs.length === 0) continue;
    const key = pairs.join(" ");
    sets.set(key, Math.min(sets.get(key) ?? Number.POSITIVE_INFINITY, capacity[r] as number));
  }
  return sets;
}

/** Returns the greatest relative error of capacities; the sets of pairs that share must be those of the hidden network. */
function worstRate(hidden: HiddenNetwork, { sharing }: Inferred): number {
  const wanted = sharedSets(hidden.routes, hidden.capacity);
  const found = sharedSets(
    sharing.ways,
    sharing.resources.map(({ bytesPerSecond }) => bytesPerSecond),
  );
  expect([...found.keys()].sort()).toEqual([...wanted.keys()].sort());
  return Math.max(...[...wanted].map(([key, rate]) => Math.abs((found.get(key) as number) / rate - 1)));
}

const SEEDS = Array.from({ length: triesAll ? 20 : 2 }, (_, i) => i + 1);

describe("inference of hidden laboratories", () => {
  it.each(Object.keys(LABORATORIES))("finds what pairs share in %s, and bandwidths within 5 %%", async (name) => {
    const make = LABORATORIES[name] as (seed: number) => Topology;
    for (const seed of SEEDS) {
      const topology = make(seed);
      const laboratory = hiddenLaboratory(topology, { seed, overheadS: 40e-6, hopS: 8e-6 });
      const hidden = renumbered(laboratory, randomOrder(topology.npuCount, seed));
      const prober = hiddenProber(hidden, seed);
      const inferred = await inferNetwork(prober, { seed });
      expect(inferred.unexplained).toEqual([]);
      expect(worstRate(hidden, inferred)).toBeLessThan(0.05);
      // a switch of two ports is a link
      if (name !== "two boxes with rails") {
        expect(inferred.topology.linkSource.length).toBe(topology.linkSource.length);
        expect(nodeCount(inferred.topology)).toBe(nodeCount(topology));
      }
      expect(inferred.asked).toEqual(prober.asked);
      expect(prober.asked.experiments).toBeLessThan(400);
      expect(prober.asked.batches).toBeLessThan(12);
    }
  });
});

describe("inference of what it has no words for", () => {
  it("says that mixes are not explained where all links together are limited", async () => {
    const topology = (LABORATORIES["torus:3x3"] as (seed: number) => Topology)(1);
    const plain = hiddenLaboratory(topology, { overheadS: 40e-6, hopS: 8e-6 });
    const limited: HiddenNetwork = {
      ...plain,
      capacity: [...plain.capacity, 12 * (plain.capacity[0] as number)],
      routes: plain.routes.map((route) => (route.length === 0 ? route : [...route, plain.capacity.length])),
    };
    const { unexplained, check } = await inferNetwork(hiddenProber(limited, 3));
    expect(unexplained.length).toBeGreaterThan(0);
    expect(check.off.length).toBeGreaterThan(0);
  });

  it("needs no latency of hops: contention tells rings, tori and cubes from switches", async () => {
    for (const name of ["ring:4", "ring:8", "torus:3x3", "hypercube:3", "switch:8", "two-level 2:1"]) {
      for (const seed of SEEDS.slice(0, 5)) {
        const topology = (LABORATORIES[name] as (seed: number) => Topology)(seed);
        const laboratory = hiddenLaboratory(topology, { seed, overheadS: 40e-6, hopS: 0 });
        const hidden = renumbered(laboratory, randomOrder(topology.npuCount, seed));
        const inferred = await inferNetwork(hiddenProber(hidden, seed), { seed });
        expect(inferred.unexplained).toEqual([]);
        expect(worstRate(hidden, inferred)).toBeLessThan(0.05);
      }
    }
  });
});
