import { describe, expect, it } from "vitest";
import { forestTrees } from "../../../src/export/schedules/forest-trees.ts";
import { readXml } from "../../../src/import/text/xml.ts";
import { HAND_MADE_TREES, ringInTrees, ringTrees, starTrees, turnedRing } from "../../support/hand-made-trees.ts";
import { builtTrees, copiedTrees } from "../../support/plain-trees.ts";

const textOf = (flow: Parameters<typeof builtTrees>[0]): string => [...forestTrees(builtTrees(flow))].join("");
const linesOf = (text: string): string[] => text.split("\n").map((line) => line.trim());

describe("tree XML", () => {
  it("lists every edge from the root outwards, with its height and copies", () => {
    expect(linesOf(textOf(ringTrees(3))).slice(0, 7)).toEqual([
      '<?xml version="1.0"?>',
      "<forests>",
      '<trees collective="allgather" direction="out" nranks="3" ntrees="3">',
      '<tree root="g0" index="0" nchunks="1" height="2">',
      '<send src="g0" dst="g1" path=""/>',
      '<send src="g1" dst="g2" path=""/>',
      "</tree>",
    ]);
  });

  it("gives the direction of the data for contributions to a root", () => {
    const lines = linesOf(textOf(ringInTrees(3)));
    expect(lines.slice(3, 6)).toEqual([
      '<tree root="g0" index="0" nchunks="1" height="2">',
      '<send src="g2" dst="g0" path=""/>',
      '<send src="g1" dst="g2" path=""/>',
    ]);
  });

  it("writes out the images of a symmetric flow", () => {
    expect(textOf(turnedRing(4)).match(/<tree /g)).toHaveLength(4);
    expect(textOf(turnedRing(4))).toBe(textOf(copiedTrees(turnedRing(4))));
  });

  it("names the switches between two members", () => {
    expect(textOf(starTrees())).toContain('<send src="g0" dst="g1" path="s0"/>');
  });

  it.each(Object.entries(HAND_MADE_TREES))("of %s is well-formed and spans the members from each root", (_, flow) => {
    const built = builtTrees(flow);
    const { children } = readXml([...forestTrees(built)].join(""), "t.xml");
    expect(children).toHaveLength(built.forests.length);
    for (const trees of children) {
      for (const tree of trees.children) {
        const far = trees.attributes.get("direction") === "out" ? "dst" : "src";
        const reached = [tree.attributes.get("root"), ...tree.children.map(({ attributes }) => attributes.get(far))];
        expect(new Set(reached).size).toBe(built.collective.groupSize);
        expect(tree.children).toHaveLength(built.collective.groupSize - 1);
      }
    }
  });

  it("escapes names", () => {
    const { topology, ...flow } = builtTrees(ringTrees(3));
    const named = { ...topology, nodeNames: ["(0, 'GPU', 0)", '<"&>', "c"] };
    const text = [...forestTrees({ ...flow, topology: named })].join("");
    expect(text).toContain(`<send src="(0, 'GPU', 0)" dst="&lt;&quot;&amp;&gt;" path=""/>`);
  });
});
