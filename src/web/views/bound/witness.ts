import { networkIndex, wireBetween } from "../../draw/network-index.ts";
import type { AnyReport, NetworkView } from "../../protocol.ts";

/** What proves a bound, as far as it can be drawn. */
export type Proof =
  | {
      readonly kind: "cut";
      readonly nodes: readonly number[];
      readonly direction: "in" | "out";
      readonly weight: string;
    }
  | { readonly kind: "path"; readonly steps: readonly Step[]; readonly latencyPs: number }
  | { readonly kind: "lengths"; readonly ofWire: Float32Array; readonly used: number }
  /** Borders of parts, all together. */
  | {
      readonly kind: "partition";
      readonly parts: number;
      readonly side: "in" | "out";
      readonly steps: readonly Step[];
    };

/** A wire, and the way along it. */
interface Step {
  readonly wire: number;
  readonly forward: boolean;
}

/** Returns what of a bound's witness can be drawn on a network: none for those that are words only. O(links log links). */
export function proofsOf(network: NetworkView, { witness }: AnyReport["limit"]): Proof[] {
  const { kind } = witness;
  if (kind === "cut" || kind === "tail") {
    const cut = cutOf(network, witness, Number(witness["nodeCount"]));
    return cut === null ? [] : [cut];
  }
  if (kind === "dual" && Array.isArray(witness["cuts"])) {
    return witness["cuts"].flatMap((given: Readonly<Record<string, unknown>>) => cutOf(network, given) ?? []);
  }
  if (kind === "latency") {
    const path = quickestPath(network, String(witness["from"]), String(witness["to"]));
    return path === null ? [] : [path];
  }
  if (kind === "partition") return [partitionOf(network, witness as unknown as PartitionWitness)];
  if (kind === "lengths" && Array.isArray(witness["lengths"])) return [lengthsOf(network, witness["lengths"])];
  return [];
}

function cutOf(
  network: NetworkView,
  { nodes, direction, weight }: Readonly<Record<string, unknown>>,
  count?: number,
): Proof | null {
  if (!Array.isArray(nodes) || (direction !== "in" && direction !== "out")) return null;
  const { nodeOf } = networkIndex(network);
  const found = nodes.flatMap((name) => nodeOf.get(String(name)) ?? []);
  // a list that was cut short is no cut
  if (found.length === 0 || found.length !== (count ?? nodes.length)) return null;
  return { kind: "cut", nodes: found, direction, weight: weight === undefined ? "" : String(weight) };
}

interface PartitionWitness {
  readonly parts: number;
  readonly side: "in" | "out";
  readonly nodes: readonly (readonly [part: number, nodes: number, step: number])[];
  readonly along: readonly (readonly [part: number, first: number, count: number])[];
}

/** Returns the links that leave a part, with the switches that stand with it, or that enter one. O(links + nodes). */
function partitionOf(network: NetworkView, { parts, side, nodes, along }: PartitionWitness): Proof {
  const partsOf: number[][] = [];
  for (const [part, count, step] of nodes)
    for (let i = 0; i < count; i++) partsOf.push(part < 0 ? [] : [part + i * step]);
  for (const [part, first, count] of along)
    for (let node = first; node < first + count; node++) partsOf[node]?.push(part);
  const { linkSource, linkTarget, wires } = network;
  const steps: Step[] = [];
  linkSource.forEach((source, link) => {
    const [own, other] = side === "out" ? [source, linkTarget[link]] : [linkTarget[link], source];
    if (!(partsOf[own] ?? []).some((part) => !(partsOf[other] ?? []).includes(part))) return;
    const wire = wires.ofLink[link];
    steps.push({ wire, forward: wires.a[wire] === source });
  });
  return { kind: "partition", parts, side, steps };
}

function lengthsOf(network: NetworkView, lengths: readonly number[]): Proof {
  const ofWire = new Float32Array(network.wires.a.length);
  const most = lengths.reduce((a, b) => Math.max(a, b), 0);
  let used = 0;
  lengths.forEach((length, link) => {
    const wire = network.wires.ofLink[link];
    if (length > 0) used++;
    ofWire[wire] = Math.max(ofWire[wire], most === 0 ? 0 : length / most);
  });
  return { kind: "lengths", ofWire, used };
}

/** Returns a way of least latency between two nodes, of fewest links among those; null where there is none. */
function quickestPath(network: NetworkView, from: string, to: string): Proof | null {
  const { nodeOf } = networkIndex(network);
  const [start, end] = [nodeOf.get(from), nodeOf.get(to)];
  if (start === undefined || end === undefined) return null;
  const { linkSource, linkTarget, linkLatencyPs } = network;
  const outgoing: number[][] = network.nodeNames.map(() => []);
  linkSource.forEach((node, link) => {
    outgoing[node].push(link);
  });
  const least = new Float64Array(outgoing.length).fill(Number.POSITIVE_INFINITY);
  const by = new Int32Array(outgoing.length).fill(-1);
  least[start] = 0;
  const open = new Set([start]);
  while (open.size > 0) {
    let node = -1;
    for (const candidate of open) if (node < 0 || least[candidate] < least[node]) node = candidate;
    open.delete(node);
    if (node === end) break;
    for (const link of outgoing[node]) {
      // one more than the latency, so that links without one count
      const there = least[node] + linkLatencyPs[link] + 1;
      if (there >= least[linkTarget[link]]) continue;
      least[linkTarget[link]] = there;
      by[linkTarget[link]] = link;
      open.add(linkTarget[link]);
    }
  }
  if (by[end] < 0) return null;
  const steps: Step[] = [];
  let latencyPs = 0;
  for (let node = end; node !== start; node = linkSource[by[node]]) {
    const source = linkSource[by[node]];
    latencyPs += linkLatencyPs[by[node]];
    steps.unshift({ wire: wireBetween(network, source, node), forward: source < node });
  }
  return { kind: "path", steps, latencyPs };
}

/** Wires that cross a cut, with the bandwidth in its direction. */
interface Crossing extends Step {
  readonly bytesPerSecond: number;
}

/** Returns the wires over which data can cross a cut in its direction, ascending. O(wires). */
export function crossingsOf(network: NetworkView, nodes: readonly number[], direction: "in" | "out"): Crossing[] {
  const isInside = new Uint8Array(network.nodeNames.length);
  for (const node of nodes) isInside[node] = 1;
  const { a, b, forward, backward } = network.wires;
  const found: Crossing[] = [];
  for (let wire = 0; wire < a.length; wire++) {
    if (isInside[a[wire]] === isInside[b[wire]]) continue;
    const isForward = (isInside[b[wire]] === 1) === (direction === "in");
    const bytesPerSecond = isForward ? forward[wire] : backward[wire];
    if (bytesPerSecond > 0) found.push({ wire, forward: isForward, bytesPerSecond });
  }
  return found;
}

/** Returns how many crossings there are of each bandwidth, and what they carry together; fast ones first. */
export function crossingClasses(
  crossings: readonly Crossing[],
): { readonly bytesPerSecond: number; readonly count: number; readonly total: number }[] {
  const counts = new Map<number, number>();
  for (const { bytesPerSecond } of crossings) counts.set(bytesPerSecond, (counts.get(bytesPerSecond) ?? 0) + 1);
  return [...counts]
    .sort(([one], [other]) => other - one)
    .map(([bytesPerSecond, count]) => ({ bytesPerSecond, count, total: bytesPerSecond * count }));
}
