import { describe, expect, it } from "vitest";
import { InfeasibleError } from "../../../src/base/errors.ts";
import { describeWitness, limitOf, referencePs } from "../../../src/model/bounds/bounds.ts";
import { wholeChunksLimit } from "../../../src/model/bounds/class-limit.ts";
import { collective, type NamedCollective } from "../../../src/model/collective/collective.ts";
import { compare, rational, toNumber } from "../../../src/model/numbers/rational.ts";
import { routesOf } from "../../../src/model/routes/routing.ts";
import { reversed } from "../../../src/model/topology/topology.ts";
import { topologyBuilder } from "../../../src/model/topology/topology-builder.ts";
import { bound, boundUs, limitUs, network } from "../../support/bound-cases.ts";
import { wholeCollective } from "../../support/synthesis.ts";

const GIB = 2 ** 30;

describe("bounds known from the papers and by hand", () => {
  const cases: [string, NamedCollective, number, number, number][] = [
    ["mesh:5x5@50,75GiB/s,0.5us", "allgather", GIB, 1, 8005.0],
    ["mesh:5x5@75,50GiB/s,0.5us", "allgather", GIB, 1, 8005.0],
    ["mesh:8x5@80,35GiB/s,1us", "allgather", GIB, 2, 8595.429],
    ["mesh:5x8@80,35GiB/s,1us", "allgather", GIB, 2, 8595.429],
    ["mesh:7x10@16,73GiB/s,1.5us", "allgather", 4 * GIB, 3, 44612.469],
    ["mesh:10x7@16,73GiB/s,1.5us", "allgather", 4 * GIB, 3, 44612.469],
    // 4 global slots and 1 local slot
    ["dragonfly:4x5@400,200GB/s,0.5us", "allgather", 1e9, 1, 1127.5],
    ["dragonfly:4x5@400,200GB/s,0.5us", "reducescatter", 1e9, 1, 1127.5],
    ["dragonfly:4x5@400,200GB/s,0.5us", "scatter", 1e9, 1, 1127.5],
    ["dragonfly:4x5@400,200GB/s,0.5us", "gather", 1e9, 1, 1127.5],
    // a box takes 3 of 4 shards of each of its 8 NPUs through 8 x 25 GB/s: 3 slots of 1251 us, and then the tail of
    // 7 slots of 105.17 us on NVSwitch-like ports
    ["switch:8*switch:4@300,25GB/s,0.5us", "allgather", 1e9, 1, 4489.167],
  ];
  it.each(cases)("%s %s of %d bytes in %d chunks takes at least %d us", (topology, kind, size, chunks, us) => {
    expect(boundUs(topology, kind, size, chunks)).toBeCloseTo(us, 3);
  });

  // 1 MB per chunk at 50 GB/s and 0.5 us: a slot is 20.5 us
  const slots: [string, NamedCollective, number, number, number, number][] = [
    ["torus:8x8", "allgather", 64e6, 1, 0, 16],
    ["torus:5x5", "allgather", 25e6, 1, 0, 6],
    ["mesh:10x10", "allgather", 100e6, 1, 0, 50],
    ["mesh:10x10", "reducescatter", 100e6, 1, 0, 50],
    ["torus:8x8", "allreduce", 64e6, 1, 0, 32],
    ["ring:8", "alltoall", 8e6, 1, 0, 8],
    ["mesh:6x6", "alltoall", 36e6, 1, 0, 54],
    ["mesh:10x10", "alltoall", 100e6, 1, 0, 250],
    ["mesh:6x6", "scatter", 36e6, 1, 0, 18],
    ["mesh:6x6", "gather", 36e6, 1, 0, 18],
    ["mesh:6x6", "broadcast", 36e6, 36, 2, 25],
    ["mesh:6x6", "reduce", 36e6, 36, 2, 25],
    ["fc:5", "allgather", 5e6, 1, 0, 1],
    ["ring:2", "allreduce", 2e6, 1, 0, 2],
  ];
  it.each(slots)(
    "%s %s of %d bytes, %d chunks, root %d takes at least %d slots",
    (topology, kind, size, chunks, root, expected) => {
      expect(boundUs(`${topology}@50GB/s,0.5us`, kind, size, chunks, root) / 20.5).toBeCloseTo(expected, 9);
    },
  );

  it("limits an all-gather by the bytes that one corner receives", () => {
    expect(limitUs("mesh:5x5@50,75GiB/s,0.5us", "allgather", GIB)).toBeCloseTo((24 / 25 / 125) * 1e6 + 0.5, 9);
  });

  it("limits an all-gather over two boxes by what a box can receive", () => {
    const t = network("dgx-a100:4");
    const limit = limitOf(t, wholeCollective(t, "allgather", 1e9));
    // 3/4 of the data through 8 x 25 GB/s, over two links of 2.5 us
    expect(limit.ps).toEqual(rational(3755_000_000));
    expect(describeWitness(t, limit)).toBe(
      "the 8 NPUs of box0 receive 750 MB through 200 GB/s, 5 us or more on the way",
    );
  });

  it("limits an all-reduce by the buffer across a cut, not by twice an all-gather", () => {
    expect(limitUs("ring:8@50GB/s,0us", "allreduce", 8e6)).toBeCloseTo((2 * 7 * 8e6) / (16 * 50e3), 9);
    // 3x3 mesh: 2 x 8 x 9 MB over 24 links: 0.75 of the TACOS ideal without latency
    expect(limitUs("mesh:3x3@50GB/s,0us", "allreduce", 9e6)).toBeCloseTo(0.75 * ((2 * 8e6) / 100e3), 9);
  });

  it("counts what all boxes of an all-reduce must send each other, not only one of them", () => {
    // 2 x 3/4 of the buffer per box through 8 x 25 GB/s; the first dimension does not help
    expect(limitUs("switch:8*switch:4@300,25GB/s,0us", "allreduce", 1e9)).toBeCloseTo(7500, 6);
    // 5 groups with 4 links of 200 GB/s each: 2 x 4/5 of the buffer through 800 GB/s
    expect(limitUs("dragonfly:4x5@400,200GB/s,0us", "allreduce", 1e9)).toBeCloseTo(2000, 6);
    // 8 slots of 50 MB over the global links
    expect(boundUs("dragonfly:4x5@400,200GB/s,0us", "allreduce", 1e9)).toBeCloseTo(2000, 6);
    const t = network("dragonfly:4x5@400,200GB/s");
    expect(describeWitness(t, limitOf(t, wholeCollective(t, "allreduce", 1e9)))).toBe(
      "the 5 sets of 4 NPUs send each other 8 GB through 4000 GB/s in total, 500 ns or more on the way",
    );
  });

  it("counts for several all-reduces only the boxes in which each has members", () => {
    const t = network("switch:4*switch:4@300,25GB/s,0us");
    const lists = [
      [0, 1, 4, 5],
      [8, 9, 12, 13],
    ];
    const groups = lists.map((list) => Int32Array.from(list));
    const two = collective({ kind: "allreduce", groups, sizeBytes: 1e9, chunksPerNpu: 1, rootRank: 0 });
    // each 2 x 1 GB between two boxes, over the ports of all four; its own box sends 1 GB through 100 GB/s
    expect(toNumber(limitOf(t, two).ps)).toBe(10e9);
  });

  it("finds a narrow cut that is neither a box nor a slab, by maximum flow", () => {
    // two cliques of 4 with shuffled ids, joined by one pair of links
    const b = topologyBuilder("dumbbell");
    for (let i = 0; i < 8; i++) b.addNpu(`n${i}`);
    for (let i = 0; i < 8; i++) for (let j = 0; j < i; j++) if ((i - j) % 2 === 0) b.addDuplex(i, j, 10e9, 0);
    b.addDuplex(3, 4, 10e9, 0);
    const t = b.build();
    const limit = limitOf(t, wholeCollective(t, "allgather", 8e9));
    expect(toNumber(limit.ps)).toBe(4e11);
    expect(limit.witness).toMatchObject({ kind: "cut", npusInside: 4, entryGBps: 10 });
    expect(toNumber(limitOf(t, wholeCollective(t, "scatter", 8e9)).ps)).toBe(4e11);
    expect(toNumber(limitOf(t, wholeCollective(t, "gather", 8e9)).ps)).toBe(4e11);
    expect(toNumber(limitOf(t, wholeCollective(t, "broadcast", 8e9)).ps)).toBe(8e11);
    expect(toNumber(limitOf(t, wholeCollective(t, "allreduce", 8e9)).ps)).toBe(8e11);
  });

  it("does not count total sending where switches can multicast", () => {
    const b = topologyBuilder("star");
    for (let i = 0; i < 4; i++) b.addNpu(`n${i}`);
    b.addSwitch("s", { multicast: true, aggregation: true });
    for (let i = 0; i < 4; i++) b.addDuplex(i, 4, 1e9, 0);
    const t = b.build();
    // the buffer once in and once out, not 2 x 3/4 of it
    expect(toNumber(limitOf(t, wholeCollective(t, "allreduce", 4e9)).ps)).toBe(4e12);
  });
});

describe("routes that leave links unused", () => {
  // mesh:2x2 has a ring of four both ways; routes go one way round
  const t = network("mesh:2x2@50GB/s,0us");
  const next = [1, 3, 0, 2];
  const links = Int32Array.from(next, (to, from) =>
    t.linkSource.findIndex((source, link) => source === from && t.linkTarget[link] === to),
  );
  const routes = {
    source: Int32Array.of(0, 1, 2, 3),
    target: Int32Array.from(next),
    linkOffset: Int32Array.of(0, 1, 2, 3, 4),
    links,
    shareNum: Float64Array.of(1, 1, 1, 1),
    shareDen: Float64Array.of(1, 1, 1, 1),
  };

  it("are told in the witness of whole chunks by what they use, and of how much", () => {
    const gathered = wholeChunksLimit(t, wholeCollective(t, "allgather", 4e9, 8), routes, false);
    expect(toNumber(gathered.ps)).toBe(6e10); // 3 chunks of 1 GB through one link of 50 GB/s, in eighths
    expect(gathered.witness).toMatchObject({ kind: "cut", entryGBps: 100, usedGBps: 50 });
    expect(describeWitness(t, gathered)).toBe(
      "NPU 0 receives 24 chunks through 50 GB/s, all that these routes use of 100 GB/s",
    );
    const summed = wholeChunksLimit(t, wholeCollective(t, "allreduce", 4e9, 8), routes, false);
    expect(describeWitness(t, summed)).toBe(
      "192 transfers in all through 200 GB/s in total, all that these routes use of 400 GB/s",
    );
  });

  it("are not spoken of where all links are used", () => {
    const all = routesOf(t, 1);
    const gathered = wholeChunksLimit(t, wholeCollective(t, "allgather", 4e9, 8), all, false);
    expect(gathered.witness).not.toHaveProperty("usedGBps");
    expect(describeWitness(t, gathered)).toMatch(/ 24 chunks through 100 GB\/s$/);
  });
});

describe("process groups", () => {
  const t = network("mesh:1x8@50GB/s,0us");
  const groups = (...lists: number[][]) => lists.map((list) => Int32Array.from(list));

  it("adds up what several groups must send across one cut", () => {
    const one = collective({ kind: "allgather", groups: groups([0, 7]), sizeBytes: 2e6, chunksPerNpu: 1, rootRank: 0 });
    const two = collective({
      kind: "allgather",
      groups: groups([0, 7], [1, 6]),
      sizeBytes: 2e6,
      chunksPerNpu: 1,
      rootRank: 0,
    });
    expect(toNumber(limitOf(t, one).ps)).toBe(20e6);
    expect(toNumber(limitOf(t, two).ps)).toBe(40e6);
  });

  it("gives a group of one NPU no time at all", () => {
    const alone = collective({ kind: "allreduce", groups: groups([3]), sizeBytes: 8, chunksPerNpu: 1, rootRank: 0 });
    expect(bound(t, alone)).toEqual({ ps: rational(0), witness: { kind: "nothing" } });
    expect(describeWitness(t, limitOf(t, alone))).toBe("nothing has to be sent");
  });
});

describe("custom collectives", () => {
  it.each<NamedCollective>([
    "allgather",
    "reducescatter",
    "allreduce",
    "broadcast",
    "reduce",
    "gather",
    "scatter",
    "alltoall",
  ])("a table that says %s has the same cuts", (kind) => {
    const t = network("mesh:3x3@50GB/s,0us");
    const named = wholeCollective(t, kind, 9e6, 2);
    const custom = { ...named, kind: "custom" as const };
    expect(compare(bound(t, custom).ps, bound(t, named).ps)).toBeLessThanOrEqual(0);
    // 18 chunks less the own 2 (or the whole buffer) through the two links of a corner; halves for all-to-all
    const perLink = { allreduce: 9, broadcast: 1, reduce: 1, alltoall: 12 };
    const chunks = perLink[kind as "allreduce"] ?? 8;
    const bytes = toNumber(named.chunkBytes);
    expect(toNumber(limitOf(t, custom).ps)).toBe(Math.max(chunks * bytes * 20, 0));
  });
});

describe("laws of time reversal", () => {
  const pairs: [NamedCollective, NamedCollective][] = [
    ["reducescatter", "allgather"],
    ["reduce", "broadcast"],
    ["gather", "scatter"],
  ];
  const oneWay = topologyBuilder("one way");
  for (let i = 0; i < 5; i++) oneWay.addNpu(`n${i}`);
  for (let i = 0; i < 5; i++) oneWay.addLink(i, (i + 1) % 5, 10e9 * (1 + (i % 2)), 1000 * i);
  oneWay.addLink(0, 3, 5e9, 77);
  oneWay.addLink(3, 1, 25e9, 5);
  const t = oneWay.build();
  it.each(pairs)("%s is bounded as %s on the network turned around", (kind, mirror) => {
    const a = wholeCollective(t, kind, 5e6, 2);
    const b = wholeCollective(t, mirror, 5e6, 2);
    expect(bound(t, a).ps).toEqual(bound(reversed(t), b).ps);
    expect(limitOf(t, a).ps).toEqual(limitOf(reversed(t), b).ps);
  });

  it("turns the witness around too", () => {
    const gather = bound(network("mesh:6x6"), wholeCollective(network("mesh:6x6"), "gather", 36e6));
    expect(gather.witness).toMatchObject({ kind: "cut", direction: "in", nodes: [0] });
    expect(describeWitness(network("mesh:6x6"), gather)).toMatch(/^NPU 0 receives 35 chunks through 100 GB\/s/);
  });
});

describe("networks that cannot carry the collective", () => {
  const b = topologyBuilder("broken");
  for (const name of ["a", "b", "c"]) b.addNpu(name);
  b.addDuplex(0, 1, 1e9, 0);
  b.addLink(1, 2, 1e9, 0);
  const t = b.build();
  it("names an unreachable pair", () => {
    const c = wholeCollective(t, "allgather", 3e6);
    expect(() => bound(t, c)).toThrow(InfeasibleError);
    expect(() => limitOf(t, c)).toThrow("no path leads from c to a");
    expect(() => limitOf(t, wholeCollective(t, "gather", 3e6))).toThrow("no path leads from c to a");
  });
  it("accepts what does not need the missing link", () => {
    expect(toNumber(limitOf(t, wholeCollective(t, "broadcast", 1e9)).ps)).toBe(1e12);
  });
});

describe("referencePs, the ideal of the TACOS papers", () => {
  it("is 2(N-1)/N of the size over the narrowest NPU, plus the diameter", () => {
    const t = network("mesh:3x3@50GB/s,0.5us");
    expect(toNumber(referencePs(t, wholeCollective(t, "allreduce", 9e6)) ?? rational(0))).toBe(
      (16e6 / 100e9) * 1e12 + 4 * 500_000,
    );
    expect(toNumber(referencePs(t, wholeCollective(t, "allgather", 9e6)) ?? rational(0))).toBe(
      (8e6 / 100e9) * 1e12 + 4 * 500_000,
    );
  });
  it("is null for collectives that the papers give none", () => {
    const t = network("ring:4");
    for (const kind of ["broadcast", "reduce", "gather", "scatter", "alltoall"] as const) {
      expect(referencePs(t, wholeCollective(t, kind, 4e6))).toBeNull();
    }
  });
  it("exceeds the limit of an all-reduce on a mesh, so it is no bound", () => {
    const t = network("mesh:5x5@50GB/s,0us");
    const c = wholeCollective(t, "allreduce", 25e6);
    expect(compare(referencePs(t, c) ?? rational(0), limitOf(t, c).ps)).toBeGreaterThan(0);
  });
});

describe("size", () => {
  it("bounds 40,000 NPUs in seconds and finds the corner", () => {
    const t = network("mesh:200x200@50GB/s,0.5us");
    const c = wholeCollective(t, "allgather", 40_000e6);
    expect(toNumber(bound(t, c).ps) / 20.5e6).toBe(20_000);
    expect(limitOf(t, c).witness).toMatchObject({ kind: "cut", nodes: [0] });
  });

  it("bounds a broadcast in 1,024 boxes of 8 in seconds, where every NPU on a rail hears of it at another time", () => {
    const t = network("dgx-h100:1024");
    const { ps } = bound(t, wholeCollective(t, "broadcast", GIB), 1);
    expect(toNumber(ps)).toBe(21_990_582_369_641);
  });
});
