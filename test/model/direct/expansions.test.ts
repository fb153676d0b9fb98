import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { graphOf, sizeOf } from "../../../src/model/direct/construction.ts";
import {
  arcCount,
  arcSources,
  bidirectional,
  type Digraph,
  degreeExpansion,
  diameter,
  digraph,
  distanceCounts,
  lineGraph,
  power,
  product,
  regularDegree,
  transpose,
  transposedArcs,
} from "../../../src/model/direct/digraph.ts";
import { parseConstruction } from "../../../src/model/direct/parse.ts";
import { translated } from "../../../src/model/symmetry/translation.ts";
import { outOfRange, unexpected } from "../../support/refusals.ts";

const graph = (text: string): Digraph => graphOf(parseConstruction(text));
/** Arcs as "from>to", in order of arcs. */
const arcs = (g: Digraph): string[] => Array.from(arcSources(g), (v, arc) => `${v}>${g.target[arc]}`);
const sortedArcs = (g: Digraph): string[] => arcs(g).sort();

/** Any regular digraph: a union of permutations, with parallel arcs and, where they are allowed, self-loops. */
const regular = (loops: boolean): fc.Arbitrary<Digraph> =>
  fc
    .tuple(fc.integer({ min: 2, max: 7 }), fc.integer({ min: 1, max: 3 }), fc.infiniteStream(fc.nat(1000)))
    .map(([nodes, degree, numbers]) => {
      const permutations = Array.from({ length: degree }, () => {
        const order = Array.from({ length: nodes }, (_, v) => v);
        for (let i = nodes - 1; i > 0; i--) {
          // without loops: one cycle through all (Sattolo)
          const j = (numbers.next().value as number) % (loops ? i + 1 : i);
          [order[i], order[j]] = [order[j], order[i]];
        }
        return order;
      });
      return digraph(nodes, (v) => permutations.map((order) => order[v]));
    });

describe("line graph (definition 12)", () => {
  it("has a node for each arc, and an arc for each two that meet, in order", () => {
    fc.assert(
      fc.property(regular(true), (g) => {
        const line = lineGraph(g);
        const source = arcSources(g);
        const meeting: string[] = [];
        for (let a = 0; a < arcCount(g); a++) {
          for (let b = 0; b < arcCount(g); b++) if (g.target[a] === source[b]) meeting.push(`${a}>${b}`);
        }
        expect(line.nodes).toBe(arcCount(g));
        expect(arcs(line)).toEqual(meeting);
        expect(regularDegree(line)).toBe(regularDegree(g));
      }),
    );
  });

  it("adds one to the diameter of graphs with degree 2 or more (theorem 7)", () => {
    for (const text of ["K(4,4)", "Pi(2,7)", "C(9,{2,3})", "H(2,3)"]) {
      expect(diameter(graph(`L(${text})`))).toBe(diameter(graph(text)) + 1);
      expect(diameter(graph(`L3(${text})`))).toBe(diameter(graph(text)) + 3);
    }
  });

  it("L(K(4,4)) has 32 nodes, 4 distances", () => {
    expect([...distanceCounts(graph("L(K(4,4))"), 0)]).toEqual([1, 4, 15, 12]);
  });
});

describe("degree expansion (definition 13)", () => {
  it("links all copies of neighbours, node v of copy i being i N + v", () => {
    fc.assert(
      fc.property(regular(false), fc.integer({ min: 1, max: 4 }), (g, n) => {
        const wanted: string[] = [];
        for (const arc of arcs(g)) {
          const [from, to] = arc.split(">").map(Number);
          for (let i = 0; i < n; i++) {
            for (let j = 0; j < n; j++) wanted.push(`${i * g.nodes + from}>${j * g.nodes + to}`);
          }
        }
        expect(sortedArcs(degreeExpansion(g, n))).toEqual(wanted.sort());
      }),
    );
  });

  it("lists the copies of each arc's target in order", () => {
    expect([...degreeExpansion(graph("UniRing(1,3)"), 2).target.slice(0, 4)]).toEqual([1, 4, 2, 5]);
  });

  it("refuses graphs with self-loops, and names the node", () => {
    expect(() => graph("DBJ(2,2)*2")).toThrow(unexpected("degree expansion (*)", "a self-loop of node 0", 13));
  });
});

describe("Cartesian product and power (definition 3)", () => {
  it("changes one coordinate by an arc of its factor, the arcs of factor 1 first", () => {
    fc.assert(
      fc.property(fc.array(regular(true), { minLength: 1, maxLength: 3 }), (factors) => {
        const nodes = factors.reduce((all, factor) => all * factor.nodes, 1);
        const wanted: string[] = [];
        for (let v = 0; v < nodes; v++) {
          let stride = 1;
          for (const factor of factors) {
            const x = Math.floor(v / stride) % factor.nodes;
            for (const to of factor.target.slice(factor.offset[x], factor.offset[x + 1])) {
              wanted.push(`${v}>${v - x * stride + to * stride}`);
            }
            stride *= factor.nodes;
          }
        }
        expect(arcs(product(factors))).toEqual(wanted);
      }),
    );
  });

  it("adds diameters and multiplies translations", () => {
    const g = graph("(UniRing(1,4) x UniRing(1,8))^2");
    expect(g.translations).toEqual([4, 8, 4, 8]);
    expect(diameter(g)).toBe(20);
    expect(diameter({ ...g, translations: null })).toBe(20);
    const sizes = g.translations as readonly number[];
    for (let v = 0; v < g.nodes; v++) {
      for (let k = 0; k < 4; k++) expect(g.target[4 * v + k]).toBe(translated(sizes, g.target[k], v));
    }
    expect(graph("Pi(2,5) x K(3)").translations).toBeNull();
  });

  it("of K_q is the Hamming graph, of K_2 the cube, of rings the torus, arc by arc", () => {
    expect(arcs(power(graph("K(3)"), 2))).toEqual(arcs(graph("H(2,3)")));
    expect(arcs(graph("K(2)^5"))).toEqual(arcs(graph("Q(5)")));
    expect(arcs(graph("BiRing(2,4) x BiRing(2,5) x K(2)"))).toEqual(arcs(graph("Torus(4,5,2)")));
  });
});

describe("transpose and both ways (A.1.6)", () => {
  it("turn every arc round; twice gives the graph with targets sorted", () => {
    fc.assert(
      fc.property(regular(true), (g) => {
        const turned = transpose(g);
        const source = arcSources(g);
        const original = transposedArcs(g);
        expect(arcs(turned)).toEqual(Array.from(original, (arc) => `${g.target[arc]}>${source[arc]}`));
        expect(sortedArcs(transpose(turned))).toEqual(sortedArcs(g));
        for (let v = 0; v < g.nodes; v++) {
          const entering = original.slice(turned.offset[v], turned.offset[v + 1]);
          expect([...entering]).toEqual([...entering].sort((a, b) => a - b));
        }
      }),
    );
  });

  it("unite a node's own arcs and then those of the transpose", () => {
    fc.assert(
      fc.property(regular(true), (g) => {
        const both = bidirectional(g);
        const turned = transpose(g);
        for (let v = 0; v < g.nodes; v++) {
          expect([...both.target.slice(both.offset[v], both.offset[v + 1])]).toEqual([
            ...g.target.slice(g.offset[v], g.offset[v + 1]),
            ...turned.target.slice(turned.offset[v], turned.offset[v + 1]),
          ]);
        }
      }),
    );
  });
});

describe("sizes before building", () => {
  it.each([
    "L3(C(16,{3,4}))",
    "BiRing(2,5)*2",
    "Bi(Kautz(2,2))",
    "T(Pi(3,10)) x K(3)",
    "L2(DistReg(4,32))",
    "(K(3) x K(2)^2)*3",
    "L(UniRing(1,4)^3 x UniRing(1,2))",
  ])("%s has the nodes and degree that were foretold", (text) => {
    const g = graph(text);
    expect(sizeOf(parseConstruction(text))).toEqual({ nodes: g.nodes, degree: regularDegree(g) });
  });

  it.each([
    ["L20(K(5))", unexpected("L20(K(5))", "about 21990232555520 arcs", 10000000)],
    ["Pi(4,3000000)", unexpected("Pi(4,3000000)", "about 12000000 arcs", 10000000)],
    ["K(5)^99999", unexpected("K(5)^99999", "more than 1e308 arcs", 10000000)],
    ["UniRing(1000000000,2)", unexpected("UniRing(1000000000,2)", "about 2000000000 arcs", 10000000)],
    ["K(9)*1000000 x K(2)", unexpected("K(9)*1000000", "about 72000000000000 arcs", 10000000)],
    ["SkewTorus(99999,99999,{7})", unexpected("character 1 of the topology", "SkewTorus(99999,99999,{7})")],
  ])("refuses %s: %s", (text, estimate) => {
    expect(() => graph(text)).toThrow(estimate);
  });

  it("checks the numbers of expansions", () => {
    const base = { kind: "family", family: "K", parameters: [3] } as const;
    expect(() => sizeOf({ kind: "line", times: 0, base })).toThrow(
      outOfRange("the times a line graph is taken", 0, 64),
    );
    expect(() => sizeOf({ kind: "line", times: 65, base })).toThrow(
      outOfRange("the times a line graph is taken", 65, 64),
    );
    expect(() => sizeOf({ kind: "degree", factor: 1.5, base })).toThrow(
      outOfRange("the factor of a degree expansion", 1.5, 10000000),
    );
    expect(() => sizeOf({ kind: "power", exponent: -1, base })).toThrow(
      outOfRange("the exponent of a power", -1, 10000000),
    );
  });
});
