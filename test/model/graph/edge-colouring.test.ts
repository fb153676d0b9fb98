import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { edgeColours } from "../../../src/model/graph/edge-colouring.ts";
import { runs } from "../../support/runs.ts";

const degrees = (ends: readonly number[]): number => {
  const degree = new Map<number, number>();
  for (const end of ends) degree.set(end, (degree.get(end) ?? 0) + 1);
  return Math.max(0, ...degree.values());
};

describe("edge colouring of bipartite multigraphs", () => {
  it("uses as many colours as the greatest degree, none twice at a node", () => {
    const edges = fc.array(fc.tuple(fc.nat(7), fc.nat(7)), { maxLength: 60 });
    const property = fc.property(edges, (pairs) => {
      const source = pairs.map(([from]) => from);
      const target = pairs.map(([, to]) => to);
      const { colour, count } = edgeColours(source, target);
      expect(count).toBe(Math.max(degrees(source), degrees(target)));
      expect([...colour].every((one) => one >= 0 && one < count)).toBe(true);
      for (const ends of [source, target]) {
        const used = new Set(ends.map((end, edge) => `${end} ${colour[edge]}`));
        expect(used.size).toBe(pairs.length);
      }
    });
    fc.assert(property, { numRuns: runs(500), seed: 1 });
  });

  it("parts a complete graph into perfect matchings, whatever the order of its edges", () => {
    const n = 12;
    for (const stride of [1, 5, 7, 35, 143]) {
      const edges = Array.from({ length: n * n }, (_, i) => (i * stride) % (n * n));
      const { colour, count } = edgeColours(
        edges.map((edge) => Math.floor(edge / n)),
        edges.map((edge) => edge % n),
      );
      expect(count).toBe(n);
      for (let one = 0; one < n; one++) expect(colour.filter((c) => c === one).length).toBe(n);
    }
  });
});
