import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { random } from "../../../src/base/random.ts";
import { COLLECTIVE_KINDS, type Collective, collective } from "../../../src/model/collective/collective.ts";
import { presetTopology } from "../../../src/model/presets/preset.ts";
import { type FailureClasses, failureClasses } from "../../../src/model/symmetry/failure-classes.ts";
import type { NetworkMap } from "../../../src/model/symmetry/network-maps.ts";
import { everyOf, type Pool, poolOf, randomOf } from "../../../src/model/topology/failure-sets.ts";
import { degrade, resolver, type Target, without } from "../../../src/model/topology/modify.ts";
import { linkCount, nodeCount, type Topology } from "../../../src/model/topology/topology.ts";
import { topologyBuilder } from "../../../src/model/topology/topology-builder.ts";
import { everyone } from "../../support/everyone.ts";
import { runs } from "../../support/runs.ts";
import { anyFailure, anySmallNetwork, lostIn, permutations, wordsOf } from "../../support/symmetric-networks.ts";

/** An all-gather of all NPUs, or a broadcast from NPU 0. */
const ofAll = ({ npuCount }: Topology, kind: "allgather" | "broadcast" = "allgather"): Collective =>
  collective({ kind, groups: [everyone(npuCount)], sizeBytes: 2 ** 20, chunksPerNpu: 1, rootRank: 0 });

/** Returns the targets of failures written as `--without-each` takes them. */
function named(topology: Topology, failures: readonly string[]): Target[][] {
  const resolve = resolver(topology, "failures");
  return failures.map((failure) => failure.split("+").map(resolve));
}

/** Expects equal numbers, of which the first that differs is told: quicker than toEqual for thousands. */
const same = (are: ArrayLike<number>, should: ArrayLike<number>): void => {
  expect(are.length).toBe(should.length);
  expect(Array.from(are).findIndex((value, i) => value !== should[i])).toBe(-1);
};

/** Holds a map against every node and link, and against what it takes one failure to. */
function holds(topology: Topology, { node, link }: NetworkMap, from: readonly Target[], to: readonly Target[]): void {
  const { npuCount, linkSource, linkTarget, linkBytesPerSecond, linkLatencyPs } = topology;
  same(node.slice().sort(), everyone(nodeCount(topology)));
  same(link.slice().sort(), everyone(linkCount(topology)));
  same(
    node.map((image) => Number(image < npuCount)),
    node.map((_, v) => Number(v < npuCount)),
  );
  const of = (column: Int32Array | Float64Array) => Array.from(link, (image) => column[image]);
  same(
    of(linkSource),
    linkSource.map((v) => node[v]),
  );
  same(
    of(linkTarget),
    linkTarget.map((v) => node[v]),
  );
  same(of(linkBytesPerSecond), linkBytesPerSecond);
  same(of(linkLatencyPs), linkLatencyPs);
  const gone = (failure: readonly Target[]) => {
    const nodes = new Set(failure.flatMap((one) => one.nodes));
    const links = failure.flatMap((one) => one.links);
    return { nodes, links: new Set(links.filter((e) => !nodes.has(linkSource[e]) && !nodes.has(linkTarget[e]))) };
  };
  const [lost, other] = [gone(from), gone(to)];
  expect(new Set([...lost.nodes].map((v) => node[v]))).toEqual(other.nodes);
  expect(new Set([...lost.links].map((e) => link[e]))).toEqual(other.links);
}

/** Returns the classes as the numbers of the first failures that all maps of the network, tried one by one, take to each. */
function byAllMaps(topology: Topology, asked: Collective, failures: readonly (readonly Target[])[]): number[] {
  const same = Array.from({ length: nodeCount(topology) }, (_, v) => v);
  const words = wordsOf(topology, asked, same);
  const maps = [...permutations(nodeCount(topology))].filter((map) => wordsOf(topology, asked, map) === words);
  const images = failures.map((failure) => new Set(maps.map((map) => lostIn(topology, failure, map))));
  const own = failures.map((failure) => lostIn(topology, failure, same));
  return own.map((lost) => images.findIndex((all) => all.has(lost)));
}

const firsts = ({ classOf, firstOf }: FailureClasses): number[] => Array.from(classOf, (of) => firstOf[of] as number);

describe("classes of failures", () => {
  it("are those of all maps of small networks, tried one by one, and each map is one", () => {
    const cases = anySmallNetwork().chain((topology) =>
      fc.record({
        topology: fc.constant(topology),
        failures: fc.array(anyFailure(topology), { minLength: 2, maxLength: 12 }),
        kind: fc.constantFrom(...COLLECTIVE_KINDS),
        size: fc.integer({ min: 1, max: topology.npuCount }),
        pairs: fc.boolean(),
        root: fc.nat(),
      }),
    );
    fc.assert(
      fc.property(cases, ({ topology, failures, kind, size, pairs, root }) => {
        const { npuCount } = topology;
        const groups =
          pairs && npuCount >= 4
            ? [Int32Array.of(0, 1), Int32Array.of(2, 3)]
            : [Int32Array.from({ length: size }, (_, r) => r)];
        const rootRank = root % (groups[0] as Int32Array).length;
        const asked = collective({ kind, groups, sizeBytes: 1024, chunksPerNpu: 1, rootRank });
        const classes = failureClasses(topology, asked, failures);
        expect(firsts(classes)).toEqual(byAllMaps(topology, asked, failures));
        failures.forEach((failure, i) => {
          const first = failures[classes.firstOf[classes.classOf[i]]];
          holds(topology, classes.mapTo(i), first, failure);
          const found = classes.find(failure);
          expect(found?.of).toBe(classes.classOf[i]);
        });
      }),
      { numRuns: runs(150) },
    );
  });
});

/** Returns how many classes failures have that are written as `--without-each` takes them, each map held. */
function countOf(topology: Topology, failures: readonly string[], asked = ofAll(topology)): number {
  const targets = named(topology, failures);
  const classes = failureClasses(topology, asked, targets);
  targets.forEach((failure, i) => {
    const first = targets[classes.firstOf[classes.classOf[i]]];
    if (i % Math.ceil(targets.length / 8) === 0) holds(topology, classes.mapTo(i), first, failure);
  });
  return classes.firstOf.length;
}

const all = (topology: Topology, ...pools: Pool[]): string[] =>
  pools.flatMap((pool) => poolOf(topology, pool, "failures"));

/** Returns so many ways in which k of the links of a network fail together, as drawn. */
const drawn = (topology: Topology, k: number, times: number): string[] => {
  const { at, count } = randomOf(all(topology, "links"), k, { times, seed: 1, place: "failures" });
  return Array.from({ length: count }, (_, i) => at(i).join("+"));
};

describe("classes of failures of networks that are built alike", () => {
  // counted by hand: an NVLink, a rail's cable, an NVSwitch, a rail
  it.each([
    ["dgx-h100:128", ["links", "switches"], 4],
    ["dgx-h100:128", ["nics", "boxes", "npus"], 3],
    ["dgx-a100:4", ["links", "switches", "npus"], 5],
    ["torus:16x16x16", ["links"], 1],
    ["torus:4x3", ["links", "npus"], 3],
    // a mesh is kept by turns and mirrors: of 480 cables, of 256 NPUs
    ["mesh:16x16", ["links"], 64],
    ["mesh:16x16", ["npus"], 36],
    ["hypercube:6", ["links", "npus"], 2],
    ["fc:12", ["links", "npus"], 2],
    ["ring:9", ["links", "npus"], 2],
  ] as const)("%s, each of its %s: %d", (network, pools, count) => {
    const topology = presetTopology(network);
    expect(countOf(topology, all(topology, ...pools))).toBe(count);
  });

  // two cables of one sort: in one box, on one rail, in neither; of two sorts: at one GPU, in one box, on one rail, in neither
  it("has 10 classes of two cables of a DGX H100 SuperPOD", () => {
    const topology = presetTopology("dgx-h100:128");
    const nearby = ["0-nvsw0+1-nvsw0", "0-rail0+1-rail1", "0-nvsw0+8-nvsw1", "0-rail0+8-rail0", "0-nvsw0+0-rail0"];
    expect(countOf(topology, [...nearby, "0-nvsw0+1-rail1", "0-nvsw0+8-rail0", ...drawn(topology, 2, 200)])).toBe(10);
  });

  it("has as many classes of any two cables as counting orbits one map at a time finds", () => {
    const topology = presetTopology("torus:4x4");
    const pairs = everyOf(all(topology, "links"), 2, "failures");
    const failures = Array.from({ length: pairs.count }, (_, i) => pairs.at(i).join("+"));
    expect(countOf(topology, failures)).toBe(orbitsOfPairs(topology, failures));
  });

  it("finds the class of one more failure, and none for what is unlike all", () => {
    const topology = presetTopology("dgx-h100:128");
    const targets = named(topology, ["0-rail0", "0-rail0+9-rail1", "nvsw0"]);
    const classes = failureClasses(topology, ofAll(topology), targets);
    expect([...classes.classOf]).toEqual([0, 1, 2]);
    for (const [failure, of] of [
      ["1000-rail0", 0],
      ["77-rail5+18-rail2", 1],
      ["nvsw100", 2],
    ] as const) {
      const [more] = named(topology, [failure]);
      const found = classes.find(more);
      expect(found?.of).toBe(of);
      if (found !== null) holds(topology, found.map(), targets[of], more);
    }
    expect(classes.find(named(topology, ["0-nvsw0"])[0])).toBeNull();
    expect(classes.find(named(topology, ["0-rail0+8-rail0"])[0])).toBeNull();
  });
});

describe("classes of failures of what is not whole", () => {
  it("are those of what is left", () => {
    const whole = presetTopology("torus:4x4");
    expect(countOf(whole, all(whole, "links"))).toBe(1);
    const part = without(whole, ["0-1"]);
    expect(countOf(part, all(part, "links"))).toBe(orbitsOfPairs(part, all(part, "links")));
    const slow = degrade(whole, [["0-1", 0.5]]);
    // the slow cable is one of its own; what keeps it is what keeps it where it failed
    expect(countOf(slow, all(slow, "links"))).toBe(countOf(part, all(part, "links")) + 1);
  });

  it("cost little, and are each its own, where nothing is alike", () => {
    const topology = irregular(400, 2400);
    const failures = all(topology, "links");
    const started = performance.now();
    expect(countOf(topology, failures)).toBe(failures.length);
    expect(performance.now() - started).toBeLessThan(5000);
  });
});

describe("classes of failures, by what is asked of a network", () => {
  it("keep the root and who takes part, and know no map of a custom collective", () => {
    const ring = presetTopology("ring:6");
    const npus = all(ring, "npus");
    expect(countOf(ring, npus)).toBe(1);
    expect(countOf(ring, npus, ofAll(ring, "broadcast"))).toBe(4);
    const some = collective({
      kind: "allreduce",
      groups: [Int32Array.of(0, 1, 2), Int32Array.of(3, 4, 5)],
      sizeBytes: 1024,
      chunksPerNpu: 1,
      rootRank: 0,
    });
    // the middle of a group, and its ends
    expect(countOf(ring, npus, some)).toBe(2);
    expect(countOf(ring, npus, { ...ofAll(ring), kind: "custom" })).toBe(6);
  });

  it("take of failures what they take out", () => {
    const topology = presetTopology("mesh:3x3");
    expect(countOf(topology, ["0", "0+0-1", "8+7-8", "0+0"])).toBe(1);
    expect(countOf(topology, ["0-1", "0-1+1-0", "0>1+1>0"])).toBe(1);
    expect(countOf(topology, ["0>1", "1>0"])).toBe(2);
  });
});

/** Returns a connected network of cables of random figures between random NPUs. */
function irregular(npus: number, more: number): Topology {
  const draws = random(3);
  const builder = topologyBuilder("irregular");
  for (let v = 0; v < npus; v++) builder.addNpu(`${v}`);
  // of parallel cables that are equal none is unlike the others
  const joined = new Set<number>();
  for (let i = 1; i < npus + more; i++) {
    const [a, b] = i < npus ? [draws.below(i), i] : [draws.below(npus), draws.below(npus)];
    if (a >= b || joined.has(a * npus + b)) continue;
    joined.add(a * npus + b);
    builder.addDuplex(a, b, 1e9 * (1 + draws.below(5)), 1000);
  }
  return builder.build();
}

/** Returns the orbits of failures under all maps of a network, found by another search: node by node, each held against all links before it. */
function orbitsOfPairs(topology: Topology, failures: readonly string[]): number {
  const targets = named(topology, failures);
  const maps = [...allMaps(topology)];
  const least = targets.map((failure) => {
    const images = maps.map((map) => lostIn(topology, failure, map)).sort();
    return images[0];
  });
  return new Set(least).size;
}

/** Yields all maps of a network without switches and parallel links onto itself. */
function* allMaps({ npuCount, linkSource, linkTarget, linkBytesPerSecond }: Topology): Generator<number[]> {
  const rate = (from: number, to: number): number =>
    linkBytesPerSecond[linkSource.findIndex((one, e) => one === from && linkTarget[e] === to)] ?? 0;
  const rates = Array.from({ length: npuCount }, (_, v) => Array.from({ length: npuCount }, (_, w) => rate(v, w)));
  const image: number[] = [];
  function* extend(): Generator<number[]> {
    const v = image.length;
    if (v === npuCount) yield [...image];
    for (let w = 0; w < npuCount && v < npuCount; w++) {
      if (image.includes(w)) continue;
      if (image.some((x, u) => rates[u][v] !== rates[x][w] || rates[v][u] !== rates[w][x])) continue;
      image.push(w);
      yield* extend();
      image.pop();
    }
  }
  yield* extend();
}
