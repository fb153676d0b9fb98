import * as fc from "fast-check";
import { random } from "../../src/base/random.ts";
import type { PlaceProblem, TenNetwork } from "../../src/engine/contract/kernels.ts";
import { shuffle } from "./draws.ts";
import { randomNetwork, type Sharing } from "./networks.ts";

/** Problems of the place kernel, and their answer from the definition alone. */

export interface PlaceRow {
  readonly route: number;
  readonly key?: number;
  /** Transfers that wait for this one. */
  readonly successors?: readonly number[];
}

/** Returns the columns of a list of transfers. */
export function placeOf(network: TenNetwork, rows: readonly PlaceRow[]): PlaceProblem {
  const successorOffset = new Int32Array(rows.length + 1);
  for (const [i, row] of rows.entries()) successorOffset[i + 1] = successorOffset[i] + (row.successors?.length ?? 0);
  return {
    network,
    route: Int32Array.from(rows, ({ route }) => route),
    successorOffset,
    successor: Int32Array.from(rows.flatMap(({ successors }) => successors ?? [])),
    key: Float64Array.from(rows, ({ key }) => key ?? 0),
  };
}

/** Random place problems without circles. */
export function placeProblems(sharings: readonly Sharing[], most = 60): fc.Arbitrary<PlaceProblem> {
  return fc
    .record({
      seed: fc.nat({ max: 2 ** 31 }),
      npus: fc.integer({ min: 2, max: 9 }),
      extra: fc.nat({ max: 24 }),
      count: fc.nat({ max: most }),
      spread: fc.constantFrom(1, 4, 2 ** 32),
      sharing: fc.constantFrom(...sharings),
    })
    .map(({ seed, npus, extra, count, spread, sharing }) => {
      const generator = random(seed, 79);
      const network = randomNetwork(npus, extra, sharing, generator);
      const order = Array.from({ length: count }, (_, i) => i);
      shuffle(order, generator);
      const successors: number[][] = order.map(() => []);
      for (let late = 1; late < count; late++) {
        for (let k = generator.below(4); k > 0; k--) successors[order[generator.below(late)]].push(order[late]);
      }
      const rows = successors.map((list) => ({
        route: generator.below(network.slotPs.length),
        key: generator.below(spread) - generator.below(spread),
        successors: list,
      }));
      return placeOf(network, rows);
    });
}

/**
 * Returns the starts of a place problem as its contract defines them: at every instant, all routes in the order of (key of
 * their least ready transfer, route), each starting that transfer if it is idle and all its resources are free. Quadratic.
 */
export function placedByOracle({ network, route, successorOffset, successor, key }: PlaceProblem): Float64Array {
  const { slotPs, useOffset, useResource, useUnits, capacity } = network;
  const starts = new Float64Array(route.length).fill(Number.NaN);
  const end = (i: number): number => starts[i] + slotPs[route[i]];
  const rows = Array.from(route, (_, i) => i);
  const waitsFor: number[][] = rows.map(() => []);
  for (const i of rows) {
    for (let k = successorOffset[i]; k < successorOffset[i + 1]; k++) waitsFor[successor[k]].push(i);
  }
  let now = 0;
  for (let left = route.length; left > 0; ) {
    const running = (): number[] => rows.filter((i) => starts[i] <= now && end(i) > now);
    const fits = (r: number): boolean => {
      const others = running().map((i) => route[i]);
      if (others.includes(r)) return false;
      const used = [...capacity].map(() => 0);
      for (const other of [...others, r]) {
        for (let i = useOffset[other]; i < useOffset[other + 1]; i++) used[useResource[i]] += useUnits[i];
      }
      return used.every((units, resource) => units <= capacity[resource]);
    };
    const ready = rows.filter((i) => Number.isNaN(starts[i]) && waitsFor[i].every((before) => end(before) <= now));
    ready.sort((a, b) => key[a] - key[b] || a - b);
    const heads = [...new Set(ready.map((i) => route[i]))].map((r) => ready.find((i) => route[i] === r) as number);
    heads.sort((a, b) => key[a] - key[b] || route[a] - route[b]);
    for (const i of heads) {
      if (!fits(route[i])) continue;
      starts[i] = now;
      left--;
    }
    now = Math.min(...running().map(end));
  }
  return starts;
}
