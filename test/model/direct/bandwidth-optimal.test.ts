import { describe, expect, it } from "vitest";
import { graphOf } from "../../../src/model/direct/construction.ts";
import {
  arcSources,
  type Digraph,
  distancesFrom,
  regularDegree,
  transpose,
} from "../../../src/model/direct/digraph.ts";
import { family } from "../../../src/model/direct/families.ts";
import { parseConstruction } from "../../../src/model/direct/parse.ts";

/** Divisible by every number of in-links up to 10. */
const UNIT = 2520;

/**
 * T_B of the best BFB all-gather in units of (M/N) / (B/d), times UNIT: the sum over steps of the greatest load, which of a node
 * is the maximum over sets of in-links of the shards that can come by these only, over the size of the set (theorem 19).
 */
function bfbLoad(g: Digraph): number {
  const back = transpose(g);
  const source = arcSources(g);
  const into: number[][] = Array.from({ length: g.nodes }, () => []);
  source.forEach((v, arc) => {
    if (v !== g.target[arc]) into[g.target[arc]].push(v);
  });
  const greatest: number[] = [];
  const from = Array.from({ length: g.nodes }, (_, v) => distancesFrom(back, v));
  for (let u = 0; u < (g.translations === null ? g.nodes : 1); u++) {
    const { length: links } = into[u];
    const steps = Math.max(...from[u]);
    const only = Array.from({ length: steps + 1 }, () => new Int32Array(1 << links));
    for (let v = 0; v < g.nodes; v++) {
      let mask = 0;
      into[u].forEach((w, i) => {
        if (from[w][v] === from[u][v] - 1) mask |= 1 << i;
      });
      only[from[u][v]][mask]++;
    }
    for (let t = 1; t <= steps; t++) {
      let load = 0;
      for (let set = 1; set < 1 << links; set++) {
        let shards = 0;
        let size = 0;
        for (let part = set; part > 0; part = (part - 1) & set) shards += only[t][part];
        for (let i = 0; i < links; i++) size += (set >> i) & 1;
        load = Math.max(load, (UNIT * shards) / size);
      }
      greatest[t] = Math.max(greatest[t] ?? 0, load);
    }
  }
  return greatest.reduce((sum, load) => sum + load, 0);
}

const graph = (text: string): Digraph => graphOf(parseConstruction(text));
/** T_B in M / B. */
const bandwidth = (g: Digraph): number => (bfbLoad(g) * (regularDegree(g) as number)) / (UNIT * g.nodes);

describe("families that are called bandwidth optimal, by BFB", () => {
  it.each([
    "K(5)",
    "K(4,4)",
    "H(2,3)",
    "H(3,3)",
    "Kautz(4,0)",
    "Pi(4,5)",
    "C(16,{3,4})",
    "C(37,{5,11})",
    "C(20,{7})",
    "MultiC(2,16,{3,4})",
    "DC(6,{1,2,3,4})",
    "DC(5,{3,1,2})",
    "BiRing(2,5)",
    "BiRing(4,8)",
    "UniRing(1,8)",
    "UniRing(3,4)",
    ...[6, 9, 10, 14, 15, 16, 21, 26, 32, 35, 45, 70, 80, 189].map((nodes) => `DistReg(4,${nodes})`),
    "Crown(6)",
    "Q(5)",
    "TQ(3)",
    "Paley(13)",
    "J(6,2)",
    "AG(2,5)",
    "PG(2,4)",
    "Torus(3,3,2)",
    "Torus(4,5,6)",
    "TwistedTorus(4,8)",
    "TwistedTorus(4,4,8)",
    "TwistedTorus(3,6,6)",
  ])("%s has T_B = (N - 1) / N", (text) => {
    const construction = parseConstruction(text);
    if (construction.kind !== "family") throw new Error("a family");
    const known = family(construction.family);
    expect([known.bfb, known.bandwidthOptimal(construction.parameters)]).toEqual([true, true]);
    const g = graphOf(construction);
    expect(bfbLoad(g)).toBe((UNIT * (g.nodes - 1)) / (regularDegree(g) as number));
  });

  it.each(["Pi(4,64)", "DBJ(2,3)", "Kautz(2,2)", "DC(9,{1,3})"])("%s is not called so", (text) => {
    const construction = parseConstruction(text);
    if (construction.kind !== "family") throw new Error("a family");
    expect(family(construction.family).bandwidthOptimal(construction.parameters)).toBe(false);
  });
});

describe("T_B of table A.1, by BFB", () => {
  it.each([
    ["L(K(4,4))", 1],
    ["Pi(4,64)", 1.3125],
    ["L2(K(4,4))", 1.03125],
    ["L(DistReg(4,32))", 1],
    ["BiRing(2,8) x UniRing(1,4)^2", 127 / 128],
    ["DBJ(4,4)", 1.328125],
    ["L2(C(16,{3,4}))", 1.015625],
  ])("%s: %d", (text, expected) => {
    expect(bandwidth(graph(text))).toBe(expected);
  });
});
