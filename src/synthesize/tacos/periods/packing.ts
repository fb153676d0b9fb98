import { draw } from "../../../base/random.ts";
import { disjointSets } from "../../../model/graph/graph.ts";
import { type DuplexNetwork, otherEnd } from "./duplex.ts";

/** Spanning trees that cross each edge so often that all their transfers in one direction fit a period. */
export interface Packing {
  /** [trees][edges] 1: the tree uses the edge. */
  readonly trees: readonly Uint8Array[];
  /** [edges] how many trees use it. */
  readonly load: Int32Array;
  readonly periodPs: number;
  /**
   * [NPUs] parts between which all edges were full when the period had to grow, each tree crossing them as rarely as it can: they
   * prove that so many trees need a longer period than the one before. Null where it never grew.
   */
  readonly narrowest: Int32Array | null;
}

/** Returns how long the busiest edge is busy in a period. */
function busiestPs({ serialPs }: DuplexNetwork, load: Int32Array): number {
  return load.reduce((most, count, e) => Math.max(most, count * serialPs[e]), 0);
}

/** Returns a packing of one network for another with the same edges, in its times and with as much slack. */
export const retimed = (packing: Packing, from: DuplexNetwork, to: DuplexNetwork): Packing => ({
  ...packing,
  periodPs: Math.ceil(busiestPs(to, packing.load) * (packing.periodPs / busiestPs(from, packing.load))),
});

/**
 * Returns trees of least hops from roots all over the network; of the edges that bring an NPU equally near, a tree takes the one
 * that those before it use least. O(trees x edges).
 */
export function shallowTrees(network: DuplexNetwork, count: number, seed: number): Uint8Array[] {
  const { npuCount, incident, serialPs } = network;
  const busyPs = new Float64Array(serialPs.length);
  return Array.from({ length: count }, (_, i) => {
    const used = new Uint8Array(serialPs.length);
    const reached = new Uint8Array(npuCount);
    let level = [Math.floor(((i + 0.5) * npuCount) / count)];
    while (level.length > 0) {
      for (const npu of level) reached[npu] = 1;
      const entry = new Map<number, number>();
      for (const npu of level) {
        for (let k = incident.offset[npu]; k < incident.offset[npu + 1]; k++) {
          const edge = incident.items[k];
          const next = otherEnd(network, edge, npu);
          if (reached[next] === 1) continue;
          const best = entry.get(next);
          const more =
            best === undefined ? -1 : busyPs[edge] - busyPs[best] || draw(seed, i, edge) - draw(seed, i, best);
          if (more < 0) entry.set(next, edge);
        }
      }
      for (const edge of entry.values()) {
        used[edge] = 1;
        busyPs[edge] += serialPs[edge];
      }
      level = [...entry.keys()];
    }
    return used;
  });
}

/** Returns the least period in which edges have room for all transfers of so many trees together. O(edges log slots). */
function leastPeriod({ npuCount, serialPs }: DuplexNetwork, trees: number): number {
  const wanted = trees * (npuCount - 1);
  const roomIn = (periodPs: number): number => serialPs.reduce((sum, slot) => sum + Math.floor(periodPs / slot), 0);
  let high = serialPs[0];
  while (roomIn(high) < wanted) high *= 2;
  for (let low = high / 2; high - low > 1; ) {
    const middle = Math.floor((low + high) / 2);
    if (roomIn(middle) < wanted) low = middle;
    else high = middle;
  }
  return high;
}

/** Returns whether two edges join the same NPUs; forests that were made of places may then have circles. */
function hasParallels({ npuCount, tail, head }: DuplexNetwork): boolean {
  const pairs = Float64Array.from(tail, (npu, e) => Math.min(npu, head[e]) * npuCount + Math.max(npu, head[e])).sort();
  return pairs.some((pair, i) => i > 0 && pair === pairs[i - 1]);
}

/** Makes forests trees: of the edges that join two parts it takes those first that are used least, then those in the middle. */
function join(network: DuplexNetwork, trees: readonly Uint8Array[], load: Int32Array): void {
  const { npuCount, tail, head, serialPs } = network;
  let eccentricity: Int32Array | null = null;
  const mayCircle = hasParallels(network);
  for (const used of trees) {
    // a forest of so many edges is a tree
    if (!mayCircle && used.reduce((sum, use) => sum + use, 0) === npuCount - 1) continue;
    const parts = disjointSets(npuCount);
    let count = npuCount;
    for (let e = 0; e < used.length; e++) {
      if (used[e] === 0) continue;
      if (parts.least(tail[e]) === parts.least(head[e])) {
        used[e] = 0;
        load[e]--;
        continue;
      }
      parts.join(tail[e], head[e]);
      count--;
    }
    if (count === 1) continue;
    eccentricity ??= distancesFromMiddle(network);
    const far = eccentricity;
    const joining: number[] = [];
    for (let e = 0; e < used.length; e++) {
      if (parts.least(tail[e]) !== parts.least(head[e])) joining.push(e);
    }
    joining.sort(
      (a, b) =>
        load[a] * serialPs[a] - load[b] * serialPs[b] || far[tail[a]] + far[head[a]] - far[tail[b]] - far[head[b]],
    );
    for (const e of joining) {
      if (parts.least(tail[e]) === parts.least(head[e])) continue;
      parts.join(tail[e], head[e]);
      used[e] = 1;
      load[e]++;
    }
  }
}

/** Returns the hops from an NPU in the middle of a long way through the network. O(NPUs + edges). */
function distancesFromMiddle(network: DuplexNetwork): Int32Array {
  const far = hopsFrom(network, 0).order.at(-1) as number;
  const { order, hops, entry } = hopsFrom(network, far);
  let middle = order.at(-1) as number;
  for (let steps = hops[middle] >> 1; steps > 0; steps--) middle = otherEnd(network, entry[middle], middle);
  return hopsFrom(network, middle).hops;
}

/** Returns the NPUs in order of their hops from one of them, [NPUs] their hops, and [NPUs] the edge by which each was reached. */
function hopsFrom(network: DuplexNetwork, first: number) {
  const { npuCount, incident } = network;
  const hops = new Int32Array(npuCount).fill(-1);
  const entry = new Int32Array(npuCount).fill(-1);
  const order = new Int32Array(npuCount);
  order[0] = first;
  hops[first] = 0;
  for (let at = 0, reached = 1; at < reached; at++) {
    const npu = order[at];
    for (let k = incident.offset[npu]; k < incident.offset[npu + 1]; k++) {
      const edge = incident.items[k];
      const next = otherEnd(network, edge, npu);
      if (hops[next] >= 0) continue;
      hops[next] = hops[npu] + 1;
      entry[next] = edge;
      order[reached++] = next;
    }
  }
  return { order, hops, entry };
}

/**
 * Returns spanning trees made of these forests (which are changed), and the least period found in which their transfers fit, no
 * shorter than the shortest conceivable by this share (`slack`) of it. An
 * edge with more transfers than fit gives one up along the shortest chain of exchanges in which a tree takes the next edge of the
 * chain for the one before, to an edge that has room (matroid union; Edmonds 1965); where there is no chain the period grows.
 */
export function packed(network: DuplexNetwork, trees: readonly Uint8Array[], slack: number): Packing {
  const { tail, serialPs } = network;
  const load = new Int32Array(tail.length);
  for (const used of trees) for (let e = 0; e < used.length; e++) load[e] += used[e];
  join(network, trees, load);
  let periodPs = Math.ceil(leastPeriod(network, trees.length) * (1 + slack));
  const step = serialPs.reduce((least, serial) => Math.min(least, serial), Number.POSITIVE_INFINITY);
  const exchange = exchanger(network, trees, load);
  let narrowest: Int32Array | null = null;
  for (let e = 0; e < load.length; e++) {
    while (load[e] > Math.floor(periodPs / serialPs[e])) {
      const reached = exchange(e, periodPs);
      if (reached === null) continue;
      narrowest = partsWithout(network, reached);
      periodPs += step;
    }
  }
  return { trees, load, periodPs, narrowest };
}

/** Returns which NPUs stay together without some edges: [NPUs] numbers of parts, as they come. */
function partsWithout({ npuCount, tail, head }: DuplexNetwork, edges: readonly number[]): Int32Array {
  const gone = new Set(edges);
  const parts = disjointSets(npuCount);
  for (let e = 0; e < tail.length; e++) if (!gone.has(e)) parts.join(tail[e], head[e]);
  const numbers = new Map<number, number>();
  return Int32Array.from({ length: npuCount }, (_, npu) => {
    const least = parts.least(npu);
    const number = numbers.get(least) ?? numbers.size;
    numbers.set(least, number);
    return number;
  });
}

/**
 * Returns a function that takes one transfer off an edge by exchanges and returns null, or else the edges that exchanges reach,
 * where none of them has room.
 */
function exchanger(network: DuplexNetwork, trees: readonly Uint8Array[], load: Int32Array) {
  const { npuCount, tail, head, serialPs, incident } = network;
  const edges = tail.length;
  const side = new Int32Array(npuCount);
  const halves = [new Int32Array(npuCount), new Int32Array(npuCount)];
  const before = new Int32Array(edges);
  const by = new Int32Array(edges);
  const seen = new Int32Array(edges);
  let mark = 0;
  let pass = 0;
  /** Returns the NPUs on the smaller side of an edge of a tree, marked with `mark`; walks both sides in turn. */
  const smallerSide = (used: Uint8Array, cut: number): Int32Array => {
    mark += 2;
    const reached = [1, 1];
    const done = [0, 0];
    halves[0][0] = tail[cut];
    halves[1][0] = head[cut];
    side[tail[cut]] = mark;
    side[head[cut]] = mark + 1;
    for (let half = 0; ; half = 1 - half) {
      if (done[half] === reached[half]) {
        mark += half;
        return halves[half].subarray(0, reached[half]);
      }
      const npu = halves[half][done[half]++];
      for (let k = incident.offset[npu]; k < incident.offset[npu + 1]; k++) {
        const edge = incident.items[k];
        if (edge === cut || used[edge] === 0) continue;
        const next = otherEnd(network, edge, npu);
        if (side[next] === mark + half) continue;
        side[next] = mark + half;
        halves[half][reached[half]++] = next;
      }
    }
  };
  return (first: number, periodPs: number): readonly number[] | null => {
    pass++;
    seen[first] = pass;
    before[first] = -1;
    const chain = [first];
    for (const edge of chain) {
      for (let turn = 0; turn < trees.length; turn++) {
        const i = (turn + edge) % trees.length;
        if (trees[i][edge] === 0) continue;
        let free = -1;
        for (const npu of smallerSide(trees[i], edge)) {
          for (let k = incident.offset[npu]; k < incident.offset[npu + 1]; k++) {
            const other = incident.items[k];
            if (seen[other] === pass || side[otherEnd(network, other, npu)] === mark) continue;
            seen[other] = pass;
            before[other] = edge;
            by[other] = i;
            chain.push(other);
            if (load[other] >= Math.floor(periodPs / serialPs[other])) continue;
            if (free < 0 || load[other] * serialPs[other] < load[free] * serialPs[free]) free = other;
          }
        }
        if (free < 0) continue;
        for (let taken = free; before[taken] >= 0; taken = before[taken]) {
          trees[by[taken]][taken] = 1;
          trees[by[taken]][before[taken]] = 0;
          load[taken]++;
          load[before[taken]]--;
        }
        return null;
      }
    }
    return chain;
  };
}
