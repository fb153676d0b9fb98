import { describe, expect, it } from "vitest";
import { openHighs } from "../../../src/engine/milp/highs.ts";
import {
  arcSources,
  type Digraph,
  diameter,
  distancesFrom,
  regularDegree,
  transpose,
} from "../../../src/model/direct/digraph.ts";
import { diamond, modifiedDeBruijn } from "../../../src/model/direct/families/kautz.ts";
import { allToAllProgram } from "../../support/all-to-all-program.ts";
import { areIsomorphic } from "../../support/isomorphism.ts";

const lp = await openHighs();

/** Every base graph: d, diameter, whether it is isomorphic to its transpose, and f of (A.1) where it is known. */
const GRAPHS = [
  ["Diamond", diamond(), 2, 3, false, 3 / 20],
  ["DBJMod(2,3)", modified(2, 3), 2, 3, true, 1 / 8],
  ["DBJMod(2,4)", modified(2, 4), 2, 4, false, 7 / 149],
  ["DBJMod(3,2)", modified(3, 2), 3, 2, false, 2 / 9],
  ["DBJMod(4,2)", modified(4, 2), 4, 3, false, 11 / 80],
] as const;

function modified(d: number, n: number): Digraph {
  const graph = modifiedDeBruijn(d, n);
  if (graph === null) throw new Error(`no DBJMod(${d},${n})`);
  return graph;
}

describe("base graphs of missing drawings (figures A.8, A.9, table A.3)", () => {
  it.each(GRAPHS)("%s", (_, graph, degree, steps, isReverseSymmetric, rate) => {
    expect(regularDegree(graph)).toBe(degree);
    const tail = arcSources(graph);
    const pairs = new Set(Array.from(graph.target, (to, arc) => tail[arc] * graph.nodes + to));
    expect(pairs.size).toBe(graph.target.length);
    expect(graph.target.some((to, arc) => to === tail[arc])).toBe(false);
    expect(diameter(graph)).toBe(steps);
    expect(areIsomorphic(graph, transpose(graph))).toBe(isReverseSymmetric);
    expect(lp.solve(allToAllProgram(graph)).objective).toBeCloseTo(rate, 9);
  });

  it("Diamond has no bandwidth-optimal breadth-first broadcast: distances to nodes differ (theorem 17)", () => {
    const toNode = transpose(diamond());
    const profile = (v: number): string => Array.from(distancesFrom(toNode, v)).sort().join("");
    expect(new Set(Array.from({ length: 8 }, (_, v) => profile(v))).size).toBeGreaterThan(1);
  });

  it("DBJMod(d, n) is de Bruijn's graph but for loops and 2-cycles, and one cycle instead", () => {
    for (const [d, n] of [
      [2, 3],
      [2, 4],
      [3, 2],
      [4, 2],
    ] as const) {
      const { nodes, offset, target } = modified(d, n);
      const leads = (v: number, w: number): boolean => Math.floor(w / d) === v % d ** (n - 1);
      const next = new Map<number, number>();
      for (let v = 0; v < nodes; v++) {
        const kept = Array.from({ length: nodes }, (_, w) => w).filter((w) => leads(v, w) && !leads(w, v));
        const out = Array.from(target.subarray(offset[v], offset[v + 1]));
        expect(out.slice(0, kept.length)).toEqual(kept);
        for (const w of out.slice(kept.length)) next.set(v, w);
        expect(out.length - kept.length).toBeLessThanOrEqual(1);
      }
      let length = 0;
      for (let v = 0; length === 0 || v !== 0; v = next.get(v) as number) length++;
      expect(length).toBe(next.size);
    }
    for (const [d, n] of [
      [2, 2],
      [2, 5],
      [3, 3],
      [5, 2],
    ] as const) {
      expect(modifiedDeBruijn(d, n)).toBeNull();
    }
  });
});
