import { describe, expect, it } from "vitest";
import { quick } from "../../support/runs.ts";

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
