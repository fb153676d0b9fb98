import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { InputError } from "../../../src/base/errors.ts";
import { infragraphParts } from "../../../src/export/networks/infragraph.ts";
import { readInfragraph } from "../../../src/import/networks/infragraph.ts";
import { readTopology } from "../../../src/import/networks/network-formats.ts";
import { presetTopology } from "../../../src/model/presets/preset.ts";
import type { Topology } from "../../../src/model/topology/topology.ts";
import { topologyBuilder } from "../../../src/model/topology/topology-builder.ts";
import { TWO_HOSTS } from "../../support/reader-sources.ts";
import { refusalFrom, unexpected } from "../../support/refusals.ts";
import { runs } from "../../support/runs.ts";

/** Links as rows, sorted. */
const rowsOf = ({ nodeNames, linkSource, linkTarget, linkBytesPerSecond, linkLatencyPs }: Topology): string[] =>
  Array.from(linkSource, (from, i) =>
    [nodeNames[from], nodeNames[linkTarget[i]], linkBytesPerSecond[i] / 1e9, linkLatencyPs[i] / 1000].join(" "),
  ).sort();

const again = (topology: Topology): Topology => readTopology([...infragraphParts(topology)].join(""), "t.json");

/** The text of an infrastructure with something changed, a way to it and its new value. */
function changed(way: readonly (string | number)[], value: unknown): unknown {
  const copy = structuredClone(TWO_HOSTS) as unknown;
  const last = way.at(-1) as string;
  // biome-ignore lint/suspicious/noExplicitAny: a way into plain data.
  const holder = way.slice(0, -1).reduce((at: any, key) => at[key], copy);
  if (value === undefined) delete holder[last];
  else holder[last] = value;
  return copy;
}

describe("InfraGraph infrastructures", () => {
  it("become components of instances; ports and what leads nowhere are parts of links", () => {
    const topology = readInfragraph(TWO_HOSTS, "f.json");
    expect(topology.name).toBe("two-hosts");
    expect(topology.npuCount).toBe(8);
    expect(topology.nodeNames.slice(4)).toEqual([
      ...[0, 1, 2, 3].map((g) => `host.1.gpu.${g}`),
      "host.0.nvsw.0",
      "host.1.nvsw.0",
      "leaf.0.asic.0",
    ]);
    const rows = rowsOf(topology);
    // 8 GPUs at an NVSwitch, 4 at the leaf: PCIe, the NIC, 200 Gbit/s and the leaf's inside as one
    expect(rows).toHaveLength(2 * (8 + 4));
    expect(rows.filter((row) => row.includes("leaf"))).toContain("host.1.gpu.2 leaf.0.asic.0 25 1150");
    expect(rows.filter((row) => row.startsWith("host.0.gpu.1 "))).toEqual(["host.0.gpu.1 host.0.nvsw.0 25 500"]);
    expect(topology.nodeTraits[5]).toEqual({ group: "host.1" });
    expect(topology.sources).toEqual([
      "InfraGraph f.json",
      "nvlink: 25 GB/s assumed (--assume nvlink=)",
      "500 ns a link where the file tells no latency, assumed",
    ]);
  });

  it("take what the options say for what is left open", () => {
    const topology = readInfragraph(TWO_HOSTS, "f", { bandwidth: { nvlink: 300e9 }, latencyPs: 7000 });
    expect(rowsOf(topology)).toContain("host.0.gpu.1 host.0.nvsw.0 300 7");
    expect(topology.sources).toContain("nvlink: 300 GB/s, as --assume says");
  });

  it("read PCIe's transfers as 16 lanes", () => {
    const direct = changed(["devices", 0, "edges", 0, "link"], "pcie");
    expect(rowsOf(readInfragraph(direct, "f"))[0]).toMatch(/^host.0.gpu.0 host.0.nvsw.0 63.015384615 /);
  });

  it("leave out edges to components that a device lacks, as InfraGraph's library does, and say so", () => {
    const lacking = changed(["devices", 0, "edges", 2, "ep1", "component"], "hbm");
    expect(readInfragraph(lacking, "f").sources).toContain(
      "edges to components that no device has are left out: devices[0].edges[2].ep1.component (hbm)",
    );
    expect(rowsOf(readInfragraph(lacking, "f"))).toEqual(rowsOf(readInfragraph(TWO_HOSTS, "f")));
  });

  it("have one link between two components, the last that is said", () => {
    const [first] = TWO_HOSTS.edges;
    const twice = changed(["edges", 2], first);
    expect(rowsOf(readInfragraph(twice, "f"))).toEqual(rowsOf(readInfragraph(TWO_HOSTS, "f")));
  });

  it.each([
    [["instances", 0, "device"], "box", "f: instances[0].device", "box"],
    [["instances", 0, "count"], -1, "f: instances[0].count", -1],
    [["devices", 0, "components", 2, "name"], "nvsw", "f: devices[0].components[2].name", "nvsw"],
    [
      ["devices", 1, "components", 0],
      { name: "host", count: 1, choice: "device" },
      "f: devices[1].components[0].name",
      "host",
    ],
    [["devices", 0, "edges", 0, "ep1", "component"], "gpu[0:5]", "f: devices[0].edges[0].ep1.component", "gpu[0:5]"],
    [["devices", 0, "edges", 0, "ep1", "component"], "gpu[4]", "f: devices[0].edges[0].ep1.component", "gpu[4]"],
    [["devices", 0, "edges", 0, "ep1", "component"], "gpu[-1]", "f: devices[0].edges[0].ep1.component", "gpu[-1]"],
    [["devices", 0, "edges", 0, "ep1", "component"], "gpu[0", "f: devices[0].edges[0].ep1.component", "gpu[0"],
    [["devices", 0, "edges", 1, "ep2", "component"], "nic", "f: devices[0].edges[1].ep2.component", "nic"],
    [["devices", 0, "edges", 0, "link"], "xgmi", "f: devices[0].edges[0].link", "xgmi"],
    [["devices", 0, "edges", 0, "scheme"], "ring", "f: devices[0].edges[0].scheme", "ring"],
    [["edges", 0, "ep1", "instance"], "rack[0]", "f: edges[0].ep1.instance", "rack"],
    [["edges", 0, "ep2", "instance"], "leaf[1]", "f: edges[0].ep2.instance", "leaf[1]"],
    [["links", 0, "physical", "bandwidth", "choice"], "baud", "f: links[0].physical.bandwidth.choice", "baud"],
    [["links", 0, "physical", "latency", "ns"], -1, "f: links[0].physical.latency.ns", -1],
  ] as const)("are refused with the place: %j = %j", (way, value, place, received) => {
    const refusal = refusalFrom(() => readInfragraph(changed(way, value), "f")) as InputError;
    expect([refusal.place, refusal.received]).toEqual([place, received]);
  });

  it("are refused without an xpu", () => {
    const bare = changed(["instances"], TWO_HOSTS.instances.slice(1));
    expect(() => readInfragraph({ ...(bare as object), edges: [] }, "f")).toThrow(
      "at least one component of choice xpu",
    );
  });

  it("are refused where they would be too large to hold", () => {
    const many = changed(["instances", 0, "count"], 9_999_999);
    expect(() => readInfragraph(many, "f")).toThrow(/at most 10000000 components/);
  });
});

describe("networks written as InfraGraph", () => {
  it.each([
    "ring:2",
    "mesh:3x4@50GiB/s,0.7us",
    "dgx-a100:2",
    "mi250:2",
    "fat-tree:4x2",
    "switch:3@12.5GB/s,936.25ns",
    "dgx1",
  ])("are the same when read again: %s", (preset) => {
    const topology = presetTopology(preset);
    const back = again(topology);
    expect([back.name, back.npuCount, back.nodeNames]).toEqual([preset, topology.npuCount, topology.nodeNames]);
    expect(rowsOf(back)).toEqual(rowsOf(topology));
  });

  it("are the same with any names, parallel links, and figures", () => {
    const name = fc.string({ minLength: 1, maxLength: 6 });
    const link = fc.record({
      ends: fc.uniqueArray(fc.nat(4), { minLength: 2, maxLength: 2 }),
      bytes: fc.integer({ min: 1, max: 1e12 }),
      ps: fc.integer({ min: 0, max: 1e9 }),
    });
    fc.assert(
      fc.property(
        name,
        fc.uniqueArray(name, { minLength: 5, maxLength: 5 }),
        fc.array(link, { minLength: 1, maxLength: 8 }),
        fc.integer({ min: 1, max: 5 }),
        (title, names, links, npus) => {
          const builder = topologyBuilder(title);
          for (const [i, own] of names.entries()) builder.addNode(own, i < npus ? "npu" : "switch");
          for (const { ends, bytes, ps } of links) builder.addDuplex(ends[0] as number, ends[1] as number, bytes, ps);
          const topology = builder.build();
          const back = again(topology);
          expect([back.name, back.npuCount, back.nodeNames]).toEqual([title, npus, names]);
          expect(rowsOf(back)).toEqual(rowsOf(topology));
        },
      ),
      { numRuns: runs(200) },
    );
  });

  it("are refused where a link has no reverse", () => {
    const builder = topologyBuilder("one way");
    builder.addNpu("a");
    builder.addNpu("b");
    builder.addLink(0, 1, 1e9, 0);
    expect(refusalFrom(() => again(builder.build()))).toEqual(unexpected("an InfraGraph of one way", "a>b alone"));
  });
});
