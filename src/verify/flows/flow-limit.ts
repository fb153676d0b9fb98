import { InputError, inWords } from "../../base/errors.ts";
import type { Collective } from "../../model/collective/collective.ts";
import { trafficOf } from "../../model/collective/traffic.ts";
import { divide, multiply, type Rational, rational } from "../../model/numbers/rational.ts";
import { PS_PER_SECOND } from "../../model/numbers/units.ts";
import { generatorMaps } from "../../model/symmetry/network-maps.ts";
import { linkCount, nodeCount, outLinks, type Topology } from "../../model/topology/topology.ts";
import type { NetworkSymmetry } from "../../model/trees/tree-flow.ts";

/**
 * Returns the least time, in picoseconds, that lengths of links [links] prove of a collective whose chunks each go from one NPU
 * to one: provenRate of what they send, of one NPU for all with a symmetry where everyone sends as much to everyone. Null
 * where they prove nothing. O(chunks) of a table, NPUs squared, and a search for each NPU.
 */
export function provenLimitPs(
  topology: Topology,
  collective: Collective,
  lengths: Int32Array,
  symmetry: NetworkSymmetry | null = null,
): Rational | null {
  const traffic = trafficOf(collective, topology.npuCount);
  if (traffic === null) return null;
  const { each, fill } = traffic;
  const perSecond = each === null ? provenRate(topology, fill, lengths) : provenRate(topology, null, lengths, symmetry);
  if (perSecond === null) return null;
  return divide(multiply(collective.chunkBytes, rational(BigInt(each ?? 1) * BigInt(PS_PER_SECOND))), perSecond);
}

const LONGEST = 2 ** 30;
/** Distances beyond are rounded, so none is taken to be longer: that proves less, but nothing wrong. */
const FARTHEST = 2 ** 53;

/** Demands of NPUs: [NPUs * NPUs], row by source, or what makes a row [NPUs] those of an NPU; null: one unit for every other. */
type Demands = Float64Array | ((npu: number, row: Float64Array) => void) | null;

/**
 * Returns the rate that no flow of an all-to-all exceeds, in bytes per second for one unit of demand, as these lengths [links] prove
 * it: the sum of bandwidth * length over links by the sum of demand * distance over pairs (duality of LP A.1, Zhao 2026). Any
 * whole lengths prove something; null where all distances are 0, or Infinity, so that nothing is proved. Demands are whole
 * numbers. With a symmetry, which is checked, lengths must be the same on images, and one NPU is looked at for all; only
 * without demands. Throws InputError for anything else. One search for each NPU.
 */
export function provenRate(
  topology: Topology,
  demands: Demands,
  lengths: Int32Array,
  symmetry: NetworkSymmetry | null = null,
): Rational | null {
  checkLengths(topology, lengths);
  const { npuCount, linkBytesPerSecond } = topology;
  if (demands instanceof Float64Array && demands.length !== npuCount * npuCount)
    throw new InputError("the demand", `${npuCount * npuCount} numbers`, demands.length);
  const alike = symmetry !== null && demands === null;
  if (alike) checkSymmetry(topology, lengths, symmetry);
  const search = searchFor(topology, lengths);
  const row = new Float64Array(npuCount);
  let spent = 0n;
  for (let npu = 0; npu < (alike ? 1 : npuCount); npu++) {
    fillRow(demands, npu, row);
    const own = spentBy(npu, row, search);
    if (own === null) return null;
    spent += own;
  }
  if (alike) spent *= BigInt(npuCount);
  let offered = 0n;
  for (let link = 0; link < lengths.length; link++) {
    offered += BigInt(linkBytesPerSecond[link]) * BigInt(lengths[link]);
  }
  return spent === 0n ? null : rational(offered, spent);
}

/** Makes `row` the demands of an NPU, 0 for itself. Throws where one is no whole number. */
function fillRow(demands: Demands, npu: number, row: Float64Array): void {
  if (demands === null) row.fill(1);
  else if (typeof demands === "function") demands(npu, row);
  else row.set(demands.subarray(npu * row.length, (npu + 1) * row.length));
  row[npu] = 0;
  if (demands === null) return;
  const wrong = row.find((units) => !Number.isSafeInteger(units) || units < 0);
  if (wrong !== undefined) throw new InputError(`the demand of NPU ${npu}`, "whole numbers of 0 or more", wrong);
}

const HALF = 2 ** 26;

/** Returns the sum of demand * distance over what an NPU sends, exactly; null where something has no way. */
function spentBy(npu: number, row: Float64Array, search: (from: number) => Float64Array): bigint | null {
  if (row.every((units) => units === 0)) return 0n;
  const far = search(npu);
  // halves of products below 2^53 add up in doubles
  let low = 0;
  let high = 0;
  let rest = 0n;
  for (let to = 0; to < row.length; to++) {
    if (row[to] === 0) continue;
    if (far[to] === Number.POSITIVE_INFINITY) return null;
    const distance = Math.min(far[to], FARTHEST);
    const product = row[to] * distance;
    if (product <= Number.MAX_SAFE_INTEGER) {
      const top = Math.floor(product / HALF);
      high += top;
      low += product - top * HALF;
    } else rest += BigInt(row[to]) * BigInt(distance);
  }
  return BigInt(high) * BigInt(HALF) + BigInt(low) + rest;
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
    throw new InputError(
      "the symmetry of lengths",
      "maps that take NPU 0 to every NPU",
      inWords(`${reached.size} reached`),
    );
  for (const { link } of maps) {
    const wrong = lengths.findIndex((length, i) => length !== lengths[link[i]]);
    if (wrong >= 0)
      throw new InputError("the symmetry of lengths", "the same length on every image", inWords(`link ${wrong}`));
  }
}

/**
 * Returns a search for the lengths [nodes] of the shortest paths from an NPU, valid until the next: labels are corrected, first
 * come first served, until none changes (Bellman, Ford, Moore).
 */
function searchFor(topology: Topology, lengths: Int32Array): (from: number) => Float64Array {
  const nodes = nodeCount(topology);
  const { offset, links } = outLinks(topology);
  const target = links.map((link) => topology.linkTarget[link]);
  const length = Float64Array.from(links, (link) => lengths[link]);
  const far = new Float64Array(nodes);
  const waits = new Uint8Array(nodes);
  const queue = new Int32Array(nodes);
  return (from) => {
    far.fill(Number.POSITIVE_INFINITY);
    far[from] = 0;
    queue[0] = from;
    let first = 0;
    let next = 1 % nodes;
    for (let waiting = 1; waiting > 0; waiting--) {
      const v = queue[first];
      if (++first === nodes) first = 0;
      waits[v] = 0;
      for (let i = offset[v]; i < offset[v + 1]; i++) {
        const to = target[i];
        const through = far[v] + length[i];
        if (through >= far[to]) continue;
        far[to] = through;
        if (waits[to] !== 0) continue;
        waits[to] = 1;
        queue[next] = to;
        if (++next === nodes) next = 0;
        waiting++;
      }
    }
    return far;
  };
}
