import type { Kernels } from "../engine/contract/kernels.ts";
import { limitOf } from "../model/bounds/bounds.ts";
import type { Bound } from "../model/bounds/witness.ts";
import type { Collective } from "../model/collective/collective.ts";
import { nodeCount, reversed, type Topology } from "../model/topology/topology.ts";

/**
 * Returns the limit of a collective (limitOf), where the narrowest cut of all is among the sets that are tried: for an
 * all-gather or a reduce-scatter of one group over links without latency it is then what ForestColl's trees reach
 * (dissertation of Zhao, 2026, chapter 4). The cut is found by a kernel and judged by the model. Throws as limitOf does.
 */
export function limitWithBottleneck(kernels: Kernels, topology: Topology, collective: Collective): Bound {
  return limitOf(topology, collective, bottlenecksOf(kernels, topology, collective));
}

/** The cuts that were found, by members and ways: many limits are asked of one network. */
const FOUND = new WeakMap<Topology, Map<string, Int32Array[]>>();

/** Returns the narrowest cuts of the network for the collective's all-gather and reduce-scatter. */
function bottlenecksOf(
  kernels: Kernels,
  topology: Topology,
  { kind, groupCount, groupSize, groupMembers }: Collective,
): readonly Int32Array[] {
  const gathers = kind === "allgather" || kind === "allreduce";
  const scatters = kind === "reducescatter" || kind === "allreduce";
  if (groupCount !== 1 || groupSize < 2) return [];
  const found = FOUND.get(topology) ?? new Map<string, Int32Array[]>();
  FOUND.set(topology, found);
  const key = `${gathers} ${scatters} ${groupMembers.join()}`;
  let cuts = found.get(key);
  if (cuts === undefined) {
    const ways = [...(gathers ? [topology] : []), ...(scatters ? [reversed(topology)] : [])];
    cuts = ways.flatMap((network) => bottleneck(kernels, network, groupMembers));
    found.set(key, cuts);
  }
  return cuts;
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
