import { addTo } from "../numbers/ordering.ts";
import { isNpu, linkCount, nodeCount, placesOf, type Topology } from "../topology/topology.ts";
import { dimensionBetween, type GridDimension, gridOf, type LineKind, wiringOf } from "./dimensions.ts";

/** A network may lack, or have slower, one cable, or one link in so many: some are fully connected but for a few links by design. */
const LEAST_INTACT = 8;

const designs = new WeakMap<Topology, Topology | null>();

/**
 * Returns the hierarchical network (`wiringOf`) that a network was before links or switches of it failed or slowed down: its own
 * nodes and links keep their numbers, links have the figures that most of their dimension have, and what failed follows them. An
 * intact network is its own design. Null where the network is no grid by its shape or boxes, lacks NPUs of it, or differs in more
 * than a cable and an eighth of the links. O(links), once for each topology.
 */
export function designOf(topology: Topology): Topology | null {
  let design = designs.get(topology);
  if (design === undefined) {
    design = wiringOf(topology) === null ? restored(topology) : topology;
    designs.set(topology, design);
  }
  return design;
}

/** What the links of one dimension show. */
interface Shown extends GridDimension {
  readonly links: number[];
  /** Between the NPUs of links, 1 .. size - 1. */
  readonly distances: Set<number>;
  /** By line, the id of its first NPU: the switch that joins it. */
  readonly hubs: Map<number, number>;
}

/** Links and switches that are to be added. */
interface Additions {
  readonly switches: string[];
  readonly source: number[];
  readonly target: number[];
  readonly dimension: number[];
}

const lineOf = (npu: number, { stride, size }: GridDimension): number =>
  npu - (Math.floor(npu / stride) % size) * stride;

/** Returns the ids of the first NPUs of all lines. */
function linesOf({ stride, size }: GridDimension, npus: number): number[] {
  const lines: number[] = [];
  for (let first = 0; first < npus; first += stride * size) {
    for (let line = first; line < first + stride; line++) lines.push(line);
  }
  return lines;
}

function restored(topology: Topology): Topology | null {
  const grid = placesOf(topology);
  const whole = { ...topology, shape: grid?.shape ?? [] };
  if (grid?.place.some((place, npu) => place !== npu)) return null;
  const sizes = gridOf(whole);
  if (grid === null && sizes.length < 2) return null;
  if (sizes.reduce((product, size) => product * size, 1) !== topology.npuCount) return null;
  const shown = shownBy(topology, sizes);
  if (shown === null || !takeHubs(topology, shown)) return null;
  const added = missing(topology, shown);
  if (added === null) return null;
  const figures = shown.map(({ links }) => usual(topology, links));
  const design = extended(whole, shown, added, figures);
  return design !== null && wiringOf(design) !== null ? design : null;
}

/** Returns what the links between NPUs show; null where one is of no dimension. */
function shownBy(topology: Topology, sizes: readonly number[]): Shown[] | null {
  let stride = 1;
  const shown: Shown[] = [];
  for (const size of sizes) {
    if (size > 1) shown.push({ size, stride, links: [], distances: new Set(), hubs: new Map() });
    stride *= size;
  }
  const { linkSource, linkTarget } = topology;
  for (let link = 0; link < linkCount(topology); link++) {
    const [from, to] = [linkSource[link], linkTarget[link]];
    if (!isNpu(topology, from) || !isNpu(topology, to)) continue;
    const d = dimensionBetween(shown, from, to);
    if (d < 0) return null;
    shown[d].links.push(link);
    shown[d].distances.add(Math.abs(to - from) / shown[d].stride);
  }
  return shown;
}

/** Notes which switch joins which lines, and the links to and from it; returns false where that is not clear. */
function takeHubs(topology: Topology, shown: readonly Shown[]): boolean {
  const { linkSource, linkTarget, npuCount } = topology;
  const linksOf = new Map<number, number[]>();
  for (let link = 0; link < linkCount(topology); link++) {
    const [from, to] = [linkSource[link], linkTarget[link]];
    if (isNpu(topology, from) && isNpu(topology, to)) continue;
    if (!isNpu(topology, from) && !isNpu(topology, to)) return false;
    addTo(linksOf, Math.max(from, to), link);
  }
  const npusOf = (hub: number): number[] =>
    (linksOf.get(hub) ?? []).map((link) => Math.min(linkSource[link], linkTarget[link]));
  const join = (hub: number, d: number): boolean => {
    for (const line of new Set(npusOf(hub).map((npu) => lineOf(npu, shown[d])))) {
      if ((shown[d].hubs.get(line) ?? hub) !== hub) return false;
      shown[d].hubs.set(line, hub);
    }
    for (const link of linksOf.get(hub) ?? []) shown[d].links.push(link);
    return true;
  };
  const shared: number[] = [];
  for (let hub = npuCount; hub < nodeCount(topology); hub++) {
    const npus = npusOf(hub);
    const fits = shown.flatMap((one, d) => (npus.every((npu) => lineOf(npu, one) === lineOf(npus[0], one)) ? [d] : []));
    if (npus.length === 0) continue;
    if (fits.length !== 1) shared.push(hub);
    else if (!join(hub, fits[0])) return false;
  }
  // a switch of several lines joins the only dimension that nothing joins so far
  const open = shown.flatMap(({ links }, d) => (links.length === 0 ? [d] : []));
  return shared.length === 0 || (open.length === 1 && shared.every((hub) => join(hub, open[0])));
}

/** Returns how lines are joined that show links over these distances; of size 2 all are. */
function kindShown({ size, distances }: Shown): LineKind {
  for (const distance of distances) if (distance > 1 && distance < size - 1) return "fc";
  return distances.has(size - 1) ? (size <= 3 ? "fc" : "ring") : "line";
}

/** Returns the links and switches that the dimensions lack; null where one is joined in no way, or in two. */
function missing(topology: Topology, shown: readonly Shown[]): Additions | null {
  const { linkSource, linkTarget, npuCount } = topology;
  const has = new Set<number>();
  const keyOf = (from: number, to: number): number => from * 2 * nodeCount(topology) + to;
  for (let link = 0; link < linkCount(topology); link++) has.add(keyOf(linkSource[link], linkTarget[link]));
  const added: Additions = { switches: [], source: [], target: [], dimension: [] };
  const demand = (from: number, to: number, d: number): void => {
    if (has.has(keyOf(from, to))) return;
    added.source.push(from);
    added.target.push(to);
    added.dimension.push(d);
  };
  for (const [d, one] of shown.entries()) {
    const { size, stride, hubs, distances } = one;
    if (hubs.size > 0 === distances.size > 0) return null;
    const kind = kindShown(one);
    for (const line of linesOf(one, npuCount)) {
      const members = Array.from({ length: size }, (_, x) => line + x * stride);
      if (hubs.size > 0) {
        const hub = hubs.get(line) ?? nodeCount(topology) + added.switches.push(`failed switch of ${line} in ${d}`) - 1;
        for (const npu of members) {
          demand(npu, hub, d);
          demand(hub, npu, d);
        }
        continue;
      }
      for (let x = 0; x < size; x++) {
        for (let y = 0; y < size; y++) {
          const distance = Math.abs(x - y);
          const isJoined =
            distance === 1 || (distance > 0 && kind === "fc") || (distance === size - 1 && kind === "ring");
          if (isJoined) demand(members[x], members[y], d);
        }
      }
    }
  }
  return added;
}

/** Rate and latency of a link. */
interface Figures {
  readonly bytesPerSecond: number;
  readonly latencyPs: number;
}

/** Returns the figures that most of some links have, of equally many the faster ones. O(links). */
function usual({ linkBytesPerSecond, linkLatencyPs }: Topology, links: readonly number[]): Figures {
  const many = new Map<string, number>();
  let best = { bytesPerSecond: 0, latencyPs: 0, count: 0 };
  for (const link of links) {
    const [bytesPerSecond, latencyPs] = [linkBytesPerSecond[link], linkLatencyPs[link]];
    const key = `${bytesPerSecond} ${latencyPs}`;
    const count = (many.get(key) ?? 0) + 1;
    many.set(key, count);
    if (count > best.count || (count === best.count && bytesPerSecond > best.bytesPerSecond))
      best = { bytesPerSecond, latencyPs, count };
  }
  return best;
}

/** Returns the network with what failed; null where that would be too much of it. */
function extended(
  topology: Topology,
  shown: readonly Shown[],
  added: Additions,
  figures: readonly Figures[],
): Topology | null {
  const links = linkCount(topology);
  const all = links + added.source.length;
  const bytesPerSecond = new Float64Array(all);
  const latencyPs = new Float64Array(all);
  const set = (link: number, d: number): void => {
    bytesPerSecond[link] = figures[d].bytesPerSecond;
    latencyPs[link] = figures[d].latencyPs;
  };
  let slow = 0;
  shown.forEach((one, d) => {
    for (const link of one.links) {
      set(link, d);
      const isUsual = topology.linkBytesPerSecond[link] === bytesPerSecond[link];
      if (!isUsual || topology.linkLatencyPs[link] !== latencyPs[link]) slow++;
    }
  });
  const hurt = added.source.length + slow;
  if (hurt > 2 && hurt * LEAST_INTACT > all) return null;
  for (const [i, d] of added.dimension.entries()) set(links + i, d);
  const { remnant: _, ...kept } = topology;
  return {
    ...kept,
    nodeNames: [...topology.nodeNames, ...added.switches],
    nodeTraits: [...topology.nodeTraits, ...added.switches.map(() => ({}))],
    linkSource: Int32Array.from([...topology.linkSource, ...added.source]),
    linkTarget: Int32Array.from([...topology.linkTarget, ...added.target]),
    linkBytesPerSecond: bytesPerSecond,
    linkLatencyPs: latencyPs,
  };
}
