import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { loadKernels } from "../../../src/engine/kernels/load.ts";
import { constructionText, graphOf } from "../../../src/model/direct/construction.ts";
import { arcSources, diameter, regularDegree, transpose } from "../../../src/model/direct/digraph.ts";
import { gcd } from "../../../src/model/numbers/integers.ts";
import { format } from "../../../src/model/numbers/rational.ts";
import { oppositeLinks } from "../../../src/model/topology/link-classes.ts";
import { type Balancer, bfbTimes } from "../../../src/synthesize/bfb/broadcast.ts";
import { type Candidate, has, knownBases, meanDistances, TRAITS } from "../../../src/synthesize/finder/candidates.ts";
import {
  cayleyGraphs,
  circulants,
  closeCirculants,
  cubeConnectedCycles,
  generalizedKautz,
} from "../../../src/synthesize/finder/evaluated.ts";
import { lined, multiplied, multipliedBy } from "../../../src/synthesize/finder/finder.ts";
import { offsetsOfSmallDiameter } from "../../../src/synthesize/finder/offsets.ts";
import { areIsomorphic } from "../../support/isomorphism.ts";
import { runs } from "../../support/runs.ts";

const { kernels } = await loadKernels("js");
const balance: Balancer = async (problem) => kernels.balance({ ...problem, threads: 1 });
const everyNode = (nodes: number): Int32Array => Int32Array.from({ length: nodes }, (_, v) => v);
const timesOf = async ({ construction }: Candidate): Promise<string> => {
  const { steps, bandwidth } = await bfbTimes(graphOf(construction), everyNode(graphOf(construction).nodes), balance);
  return `${constructionText(construction)} ${steps} ${format(bandwidth)}`;
};
const told = ({ construction, steps, bandwidth }: Candidate): string =>
  `${constructionText(construction)} ${steps} ${format(bandwidth)}`;

/** Made by tables of schedules, not by BFB. */
const TABULATED = ["Diamond", "DBJMod"];

describe("known base graphs", () => {
  const sizes = [
    2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 15, 16, 18, 20, 21, 26, 27, 30, 32, 35, 36, 42, 45, 50, 62, 64, 70, 80, 81, 114,
    126,
  ];

  it("have the size, times and traits that they are listed with", async () => {
    for (const nodes of sizes) {
      for (let degree = 1; degree <= 8; degree++) {
        for (const base of knownBases(nodes, degree)) {
          const graph = graphOf(base.construction);
          const name = constructionText(base.construction);
          expect([name, graph.nodes, regularDegree(graph)]).toEqual([name, nodes, degree]);
          if (!TABULATED.some((family) => name.startsWith(family))) expect(await timesOf(base)).toBe(told(base));
          expect(diameter(graph)).toBeLessThanOrEqual(base.diameter);
          const source = arcSources(graph);
          const loops = source.some((from, arc) => from === graph.target[arc]);
          const pairs = new Set(source.map((from, arc) => from * nodes + graph.target[arc]));
          expect([name, has(base, TRAITS.loopless)]).toEqual([name, !loops]);
          expect([name, has(base, TRAITS.simple)]).toEqual([name, !loops && pairs.size === source.length]);
          if (has(base, TRAITS.reversible) && nodes <= 16)
            expect([name, areIsomorphic(graph, transpose(graph))]).toEqual([name, true]);
          if (has(base, TRAITS.bidirectional)) expect(oppositeLinks(source, graph.target, [])).not.toBeNull();
        }
      }
    }
  });
});

describe("evaluated base graphs", () => {
  it("give for generalized Kautz graphs what all nodes give, from one of each orbit or the smaller graph", async () => {
    for (const [degree, most] of [
      [2, 40],
      [3, 40],
      [4, 60],
      [5, 31],
    ] as const) {
      for (let nodes = degree + 1; nodes <= most; nodes++) {
        const found = (await generalizedKautz(nodes, degree, [], new Map(), balance)) as Candidate;
        expect(told(found)).toBe(await timesOf(found));
      }
    }
  });

  it("leave a generalized Kautz graph out that a rival beats", async () => {
    const rivals = knownBases(32, 16);
    expect(await generalizedKautz(32, 16, rivals, new Map(), balance)).toBeNull();
  });

  it("give for circulants what all nodes give", async () => {
    for (const [nodes, degree] of [
      [17, 3],
      [30, 4],
      [31, 6],
      [24, 5],
    ] as const) {
      for (const undirected of [false, true]) {
        for (const found of await circulants(nodes, degree, undirected, new Map(), balance))
          expect(told(found)).toBe(await timesOf(found));
      }
    }
  });
});

describe("graphs whose links come in pairs", () => {
  const check = async (found: readonly Candidate[]): Promise<void> => {
    for (const candidate of found) {
      const graph = graphOf(candidate.construction);
      expect(told(candidate)).toBe(await timesOf(candidate));
      expect(oppositeLinks(arcSources(graph), graph.target, [])).not.toBeNull();
      expect([graph.nodes, regularDegree(graph)]).toEqual([candidate.nodes, candidate.degree]);
    }
  };

  it("of groups give what all nodes give, with the inverse of each element", async () => {
    for (const [nodes, degree] of [
      [20, 3],
      [60, 3],
      [36, 4],
      [39, 4],
      [32, 5],
    ] as const) {
      const found = await cayleyGraphs(nodes, degree, true, new Map(), balance);
      expect(found).not.toEqual([]);
      await check(found);
    }
    expect(await cayleyGraphs(21, 3, true, new Map(), balance)).toEqual([]);
    expect(await cayleyGraphs(29, 4, true, new Map(), balance)).toEqual([]);
  });

  it("are cube-connected cycles of 24 and 64 nodes, and none of another size or degree", async () => {
    for (const nodes of [24, 64]) {
      const found = await cubeConnectedCycles(nodes, 3, new Map(), balance);
      expect(found.length).toBe(1);
      await check(found);
    }
    expect(await cubeConnectedCycles(24, 4, new Map(), balance)).toEqual([]);
    expect(await cubeConnectedCycles(32, 3, new Map(), balance)).toEqual([]);
  });

  it("are circulants of the two offsets whose distances are least, by trying all", async () => {
    for (const nodes of [11, 24, 29]) {
      let least = Number.POSITIVE_INFINITY;
      for (let b = 2; 2 * b < nodes; b++) {
        for (let a = 1; a < b; a++) {
          if (gcd(gcd(a, b), nodes) > 1) continue;
          const construction = { kind: "family", family: "C", parameters: [nodes, a, b] } as const;
          least = Math.min(least, meanDistances({ construction }) as number);
        }
      }
      const found = await closeCirculants(nodes, 4, new Map(), balance);
      await check(found);
      expect(meanDistances(found[0])).toBe(least);
    }
    expect(await closeCirculants(20, 3, new Map(), balance)).toEqual([]);
  });
});

describe("line graphs of evaluated circulants", () => {
  it("give what all nodes give, less than theorem 7 says", async () => {
    for (const [nodes, degree] of [
      [22, 2],
      [64, 2],
      [64, 4],
      [80, 4],
    ] as const) {
      const lines = (await circulants(nodes, degree, false, new Map(), balance)).filter(
        ({ construction }) => construction.kind === "line",
      );
      expect(lines).not.toEqual([]);
      for (const line of lines) {
        expect(told(line)).toBe(await timesOf(line));
        expect([has(line, TRAITS.balanced), line.bandwidth.num]).toEqual([true, BigInt(nodes - 1)]);
      }
    }
  });
});

describe("offsets of small diameter", () => {
  it("give the diameter that they are said to give, the same each time", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 3, max: 60 }),
        fc.integer({ min: 1, max: 9 }),
        fc.boolean(),
        (nodes, degree, both) => {
          const found = offsetsOfSmallDiameter(nodes, degree, both);
          expect(offsetsOfSmallDiameter(nodes, degree, both)).toEqual(found);
          for (const { offsets, diameter: said } of found) {
            const family = both ? "C" : "DC";
            const graph = graphOf({ kind: "family", family, parameters: [nodes, ...offsets] });
            expect([regularDegree(graph), diameter(graph)]).toEqual([degree, said]);
          }
        },
      ),
      { numRuns: runs(40) },
    );
  });

  it("find the least diameter of two offsets of 32 and 60 nodes, by trying all", () => {
    for (const nodes of [32, 60]) {
      let least = Number.POSITIVE_INFINITY;
      for (let a = 1; a < nodes; a++) {
        for (let b = a + 1; b < nodes; b++) {
          try {
            least = Math.min(least, diameter(graphOf({ kind: "family", family: "DC", parameters: [nodes, a, b] })));
          } catch {
            // not connected
          }
        }
      }
      expect(offsetsOfSmallDiameter(nodes, 2, false)[0]?.diameter).toBe(least);
    }
  });
});

describe("expansions of candidates", () => {
  const basesUpTo = (nodes: number, degree: number): Candidate[] => {
    const found: Candidate[] = [];
    for (let n = 2; n <= nodes; n++) for (let d = 1; d <= degree; d++) found.push(...knownBases(n, d));
    return found.filter(
      ({ construction }) => !TABULATED.some((name) => constructionText(construction).startsWith(name)),
    );
  };

  it("tell of line graphs of known base graphs what BFB takes (theorem 10)", async () => {
    for (const base of basesUpTo(10, 4)) {
      const line = lined(base);
      if (line !== null) expect(told(line)).toBe(await timesOf(line));
    }
  });

  it("tell of degree expansions of optimal undirected graphs what BFB takes: no step more from two on", async () => {
    for (const base of basesUpTo(12, 4)) {
      if (!has(base, TRAITS.balanced | TRAITS.bidirectional)) continue;
      const expanded = multiplied(base, 2);
      expect(told(expanded)).toBe(await timesOf(expanded));
    }
  });

  it("tell of products of optimal simple graphs what BFB takes (theorem 13)", async () => {
    const factors = basesUpTo(6, 3).filter((base) => has(base, TRAITS.simple | TRAITS.balanced));
    for (const one of factors) {
      for (const other of factors) {
        const product = multipliedBy(one, other);
        expect(told(product)).toBe(await timesOf(product));
      }
    }
  });
});
