import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { topologyToJson } from "../../../src/export/networks/topology-json.ts";
import { readTopologyJson } from "../../../src/import/networks/topology-json.ts";
import { linkNames, topologyHash } from "../../../src/model/topology/topology.ts";
import { topologyBuilder } from "../../../src/model/topology/topology-builder.ts";
import { anyTopology } from "../../support/any-topology.ts";
import { missing, outOfRange, type Refusal, refusalFrom, unexpected } from "../../support/refusals.ts";
import { runs } from "../../support/runs.ts";

const node = (id: unknown, kind: unknown = "npu", more: object = {}): object => ({ id, kind, ...more });
const link = (from: unknown, to: unknown, more: object = {}): object => ({
  from,
  to,
  bandwidthGBps: 50,
  latencyUs: 0.5,
  ...more,
});
const file = (fields: object): string =>
  JSON.stringify({
    format: "banyan-topology",
    version: 1,
    name: "t",
    nodes: [node("a"), node("b")],
    links: [link("a", "b")],
    ...fields,
  });
const read = (text: string): ReturnType<typeof readTopologyJson> => readTopologyJson(text, "topo.json");

describe("reading banyan-topology", () => {
  it("puts NPUs first and expands count and bidirectional", () => {
    const topology = read(
      file({
        nodes: [node("sw", "switch", { multicast: true }), node("a", "npu", { group: "box0" }), node(7)],
        links: [
          link("a", "sw", { bidirectional: true, count: 2 }),
          link(7, "sw", { bandwidthGBps: 12.5, latencyUs: 0.0007 }),
        ],
      }),
    );
    expect(topology.npuCount).toBe(2);
    expect(topology.nodeNames).toEqual(["a", "7", "sw"]);
    expect(topology.nodeTraits).toEqual([{ group: "box0" }, {}, { multicast: true }]);
    expect(linkNames(topology)).toEqual(["a>sw", "sw>a", "a>sw#2", "sw>a#2", "7>sw"]);
    expect([...topology.linkBytesPerSecond]).toEqual([50e9, 50e9, 50e9, 50e9, 12_500_000_000]);
    expect([...topology.linkLatencyPs]).toEqual([500_000, 500_000, 500_000, 500_000, 700]);
  });

  it("takes figures with units", () => {
    const topology = read(file({ links: [{ from: "a", to: "b", bandwidth: "400Gbps", latency: "700ns" }] }));
    expect([topology.linkBytesPerSecond[0], topology.linkLatencyPs[0]]).toEqual([50e9, 700_000]);
  });

  it("names a network without a name after its file", () => {
    expect(readTopologyJson(file({ name: undefined }), "dir.x/my.net.json").name).toBe("my.net");
  });

  it.each([
    ["truncated", '{\n  "format": "banyan-topology",\n', missing("topo.json line 3, column 1")],
    ["NaN", '{\n "format": NaN\n}', unexpected("topo.json line 2, column 12", "NaN")],
    ["no JSON", "hello", unexpected("topo.json line 1, column 1", "hello")],
    ["a list", "[]", unexpected("topo.json", [])],
    ["other format", file({ format: "x" }), unexpected("topo.json: format", "x")],
    ["no format", "{}", missing("topo.json: format")],
    ["version", file({ version: 2 }), unexpected("topo.json: version", 2)],
    ["empty", file({ nodes: [], links: [] }), outOfRange("topo.json: nodes", [])],
    ["no nodes", file({ nodes: undefined }), missing("topo.json: nodes")],
    ["no links", file({ links: 3 }), unexpected("topo.json: links", 3)],
    ["no NPU", file({ nodes: [node("a", "switch")], links: [] }), outOfRange("topo.json: nodes", "1 switches")],
    ["kind", file({ nodes: [node("a", "gpu")] }), unexpected("topo.json: nodes[0].kind", "gpu")],
    ["no id", file({ nodes: [{ kind: "npu" }] }), missing("topo.json: nodes[0].id")],
    ["empty id", file({ nodes: [node("")] }), unexpected("topo.json: nodes[0].id", "")],
    ["duplicate id", file({ nodes: [node("a"), node("a")] }), unexpected("topo.json: nodes[1].id", "a")],
    ["group", file({ nodes: [node("a", "npu", { group: 1 })] }), unexpected("topo.json: nodes[0].group", 1)],
    [
      "multicast",
      file({ nodes: [node("a", "npu", { multicast: 1 })] }),
      unexpected("topo.json: nodes[0].multicast", 1),
    ],
    ["missing node", file({ links: [link("a", "b"), link("a", "z")] }), unexpected("topo.json: links[1].to", "z")],
    ["self-loop", file({ links: [link("b", "b")] }), unexpected("topo.json: links[0].to", "b")],
    ...[-1, 0, "x", 1e-10, null].map((value): [string, string, Refusal] => [
      `bandwidth ${value}`,
      file({ links: [link("a", "b", { bandwidthGBps: value })] }),
      unexpected("topo.json: links[0].bandwidthGBps", value),
    ]),
    [
      "bandwidth 1e300",
      file({ links: [link("a", "b", { bandwidthGBps: 1e300 })] }),
      unexpected("topo.json: links[0].bandwidthGBps", 1e300, 9),
    ],
    [
      "no bandwidth",
      file({ links: [{ from: "a", to: "b", latencyUs: 1 }] }),
      missing("topo.json: links[0].bandwidthGBps"),
    ],
    [
      "unit",
      file({ links: [{ from: "a", to: "b", bandwidth: "5GX", latencyUs: 1 }] }),
      unexpected("topo.json: links[0].bandwidth", "5GX"),
    ],
    [
      "no latency",
      file({ links: [{ from: "a", to: "b", bandwidthGBps: 1 }] }),
      missing("topo.json: links[0].latencyUs"),
    ],
    [
      "negative latency",
      file({ links: [link("a", "b", { latencyUs: -1 })] }),
      unexpected("topo.json: links[0].latencyUs", -1),
    ],
    ["count", file({ links: [link("a", "b", { count: 1.5 })] }), unexpected("topo.json: links[0].count", 1.5)],
    [
      "huge count",
      file({ links: [link("a", "b", { count: 1e9 })] }),
      outOfRange("topo.json: links[0].count", 1000000000, 16777216),
    ],
    [
      "bidirectional",
      file({ links: [link("a", "b", { bidirectional: "yes" })] }),
      unexpected("topo.json: links[0].bidirectional", "yes"),
    ],
    [
      "duplicate link id",
      file({ links: [link("a", "b", { id: "l" }), link("b", "a", { id: "l" })] }),
      unexpected("topo.json: links[1].id", "l"),
    ],
    ["shape", file({ shape: [3] }), unexpected("topo.json: shape", [3], 2)],
  ])("refuses %s", (_, text, sentence) => {
    expect(refusalFrom(() => read(text))).toEqual(sentence);
  });
});

describe("writing banyan-topology", () => {
  it("reads back to the same network", () => {
    fc.assert(
      fc.property(anyTopology(), (topology) => {
        const again = readTopologyJson(topologyToJson(topology), "t.json");
        expect(again).toEqual(topology);
        expect(topologyHash(again)).toBe(topologyHash(topology));
      }),
    );
  });

  it("keeps every whole number of bytes per second and of picoseconds up to 2^53 - 1", () => {
    const whole = fc.oneof(
      fc.maxSafeNat(),
      fc.integer({ min: 0, max: 53 }).map((k) => 2 ** k - 1),
      fc.nat(),
    );
    fc.assert(
      fc.property(whole, whole, (bandwidth, latency) => {
        const builder = topologyBuilder("t");
        builder.addLink(builder.addNpu("a"), builder.addNpu("b"), Math.max(1, bandwidth), latency);
        const again = readTopologyJson(topologyToJson(builder.build()), "t.json");
        expect(again.linkBytesPerSecond[0]).toBe(Math.max(1, bandwidth));
        expect(again.linkLatencyPs[0]).toBe(latency);
      }),
      { numRuns: runs(2000) },
    );
  });

  it("writes GB/s and us as plain numbers for every network below 2^51 bytes/s", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 2 ** 51 - 1 }), (bandwidth) => {
        const builder = topologyBuilder("t");
        builder.addLink(builder.addNpu("a"), builder.addNpu("b"), bandwidth, 0);
        expect(topologyToJson(builder.build())).toContain('"bandwidthGBps": ');
      }),
      { numRuns: runs(2000) },
    );
    const gib = topologyBuilder("t");
    gib.addDuplex(gib.addNpu("a"), gib.addNpu("b"), 50 * 2 ** 30, 500_000);
    expect(topologyToJson(gib.build({ sources: ["a book"] }))).toBe(
      [
        "{",
        '  "format": "banyan-topology",',
        '  "version": 1,',
        '  "name": "t",',
        '  "sources": [',
        '    "a book"',
        "  ],",
        '  "nodes": [',
        '    { "id": "a", "kind": "npu" },',
        '    { "id": "b", "kind": "npu" }',
        "  ],",
        '  "links": [',
        '    { "from": "a", "to": "b", "bandwidthGBps": 53.6870912, "latencyUs": 0.5, "bidirectional": true }',
        "  ]",
        "}",
        "",
      ].join("\n"),
    );
  });
});

describe("keys that mean nothing", () => {
  const file = (node: object, link: object): string =>
    JSON.stringify({
      format: "banyan-topology",
      version: 1,
      nodes: [
        { id: 0, kind: "npu", ...node },
        { id: 1, kind: "npu" },
      ],
      links: [{ from: 0, to: 1, bandwidthGBps: 1, latencyUs: 1, ...link }],
    });

  it.each([
    [{}, { bidirectinal: true }, unexpected("t.json: links[0]", "bidirectinal")],
    [{ box: 1 }, {}, unexpected("t.json: nodes[0]", "box")],
  ])("%j %j", (node, link, message) => {
    expect(() => readTopologyJson(file(node, link), "t.json")).toThrow(message);
  });
});
