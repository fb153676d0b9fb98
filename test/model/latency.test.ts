import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { InfeasibleError } from "../../src/base/errors.ts";
import { draw } from "../../src/base/random.ts";
import { farthestPair } from "../../src/model/bounds/latency.ts";
import { graph } from "../../src/model/graph/graph.ts";
import { presetTopology } from "../../src/model/presets/preset.ts";
import { runs } from "../support/runs.ts";
import { wholeCollective } from "../support/synthesis.ts";

const NODES = 24;
const topology = presetTopology(`ring:${NODES}`);
const collective = wholeCollective(topology, "allgather", 2 ** 20);

/** Returns tails, heads and weights of a ring one way with chords, so that everyone reaches everyone. */
function arcs(seed: number, chords: number, weights: number) {
  const count = NODES + chords;
  const tail = Int32Array.from({ length: count }, (_, i) => (i < NODES ? i : draw(seed, 1, i) % NODES));
  const head = Int32Array.from({ length: count }, (_, i) => (i < NODES ? (i + 1) % NODES : draw(seed, 2, i) % NODES));
  const weight = Float64Array.from({ length: count }, (_, i) => 1 + (draw(seed, 3, i) % weights));
  return { tail, head, weight };
}

/** Returns the first of the farthest pairs (Floyd and Warshall). */
function byDefinition({ tail, head, weight }: ReturnType<typeof arcs>) {
  const far = Array.from({ length: NODES }, (_, a) =>
    Array.from({ length: NODES }, (_, b) => (a === b ? 0 : Number.POSITIVE_INFINITY)),
  );
  const at = (a: number, b: number): number => far[a]?.[b] as number;
  for (let i = 0; i < tail.length; i++) {
    const row = far[tail[i]] as number[];
    row[head[i]] = Math.min(row[head[i]] as number, weight[i]);
  }
  for (let k = 0; k < NODES; k++) {
    for (const [a, row] of far.entries())
      for (let b = 0; b < NODES; b++) row[b] = Math.min(at(a, b), at(a, k) + at(k, b));
  }
  const best = { ps: -1, from: 0, to: 0 };
  for (let from = 0; from < NODES; from++) {
    for (let to = 0; to < NODES; to++) if (at(from, to) > best.ps) Object.assign(best, { ps: at(from, to), from, to });
  }
  return best;
}

describe("the farthest pair", () => {
  it("is the first of the most distant pairs, though most sources need no search", () => {
    const graphs = fc.record({ seed: fc.nat(), chords: fc.nat(120), weights: fc.constantFrom(1, 2, 1000) });
    fc.assert(
      fc.property(graphs, ({ seed, chords, weights }) => {
        const made = arcs(seed, chords, weights);
        const forward = graph(NODES, made.tail, made.head, made.weight);
        const backward = graph(NODES, made.head, made.tail, made.weight);
        expect(farthestPair(topology, collective, forward, () => backward)).toEqual(byDefinition(made));
      }),
      { numRuns: runs(400) },
    );
  });

  it("names a pair without a path", () => {
    const tail = Int32Array.from({ length: NODES - 1 }, (_, v) => v);
    const forward = graph(
      NODES,
      tail,
      tail.map((v) => v + 1),
      new Float64Array(NODES - 1).fill(2),
    );
    const backward = graph(
      NODES,
      tail.map((v) => v + 1),
      tail,
      new Float64Array(NODES - 1).fill(2),
    );
    expect(() => farthestPair(topology, collective, forward, () => backward)).toThrow(InfeasibleError);
  });
});
