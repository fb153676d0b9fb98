import { type Random, random } from "../../base/random.ts";
import { commonDivisor } from "../numbers/integers.ts";
import type { Topology } from "../topology/topology.ts";
import type { GridCycles } from "./grid-rings.ts";

/** Larger networks are not searched. */
const MOST_NPUS = 2048;
/** Most cycles, each a ring both ways. */
const MOST_CYCLES = 16;
/** Tries for each cycle, and turns of a path in each for an NPU. */
const TRIES = 3;
const TURNS = 30;
/** Times that all cycles are looked for anew where there may be more; NPUs squared of all of them. */
const MOST_ATTEMPTS = 200;
const BUDGET = 2e7;

const known = new WeakMap<Topology, GridCycles | null>();

/**
 * Returns Hamiltonian cycles over direct links that go both ways, none using bandwidth of another: one after the other, each by
 * turns of a path (Posa 1976) as drawn, over links that are left, and all anew where there may be more; no promise that there are
 * none. Null where
 * none is found and for more than 2,048 NPUs. Deterministic; looked for once. O(NPUs squared) for each cycle and try.
 */
export function searchedCycles(topology: Topology): GridCycles | null {
  let found = known.get(topology);
  if (found === undefined) {
    found = topology.npuCount > MOST_NPUS ? null : search(topology);
    known.set(topology, found);
  }
  return found;
}

function search(topology: Topology): GridCycles | null {
  const bandwidth = bothWays(topology);
  const unit = Math.max(commonDivisor([...new Set(bandwidth.flatMap((row) => [...row.values()]))]), unitOf(bandwidth));
  const slots = bandwidth.map((row) => new Map([...row].map(([to, rate]) => [to, Math.floor(rate / unit)])));
  const most = Math.min(
    MOST_CYCLES,
    ...slots.map((row) => [...row.values()].reduce((sum, count) => sum + count, 0) >> 1),
  );
  let best: readonly Int32Array[] = [];
  const attempts = Math.max(1, Math.min(MOST_ATTEMPTS, Math.floor(BUDGET / (most * topology.npuCount ** 2))));
  for (let attempt = 0; attempt < attempts && best.length < most; attempt++) {
    const cycles = disjointCycles(slots, most, attempt);
    if (cycles.length > best.length) best = cycles;
  }
  return best.length === 0 ? null : { cycles: best, bytesPerSecond: unit };
}

/** Returns at most so many cycles that share no slot, one after the other, as `attempt` draws them. */
function disjointCycles(slots: readonly Map<number, number>[], most: number, attempt: number): Int32Array[] {
  const left = slots.map((row) => new Map(row));
  const take = (from: number, to: number): void => {
    left[from].set(to, (left[from].get(to) as number) - 1);
  };
  const cycles: Int32Array[] = [];
  for (let tries = 0; tries < TRIES && cycles.length < most; ) {
    const open = left.map((row) => [...row].flatMap(([to, count]) => (count > 0 ? [to] : [])));
    if (open.some(({ length }) => length < 2)) break;
    const cycle = cycleOf(open, random(attempt, cycles.length * TRIES + tries));
    if (cycle === null) {
      tries++;
      continue;
    }
    tries = 0;
    cycles.push(cycle);
    for (let i = 0; i < cycle.length; i++) {
      const [a, b] = [cycle[i], cycle[(i + 1) % cycle.length]];
      take(a, b);
      take(b, a);
    }
  }
  return cycles;
}

/** Returns, for each NPU, what links to and from each other one have both ways. */
function bothWays({ npuCount, linkSource, linkTarget, linkBytesPerSecond }: Topology): Map<number, number>[] {
  const rates = Array.from({ length: npuCount }, () => new Map<number, number>());
  linkSource.forEach((from, link) => {
    const to = linkTarget[link];
    if (from < npuCount && to < npuCount) {
      rates[from].set(to, (rates[from].get(to) ?? 0) + linkBytesPerSecond[link]);
    }
  });
  return rates.map((row, from) => {
    const both = [...row].map(([to, rate]) => [to, Math.min(rate, rates[to].get(from) ?? 0)] as const);
    return new Map(both.filter(([, rate]) => rate > 0));
  });
}

/** Returns so much that no NPU has more than two slots for each cycle. */
function unitOf(bandwidth: readonly Map<number, number>[]): number {
  const totals = bandwidth.map((row) => [...row.values()].reduce((sum, rate) => sum + rate, 0));
  return Math.ceil(
    totals.reduce((least, total) => Math.min(least, total), Number.POSITIVE_INFINITY) / (2 * MOST_CYCLES),
  );
}

/**
 * Returns a cycle through all nodes from node 0, or null. A path grows at its end to the neighbour with the fewest ways on; where
 * it cannot, the part behind a neighbour on the path is turned around, so that another node is its end.
 */
function cycleOf(open: readonly number[][], draws: Random): Int32Array | null {
  const count = open.length;
  const path = new Int32Array(count);
  const place = new Int32Array(count).fill(-1);
  let length = 1;
  place[0] = 0;
  const waysOn = (node: number): number => open[node].reduce((ways, to) => ways + (place[to] < 0 ? 1 : 0), 0);
  for (let turns = 0; turns < TURNS * count; ) {
    const end = path[length - 1];
    const neighbours = open[end];
    if (length === count && neighbours.includes(path[0])) return path;
    let best = -1;
    let fewest = Number.POSITIVE_INFINITY;
    const first = draws.below(neighbours.length);
    for (let k = 0; k < neighbours.length; k++) {
      const to = neighbours[(first + k) % neighbours.length];
      if (place[to] >= 0) continue;
      const ways = waysOn(to);
      if (ways < fewest) [best, fewest] = [to, ways];
    }
    if (best >= 0) {
      place[best] = length;
      path[length++] = best;
      continue;
    }
    turns++;
    const at = place[neighbours[first]];
    if (at === length - 2) continue;
    path.subarray(at + 1, length).reverse();
    for (let i = at + 1; i < length; i++) place[path[i]] = i;
  }
  return null;
}
