import { type Dimension, type DimensionKind, productTopology } from "../../model/presets/product.ts";
import type { RouteSet } from "../../model/routes/routes.ts";
import type { StepSchedule } from "../../model/steps/step-schedule.ts";
import { inLinks, isNpu, nodeCount, outLinks, type Topology } from "../../model/topology/topology.ts";

/** One of ASTRA-sim's analytical back ends, and the network that it is given in place of a schedule's. */
export interface AstraBackend {
  /** Aware: messages queue at links, and one dimension is all it takes. Unaware: a message's time is that of an idle network. */
  readonly congestion: "aware" | "unaware";
  readonly dimensions: readonly Dimension[];
  /** What the network is, where it is not the schedule's own: a sentence. */
  readonly stands: string | null;
  /** Messages that share a link go at its whole bandwidth, as if each had it alone: the end is at most the schedule's. */
  readonly early?: true;
}

/** A full mesh of this many NPUs has a million links. */
const MOST_FULL_MESH = 1024;

/**
 * Returns the back end in which every message of the schedule takes the time that it takes in the schedule's network; a
 * sentence that says why there is none. A network of one dimension, and any in which messages cross one link and all used links
 * are alike, run with their congestion (the latter as a full mesh, most links of which carry nothing); others only where a
 * dimension's messages are alike, each at the time of an idle network. O(links log links + transfers).
 */
export function astraBackend(schedule: StepSchedule): AstraBackend | string {
  const { topology } = schedule;
  const product = productDimensions(topology);
  if (typeof product !== "string" && product.length === 1)
    return { congestion: "aware", dimensions: product, stands: null };
  const direct = topology.npuCount <= MOST_FULL_MESH ? alikeAlong(schedule, [topology.npuCount], false) : "";
  const stands = "links that the network lacks carry nothing";
  if (typeof direct !== "string" && everyUsed(schedule, ({ linkOffset }, r) => linkOffset[r + 1] - linkOffset[r] === 1))
    return { congestion: "aware", dimensions: direct, stands: `a full mesh stands for the network: ${stands}` };
  const relayed = usedRoutes(schedule).find((route) => passesNpus(schedule, route));
  if (relayed !== undefined) {
    const { source, target } = schedule.routes;
    const ends = `${nameOf(topology, source[relayed])} to ${nameOf(topology, target[relayed])}`;
    return `${topology.name}: a message from ${ends} passes NPUs on its way`;
  }
  const whole = everyUsed(schedule, ({ shareNum, shareDen }, r) => shareNum[r] === shareDen[r]);
  if (typeof product !== "string" && whole) return { congestion: "unaware", dimensions: product, stands: null };
  const reasons: string[] = [];
  for (const sizes of [[topology.npuCount], topology.shape.filter((size) => size > 1)]) {
    const found = alikeAlong(schedule, sizes, true);
    if (typeof found !== "string")
      return { congestion: "unaware", dimensions: found, stands: `full meshes stand for the network: ${stands}` };
    reasons.push(found);
  }
  if (typeof product !== "string") return { congestion: "unaware", dimensions: product, stands: null, early: true };
  return `${topology.name}: ${product}, and ${reasons.at(-1)}`;
}

const passesNpus = ({ topology, routes }: StepSchedule, route: number): boolean =>
  routes.links
    .subarray(routes.linkOffset[route] + 1, routes.linkOffset[route + 1])
    .some((link) => isNpu(topology, topology.linkSource[link]));

/** Returns the routes that messages take. O(transfers). */
function usedRoutes({ route, routes }: StepSchedule): Int32Array {
  const used = new Uint8Array(routes.source.length);
  for (const r of route) used[r] = 1;
  return Int32Array.from(used.keys()).filter((r) => used[r] === 1);
}

const everyUsed = (schedule: StepSchedule, holds: (routes: RouteSet, route: number) => boolean): boolean =>
  usedRoutes(schedule).every((route) => holds(schedule.routes, route));

/**
 * Returns a full mesh for each size, with the bandwidth (with `shares`: the part of it that a message has) and latency that all
 * messages along it have; a sentence where some
 * differ, or go along several dimensions at once. O(transfers + routes x sizes).
 */
function alikeAlong(schedule: StepSchedule, sizes: readonly number[], shares: boolean): Dimension[] | string {
  const { topology, routes } = schedule;
  const found = sizes.map((): Dimension | null => null);
  if (sizes.reduce((all, size) => all * size, 1) !== topology.npuCount) return "its NPUs have no dimensions";
  for (const route of usedRoutes(schedule)) {
    const source = routes.source[route];
    const target = routes.target[route];
    const ends = `${nameOf(topology, source)} and ${nameOf(topology, target)}`;
    const d = dimensionBetween(source, target, sizes);
    if (d === null) return `${ends} differ in several dimensions`;
    let bytesPerSecond = Number.POSITIVE_INFINITY;
    let latencyPs = 0;
    for (let i = routes.linkOffset[route]; i < routes.linkOffset[route + 1]; i++) {
      bytesPerSecond = Math.min(bytesPerSecond, topology.linkBytesPerSecond[routes.links[i]]);
      latencyPs += topology.linkLatencyPs[routes.links[i]];
    }
    if (shares) bytesPerSecond *= routes.shareNum[route] / routes.shareDen[route];
    const known = found[d];
    if (known === null) found[d] = { kind: "fc", size: sizes[d], bytesPerSecond, latencyPs };
    else if (known.bytesPerSecond !== bytesPerSecond || known.latencyPs !== latencyPs)
      return `messages between ${ends} are not as fast as others along their dimension`;
  }
  // what nothing goes along has no figures; any will do
  const any = found.find((dimension) => dimension !== null);
  if (any === undefined || any === null) return "it has no messages";
  return found.map((dimension, d) => dimension ?? { ...any, size: sizes[d] });
}

/** Returns the one dimension in which two NPUs differ; null where they differ in several. */
function dimensionBetween(a: number, b: number, sizes: readonly number[]): number | null {
  let found: number | null = null;
  let [restA, restB] = [a, b];
  for (const [d, size] of sizes.entries()) {
    if (restA % size !== restB % size) {
      if (found !== null) return null;
      found = d;
    }
    [restA, restB] = [Math.floor(restA / size), Math.floor(restB / size)];
  }
  return found;
}

/** A dimension as seen from NPU 0: its neighbours there, and the links to them. */
interface Seen {
  readonly steps: number[];
  switched: boolean;
  link: number;
}

/**
 * Returns the dimensions (ring, fc, switch; none of size 1) whose product the network is, its switches in any order, or a
 * sentence that says why there are none. The sizes are those of `shape`, else one dimension of all NPUs. What NPU 0 sees is
 * taken for every NPU, and the product that this gives is compared with the network, link by link. O(links log links).
 */
export function productDimensions(topology: Topology): Dimension[] | string {
  const sizes = topology.shape.length > 0 ? topology.shape : [topology.npuCount];
  const seen = sizes.map((): Seen => ({ steps: [], switched: false, link: -1 }));
  const from = outLinks(topology);
  for (let i = from.offset[0]; i < from.offset[1]; i++) {
    const link = from.links[i];
    const next = topology.linkTarget[link];
    const switched = next >= topology.npuCount;
    const other = switched ? lowestOther(topology, next) : next;
    const found = stepTo(other, sizes);
    if (found === null) return `${nameOf(topology, 0)} has a link to ${nameOf(topology, next)}, along no dimension`;
    const dimension = seen[found.dimension];
    if (dimension.link >= 0 && (switched || dimension.switched)) {
      return `${nameOf(topology, 0)} has a switch and further links in dimension ${found.dimension}`;
    }
    dimension.switched = switched;
    dimension.link = link;
    dimension.steps.push(found.step);
  }
  const dimensions: Dimension[] = [];
  for (const [d, size] of sizes.entries()) {
    if (size === 1) continue;
    const kind = kindOf(seen[d], size);
    if (kind === null) return `dimension ${d} is no ring, full mesh or switch`;
    const { link } = seen[d];
    const bytesPerSecond = topology.linkBytesPerSecond[link];
    dimensions.push({ kind, size, bytesPerSecond, latencyPs: topology.linkLatencyPs[link] });
  }
  if (dimensions.length === 0) return "there is one NPU";
  return sameLinks(topology, productTopology(topology.name, dimensions, [])) ?? dimensions;
}

const nameOf = ({ nodeNames }: Topology, node: number): string => nodeNames[node];

/** Returns the lowest NPU but NPU 0 that a switch reaches, or 0. */
function lowestOther(topology: Topology, node: number): number {
  const { offset, links } = outLinks(topology);
  let lowest = 0;
  for (let i = offset[node]; i < offset[node + 1]; i++) {
    const npu = topology.linkTarget[links[i]];
    if (npu > 0 && npu < topology.npuCount && (lowest === 0 || npu < lowest)) lowest = npu;
  }
  return lowest;
}

/** Returns the dimension along which an NPU lies from NPU 0, and how far; null where there is none. */
function stepTo(npu: number, sizes: readonly number[]): { dimension: number; step: number } | null {
  let rest = npu;
  let found: { dimension: number; step: number } | null = null;
  for (const [dimension, size] of sizes.entries()) {
    const step = rest % size;
    rest = (rest - step) / size;
    if (step === 0) continue;
    if (found !== null) return null;
    found = { dimension, step };
  }
  return found;
}

function kindOf({ steps, switched, link }: Seen, size: number): DimensionKind | null {
  if (link < 0) return null;
  if (switched) return "switch";
  const different = new Set(steps);
  if (different.size !== steps.length) return null;
  if (steps.length === Math.min(2, size - 1) && different.has(1) && different.has(size - 1)) return "ring";
  return steps.length === size - 1 ? "fc" : null;
}

/** Returns null where both networks have the same links between the same NPUs and switches, else what differs. */
function sameLinks(topology: Topology, product: Topology): string | null {
  if (nodeCount(topology) !== nodeCount(product)) {
    return `it has ${nodeCount(topology)} nodes, and such a product ${nodeCount(product)}`;
  }
  const differ = "its links are not the same for all NPUs";
  const twins = switchTwins(topology, product);
  if (twins === null || topology.linkSource.length !== product.linkSource.length) return differ;
  const [own, other] = [sortedLinks(topology, twins), sortedLinks(product, null)];
  const same = own.every((column, c) => column.every((value, i) => value === other[c][i]));
  return same ? null : differ;
}

/** Returns for each node of the network that of the product: the same NPU, or the switch over the same lowest two NPUs. */
function switchTwins(topology: Topology, product: Topology): Int32Array | null {
  const keys = (network: Topology): string[] => {
    const { offset, links } = inLinks(network);
    return Array.from({ length: nodeCount(network) - network.npuCount }, (_, i) => {
      const node = network.npuCount + i;
      const npus = Array.from(links.subarray(offset[node], offset[node + 1]), (link) => network.linkSource[link]);
      return npus
        .sort((a, b) => a - b)
        .slice(0, 2)
        .join();
    });
  };
  const byKey = new Map(keys(product).map((key, i) => [key, product.npuCount + i]));
  const twins = Int32Array.from({ length: nodeCount(topology) }, (_, node) => node);
  for (const [i, key] of keys(topology).entries()) {
    const twin = byKey.get(key);
    if (twin === undefined) return null;
    byKey.delete(key);
    twins[topology.npuCount + i] = twin;
  }
  return twins;
}

/** Returns source, target, bandwidth and latency of all links, in ascending order of these. */
function sortedLinks(topology: Topology, twins: Int32Array | null): Float64Array[] {
  const renamed = (nodes: Int32Array): Float64Array => Float64Array.from(nodes, (node) => twins?.[node] ?? node);
  const columns = [
    renamed(topology.linkSource),
    renamed(topology.linkTarget),
    topology.linkBytesPerSecond,
    topology.linkLatencyPs,
  ];
  const order = Int32Array.from(columns[0].keys()).sort((a, b) =>
    columns.reduce((difference, column) => difference || column[a] - column[b], 0),
  );
  return columns.map((column) => Float64Array.from(order, (link) => column[link]));
}
