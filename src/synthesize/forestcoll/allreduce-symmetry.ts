import { disjointSets, numberedSets } from "../../model/graph/disjoint-sets.ts";
import { mapFinder } from "../../model/symmetry/map-finder.ts";
import type { AllReduceNetwork } from "./allreduce-network.ts";

/**
 * Maps of the network onto itself that take members to members, and the orbits of nodes and links under them. An optimum of
 * a linear program that is the same under all maps exists (average any optimum over them), so one variable per orbit is
 * enough; any group of maps will do, so the search may give up whenever it likes.
 */

/** Nodes and links looked at in all; about a second. */
const MOST_WORK = 5e7;
/** So many nodes of a class in a row that no map is found for end the search in it. */
const MOST_FAILURES = 6;

export interface AllReduceOrbits {
  /** Maps that generate the group: [nodes] where each takes every node; of links that they take to each other any may be taken. */
  readonly maps: readonly Int32Array[];
  /** [nodes] */
  readonly nodeOrbit: Int32Array;
  /** [node orbits] */
  readonly nodes: Int32Array;
  /** [links] */
  readonly linkOrbit: Int32Array;
  /** [link orbits] */
  readonly links: Int32Array;
}

/**
 * Returns the orbits under the known maps ([nodes] each; those that do not keep the network and its members are left out)
 * and those that are found. O(work) up to a second, plus O(links) per map.
 */
export function allReduceOrbits(network: AllReduceNetwork, known: readonly Int32Array[] = []): AllReduceOrbits {
  const { nodeCount, memberCount } = network;
  const arcs = arcsOf(network);
  const maps: Int32Array[] = [];
  const nodeSets = disjointSets(nodeCount);
  const admit = (map: Int32Array): boolean => {
    if (!keeps(map, network, arcs)) return false;
    maps.push(map);
    for (let v = 0; v < nodeCount; v++) nodeSets.join(v, map[v]);
    return true;
  };
  for (const map of known) admit(map);
  const colour = new Int32Array(nodeCount).fill(1, 0, memberCount);
  const finder = mapFinder(colour, arcs.source, arcs.target, arcs.kind, MOST_WORK);
  for (const alike of finder.classes) {
    let failures = 0;
    for (let i = 1; i < alike.length && failures < MOST_FAILURES; i++) {
      if (nodeSets.least(alike[i]) === nodeSets.least(alike[0])) continue;
      const map = finder.find(alike[0], alike[i]);
      failures = map !== null && admit(map) ? 0 : failures + 1;
    }
  }
  const arcSets = disjointSets(arcs.source.length);
  for (const map of maps) {
    for (let a = 0; a < arcs.source.length; a++) arcSets.join(a, arcs.imageOf(a, map));
  }
  const nodes = numberedSets(nodeCount, nodeSets.least);
  const links = numberedSets(arcs.ofLink.length, (l) => arcSets.least(arcs.ofLink[l]));
  return { maps, nodeOrbit: nodes.of, nodes: nodes.size, linkOrbit: links.of, links: links.size };
}

/** Links with the same ends and the same bandwidth, as one. */
interface Arcs {
  readonly source: Int32Array;
  readonly target: Int32Array;
  /** Links that it stands for. */
  readonly count: Int32Array;
  /** Number of the pair (bandwidth, count). */
  readonly kind: Int32Array;
  /** [links] */
  readonly ofLink: Int32Array;
  /** Returns the arc that a map of nodes takes an arc to; -1 where there is none. */
  imageOf(arc: number, map: Int32Array): number;
}

function arcsOf({ nodeCount, source, target, bandwidth }: AllReduceNetwork): Arcs {
  const bandwidths = new Map<number, number>();
  for (const b of bandwidth) if (!bandwidths.has(b)) bandwidths.set(b, bandwidths.size);
  const rank = bandwidth.map((b) => bandwidths.get(b) as number);
  const index = new Map<number, number>();
  const keyOf = (u: number, v: number, b: number): number => (b * nodeCount + u) * nodeCount + v;
  const first: number[] = [];
  const count: number[] = [];
  const ofLink = source.map((u, l) => {
    const key = keyOf(u, target[l], rank[l]);
    const known = index.get(key);
    if (known !== undefined) {
      count[known]++;
      return known;
    }
    index.set(key, first.length);
    count.push(1);
    return first.push(l) - 1;
  });
  const kinds = new Map<string, number>();
  const kind = Int32Array.from(first, (l, a) => {
    const key = `${rank[l]}:${count[a]}`;
    const known = kinds.get(key) ?? kinds.size;
    kinds.set(key, known);
    return known;
  });
  return {
    source: Int32Array.from(first, (l) => source[l]),
    target: Int32Array.from(first, (l) => target[l]),
    count: Int32Array.from(count),
    kind,
    ofLink,
    imageOf: (arc, map) => {
      const l = first[arc];
      return index.get(keyOf(map[source[l]], map[target[l]], rank[l])) ?? -1;
    },
  };
}

/** Returns whether a map permutes the nodes and takes members to members and arcs to arcs of their kind. O(arcs). */
function keeps(map: Int32Array, { nodeCount, memberCount }: AllReduceNetwork, arcs: Arcs): boolean {
  const taken = new Uint8Array(nodeCount);
  for (let v = 0; v < nodeCount; v++) {
    const image = map[v];
    if (image === undefined || image < 0 || taken[image] !== 0 || v < memberCount !== image < memberCount) return false;
    taken[image] = 1;
  }
  return arcs.source.every((_, a) => {
    const image = arcs.imageOf(a, map);
    return image >= 0 && arcs.kind[image] === arcs.kind[a];
  });
}
