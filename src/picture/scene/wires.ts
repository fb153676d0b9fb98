import { formatBandwidth } from "../../model/numbers/units.ts";
import { linkCount, nodeCount, switchCount, type Topology } from "../../model/topology/topology.ts";

/** All links between two nodes, a < b. */
export interface Wire {
  readonly a: number;
  readonly b: number;
  /** Bytes per second and links from a to b. */
  readonly forward: number;
  readonly forwardLinks: number;
  /** The same from b to a. */
  readonly backward: number;
  readonly backwardLinks: number;
}

/** Returns a wire for each two nodes that are linked, in order of their first link. O(nodes + links). */
export function wiresOf(topology: Topology): Wire[] {
  const { linkSource, linkTarget, linkBytesPerSecond } = topology;
  const nodes = nodeCount(topology);
  const found = new Map<number, { -readonly [K in keyof Wire]: Wire[K] }>();
  for (let link = 0; link < linkCount(topology); link++) {
    const [from, to] = [linkSource[link], linkTarget[link]];
    const [a, b] = from < to ? [from, to] : [to, from];
    let wire = found.get(a * nodes + b);
    if (wire === undefined) {
      wire = { a, b, forward: 0, forwardLinks: 0, backward: 0, backwardLinks: 0 };
      found.set(a * nodes + b, wire);
    }
    if (from === a) {
      wire.forward += linkBytesPerSecond[link];
      wire.forwardLinks++;
    } else {
      wire.backward += linkBytesPerSecond[link];
      wire.backwardLinks++;
    }
  }
  return [...found.values()];
}

/** Returns the greater of the bandwidths of both ways, by which wires are drawn. */
export const widthOf = (wire: Wire): number => Math.max(wire.forward, wire.backward);

/** Returns the wire in words: "300 GB/s each way, 12 links", "2 GB/s one way". */
export function wireText({ forward, forwardLinks, backward, backwardLinks }: Wire): string {
  const links = (count: number): string => (count === 1 ? "" : `, ${count} links`);
  if (forward === backward && forwardLinks === backwardLinks) {
    return `${formatBandwidth(forward)} each way${links(forwardLinks)}`;
  }
  if (backwardLinks === 0) return `${formatBandwidth(forward)} one way${links(forwardLinks)}`;
  if (forwardLinks === 0) return `${formatBandwidth(backward)} one way${links(backwardLinks)}`;
  return `${formatBandwidth(forward)}${links(forwardLinks)}; back ${formatBandwidth(backward)}${links(backwardLinks)}`;
}

/** Bandwidths that look alike in a picture. */
export interface BandwidthClass {
  readonly from: number;
  readonly to: number;
  readonly text: string;
}

const MOST_CLASSES = 6;

/** Returns at most six classes of bandwidths, ascending: one each where so few differ, else even steps of their logarithm. */
export function bandwidthClasses(wires: readonly Wire[]): BandwidthClass[] {
  const different = [...new Set(wires.map(widthOf))].sort((a, b) => a - b);
  if (different.length <= MOST_CLASSES)
    return different.map((value) => ({ from: value, to: value, text: formatBandwidth(value) }));
  const [least, most] = [different[0], different[different.length - 1]];
  const ratio = (most / least) ** (1 / MOST_CLASSES);
  const classes: BandwidthClass[] = [];
  let members: number[] = [];
  let bound = least * ratio;
  const close = (): void => {
    if (members.length === 0) return;
    const [from, to] = [members[0], members[members.length - 1]];
    const text = from === to ? formatBandwidth(from) : `${formatBandwidth(from)} to ${formatBandwidth(to)}`;
    classes.push({ from, to, text });
    members = [];
  };
  for (const value of different) {
    while (value > bound && classes.length < MOST_CLASSES - 1) {
      close();
      bound *= ratio;
      if (!(bound < most)) bound = Number.POSITIVE_INFINITY;
    }
    members.push(value);
  }
  close();
  return classes;
}

/** Returns "16 NPUs, 3 switches, 64 links". */
export function sizeText(topology: Topology): string {
  const count = (n: number, what: string): string => `${n} ${what}${n === 1 ? "" : what === "switch" ? "es" : "s"}`;
  const switches = switchCount(topology);
  const parts = [
    count(topology.npuCount, "NPU"),
    ...(switches > 0 ? [count(switches, "switch")] : []),
    count(linkCount(topology), "link"),
  ];
  return parts.join(", ");
}
