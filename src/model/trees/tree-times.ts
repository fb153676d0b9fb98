import { InputError, inWords } from "../../base/errors.ts";
import { divide, multiply, type Rational, rational } from "../numbers/rational.ts";
import { PS_PER_SECOND } from "../numbers/units.ts";
import type { Topology } from "../topology/topology.ts";
import { copiesOf, type Forest, type TreeFlow, treeCount } from "./tree-flow.ts";
import { multicastSkips, outwards } from "./tree-multicast.ts";

/**
 * Trees in time. A forest of K copies cuts the data into K equal parts, one a copy, and each part into C pieces, the chunks
 * of the schedule. A tree of c copies moves c chunks a round, one after the other, over routes with c times the share of a
 * copy: so a chunk takes the same time on every edge of a tree, its bytes over c y (y: bandwidth of a copy).
 */

const LARGEST = BigInt(Number.MAX_SAFE_INTEGER);

/** What one copy of a forest holds of each link, and the bandwidth that this is. */
export interface Pace {
  readonly bytesPerSecond: Rational;
  /** [links] c copies hold c * shareNum / shareDen of a link: exact integers, also c * shareNum, where that is a share. */
  readonly shareNum: Float64Array;
  readonly shareDen: Float64Array;
}

/**
 * Returns the pace of a forest: its own rate y, where y / bandwidth is a fraction of integers below 2^53 for every link.
 * Elsewhere y is rounded down to a multiple of 1 / floor((2^53 - 1) / greatest bandwidth) bytes per second, for which it is:
 * shares still fit, at a loss of that much. Throws InputError where nothing is left. O(links).
 */
export function paceOf({ linkBytesPerSecond }: Topology, forest: Forest): Pace {
  const exact = sharesOf(linkBytesPerSecond, forest.copyBytesPerSecond);
  if (exact !== null) return exact;
  const greatest = linkBytesPerSecond.reduce((most, bandwidth) => Math.max(most, bandwidth), 1);
  const { num, den } = forest.copyBytesPerSecond;
  const unit = LARGEST / BigInt(greatest);
  const rounded = rational((num * unit) / den, unit);
  const pace = rounded.num > 0n ? sharesOf(linkBytesPerSecond, rounded) : null;
  if (pace === null)
    throw new InputError("a forest's bandwidth of a copy", `at least 1/${unit} bytes/s`, inWords(`${num}/${den}`)).as(
      "out-of-range",
    );
  return pace;
}

/** Returns the shares of a copy of this bandwidth; null where one leaves 2^53 - 1. One division a class of equal links. */
function sharesOf(linkBytesPerSecond: Float64Array, bytesPerSecond: Rational): Pace | null {
  const shareNum = new Float64Array(linkBytesPerSecond.length);
  const shareDen = new Float64Array(linkBytesPerSecond.length);
  const classes = new Map<number, Rational>();
  for (let link = 0; link < linkBytesPerSecond.length; link++) {
    const bandwidth = linkBytesPerSecond[link];
    let share = classes.get(bandwidth);
    if (share === undefined) {
      share = rational(bytesPerSecond.num, bytesPerSecond.den * BigInt(bandwidth));
      if (share.num > LARGEST || share.den > LARGEST) return null;
      classes.set(bandwidth, share);
    }
    shareNum[link] = Number(share.num);
    shareDen[link] = Number(share.den);
  }
  return { bytesPerSecond, shareNum, shareDen };
}

/** Returns the bytes of a tree flow's data: what its collective's chunks have together. */
export const dataBytesOf = ({ collective }: TreeFlow): Rational =>
  multiply(collective.chunkBytes, rational(collective.chunkCount));

/**
 * Returns how long one chunk occupies an edge of a tree of this many copies, when each copy's part of `bytes` is cut into so
 * many pieces: picoseconds, rounded up.
 */
export function chunkSerial(
  flow: TreeFlow,
  forest: Forest,
  { bytesPerSecond }: Pace,
  bytes: Rational,
): (copies: number, pieces: number) => number {
  const num = bytes.num * BigInt(PS_PER_SECOND) * bytesPerSecond.den;
  const den = bytes.den * copiesOf(forest, flow.symmetry) * bytesPerSecond.num;
  return (copies, pieces) => {
    const parts = den * BigInt(copies) * BigInt(pieces);
    return Number((num + parts - 1n) / parts);
  };
}

/**
 * How far the trees of a forest reach. Point i of tree t, i in offset[t] .. offset[t + 1], stands for a member that many
 * edges from the root, whose routes have that much latency together. Points descend in hops and ascend in latency: all that
 * can decide which member is reached last. The first has the height of the tree; a tree of one member has none.
 */
export interface Reach {
  /** [trees + 1] */
  readonly offset: Int32Array;
  /** [points] */
  readonly hops: Float64Array;
  readonly latencyPs: Float64Array;
  /** The greatest latency of one edge. */
  readonly edgePs: number;
}

/** The reach of each forest that was looked at, on the network and with the switches that it then had. */
const reaches = new WeakMap<
  Forest,
  { readonly topology: Topology; readonly inNetwork: boolean; readonly reach: Reach }
>();

/** Returns the reach of a forest, worked out once. O(links of all edges). */
export function reachOf(flow: TreeFlow, forest: Forest): Reach {
  const { topology, inNetwork = false } = flow;
  const known = reaches.get(forest);
  if (known?.topology === topology && known.inNetwork === inNetwork) return known.reach;
  const reach = reachFrom(flow, forest);
  reaches.set(forest, { topology, inNetwork, reach });
  return reach;
}

/**
 * Returns the reach of a forest. Where switches duplicate, an edge begins at the last one on its path that has the data from
 * another edge, which passes it on as it comes: a chunk is serialised once on the way from one member to the next. Sums are the
 * mirror image in time: what a switch adds up leaves it as it comes in from the last contributor.
 */
function reachFrom(flow: TreeFlow, forest: Forest): Reach {
  const { topology, collective } = flow;
  const { linkSource, linkTarget, linkLatencyPs, nodeNames } = topology;
  const { linkOffset, links, root } = forest;
  const [near, far] = forest.direction === "out" ? [linkSource, linkTarget] : [linkTarget, linkSource];
  const edges = collective.groupSize - 1;
  const skips = flow.inNetwork === true ? multicastSkips(flow, forest) : null;
  const orderOf = skips === null ? null : outwards(topology, forest, edges);
  /** [nodes] how far the tree's data has come: members, and nodes between them. */
  const depth = new Int32Array(nodeNames.length);
  const latency = new Float64Array(nodeNames.length);
  /** [hops] greatest latency among the tree's members of this depth. */
  const greatest = new Float64Array(edges + 1);
  const offset = new Int32Array(treeCount(forest) + 1);
  const hops: number[] = [];
  const latencyPs: number[] = [];
  let edgePs = 0;
  for (let tree = 0; tree < treeCount(forest); tree++) {
    depth[root[tree]] = 0;
    latency[root[tree]] = 0;
    const order = orderOf === null ? null : orderOf(tree);
    let height = 0;
    for (let i = 0; i < edges; i++) {
      const edge = order === null ? tree * edges + i : order[i];
      const skip = skips === null ? 0 : skips[edge];
      const from = linkOffset[edge] + skip;
      const tail = near[links[from]];
      // what begins at a switch goes on with what another edge has under way
      const level = skip === 0 ? depth[tail] + 1 : depth[tail];
      let sum = latency[tail];
      for (let k = from; k < linkOffset[edge + 1]; k++) {
        sum += linkLatencyPs[links[k]];
        depth[far[links[k]]] = level;
        latency[far[links[k]]] = sum;
      }
      if (sum - latency[tail] > edgePs) edgePs = sum - latency[tail];
      if (level > height) {
        greatest[level] = sum;
        height = level;
      } else if (sum > greatest[level]) greatest[level] = sum;
    }
    let most = -1;
    for (let level = height; level > 0; level--) {
      if (greatest[level] <= most) continue;
      most = greatest[level];
      hops.push(level);
      latencyPs.push(most);
    }
    offset[tree + 1] = hops.length;
  }
  return { offset, hops: Float64Array.from(hops), latencyPs: Float64Array.from(latencyPs), edgePs };
}

/** Returns when the first chunk of a tree, sent at 0, has reached all members; 0 for one member alone. O(points). */
export function fillPs({ offset, hops, latencyPs }: Reach, tree: number, serialPs: number): number {
  let last = 0;
  for (let i = offset[tree]; i < offset[tree + 1]; i++) last = Math.max(last, hops[i] * serialPs + latencyPs[i]);
  return last;
}

/** Heights of trees in edges: the greatest, and the mean over copies. */
export interface Heights {
  readonly greatest: number;
  readonly mean: number;
}

/** Returns the heights of the trees of all forests of a flow. O(links of all edges). */
export function heightsOf(flow: TreeFlow): Heights {
  let greatest = 0;
  let sum = 0n;
  let copies = 0n;
  for (const forest of flow.forests) {
    const { offset, hops } = reachOf(flow, forest);
    for (let tree = 0; tree < treeCount(forest); tree++) {
      const height = offset[tree] < offset[tree + 1] ? hops[offset[tree]] : 0;
      greatest = Math.max(greatest, height);
      sum += BigInt(height) * BigInt(forest.copies[tree]);
      copies += BigInt(forest.copies[tree]);
    }
  }
  return { greatest, mean: copies === 0n ? 0 : Number((sum * 1_000_000n) / copies) / 1e6 };
}

/** Throws InputError for what is no number of pieces. */
export function checkPieces(pieces: number): void {
  if (!Number.isSafeInteger(pieces) || pieces < 1) {
    throw new InputError("the number of pieces", "a positive integer", pieces);
  }
}

const MOST_PIECES = 16_384;
/** Above so many pieces the time alone counts. */
const FEW_PIECES = 4096;
/** A piece is charged this part of the latency of the longest edge. */
const OVERHEAD_PARTS = 64;
/** More pieces must gain more than this part of the time. */
const WORTHWHILE_PARTS = 128;

/**
 * Returns into how many pieces each copy's part is best cut when the collective has `sizeBytes`, by a closed form of the
 * time (treeFlowClock in simulate/trees/tree-flow.ts): 1 .. 16,384, of at least one byte each.
 *
 * With n pieces a tree takes (height + n - 1) (bytes / n / rate) + latency. In the network model more pieces always gain, the
 * last of them almost nothing; on machines every message costs its ends some time. So each piece is charged 1/64 of
 * the longest edge's latency (the copies of a tree send a piece as one message), and the fewest pieces are taken that cost
 * at most 1/128 more than the least. Where these are more than 4,096, as on trees a hundred edges high, that part is as much as
 * all that pieces can still gain: then those are taken that cost the least.
 *
 * Tried are 1 .. 32 and from there on numbers a sixteenth apart, all of them: times are rounded up chunk by chunk, so they
 * are convex but for noise, in which a search that follows slopes could get stuck. At most 139 calls of the closed form.
 */
export function bestPieces(
  flow: TreeFlow,
  sizeBytes: number,
  closedForm: (pieces: number, sizeBytes: number) => number,
): number {
  const overheadPs = Math.floor(longestEdgePs(flow) / OVERHEAD_PARTS);
  const candidates = candidatesUpTo(mostPieces(flow, sizeBytes));
  const costs = candidates.map((pieces) => closedForm(pieces, sizeBytes) + pieces * overheadPs);
  const least = Math.min(...costs);
  const first = costs.findIndex((cost) => cost - least <= Math.floor(least / WORTHWHILE_PARTS));
  return candidates[candidates[first] > FEW_PIECES ? costs.indexOf(least) : first];
}

function longestEdgePs(flow: TreeFlow): number {
  return flow.forests.reduce((longest, forest) => Math.max(longest, reachOf(flow, forest).edgePs), 0);
}

/** Returns how many pieces of a byte or more a part has, within limits; 1 where a part is smaller. */
function mostPieces(flow: TreeFlow, sizeBytes: number): number {
  const bytes = multiply(dataBytesOf(flow), rational(sizeBytes, flow.collective.sizeBytes));
  const copies = flow.forests.reduce((most, forest) => {
    const here = copiesOf(forest, flow.symmetry);
    return here > most ? here : most;
  }, 1n);
  const { num, den } = divide(bytes, rational(copies));
  const whole = num / den;
  if (whole < 1n) return 1;
  return whole > BigInt(MOST_PIECES) ? MOST_PIECES : Number(whole);
}

function candidatesUpTo(most: number): number[] {
  const list: number[] = [];
  for (let pieces = 1; pieces < most; pieces += Math.max(1, Math.floor(pieces / 16))) list.push(pieces);
  list.push(most);
  return list;
}
