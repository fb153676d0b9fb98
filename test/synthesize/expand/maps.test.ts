import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Random, random } from "../../../src/base/random.ts";
import type { CommSchedule } from "../../../src/model/comm/schedule.ts";
import {
  bidirectional,
  type Digraph,
  degreeExpansion,
  digraph,
  lineGraph,
  power,
  transpose,
  transposedArcs,
} from "../../../src/model/direct/digraph.ts";
import { type Predicted, predictDegree, predictLine, predictPower } from "../../../src/model/direct/predict.ts";
import { compare, type Rational } from "../../../src/model/numbers/rational.ts";
import {
  bidirectionalSchedule,
  degreeSchedule,
  lineSchedule,
  powerSchedule,
  relabelled,
} from "../../../src/synthesize/expand/gather.ts";
import { anyGather, inOrder, played } from "../../support/comm-play.ts";
import { shuffle } from "../../support/draws.ts";
import { regularDigraph } from "../../support/regular-digraphs.ts";
import { runs } from "../../support/runs.ts";

interface Case {
  readonly base: CommSchedule;
  readonly draws: Random;
}

/** All-gathers of random regular graphs with parallel arcs, over ways of any length. */
const gathers = (mostNodes: number, loops: boolean): fc.Arbitrary<Case> =>
  fc
    .record({
      nodes: fc.integer({ min: 2, max: mostNodes }),
      degree: fc.integer({ min: 1, max: 3 }),
      parts: fc.integer({ min: 1, max: 3 }),
      seed: fc.nat(),
    })
    .map(({ nodes, degree, parts, seed }) => {
      const draws = random(seed, 0);
      return { base: anyGather(regularDigraph(nodes, degree, draws, loops), parts, (n) => draws.below(n)), draws };
    });

const predictedOf = (schedule: CommSchedule): Predicted => {
  const { steps, bandwidth } = played(schedule);
  const { nodes, offset } = schedule.graph;
  return { nodes, degree: offset[1] as number, steps, bandwidth };
};

/** Plays a schedule and expects it to be an all-gather, in order. */
function judged(schedule: CommSchedule): {
  readonly steps: number;
  readonly bandwidth: Rational;
  readonly repeated: number;
} {
  const { complaint, ...rest } = played(schedule);
  expect(complaint).toBeNull();
  expect(inOrder(schedule)).toBe(true);
  return rest;
}

const times = ({ steps, bandwidth }: Predicted): object => ({ steps, bandwidth });

describe("the schedule of a line graph (definition 1)", () => {
  it("gathers everything once, within the times of theorem 7, also over parallel arcs and self-loops", () => {
    fc.assert(
      fc.property(gathers(6, true), ({ base }) => {
        const line = lineSchedule(base, lineGraph(base.graph));
        const { steps, bandwidth, repeated } = judged(line);
        const bound = predictLine(predictedOf(base));
        expect(repeated).toBe(0);
        expect(steps).toBeLessThanOrEqual(bound.steps);
        expect(compare(bandwidth, bound.bandwidth)).toBeLessThanOrEqual(0);
      }),
    );
  });

  it("can be expanded again", () => {
    fc.assert(
      fc.property(gathers(4, true), ({ base }) => {
        const once = lineSchedule(base, lineGraph(base.graph));
        const twice = judged(lineSchedule(once, lineGraph(once.graph)));
        expect(compare(twice.bandwidth, predictLine(predictedOf(base), 2).bandwidth)).toBeLessThanOrEqual(0);
      }),
      { numRuns: runs(30) },
    );
  });

  it("takes no step more than the ring it is the line graph of", () => {
    const ring = digraph(5, (v) => [(v + 1) % 5]);
    const base = anyGather(ring, 1, () => 1);
    expect(judged(lineSchedule(base, lineGraph(ring))).steps).toBe(4);
  });
});

describe("the schedule of a degree expansion (definition 2)", () => {
  it("gathers everything once, in exactly the times of theorem 11", () => {
    fc.assert(
      fc.property(gathers(5, false), fc.integer({ min: 1, max: 3 }), ({ base }, factor) => {
        const expanded = degreeSchedule(base, factor, degreeExpansion(base.graph, factor));
        const { repeated, ...found } = judged(expanded);
        expect(repeated).toBe(0);
        expect(found).toEqual(times(predictDegree(predictedOf(base), factor)));
      }),
    );
  });
});

describe("the schedule of a Cartesian power (definition 14)", () => {
  it("gathers everything once, in exactly the times of theorem 12", () => {
    fc.assert(
      fc.property(gathers(4, true), fc.integer({ min: 1, max: 3 }), ({ base }, exponent) => {
        const { repeated, ...found } = judged(powerSchedule(base, exponent, power(base.graph, exponent)));
        expect(repeated).toBe(0);
        expect(found).toEqual(times(predictPower(predictedOf(base), exponent)));
      }),
    );
  });
});

describe("the schedule of both directions (A.1.6)", () => {
  it("gathers everything once, in no more than both take together", () => {
    fc.assert(
      fc.property(gathers(6, true), ({ base, draws }) => {
        const back = anyGather(transpose(base.graph), 2, (n) => draws.below(n));
        const { repeated, steps } = judged(bidirectionalSchedule(base, back, bidirectional(base.graph)));
        expect(repeated).toBe(0);
        expect(steps).toBe(Math.max(base.steps, back.steps));
      }),
    );
  });

  it("takes the times of the graph where it is its own transpose by another name", () => {
    fc.assert(
      fc.property(gathers(6, true), ({ base }) => {
        // every graph beside its transpose has what a reverse-symmetric one has: the same loads both ways
        const mirrored = bidirectional(base.graph);
        const there = anyGather(mirrored, 1, () => 1);
        const back = relabelled(there, transpose(mirrored), null);
        const found = judged(bidirectionalSchedule(there, back, bidirectional(mirrored)));
        expect({ steps: found.steps, bandwidth: found.bandwidth }).toEqual(times(predictedOf(there)));
      }),
      { numRuns: runs(30) },
    );
  });
});

describe("a relabelled schedule (definition 7)", () => {
  it("is the same on any isomorphic graph", () => {
    fc.assert(
      fc.property(gathers(6, true), ({ base, draws }) => {
        const names = Int32Array.from({ length: base.graph.nodes }, (_, v) => v);
        shuffle(names, draws);
        const targets = new Map<number, number[]>();
        names.forEach((name, v) => {
          const { offset, target } = base.graph;
          const images = Array.from(target.subarray(offset[v], offset[v + 1]), (w) => names[w] as number);
          shuffle(images, draws);
          targets.set(name, images);
        });
        const renamed: Digraph = digraph(names.length, (v) => targets.get(v) as number[]);
        expect(judged(relabelled(base, renamed, names))).toEqual(judged(base));
      }),
    );
  });

  it("takes that of the line graph of the transpose to the transpose of the line graph", () => {
    fc.assert(
      fc.property(gathers(5, true), ({ base }) => {
        const { graph } = base;
        const turned = transpose(graph);
        const back = anyGather(turned, 1, () => 1);
        const line = lineSchedule(back, lineGraph(turned));
        expect(judged(relabelled(line, transpose(lineGraph(graph)), transposedArcs(graph)))).toEqual(judged(line));
      }),
    );
  });

  it("is refused where an arc has no image", () => {
    const base = anyGather(
      digraph(3, (v) => [(v + 1) % 3]),
      1,
      () => 1,
    );
    const other = digraph(3, (v) => [(v + 2) % 3]);
    expect(() => relabelled(base, other, null)).toThrow("arc 0 from node 0 has no image");
  });
});
