import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { InputError } from "../../../src/base/errors.ts";
import { presetTopology } from "../../../src/model/presets/preset.ts";
import { degrade, unreachablePair, without } from "../../../src/model/topology/modify.ts";
import { linkNames, type Topology } from "../../../src/model/topology/topology.ts";
import { topologyBuilder } from "../../../src/model/topology/topology-builder.ts";
import { outOfRange, unexpected } from "../../support/refusals.ts";
import { runs } from "../../support/runs.ts";

/** Two NPUs whose names hold the marks of link names, parallel links, a one-way link. */
function awkward(): Topology {
  const builder = topologyBuilder("awkward");
  const a = builder.addNpu("box0-gpu1");
  const b = builder.addNpu("box0>gpu2");
  const c = builder.addNpu("c");
  builder.addDuplex(a, b, 100, 5);
  builder.addDuplex(a, b, 200, 5);
  builder.addLink(b, c, 300, 5);
  builder.addDuplex(c, a, 400, 5);
  return builder.build({ shape: [3] });
}

describe("without", () => {
  it("removes NPUs with their links, renumbers the rest and keeps their names", () => {
    const topology = without(presetTopology("mesh:4x4"), ["7", "9"]);
    expect(topology.npuCount).toBe(14);
    expect(topology.nodeNames.slice(6, 10)).toEqual(["6", "8", "10", "11"]);
    expect(topology.name).toBe("mesh:4x4 without 7,9");
    expect(topology.shape).toEqual([]);
    const original = linkNames(presetTopology("mesh:4x4"));
    expect(linkNames(topology)).toEqual(
      original.filter((name) => !name.split(">").some((end) => end === "7" || end === "9")),
    );
  });

  it("removes switches", () => {
    const topology = without(presetTopology("dgx-h100:2"), ["rail3", "nvsw1"]);
    expect(topology.npuCount).toBe(16);
    expect(topology.nodeNames.slice(16)).toEqual([
      "nvsw0",
      "rail0",
      "rail1",
      "rail2",
      "rail4",
      "rail5",
      "rail6",
      "rail7",
    ]);
    expect(linkNames(topology)).not.toContain("3>rail3");
  });

  it("removes one direction with > and both with -, and keeps the shape", () => {
    const ring = presetTopology("ring:4");
    const one = without(ring, ["0>1"]);
    expect(linkNames(ring).filter((name) => !linkNames(one).includes(name))).toEqual(["0>1"]);
    const both = without(ring, ["1-0"]);
    expect(linkNames(ring).filter((name) => !linkNames(both).includes(name))).toEqual(["0>1", "1>0"]);
    expect(both.shape).toEqual([4]);
  });

  it("finds links whose nodes' names hold - and >, and the second of parallel links", () => {
    const kept = (names: string[]): number[] => [...without(awkward(), names).linkBytesPerSecond];
    expect(kept(["box0-gpu1>box0>gpu2"])).toEqual([100, 200, 200, 300, 400, 400]);
    expect(kept(["box0-gpu1-box0>gpu2"])).toEqual([200, 200, 300, 400, 400]);
    expect(kept(["box0-gpu1-box0>gpu2#2"])).toEqual([100, 100, 300, 400, 400]);
    expect(kept(["box0>gpu2>box0-gpu1#2"])).toEqual([100, 100, 200, 300, 400, 400]);
    expect(kept(["c-box0>gpu2"])).toEqual([100, 100, 200, 200, 400, 400]);
    expect(kept(["box0-gpu1"])).toEqual([300]);
  });

  it("takes the name of a box for its NPUs and the switches that only these have", () => {
    const rest = without(presetTopology("dgx-a100:3"), ["box1"]);
    expect(rest.name).toBe("dgx-a100:3 without box1");
    expect(rest.nodeNames).toEqual([
      ...Array.from({ length: 24 }, (_, npu) => String(npu)).filter((_, npu) => npu < 8 || npu >= 16),
      "nvsw0",
      "nvsw2",
      "ib",
    ]);
    const builder = topologyBuilder("switches without boxes");
    const [a, b] = ["box0", "box1"].map((group) => builder.addNpu(group.replace("box", "gpu"), { group }));
    const [near, far, spine] = ["near", "far", "spine"].map((name) => builder.addSwitch(name));
    for (const [from, to] of [
      [a, near],
      [near, far],
      [a, spine],
      [b, spine],
    ])
      builder.addDuplex(from, to, 4, 0);
    expect(without(builder.build(), ["box0"]).nodeNames).toEqual(["gpu1", "spine"]);
    expect(() => without(presetTopology("dgx-a100:2"), ["box2"])).toThrow(InputError);
    expect(() => without(presetTopology("dgx-a100:2"), ["box0", "box1"])).toThrow(outOfRange("without", "box0,box1"));
  });

  it("takes a node for a box of the same name, and slows each link of a box once", () => {
    const builder = topologyBuilder("named alike");
    const nodes = ["box0", "x", "y"].map((name, i) => builder.addNpu(name, { group: i < 2 ? "box0" : "other" }));
    builder.addDuplex(nodes[0], nodes[1], 100, 0);
    builder.addDuplex(nodes[1], nodes[2], 100, 0);
    expect(without(builder.build(), ["box0"]).nodeNames).toEqual(["x", "y"]);
    const slow = degrade(presetTopology("dgx-a100:2"), [["box0", 0.5]]);
    expect(new Set(slow.linkBytesPerSecond)).toEqual(new Set([300e9, 150e9, 25e9, 12.5e9]));
  });

  it("refuses a name that fits two links", () => {
    const builder = topologyBuilder("two readings");
    const nodes = ["a", "b-c", "a-b", "c"].map((name) => builder.addNpu(name));
    builder.addDuplex(nodes[0], nodes[1], 1, 0);
    builder.addDuplex(nodes[2], nodes[3], 1, 0);
    const topology = builder.build();
    expect(() => without(topology, ["a-b-c"])).toThrow(unexpected("without", "a-b-c"));
    expect(without(topology, ["a>b-c"]).linkSource).toHaveLength(3);
    expect(without(topology, ["a-b"]).npuCount).toBe(3);
  });

  it.each([
    ["16", unexpected("without", "16", "mesh:4x4")],
    ["0>5", unexpected("without", "0>5", "0>1")],
    ["0-5", unexpected("without", "0-5", "0-1")],
    ["0>1#2", unexpected("without", "0>1#2")],
    ["", unexpected("without", "", "mesh:4x4")],
    ["-", unexpected("without", "-", "mesh:4x4")],
  ])("names the unknown id %j", (name, message) => {
    expect(() => without(presetTopology("mesh:4x4"), ["3", name])).toThrow(InputError);
    expect(() => without(presetTopology("mesh:4x4"), ["3", name])).toThrow(message);
  });

  it("suggests a close name", () => {
    expect(() => without(presetTopology("dgx-a100:2"), ["nvsw9"])).toThrow(unexpected("without", "nvsw9", "nvsw0"));
  });

  it("refuses to remove every NPU, and changes nothing for no name", () => {
    expect(() => without(presetTopology("ring:2"), ["0", "1"])).toThrow(outOfRange("without", "0,1"));
    const ring = presetTopology("ring:2");
    expect(without(ring, [])).toBe(ring);
    expect(without(ring, ["0", "0"]).nodeNames).toEqual(["1"]);
  });

  it("removes every link by its printed name, and nothing else (law)", () => {
    fc.assert(
      fc.property(fc.constantFrom("mesh:3x3", "switch:4", "ndv2:2", "ring:2*switch:3"), fc.nat(), (text, pick) => {
        const topology = presetTopology(text);
        const names = linkNames(topology);
        const link = pick % names.length;
        const rest = linkNames(without(topology, [names[link]]));
        expect(rest).toEqual(names.filter((_, i) => i !== link));
      }),
      { numRuns: runs(50) },
    );
  });
});

describe("degrade", () => {
  it("multiplies bandwidths to the nearest byte, at least 1, and keeps the rest", () => {
    const topology = awkward();
    const slower = degrade(topology, [
      ["box0-gpu1>box0>gpu2", 0.125],
      ["c-box0-gpu1", 0.0001],
    ]);
    expect([...slower.linkBytesPerSecond]).toEqual([13, 100, 200, 200, 300, 1, 1]);
    expect(slower.shape).toEqual([3]);
    expect(slower.name).toBe("awkward degraded box0-gpu1>box0>gpu2=0.125,c-box0-gpu1=0.0001");
    expect(topology.linkBytesPerSecond[0]).toBe(100);
  });

  it("takes a node for all its links, and a Map", () => {
    const slower = degrade(presetTopology("dgx-a100:2"), new Map([["ib", 0.5]]));
    const names = linkNames(slower);
    slower.linkBytesPerSecond.forEach((bandwidth, link) => {
      expect(bandwidth).toBe(/ib/.test(names[link]) ? 12.5e9 : 300e9);
    });
  });

  it.each([0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY])("refuses the factor %s", (factor) => {
    expect(() => degrade(presetTopology("ring:4"), [["0-1", factor]])).toThrow(unexpected("--degrade 0-1", factor));
  });

  it("names an unknown link", () => {
    expect(() => degrade(presetTopology("ring:4"), [["0-2", 0.5]])).toThrow(unexpected("degrade", "0-2", "0-1"));
  });
});

describe("unreachablePair", () => {
  const directed = (npus: number, switches: number, links: readonly (readonly [number, number])[]): Topology => {
    const builder = topologyBuilder("directed");
    for (let i = 0; i < npus; i++) builder.addNpu(`${i}`);
    for (let i = 0; i < switches; i++) builder.addSwitch(`s${i}`);
    for (const [from, to] of links) builder.addLink(from, to, 1, 0);
    return builder.build();
  };

  it("is the first pair of a transitive closure (law)", () => {
    const nodes = fc.record({ npus: fc.integer({ min: 1, max: 6 }), switches: fc.integer({ min: 0, max: 2 }) });
    const network = nodes.chain(({ npus, switches }) => {
      const end = fc.nat({ max: npus + switches - 1 });
      return fc.record({
        npus: fc.constant(npus),
        switches: fc.constant(switches),
        links: fc.array(fc.tuple(end, end), { maxLength: 24 }),
      });
    });
    fc.assert(
      fc.property(network, ({ npus, switches, links }) => {
        const real = links.filter(([from, to]) => from !== to);
        const n = npus + switches;
        const path = Array.from({ length: n }, (_, i) => Array.from({ length: n }, (_, j) => i === j));
        for (const [from, to] of real) path[from][to] = true;
        for (let k = 0; k < n; k++) {
          for (let i = 0; i < n; i++) for (let j = 0; j < n; j++) path[i][j] ||= path[i][k] && path[k][j];
        }
        let first: [number, number] | null = null;
        for (let i = 0; i < npus && first === null; i++) {
          for (let j = 0; j < npus && first === null; j++) if (!path[i][j]) first = [i, j];
        }
        expect(unreachablePair(directed(npus, switches, real))).toEqual(first);
      }),
      { numRuns: runs(300) },
    );
  });
});

describe("topologyBuilder", () => {
  it("puts the NPUs first and turns the links to match", () => {
    const builder = topologyBuilder("mixed");
    const hub = builder.addSwitch("hub", { multicast: true });
    const a = builder.addNpu("a");
    const leaf = builder.addNode("leaf", "switch");
    const b = builder.addNode("b", "npu", { group: "g" });
    builder.addDuplex(a, hub, 10, 1);
    builder.addLink(leaf, b, 20, 2);
    expect(builder.indexOf("leaf")).toBe(leaf);
    expect(builder.indexOf("nobody")).toBeUndefined();
    const topology = builder.build({ sources: ["here"] });
    expect(topology.nodeNames).toEqual(["a", "b", "hub", "leaf"]);
    expect(topology.nodeTraits).toEqual([{}, { group: "g" }, { multicast: true }, {}]);
    expect(linkNames(topology)).toEqual(["a>hub", "hub>a", "leaf>b"]);
    expect([topology.npuCount, topology.sources]).toEqual([2, ["here"]]);
  });

  it("refuses what is not a network", () => {
    const builder = topologyBuilder("net");
    const a = builder.addNpu("a");
    const b = builder.addNpu("b");
    expect(() => builder.addNpu("a")).toThrow(unexpected("node 2 of net", "a"));
    expect(() => builder.addNpu("")).toThrow(unexpected("node 2 of net", ""));
    expect(() => builder.addLink(a, a, 1, 0)).toThrow(unexpected("link 0 (a>a) of net", "a"));
    expect(() => builder.addLink(a, 7, 1, 0)).toThrow(unexpected("target of link 0 of net", 7, 2));
    for (const bandwidth of [0, -1, 0.5, Number.NaN, 2 ** 53]) {
      expect(() => builder.addLink(a, b, bandwidth, 0)).toThrow(
        unexpected("bandwidth of link 0 (a>b) of net", bandwidth),
      );
    }
    for (const latency of [-1, 0.5, Number.NaN]) {
      expect(() => builder.addLink(a, b, 1, latency)).toThrow(unexpected("latency of link 0 (a>b) of net", latency));
    }
    expect(() => builder.build({ shape: [3] })).toThrow(unexpected("shape of net", [3], 2));
    expect(() => topologyBuilder("empty").build()).toThrow(outOfRange("empty", "no nodes"));
  });
});
