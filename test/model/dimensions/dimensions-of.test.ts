import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { dimensionsOf } from "../../../src/model/dimensions/dimensions.ts";
import { presetTopology, THEMIS } from "../../../src/model/presets/preset.ts";
import type { Topology } from "../../../src/model/topology/topology.ts";
import { topologyBuilder } from "../../../src/model/topology/topology-builder.ts";

/** Returns "ring:4@100GB/s,500ns" for each dimension, "!" behind those whose switches sum. */
const shown = (topology: Topology): string | null =>
  dimensionsOf(topology)
    ?.map(
      ({ kind, size, bytesPerSecond, stepPs, inNetwork }) =>
        `${kind}:${size}@${bytesPerSecond / 1e9},${stepPs / 1e3}${inNetwork ? "!" : ""}`,
    )
    .join(" ") ?? null;

const HIERARCHICAL: readonly (readonly [string, string])[] = [
  ["ring:8", "ring:8@100,500"],
  ["ring:3", "fc:3@100,500"],
  ["ring:2", "fc:2@50,500"],
  ["line:2", "fc:2@50,500"],
  ["fc:6", "fc:6@250,500"],
  ["switch:8", "switch:8@50,1000"],
  ["torus:4x5", "ring:4@100,500 ring:5@100,500"],
  ["torus:1x4", "ring:4@100,500"],
  ["mesh:3x4", "line:3@50,500 line:4@50,500"],
  ["hypercube:3", "fc:2@50,500 fc:2@50,500 fc:2@50,500"],
  ["fc:4*ring:4*switch:2@10,20,30GB/s,1,2,3us", "fc:4@30,1000 ring:4@40,2000 switch:2@30,6000"],
  ["dgx-a100", "switch:8@300,1000"],
  ["dgx-a100:2", "switch:8@300,1000 switch:2@25,5000"],
  ["dgx-h100:4", "switch:8@450,1000! switch:4@50,5000"],
  ["dgx-h100:2,ib", "switch:8@450,1000! switch:2@50,5000"],
  ["dgx2:2", "switch:16@150,1000 switch:2@6.25,5000"],
  ["gb200-nvl72", "switch:72@900,1000!"],
];

const OTHERS = ["mi250:2", "dgx1", "ndv2:2", "fat-tree:4x4,leaf=2", "dragonfly:4x5", "circulant:8,1,3", "dbt:8"];

/** The same network as a file would give it: no shape, switches before the boxes' own. */
function boxesUnderOneSwitch(groups: readonly string[]): Topology {
  const builder = topologyBuilder("boxes");
  for (const [npu, group] of groups.entries()) builder.addNpu(`gpu${npu}`, { group });
  const ib = builder.addSwitch("ib");
  for (let npu = 0; npu < groups.length; npu++) builder.addDuplex(npu, ib, 25e9, 1000);
  for (const group of new Set(groups)) {
    const own = builder.addSwitch(`nv-${group}`);
    for (const [npu, box] of groups.entries()) if (box === group) builder.addDuplex(npu, own, 300e9, 500);
  }
  return builder.build();
}

describe("dimensionsOf", () => {
  it.each(HIERARCHICAL)("%s: %s", (preset, dimensions) => {
    expect(shown(presetTopology(preset))).toBe(dimensions);
  });

  it.each(OTHERS)("%s is no product of lines", (preset) => {
    expect(dimensionsOf(presetTopology(preset))).toBeNull();
  });

  it.each(Object.entries(THEMIS))("themis:%s has the figures of table 2", (name, rows) => {
    expect(dimensionsOf(presetTopology(`themis:${name}`))).toMatchObject(
      rows.map(([kind, size, gbps, links, ns]) => ({
        kind,
        size,
        bytesPerSecond: (gbps * links * 1e9) / 8,
        stepPs: ns * 1000,
      })),
    );
  });

  it("finds boxes by their groups, whatever the order of their switches", () => {
    expect(shown(boxesUnderOneSwitch(["a", "a", "a", "b", "b", "b"]))).toBe("switch:3@300,1 switch:2@25,2");
  });

  it("knows no dimensions of boxes of unequal size, or whose NPUs are mixed", () => {
    expect(dimensionsOf(boxesUnderOneSwitch(["a", "a", "a", "b"]))).toBeNull();
    expect(dimensionsOf(boxesUnderOneSwitch(["a", "b", "a", "b"]))).toBeNull();
  });

  it("knows none of a single NPU", () => {
    expect(dimensionsOf(presetTopology("ring:1"))).toBeNull();
  });

  it("knows none once any link is gone, doubled, faster, slower to arrive or turned elsewhere", () => {
    const networks = HIERARCHICAL.map(([preset]) => presetTopology(preset)).filter(
      ({ linkSource }) => linkSource.length > 2 && linkSource.length < 200,
    );
    fc.assert(
      fc.property(fc.constantFrom(...networks), fc.nat(), fc.constantFrom(0, 1, 2, 3), (topology, any, change) => {
        const link = any % topology.linkSource.length;
        const without = (column: Int32Array | Float64Array) => column.filter((_, i) => i !== link);
        const twice = (column: Int32Array | Float64Array) => Array.from(column).concat(column[link]);
        const raised = (column: Float64Array) => column.map((value, i) => value + (i === link ? 1 : 0));
        const { linkSource, linkTarget, linkBytesPerSecond, linkLatencyPs } = topology;
        const columns = { linkSource, linkTarget, linkBytesPerSecond, linkLatencyPs };
        const ends = (of: typeof without | typeof twice) => ({
          linkSource: Int32Array.from(of(linkSource)),
          linkTarget: Int32Array.from(of(linkTarget)),
          linkBytesPerSecond: Float64Array.from(of(linkBytesPerSecond)),
          linkLatencyPs: Float64Array.from(of(linkLatencyPs)),
        });
        const changes = [
          () => ends(without),
          () => ends(twice),
          () => ({ ...columns, linkBytesPerSecond: raised(linkBytesPerSecond) }),
          () => ({ ...columns, linkLatencyPs: raised(linkLatencyPs) }),
        ];
        expect(dimensionsOf({ ...topology, ...changes[change]() })).toBeNull();
      }),
    );
  });
});
