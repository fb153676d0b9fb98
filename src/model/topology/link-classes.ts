import { formatBandwidth, formatSize } from "../numbers/units.ts";
import { isNpu, type NodeTraits, type SizeRange, type Topology } from "./topology.ts";

/** Begins the source that says what a network's figures were fitted to: they are what is reached, not what is on the label. */
export const CALIBRATED = "calibrated:";
/** What the name of a network with fitted figures ends with. */
const SUFFIX = " calibrated";

/** Returns whether the network's figures were fitted to measurements. */
export const isCalibrated = (topology: Topology): boolean =>
  topology.sources.some((source) => source.startsWith(CALIBRATED));

/** Links between the same kinds of nodes with the same figures. */
export interface LinkClass {
  /** "GPU-NVSwitch 300 GB/s"; the latency stands behind where that alone tells classes apart. */
  readonly name: string;
  readonly bytesPerSecond: number;
  readonly latencyPs: number;
  readonly links: number;
}

export interface LinkClasses {
  readonly classes: readonly LinkClass[];
  /** [links] */
  readonly classOf: Int32Array;
}

/** Switches by the stem of their names, as the presets give them. */
const SWITCHES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    nvsw: "NVSwitch",
    nic: "NIC",
    rail: "rail",
    ib: "IB switch",
    sw: "switch",
  }),
);

/** Returns what a node is, its number left out. */
function kindOf(topology: Topology, node: number): string {
  if (isNpu(topology, node)) return "GPU";
  const { group }: NodeTraits = topology.nodeTraits[node] ?? {};
  const name = topology.nodeNames[node] as string;
  const own = group !== undefined && name.endsWith(group) ? name.slice(0, name.length - group.length) : name;
  const stem = own.replace(/[\d\s.,:_/-]+/g, "");
  return SWITCHES.get(stem) ?? (stem === "" ? "switch" : stem);
}

/** Returns the classes of a network's links in the order of their first links. O(nodes + links). */
export function linkClasses(topology: Topology): LinkClasses {
  const { linkSource, linkTarget, linkBytesPerSecond, linkLatencyPs } = topology;
  const kinds = topology.nodeNames.map((_, node) => kindOf(topology, node));
  const known = new Map<string, number>();
  const found: { ends: string; bytesPerSecond: number; latencyPs: number; links: number }[] = [];
  const classOf = Int32Array.from(linkSource, (from, link) => {
    const ends = [kinds[from], kinds[linkTarget[link]]]
      .sort((a, b) => Number(b === "GPU") - Number(a === "GPU") || (a < b ? -1 : 1))
      .join("-");
    const [bytesPerSecond, latencyPs] = [linkBytesPerSecond[link], linkLatencyPs[link]];
    const key = `${ends} ${bytesPerSecond} ${latencyPs}`;
    const index = known.get(key) ?? found.push({ ends, bytesPerSecond, latencyPs, links: 0 }) - 1;
    known.set(key, index);
    found[index].links++;
    return index;
  });
  const names = found.map(({ ends, bytesPerSecond }) => `${ends} ${formatBandwidth(bytesPerSecond)}`);
  const classes = found.map(({ ends: _, ...figures }, i) => {
    const alone = names.filter((name) => name === names[i]).length === 1;
    return { name: alone ? (names[i] as string) : `${names[i]}, ${figures.latencyPs} ps`, ...figures };
  });
  return { classes, classOf };
}

/** Returns the network with other figures for its classes of links, as its name and the first of its sources say. O(links). */
export function withFigures(
  topology: Topology,
  { classOf }: LinkClasses,
  figures: readonly Pick<LinkClass, "bytesPerSecond" | "latencyPs">[],
  { source, measured }: { readonly source: string; readonly measured: SizeRange },
): Topology {
  return {
    ...topology,
    name: topology.name.endsWith(SUFFIX) ? topology.name : `${topology.name}${SUFFIX}`,
    linkBytesPerSecond: Float64Array.from(classOf, (index) => figures[index].bytesPerSecond),
    linkLatencyPs: Float64Array.from(classOf, (index) => figures[index].latencyPs),
    sources: [source, ...topology.sources.filter((other) => !other.startsWith(CALIBRATED))],
    measured,
  };
}

/** Returns which of some sizes are beyond those that a network's figures were fitted to, in a sentence; null where none is. */
export function extrapolation({ measured }: Pick<Topology, "measured">, sizesBytes: readonly number[]): string | null {
  if (measured === undefined) return null;
  const { fromBytes, toBytes } = measured;
  const beyond = [...new Set(sizesBytes.filter((size) => size < fromBytes || size > toBytes))].sort((a, b) => a - b);
  if (beyond.length === 0) return null;
  const range =
    fromBytes === toBytes ? `at ${formatSize(fromBytes)}` : `from ${formatSize(fromBytes)} to ${formatSize(toBytes)}`;
  return `the network's figures were measured ${range}; at ${beyond.map(formatSize).join(", ")} they are extrapolated`;
}

/**
 * Returns for every link from source to target, [links], one that runs the other way and is equal in each of the columns
 * ([links] each), every link once; null when some link has none. The k-th of equal links from a to b gets the k-th from b to
 * a. O(links log links).
 */
export function oppositeLinks(
  source: Int32Array,
  target: Int32Array,
  columns: readonly Float64Array[],
): Int32Array | null {
  const sorted = (tail: Int32Array, head: Int32Array): Int32Array =>
    Int32Array.from(tail.keys()).sort(
      (a, b) =>
        tail[a] - tail[b] || head[a] - head[b] || columns.reduce((order, c) => order || c[a] - c[b], 0) || a - b,
    );
  const forward = sorted(source, target);
  const backward = sorted(target, source);
  const opposite = new Int32Array(source.length);
  for (let i = 0; i < forward.length; i++) {
    const [e, f] = [forward[i], backward[i]];
    if (source[e] !== target[f] || target[e] !== source[f] || columns.some((c) => c[e] !== c[f])) return null;
    opposite[e] = f;
  }
  return opposite;
}
