import type { Collective } from "../collective/collective.ts";
import { type FlowNetwork, flowSolver } from "../graph/max-flow.ts";
import { commonDivisor } from "../numbers/integers.ts";
import { nodeCount, type Topology } from "../topology/topology.ts";
import { crossingBandwidth, markSet, portsOf, sidesOf } from "./sides.ts";

/** Above this many (flows x links) no flows are solved: about half a second. 400 NPUs of a torus are below it. */
const FLOW_WORK = 600_000;

/**
 * Returns node sets with the narrowest borders for a non-reducing collective or all-reduce, by maximum flow.
 *
 * broadcast: a minimum cut from the root to each NPU. all-reduce: from rank 0 to each and back. all-gather, scatter: the
 * set S that maximises (chunks into S) / (bandwidth into S), by Dinkelbach's method: the best ratio so far is turned into
 * capacities, and a minimum cut that the demand exceeds is a better set (for the all-gather of one group this is
 * ForestColl's 1/x*, ForestColl 2024, section 5.2). all-to-all and custom: none. O(NPUs) flows per step.
 */
export function worstCuts(topology: Topology, collective: Collective): Int32Array[] {
  const { kind, rootRank, groupMembers } = collective;
  // Limit, target and bound of one problem ask for the same sets; the columns stand for the network and its groups.
  let byGroups = remembered.get(topology.linkSource);
  if (byGroups === undefined) {
    byGroups = new WeakMap();
    remembered.set(topology.linkSource, byGroups);
  }
  let byKind = byGroups.get(groupMembers);
  if (byKind === undefined) {
    byKind = new Map();
    byGroups.set(groupMembers, byKind);
  }
  const key = `${kind}:${rootRank}`;
  const known = byKind.get(key);
  if (known?.topology.linkBytesPerSecond === topology.linkBytesPerSecond) return known.sets;
  const sets = findWorstCuts(topology, collective);
  byKind.set(key, { topology, sets });
  return sets;
}

type Found = { readonly topology: Topology; readonly sets: Int32Array[] };
const remembered = new WeakMap<Int32Array, WeakMap<Int32Array, Map<string, Found>>>();

function findWorstCuts(topology: Topology, collective: Collective): Int32Array[] {
  const { npuCount, linkSource, linkTarget, linkBytesPerSecond } = topology;
  const { groupSize, groupCount, groupMembers, kind, rootRank } = collective;
  const links = linkSource.length;
  const flows = kind === "scatter" ? groupCount : groupCount * groupSize;
  if (groupSize < 2 || flows * (links + npuCount) > FLOW_WORK) return [];
  if (kind !== "allgather" && kind !== "allreduce" && kind !== "broadcast" && kind !== "scatter") return [];

  // bandwidths as small integers
  const unit = commonDivisor(linkBytesPerSecond);
  const bandwidth = linkBytesPerSecond.map((b) => b / unit);
  const total = bandwidth.reduce((a, b) => a + b, 0);
  if (total * (groupSize + 1) > Number.MAX_SAFE_INTEGER) return [];

  // node `extra` is a source of the shards of an all-gather, or the sink of those of a scatter
  const nodes = nodeCount(topology);
  const extra = nodes;
  const sets: Int32Array[] = [];
  const keep = (sinkSide: Uint8Array): Int32Array => {
    const set: number[] = [];
    for (let v = 0; v < nodes; v++) if (sinkSide[v] === 1) set.push(v);
    return Int32Array.from(set);
  };
  const sides = sidesOf(topology);
  const ports = portsOf(topology);

  for (let group = 0; group < groupCount; group++) {
    const members = groupMembers.subarray(group * groupSize, (group + 1) * groupSize);
    const root = members[rootRank];
    if (kind === "broadcast" || kind === "allreduce") {
      const solve = flowSolver({ nodes, tail: linkSource, head: linkTarget });
      const pairs: [number, number][] = [];
      for (const v of members) if (v !== root) pairs.push([root, v]);
      if (kind === "allreduce") for (const v of members) if (v !== root) pairs.push([v, root]);
      let least = Number.POSITIVE_INFINITY;
      let best: Int32Array | null = null;
      for (const [from, to] of pairs) {
        const { value, sinkSide } = solve(bandwidth, from, to);
        if (value >= least) continue;
        least = value;
        best = keep(sinkSide);
      }
      if (best !== null) sets.push(best);
      continue;
    }
    const network = withShards(linkSource, linkTarget, members, extra, kind === "scatter", root);
    const solve = flowSolver(network);
    const shards = network.tail.length - links;
    const inGroup = new Uint8Array(nodes + 1);
    for (const v of members) inGroup[v] = 1;
    // ratio = need / enters, in chunks per unit of bandwidth
    let need = kind === "scatter" ? 0 : groupSize - 1;
    let enters = 0;
    let best: Int32Array | null = null;
    const improve = (set: Int32Array): boolean => {
      markSet(sides, set);
      const width = crossingBandwidth(topology, ports, sides, set).into / unit;
      let inside = 0;
      for (const v of set) inside += inGroup[v];
      const chunks = kind === "scatter" ? inside : groupSize - inside;
      if (chunks === 0 || (best !== null && chunks * enters <= need * width)) return false;
      [need, enters, best] = [chunks, width, set];
      return true;
    };
    // start from single NPUs
    for (const v of members) if (kind !== "scatter" || v !== root) improve(Int32Array.of(v));
    const sinks = kind === "scatter" ? [extra] : members;
    const capacity = new Float64Array(network.tail.length);
    for (const sink of sinks) {
      for (let tries = 0; tries < 50 && enters > 0; tries++) {
        // shard : link = 1 : ratio * bandwidth, times `enters`
        for (let l = 0; l < links; l++) capacity[l] = need * bandwidth[l];
        capacity.fill(enters, links);
        const { value, sinkSide } = solve(capacity, kind === "scatter" ? root : extra, sink);
        if (value >= enters * shards) break;
        if (!improve(keep(sinkSide))) break;
      }
    }
    if (best !== null) sets.push(best);
  }
  return sets;
}

function withShards(
  tail: Int32Array,
  head: Int32Array,
  members: Int32Array,
  extra: number,
  scatter: boolean,
  root: number,
): FlowNetwork {
  const ends = Array.from(members).filter((v) => !scatter || v !== root);
  const shards = new Int32Array(ends.length).fill(extra);
  const join = (a: ArrayLike<number>, b: ArrayLike<number>): Int32Array => {
    const both = new Int32Array(a.length + b.length);
    both.set(a);
    both.set(b, a.length);
    return both;
  };
  return {
    nodes: extra + 1,
    tail: join(tail, scatter ? ends : shards),
    head: join(head, scatter ? shards : ends),
  };
}
