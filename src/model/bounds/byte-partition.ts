import type { Collective } from "../collective/collective.ts";
import { type Grouped, groupedBy } from "../graph/graph.ts";
import { multiply, type Rational, rational } from "../numbers/rational.ts";
import { PS_PER_SECOND, toGBps } from "../numbers/units.ts";
import { isActive, nodeCount, reversed, type Topology } from "../topology/topology.ts";
import { type Lags, lagsOf, lagWitness, leastTime, type VisitLinks } from "./lag.ts";
import { type Ports, portsOf } from "./sides.ts";
import { type Best, offerRational, type Witness } from "./witness.ts";

type PartitionWitness = Extract<Witness, { kind: "partition" }>;

/** The NPUs in parts, each in one. */
export interface NpuParts {
  /** [NPUs] */
  readonly part: Int32Array;
  readonly parts: number;
}

/** Returns how often chunks must go from one part to another, counted where they leave the parts; see `tryPartition`. */
function departures(collective: Collective, { part, parts }: NpuParts): number {
  const { kind, groupCount, groupSize, groupMembers, chunksPerNpu } = collective;
  const chunks = kind === "broadcast" ? chunksPerNpu : groupSize * chunksPerNpu;
  const times = kind === "allreduce" ? 2 : kind === "allgather" || kind === "broadcast" ? 1 : 0;
  /** [parts] the last group that has a member in it. */
  const seen = new Int32Array(parts).fill(-1);
  let count = 0;
  for (let group = 0; group < groupCount && times > 0; group++) {
    let touched = 0;
    for (let i = group * groupSize; i < (group + 1) * groupSize; i++) {
      const own = part[groupMembers[i]];
      if (seen[own] === group) continue;
      seen[own] = group;
      touched++;
    }
    count += times * (touched - 1) * chunks;
  }
  return count;
}

/** Returns the network with time turned around: links lead back, switches that sum multicast and the reverse. */
export function timeReversed(topology: Topology): Topology {
  let mirror = mirrors.get(topology);
  if (mirror === undefined) {
    const swapped = topology.nodeTraits.map(({ multicast, aggregation, ...rest }) => ({
      ...rest,
      ...(aggregation === undefined ? {} : { multicast: aggregation }),
      ...(multicast === undefined ? {} : { aggregation: multicast }),
    }));
    mirror = { ...reversed(topology), nodeTraits: swapped };
    mirrors.set(topology, mirror);
    mirrors.set(mirror, topology);
  }
  return mirror;
}

const mirrors = new WeakMap<Topology, Topology>();

/** Returns whether as much bandwidth enters every node as leaves it. O(links). */
export function isBalanced(topology: Topology): boolean {
  const more = new Float64Array(nodeCount(topology));
  const { linkSource, linkTarget, linkBytesPerSecond } = topology;
  for (let link = 0; link < linkSource.length; link++) {
    more[linkSource[link]] += linkBytesPerSecond[link];
    more[linkTarget[link]] -= linkBytesPerSecond[link];
  }
  return more.every((bytes) => bytes === 0);
}

/** Returns whether a collective has partitions that say more than its cuts. */
export const gainsFromPartitions = (topology: Topology, { kind }: Collective): boolean =>
  kind === "allreduce" || ((kind === "allgather" || kind === "broadcast") && !isBalanced(topology));

/** Passes over the switches in which they are put beside their neighbours. */
const PASSES = 8;

/**
 * Returns [nodes] the part of each NPU, and of each switch that multicasts or sums: the part that it has most bandwidth in
 * common with, the first among equals. One that only sums is in a part if that is more than half of its bandwidth, else in none
 * (-1), as are switches that do neither. O(links) a pass.
 */
function placeAble(network: Topology, { part }: NpuParts): Int32Array {
  const { npuCount, nodeTraits, linkSource, linkTarget, linkBytesPerSecond } = network;
  const nodes = nodeCount(network);
  const placed = new Int32Array(nodes).fill(-1);
  placed.set(part);
  const able = [...Array(nodes - npuCount).keys()]
    .map((i) => i + npuCount)
    .filter((node) => isActive(nodeTraits[node]));
  if (able.length === 0) return placed;

  const { entering, leaving } = portsOf(network);
  for (let pass = 0; pass < PASSES; pass++) {
    const before = placed.slice();
    for (let node = npuCount; node < nodes; node++) {
      const shares = new Map<number, number>();
      const add = (other: number, link: number): void => {
        if (before[other] >= 0) shares.set(before[other], (shares.get(before[other]) ?? 0) + linkBytesPerSecond[link]);
      };
      for (let i = leaving.offset[node]; i < leaving.offset[node + 1]; i++) {
        add(linkTarget[leaving.items[i]], leaving.items[i]);
      }
      for (let i = entering.offset[node]; i < entering.offset[node + 1]; i++) {
        add(linkSource[entering.items[i]], entering.items[i]);
      }
      const total = [...shares.values()].reduce((a, b) => a + b, 0);
      const [best, most] = [...shares].reduce(
        (a, b) => (b[1] > a[1] || (b[1] === a[1] && b[0] < a[0]) ? b : a),
        [-1, 0],
      );
      placed[node] = nodeTraits[node].multicast === true || 2 * most > total ? best : -1;
    }
    if (placed.every((own, node) => own === before[node])) break;
  }
  for (let node = npuCount; node < nodes; node++) {
    if (!isActive(nodeTraits[node])) placed[node] = -1;
    // what leads nowhere near an NPU matters to no part
    else if (nodeTraits[node].multicast === true && placed[node] < 0) placed[node] = 0;
  }
  return placed;
}

/** Parts with the switches that go along. */
interface Borders {
  /** [nodes] the part of NPUs and of switches that are in one, -1 for all others. */
  readonly part: Int32Array;
  /** Nodes by part. */
  readonly members: Grouped;
  /** [parts] other switches that stand with the part; one may stand with several. */
  readonly along: readonly (readonly number[])[];
}

/** Links that the flows of one partition may look at; parts whose turn comes later take no switch along. */
const FLOW_WORK = 20_000_000;

/**
 * Returns for every part which of the switches that only forward stand with it, so that the least bandwidth leaves: the least
 * source side of a minimum cut between the part and all other NPUs and able switches (Edmonds and Karp 1972 on the switches
 * beside it).
 */
function bordersOf(network: Topology, parts: number, part: Int32Array): Borders {
  const { linkSource, linkTarget, linkBytesPerSecond, npuCount } = network;
  const members = groupedBy(
    part.map((own) => (own < 0 ? parts : own)),
    parts + 1,
  );
  const along: number[][] = Array.from({ length: parts }, () => []);
  const forwards = (node: number): boolean => node >= npuCount && part[node] < 0 && !isActive(network.nodeTraits[node]);
  if (nodeCount(network) === npuCount) return { part, members, along };

  const ports = portsOf(network);
  const flow = new Float64Array(linkSource.length);
  const reached = new Int32Array(part.length).fill(-1);
  const by = new Int32Array(part.length);
  let round = 0;
  let work = FLOW_WORK;
  /** Returns the link by which another part is reached, or -1; `found` then has all switches reached. */
  const search = (own: number, found: number[]): number => {
    round++;
    const visit = (node: number, link: number): void => {
      if (!forwards(node) || reached[node] === round) return;
      reached[node] = round;
      by[node] = link;
      found.push(node);
    };
    const begin = members.offset[own];
    const count = members.offset[own + 1] - begin;
    for (let i = 0; i < count + found.length; i++) {
      const node = i < count ? members.items[begin + i] : found[i - count];
      const { offset, items } = ports.leaving;
      work -= offset[node + 1] - offset[node];
      for (let j = offset[node]; j < offset[node + 1]; j++) {
        const link = items[j];
        if (flow[link] >= linkBytesPerSecond[link]) continue;
        const next = linkTarget[link];
        if (i >= count && !forwards(next) && part[next] !== own) return link;
        visit(next, link);
      }
      if (i < count) continue;
      const back = ports.entering;
      work -= back.offset[node + 1] - back.offset[node];
      for (let j = back.offset[node]; j < back.offset[node + 1]; j++) {
        if (flow[back.items[j]] > 0) visit(linkSource[back.items[j]], -1 - back.items[j]);
      }
    }
    return -1;
  };
  const touched: number[] = [];
  for (let own = 0; own < parts && work > 0; own++) {
    let found: number[] = [];
    for (let last = search(own, found); last >= 0 && work > 0; last = search(own, found)) {
      const path = [last];
      for (let node = linkSource[last]; part[node] !== own; ) {
        path.push(by[node]);
        node = by[node] >= 0 ? linkSource[by[node]] : linkTarget[-1 - by[node]];
      }
      const room = path.reduce(
        (least, l) => Math.min(least, l >= 0 ? linkBytesPerSecond[l] - flow[l] : flow[-1 - l]),
        Number.POSITIVE_INFINITY,
      );
      for (const l of path) {
        if (l >= 0) flow[l] += room;
        else flow[-1 - l] -= room;
        touched.push(l >= 0 ? l : -1 - l);
      }
      found = [];
    }
    if (work > 0) along[own] = found.sort((a, b) => a - b);
    for (const link of touched) flow[link] = 0;
    touched.length = 0;
  }
  return { part, members, along };
}

/** Returns what visits every link that leaves a part with the switches that go along. O(links of the parts' nodes). */
function borderLinks(network: Topology, { members, along }: Borders, ports: Ports): VisitLinks {
  const { linkTarget } = network;
  const stamp = new Int32Array(nodeCount(network)).fill(-1);
  return (visit) => {
    stamp.fill(-1);
    for (let own = 0; own < along.length; own++) {
      const begin = members.offset[own];
      const count = members.offset[own + 1] - begin;
      const nodeAt = (i: number): number => (i < count ? members.items[begin + i] : along[own][i - count]);
      const size = count + along[own].length;
      for (let i = 0; i < size; i++) stamp[nodeAt(i)] = own;
      for (let i = 0; i < size; i++) {
        const node = nodeAt(i);
        for (let j = ports.leaving.offset[node]; j < ports.leaving.offset[node + 1]; j++) {
          const link = ports.leaving.items[j];
          if (stamp[linkTarget[link]] !== own) visit(link, own);
        }
      }
    }
  };
}

/** Sums whole numbers of bytes per second exactly, nearly all of it in doubles. */
function exactTotal(visitLinks: VisitLinks, bytesPerSecond: Float64Array): bigint {
  let sum = 0n;
  let rest = 0;
  visitLinks((link) => {
    if (rest + bytesPerSecond[link] > Number.MAX_SAFE_INTEGER) {
      sum += BigInt(rest);
      rest = 0;
    }
    rest += bytesPerSecond[link];
  });
  return sum + BigInt(rest);
}

/** A bound that latencies may still raise. */
export interface Raisable {
  readonly ps: Rational;
  /** Offers what latencies and bandwidth together prove. */
  raise(best: Best): void;
}

/**
 * Offers the bounds of an all-reduce, all-gather or broadcast from what must leave all parts together, and for an all-reduce
 * also from what must enter them; returns what latencies may still raise. Exact for any parts. O(links), and small flows.
 *
 * What leaves. A part takes along any switches that only forward: whatever goes from an NPU of it to one of another part
 * crosses the border of both together, so the narrowest border counts, and a switch may go along with several parts, for each
 * of these bounds what leaves its own part. A switch that can duplicate or add is part of one part, like an NPU, or of none. Where
 * those in none only add, every transfer still leaves at least one part, and for each part that it is charged to it leaves that one.
 *
 * All-gather, broadcast: n - 1 of n parts lack a chunk and get it by a transfer each, which leaves some part. All-reduce: let
 * an NPU of part A be the first with the whole sum, at time t. By t every other part has sent something on its way to A: n - 1
 * departures, one for each. Later, every other part is completed by a delivery that ends at t or later, so by none of those,
 * which had to end before they were passed on: n - 1 more. Sums outside the parts merge departures of different parts on
 * their way, but not before they have left; the deliveries are distinguished by where they end, and were turned around in time
 * by who sends them: with time reversed, the argument counts what leaves where it counted what enters. So it is departures
 * that count where switches in none of the parts add, deliveries where they duplicate, and either where they do neither.
 * Parts without a member of a group only pass its chunks on.
 *
 * Source: gossip by one-way calls takes 2n - 2 of them (Harary and Schwenk 1974); without switches and with equal links both ways
 * the best partition is the strength of the graph, which spanning trees reach (Tutte 1961, Nash-Williams 1961).
 */
export function tryPartition(best: Best, topology: Topology, collective: Collective, parts: NpuParts): Raisable[] {
  const count = departures(collective, parts);
  if (count === 0) return [];
  const bytes = multiply(collective.chunkBytes, rational(count));
  const networks = collective.kind === "allreduce" ? [topology, timeReversed(topology)] : [topology];
  return networks.flatMap((network, i) => {
    const side = i === 0 ? "out" : "in";
    const borders = bordersOf(network, parts.parts, placeAble(network, parts));
    const visitLinks = borderLinks(network, borders, portsOf(network));
    const bytesPerSecond = exactTotal(visitLinks, network.linkBytesPerSecond);
    if (bytesPerSecond === 0n) return [];
    const witness = (lags: Lags): PartitionWitness => ({
      kind: "partition",
      side,
      parts: parts.parts,
      nodes: runsOf(borders.part),
      along: alongOf(borders.along),
      bytes: `${bytes.num}${bytes.den === 1n ? "" : `/${bytes.den}`}`,
      bytesPerSecond: bytesPerSecond.toString(),
      totalGBps: toGBps(Number(bytesPerSecond)),
      ...lagWitness(lags),
    });
    const ps = rational(bytes.num * BigInt(PS_PER_SECOND), bytes.den * bytesPerSecond);
    offerRational(best, ps, () => witness(new Map()));
    const raise = (to: Best): void => {
      const lags = lagsOf(network, borders.part, visitLinks);
      const time = leastTime(bytes, lags);
      if (time !== null) offerRational(to, time, () => witness(lags));
    };
    return [{ ps, raise }];
  });
}

/** Returns the parts of nodes as runs [part of the first, nodes, step from one part to the next]; none of nodes in no part. */
function runsOf(part: Int32Array): [part: number, nodes: number, step: 0 | 1][] {
  const runs: [number, number, 0 | 1][] = [];
  for (let from = 0; from < part.length; ) {
    const step = part[from] >= 0 && part[from + 1] === part[from] + 1 ? 1 : 0;
    let to = from + 1;
    while (to < part.length && part[to] === part[to - 1] + step) to++;
    runs.push([part[from], to - from, step]);
    from = to;
  }
  return runs;
}

/** Returns the switches along with each part as [part, switch, how many more after it]. */
function alongOf(along: readonly (readonly number[])[]): [part: number, first: number, count: number][] {
  return along.flatMap((switches, own) => {
    const runs: [number, number, number][] = [];
    for (const node of switches) {
      const last = runs.at(-1);
      if (last !== undefined && last[1] + last[2] === node) last[2]++;
      else runs.push([own, node, 1]);
    }
    return runs;
  });
}
