import { describe, expect, it } from "vitest";
import { random } from "../../../src/base/random.ts";
import { jsKernels } from "../../../src/engine/kernels/js/kernels.ts";
import type { LinkRow } from "../../support/rate-problems.ts";
import { quick, runs } from "../../support/runs.ts";

/**
 * How few departures, or deliveries, spread everything that n parties know: what `tryPartition` counts. States are who knows of
 * whom; a transfer takes what its senders know together, more of them only where switches sum, to its receivers, more of them
 * only where switches duplicate, and costs its senders (departures) or receivers (deliveries). The cheapest way to the last
 * state by search, over all orders.
 */
function cheapest(parties: number, multicasts: boolean, sums: boolean, counts: "out" | "in"): number {
  const all = 2 ** parties - 1;
  const known = (state: number, who: number): number => (state >> (who * parties)) & all;
  const start = [...Array(parties).keys()].reduce((state, who) => state | (1 << (who * parties + who)), 0);
  const bits = (set: number): number => [...Array(parties).keys()].filter((who) => (set >> who) & 1).length;
  const sets = Array.from({ length: all }, (_, i) => i + 1);
  const moves = sets.flatMap((from) =>
    sets.flatMap((to) => {
      if ((from & to) !== 0 || (bits(from) > 1 && !sums) || (bits(to) > 1 && !multicasts)) return [];
      return [{ from, to, cost: counts === "out" ? bits(from) : bits(to) }];
    }),
  );
  const least = new Map([[start, 0]]);
  const layers: number[][] = [[start]];
  for (let cost = 0; ; cost++) {
    for (const state of layers[cost] ?? []) {
      if (least.get(state) !== cost) continue;
      if (state === 2 ** (parties * parties) - 1) return cost;
      for (const move of moves) {
        let sent = 0;
        for (let who = 0; who < parties; who++) if ((move.from >> who) & 1) sent |= known(state, who);
        let next = state;
        for (let who = 0; who < parties; who++) if ((move.to >> who) & 1) next |= sent << (who * parties);
        const price = cost + move.cost;
        if (next === state || price >= (least.get(next) ?? Number.POSITIVE_INFINITY)) continue;
        least.set(next, price);
        layers[price] = [...(layers[price] ?? []), next];
      }
    }
  }
}

describe("what all parts of an all-reduce send and receive, by exhaustive search", () => {
  const cases = [2, 3, 4].flatMap((parties) => [
    [parties, "forward only", false, false, 2 * parties - 2, 2 * parties - 2] as const,
    [parties, "duplicate", true, false, parties, 2 * parties - 2] as const,
    [parties, "sum", false, true, 2 * parties - 2, parties] as const,
    [parties, "do both", true, true, parties, parties] as const,
  ]);
  it.each(quick(cases, ([parties]) => parties < 4))(
    "among %i parts between which switches %s: %5$s departures, %6$s deliveries",
    (parties, _, multicasts, sums, departures, deliveries) => {
      expect(cheapest(parties, multicasts, sums, "out")).toBe(departures);
      expect(cheapest(parties, multicasts, sums, "in")).toBe(deliveries);
    },
  );
});

/** Returns what it costs to make everyone know everything over one-way arcs [from, to, price], by search over all orders. */
function cheapestGossip(parties: number, arcs: readonly LinkRow[]): number {
  const all = 2 ** parties - 1;
  const start = [...Array(parties).keys()].reduce((state, who) => state | (1 << (who * parties + who)), 0);
  const least = new Map([[start, 0]]);
  const layers: number[][] = [[start]];
  for (let cost = 0; ; cost++) {
    for (const state of layers[cost] ?? []) {
      if (least.get(state) !== cost) continue;
      if (state === 2 ** (parties * parties) - 1) return cost;
      for (const [from, to, price] of arcs) {
        const next = state | (((state >> (from * parties)) & all) << (to * parties));
        if (next === state || cost + price >= (least.get(next) ?? Number.POSITIVE_INFINITY)) continue;
        least.set(next, cost + price);
        layers[cost + price] = [...(layers[cost + price] ?? []), next];
      }
    }
  }
}

/** Returns what it costs through one NPU: the cheapest tree into it and the cheapest out of it, for the best one. */
function throughOne(parties: number, arcs: readonly LinkRow[]): number {
  const treeFrom = (root: number, [tail, head]: readonly [0, 1] | readonly [1, 0]): number => {
    const arc = jsKernels.arborescence({
      nodeCount: parties,
      root,
      arcSource: Int32Array.from(arcs, (row) => row[tail]),
      arcTarget: Int32Array.from(arcs, (row) => row[head]),
      cost: Float64Array.from(arcs, ([, , price]) => price),
    });
    return arc.reduce((sum, i) => sum + (i < 0 ? 0 : (arcs[i] as LinkRow)[2]), 0);
  };
  return Math.min(...[...Array(parties).keys()].map((root) => treeFrom(root, [0, 1]) + treeFrom(root, [1, 0])));
}

describe("sums at several NPUs", () => {
  it("are no cheaper than at one, on sparse digraphs of four NPUs with prices: evidence, no proof", () => {
    // Zhao 2026, B.7 sums every byte at one NPU; its certificates would otherwise bound no other algorithm
    for (let seed = 0; seed < runs(9_521); seed++) {
      const draws = random(seed, 71);
      const arcs: LinkRow[] = [0, 1, 2, 3].map((v) => [v, (v + 1) % 4, 1 + draws.below(9)]);
      for (let more = draws.below(6); more > 0; more--) {
        const from = draws.below(4);
        arcs.push([from, (from + 1 + draws.below(3)) % 4, 1 + draws.below(9)]);
      }
      expect(cheapestGossip(4, arcs), `seed ${seed}`).toBe(throughOne(4, arcs));
    }
  });
});
