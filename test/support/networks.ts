import * as fc from "fast-check";
import { type Random, random } from "../../src/base/random.ts";
import type { MatchProblem, RelayProblem, TenNetwork } from "../../src/engine/contract/kernels.ts";
import { shuffle } from "./draws.ts";

/** Random kernel problems and small hand-made ones. */

/** How routes share resources. */
export type Sharing = "none" | "ports" | "mixed" | "arbitrary";

export interface Route {
  readonly source: number;
  readonly target: number;
  readonly slotPs: number;
  /** [resource, units] pairs. */
  readonly uses?: readonly (readonly [number, number])[];
}

/** Returns the columns of a list of routes. */
export function networkOf(npuCount: number, routes: readonly Route[], capacity: readonly number[] = []): TenNetwork {
  const uses = routes.map((route) => route.uses ?? []);
  const useOffset = new Int32Array(routes.length + 1);
  for (const [r, list] of uses.entries()) useOffset[r + 1] = useOffset[r] + list.length;
  return {
    npuCount,
    routeSource: Int32Array.from(routes, (route) => route.source),
    routeTarget: Int32Array.from(routes, (route) => route.target),
    slotPs: Float64Array.from(routes, (route) => route.slotPs),
    useOffset,
    useResource: Int32Array.from(uses.flat(), ([resource]) => resource),
    useUnits: Int32Array.from(uses.flat(), ([, units]) => units),
    capacity: Int32Array.from(capacity),
  };
}

/** Returns both directions between neighbours of a width x height mesh. */
export function mesh(width: number, height: number, slotX = 1000, slotY = slotX): TenNetwork {
  const routes: Route[] = [];
  const both = (a: number, b: number, slotPs: number): void => {
    routes.push({ source: a, target: b, slotPs }, { source: b, target: a, slotPs });
  };
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const v = y * width + x;
      if (x + 1 < width) both(v, v + 1, slotX);
      if (y + 1 < height) both(v, v + width, slotY);
    }
  }
  return networkOf(width * height, routes);
}

/** Returns an all-gather: every NPU starts with `chunksPerNpu` chunks of its own and wants all. */
export function allGather(network: TenNetwork, chunksPerNpu = 1, policy = {}): MatchProblem {
  const { npuCount } = network;
  return {
    network,
    chunkCount: npuCount * chunksPerNpu,
    heldOffset: Int32Array.from({ length: npuCount + 1 }, (_, v) => v * chunksPerNpu),
    heldChunk: Int32Array.from({ length: npuCount * chunksPerNpu }, (_, c) => c),
    wanted: null,
    choosers: null,
    policy: { seed: 1, choice: 0, window: 1, lateLimit: 0, novelty: 0, overtaking: 0, ...policy },
    maps: null,
  };
}

/** Returns a relay problem with shortest-path distances; the order serves the farthest targets first. */
export function relayOf(network: TenNetwork, pairs: readonly (readonly [number, number])[], seed = 1): RelayProblem {
  const distancePs = distances(network);
  const { npuCount } = network;
  const order = new Int32Array(npuCount * npuCount);
  for (let v = 0; v < npuCount; v++) {
    const targets = Array.from({ length: npuCount }, (_, t) => t);
    const far = (t: number): number => distancePs[v * npuCount + t];
    targets.sort((a, b) => (far(a) === far(b) ? a - b : far(b) > far(a) ? 1 : -1));
    order.set(targets, v * npuCount);
  }
  return {
    network,
    chunkSource: Int32Array.from(pairs, ([source]) => source),
    chunkTarget: Int32Array.from(pairs, ([, target]) => target),
    distancePs,
    order,
    seed,
    maxTransfers: pairs.length * npuCount,
  };
}

/** Returns shortest-path times between all NPUs (Floyd and Warshall). */
export function distances(network: TenNetwork): Float64Array {
  const n = network.npuCount;
  const distance = new Float64Array(n * n).fill(Number.POSITIVE_INFINITY);
  for (let v = 0; v < n; v++) distance[v * n + v] = 0;
  for (let r = 0; r < network.slotPs.length; r++) {
    const at = network.routeSource[r] * n + network.routeTarget[r];
    distance[at] = Math.min(distance[at], network.slotPs[r]);
  }
  for (let k = 0; k < n; k++) {
    for (let i = 0; i < n; i++) {
      for (let j = 0; j < n; j++) {
        distance[i * n + j] = Math.min(distance[i * n + j], distance[i * n + k] + distance[k * n + j]);
      }
    }
  }
  return distance;
}

const SLOTS = [[1000], [1000, 1500], [7, 11, 13], [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024]];

/** Builds a strongly connected network: a ring through all NPUs in random order and `extra` random routes. */
export function randomNetwork(npuCount: number, extra: number, sharing: Sharing, generator: Random): TenNetwork {
  const slots = SLOTS[generator.below(SLOTS.length)];
  const ring = Array.from({ length: npuCount }, (_, v) => v);
  shuffle(ring, generator);
  const ends: [number, number][] = npuCount < 2 ? [] : ring.map((v, i) => [v, ring[(i + 1) % npuCount]]);
  for (let i = 0; i < extra && npuCount > 1; i++) {
    const source = generator.below(npuCount);
    ends.push([source, (source + 1 + generator.below(npuCount - 1)) % npuCount]);
  }
  const slotPs = (): number => slots[generator.below(slots.length)];
  if (sharing === "arbitrary") {
    const capacity = Array.from({ length: 1 + generator.below(4) }, () => 1 + generator.below(3));
    const routes = ends.map(([source, target]) => {
      const resources = capacity.map((_, i) => i);
      shuffle(resources, generator);
      const uses = resources.slice(0, generator.below(3)).map((i) => [i, 1 + generator.below(capacity[i])] as const);
      return { source, target, slotPs: slotPs(), uses };
    });
    return networkOf(npuCount, routes, capacity);
  }
  // Ports: NPU v sends through resource v and receives through npuCount + v.
  const capacity = sharing === "none" ? [] : Array.from({ length: 2 * npuCount }, () => 1 + generator.below(2));
  const routes = ends.map(([source, target]) => {
    const ported = sharing === "ports" || (sharing === "mixed" && generator.below(2) === 0);
    const uses = ported
      ? ([
          [source, 1],
          [npuCount + target, 1],
        ] as const)
      : [];
    return { source, target, slotPs: slotPs(), uses };
  });
  return networkOf(npuCount, routes, capacity);
}

const shape = {
  seed: fc.nat({ max: 2 ** 31 }),
  npus: fc.integer({ min: 1, max: 9 }),
  extra: fc.nat({ max: 24 }),
  chunks: fc.integer({ min: 1, max: 70 }),
};

/** Random match problems; with `everyoneWantsAll` each has an answer. */
export function matchProblems(sharings: readonly Sharing[], everyoneWantsAll = false): fc.Arbitrary<MatchProblem> {
  return fc
    .record({
      ...shape,
      sharing: fc.constantFrom(...sharings),
      all: everyoneWantsAll ? fc.constant(true) : fc.boolean(),
      choice: fc.integer({ min: 0, max: 4 }),
      window: fc.constantFrom(1, 2, 8, 64),
      lateLimit: fc.constantFrom(0, 3, 1000),
      novelty: fc.nat({ max: 1 }),
      overtaking: fc.nat({ max: 1 }),
    })
    .map(({ seed, npus, extra, chunks, sharing, all, ...policy }) => {
      const generator = random(seed, 77);
      const network = randomNetwork(npus, extra, sharing, generator);
      const words = (chunks + 31) >>> 5;
      const held: number[][] = Array.from({ length: npus }, () => []);
      for (let c = 0; c < chunks; c++) {
        const holders = 1 + (generator.below(4) === 0 ? generator.below(npus) : 0);
        const first = generator.below(npus);
        for (let i = 0; i < holders; i++) held[(first + i) % npus].push(c);
      }
      const wanted = all ? null : Uint32Array.from({ length: npus * words }, () => generator.next() | generator.next());
      if (wanted !== null && chunks % 32 !== 0) {
        for (let v = 0; v < npus; v++) wanted[(v + 1) * words - 1] &= 2 ** (chunks % 32) - 1;
      }
      const heldOffset = new Int32Array(npus + 1);
      for (let v = 0; v < npus; v++) heldOffset[v + 1] = heldOffset[v] + held[v].length;
      const heldChunk = Int32Array.from(held.flat());
      const choosers = seed % 2 === 0 ? null : Uint8Array.from({ length: npus }, () => generator.below(2));
      const demand = { chunkCount: chunks, heldOffset, heldChunk, wanted, choosers };
      return { network, ...demand, policy: { seed, ...policy }, maps: null };
    });
}

/** Random relay problems; each has an answer. */
export function relayProblems(sharings: readonly Sharing[]): fc.Arbitrary<RelayProblem> {
  return fc
    .record({ ...shape, sharing: fc.constantFrom(...sharings) })
    .map(({ seed, npus, extra, chunks, sharing }) => {
      const generator = random(seed, 78);
      const network = randomNetwork(npus, extra, sharing, generator);
      const pairs = Array.from({ length: chunks }, () => [generator.below(npus), generator.below(npus)] as const);
      const problem = relayOf(network, pairs, seed);
      for (let v = 0; v < npus; v++) shuffle(problem.order.subarray(v * npus, (v + 1) * npus), generator);
      return problem;
    });
}
