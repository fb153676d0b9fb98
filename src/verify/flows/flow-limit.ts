import { InputError } from "../../base/errors.ts";
import { type Collective, membersOf } from "../../model/collective/collective.ts";
import { divide, multiply, type Rational, rational } from "../../model/numbers/rational.ts";
import { PS_PER_SECOND } from "../../model/numbers/units.ts";
import { generatorMaps } from "../../model/symmetry/network-maps.ts";
import { linkCount, nodeCount, outLinks, type Topology } from "../../model/topology/topology.ts";
import type { NetworkSymmetry } from "../../model/trees/tree-flow.ts";

/**
 * Returns the least time, in picoseconds, that lengths of links [links] prove of a collective whose chunks each go from one NPU
 * to one: provenRate with the demand counted chunk by chunk. Null where they prove nothing. O(chunks), NPUs squared, and a search
 * for each NPU.
 */
export function provenLimitPs(topology: Topology, collective: Collective, lengths: Int32Array): Rational | null {
  const { npuCount } = topology;
  const { chunkCount, chunkBytes, pre, post } = collective;
  const demand = new Float64Array(npuCount * npuCount);
  for (let chunk = 0; chunk < chunkCount; chunk++) {
    demand[membersOf(collective, pre, chunk)[0] * npuCount + membersOf(collective, post, chunk)[0]]++;
  }
  for (let npu = 0; npu < npuCount; npu++) demand[npu * npuCount + npu] = 0;
  const perSecond = provenRate(topology, demand, lengths);
  return perSecond === null ? null : divide(multiply(chunkBytes, rational(PS_PER_SECOND)), perSecond);
}

const LONGEST = 2 ** 30;
/** Distances beyond are rounded, so none is taken to be longer: that proves less, but nothing wrong. */
const FARTHEST = 2 ** 53;

/**
 * Returns the rate that no flow of an all-to-all exceeds, in bytes per second for one unit of demand, as these lengths [links] prove
 * it: the sum of bandwidth * length over links by the sum of demand * distance over pairs (duality of LP A.1, Zhao 2026). Any
 * whole lengths prove something; null where all distances are 0, or Infinity, so that nothing is proved. `demand` [NPUs *
 * NPUs], row by source, whole numbers; null: one unit to every other NPU. With a symmetry, which is checked, lengths must be
 * the same on images, and one NPU is looked at for all; only without demands. Throws InputError for anything else. One search
 * for each NPU.
 */
export function provenRate(
  topology: Topology,
  demand: Float64Array | null,
  lengths: Int32Array,
  symmetry: NetworkSymmetry | null = null,
): Rational | null {
  checkLengths(topology, lengths);
  const { npuCount, linkBytesPerSecond } = topology;
  if (demand !== null && demand.length !== npuCount * npuCount)
    throw new InputError("the demand", `${npuCount * npuCount} numbers`, demand.length);
  const alike = symmetry !== null && demand === null;
  if (alike) checkSymmetry(topology, lengths, symmetry);
  let spent = 0n;
  for (let npu = 0; npu < (alike ? 1 : npuCount); npu++) {
    const far = distances(topology, lengths, npu);
    for (let to = 0; to < npuCount; to++) {
      const units = demand === null ? 1 : demand[npu * npuCount + to];
      if (to === npu || units === 0) continue;
      if (!Number.isSafeInteger(units) || units < 0)
        throw new InputError(`the demand of NPU ${npu}`, "whole numbers of 0 or more", units);
      if (far[to] === Number.POSITIVE_INFINITY) return null;
      spent += BigInt(units) * BigInt(Math.min(far[to], FARTHEST));
    }
  }
  if (alike) spent *= BigInt(npuCount);
  let offered = 0n;
  for (let link = 0; link < lengths.length; link++) {
    offered += BigInt(linkBytesPerSecond[link]) * BigInt(lengths[link]);
  }
  return spent === 0n ? null : rational(offered, spent);
}

function checkLengths(topology: Topology, lengths: Int32Array): void {
  const links = linkCount(topology);
  if (lengths.length !== links) throw new InputError("the lengths of links", `${links} numbers`, lengths.length);
  const wrong = lengths.find((length) => length < 0 || length > LONGEST);
  if (wrong !== undefined) throw new InputError("the lengths of links", "whole numbers of 0 to 2^30", wrong);
}

/** Throws where maps are no maps of the network, do not take NPU 0 to every NPU, or take a link to one of another length. */
function checkSymmetry(topology: Topology, lengths: Int32Array, symmetry: NetworkSymmetry): void {
  const maps = generatorMaps(topology, symmetry);
  const reached = new Set([0]);
  for (const npu of reached) for (const { node } of maps) reached.add(node[npu]);
  const stays = [...reached].every((npu) => npu < topology.npuCount);
  if (!stays || reached.size !== topology.npuCount)
    throw new InputError("the symmetry of lengths", "maps that take NPU 0 to every NPU", `${reached.size} reached`);
  for (const { link } of maps) {
    const wrong = lengths.findIndex((length, i) => length !== lengths[link[i]]);
    if (wrong >= 0) throw new InputError("the symmetry of lengths", "the same length on every image", `link ${wrong}`);
  }
}

/** Returns [nodes] the length of the shortest paths from an NPU; labels are corrected until none changes (Bellman, Ford, Moore). */
function distances(topology: Topology, lengths: Int32Array, from: number): Float64Array {
  const nodes = nodeCount(topology);
  const { offset, links } = outLinks(topology);
  const far = new Float64Array(nodes).fill(Number.POSITIVE_INFINITY);
  const waits = new Uint8Array(nodes);
  let front = [from];
  far[from] = 0;
  while (front.length > 0) {
    const next: number[] = [];
    for (const v of front) {
      waits[v] = 0;
      for (let i = offset[v]; i < offset[v + 1]; i++) {
        const to = topology.linkTarget[links[i]];
        const through = far[v] + lengths[links[i]];
        if (through >= far[to]) continue;
        far[to] = through;
        if (waits[to] === 0) next.push(to);
        waits[to] = 1;
      }
    }
    front = next;
  }
  return far;
}
