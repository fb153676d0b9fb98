import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type LayeredEdge, type LayeredNode, layered } from "../../src/picture/layered.ts";

const GAPS = { beside: 10, below: 20 };

/** Graphs whose edges lead from lower to higher numbers, which are then dealt anew. */
const graphs = fc.integer({ min: 1, max: 14 }).chain((count) =>
  fc
    .record({
      sizes: fc.array(fc.tuple(fc.integer({ min: 1, max: 90 }), fc.integer({ min: 1, max: 60 })), {
        minLength: count,
        maxLength: count,
      }),
      pairs: fc.array(fc.tuple(fc.nat(count - 1), fc.nat(count - 1)), { maxLength: 30 }),
      seats: fc.shuffledSubarray(
        Array.from({ length: count }, (_, i) => i),
        { minLength: count },
      ),
    })
    .map(({ sizes, pairs, seats }) => ({
      nodes: sizes.map(([width, height]): LayeredNode => ({ width, height })),
      edges: pairs
        .filter(([a, b]) => a !== b)
        .map(([a, b]): LayeredEdge => [seats[Math.min(a, b)] as number, seats[Math.max(a, b)] as number]),
    })),
);

describe("a layered layout", () => {
  it("has every edge go downwards, from the lower end of a node to the upper end of the other", () => {
    fc.assert(
      fc.property(graphs, ({ nodes, edges }) => {
        const { x, y, layer, ways } = layered(nodes, edges, GAPS);
        edges.forEach(([from, to], e) => {
          expect(layer[to]).toBeGreaterThan(layer[from] as number);
          const way = ways[e] as readonly (readonly [number, number])[];
          for (let i = 1; i < way.length; i++) expect(way[i]?.[1]).toBeGreaterThan(way[i - 1]?.[1] as number);
          expect(way[0]?.[0]).toBeCloseTo(x[from] as number, 6);
          expect(way[0]?.[1]).toBeCloseTo((y[from] as number) + (nodes[from] as LayeredNode).height / 2, 6);
          expect(way.at(-1)?.[0]).toBeCloseTo(x[to] as number, 6);
          expect(way.at(-1)?.[1]).toBeCloseTo((y[to] as number) - (nodes[to] as LayeredNode).height / 2, 6);
        });
      }),
    );
  });

  it("has no two nodes overlap, all within its size, and no edge run through a node", () => {
    fc.assert(
      fc.property(graphs, ({ nodes, edges }) => {
        const { x, y, ways, width, height } = layered(nodes, edges, GAPS);
        const boxes = nodes.map((node, i) => ({
          left: (x[i] as number) - node.width / 2,
          right: (x[i] as number) + node.width / 2,
          top: (y[i] as number) - node.height / 2,
          bottom: (y[i] as number) + node.height / 2,
        }));
        const near = 1e-6;
        boxes.forEach((one, i) => {
          expect(one.left).toBeGreaterThan(-near);
          expect(one.right).toBeLessThan(width + near);
          expect(one.top).toBeGreaterThan(-near);
          expect(one.bottom).toBeLessThan(height + near);
          for (const other of boxes.slice(0, i)) {
            const isBeside =
              one.right + GAPS.beside <= other.left + near || other.right + GAPS.beside <= one.left + near;
            const isBelow = one.bottom + GAPS.below <= other.top + near || other.bottom + GAPS.below <= one.top + near;
            expect(isBeside || isBelow).toBe(true);
          }
          // straight pieces pass beside nodes; curves are between layers, where there are none
          for (const way of ways) {
            for (let p = 1; p < way.length; p++) {
              const [[x1, y1], [x2, y2]] = [way[p - 1], way[p]] as [[number, number], [number, number]];
              const isWithin = y1 < one.bottom - near && y2 > one.top + near;
              if (isWithin)
                expect(Math.abs(x1 - x2) < near && (x1 <= one.left + near || x1 >= one.right - near)).toBe(true);
            }
          }
        });
      }),
    );
  });

  it("is the same for the same graph", () => {
    fc.assert(
      fc.property(graphs, ({ nodes, edges }) => {
        expect(layered(nodes, edges, GAPS)).toEqual(layered(nodes, edges, GAPS));
      }),
    );
  });

  it("untangles two edges that need not cross, and puts what nothing leads to above who takes it", () => {
    const nodes = Array.from({ length: 6 }, () => ({ width: 10, height: 10 }));
    const { x, layer } = layered(
      nodes,
      [
        [0, 3],
        [1, 2],
        [2, 4],
        [5, 4],
      ],
      GAPS,
    );
    expect(((x[0] as number) - (x[1] as number)) * ((x[3] as number) - (x[2] as number))).toBeGreaterThan(0);
    expect([...layer]).toEqual([0, 0, 1, 1, 2, 1]);
  });

  it("centres what goes straight on, and lays out nothing at all", () => {
    const chain = layered(
      [
        { width: 8, height: 4 },
        { width: 40, height: 4 },
        { width: 8, height: 4 },
      ],
      [
        [0, 1],
        [1, 2],
      ],
      GAPS,
    );
    expect([...chain.x]).toEqual([20, 20, 20]);
    expect([...chain.y]).toEqual([2, 26, 50]);
    expect([chain.width, chain.height]).toEqual([40, 52]);
    expect(layered([], [], GAPS)).toMatchObject({ width: 0, height: 0, ways: [] });
  });

  it("refuses a circle", () => {
    const nodes = [
      { width: 1, height: 1 },
      { width: 1, height: 1 },
    ];
    expect(() =>
      layered(
        nodes,
        [
          [0, 1],
          [1, 0],
        ],
        GAPS,
      ),
    ).toThrow(RangeError);
  });
});
