import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { boundOf, limitOf, mergedBoundOf } from "../../src/model/bounds/bounds.ts";
import { doublingBoundOf } from "../../src/model/bounds/doubling.ts";
import {
  COLLECTIVE_KINDS,
  type Collective,
  collective,
  type NamedCollective,
  placementOfLists,
} from "../../src/model/collective/collective.ts";
import { compare, rational, toNumber } from "../../src/model/numbers/rational.ts";
import { routeTimes } from "../../src/model/routes/routes.ts";
import { routesOf } from "../../src/model/routes/routing.ts";
import type { SwitchDegree } from "../../src/model/routes/switch-degrees.ts";
import { makespanPs, type StepSchedule } from "../../src/model/steps/step-schedule.ts";
import type { Topology } from "../../src/model/topology/topology.ts";
import { topologyBuilder } from "../../src/model/topology/topology-builder.ts";
import { bound, network } from "../support/bound-cases.ts";
import { mergedSchedule } from "../support/merged-schedules.ts";
import { optimalUnits } from "../support/optimum.ts";
import { runs, seen } from "../support/runs.ts";
import { simpleSchedule } from "../support/simple-schedules.ts";
import { wholeCollective } from "../support/synthesis.ts";

/** A unit of time is 1000 ps: a chunk of 1000 bytes at 1e12 bytes/s; slower links have latency for the rest. */
const UNIT = 1000;
const RATE = 1e12;
const bytesFor = (kind: NamedCollective, npus: number, chunks: number): number =>
  1000 * chunks * (kind === "broadcast" || kind === "reduce" ? 1 : npus);

function both(
  t: Topology,
  kind: NamedCollective,
  chunks: number,
  degree: SwitchDegree,
  cap?: number,
  root = 0,
  outsiders = 0,
) {
  // outsiders: NPUs that only relay; ranks run downwards, so that rank and id differ
  const size = Math.max(2, t.npuCount - outsiders);
  const group = Int32Array.from({ length: size }, (_, rank) => t.npuCount - 1 - rank);
  const c = collective({
    kind,
    groups: [outsiders > 0 ? group : group.toReversed()],
    sizeBytes: bytesFor(kind, size, chunks),
    chunksPerNpu: chunks,
    rootRank: root % size,
  });
  const routes = routesOf(t, degree);
  const times = routeTimes(t, routes, c.chunkBytes);
  const slots = Array.from(times.slotPs, (ps) => ps / UNIT);
  return {
    bound: toNumber(boundOf(t, c, routes, times).ps) / UNIT,
    limit: toNumber(limitOf(t, c).ps) / UNIT,
    optimum: optimalUnits(c, t.npuCount, routes, slots, cap),
    merged: {
      bound: toNumber(mergedBoundOf(t, c, routes, times).ps) / UNIT,
      doubling: toNumber(doublingBoundOf(t, c, routes, times).ps) / UNIT,
      optimum: (most = cap) =>
        optimalUnits(
          c,
          t.npuCount,
          routes,
          slots,
          most,
          Array.from(times.serialPs, (ps) => ps / UNIT),
        ),
    },
  };
}

describe("bounds against exhaustive search", () => {
  const tight: [string, NamedCollective, number, number][] = [
    ["ring:3", "allgather", 1, 1],
    ["ring:4", "allgather", 1, 2],
    ["line:3", "allgather", 1, 2],
    ["line:4", "allgather", 1, 3],
    ["mesh:2x2", "allgather", 1, 2],
    ["ring:3", "reducescatter", 1, 1],
    ["ring:3", "allreduce", 1, 2],
    ["ring:2", "allreduce", 1, 2],
    ["line:3", "broadcast", 3, 4],
    ["ring:4", "broadcast", 2, 2],
    ["line:4", "broadcast", 2, 4],
    ["line:3", "reduce", 3, 4],
    ["line:4", "scatter", 1, 3],
    ["ring:4", "scatter", 1, 2],
    ["line:3", "scatter", 2, 4],
    ["line:4", "gather", 1, 3],
    ["ring:4", "gather", 1, 2],
    ["line:3", "alltoall", 1, 2],
    ["ring:3", "alltoall", 1, 1],
    ["fc:4", "allgather", 1, 1],
    ["switch:3", "allgather", 1, 4],
    ["switch:3", "alltoall", 1, 4],
    ["switch:3", "scatter", 1, 4],
    ["switch:3", "gather", 1, 4],
  ];
  // a port route has two hops of latency 500: 1 + 1 units; a direct link has none: 1 unit
  it.each(tight)("%s %s in %d chunks: bound = optimum = %d units", (shape, kind, chunks, units) => {
    const t = network(`${shape}@1000GB/s,${shape.startsWith("switch") ? "0.5ns" : "0us"}`);
    const result = both(t, kind, chunks, "ports", 200_000);
    expect(result.optimum).toBe(units);
    expect(result.bound).toBe(units);
  });

  it("meets the optimum of a fast pair behind slow links: the tail", () => {
    const b = topologyBuilder("pair and one");
    for (const name of ["a", "b", "c"]) b.addNpu(name);
    b.addDuplex(0, 1, RATE, 0);
    b.addDuplex(0, 2, RATE, 2 * UNIT);
    const result = both(b.build(), "allgather", 1, "ports");
    // c's chunk takes 3 units to a and 1 more to b; b's chunk 1 to a and 3 more, a's own 3 before it: 6 to c
    expect(result).toMatchObject({ optimum: 6, bound: 6 });
  });

  const anyTiny = fc
    .record({
      npus: fc.integer({ min: 2, max: 4 }),
      links: fc.array(fc.tuple(fc.nat(), fc.nat(), fc.integer({ min: 0, max: 2 }), fc.boolean()), {
        minLength: 1,
        maxLength: 6,
      }),
      attached: fc.array(fc.integer({ min: 0, max: 3 }), { maxLength: 3 }),
    })
    .map(({ npus, links, attached }) => {
      const b = topologyBuilder("tiny");
      for (let i = 0; i < npus; i++) b.addNpu(`n${i}`);
      const ports = [...new Set(attached)].filter((v) => v < npus);
      const hub = ports.length > 1 ? b.addSwitch("s") : -1;
      for (const [from, to, slow, back] of links) {
        if (from % npus === to % npus) continue;
        if (back) b.addDuplex(from % npus, to % npus, RATE, slow * UNIT);
        else b.addLink(from % npus, to % npus, RATE, slow * UNIT);
      }
      if (hub >= 0) for (const v of ports) b.addDuplex(v, hub, RATE, UNIT / 2);
      return b.build();
    });

  const merging: [string, NamedCollective, number, number, number, number][] = [
    // latency of 2 units once, and a unit for each of the chunks
    ["line:2@1000GB/s,2ns", "allgather", 3, 9, 5, 5],
    ["line:2@1000GB/s,2ns", "broadcast", 4, 12, 6, 6],
    ["line:2@1000GB/s,2ns", "reduce", 4, 12, 6, 6],
    ["ring:3@1000GB/s,2ns", "scatter", 2, 6, 4, 4],
    ["ring:3@1000GB/s,2ns", "gather", 2, 6, 4, 4],
    // the two chunks stay together, or the second waits for a latency of its own
    ["line:3@1000GB/s,1ns", "broadcast", 2, 6, 5, 6],
    ["line:3@1000GB/s,1ns", "alltoall", 1, 4, 4, 4],
    // each chunk comes over a route of its own through the port
    ["switch:3@1000GB/s,0.5ns", "allgather", 1, 4, 3, 4],
  ];
  it.each(merging)(
    "%s %s in %d chunks: %d units one by one, %d merged",
    (shape, kind, chunks, single, least, units) => {
      const result = both(network(shape), kind, chunks, "ports", 60_000);
      expect([result.bound, result.merged.bound, result.merged.optimum()]).toEqual([single, least, units]);
    },
  );

  it("never exceed the optimum, nor does the limit", () => {
    let searched = 0;
    let [sooner, met] = [0, 0];
    fc.assert(
      fc.property(
        anyTiny,
        fc.constantFrom(...COLLECTIVE_KINDS),
        fc.integer({ min: 1, max: 2 }),
        fc.constantFrom<SwitchDegree>(1, 2, "ports"),
        fc.nat(),
        fc.integer({ min: 0, max: 1 }),
        (t, kind, chunks, degree, root, outsiders) => {
          let result: ReturnType<typeof both>;
          try {
            result = both(t, kind, chunks, degree, 3_000, root, outsiders);
          } catch (error) {
            fc.pre((error as Error).name !== "InfeasibleError");
            throw error;
          }
          expect(result.limit).toBeLessThanOrEqual(result.merged.bound);
          const merged = result.merged.bound < result.bound ? result.merged.optimum(500) : null;
          if (merged !== null) {
            expect(result.merged.bound).toBeLessThanOrEqual(merged);
            expect(result.merged.doubling).toBeLessThanOrEqual(merged);
            if (merged < (result.optimum ?? 0)) sooner++;
            if (merged === result.merged.bound) met++;
          }
          if (result.optimum === null) return;
          searched++;
          expect(result.bound).toBeLessThanOrEqual(result.optimum);
        },
      ),
      { numRuns: runs(350) },
    );
    expect(searched).toBeGreaterThan(seen(80));
    expect(Math.min(sooner, met)).toBeGreaterThan(seen(8));
  });
});

describe("the bound by doubling", () => {
  // rounds of the latency of two hops, and a unit for each chunk that is not there at the start; 0.5 ns: 1 unit each
  const star: [string, NamedCollective, number, number, number][] = [
    ["switch:2@1000GB/s,0.5ns", "allgather", 2, 3, 3],
    ["switch:3@1000GB/s,0.5ns", "allgather", 1, 4, 4],
    ["switch:3@1000GB/s,0.5ns", "gather", 1, 4, 4],
    ["switch:3@1000GB/s,0.5ns", "scatter", 2, 6, 6],
    ["switch:4@1000GB/s,0.5ns", "scatter", 1, 5, 5],
    // one chunk alone takes latency and unit in every round
    ["switch:3@1000GB/s,0.5ns", "broadcast", 1, 4, 4],
    ["switch:4@1000GB/s,1ns", "broadcast", 1, 6, 6],
    ["switch:3@1000GB/s,0.5ns", "reduce", 1, 4, 4],
    // two ways in: three know it after a round; half of the others' chunks over each
    ["ring:3@1000GB/s,2ns", "allgather", 1, 3, 3],
    ["ring:4@1000GB/s,1ns", "scatter", 1, 3.5, 4],
  ];
  it.each(star)("%s %s in %d chunks: %d units, of %d", (shape, kind, chunks, units, least) => {
    const { merged } = both(network(shape), kind, chunks, "ports", 60_000);
    expect([merged.doubling, merged.optimum()]).toEqual([units, least]);
  });

  it("never exceeds the optimum of random small networks around a switch", () => {
    let [searched, greater, met] = [0, 0, 0];
    fc.assert(
      fc.property(
        fc.record({
          delays: fc.array(fc.constantFrom(0.5, 0.5, 0.5, 1), { minLength: 3, maxLength: 4 }),
          links: fc.array(fc.tuple(fc.nat(), fc.nat(), fc.integer({ min: 0, max: 3 })), { maxLength: 1 }),
        }),
        fc.constantFrom<NamedCollective>("allgather", "scatter", "broadcast", "gather", "reduce", "alltoall"),
        fc.constantFrom(1, 1, 2),
        fc.constantFrom<SwitchDegree>("ports", "ports", "ports", 2),
        fc.nat(),
        fc.integer({ min: 0, max: 1 }),
        ({ delays, links }, kind, chunks, degree, root, outsiders) => {
          const b = topologyBuilder("star");
          for (const i of delays.keys()) b.addNpu(`n${i}`);
          const hub = b.addSwitch("s");
          for (const [npu, delay] of delays.entries()) b.addDuplex(npu, hub, RATE, delay * UNIT);
          for (const [from, to, delay] of links) {
            const [x, y] = [from % delays.length, to % delays.length];
            if (x !== y) b.addLink(x, y, RATE, delay * UNIT);
          }
          const { merged } = both(b.build(), kind, chunks, degree, 1, root, outsiders);
          const optimum = merged.optimum(5000);
          if (optimum === null) return;
          searched++;
          expect(merged.doubling).toBeLessThanOrEqual(optimum);
          if (merged.doubling <= merged.bound) return;
          greater++;
          if (merged.doubling === optimum) met++;
        },
      ),
      { numRuns: runs(150) },
    );
    expect([searched > seen(50), greater > seen(15), met > seen(8)], `${searched} ${greater} ${met}`).toEqual([
      true,
      true,
      true,
    ]);
  });

  it("counts slow routes between sets of NPUs that faster ones join", () => {
    const b = topologyBuilder("two pairs");
    for (const name of ["a", "b", "c", "d"]) b.addNpu(name);
    for (const first of [0, 2]) b.addDuplex(first, first + 1, RATE, 0);
    b.addDuplex(1, 2, RATE, 7 * UNIT);
    const found = (kind: NamedCollective) => {
      const t = b.build();
      const c = wholeCollective(t, kind, 4000);
      const routes = routesOf(t, "ports");
      return doublingBoundOf(t, c, routes, routeTimes(t, routes, c.chunkBytes));
    };
    // a message of both chunks of the other pair: 7 + 2
    expect(found("allgather")).toMatchObject({
      ps: rational(9 * UNIT),
      witness: { count: 4, known: 2, sets: 2, ways: 1, rounds: 1 },
    });
    expect(found("reduce")).toMatchObject({ witness: { what: "copies", direction: "in", count: 4, known: 2 } });
  });

  it("follows the chunks that an NPU wants of a custom collective, wherever they start", () => {
    const t = network("switch:4@1000GB/s,0.5ns");
    const routes = routesOf(t, "ports");
    const gather = wholeCollective(t, "gather", 4000);
    const custom = { ...gather, kind: "custom" as const };
    const of = (c: Collective) => doublingBoundOf(t, c, routes, routeTimes(t, routes, c.chunkBytes));
    expect(of(custom).ps).toEqual(of(gather).ps);
    const three = placementOfLists([[0], [1, 2], [1], [1]].map((list) => Int32Array.from(list)));
    // a round of 1000 and one more chunk
    expect(of({ ...custom, pre: three })).toMatchObject({ ps: rational(2000), witness: { known: 3, rounds: 1 } });
  });

  it("is nothing where one message at a time is no matter", () => {
    const t = network("switch:4");
    const routes = routesOf(t, "ports");
    const alone = { ...wholeCollective(t, "allgather", 4000), groupSize: 1 };
    expect(doublingBoundOf(t, alone, routes, routeTimes(t, routes, alone.chunkBytes)).witness.kind).toBe("nothing");
  });
});

describe("the bound of merged sends", () => {
  it("is never above the time of a valid schedule, merged or not", () => {
    let below = 0;
    const atLeast = (schedule: StepSchedule): void => {
      const { topology, collective: goal, routes } = schedule;
      const times = routeTimes(topology, routes, goal.chunkBytes);
      const merged = toNumber(mergedBoundOf(topology, goal, routes, times).ps);
      expect(merged).toBeLessThanOrEqual(makespanPs(schedule));
      expect(toNumber(doublingBoundOf(topology, goal, routes, times).ps)).toBeLessThanOrEqual(makespanPs(schedule));
      const single = toNumber(boundOf(topology, goal, routes, times).ps);
      if (makespanPs(schedule) < single) below++;
    };
    for (let seed = 0; seed < 400; seed++) {
      atLeast(mergedSchedule(seed));
      atLeast(simpleSchedule(seed));
    }
    expect(below).toBeGreaterThan(seen(8)); // no merged send could do that in whole slots
  });

  it("is that of the farthest pair where chunks have no bytes", () => {
    const t = network("line:3@1GB/s,1us");
    const routes = routesOf(t, "ports");
    const c = { ...wholeCollective(t, "allgather", 3), chunkBytes: rational(0) };
    const found = mergedBoundOf(t, c, routes, routeTimes(t, routes, c.chunkBytes));
    expect(found).toEqual({ ps: rational(2_000_000), witness: { kind: "latency", from: 0, to: 2 } });
  });
});

describe("laws of bounds", () => {
  const anyConnected = fc
    .record({
      npus: fc.integer({ min: 2, max: 9 }),
      switches: fc.integer({ min: 0, max: 2 }),
      extra: fc.array(fc.tuple(fc.nat(), fc.nat()), { maxLength: 12 }),
      speeds: fc.array(fc.integer({ min: 1, max: 8 }), { minLength: 40, maxLength: 40 }),
      latencies: fc.array(fc.nat(3), { minLength: 40, maxLength: 40 }),
    })
    .map(({ npus, switches, extra, speeds, latencies }) => {
      // a ring of the NPUs, switches on the first few, and chords
      const pairs: [number, number][] = [];
      for (let i = 0; i < npus; i++) pairs.push([i, (i + 1) % npus]);
      for (let s = 0; s < switches; s++) for (let i = s; i < Math.min(npus, s + 4); i++) pairs.push([i, npus + s]);
      for (const [a, b] of extra) if (a % npus !== b % npus) pairs.push([a % npus, b % npus]);
      return { npus, switches, pairs, speeds, latencies };
    });
  type Recipe = typeof anyConnected extends fc.Arbitrary<infer R> ? R : never;

  function built(recipe: Recipe, slowed = -1): Topology {
    const b = topologyBuilder("random");
    for (let i = 0; i < recipe.npus; i++) b.addNpu(`n${i}`);
    for (let i = 0; i < recipe.switches; i++) b.addSwitch(`s${i}`);
    recipe.pairs.forEach(([x, y], i) => {
      const rate = 8e9 * recipe.speeds[i % 40];
      b.addDuplex(x, y, i === slowed ? rate / 4 : rate, 100_000 * recipe.latencies[i % 40]);
    });
    return b.build();
  }

  it("the bound is at least the limit, for every collective, on ports and unwound switches", () => {
    fc.assert(
      fc.property(
        anyConnected,
        fc.constantFrom(...COLLECTIVE_KINDS),
        fc.integer({ min: 1, max: 3 }),
        (recipe, kind, chunks) => {
          const t = built(recipe);
          const c = wholeCollective(t, kind, 720_720, chunks);
          const limit = limitOf(t, c).ps;
          expect(compare(bound(t, c, "ports").ps, limit)).toBeGreaterThanOrEqual(0);
          expect(compare(bound(t, c, 1).ps, limit)).toBeGreaterThanOrEqual(0);
        },
      ),
      { numRuns: runs(150) },
    );
  });

  it("the limit of an all-gather is the worst cut over all subsets of nodes", () => {
    fc.assert(
      fc.property(anyConnected, (recipe) => {
        const t = built(recipe);
        const nodes = recipe.npus + recipe.switches;
        let worst = 0;
        for (let set = 1; set < 1 << nodes; set++) {
          let inside = 0;
          for (let v = 0; v < recipe.npus; v++) inside += (set >> v) & 1;
          if (inside === 0 || inside === recipe.npus) continue;
          let width = 0;
          for (let l = 0; l < t.linkSource.length; l++) {
            if (!((set >> t.linkSource[l]) & 1) && (set >> t.linkTarget[l]) & 1) width += t.linkBytesPerSecond[l];
          }
          worst = Math.max(worst, (recipe.npus - inside) / width);
        }
        // no latency: 720,720 bytes divide evenly by up to 9 NPUs, and the cut is all that counts
        const still = { ...t, linkLatencyPs: new Float64Array(t.linkSource.length) };
        const limit = limitOf(still, wholeCollective(still, "allgather", 720_720_000));
        expect(toNumber(limit.ps)).toBeCloseTo(((worst * 720_720_000) / recipe.npus) * 1e12, -1);
      }),
      { numRuns: runs(120) },
    );
  });

  it("slowing a link down never lowers the limit", () => {
    fc.assert(
      fc.property(
        anyConnected,
        fc.nat(),
        fc.constantFrom<NamedCollective>(
          "allgather",
          "broadcast",
          "scatter",
          "allreduce",
          "reducescatter",
          "reduce",
          "gather",
        ),
        (recipe, which, kind) => {
          const before = built(recipe);
          const after = built(recipe, which % recipe.pairs.length);
          const size = 720_720;
          const limit = compare(
            limitOf(after, wholeCollective(after, kind, size)).ps,
            limitOf(before, wholeCollective(before, kind, size)).ps,
          );
          expect(limit).toBeGreaterThanOrEqual(0);
        },
      ),
      { numRuns: runs(150) },
    );
  });

  it("slowing a link of a mesh down never lowers its bound", () => {
    for (const expression of ["mesh:3x4@50,75GB/s,0.5us", "torus:4x4", "mesh:2x3@16,73GB/s,1us"]) {
      const t = network(expression);
      for (const kind of COLLECTIVE_KINDS) {
        const c = wholeCollective(t, kind, 12e6, 2);
        const before = bound(t, c).ps;
        for (let link = 0; link < t.linkSource.length; link += 5) {
          const slower = { ...t, linkBytesPerSecond: t.linkBytesPerSecond.with(link, 8e9) };
          expect(compare(bound(slower, c).ps, before), `${expression} ${kind} ${link}`).toBeGreaterThanOrEqual(0);
        }
      }
    }
  });
});
