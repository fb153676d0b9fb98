import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import type { Kernels } from "../../src/engine/contract/kernels.ts";
import { toNumber } from "../../src/model/numbers/rational.ts";
import { stepsOfPeriods } from "../../src/model/periods/period-steps.ts";
import { presetTopology } from "../../src/model/presets/preset.ts";
import { routeTimes } from "../../src/model/routes/routes.ts";
import { routesOf } from "../../src/model/routes/routing.ts";
import type { StepSchedule } from "../../src/model/steps/step-schedule.ts";
import { degrade, without } from "../../src/model/topology/modify.ts";
import { placesOf, type Topology } from "../../src/model/topology/topology.ts";
import { topologyBuilder } from "../../src/model/topology/topology-builder.ts";
import { limitWithBottleneck } from "../../src/run/bottleneck.ts";
import { simulate } from "../../src/simulate/simulate.ts";
import { combsOf } from "../../src/synthesize/tacos/periods/combs.ts";
import { type DuplexNetwork, duplexNetwork } from "../../src/synthesize/tacos/periods/duplex.ts";
import { packed, shallowTrees } from "../../src/synthesize/tacos/periods/packing.ts";
import { periodsOf } from "../../src/synthesize/tacos/periods/periods.ts";
import { verifySchedule } from "../../src/verify/steps/schedule.ts";
import { availableKernels } from "../support/backends.ts";
import { quick, runs } from "../support/runs.ts";
import { columnsOf, inlineRunner, synthesizeWith, wholeCollective } from "../support/synthesis.ts";

let backends: Kernels[];
let kernels: Kernels;
beforeAll(async () => {
  backends = await availableKernels();
  kernels = backends[0] as Kernels;
});

const GIB = 2 ** 30;

/** Returns the network of edges with the times of chunks of 1 MiB, or null where links go one way. */
function edgesOrNull(topology: Topology): DuplexNetwork | null {
  const routes = routesOf(topology, 1);
  const { chunkBytes } = wholeCollective(topology, "allreduce", topology.npuCount * 2 ** 20, 1);
  return duplexNetwork(topology.npuCount, routes, routeTimes(topology, routes, chunkBytes));
}

const edgesOf = (topology: Topology): DuplexNetwork => edgesOrNull(topology) as DuplexNetwork;

/** Generates networks of two-way links, some of them side by side: a random tree and more links, alike or of mixed bandwidths. */
const twoWay = (mostNpus: number, mixed: boolean): fc.Arbitrary<Topology> =>
  fc
    .record({
      npus: fc.integer({ min: 2, max: mostNpus }),
      links: fc.array(fc.tuple(fc.nat(), fc.nat(), fc.nat(2)), { minLength: mostNpus, maxLength: 3 * mostNpus }),
    })
    .map(({ npus, links }) => {
      const builder = topologyBuilder(`${npus} NPUs`);
      for (let v = 0; v < npus; v++) builder.addNpu(`${v}`);
      for (const [i, [a, b, speed]] of links.entries()) {
        const [from, to] = i + 1 < npus ? [i + 1, a % (i + 1)] : [a % npus, b % npus];
        if (from !== to) builder.addDuplex(from, to, mixed ? [25e9, 50e9, 75e9][speed] : 50e9, 500_000);
      }
      return builder.build();
    });

/**
 * Returns the least slots in which so many spanning trees fit: the most that a partition of the NPUs asks of the edges between its
 * parts (Nash-Williams 1961, Tutte 1961). Tries all partitions.
 */
function leastSlots({ npuCount, tail, head }: DuplexNetwork, trees: number): number {
  const part = new Int32Array(npuCount);
  const most = (npu: number, parts: number): number => {
    if (npu < npuCount) {
      let least = 0;
      for (part[npu] = 0; part[npu] <= parts; part[npu]++) {
        const kept = part[npu];
        least = Math.max(least, most(npu + 1, Math.max(parts, kept + 1)));
        part[npu] = kept;
      }
      return least;
    }
    if (parts < 2) return 0;
    const between = tail.reduce((count, a, e) => count + (part[a] === part[head[e]] ? 0 : 1), 0);
    return Math.ceil((trees * (parts - 1)) / between);
  };
  return most(0, 0);
}

/** Says what is wrong with a tree: by walking it, with nothing of what made it. */
function faultOf({ npuCount, tail, head }: DuplexNetwork, used: Uint8Array): string | null {
  const edges = [...used.keys()].filter((e) => used[e] === 1);
  const reached = new Set([0]);
  for (let grown = true; grown; ) {
    grown = false;
    for (const e of edges) {
      if (reached.has(tail[e]) === reached.has(head[e])) continue;
      reached.add(tail[e]).add(head[e]);
      grown = true;
    }
  }
  if (edges.length !== npuCount - 1) return `${edges.length} edges for ${npuCount} NPUs`;
  return reached.size === npuCount ? null : `${reached.size} of ${npuCount} NPUs reached`;
}

describe("combs", () => {
  it.each(["mesh:4x4", "mesh:5x5", "grid:4x4x4", "torus:4x4", "torus:4x4x4", "mesh:9x5"])(
    "of %s are trees that cross all links alike, for some multiplicities",
    (expression) => {
      const topology = presetTopology(expression);
      const network = edgesOf(topology);
      const grid = placesOf(topology);
      const combs = grid === null ? null : combsOf(grid, network, 200);
      const found = (combs?.choices ?? []).map((choice) => {
        const trees = Array.from({ length: choice.count }, (_, i) => combs?.comb(choice, i) as Uint8Array);
        for (const used of trees) expect(faultOf(network, used)).toBeNull();
        const loads = network.tail.map((_, e) => trees.reduce((sum, used) => sum + used[e], 0));
        return Math.max(...loads) / choice.count;
      });
      expect(Math.min(...found)).toBeCloseTo((network.npuCount - 1) / network.tail.length, 10);
    },
  );

  it("have gaps where NPUs are missing, and are none where links are not those of a grid", () => {
    const damaged = without(presetTopology("mesh:5x5"), ["7"]);
    const grid = placesOf(damaged);
    expect(grid?.shape).toEqual([5, 5]);
    expect([...(grid?.place ?? [])]).toEqual([...Array(25).keys()].filter((place) => place !== 7));
    expect(combsOf(grid as never, edgesOf(damaged), 100)?.choices.length).toBeGreaterThan(0);
    const chords = presetTopology("C(12,{2,3})");
    const shape = { shape: [12], place: Int32Array.from(Array(12).keys()) };
    expect(combsOf(shape, edgesOf(chords), 100)).toBeNull();
  });
});

describe("packed trees", () => {
  it("span the network and fit their period", () => {
    fc.assert(
      fc.property(
        twoWay(12, true),
        fc.integer({ min: 1, max: 9 }),
        fc.constantFrom(0, 0.1),
        (topology, count, slack) => {
          const network = edgesOf(topology);
          const { trees, load, periodPs } = packed(network, shallowTrees(network, count, 1), slack);
          for (const used of trees) expect(faultOf(network, used)).toBeNull();
          for (const [e, serialPs] of network.serialPs.entries()) {
            expect(load[e]).toBe(trees.reduce((sum, used) => sum + used[e], 0));
            expect(load[e] * serialPs).toBeLessThanOrEqual(periodPs);
          }
        },
      ),
      { numRuns: runs(200) },
    );
  });

  it("take the least period that any so many trees can have where links are alike", () => {
    fc.assert(
      fc.property(twoWay(6, false), fc.integer({ min: 1, max: 9 }), (topology, count) => {
        const network = edgesOf(topology);
        const { periodPs, narrowest } = packed(network, shallowTrees(network, count, 1), 0);
        const slots = periodPs / network.serialPs[0];
        expect(slots).toBe(leastSlots(network, count));
        if (narrowest === null) return;
        // each tree crosses between the parts once less than there are parts, more than fit a slot less
        const crossing = network.tail.reduce(
          (sum, npu, e) => sum + +(narrowest[npu] !== narrowest[network.head[e]]),
          0,
        );
        expect(count * Math.max(...narrowest)).toBeGreaterThan(crossing * (slots - 1));
      }),
      { numRuns: runs(300) },
    );
  });
});

/** Returns what an all-reduce of 1 GiB in periods reaches of the limit for any algorithm, as simulated. */
async function shareOfLimit(topology: Topology, chunks: number): Promise<number> {
  const collective = wholeCollective(topology, "allreduce", GIB, chunks);
  const routes = routesOf(topology, 1);
  const times = routeTimes(topology, routes, collective.chunkBytes);
  const found = await periodsOf(topology, collective, routes, times, 1, { runner: inlineRunner(kernels) });
  if (found === null) return 0;
  const schedule = stepsOfPeriods(found.schedule);
  expect(verifySchedule(schedule).violations).toEqual([]);
  const { ps } = simulate(schedule, { switching: "cut-through" });
  expect(ps).toBeLessThanOrEqual(found.endPs);
  return toNumber(limitWithBottleneck(kernels, topology, collective).ps) / ps;
}

describe("an all-reduce in periods", () => {
  it.each(
    quick(
      [
        ["mesh:4x4", [], 32, 0.97],
        ["mesh:5x5", [], 32, 0.97],
        ["mesh:8x8", [], 32, 0.97],
        ["grid:4x4x4", [], 32, 0.97],
        ["mesh:9x5", [], 32, 0.95],
        ["mesh:6x6@50,25GB/s", [], 64, 0.95],
        ["mesh:8x8", ["0-1"], 16, 0.95],
        ["mesh:8x8", ["27"], 64, 0.95],
      ] as const,
      ([expression]) => expression !== "mesh:8x8",
    ),
  )("is verified and near the limit on %s without %s", async (expression, gone, chunks, share) => {
    expect(await shareOfLimit(without(presetTopology(expression), gone), chunks)).toBeGreaterThan(share);
  });

  it("is not made where links go one way, or unlike each other", () => {
    expect(edgesOrNull(presetTopology("UniRing(1,6)"))).toBeNull();
    expect(edgesOrNull(degrade(presetTopology("ring:6"), [["0>1", 0.5]]))).toBeNull();
    expect(edgesOrNull(without(presetTopology("ring:6"), ["0>1"]))).toBeNull();
    expect(edgesOrNull(without(presetTopology("ring:6"), ["0-1", "2-3"]))).toBeNull();
  });

  it("is taken where it is faster, and matching where that is; the same on every backend", async () => {
    const made = async (by: Kernels, expression: string, chunks: number) => {
      const topology = presetTopology(expression);
      return synthesizeWith(by, { topology, collective: wholeCollective(topology, "allreduce", GIB, chunks) });
    };
    const [first, ...others] = await Promise.all(backends.map((by) => made(by, "mesh:4x4", 16)));
    expect(first?.policy).toContain("spanning trees");
    for (const other of others) {
      expect(columnsOf(other.schedule as StepSchedule)).toEqual(columnsOf(first?.schedule as StepSchedule));
    }
    expect((await made(kernels, "torus:4x4", 4)).policy).not.toContain("spanning trees");
  });
});
