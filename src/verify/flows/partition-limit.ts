import type { Bound, Witness } from "../../model/bounds/witness.ts";
import type { Collective } from "../../model/collective/collective.ts";
import { add, compare, divide, format, multiply, rational, subtract } from "../../model/numbers/rational.ts";
import { PS_PER_SECOND, toGBps } from "../../model/numbers/units.ts";
import { nodeCount, type Topology } from "../../model/topology/topology.ts";

type PartitionWitness = Extract<Witness, { kind: "partition" }>;

/**
 * Returns what is wrong with a limit that a partition is to prove, in words; nothing where it is proved. Looked at: every NPU
 * is in one part; so is every switch that could merge what is counted before it is counted, and none in two; what must cross
 * the borders; what they carry, link by link; and that they carry no more than that by the time which is said. With latencies
 * a link carries nothing before the latency of the shortest way over it, from its part to another, has passed. O(links) and, with
 * latencies, a search over the switches from all parts at once. Sources: those of `tryPartition`.
 */
export function partitionFaults(topology: Topology, collective: Collective, { ps, witness }: Bound): string[] {
  if (witness.kind !== "partition") return ["the witness is no partition"];
  const part = partsOf(topology, witness);
  if (typeof part === "string") return [part];
  const faults = [...placeFaults(topology, collective, witness, part)];
  const along = alongOf(topology, witness, part);
  if (typeof along === "string") faults.push(along);
  if (faults.length > 0 || typeof along === "string") return faults;

  const bytes = multiply(collective.chunkBytes, rational(crossingsOf(collective, part)));
  if (format(bytes) !== witness.bytes) faults.push(`${format(bytes)} bytes must cross, not ${witness.bytes}`);
  const border = borderOf(topology, witness, part, along);
  const total = border.reduce((sum, { link }) => sum + BigInt(topology.linkBytesPerSecond[link]), 0n);
  if (String(total) !== witness.bytesPerSecond)
    faults.push(`${total} bytes a second cross, not ${witness.bytesPerSecond}`);
  const late = witness.leastLagPs !== undefined;
  const lags = late ? lagsOf(topology, witness, part, border) : new Map([[0, total]]);
  if (late) faults.push(...lagFaults(witness, lags));
  let carried = rational(0);
  for (const [lag, bytesPerSecond] of lags) {
    const since = subtract(ps, rational(lag));
    if (since.num > 0n) carried = add(carried, multiply(since, rational(bytesPerSecond)));
  }
  const crossed = divide(carried, rational(PS_PER_SECOND));
  if (compare(crossed, bytes) > 0) faults.push(`${format(crossed)} bytes can cross by ${format(ps)} ps`);
  return faults;
}

/** Returns [nodes] the part of every node, -1 for none; or what is wrong with the runs. */
function partsOf(topology: Topology, { nodes, parts }: PartitionWitness): Int32Array | string {
  const count = nodeCount(topology);
  const part = new Int32Array(count);
  let next = 0;
  for (const [first, length, step] of nodes) {
    if (!Number.isInteger(length) || length < 1 || length > count - next) return "the runs are not the nodes";
    for (let i = 0; i < length; i++) {
      const own = first + i * step;
      if (!Number.isInteger(own) || own < -1 || own >= parts) return `there is no part ${own}`;
      part[next++] = own;
    }
  }
  return next === count ? part : "the runs are not the nodes";
}

/** What the roles of switches are on the side that is counted: there sums merge departures, and copies deliveries. */
function* placeFaults(
  { npuCount, nodeTraits, nodeNames }: Topology,
  { kind }: Collective,
  { side, parts }: PartitionWitness,
  part: Int32Array,
): Generator<string> {
  const counts = {
    allreduce: ["out", "in"],
    allgather: ["out"],
    broadcast: ["out"],
    reducescatter: ["in"],
    reduce: ["in"],
  };
  const sides = counts[kind as keyof typeof counts] ?? [];
  if (!sides.includes(side)) yield `what crosses ${side === "out" ? "outwards" : "inwards"} is not counted`;
  const used = new Set<number>();
  for (let node = 0; node < part.length; node++) {
    const { multicast = false, aggregation = false } = nodeTraits[node];
    if (node < npuCount) {
      used.add(part[node]);
      if (part[node] < 0) yield `${nodeNames[node]} is in no part`;
    } else if (!multicast && !aggregation) {
      if (part[node] >= 0) yield `${nodeNames[node]} only forwards`;
    } else if (part[node] < 0 && (side === "out" ? multicast : aggregation)) {
      yield `${nodeNames[node]} must be in a part`;
    }
  }
  if (used.size < 2 || used.size !== parts) yield `${used.size} of ${parts} parts have NPUs`;
}

/** Returns the other switches of each part; or what is wrong with them. */
function alongOf(topology: Topology, { along, parts }: PartitionWitness, part: Int32Array): Set<number>[] | string {
  const sets = Array.from({ length: parts }, () => new Set<number>());
  for (const [own, first, count] of along) {
    const set = sets[own];
    if (set === undefined) return `there is no part ${own}`;
    if (!Number.isInteger(count) || count < 1 || first + count > part.length) return "there is no such switch";
    for (let node = first; node < first + count; node++) {
      const { multicast = false, aggregation = false } = topology.nodeTraits[node] ?? {};
      if (!(node >= topology.npuCount) || multicast || aggregation) return `node ${node} does not only forward`;
      set.add(node);
    }
  }
  return sets;
}

/** Returns how many chunks cross: per group and chunk once, or twice, for every part with a member but one. */
function crossingsOf(
  { kind, groupCount, groupSize, groupMembers, chunksPerNpu }: Collective,
  part: Int32Array,
): number {
  const rooted = kind === "broadcast" || kind === "reduce";
  const each = (rooted ? 1 : groupSize) * chunksPerNpu * (kind === "allreduce" ? 2 : 1);
  let count = 0;
  for (let group = 0; group < groupCount; group++) {
    const members = groupMembers.subarray(group * groupSize, (group + 1) * groupSize);
    count += each * (new Set(members.map((npu) => part[npu])).size - 1);
  }
  return count;
}

/** A link of a border, and the part that it borders. */
interface Bordering {
  readonly link: number;
  readonly own: number;
}

/** Returns the links out of (or into) each part with its other switches; a link may border several parts. */
function borderOf(
  { linkSource, linkTarget }: Topology,
  { side }: PartitionWitness,
  part: Int32Array,
  along: readonly Set<number>[],
): Bordering[] {
  const [near, far] = side === "out" ? [linkSource, linkTarget] : [linkTarget, linkSource];
  const withParts = new Map<number, number[]>();
  along.forEach((set, own) => {
    for (const node of set) withParts.set(node, [...(withParts.get(node) ?? []), own]);
  });
  const border: Bordering[] = [];
  for (let link = 0; link < near.length; link++) {
    const owners = part[near[link]] >= 0 ? [part[near[link]]] : (withParts.get(near[link]) ?? []);
    for (const own of owners) {
      if (part[far[link]] !== own && along[own]?.has(far[link]) !== true) border.push({ link, own });
    }
  }
  return border;
}

/** Parts and how far they are: the nearest, and the nearest of the others. */
type Near = readonly { readonly own: number; readonly ps: number }[];

/** Returns for every node in no part the two parts nearest to it over links from `from` to `to`; labels are corrected until none changes. */
function nearParts({ linkLatencyPs }: Topology, part: Int32Array, from: Int32Array, to: Int32Array): Near[] {
  const near: Near[] = Array.from(part, (own) => (own < 0 ? [] : [{ own, ps: 0 }]));
  const out: number[][] = Array.from(part, () => []);
  from.forEach((node, link) => {
    if (part[to[link]] < 0) out[node]?.push(link);
  });
  let front = [...part.keys()].filter((node) => part[node] >= 0);
  while (front.length > 0) {
    const changed = new Set<number>();
    for (const node of front) {
      for (const link of out[node] ?? []) {
        const known = near[to[link]] ?? [];
        const least = new Map(known.map(({ own, ps }) => [own, ps]));
        let better = false;
        for (const { own, ps } of near[node] ?? []) {
          const there = ps + linkLatencyPs[link];
          const isNew = there < (least.get(own) ?? Number.POSITIVE_INFINITY);
          if (!isNew || (least.size >= 2 && !least.has(own) && there >= Math.max(...least.values()))) continue;
          least.set(own, there);
          better = true;
        }
        if (!better) continue;
        const sorted = [...least].map(([own, ps]) => ({ own, ps })).sort((a, b) => a.ps - b.ps || a.own - b.own);
        near[to[link]] = sorted.slice(0, 2);
        changed.add(to[link]);
      }
    }
    front = [...changed];
  }
  return near;
}

/** Returns the bandwidth of the border by how long what crosses there is on its way at least, in picoseconds; without what nothing can cross. */
function lagsOf(
  topology: Topology,
  { side }: PartitionWitness,
  part: Int32Array,
  border: readonly Bordering[],
): Map<number, bigint> {
  const { linkSource, linkTarget, linkLatencyPs, linkBytesPerSecond } = topology;
  const before = nearParts(topology, part, linkSource, linkTarget);
  const behind = nearParts(topology, part, linkTarget, linkSource);
  const sums = new Map<number, bigint>();
  for (const { link, own } of border) {
    // where two other parts are nearer than the own one, it is no nearer than the second of them
    const toOwn = (near: Near | undefined): number => {
      const first = near?.[0];
      return first?.own === own ? first.ps : (near?.[1]?.ps ?? Number.POSITIVE_INFINITY);
    };
    const toOther = (near: Near | undefined): number =>
      near?.find((other) => other.own !== own)?.ps ?? Number.POSITIVE_INFINITY;
    const [tail, head] = [before[linkSource[link]], behind[linkTarget[link]]];
    const lag = linkLatencyPs[link] + (side === "out" ? toOwn(tail) + toOther(head) : toOther(tail) + toOwn(head));
    if (lag < Number.POSITIVE_INFINITY) sums.set(lag, (sums.get(lag) ?? 0n) + BigInt(linkBytesPerSecond[link]));
  }
  return sums;
}

/** Yields what is wrong with the lags that are said. */
function* lagFaults(
  { leastLagPs, lags: said }: PartitionWitness,
  lags: ReadonlyMap<number, bigint>,
): Generator<string> {
  const least = [...lags.keys()].reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY);
  if (least !== leastLagPs) yield `the least latency is ${least} ps, not ${leastLagPs}`;
  if (said === undefined) return;
  const alike = said.length === lags.size && said.every(({ ps, GBps }) => toGBps(Number(lags.get(ps))) === GBps);
  if (!alike) yield "the latencies are not those of the border";
}
