import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { boundOf } from "../../src/model/bounds/bounds.ts";
import { presetTopology } from "../../src/model/presets/preset.ts";
import { routeTimes } from "../../src/model/routes/routes.ts";
import { routesOf } from "../../src/model/routes/routing.ts";
import { expandSlots, portsOf } from "../../src/model/slots/slot-schedule.ts";
import { translatedSchedule, translationsOf } from "../../src/model/symmetry/translation.ts";
import type { Topology } from "../../src/model/topology/topology.ts";
import { invariantAllGather } from "../../src/synthesize/tacos/invariant-logs.ts";
import { verifySchedule } from "../../src/verify/steps/schedule.ts";
import { anyCayley, type Cayley, cayleyNetwork, npusOf, sum } from "../support/cayley.ts";
import { runs, seen } from "../support/runs.ts";
import { wholeCollective } from "../support/synthesis.ts";

function allGather(topology: Topology, chunksPerNpu = 1, sizes = translationsOf(topology, routesOf(topology, 1))) {
  if (sizes === null) throw new Error(`${topology.name} is not invariant`);
  const routes = routesOf(topology, 1);
  const found = invariantAllGather(routes, topology.npuCount, sizes, chunksPerNpu, { seed: 1 });
  return { routes, sizes, found };
}

/** Synthesizes and judges the expansion of all NPUs; returns the slots, the search's bound and the model's bound in slots. */
function judged(topology: Topology, chunksPerNpu = 1) {
  const { routes, sizes, found } = allGather(topology, chunksPerNpu);
  if (found === null) throw new Error(`${topology.name} is not connected`);
  const { row, slots, bound } = found;
  const collective = wholeCollective(topology, "allgather", 8 * topology.npuCount * chunksPerNpu, chunksPerNpu);
  const times = routeTimes(topology, routes, collective.chunkBytes);
  const passes = [{ reversed: false, reduces: false }];
  const rows = { topology, routes, sizes, chunksPerNpu, row };
  const schedule = translatedSchedule(rows, collective, { slotPs: times.slotPs[0], slots, passes });
  expect(verifySchedule(expandSlots(schedule)).violations).toEqual([]);
  const proved = boundOf(topology, collective, routes, times).ps;
  return { slots, bound, proved: Number(proved.num) / Number(proved.den) / times.slotPs[0] };
}

/**
 * Returns the least slots of any schedule that is the same for all NPUs, by visiting all sets that one of them can hold after
 * each slot (more is never worse, so each slot takes as much as it can); null when it never holds all.
 */
function fewestSlots({ sizes, offsets }: Cayley, chunksPerNpu: number): number | null {
  const elements = npusOf({ sizes, offsets }) * chunksPerNpu;
  const brought = (port: number, element: number): number =>
    sum(sizes, Math.floor(element / chunksPerNpu), offsets[port]) * chunksPerNpu + (element % chunksPerNpu);
  const size = (set: number): number => [...set.toString(2)].filter((bit) => bit === "1").length;
  let level = new Set([2 ** chunksPerNpu - 1]);
  for (let slot = 0; level.size > 0; slot++) {
    if (level.has(2 ** elements - 1)) return slot;
    const next = new Set<number>();
    for (const held of level) {
      let gains = new Set([0]);
      for (let port = 0; port < offsets.length; port++) {
        const more = new Set(gains);
        for (let element = 0; element < elements; element++) {
          const bit = 1 << brought(port, element);
          if ((held & (1 << element)) === 0 || (held & bit) !== 0) continue;
          for (const gain of gains) if ((gain & bit) === 0) more.add(gain | bit);
        }
        gains = more;
      }
      const most = Math.max(...[...gains].map(size));
      for (const gain of gains) if (most > 0 && size(gain) === most) next.add(held | gain);
    }
    level = next;
  }
  return null;
}

describe("invariantAllGather", () => {
  it.each([
    ["torus:3x3", 1, 2],
    ["torus:3x3", 2, 4],
    ["torus:4x4", 1, 4],
    ["torus:5x5", 1, 6],
    ["torus:5x5", 3, 18],
    ["torus:8x8", 4, 63],
    ["torus:2x20", 1, 13],
    ["torus:3x33", 1, 25],
    ["torus:5x20", 1, 25],
    ["torus:2x2x7", 1, 7],
    ["torus:3x4x5", 2, 20],
    ["torus:10x10x3", 1, 50],
    ["ring:2", 1, 1],
    ["ring:9", 1, 4],
    ["ring:10", 3, 14],
    ["fc:9", 1, 1],
    ["fc:9", 5, 5],
    ["hypercube:1", 1, 1],
    ["hypercube:7", 1, 19],
    ["ring:4*fc:3*ring:2", 1, 5],
  ])("meets the bound on %s with %i chunks per NPU, every transfer judged", (expression, chunksPerNpu, slots) => {
    const found = judged(presetTopology(expression), chunksPerNpu);
    expect(found).toEqual({ slots, bound: slots, proved: slots });
  });

  it("meets the bound on every square torus from 3x3 to 24x24 and on larger ones", () => {
    for (const side of [...Array.from({ length: 22 }, (_, i) => i + 3), 32, 33, 63, 100, 200]) {
      const { found } = allGather(presetTopology(`torus:${side}x${side}`));
      expect([side, found?.slots]).toEqual([side, Math.ceil((side * side - 1) / 4)]);
      expect(found?.bound).toBe(found?.slots);
    }
  });

  it("meets the bound on cubes, long tori, rings and large binary cubes", () => {
    const cubes = [3, 4, 5, 6, 7, 8, 9, 10, 20].map((side) => `torus:${side}x${side}x${side}`);
    const long = [2, 3, 5].flatMap((side) => [40, 41].map((length) => `torus:${side}x${length}`));
    for (const expression of [...cubes, ...long, "ring:500", "torus:2x2x50", "hypercube:12", "fc:128"]) {
      const { found } = allGather(presetTopology(expression));
      expect([expression, found?.slots]).toEqual([expression, found?.bound]);
    }
  });

  it("gives correct schedules on any wiring of groups, never below a proved bound", () => {
    fc.assert(
      fc.property(anyCayley(20), fc.integer({ min: 1, max: 3 }), fc.nat(1000), (cayley, chunksPerNpu, seed) => {
        const topology = cayleyNetwork(cayley, seed);
        const { found } = allGather(topology);
        fc.pre(found !== null);
        const { slots, bound, proved } = judged(topology, chunksPerNpu);
        expect(slots).toBeGreaterThanOrEqual(bound);
        expect(slots).toBeGreaterThanOrEqual(proved);
      }),
      { numRuns: runs(60) },
    );
  });

  it("is as short as an exhaustive search finds for small groups, one-way and parallel links included", () => {
    let searched = 0;
    for (const sizes of [[2], [3], [4], [2, 2], [5], [6], [3, 2], [7], [8], [4, 2], [2, 2, 2], [9], [3, 3]]) {
      const npus = npusOf({ sizes, offsets: [] });
      for (let a = 1; a < npus; a++) {
        for (let b = a; b < npus; b++) {
          for (const offsets of [[a], [a, b], [a, a, b], [a, b, npus - a], [a, b, npus - a, npus - b]]) {
            if (offsets.length === 1 && b > a) continue;
            for (let chunksPerNpu = 1; npus * chunksPerNpu <= 10; chunksPerNpu++) {
              const cayley = { sizes, offsets };
              const { found } = allGather(cayleyNetwork(cayley), chunksPerNpu, sizes);
              const fewest = fewestSlots(cayley, chunksPerNpu);
              expect([sizes, offsets, chunksPerNpu, found?.slots ?? null]).toEqual([
                sizes,
                offsets,
                chunksPerNpu,
                fewest,
              ]);
              if (found !== null) expect(found.bound).toBeLessThanOrEqual(fewest as number);
              searched++;
            }
          }
        }
      }
    }
    expect(searched).toBeGreaterThan(seen(1000));
  });

  it.each([
    ["torus:5x5", 1],
    ["torus:2x3x4", 2],
    ["torus:4x4", 3],
    ["ring:7", 2],
    ["hypercube:5", 1],
    ["fc:6", 3],
    ["ring:4*fc:3", 1],
  ])(
    "serves reduce-scatter and all-reduce backwards over mirrored routes on %s, %i chunks per NPU",
    (expression, k) => {
      const topology = presetTopology(expression);
      const { routes, sizes, found } = allGather(topology, k);
      if (found === null) throw new Error(`${expression} is not connected`);
      const rows = { topology, routes, sizes, chunksPerNpu: k, row: found.row };
      const backwards = { reversed: true, reduces: true };
      const forwards = { reversed: false, reduces: false };
      for (const [kind, passes] of [
        ["reducescatter", [backwards]],
        ["allreduce", [backwards, forwards]],
      ] as const) {
        const collective = wholeCollective(topology, kind, 8 * topology.npuCount * k, k);
        const { slotPs } = routeTimes(topology, routes, collective.chunkBytes);
        const schedule = translatedSchedule(rows, collective, { slotPs: slotPs[0], slots: found.slots, passes });
        expect(verifySchedule(expandSlots(schedule)).violations).toEqual([]);
      }
    },
  );

  it("counts the parallel links that cannot all be used in the first slot", () => {
    const { found } = allGather(cayleyNetwork({ sizes: [11], offsets: [1, 1, 1, 2] }), 2);
    // 20 chunks over 4 ports would be 5 slots, but of the first slot one port has nothing to bring
    expect(found?.bound).toBe(6);
  });

  it("returns null where some NPU cannot be reached", () => {
    const apart = cayleyNetwork({ sizes: [6], offsets: [2, 4] });
    expect(allGather(apart).found).toBeNull();
  });

  it("writes ports that are those of NPU 0, more than 8 too", () => {
    const topology = presetTopology("fc:13");
    const { routes, found } = allGather(topology, 2);
    const ports = portsOf(routes, 13);
    expect([...(found?.row.ports ?? [])]).toEqual([255, 15, 255, 15]);
    const chunk = [...(found?.row.chunk ?? [])];
    for (let port = 0; port < 12; port++) {
      expect(Math.floor(chunk[2 + port] / 2)).toBe(routes.source[ports.items[port]]);
    }
  });

  it("repeats itself for a seed, and needs one trial where the first meets the bound", () => {
    const topology = presetTopology("torus:6x7");
    const once = allGather(topology, 2).found;
    expect(allGather(topology, 2).found).toEqual(once);
    expect(once).toMatchObject({ trials: 1, policy: "rarest, oldest first" });
    // only with augmenting paths does the first trial fill both slots
    expect(allGather(cayleyNetwork({ sizes: [7], offsets: [1, 2, 4] })).found).toMatchObject({ slots: 2, trials: 1 });
    const drawn = allGather(cayleyNetwork({ sizes: [12], offsets: [1, 1, 6, 10] })).found;
    expect(drawn).toMatchObject({ bound: 3, slots: 3, policy: "rarest, drawn among equals" });
    expect(drawn?.trials).toBeLessThan(64);
    const hopeless = cayleyNetwork({ sizes: [9], offsets: [1, 3, 4, 6] });
    expect(allGather(hopeless).found).toMatchObject({ bound: 2, slots: 3, trials: 64 });
  });
});
