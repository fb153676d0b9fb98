import { describe, expect, it } from "vitest";
import { graphOf } from "../../../src/model/direct/construction.ts";
import {
  arcCount,
  arcSources,
  type Digraph,
  diameter,
  distanceCounts,
  distancesFrom,
  regularDegree,
  transpose,
} from "../../../src/model/direct/digraph.ts";
import { bidirectionalMooreSteps, mooreSteps } from "../../../src/model/direct/facts.ts";
import { DISTANCE_REGULAR_SIZES, distanceRegularOf } from "../../../src/model/direct/families/distance-regular.ts";
import { FAMILIES, family, familyNamed, familyText } from "../../../src/model/direct/families.ts";
import { parseConstruction } from "../../../src/model/direct/parse.ts";
import { translated } from "../../../src/model/symmetry/translation.ts";
import { areIsomorphic } from "../../support/isomorphism.ts";
import { outOfRange, unexpected } from "../../support/refusals.ts";
import { triesAll } from "../../support/runs.ts";

const graph = (text: string): Digraph => graphOf(parseConstruction(text));
/** The diameter by all nodes, whatever is known of translations. */
const trueDiameter = (g: Digraph): number => diameter({ ...g, translations: null });

/** Whether the numbers of definition 17, counted, depend on the distance only. */
function isDistanceRegular(g: Digraph): boolean {
  const distance = Array.from({ length: g.nodes }, (_, v) => distancesFrom(g, v));
  const most = Math.max(...distance[0]) + 1;
  const known = new Map<number, string>();
  for (let x = 0; x < g.nodes; x++) {
    for (let y = 0; y < g.nodes; y++) {
      const counts = new Int32Array(most * most);
      for (let z = 0; z < g.nodes; z++) counts[distance[x][z] * most + distance[y][z]]++;
      const text = counts.join();
      const h = distance[x][y];
      if ((known.get(h) ?? text) !== text) return false;
      known.set(h, text);
    }
  }
  return true;
}

/** Whether the k-th arc of every node is the translated k-th arc of node 0. */
function isTranslated({ nodes, offset, target, translations }: Digraph): boolean {
  if (translations === null) return false;
  const degree = offset[1];
  for (let v = 0; v < nodes; v++) {
    for (let k = 0; k < degree; k++) {
      if (target[v * degree + k] !== translated(translations, target[k], v)) return false;
    }
  }
  return true;
}

const hasLoop = (g: Digraph): boolean => arcSources(g).some((v, arc) => v === g.target[arc]);
const hasMultiEdge = (g: Digraph): boolean =>
  new Set(Array.from(arcSources(g), (v, arc) => v * g.nodes + g.target[arc])).size < arcCount(g);
const isUndirected = (g: Digraph): boolean => {
  const pairs = (from: Int32Array, to: Int32Array): string =>
    Float64Array.from(from, (v, i) => v * g.nodes + to[i])
      .sort()
      .join();
  const source = arcSources(g);
  return pairs(source, g.target) === pairs(g.target, source);
};

/** Whether neighbours nearer and farther than a node depend on the distance only, for these nodes and all others: definition 17 again. */
function hasIntersectionArray(g: Digraph, from: readonly number[]): boolean {
  const known = new Map<number, number>();
  for (const x of from) {
    const distance = distancesFrom(g, x);
    for (let y = 0; y < g.nodes; y++) {
      let [nearer, farther] = [0, 0];
      for (let arc = g.offset[y]; arc < g.offset[y + 1]; arc++) {
        const away = distance[g.target[arc]] - distance[y];
        if (away === -1) nearer++;
        if (away === 1) farther++;
      }
      const both = nearer * g.nodes + farther;
      if ((known.get(distance[y]) ?? both) !== both) return false;
      known.set(distance[y], both);
    }
  }
  return true;
}

describe("table A.2", () => {
  const steps = [2, 2, 3, 3, 3, 4, 3, 3, 4, 3, 4, 7, 4, 6, 6];
  const moore = [2, 2, 2, 2, 2, 2, 3, 3, 3, 3, 3, 4, 4, 5, 6];
  it.each(DISTANCE_REGULAR_SIZES.map((nodes, i) => [nodes, steps[i], moore[i]]))(
    "DistReg(4,%i) is distance-regular, of degree 4 and diameter %i",
    (nodes, diameterOfTable, mooreOfTable) => {
      const g = graph(`DistReg(4,${nodes})`);
      expect(g.nodes).toBe(nodes);
      expect(regularDegree(g)).toBe(4);
      expect(isUndirected(g)).toBe(true);
      expect(trueDiameter(g)).toBe(diameterOfTable);
      expect(bidirectionalMooreSteps(nodes, 4)).toBe(mooreOfTable);
      // counting triples of the largest takes seconds; its numbers follow from those of two nodes at each distance
      if (nodes < 300) expect(isDistanceRegular(g)).toBe(true);
    },
  );

  it("the incidence graph of GH(3,3) has girth 12 and equal distance counts, so it is a generalized hexagon", () => {
    const g = graph("GH(3,3)");
    const counts = [1, 4, 12, 36, 108, 324, 243];
    for (let v = 0; v < g.nodes; v++) expect([...distanceCounts(g, v)]).toEqual(counts);
  });
});

describe("distance-regular graphs of all degrees", () => {
  const sizes = new Map<string, readonly [nodes: number, degree: number]>();
  for (let nodes = 2; nodes <= 1500; nodes++)
    for (let degree = 2; degree <= 32; degree++)
      for (const { family: name, parameters } of distanceRegularOf(nodes, degree))
        sizes.set(familyText(family(name), parameters), [nodes, degree]);

  it("of up to 1,500 nodes are many, those that have no parameters among them", () => {
    expect(sizes.size).toBeGreaterThan(140);
    for (const name of ["Coxeter", "Dodecahedron", "Foster", "BiggsSmith", "HoffmanSingleton", "Perkel", "Gewirtz"])
      expect([...sizes.keys()]).toContain(name);
  });

  it.each([...sizes].map(([text, [nodes, degree]]) => [text, nodes, degree] as const))(
    "%s has %i nodes of degree %i, the diameter that is said, and is distance-regular",
    (text, nodes, degree) => {
      const g = graph(text);
      const said = distanceRegularOf(nodes, degree).find(
        (one) => familyText(family(one.family), one.parameters) === text,
      );
      expect([g.nodes, regularDegree(g), diameter(g)]).toEqual([nodes, degree, said?.diameter]);
      expect(isUndirected(g) && !hasLoop(g) && !hasMultiEdge(g)).toBe(true);
      const every = Math.ceil(nodes / (triesAll ? nodes : 20));
      expect(
        hasIntersectionArray(
          g,
          Array.from({ length: Math.ceil(nodes / every) }, (_, i) => i * every),
        ),
      ).toBe(true);
    },
  );
});

/** Text, nodes, degree, diameter. */
const GRAPHS: readonly [string, number, number, number][] = [
  ["K(5)", 5, 4, 1],
  ["K(4,4)", 8, 4, 2],
  ["K(1,1)", 2, 1, 1],
  ["H(2,3)", 9, 4, 2],
  ["H(3,4)", 64, 9, 3],
  ["Kautz(4,0)", 5, 4, 1],
  ["Kautz(4,2)", 80, 4, 3],
  ["Kautz(2,2)", 12, 2, 3],
  ["Kautz(2,3)", 24, 2, 4],
  ["Kautz(1,1000000000)", 2, 1, 1],
  ["Pi(4,64)", 64, 4, 3],
  ["Pi(4,1024)", 1024, 4, 5],
  ["Pi(1,7)", 7, 1, Infinity],
  ["C(7,{2,3})", 7, 4, 2],
  ["C(12,{2,3})", 12, 4, 2],
  ["C(16,{3,4})", 16, 4, 3],
  ["C(8,{1,4})", 8, 3, 2],
  ["MultiC(2,16,{3,4})", 16, 8, 3],
  ["DC(6,{1,2,3,4})", 6, 4, 2],
  ["DC(9,{1,3})", 9, 2, 4],
  ["Cayley(8,2,7,{1,6,8,11})", 16, 4, 2],
  ["Cayley(7,3,2,{1,7})", 21, 2, 5],
  ["Cayley(1,5,1,{1})", 5, 1, 4],
  ["UniRing(1,8)", 8, 1, 7],
  ["UniRing(2,2)", 2, 2, 1],
  ["BiRing(2,5)", 5, 2, 2],
  ["BiRing(4,8)", 8, 4, 4],
  ["Diamond", 8, 2, 3],
  ["DBJ(4,4)", 256, 4, 4],
  ["DBJ(2,3)", 8, 2, 3],
  ["DBJMod(2,3)", 8, 2, 3],
  ["DBJMod(2,4)", 16, 2, 4],
  ["DBJMod(3,2)", 9, 3, 2],
  ["DBJMod(4,2)", 16, 4, 3],
  ["Crown(5)", 10, 4, 3],
  ["Q(10)", 1024, 10, 10],
  ["TQ(3)", 8, 3, 2],
  ["TQ(5)", 32, 5, 4],
  ["CCC(3)", 24, 3, 6],
  ["CCC(4)", 64, 3, 8],
  ["CCC(5)", 160, 3, 10],
  ["J(5,2)", 10, 6, 2],
  ["Paley(13)", 13, 6, 2],
  ["Paley(9)", 9, 4, 2],
  ["Odd(3)", 10, 3, 2],
  ["DoubledOdd(3)", 20, 3, 5],
  ["PG(2,2)", 14, 3, 3],
  ["AG(2,3)", 18, 3, 4],
  ["GQ(2,2)", 30, 3, 4],
  ["GH(2,2)", 126, 3, 6],
  ["Torus(4,5,6)", 120, 6, 7],
  ["Torus(50,50)", 2500, 4, 50],
  ["Torus(3,3,2)", 18, 5, 3],
  ["TwistedTorus(4,8)", 32, 4, 4],
  ["TwistedTorus(8,4)", 32, 4, 4],
  ["TwistedTorus(4,4,8)", 128, 6, 6],
  ["TwistedTorus(4,8,8)", 256, 6, 6],
  ["SkewTorus(5,5,{2})", 25, 4, 4],
];

describe("families", () => {
  it.each(GRAPHS)("%s: %i nodes of degree %i, diameter %d, as its family says", (text, nodes, degree, steps) => {
    const construction = parseConstruction(text);
    if (construction.kind !== "family") throw new Error("a family");
    const { parameters } = construction;
    const known = family(construction.family);
    const g = graphOf(construction);
    expect({ nodes: g.nodes, degree: regularDegree(g) }).toEqual({ nodes, degree });
    expect(known.size(parameters)).toEqual({ nodes, degree });
    expect(trueDiameter(g)).toBe(steps);
    expect(diameter(g)).toBe(steps);
    expect(hasLoop(g)).toBe(known.selfLoops(parameters));
    expect(hasMultiEdge(g)).toBe(known.multiEdges(parameters));
    if (g.translations !== null) expect(isTranslated(g)).toBe(true);
    if (known.reverseSymmetric && nodes <= 16) expect(areIsomorphic(g, transpose(g))).toBe(true);
  });

  it("names and other names are unique, and lead to their family", () => {
    const names = FAMILIES.flatMap(({ name, aliases = [] }) => [name, ...aliases]);
    expect(new Set(names).size).toBe(names.length);
    for (const each of FAMILIES)
      expect(each.aliases?.map(familyNamed) ?? []).toEqual(each.aliases?.map(() => each) ?? []);
  });

  it.each(["Kautz(4,2)", "Kautz(2,3)", "Kautz(3,1)"])(
    "%s has the distances of the generalized Kautz graph of its size",
    (text) => {
      const [kautz] = [graph(text)];
      const pi = graph(`Pi(${regularDegree(kautz)},${kautz.nodes})`);
      const counts = (g: Digraph): string[] =>
        Array.from({ length: g.nodes }, (_, v) => distanceCounts(g, v).join()).sort();
      expect(counts(pi)).toEqual(counts(kautz));
      expect(hasLoop(pi)).toBe(false);
    },
  );

  it.each([2, 3, 4])("Pi(%i,m) is at most one step above the Moore bound for every m up to 150 (theorem 21)", (d) => {
    for (let m = d + 1; m <= 150; m++) {
      expect(trueDiameter(graph(`Pi(${d},${m})`))).toBeLessThanOrEqual(mooreSteps(m, d) + 1);
    }
  });
});

/** A torus with twists by walking on coordinates: the definition without group theory. */
function walkedTorus(sizes: readonly number[], shift: (from: number, to: number) => number): number[] {
  const nodes = sizes.reduce((a, b) => a * b, 1);
  const at = (v: number): number[] => {
    let rest = v;
    return sizes.map((size) => {
      const x = rest % size;
      rest = Math.floor(rest / size);
      return x;
    });
  };
  const nodeOf = (x: readonly number[]): number => x.reduceRight((sum, digit, d) => sum * sizes[d] + digit, 0);
  const step = (v: number, d: number): number => {
    const x = at(v);
    x[d]++;
    if (x[d] === sizes[d]) {
      x[d] = 0;
      // a shift may pass over the end of the other dimension, and so wrap around there as well
      sizes.forEach((size, j) => {
        for (let moves = shift(d, j); moves > 0; moves--)
          x.splice(0, x.length, ...at(j === d ? nodeOf(x) : step(nodeOf(x), j)));
        x[j] %= size;
      });
    }
    return nodeOf(x);
  };
  const neighbours: number[][] = Array.from({ length: nodes }, () => []);
  for (let v = 0; v < nodes; v++) {
    for (let d = 0; d < sizes.length; d++) {
      const to = step(v, d);
      neighbours[v].push(to);
      neighbours[to].push(v);
    }
  }
  const distance = new Array<number>(nodes).fill(-1);
  distance[0] = 0;
  const queue = [0];
  for (const v of queue) {
    for (const to of neighbours[v]) {
      if (distance[to] >= 0) continue;
      distance[to] = distance[v] + 1;
      queue.push(to);
    }
  }
  const counts: number[] = [];
  for (const steps of distance) counts[steps] = (counts[steps] ?? 0) + 1;
  return counts;
}

describe("twisted tori have the distances of walks on coordinates", () => {
  it.each<[string, readonly number[], (from: number, to: number) => number]>([
    ["TwistedTorus(3,6)", [3, 6], (from) => (from === 0 ? 3 : 0)],
    ["TwistedTorus(8,4)", [8, 4], (from) => (from === 1 ? 4 : 0)],
    ["TwistedTorus(3,3,6)", [3, 3, 6], (from, to) => (from < 2 && to === 2 ? 3 : 0)],
    ["TwistedTorus(3,6,6)", [3, 6, 6], (from, to) => (from === 0 && to > 0 ? 3 : 0)],
    ["SkewTorus(4,7,{3})", [4, 7], (from, to) => (from === 0 && to === 1 ? 3 : 0)],
    [
      "SkewTorus(3,4,5,{1,2,3})",
      [3, 4, 5],
      (from, to) => (from === 0 ? [0, 1, 2][to] : from === 1 && to === 2 ? 3 : 0),
    ],
  ])("%s", (text, sizes, shift) => {
    expect([...distanceCounts(graph(text), 0)]).toEqual(walkedTorus(sizes, shift));
  });
});

describe("parameters without a graph", () => {
  it.each([
    ["C", [16, 4, 6], unexpected("C(16,{4,6})", [4, 6], 16, 2)],
    ["C", [16, 9], outOfRange("an offset of C(16,{9})", 9, 8)],
    ["C", [16, 3, 3], unexpected("the offsets of C(16,{3,3})", 3)],
    ["C", [16, 0], outOfRange("parameter 2 of C(m,{a,b,...})", 0, 1000000000)],
    ["DC", [6, 6], outOfRange("an offset of DC(6,{6})", 6, 5)],
    ["MultiC", [2, 9, 3], unexpected("C(9,{3})", [3], 9, 3)],
    ["K", [4, 5], unexpected("K(4,5)", 5)],
    ["K", [1], outOfRange("parameter 1 of K(m) or K(d,d)", 1, 2, 1000000000)],
    ["K", [1, 2, 3], unexpected("K(m) or K(d,d)", 3, 2)],
    ["Pi", [4, 4], outOfRange("Pi(4,4)", 4, 5)],
    ["BiRing", [3, 4], unexpected("BiRing(3,4)", 3, 3, 4)],
    ["BiRing", [2, 2], unexpected("BiRing(2,2)", 2, 3, 2)],
    ["UniRing", [1, 1], outOfRange("parameter 2 of UniRing(d,m)", 1, 2, 1000000000)],
    ["UniRing", [1.5, 4], outOfRange("parameter 1 of UniRing(d,m)", 1.5, 1000000000)],
    ["DistReg", [4, 7], unexpected("DistReg(4,7)", 7)],
    ["DistReg", [3, 6], unexpected("DistReg(3,6)", 3, 4)],
    ["Paley", [7], unexpected("q of Paley(q)", 7, 5, 1000)],
    ["Paley", [21], unexpected("q of Paley(q)", 21, 5, 1000)],
    ["PG", [3, 2], unexpected("PG(2,q)", 3, 2)],
    ["PG", [2, 6], unexpected("q of PG(2,q)", 6, 2, 67)],
    ["GQ", [2, 3], unexpected("GQ(q,q)", 2)],
    ["J", [4, 4], unexpected("k of J(4,4)", 4, 4)],
    ["TwistedTorus", [4, 5], unexpected("TwistedTorus(4,5)", [4, 5])],
    ["TwistedTorus", [4, 4], unexpected("TwistedTorus(4,4)", [4, 4])],
    ["SkewTorus", [4, 8, 9], unexpected("a twist of SkewTorus(4,8,{9})", 9, 8)],
    ["SkewTorus", [4, 4], unexpected("SkewTorus(a,b,...,{t12,t13,...,t23,...})", 2)],
    ["SkewTorus", [2, 3, 1, 1], unexpected("SkewTorus(a,b,...,{t12,t13,...,t23,...})", 4)],
    ["DBJMod", [5, 2], unexpected("DBJMod(5,2)", [5, 2], 2, 3, 4)],
    ["Octahedron", [1], unexpected("Octahedron", 1)],
  ])("%s %j: expected %s", (name, parameters, message) => {
    expect(() => family(name).size(parameters)).toThrow(message);
  });

  it("an unknown family is named with one like it", () => {
    expect(() => family("Kauz")).toThrow(unexpected("the family of graphs", "Kauz", "Kautz"));
  });
});
