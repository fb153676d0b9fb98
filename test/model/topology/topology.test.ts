import { describe, expect, it } from "vitest";
import { distancesFrom, graph } from "../../../src/model/graph/graph.ts";
import { ceil, rational } from "../../../src/model/numbers/rational.ts";
import { presetTopology } from "../../../src/model/presets/preset.ts";
import { reversedRoutes, routeTimes, serializationPs } from "../../../src/model/routes/routes.ts";
import { routesOf } from "../../../src/model/routes/routing.ts";
import { linkCount, nodeCount, reversed, type Topology, topologyHash } from "../../../src/model/topology/topology.ts";
import { topologyBuilder } from "../../../src/model/topology/topology-builder.ts";
import { unexpected } from "../../support/refusals.ts";

/** 64-bit FNV-1a as its authors write it, over 32-bit little-endian words. */
function fnv1a(words: readonly number[]): string {
  let hash = 0xcbf29ce484222325n;
  for (const word of words) {
    for (let byte = 0; byte < 4; byte++) {
      hash ^= BigInt(Math.floor(word / 256 ** byte) % 256);
      hash = (hash * 0x100000001b3n) & 0xffffffffffffffffn;
    }
  }
  return hash.toString(16).padStart(16, "0");
}

describe("topologyHash", () => {
  it.each(["ring:2", "mesh:3x4@50,75GB/s,0.5us", "switch:5@9007199GB/s,3s", "dgx-h100:2"])(
    "is the 64-bit FNV-1a of %s: nodes, then each link's ends, bandwidth and latency",
    (text) => {
      const t = presetTopology(text);
      const words = [t.npuCount, nodeCount(t)];
      for (let link = 0; link < linkCount(t); link++) {
        const [bandwidth, latency] = [t.linkBytesPerSecond[link], t.linkLatencyPs[link]];
        words.push(t.linkSource[link], t.linkTarget[link]);
        for (const value of [bandwidth, latency]) words.push(value % 2 ** 32, Math.floor(value / 2 ** 32));
      }
      expect(topologyHash(t)).toBe(fnv1a(words));
      expect(topologyHash({ ...t, name: "other" })).toBe(fnv1a(words));
    },
  );

  it("differs for the network turned around and stays for the same one", () => {
    const t = presetTopology("ring:5");
    expect(topologyHash(t)).toBe(topologyHash(t));
    expect(topologyHash(reversed(t))).not.toBe(topologyHash(t));
  });
});

describe("numbered NPUs", () => {
  it("are named by their numbers, and no other node may take such a name", () => {
    const b = topologyBuilder("numbered", 1);
    b.addNumberedNpus(12, (npu) => (npu > 9 ? { group: "last" } : {}));
    expect(b.indexOf("11")).toBe(11);
    expect(b.indexOf("12")).toBeUndefined();
    expect(b.indexOf("011")).toBeUndefined();
    expect(b.indexOf("1e0")).toBeUndefined();
    expect(() => b.addSwitch("7")).toThrow(unexpected("node 12 of numbered", "7"));
    expect(b.addSwitch("12")).toBe(12);
    expect(b.addNpu("x")).toBe(13);
    b.addDuplex(0, 12, 1, 0);
    b.addDuplex(12, 13, 1, 0);
    const t = b.build();
    expect(t.nodeNames).toEqual([...Array.from({ length: 12 }, (_, i) => `${i}`), "x", "12"]);
    expect(t.nodeTraits[11]).toEqual({ group: "last" });
    expect([...t.linkTarget]).toEqual([13, 0, 12, 13]);
  });

  it("come first", () => {
    const b = topologyBuilder("late");
    b.addNpu("a");
    expect(() => b.addNumberedNpus(3)).toThrow("numbered NPUs after other nodes");
  });
});

describe("routes of networks without switches", () => {
  const t = presetTopology("mesh:3x3");
  it("are the links, and turned around the links turned around", () => {
    const routes = routesOf(t, "ports");
    expect(routes.source).toEqual(t.linkSource);
    expect(routes.target).toEqual(t.linkTarget);
    expect([...routes.links]).toEqual(Array.from(t.linkSource, (_, link) => link));
    expect([...routes.linkOffset]).toEqual([...routes.links, linkCount(t)]);
    expect(new Set([...routes.shareNum, ...routes.shareDen])).toEqual(new Set([1]));
    expect(reversedRoutes(routes)).toEqual({ ...routes, source: routes.target, target: routes.source });
  });

  it("have the time of their own bandwidth, of whatever many classes", () => {
    const many: Topology = { ...t, linkBytesPerSecond: t.linkBytesPerSecond.map((_, link) => 1e9 + (link % 19)) };
    const routes = routesOf(many, "ports");
    const bytes = rational(10_000_001n, 3n);
    const { serialPs, slotPs } = routeTimes(many, routes, bytes);
    for (let route = 0; route < serialPs.length; route++) {
      const exact = Number(ceil(serializationPs(bytes, many.linkBytesPerSecond[route])));
      expect([serialPs[route], slotPs[route]]).toEqual([exact, exact + many.linkLatencyPs[route]]);
    }
  });
});

describe("distancesFrom", () => {
  it("is the same with equal weights and by Dijkstra's algorithm", () => {
    const t = presetTopology("dragonfly:3x5");
    const even = graph(t.npuCount, t.linkSource, t.linkTarget, new Float64Array(linkCount(t)).fill(7));
    expect(even.uniform).toBe(7);
    for (const sources of [[0], [3, 14], [2, 2]]) {
      expect(distancesFrom({ ...even, uniform: null }, sources)).toEqual(distancesFrom(even, sources));
    }
  });
});
