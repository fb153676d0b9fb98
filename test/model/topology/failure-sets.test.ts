import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { presetTopology } from "../../../src/model/presets/preset.ts";
import {
  everyOf,
  type FailureSets,
  POOLS,
  poolOf,
  randomOf,
  waysToTake,
} from "../../../src/model/topology/failure-sets.ts";
import { resolver } from "../../../src/model/topology/modify.ts";
import { linkCount, type Topology } from "../../../src/model/topology/topology.ts";
import { topologyBuilder } from "../../../src/model/topology/topology-builder.ts";
import { runs } from "../../support/runs.ts";

const listed = ({ count, at }: FailureSets): string[][] => Array.from({ length: count }, (_, i) => [...at(i)]);
const letters = (n: number): string[] => Array.from({ length: n }, (_, i) => String.fromCharCode(97 + i));

/** Yields all ways to take k of some names, in order. */
function* ways(names: readonly string[], k: number): Generator<string[]> {
  if (k === 0) yield [];
  for (let i = 0; i <= names.length - k && k > 0; i++)
    for (const rest of ways(names.slice(i + 1), k - 1)) yield [names[i], ...rest];
}

describe("every k of some names", () => {
  it("is each way once, in order", () => {
    for (let n = 1; n <= 7; n++) {
      for (let k = 1; k <= n; k++) expect(listed(everyOf(letters(n), k, "sets"))).toEqual([...ways(letters(n), k)]);
    }
  });

  it("counts exactly to 2^53, and finds the first and last of very many", () => {
    const pascal = (n: bigint, k: bigint): bigint => (k === 0n ? 1n : (pascal(n - 1n, k - 1n) * n) / k);
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 5000 }), fc.integer({ min: 0, max: 12 }), (n, k) => {
        const exact = k > n ? 0n : pascal(BigInt(n), BigInt(k));
        expect(waysToTake(n, k)).toBe(
          exact > BigInt(Number.MAX_SAFE_INTEGER) ? Number.POSITIVE_INFINITY : Number(exact),
        );
      }),
      { numRuns: runs(500) },
    );
    const names = Array.from({ length: 4096 }, (_, i) => `${i}`);
    const { count, at } = everyOf(names, 4, "sets");
    expect(count).toBe(11_710_951_848_960);
    expect([at(0), at(1), at(count - 1)]).toEqual([
      ["0", "1", "2", "3"],
      ["0", "1", "2", "4"],
      ["4092", "4093", "4094", "4095"],
    ]);
  });

  it("refuses none, more than there are, and more ways than can be counted", () => {
    for (const k of [0, 5, 1.5])
      expect(() => everyOf(letters(4), k, "--sets")).toThrow(/^--sets is .*a number from 1 to 4/);
    const names = Array.from({ length: 4096 }, (_, i) => `${i}`);
    expect(() => everyOf(names, 6, "--sets")).toThrow(/every 6 of 4096; it must be at most 2\^53 ways/);
  });
});

describe("random k of some names", () => {
  it("are k different ones in order, the same for the same seed and number, and each as often as others", () => {
    const names = letters(6);
    const drawn = listed(randomOf(names, 3, { times: 6000, seed: 7, place: "sets" }));
    for (const one of drawn) expect(one).toEqual([...new Set(one)].sort());
    const times = new Map<string, number>();
    for (const one of drawn) times.set(one.join(""), (times.get(one.join("")) ?? 0) + 1);
    expect(times.size).toBe(20);
    // 300 of each of 20 ways are expected; a deviation of 5 sigma is 85
    for (const many of times.values()) expect(Math.abs(many - 300)).toBeLessThan(85);
    expect(listed(randomOf(names, 3, { times: 10, seed: 7, place: "sets" }))).toEqual(drawn.slice(0, 10));
    expect(listed(randomOf(names, 3, { times: 6000, seed: 8, place: "sets" }))).not.toEqual(drawn);
    expect(() => randomOf(names, 7, { times: 1, seed: 1, place: "--sets" })).toThrow(/a number from 1 to 6/);
  });
});

/** Two boxes of two NPUs, each with a switch that is not marked and a NIC that is, joined by a switch. */
function marked(): Topology {
  const builder = topologyBuilder("marked");
  for (let v = 0; v < 4; v++) builder.addNpu(`g${v}`, { group: v < 2 ? "left" : "right" });
  const [a, b] = ["swa", "swb"].map((name) => builder.addSwitch(name));
  const [x, y] = ["nica", "nicb"].map((name, i) => builder.addSwitch(name, { group: i === 0 ? "left" : "right" }));
  const top = builder.addSwitch("top");
  for (let v = 0; v < 4; v++) builder.addDuplex(v, v < 2 ? a : b, 1e9, 1);
  for (let v = 0; v < 4; v++) builder.addDuplex(v, v < 2 ? x : y, 1e9, 1);
  builder.addDuplex(x, top, 1e9, 1);
  builder.addDuplex(y, top, 1e9, 1);
  return builder.build();
}

describe("what single failures there are", () => {
  it("has names that `without` takes, each link in one cable", () => {
    for (const network of ["dgx-h100:2", "torus:3x3", "hypercube:3", "ring:2"]) {
      const topology = presetTopology(network);
      const resolve = resolver(topology, "name");
      const links = poolOf(topology, "links", "pool").flatMap((name) => resolve(name).links);
      expect(links.sort((p, q) => p - q)).toEqual(Array.from({ length: linkCount(topology) }, (_, e) => e));
      expect(poolOf(topology, "npus", "pool").map((name) => resolve(name).nodes[0])).toEqual([
        ...topology.nodeNames.slice(0, topology.npuCount).keys(),
      ]);
    }
  });

  it("has the cables between boxes as NICs, also those of what an NPU hangs on, but none within a box", () => {
    const dgx = presetTopology("dgx-h100:2");
    expect(poolOf(dgx, "nics", "pool")).toEqual(Array.from({ length: 16 }, (_, v) => `${v}-rail${v % 8}`));
    expect(poolOf(dgx, "boxes", "pool")).toEqual(["box0", "box1"]);
    expect(poolOf(dgx, "switches", "pool")).toEqual([
      "nvsw0",
      "nvsw1",
      ...Array.from({ length: 8 }, (_, r) => `rail${r}`),
    ]);
    expect(poolOf(marked(), "nics", "pool")).toEqual(["nica-top", "nicb-top"]);
  });

  it("refuses NICs and boxes of a network that has none", () => {
    const torus = presetTopology("torus:3x3");
    for (const pool of ["nics", "boxes"] as const)
      expect(() => poolOf(torus, pool, "--sets")).toThrow(
        `--sets is ${pool}, but torus:3x3 has no boxes; links stands for every cable`,
      );
    expect(() => poolOf(presetTopology("dgx-h100:1"), "nics", "--sets")).toThrow(
      /no cable that joins a box to another/,
    );
    expect(POOLS.map((pool) => poolOf(marked(), pool, "--sets").length)).toEqual([10, 2, 5, 4, 2]);
  });
});
