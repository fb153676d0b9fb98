import { type Collective, membersOf } from "../collective/collective.ts";
import { groupedBy } from "../graph/graph.ts";

/** How many chunks must cross the border of a set of NPUs. */
export interface Demand {
  /** Chunks that must enter the set. */
  readonly into: number;
  /** Chunks that must leave it, that is, enter its complement. */
  readonly outOf: number;
}

export type DemandOf = (nodes: ArrayLike<number>) => Demand;

/** Returns the chunks of one process group that must enter a set with `inside` of its `size` NPUs. */
export function entering(collective: Collective, size: number, inside: number, rootInside: boolean): number {
  if (inside === 0 || inside === size) return 0;
  const chunks = collective.chunksPerNpu;
  switch (collective.kind) {
    case "allgather":
      return (size - inside) * chunks;
    case "reducescatter":
      return inside * chunks;
    case "allreduce":
      return size * chunks;
    case "broadcast":
      return rootInside ? 0 : chunks;
    case "reduce":
      return rootInside ? chunks : 0;
    case "gather":
      return rootInside ? (size - inside) * chunks : 0;
    case "scatter":
      return rootInside ? 0 : inside * chunks;
    case "alltoall":
      return inside * (size - inside) * chunks;
    case "custom":
      return 0;
  }
}

/**
 * Returns the function that counts the chunks which must cross into and out of a set of nodes (switches are ignored).
 *
 * A chunk must enter S if an NPU of S wants it and none has it; with reductions, if an NPU of S wants the sum and a
 * contribution starts outside. Proof: what arrives in S can only come over the border, and switches store nothing.
 * Several process groups add up: their chunks are different. O(nodes) per set; for `custom` O(chunk members).
 */
export function demandOf(collective: Collective, npuCount: number): DemandOf {
  return collective.kind === "custom" ? customDemand(collective, npuCount) : namedDemand(collective, npuCount);
}

function namedDemand(collective: Collective, npuCount: number): DemandOf {
  const { groupCount, groupSize, groupMembers, rootRank } = collective;
  const places = groupedBy(groupMembers, npuCount);
  const inside = new Int32Array(groupCount);
  const rootInside = new Uint8Array(groupCount);
  return (nodes) => {
    const touched: number[] = [];
    for (let i = 0; i < nodes.length; i++) {
      if (nodes[i] >= npuCount) continue;
      for (let j = places.offset[nodes[i]]; j < places.offset[nodes[i] + 1]; j++) {
        const group = Math.floor(places.items[j] / groupSize);
        if (inside[group]++ === 0) touched.push(group);
        if (places.items[j] % groupSize === rootRank) rootInside[group] = 1;
      }
    }
    let into = 0;
    let outOf = 0;
    for (const group of touched) {
      into += entering(collective, groupSize, inside[group], rootInside[group] === 1);
      outOf += entering(collective, groupSize, groupSize - inside[group], rootInside[group] === 0);
      inside[group] = 0;
      rootInside[group] = 0;
    }
    return { into, outOf };
  };
}

/** Returns, for each NPU, the chunks of a collective with a name that must enter and leave it. O(NPUs + members). */
export function npuDemands(collective: Collective, npuCount: number): { into: Float64Array; outOf: Float64Array } {
  const { groupMembers, groupSize, rootRank } = collective;
  const into = new Float64Array(npuCount);
  const outOf = new Float64Array(npuCount);
  const [enters, entersRoot] = [false, true].map((root) => entering(collective, groupSize, 1, root));
  const [leaves, leavesRoot] = [true, false].map((root) => entering(collective, groupSize, groupSize - 1, root));
  for (let i = 0; i < groupMembers.length; i++) {
    const isRoot = i % groupSize === rootRank;
    into[groupMembers[i]] += isRoot ? entersRoot : enters;
    outOf[groupMembers[i]] += isRoot ? leavesRoot : leaves;
  }
  return { into, outOf };
}

function customDemand(collective: Collective, npuCount: number): DemandOf {
  const mark = new Uint8Array(npuCount);
  const count = (members: Int32Array): number => {
    let inside = 0;
    for (let i = 0; i < members.length; i++) inside += mark[members[i]];
    return inside;
  };
  return (nodes) => {
    for (let i = 0; i < nodes.length; i++) if (nodes[i] < npuCount) mark[nodes[i]] = 1;
    let into = 0;
    let outOf = 0;
    for (let chunk = 0; chunk < collective.chunkCount; chunk++) {
      const pre = membersOf(collective, collective.pre, chunk);
      const post = membersOf(collective, collective.post, chunk);
      const held = count(pre);
      const wanted = count(post);
      if (wanted > 0 && (collective.reduces ? held < pre.length : held === 0)) into++;
      if (wanted < post.length && (collective.reduces ? held > 0 : held === pre.length)) outOf++;
    }
    mark.fill(0);
    return { into, outOf };
  };
}

/** Returns how many array cells one evaluation of the demand reads beyond the set itself. */
export function demandCost(collective: Collective): number {
  if (collective.kind !== "custom") return 0;
  const size = (p: Collective["pre"]): number =>
    p.kind === "sets"
      ? p.members.length
      : p.kind === "one"
        ? p.npu.length
        : collective.chunkCount * collective.groupSize;
  return size(collective.pre) + size(collective.post);
}
