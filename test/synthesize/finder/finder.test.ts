import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { loadKernels } from "../../../src/engine/kernels/load.ts";
import { constructionText, graphOf } from "../../../src/model/direct/construction.ts";
import { arcSources, diameter, regularDegree } from "../../../src/model/direct/digraph.ts";
import { bidirectionalMooreSteps, leastBandwidthTime, mooreSteps } from "../../../src/model/direct/facts.ts";
import { compare, format, parseRational, type Rational } from "../../../src/model/numbers/rational.ts";
import { oppositeLinks } from "../../../src/model/topology/link-classes.ts";
import { type Balancer, bfbTimes } from "../../../src/synthesize/bfb/broadcast.ts";
import type { Candidate } from "../../../src/synthesize/finder/candidates.ts";
import type { Evaluations } from "../../../src/synthesize/finder/evaluated.ts";
import { topologyFinder } from "../../../src/synthesize/finder/finder.ts";
import { runs } from "../../support/runs.ts";

const { kernels } = await loadKernels("js");
const balance: Balancer = async (problem) => kernels.balance({ ...problem, threads: 1 });
const finderOf = (bidirectional = false, known: Evaluations = new Map()) =>
  topologyFinder(balance, { bidirectional, known });
const textOf = ({ construction, steps, bandwidth }: Candidate): string =>
  `${constructionText(construction)} ${steps} ${format(bandwidth)}`;

const directed = finderOf();
const paired = finderOf(true);

describe("the finder's networks", () => {
  it.each([
    [10, 3, 2],
    [14, 3, 3],
    [30, 3, 4],
    [126, 3, 6],
    [42, 5, 3],
    [170, 5, 4],
    [62, 6, 3],
    [312, 6, 4],
    [114, 8, 3],
    [800, 8, 4],
  ])(
    "are the distance-regular graph of %i nodes and degree %i, whose all-gather takes %i steps at full bandwidth",
    async (nodes, degree, steps) => {
      for (const finder of [directed, paired]) {
        const [first] = await finder.frontier(nodes, degree);
        expect(first?.steps).toBeLessThanOrEqual(steps);
        expect(
          (await finder.frontier(nodes, degree)).some(
            (one) => one.steps <= steps && compare(one.bandwidth, leastBandwidthTime(nodes)) === 0,
          ),
        ).toBe(true);
      }
    },
  );

  it.each([
    [60, 3, 5],
    [1000, 3, 13],
    [1024, 4, 8],
    [500, 5, 6],
    [57, 6, 3],
    [56, 10, 2],
    [50, 7, 2],
    [105, 8, 3],
    [364, 12, 3],
  ])("have links in pairs at full bandwidth: %i nodes of degree %i, at most %i steps", async (nodes, degree, steps) => {
    const front = await paired.frontier(nodes, degree);
    const best = front.filter(({ bandwidth }) => compare(bandwidth, leastBandwidthTime(nodes)) === 0);
    expect(Math.min(...best.map((row) => row.steps))).toBeLessThanOrEqual(steps);
  });

  it("are products too of graphs that are not optimal themselves, in the times of BFB", async () => {
    const front = await directed.frontier(112, 8);
    const product = front.find(({ construction }) => constructionText(construction) === "K(2) x Kautz(7,1)");
    expect(product === undefined ? null : textOf(product)).toBe("K(2) x Kautz(7,1) 3 1");
  });

  it("are no worse than all rows of table A.1", async () => {
    // T_B as fractions whose digits are the table's
    const rows: readonly (readonly [number, number, string])[] = [
      [32, 3, "1"],
      [32, 4, "31/32"],
      [64, 3, "21/16"],
      [64, 4, "1"],
      [64, 6, "63/64"],
      [128, 4, "33/32"],
      [128, 5, "1"],
      [128, 10, "127/128"],
      [256, 4, "85/64"],
      [256, 5, "65/64"],
      [256, 7, "1"],
      [256, 10, "255/256"],
      [512, 5, "133/128"],
      [512, 6, "129/128"],
      [512, 11, "1"],
      [512, 16, "511/512"],
      [1024, 5, "341/256"],
      [1024, 6, "261/256"],
      [1024, 8, "257/256"],
      [1024, 11, "1"],
      [1024, 20, "1023/1024"],
    ];
    for (const [nodes, steps, bandwidth] of rows) {
      const front = await directed.frontier(nodes, 4);
      const exact = parseRational(bandwidth) as Rational;
      const reached = front.filter((row) => row.steps <= steps && compare(row.bandwidth, exact) <= 0);
      expect(reached, `${nodes}: ${steps}, ${bandwidth}`).not.toEqual([]);
    }
  });

  it("are bandwidth optimal at 5 to 12 nodes of degree 4 in the steps of table 3.5, both ways too", async () => {
    for (const finder of [directed, paired]) {
      for (let nodes = 5; nodes <= 12; nodes++) {
        const [first] = await finder.frontier(nodes, 4);
        expect([first.steps, first.bandwidth]).toEqual([nodes === 5 ? 1 : 2, leastBandwidthTime(nodes)]);
      }
    }
  });

  it("are those of 1,024 nodes at degree 4", async () => {
    expect((await directed.frontier(1024, 4)).map(textOf)).toMatchInlineSnapshot(`
      [
        "L3(Cayley(8,2,7,{2,7,10,13})) 5 277/256",
        "L3(DC(16,{1,3,5,9})) 6 1",
        "L2(DC(64,{34,42,59,61})) 7 1023/1024",
      ]
    `);
  });

  it("beat each other in nothing, are of the size asked for, and no better than the bounds", async () => {
    const size = fc.record({
      nodes: fc.integer({ min: 2, max: 60 }),
      degree: fc.integer({ min: 1, max: 8 }),
      pairs: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(size, async ({ nodes, degree, pairs }) => {
        const front = await (pairs ? paired : directed).frontier(nodes, degree);
        for (const [i, { steps, bandwidth, construction, diameter: most }] of front.entries()) {
          const graph = graphOf(construction);
          expect([graph.nodes, regularDegree(graph)]).toEqual([nodes, degree]);
          expect(diameter(graph)).toBeLessThanOrEqual(most);
          expect(most).toBeLessThanOrEqual(steps);
          expect(steps).toBeGreaterThanOrEqual((pairs ? bidirectionalMooreSteps : mooreSteps)(nodes, degree));
          expect(compare(bandwidth, leastBandwidthTime(nodes))).toBeGreaterThanOrEqual(0);
          if (pairs) expect(oppositeLinks(arcSources(graph), graph.target, [])).not.toBeNull();
          if (i === 0) continue;
          expect(steps).toBeGreaterThan(front[i - 1].steps);
          expect(compare(bandwidth, front[i - 1].bandwidth)).toBeLessThan(0);
        }
        if (!pairs) expect(front).not.toEqual([]);
      }),
      { numRuns: runs(60) },
    );
  });

  it("take no more than the BFB schedules of their own graphs where those take as many steps", async () => {
    const size = fc.record({ nodes: fc.integer({ min: 2, max: 40 }), degree: fc.integer({ min: 2, max: 6 }) });
    await fc.assert(
      fc.asyncProperty(size, async ({ nodes, degree }) => {
        for (const row of await directed.frontier(nodes, degree)) {
          const graph = graphOf(row.construction);
          const times = await bfbTimes(
            graph,
            Int32Array.from({ length: nodes }, (_, v) => v),
            balance,
          );
          if (times.steps === row.steps) expect(compare(row.bandwidth, times.bandwidth)).toBeLessThanOrEqual(0);
        }
      }),
      { numRuns: runs(40) },
    );
  });

  it("are the same in any order of questions, and from what was kept", async () => {
    const known: Evaluations = new Map();
    const first = finderOf(false, known);
    const asked = [97, 48, 120, 24, 60, 96];
    const answers = new Map<number, string[]>();
    for (const nodes of asked) answers.set(nodes, (await first.frontier(nodes, 4)).map(textOf));
    const refuses: Balancer = async () => {
      throw new Error("evaluated anew");
    };
    const kept = new Map(JSON.parse(JSON.stringify([...known])) as [string, never][]);
    for (const nodes of [...asked].reverse()) {
      expect((await finderOf().frontier(nodes, 4)).map(textOf)).toEqual(answers.get(nodes));
      const again = topologyFinder(refuses, { bidirectional: false, known: kept });
      if (nodes !== 97) continue;
      expect((await again.frontier(nodes, 4)).map(textOf)).toEqual(answers.get(nodes));
    }
  });

  it("do not exist for three ports of an odd number of nodes whose links come in pairs", async () => {
    expect(await paired.frontier(9, 3)).toEqual([]);
    expect((await paired.frontier(8, 3)).map(textOf)).toEqual(["C(8,{1,4}) 2 7/8"]);
  });
});
