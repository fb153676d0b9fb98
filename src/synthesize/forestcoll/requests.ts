import { InputError } from "../../base/errors.ts";
import { optionName } from "../../base/option-names.ts";
import type { Collective } from "../../model/collective/collective.ts";
import { add, compare, divide, type Rational, rational } from "../../model/numbers/rational.ts";
import { oppositeLinks } from "../../model/topology/link-classes.ts";
import type { Topology } from "../../model/topology/topology.ts";
import { copiesOf, type Forest } from "../../model/trees/tree-flow.ts";
import { copiesOnLinks, fittingBandwidth, rateOfForest } from "../../model/trees/tree-multicast.ts";

/** Throws InputError unless the collective has one group, and at least two NPUs in it. `why` says what the algorithm does to one. */
export function refuseSeveralGroups({ groupCount, groupSize, kind }: Collective, why: string): void {
  if (groupCount > 1)
    throw new InputError(optionName("group"), `one group (${why})`, groupCount).saying(
      `${optionName("group")} names ${groupCount} groups; it must be one (${why})`,
    );
  if (kind !== "custom" && groupSize < 2) {
    throw new InputError(optionName("group"), "at least two NPUs (one alone has nothing to send)", groupSize)
      .as("out-of-range")
      .saying(`${optionName("group")} names one NPU, which alone has nothing to send; name its members: 0,1,2,3`);
  }
}

/**
 * Returns what each member contributes, [members] in rank order, as exact integers: 1 each, 1 at the root of a broadcast or a
 * reduction alone. A custom collective is an all-gather of unequal shards: each chunk has one holder, and all members want it;
 * then it is the number of chunks. Throws InputError for other custom collectives.
 */
export function contributions(collective: Collective): Float64Array {
  const { kind, groupSize, rootRank } = collective;
  const weight = new Float64Array(groupSize);
  if (kind === "broadcast" || kind === "reduce") weight[rootRank] = 1;
  else if (kind !== "custom") weight.fill(1);
  else countChunks(collective, weight);
  return weight;
}

function countChunks(
  { pre, post, reduces, chunkCount, groupMembers, groupSize }: Collective,
  weight: Float64Array,
): void {
  const refuse = (received: string): InputError =>
    new InputError(
      optionName("collective"),
      "an all-gather of unequal shards (each chunk with one holder, wanted by all members) for forestcoll",
      received,
    );
  if (reduces) throw refuse("a reduction");
  const rankOf = new Map([...groupMembers].map((npu, rank) => [npu, rank]));
  for (let chunk = 0; chunk < chunkCount; chunk++) {
    const holders =
      pre.kind === "one" ? 1 : pre.kind === "sets" ? pre.offset[chunk + 1] - pre.offset[chunk] : groupSize;
    if (holders !== 1) throw refuse(`chunk ${chunk} with ${holders} holders`);
    const wanted =
      post.kind === "sets" ? post.offset[chunk + 1] - post.offset[chunk] : post.kind === "one" ? 1 : groupSize;
    if (wanted < groupSize - 1) throw refuse(`chunk ${chunk} wanted by ${wanted} of ${groupSize}`);
    const holder = pre.kind === "one" ? pre.npu[chunk] : pre.kind === "sets" ? pre.members[pre.offset[chunk]] : -1;
    const rank = rankOf.get(holder);
    if (rank === undefined) throw refuse(`chunk ${chunk} held by an NPU outside the group`);
    weight[rank]++;
  }
}

/**
 * Returns the trees of the reversed network that a forest gives when all its links are turned around; null where some usable
 * link has no opposite one, or has other `room` for the turned edges than the forest's own link has for it. `usable` and both
 * rooms [links]. O(links log links + links of all edges).
 */
export function mirroredForest(
  topology: Topology,
  usable: Float64Array,
  forest: Forest,
  room?: { readonly own: Float64Array; readonly turned: Float64Array },
): Forest | null {
  const opposite = oppositeLinks(topology.linkSource, topology.linkTarget, [usable, topology.linkLatencyPs]);
  if (opposite === null) return null;
  if (room !== undefined && opposite.some((other, link) => room.turned[other] !== room.own[link])) return null;
  return {
    ...forest,
    direction: forest.direction === "out" ? "in" : "out",
    links: forest.links.map((link) => opposite[link]),
  };
}

/** The two forests of an all-reduce: first "in", then "out". */
export interface InAndOut {
  readonly forests: readonly [Forest, Forest];
  /** They run side by side. */
  readonly concurrent: boolean;
}

/**
 * Returns a reduction and a broadcast as one all-reduce, the faster way of two, exactly: one after the other, each at its full
 * rate, or side by side, sharing links. The latter is never slower in the limit, for half of each fits beside half of the other,
 * and faster where they load different links; of equal rates the phases are taken, whose pieces pass links sooner. Forests
 * without symmetry that span `members` NPUs, the copies at each root in the same proportion. O(links of all edges).
 */
export function reduceAndBroadcast(into: Forest, out: Forest, members: number, usable: Float64Array): InAndOut {
  const forests = withEqualCopies(into, out);
  const inPhases = inSequence(rateOfForest(forests[0]), rateOfForest(forests[1]));
  const together = sideBySide(forests, members, usable);
  if (together === null || compare(rateOfForest(together[0]), inPhases) <= 0) return { forests, concurrent: false };
  return { forests: together, concurrent: true };
}

/** Returns two forests of as many copies, each as wide as links have room for beside the others; null where no link carries any. */
export function sideBySide(
  forests: readonly [Forest, Forest],
  members: number,
  usable: Float64Array,
): readonly [Forest, Forest] | null {
  const [a, b] = forests.map((forest) => copiesOnLinks(forest, members - 1, usable.length));
  const both = a.map((load, link) => load + b[link]);
  const copyBytesPerSecond = fittingBandwidth(both, usable);
  if (copyBytesPerSecond === null) return null;
  return [
    { ...forests[0], copyBytesPerSecond },
    { ...forests[1], copyBytesPerSecond },
  ];
}

/** Returns the rate of two phases, one after the other. */
export const inSequence = (a: Rational, b: Rational): Rational =>
  divide(rational(1), add(divide(rational(1), a), divide(rational(1), b)));

/** Returns the forests with copies cut up until both have as many: c copies of bandwidth y are c f of bandwidth y / f. */
export function withEqualCopies(into: Forest, out: Forest): [Forest, Forest] {
  const { num, den } = rational(copiesOf(into, null), copiesOf(out, null));
  return [cutUp(into, den), cutUp(out, num)];
}

function cutUp(forest: Forest, factor: bigint): Forest {
  if (factor === 1n) return forest;
  const copies = forest.copies.map((count) => count * Number(factor));
  if (!copies.every((count) => count <= Number.MAX_SAFE_INTEGER)) {
    throw new InputError(optionName("k"), "a number of copies that both forests can have below 2^53", copies[0]);
  }
  return { ...forest, copies, copyBytesPerSecond: divide(forest.copyBytesPerSecond, rational(factor)) };
}
