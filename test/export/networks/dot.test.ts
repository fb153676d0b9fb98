import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { topologyDot, treesDot } from "../../../src/export/networks/dot.ts";
import { presetTopology } from "../../../src/model/presets/preset.ts";
import { anyTopology } from "../../support/any-topology.ts";
import { outOfRange } from "../../support/refusals.ts";
import { ringFlow, starFlow } from "../../support/tree-flows.ts";

const text = (parts: Iterable<string>): string => [...parts].join("");

/** Splits DOT into its words, quoted texts first unescaped; throws where a text does not end. */
function words(dot: string): { readonly quoted: boolean; readonly word: string }[] {
  const found = [...dot.matchAll(/"((?:[^"\\]|\\[\s\S])*)"|->|[A-Za-z0-9_.]+|[{}[\];=,]|(\S)/g)];
  expect(found.filter((match) => match[2] !== undefined).map((match) => match[2])).toEqual([]);
  return found.map(([word, inside]) => ({
    quoted: inside !== undefined,
    word: (inside ?? word).replace(/\\(.)/g, (_, c) => (c === "n" ? "\n" : c)),
  }));
}

const arrows = (dot: string): number => words(dot).filter(({ quoted, word }) => !quoted && word === "->").length;

describe("DOT of a network", () => {
  it("names every node as it is called, whatever the name, in balanced braces", () => {
    fc.assert(
      fc.property(anyTopology(), (topology) => {
        const all = words(text(topologyDot(topology)));
        const names = all.filter(({ quoted }) => quoted).map(({ word }) => word);
        for (const name of topology.nodeNames)
          expect(names).toContain(name.replace(/\r\n?/g, "\n").replaceAll("\0", ""));
        const plain = all.filter(({ quoted }) => !quoted).map(({ word }) => word);
        expect(plain.filter((word) => word === "{").length).toBe(plain.filter((word) => word === "}").length);
      }),
    );
  });

  it("puts groups into clusters and equal links of both ways into one edge", () => {
    const dot = text(topologyDot(presetTopology("dgx-a100:2")));
    expect(dot.match(/subgraph cluster_/g)).toHaveLength(2);
    expect(arrows(dot)).toBe(32);
    expect(dot).toContain('n0 -> n16 [label="300 GB/s", penwidth=4.0, dir=both];');
  });

  it("counts parallel links", () => {
    expect(text(topologyDot(presetTopology("ring:2")))).toMatch(/label="\d+ GB\/s/);
    const flow = starFlow(2, 1e9, 0, 10).topology;
    const doubled = {
      ...flow,
      linkSource: Int32Array.of(...flow.linkSource, 0),
      linkTarget: Int32Array.of(...flow.linkTarget, 2),
      linkBytesPerSecond: Float64Array.of(...flow.linkBytesPerSecond, 5e8),
      linkLatencyPs: Float64Array.of(...flow.linkLatencyPs, 0),
    };
    const dot = text(topologyDot(doubled));
    expect(dot).toContain('n0 -> n2 [label="1.5 GB/s ×2"');
    expect(dot).toContain('n2 -> n0 [label="1 GB/s"');
  });

  it("refuses more than 5,000 nodes", () => {
    expect(() => text(topologyDot(presetTopology("mesh:80x80")))).toThrow(
      outOfRange("the nodes of a DOT file", 6400, 5000),
    );
  });
});

describe("DOT of trees", () => {
  it("has a cluster for each tree and an edge for each step", () => {
    const dot = text(treesDot(ringFlow(5, 1e9, 0, 1000)));
    words(dot);
    expect(dot.match(/subgraph cluster_/g)).toHaveLength(10);
    expect(arrows(dot)).toBe(40);
  });

  it("says what forwards and how many trees are left out", () => {
    const dot = text(treesDot(starFlow(4, 1e9, 0, 1000), { most: 3 }));
    expect(dot).toContain('label="3 of 4 trees";');
    expect(dot).toContain('t0n0 -> t0n1 [label="hub", color="#4b2991"];');
    expect(arrows(dot)).toBe(9);
  });

  it("runs data towards the root where it is reduced", () => {
    expect(text(treesDot(ringFlow(3, 1e9, 0, 1000, "in"), { most: 1 }))).toContain("t0n1 -> t0n0 ");
  });
});
