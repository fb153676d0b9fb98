import { type Collective, membersOf } from "../collective/collective.ts";
import { distancesFrom, type Graph } from "../graph/graph.ts";
import type { Topology } from "../topology/topology.ts";
import { unreachable } from "./witness.ts";

/** Above this many (sources x arcs) only a few sources are tried. */
const SEARCH_WORK = 20_000_000;

/** So few sources are all tried. */
const FEW_SOURCES = 16;
/** Nodes tried for the middle of a network. */
const MIDDLES = 8;

/** The farthest pair of NPUs between which a chunk must travel. */
export interface Farthest {
  readonly ps: number;
  readonly from: number;
  readonly to: number;
}

/**
 * Returns the farthest pair that a non-reducing or all-to-all-pairs collective must connect: with one chunk it takes that
 * long. `backward` returns the same graph, turned around. Throws InfeasibleError when a pair has no path.
 *
 * Every source that could be farther from some target is tried while sources x arcs is within 2e7; beyond that six by double sweep (the farthest from the last
 * one, alternately forward and backward, from rank 0), which is still a bound. Ties go to the first source and target. Remembered
 * for the last members that were asked for: sizes and chunks do not matter.
 */
export function farthestPair(
  topology: Topology,
  collective: Collective,
  forward: Graph,
  backward: () => Graph,
): Farthest {
  const { kind, groupSize, groupMembers, rootRank } = collective;
  if (kind === "custom") return searchedPair(topology, collective, forward, backward);
  const rooted = kind === "broadcast" || kind === "scatter";
  const key = `${rooted ? rootRank : "all"} ${groupSize} ${groupMembers.join()}`;
  const last = LAST.get(forward.head);
  if (last?.key === key && last.weight === forward.weight) return last.farthest;
  const farthest = searchedPair(topology, collective, forward, backward);
  LAST.set(forward.head, { key, weight: forward.weight, farthest });
  return farthest;
}

const LAST = new WeakMap<
  Int32Array,
  { readonly key: string; readonly weight: Float64Array; readonly farthest: Farthest }
>();

function searchedPair(topology: Topology, collective: Collective, forward: Graph, backward: () => Graph): Farthest {
  const search: Search = { topology, best: { ps: -1, from: 0, to: 0 } };
  if (collective.kind === "custom") {
    customPairs(collective, forward, search);
    return search.best;
  }
  const { groupCount, groupSize, groupMembers, rootRank, kind } = collective;
  const rooted = kind === "broadcast" || kind === "scatter";
  const exact = rooted || groupMembers.length * (forward.head.length + forward.nodes) <= SEARCH_WORK;
  for (let g = 0; g < groupCount; g++) {
    const members = groupMembers.subarray(g * groupSize, (g + 1) * groupSize);
    if (rooted) searchFrom(search, forward, members.subarray(rootRank, rootRank + 1), members, false);
    else if (exact) {
      const most = groupSize < FEW_SOURCES ? null : mostDistant(forward, backward(), members);
      for (let r = 0; r < groupSize; r++) {
        if (most !== null && most[members[r]] <= search.best.ps) continue;
        searchFrom(search, forward, members.subarray(r, r + 1), members, false);
      }
    } else {
      let next = members[0];
      const before: number[] = [];
      for (let sweep = 0; sweep < 6 && g < 16; sweep++) {
        const back = sweep % 2 === 1;
        if (before.some((start, earlier) => start === next && earlier % 2 === sweep % 2)) break; // from here on, repeats
        before.push(next);
        next = searchFrom(search, back ? backward() : forward, [next], members, back);
      }
    }
  }
  return search.best;
}

/**
 * Returns for every node a distance that none of the members exceeds from there: the way through a node in the middle and on
 * to what is farthest from that. Null where members do not reach each other through it. The middle is least far from far
 * nodes, each the farthest from the middle before. Spares a mesh all searches but a few.
 */
function mostDistant(forward: Graph, backward: Graph, members: Int32Array): Float64Array | null {
  const off = new Float64Array(forward.nodes);
  let middle = members[0];
  let best = middle;
  let most = Number.POSITIVE_INFINITY;
  for (let round = 0; round < MIDDLES; round++) {
    const onward = distancesFrom(forward, [middle]);
    const far = members.reduce((last, v) => (onward[v] > onward[last] ? v : last), members[0]);
    if (onward[far] < most) {
      best = middle;
      most = onward[far];
    }
    const around = distancesFrom(backward, [far]);
    for (const v of members) off[v] = Math.max(off[v], around[v]);
    middle = members.reduce((least, v) => (off[v] < off[least] ? v : least), members[0]);
  }
  const into = distancesFrom(backward, [best]);
  if (members.some((v) => into[v] + most === Number.POSITIVE_INFINITY)) return null;
  return into.map((distance) => distance + most);
}

interface Search {
  readonly topology: Topology;
  best: Farthest;
}

/** Tries the pairs from (or, backwards, to) the nearest of the sources; returns the farthest target. */
function searchFrom(
  search: Search,
  g: Graph,
  sources: ArrayLike<number>,
  targets: ArrayLike<number>,
  backward: boolean,
): number {
  const distance = distancesFrom(g, sources);
  let far = targets[0];
  for (let i = 0; i < targets.length; i++) if (distance[targets[i]] > distance[far]) far = targets[i];
  const [from, to] = backward ? [far, sources[0]] : [sources[0], far];
  if (distance[far] === Number.POSITIVE_INFINITY) {
    throw unreachable(search.topology, from, to);
  }
  if (distance[far] > search.best.ps) search.best = { ps: distance[far], from, to };
  return far;
}

/** Each chunk must get from the nearest of its holders to everyone; with reductions, from everyone to everyone. */
function customPairs(collective: Collective, forward: Graph, search: Search): void {
  const done = new Set<string>();
  let left = SEARCH_WORK;
  for (let chunk = 0; chunk < collective.chunkCount && left > 0; chunk++) {
    const pre = membersOf(collective, collective.pre, chunk);
    const post = membersOf(collective, collective.post, chunk);
    const key = `${pre.join()}>${post.join()}`;
    if (pre.length === 0 || post.length === 0 || done.has(key)) continue;
    done.add(key);
    const starts = collective.reduces ? Array.from(pre, (v) => [v]) : [pre];
    for (const start of starts) searchFrom(search, forward, start, post, false);
    left -= starts.length * (forward.head.length + forward.nodes);
  }
}
