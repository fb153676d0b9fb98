import type { Collective } from "../collective/collective.ts";
import type { DimensionWiring, NetworkDimension } from "./dimensions.ts";
import { linkBytesPerSecond } from "./dimensions.ts";

/** A dimension of process groups: lines of their NPUs, which are whole lines of a dimension of the network, or parts of them. */
export interface GroupDimension extends NetworkDimension {
  /** The dimension of the network in which the NPUs of a line differ. */
  readonly of: DimensionWiring;
}

/** What groups need that are products of dimensions, where they are not. */
const NEEDED =
  "groups that are products of lines of its dimensions, or of parts of these, all alike: each dimension in turn, the first one fastest";

const coordinate = (npu: number, { stride, size }: DimensionWiring): number => Math.floor(npu / stride) % size;

/** Returns the only dimension in which two NPUs differ; -1 where there are more, or none. */
function onlyDifference(wiring: readonly DimensionWiring[], a: number, b: number): number {
  let at = -1;
  for (let d = 0; d < wiring.length; d++) {
    if (coordinate(a, wiring[d]) === coordinate(b, wiring[d])) continue;
    if (at >= 0) return -1;
    at = d;
  }
  return at;
}

/** A dimension of one group: which of the network's it is, and the coordinates that its lines have there, in rank order. */
interface Line {
  readonly of: DimensionWiring;
  readonly coordinates: readonly number[];
}

/**
 * Returns the lines that a group is the product of, the first the fastest of its ranks; null where it is no product of different
 * dimensions. O(members x dimensions).
 */
function linesOf(wiring: readonly DimensionWiring[], members: Int32Array): readonly Line[] | null {
  const lines: Line[] = [];
  for (let block = 1; block < members.length; ) {
    const d = onlyDifference(wiring, members[0], members[block]);
    if (d < 0 || lines.some(({ of }) => of === wiring[d])) return null;
    let size = 2;
    while (size * block < members.length && onlyDifference(wiring, members[0], members[size * block]) === d) size++;
    if (members.length % (size * block) !== 0) return null;
    const coordinates = Array.from({ length: size }, (_, x) => coordinate(members[x * block], wiring[d]));
    lines.push({ of: wiring[d], coordinates });
    block *= size;
  }
  for (let rank = 0; rank < members.length; rank++) {
    let expected = members[0];
    let rest = rank;
    for (const { of, coordinates } of lines) {
      expected += (coordinates[rest % coordinates.length] - coordinates[0]) * of.stride;
      rest = Math.floor(rest / coordinates.length);
    }
    if (members[rank] !== expected) return null;
  }
  return lines;
}

/** Returns whether each coordinate is one step from the one before, all the same way; around the ends of a ring as well. */
function isConsecutive({ of: { kind, size }, coordinates }: Line): boolean {
  const step = coordinates[1] - coordinates[0];
  const around = (a: number): number => (kind === "ring" ? (a + size) % size : a);
  const one = around(step) === 1 ? 1 : around(-step) === 1 ? -1 : 0;
  return one !== 0 && coordinates.every((x, i) => i === 0 || around(x - coordinates[i - 1]) === around(one));
}

/** Returns how the NPUs of a line are joined; null where they are in no way that a dimension can be. */
function dimensionOf(line: Line): GroupDimension | null {
  const { of, coordinates } = line;
  const { kind, stepPs, inNetwork } = of;
  const size = coordinates.length;
  const alike = { size, stepPs, inNetwork, of };
  if (kind === "switch") return { ...alike, kind, bytesPerSecond: of.bytesPerSecond };
  const linkRate = linkBytesPerSecond(of);
  if (kind === "fc") return { ...alike, kind, bytesPerSecond: (size - 1) * linkRate };
  if (!isConsecutive(line)) return null;
  if (size === of.size) return { ...alike, kind, bytesPerSecond: of.bytesPerSecond };
  return { ...alike, kind: size === 2 ? "fc" : "line", bytesPerSecond: linkRate };
}

const isSame = (a: GroupDimension, b: GroupDimension): boolean =>
  a.of === b.of && a.kind === b.kind && a.size === b.size && a.bytesPerSecond === b.bytesPerSecond;

/**
 * Returns the dimensions of the groups of a collective on a network of these dimensions: rank x0 + d0*(x1 + d1*(x2 ...)) of every
 * group has coordinate xi in dimension i, whose lines are whole lines of a dimension of the network, or parts of them: any of a
 * fully connected line or of a switch's NPUs, neighbours of a ring or line. What is needed instead, a noun phrase, where groups
 * are no such products, or products of different ones. All NPUs in their order have the network's own. O(members x dimensions).
 */
export function groupDimensions(
  wiring: readonly DimensionWiring[],
  { groupCount, groupSize, groupMembers }: Pick<Collective, "groupCount" | "groupSize" | "groupMembers">,
): readonly GroupDimension[] | string {
  if (groupSize < 2) return "groups of two NPUs or more";
  let first: readonly GroupDimension[] | null = null;
  const taken = new Set<number>(groupMembers);
  if (taken.size !== groupMembers.length) return "groups that share no NPU";
  for (let group = 0; group < groupCount; group++) {
    const lines = linesOf(wiring, groupMembers.subarray(group * groupSize, (group + 1) * groupSize));
    const dimensions: GroupDimension[] = [];
    for (const line of lines ?? []) {
      const one = dimensionOf(line);
      if (one !== null) dimensions.push(one);
    }
    if (lines === null || dimensions.length !== lines.length) return NEEDED;
    if (first === null) first = dimensions;
    else if (first.length !== dimensions.length || !first.every((one, d) => isSame(one, dimensions[d]))) return NEEDED;
  }
  return first ?? NEEDED;
}
