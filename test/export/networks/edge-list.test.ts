import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { csvCell } from "../../../src/base/csv-cell.ts";
import { edgeListParts } from "../../../src/export/networks/edge-list.ts";
import { looksLikeEdgeList, readEdgeList } from "../../../src/import/networks/edge-list.ts";
import { presetTopology } from "../../../src/model/presets/preset.ts";
import { without } from "../../../src/model/topology/modify.ts";
import type { Topology } from "../../../src/model/topology/topology.ts";
import { topologyBuilder } from "../../../src/model/topology/topology-builder.ts";
import { anyTopology } from "../../support/any-topology.ts";
import { runs } from "../../support/runs.ts";

const written = (topology: Topology): string => [...edgeListParts(topology)].join("");

/** What a list of cables keeps: nodes in order, and links in any. */
const kept = ({ nodeNames, npuCount, linkSource, linkTarget, linkBytesPerSecond, linkLatencyPs }: Topology) => ({
  nodeNames,
  npuCount,
  links: [...linkSource.keys()]
    .map((l) => [linkSource[l], linkTarget[l], linkBytesPerSecond[l], linkLatencyPs[l]].join(" "))
    .sort(),
});

describe("edgeListParts", () => {
  it("writes a line for alike cables of a pair, both ways at once", () => {
    expect(written(presetTopology("mesh:2x2@12.5GB/s,0.7us"))).toBe(
      [
        "# mesh:2x2@12.5GB/s,0.7us: 4 NPUs, 0 switches, 8 links",
        "from,to,bandwidthGBps,latencyUs,bidirectional,count",
        "0,1,12.5,0.7,true,1",
        "0,2,12.5,0.7,true,1",
        "1,3,12.5,0.7,true,1",
        "2,3,12.5,0.7,true,1",
        "",
      ].join("\n"),
    );
  });

  it("counts parallel cables, one way and both, and names kinds that a name does not tell", () => {
    const builder = topologyBuilder("odd");
    for (const name of ["a, b", "leaf", '#"x']) builder.addNode(name, "npu");
    builder.addNode("core", "switch");
    builder.addDuplex(0, 3, 1_000_000_001, 1);
    builder.addLink(0, 3, 1_000_000_001, 1);
    builder.addLink(1, 3, 1e9, 0);
    builder.addLink(1, 3, 1e9, 0);
    expect(written(builder.build()).split("\n").slice(1)).toEqual([
      'kind,"a, b",npu',
      "kind,leaf,npu",
      'kind,"#""x",npu',
      "kind,core,switch",
      "from,to,bandwidthGBps,latencyUs,bidirectional,count",
      '"a, b",core,1.000000001,0.000001,true,1',
      '"a, b",core,1.000000001,0.000001,false,1',
      "leaf,core,1,0,false,2",
      "",
    ]);
  });

  it("is read back to the same nodes and links", () => {
    const failed = without(presetTopology("dgx-a100:2"), ["3", "nvsw0-1"]);
    for (const topology of [
      failed,
      presetTopology("dgx-h100:4"),
      presetTopology("mi250:2"),
      presetTopology("torus:3x3x3"),
    ]) {
      const text = written(topology);
      expect(looksLikeEdgeList(text)).toBe(true);
      expect(kept(readEdgeList(text, "net.csv"))).toEqual(kept(topology));
    }
    fc.assert(
      fc.property(anyTopology(), (topology) => {
        const odd = topology.nodeNames.some(
          (name) => ![name, `"${name.replaceAll('"', '""')}"`].includes(csvCell(name)),
        );
        if (odd) {
          expect(() => written(topology)).toThrow(/no table can hold the node's name/);
          return;
        }
        expect(kept(readEdgeList(written(topology), "net.csv"))).toEqual(kept(topology));
      }),
      { numRuns: runs(200) },
    );
  });
});
