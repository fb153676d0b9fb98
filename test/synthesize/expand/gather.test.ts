import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { InputError } from "../../../src/base/errors.ts";
import { optionName } from "../../../src/base/option-names.ts";
import { jsKernels } from "../../../src/engine/kernels/js/kernels.ts";
import { commTimes, timesOfLoads, unfolded } from "../../../src/model/comm/schedule.ts";
import { type Construction, constructionText, graphOf, sizeOf } from "../../../src/model/direct/construction.ts";
import { digraph, lineGraph, regularDegree } from "../../../src/model/direct/digraph.ts";
import { parseConstruction } from "../../../src/model/direct/parse.ts";
import { innermost, predict, predictLine } from "../../../src/model/direct/predict.ts";
import { compare, format } from "../../../src/model/numbers/rational.ts";
import { bfbLoads, bfbSchedule } from "../../../src/synthesize/bfb/broadcast.ts";
import { basesOf, granularity, graphOfBase, ownParts } from "../../../src/synthesize/expand/bases.ts";
import { gatherOf, lineSchedule } from "../../../src/synthesize/expand/gather.ts";
import { inOrder, played } from "../../support/comm-play.ts";
import { quick, runs } from "../../support/runs.ts";
import { inlineRunner } from "../../support/synthesis.ts";

const { balance } = inlineRunner(jsKernels);
const bases = basesOf(balance);

const made = async (text: string, turned: boolean, most = 1000) => {
  const base = { construction: parseConstruction(text), turned };
  return gatherOf(base, await ownParts(base, bases, most), bases);
};

/**
 * Tables A.1 and 3.4 of Zhao 2026: nodes, T_L, and T_B, of which the tables have three digits. BiRing(1,4) of degree 1 in the row of
 * 512 nodes and 11 steps can only be UniRing(1,4).
 */
const ROWS: readonly (readonly [string, number, number, string, string])[] = [
  ["L(K(4,4))", 32, 3, "1", "1.000"],
  ["DistReg(4,32)", 32, 4, "31/32", "0.969"],
  ["Pi(4,64)", 64, 3, "21/16", "1.313"],
  ["L(DBJMod(4,2))", 64, 4, "1", "1.000"],
  ["Diamond^2", 64, 6, "63/64", "0.984"],
  ["L2(K(4,4))", 128, 4, "33/32", "1.031"],
  ["L(DistReg(4,32))", 128, 5, "1", "1.000"],
  ["BiRing(2,8) x UniRing(1,4)^2", 128, 10, "127/128", "0.992"],
  ["DBJ(4,4)", 256, 4, "85/64", "1.328"],
  ["L2(DBJMod(4,2))", 256, 5, "65/64", "1.016"],
  ["DBJMod(2,4)^2", 256, 10, "255/256", "0.996"],
  ["L(Diamond^2)", 256, 7, "1", "1.000"],
  ["L3(K(4,4))", 512, 5, "133/128", "1.039"],
  ["L2(DistReg(4,32))", 512, 6, "129/128", "1.008"],
  ["L(UniRing(1,4)^3 x UniRing(1,2))", 512, 11, "1", "1.000"],
  ["UniRing(1,4)^3 x UniRing(1,8)", 512, 16, "511/512", "0.998"],
  ["Pi(4,1024)", 1024, 5, "341/256", "1.332"],
  ["L3(C(16,{3,4}))", 1024, 6, "261/256", "1.020"],
  ["L2(Diamond^2)", 1024, 8, "257/256", "1.004"],
  ["L(DBJMod(2,4)^2)", 1024, 11, "1", "1.000"],
  ["(UniRing(1,4) x UniRing(1,8))^2", 1024, 20, "1023/1024", "0.999"],
];

describe("the schedule of a construction", () => {
  it.each(quick(ROWS, ([text, nodes]) => nodes < 512 || text === "Pi(4,1024)"))(
    "%s, %i nodes, takes %i steps and T_B %s as in table A.1",
    async (text, nodes, steps, bandwidth, shown) => {
      const schedule = await made(text, false);
      const times = commTimes(schedule);
      expect({ nodes: schedule.graph.nodes, steps: times.steps, bandwidth: format(times.bandwidth) }).toEqual({
        nodes,
        steps,
        bandwidth,
      });
      expect((Number(times.bandwidth.num) / Number(times.bandwidth.den)).toFixed(3)).toBe(shown);
    },
  );

  it.each(ROWS.filter(([, nodes]) => nodes <= 128))(
    "%s is an all-gather, and so is that of its transpose",
    async (text, _nodes, steps, bandwidth) => {
      for (const turned of [false, true]) {
        const { complaint, repeated, ...times } = played(unfolded(await made(text, turned)));
        expect(complaint).toBeNull();
        expect(repeated).toBe(0);
        expect({ steps: times.steps, bandwidth: format(times.bandwidth) }).toEqual({ steps, bandwidth });
      }
    },
  );

  it("is an all-gather on the graph of any construction and on its transpose, within the predicted times", async () => {
    await fc.assert(
      fc.asyncProperty(constructions(), fc.boolean(), async (construction, turned) => {
        const base = { construction, turned };
        const parts = await ownParts(base, bases, 64);
        const schedule = await gatherOf(base, parts, bases);
        const { offset, target } = graphOfBase(base);
        expect({ offset: schedule.graph.offset, target: schedule.graph.target }).toEqual({ offset, target });
        expect(schedule.parts).toBe(parts);
        const all = unfolded(schedule);
        expect(inOrder(all)).toBe(true);
        const { complaint, steps, bandwidth } = played(all);
        expect(complaint).toBeNull();
        const text = constructionText(construction);
        // BFB loads of a graph and its transpose differ where it is not reverse-symmetric
        if (/Bi\(.*Pi/.test(text)) return;
        const inner = await gatherOf(innermost(base), parts, bases);
        const degree = regularDegree(inner.graph) as number;
        const bound = predict(construction, { nodes: inner.graph.nodes, degree, ...commTimes(inner) });
        expect(bound.nodes).toBe(all.graph.nodes);
        const gap = { steps: bound.steps - steps, bandwidth: compare(bound.bandwidth, bandwidth) };
        // line graphs may be faster (theorem 7)
        if (/L/.test(text)) expect(Math.min(gap.steps, gap.bandwidth)).toBeGreaterThanOrEqual(0);
        else expect(gap).toEqual({ steps: 0, bandwidth: 0 });
      }),
      { numRuns: runs(60) },
    );
  });

  it("is the same however many parts a shard has, where loads stay whole", async () => {
    const base = { construction: parseConstruction("L(K(4,4))"), turned: false };
    const [coarse, fine] = [commTimes(await gatherOf(base, 4, bases)), commTimes(await gatherOf(base, 12, bases))];
    expect(fine).toEqual(coarse);
  });

  it("is refused with parts that its expansions cannot cut", async () => {
    const base = { construction: parseConstruction("K(3)*2^2"), turned: false };
    expect(granularity(base, bases)).toBe(8);
    await expect(gatherOf(base, 12, bases)).rejects.toThrow(
      new InputError(optionName("chunks"), "a multiple of 8 chunks per NPU (the expansions of (K(3)*2)^2)", 12).message,
    );
  });
});

/** Constructions of at most 48 nodes and 4 ports, of three levels at most. */
function constructions(): fc.Arbitrary<Construction> {
  const leaf = fc
    .constantFrom(
      ...[
        "UniRing(1,3)",
        "UniRing(2,2)",
        "BiRing(2,5)",
        "BiRing(4,3)",
        "K(3)",
        "K(2,2)",
        "C(6,{1,2})",
        "Pi(2,5)",
        "Diamond",
      ],
      ...["DBJ(2,2)", "Kautz(2,1)", "UniRing(1,2) x K(3)", "T(Pi(2,4))"],
    )
    .map(parseConstruction);
  const expansion = (base: fc.Arbitrary<Construction>): fc.Arbitrary<Construction> =>
    fc.oneof(
      fc.record({ kind: fc.constant("line" as const), times: fc.integer({ min: 1, max: 2 }), base }),
      fc.record({ kind: fc.constant("degree" as const), factor: fc.integer({ min: 1, max: 3 }), base }),
      fc.record({ kind: fc.constant("power" as const), exponent: fc.integer({ min: 1, max: 3 }), base }),
      fc.record({ kind: fc.constant("transpose" as const), base }),
      fc.record({ kind: fc.constant("bidirectional" as const), base }),
    );
  return fc.oneof(expansion(leaf), expansion(expansion(leaf)), expansion(expansion(expansion(leaf)))).filter(isSmall);
}

function isSmall(construction: Construction): boolean {
  try {
    const { nodes, degree } = sizeOf(construction);
    return nodes <= 48 && degree <= 6 && graphOf(construction).nodes > 1;
  } catch (error) {
    if (error instanceof InputError) return false;
    throw error;
  }
}

describe("theorem 10", () => {
  /** Node 2, the busiest in step 3, receives the shards of 3, 5 and 7 in it, and 3 and 7 are all that it sends to. */
  const TARGETS = [
    [4, 6],
    [6, 7],
    [7, 3],
    [5, 0],
    [1, 2],
    [3, 1],
    [2, 4],
    [0, 5],
  ];

  it("is an upper bound only: a simple 2-regular graph whose line graph has a BFB schedule below T_B + 1 / N", async () => {
    const graph = digraph(8, (v) => TARGETS[v] as number[]);
    const loads = timesOfLoads(graph, await bfbLoads(graph, balance));
    expect(format(loads.bandwidth)).toBe("5/4");
    const line = lineGraph(graph);
    const { complaint, bandwidth } = played(await bfbSchedule(line, 2, balance));
    expect(complaint).toBeNull();
    expect(format(bandwidth)).toBe("21/16");
    const bound = predictLine({ nodes: 8, degree: 2, ...loads }).bandwidth;
    expect(format(bound)).toBe("11/8");
    const expanded = played(lineSchedule(await bfbSchedule(graph, 2, balance), line));
    expect(compare(expanded.bandwidth, bound)).toBeLessThanOrEqual(0);
  });
});
