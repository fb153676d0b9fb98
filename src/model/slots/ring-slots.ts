import { InputError } from "../../base/errors.ts";
import { commonDivisor } from "../numbers/integers.ts";
import type { Topology } from "../topology/topology.ts";

/** Most NPUs of a box whose rings are searched for: all cuts of it are looked at. */
const MOST_IN_BOX = 16;
/** Most rings that a runtime makes use of. */
const MOST_RINGS = 32;
/** What a ring over a switch gets, about; the rate of one NVLink. */
const SWITCHED_RING = 25e9;

/** A box whose NPUs are all linked to the same switches: rings in any order. */
export interface SwitchedBox {
  readonly npus: number;
  readonly rings: number;
  readonly bytesPerSecond: number;
}

/** How often rings of a certain bandwidth may go from an NPU to another. */
export interface RingSlots {
  readonly npus: number;
  /** [npus * npus] from row to column. */
  readonly slots: Int32Array;
  readonly bytesPerSecond: number;
}

const hasDirectLinks = ({ npuCount, linkSource, linkTarget }: Topology): boolean =>
  linkSource.some((from, link) => from < npuCount && linkTarget[link] < npuCount);

/** Returns [npus * npus] bytes per second of direct links. */
function directBandwidth({ npuCount, linkSource, linkTarget, linkBytesPerSecond }: Topology): Float64Array {
  const bandwidth = new Float64Array(npuCount * npuCount);
  linkSource.forEach((from, link) => {
    const to = linkTarget[link];
    if (from < npuCount && to < npuCount) bandwidth[from * npuCount + to] += linkBytesPerSecond[link];
  });
  return bandwidth;
}

/** Returns what every NPU can send and receive through switches that all are linked to; null where there are others. */
function switchedBandwidth({
  npuCount,
  nodeNames,
  linkSource,
  linkTarget,
  linkBytesPerSecond,
}: Topology): number | null {
  const switches = nodeNames.length - npuCount;
  const sent = new Float64Array(npuCount * switches);
  const received = new Float64Array(npuCount * switches);
  linkSource.forEach((from, link) => {
    const to = linkTarget[link];
    if (from < npuCount && to >= npuCount) sent[from * switches + to - npuCount] += linkBytesPerSecond[link];
    if (from >= npuCount && to < npuCount) received[to * switches + from - npuCount] += linkBytesPerSecond[link];
  });
  let total = 0;
  for (let s = 0; s < switches; s++) {
    let least = Number.POSITIVE_INFINITY;
    for (let npu = 0; npu < npuCount; npu++) {
      least = Math.min(least, sent[npu * switches + s], received[npu * switches + s]);
    }
    if (least === 0) return null;
    total += least;
  }
  return total;
}

/**
 * Returns the slots of direct links, each of the greatest bandwidth that divides all of them, larger where NPUs would have more than
 * 32 slots; through switches that all NPUs are linked to, where there are no direct links, as many rings as have 25 GB/s each.
 * Throws InputError for less than 2 NPUs, more than 16 with
 * direct links, and NPUs that are not so linked.
 */
export function ringSlots(topology: Topology): RingSlots | SwitchedBox {
  const { npuCount: npus } = topology;
  if (npus < 2) throw new InputError("the NPUs of a box with rings", "2 or more", npus);
  if (!hasDirectLinks(topology)) {
    const through = switchedBandwidth(topology);
    if (through === null || through === 0)
      throw new InputError("the links of a box with rings", "direct links, or switches that all NPUs are linked to");
    const rings = Math.max(1, Math.min(MOST_RINGS, Math.round(through / SWITCHED_RING)));
    return { npus, rings, bytesPerSecond: Math.floor(through / rings) };
  }
  if (npus > MOST_IN_BOX)
    throw new InputError("the NPUs of a box with rings over direct links", `2 to ${MOST_IN_BOX}`, npus);
  const bandwidth = directBandwidth(topology);
  const different = [...new Set(bandwidth)].filter((value) => value > 0);
  const out = Array.from({ length: npus }, (_, npu) =>
    bandwidth.subarray(npu * npus, (npu + 1) * npus).reduce((sum, value) => sum + value, 0),
  );
  const least = out.reduce((a, b) => Math.min(a, b));
  const unit = Math.max(commonDivisor(different), Math.ceil(least / MOST_RINGS));
  return { npus, slots: Int32Array.from(bandwidth, (value) => Math.floor(value / unit)), bytesPerSecond: unit };
}
