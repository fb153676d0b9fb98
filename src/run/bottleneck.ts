import { InternalError } from "../base/errors.ts";
import type { Kernels } from "../engine/contract/kernels.ts";
import { limitOf } from "../model/bounds/bounds.ts";
import { gainsFromPartitions, isBalanced, timeReversed } from "../model/bounds/byte-partition.ts";
import type { Bound } from "../model/bounds/witness.ts";
import type { Collective } from "../model/collective/collective.ts";
import { disjointSets } from "../model/graph/graph.ts";
import { nodeCount, reversed, type Topology } from "../model/topology/topology.ts";
import { partitionFaults } from "../verify/flows/partition-limit.ts";

/**
 * Returns the limit of a collective (limitOf), where the narrowest cut and the narrowest partition of all are among those that
 * are tried: for an all-gather or a reduce-scatter of one group over links without latency it is then what ForestColl's trees
 * reach (dissertation of Zhao, 2026, chapter 4). Kernels find them, the model works out what they prove, and a partition is judged.
 * The last one of a network is remembered, for several makers in turn are asked for the same. Throws as limitOf does.
 */
export function limitWithBottleneck(kernels: Kernels, topology: Topology, collective: Collective): Bound {
  const { kind, sizeBytes, chunksPerNpu, groupSize, groupMembers } = collective;
  if (kind === "custom") return newLimit(kernels, topology, collective);
  const name = `${kind} ${sizeBytes} ${chunksPerNpu} ${collective.rootRank} ${groupSize} ${groupMembers.join()}`;
  const last = LAST.get(topology);
  if (last?.kernels === kernels && last.name === name) return last.limit;
  const limit = newLimit(kernels, topology, collective);
  LAST.set(topology, { kernels, name, limit });
  return limit;
}

const LAST = new WeakMap<Topology, { readonly kernels: Kernels; readonly name: string; readonly limit: Bound }>();

function newLimit(kernels: Kernels, topology: Topology, collective: Collective): Bound {
  const limit = limitOf(topology, collective, foundBy(kernels, topology, collective));
  const faults = limit.witness.kind === "partition" ? partitionFaults(topology, collective, limit) : [];
  if (faults.length > 0) throw new InternalError(`a limit that its partition does not prove: ${faults[0]}`);
  return limit;
}

/** Returns what gives the limits of collectives by kernels. */
export const limitsBy =
  (kernels: Kernels) =>
  (topology: Topology, collective: Collective): Bound =>
    limitWithBottleneck(kernels, topology, collective);

interface Narrowest {
  readonly cuts: readonly Int32Array[];
  readonly partitions: readonly Int32Array[];
}

/** What was found in a network, by members and ways: many limits are asked of one, and latencies do not matter. */
const FOUND = new WeakMap<Int32Array, { readonly topology: Topology; readonly byName: Map<string, Narrowest> }[]>();

function foundBy(kernels: Kernels, topology: Topology, collective: Collective): Narrowest {
  const { linkSource, linkBytesPerSecond, nodeTraits } = topology;
  const alike = FOUND.get(linkSource) ?? [];
  FOUND.set(linkSource, alike);
  let known = alike.find(
    (one) => one.topology.linkBytesPerSecond === linkBytesPerSecond && one.topology.nodeTraits === nodeTraits,
  );
  if (known === undefined) {
    known = { topology, byName: new Map() };
    alike.push(known);
  }
  const { kind, groupSize, groupMembers } = collective;
  const name = `${kind} ${groupSize} ${groupMembers.join()}`;
  let found = known.byName.get(name);
  if (found === undefined) {
    const cuts = bottlenecksOf(kernels, topology, collective);
    found = { cuts, partitions: partitionsOf(kernels, topology, collective) };
    known.byName.set(name, found);
  }
  return found;
}

/** Returns the narrowest cuts of the network for the collective's all-gather and reduce-scatter. */
function bottlenecksOf(
  kernels: Kernels,
  topology: Topology,
  { kind, groupCount, groupSize, groupMembers }: Collective,
): readonly Int32Array[] {
  const gathers = kind === "allgather" || kind === "allreduce";
  const scatters = kind === "reducescatter" || kind === "allreduce";
  if (groupCount !== 1 || groupSize < 2) return [];
  const ways = [...(gathers ? [topology] : []), ...(scatters ? [reversed(topology)] : [])];
  return ways.flatMap((network) => bottleneck(kernels, network, groupMembers));
}

/** Returns the smaller side of the narrowest cut between members, others being switches; none where sums leave exact numbers. */
function bottleneck(kernels: Kernels, topology: Topology, members: Int32Array): Int32Array[] {
  const nodes = nodeCount(topology);
  const number = new Int32Array(nodes).fill(-1);
  members.forEach((npu, rank) => {
    number[npu] = rank;
  });
  let next = members.length;
  for (let node = 0; node < nodes; node++) if (number[node] < 0) number[node] = next++;
  const { linkSource, linkTarget, linkBytesPerSecond } = topology;
  if (linkBytesPerSecond.reduce((sum, bandwidth) => sum + bandwidth, 0) > Number.MAX_SAFE_INTEGER) return [];
  const { cut } = kernels.rate({
    nodeCount: nodes,
    npuCount: members.length,
    linkSource: linkSource.map((node) => number[node]),
    linkTarget: linkTarget.map((node) => number[node]),
    capacity: linkBytesPerSecond,
    weight: new Float64Array(members.length).fill(1),
  });
  const inside = cut.reduce((sum, bit) => sum + bit, 0);
  const side = 2 * inside > nodes ? 0 : 1;
  return [Int32Array.from(number.keys()).filter((node) => cut[number[node]] === side)];
}

/** Terminals times links that a search may have: about half a second. */
const SEARCH_WORK = 10_000_000;

/** Returns the narrowest partitions for what must leave the parts, and for what must enter them, as parts of NPUs. */
function partitionsOf(kernels: Kernels, topology: Topology, collective: Collective): readonly Int32Array[] {
  const { kind, groupMembers, groupSize } = collective;
  if (groupSize < 2) return [];
  const reduces = kind === "reducescatter" || kind === "reduce";
  const forward = reduces ? timeReversed(topology) : topology;
  const unreduced = kind === "reducescatter" ? "allgather" : kind === "reduce" ? "broadcast" : kind;
  if (!gainsFromPartitions(forward, { ...collective, kind: unreduced })) return [];
  // where as much enters as leaves, and switches do the same both ways, so is the narrowest partition
  const alike = isBalanced(topology) && topology.nodeTraits.every((t) => !t.multicast === !t.aggregation);
  const ways = kind === "allreduce" && !alike ? [forward, timeReversed(forward)] : [forward];
  return ways.flatMap((network) => narrowestPartition(kernels, network, groupMembers));
}

/** Returns the narrowest partition for what leaves the parts. None where the search would take long or has nothing to choose from. */
function narrowestPartition(kernels: Kernels, network: Topology, members: Int32Array): Int32Array[] {
  const { npuCount, nodeTraits, linkSource, linkTarget, linkBytesPerSecond } = network;
  const nodes = nodeCount(network);
  const joined = withTheirNeighbours(network, members);
  const speeds = [...new Set(linkBytesPerSecond)].sort((a, b) => b - a);
  for (let classes = 0; classes < speeds.length; classes++) {
    if (classes > 0) {
      for (let link = 0; link < linkSource.length; link++) {
        if (linkBytesPerSecond[link] === speeds[classes - 1]) joined.join(linkSource[link], linkTarget[link]);
      }
    }
    const links = [...linkSource.keys()].filter(
      (link) => joined.least(linkSource[link]) !== joined.least(linkTarget[link]),
    );
    const isLinked = new Uint8Array(nodes);
    for (const link of links) isLinked[joined.least(linkSource[link])] = isLinked[joined.least(linkTarget[link])] = 1;
    // terminals first, then switches, then those that sum: what they add up has left its part before
    const rank = new Int32Array(nodes).fill(3);
    for (let node = 0; node < nodes; node++) {
      const root = joined.least(node);
      if (node >= npuCount && isLinked[root] === 0) continue;
      const own = node < npuCount ? 0 : nodeTraits[node].aggregation === true ? 2 : 1;
      rank[root] = Math.min(rank[root], own);
    }
    const order = [0, 1, 2].map((own) => [...rank.keys()].filter((node) => rank[node] === own));
    const number = new Int32Array(nodes);
    order.flat().forEach((root, i) => {
      number[root] = i;
    });
    const [terminals, , outside] = order as [number[], number[], number[]];
    const numberOf = (node: number): number => number[joined.least(node)];
    if (terminals.length < 2) return [];
    if (terminals.length * links.length > SEARCH_WORK) continue;
    const part = kernels.partition({
      nodeCount: order.flat().length,
      outsideCount: outside.length,
      linkSource: Int32Array.from(links, (link) => numberOf(linkSource[link])),
      linkTarget: Int32Array.from(links, (link) => numberOf(linkTarget[link])),
      capacity: Float64Array.from(links, (link) => linkBytesPerSecond[link]),
      start: Int32Array.from(terminals.keys()),
    });
    return [Int32Array.from({ length: npuCount }, (_, npu) => part[numberOf(npu)])];
  }
  return [];
}

/**
 * Returns the nodes joined: NPUs that are no members, and switches that multicast, each with the neighbour that is joined with
 * a member and has most bandwidth in common with it, the first among equals. What leads to no member is joined with the first.
 */
function withTheirNeighbours(network: Topology, members: Int32Array) {
  const { npuCount, nodeTraits, linkSource, linkTarget, linkBytesPerSecond } = network;
  const nodes = nodeCount(network);
  const joined = disjointSets(nodes);
  const settled = new Uint8Array(nodes);
  for (const npu of members) settled[npu] = 1;
  const isOpen = (node: number): boolean =>
    settled[node] === 0 && (node < npuCount || nodeTraits[node].multicast === true);
  for (let open = indicesOf(nodes, isOpen); open.length > 0; open = open.filter(isOpen)) {
    const most = new Float64Array(nodes);
    const beside = new Int32Array(nodes).fill(-1);
    const see = (node: number, other: number, bandwidth: number): void => {
      if (!isOpen(node) || settled[other] === 0) return;
      if (bandwidth < most[node] || (bandwidth === most[node] && beside[node] >= 0 && beside[node] <= other)) return;
      most[node] = bandwidth;
      beside[node] = other;
    };
    for (let link = 0; link < linkSource.length; link++) {
      see(linkSource[link], linkTarget[link], linkBytesPerSecond[link]);
      see(linkTarget[link], linkSource[link], linkBytesPerSecond[link]);
    }
    const reached = open.filter((node) => beside[node] >= 0);
    for (const node of reached.length > 0 ? reached : open) {
      joined.join(node, reached.length > 0 ? beside[node] : members[0]);
      settled[node] = 1;
    }
  }
  return joined;
}

const indicesOf = (count: number, holds: (index: number) => boolean): number[] =>
  Array.from({ length: count }, (_, index) => index).filter(holds);
