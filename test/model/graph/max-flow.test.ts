import fc from "fast-check";
import highsModule from "highs";
import { describe, expect, it } from "vitest";
import { type FlowNetwork, flowSolver } from "../../../src/model/graph/flow.ts";
import { runs } from "../../support/runs.ts";

// the package's types describe its CommonJS build; the ES module's default export is the loader itself
const loadHighs = highsModule as unknown as typeof highsModule.default;

interface Case extends FlowNetwork {
  readonly capacity: Float64Array;
}

const anyNetwork = (nodes: number, arcs: number): fc.Arbitrary<Case> =>
  fc
    .record({
      nodes: fc.integer({ min: 2, max: nodes }),
      arcs: fc.array(fc.tuple(fc.nat(), fc.nat(), fc.integer({ min: 0, max: 20 })), { maxLength: arcs }),
    })
    .map(({ nodes: count, arcs: list }) => ({
      nodes: count,
      tail: Int32Array.from(list, (a) => a[0] % count),
      head: Int32Array.from(list, (a) => a[1] % count),
      capacity: Float64Array.from(list, (a) => a[2]),
    }));

/** Returns the smallest cut between 0 and 1 over all subsets. */
function bruteCut(c: Case): number {
  let least = Number.POSITIVE_INFINITY;
  for (let set = 0; set < 1 << c.nodes; set++) {
    if ((set & 1) === 0 || (set & 2) !== 0) continue;
    let cut = 0;
    for (let a = 0; a < c.tail.length; a++) {
      if ((set >> c.tail[a]) & 1 && !((set >> c.head[a]) & 1)) cut += c.capacity[a];
    }
    least = Math.min(least, cut);
  }
  return least;
}

describe("maximum flow", () => {
  it("equals the smallest cut over all subsets, and returns such a cut and a flow", () => {
    fc.assert(
      fc.property(anyNetwork(8, 24), (c) => {
        const { value, sinkSide, flow } = flowSolver(c)(c.capacity, 0, 1);
        expect(value).toBe(bruteCut(c));
        let cut = 0;
        const net = new Float64Array(c.nodes);
        for (let a = 0; a < c.tail.length; a++) {
          if (sinkSide[c.tail[a]] === 0 && sinkSide[c.head[a]] === 1) cut += c.capacity[a];
          expect(flow[a]).toBeGreaterThanOrEqual(0);
          expect(flow[a]).toBeLessThanOrEqual(c.capacity[a]);
          net[c.tail[a]] -= flow[a];
          net[c.head[a]] += flow[a];
        }
        expect(cut).toBe(value);
        net.forEach((surplus, v) => {
          expect(surplus).toBe(v === 0 ? 0 - value : v === 1 ? value : 0);
        });
      }),
      { numRuns: runs(400) },
    );
  });

  it("equals the optimum of the linear program", async () => {
    const highs = await loadHighs();
    const samples = fc.sample(anyNetwork(25, 120), { numRuns: runs(25), seed: 7 });
    for (const c of samples) {
      const arcs = Array.from(c.tail, (_, a) => a).filter((a) => c.tail[a] !== c.head[a]);
      const at = (v: number): string =>
        arcs.flatMap((a) => (c.head[a] === v ? [`+ f${a}`] : c.tail[a] === v ? [`- f${a}`] : [])).join(" ");
      const rows = Array.from({ length: c.nodes }, (_, v) => v).filter((v) => v > 1 && at(v) !== "");
      if (at(1) === "") continue;
      const lp = `Maximize\n obj: ${at(1)}\nSubject To\n${rows.map((v) => ` c${v}: ${at(v)} = 0`).join("\n")}\n top: ${at(1)} <= 100000\nBounds\n${arcs
        .map((a) => ` 0 <= f${a} <= ${c.capacity[a]}`)
        .join("\n")}\nEnd\n`;
      const solved = highs.solve(lp, { output_flag: false });
      expect(solved.Status).toBe("Optimal");
      expect(flowSolver(c)(c.capacity, 0, 1).value).toBeCloseTo(solved.ObjectiveValue, 6);
    }
  });

  it("solves again with other ends and capacities on the same buffers", () => {
    const solve = flowSolver({ nodes: 3, tail: Int32Array.of(0, 1, 0), head: Int32Array.of(1, 2, 2) });
    expect(solve(Float64Array.of(5, 3, 4), 0, 2).value).toBe(7);
    expect(solve(Float64Array.of(5, 3, 4), 2, 0).value).toBe(0);
    expect(solve(Float64Array.of(1, 9, 0), 0, 2).value).toBe(1);
  });

  it("refuses sums beyond 2^53 - 1 instead of rounding them", () => {
    const solve = flowSolver({ nodes: 2, tail: Int32Array.of(0, 0), head: Int32Array.of(1, 1) });
    expect(() => solve(Float64Array.of(2 ** 52, 2 ** 52 + 1), 0, 1)).toThrow("2^53");
  });
});
