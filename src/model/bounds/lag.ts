import { heap } from "../graph/graph.ts";
import { type Rational, rational } from "../numbers/rational.ts";
import { PS_PER_SECOND, toGBps } from "../numbers/units.ts";
import { nodeCount, type Topology } from "../topology/topology.ts";
import { portsOf } from "./sides.ts";

/** The links of a border, by how long what crosses them is on its way at least: picoseconds to bytes per second of all of them. */
export type Lags = ReadonlyMap<number, bigint>;

/** A link over which something goes from one part to another, and the part that it leaves. */
export type VisitLinks = (visit: (link: number, from: number) => void) => void;

/** The latencies between a node and the nearest part, and the nearest other one, over ways through nodes in no part. */
interface Nearest {
  /** [nodes] the nearest part, -1 where there is none. */
  readonly part: Int32Array;
  /** [nodes] picoseconds. */
  readonly first: Float64Array;
  /** [nodes] picoseconds between the node and the nearest of the other parts. */
  readonly second: Float64Array;
}

/** Searches from all parts at once, over links from `tail` to `head`; each node in no part is settled twice. O(links log links). */
function nearestParts(
  { linkLatencyPs }: Topology,
  part: Int32Array,
  head: Int32Array,
  { offset, items }: { readonly offset: Int32Array; readonly items: Int32Array },
): Nearest {
  const nodes = part.length;
  const nearest = part.slice();
  const first = new Float64Array(nodes).fill(Number.POSITIVE_INFINITY);
  const second = new Float64Array(nodes).fill(Number.POSITIVE_INFINITY);
  const queue = heap();
  const parts = part.reduce((most, own) => Math.max(most, own), 0) + 1;
  const leave = (node: number, own: number, after: number): void => {
    for (let i = offset[node]; i < offset[node + 1]; i++) {
      const next = head[items[i]];
      if (part[next] < 0) queue.add(after + linkLatencyPs[items[i]], next * parts + own);
    }
  };
  for (let node = 0; node < nodes; node++) {
    if (part[node] < 0) continue;
    first[node] = 0;
    leave(node, part[node], 0);
  }
  while (queue.size() > 0) {
    const after = queue.key();
    const id = queue.take();
    const node = Math.floor(id / parts);
    const own = id % parts;
    if (nearest[node] < 0) {
      nearest[node] = own;
      first[node] = after;
    } else if (nearest[node] !== own && second[node] === Number.POSITIVE_INFINITY) second[node] = after;
    else continue;
    leave(node, own, after);
  }
  return { part: nearest, first, second };
}

/** From all parts of a network, and towards them. */
interface BothWays {
  readonly before: Nearest;
  readonly behind: Nearest;
}

/** By network and parts, which collectives of all sizes share; so many numbers of them at most. */
const remembered = new WeakMap<Topology, Map<string, BothWays>>();
const MOST_REMEMBERED = 2 ** 20;

function nearestBothWays(topology: Topology, part: Int32Array): BothWays {
  const known = remembered.get(topology) ?? new Map<string, BothWays>();
  remembered.set(topology, known);
  const key = part.join();
  const found = known.get(key);
  if (found !== undefined) return found;
  const { entering, leaving } = portsOf(topology);
  const before = nearestParts(topology, part, topology.linkTarget, leaving);
  const behind = nearestParts(topology, part, topology.linkSource, entering);
  if (known.size * part.length >= MOST_REMEMBERED) known.clear();
  known.set(key, { before, behind });
  return { before, behind };
}

/**
 * Returns how long what crosses each link of a border is on its way at least: from the nearest node of the part that it
 * leaves, over the link, to the nearest of another part, on ways through nodes in no part (`part` [nodes] is -1 there). Where
 * two other parts are nearer, the nearest of them stands for the own one: that is less, so still true. O(links log links).
 */
export function lagsOf(topology: Topology, part: Int32Array, visitLinks: VisitLinks): Lags {
  const { linkSource, linkTarget, linkLatencyPs, linkBytesPerSecond } = topology;
  const { before, behind } = nearestBothWays(topology, part);
  const lags = new Map<number, bigint>();
  visitLinks((link, from) => {
    const [tail, head] = [linkSource[link], linkTarget[link]];
    const until = before.part[tail] === from ? before.first[tail] : before.second[tail];
    const after = behind.part[head] === from ? behind.second[head] : behind.first[head];
    const lag = until + linkLatencyPs[link] + after;
    if (lag < Number.POSITIVE_INFINITY) lags.set(lag, (lags.get(lag) ?? 0n) + BigInt(linkBytesPerSecond[link]));
  });
  return new Map([...lags].sort(([a], [b]) => a - b));
}

/**
 * Returns the least time T in picoseconds by which this many bytes can have crossed a border: a link carries its bandwidth times
 * T - lag and no more, for what crosses it is neither sent before 0 nor there after T. Exact; null where no link is left.
 */
export function leastTime(bytes: Rational, lags: Lags): Rational | null {
  const steps = [...lags];
  let bandwidth = 0n;
  let late = 0n;
  for (let i = 0; i < steps.length; i++) {
    bandwidth += steps[i][1];
    late += steps[i][1] * BigInt(steps[i][0]);
    // bandwidth T - late = bytes
    const time = rational(bytes.num * BigInt(PS_PER_SECOND) + late * bytes.den, bytes.den * bandwidth);
    const isLast = i + 1 === steps.length || time.num <= BigInt(steps[i + 1][0]) * time.den;
    if (isLast) return time;
  }
  return null;
}

/** More different lags than these are not listed. */
const MOST_LAGS = 64;

/** What a witness says of lags. */
export interface LagWitness {
  /** What crosses is on its way so long at least, one way, from the NPU it comes from to the one it is for. */
  readonly leastLagPs?: number;
  /** The bandwidth of the links that cost so much; absent where more than 64 different ones do. */
  readonly lags?: readonly { readonly ps: number; readonly GBps: number }[];
}

/** Returns what a witness says of lags, least first. */
export function lagWitness(lags: Lags): LagWitness {
  const steps = [...lags];
  if (steps.length === 0) return {};
  const listed = steps.map(([ps, bytesPerSecond]) => ({ ps, GBps: toGBps(Number(bytesPerSecond)) }));
  return { leastLagPs: steps[0][0], ...(steps.length > MOST_LAGS ? {} : { lags: listed }) };
}

/** Returns the part of every node where the NPUs that are marked are part 1, the others part 0, and switches are in none. */
export function twoParts(topology: Topology, nodes: ArrayLike<number>): Int32Array {
  const part = new Int32Array(nodeCount(topology)).fill(-1);
  part.fill(0, 0, topology.npuCount);
  for (let i = 0; i < nodes.length; i++) if (nodes[i] < topology.npuCount) part[nodes[i]] = 1;
  return part;
}
