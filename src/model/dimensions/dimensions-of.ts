import { isNpu, outLinks, type Topology } from "../topology/topology.ts";
import type { LineKind, NetworkDimension } from "./dimensions.ts";
import { dimensionsOfSwitches, type GridDimension, switchPorts } from "./dimensions-of-switches.ts";

/** How the lines of a dimension are wired. */
export interface DimensionWiring extends NetworkDimension, GridDimension {
  /** Switches: [NPUs] the link to the NPU's switch, and the one back. Else empty. */
  readonly upLink: Int32Array;
  readonly downLink: Int32Array;
}

/** What the links of one dimension have in common, collected link by link. */
interface Collected extends GridDimension {
  /** Of a link; 0 before the first. */
  bytesPerSecond: number;
  latencyPs: number;
  /** Links between NPUs; of those, between neighbours of a line, and between its two ends. */
  links: number;
  neighbours: number;
  ends: number;
}

const wirings = new WeakMap<Topology, readonly DimensionWiring[] | null>();

/**
 * Returns the dimensions of a hierarchical network, those of size 2 or more, the first the fastest of the numbering; null where
 * the links are not exactly those of equal lines. The grid is the topology's shape; else its groups (boxes of equal size with
 * NPU id = local + size x box); else one line. A line is fully connected (so are lines of 2 and rings of 3), a ring, a line of
 * neighbours, or its NPUs have one link each to and from one switch, which lines of one dimension may share; all links of a
 * dimension are alike. O(links), once for each topology.
 */
export const dimensionsOf = (topology: Topology): readonly NetworkDimension[] | null => wiringOf(topology);

/** Returns the dimensions with the links of their switches; null as `dimensionsOf`. */
export function wiringOf(topology: Topology): readonly DimensionWiring[] | null {
  let wiring = wirings.get(topology);
  if (wiring === undefined) {
    wiring = collected(topology);
    wirings.set(topology, wiring);
  }
  return wiring;
}

/** Returns the sizes of the grid that the NPU numbering suggests. */
function gridOf({ shape, npuCount, nodeTraits }: Topology): readonly number[] {
  if (shape.length > 0) return shape;
  const first = nodeTraits[0].group;
  let size = 1;
  while (size < npuCount && nodeTraits[size].group === first) size++;
  if (first === undefined || npuCount % size !== 0) return [npuCount];
  const seen = new Set<string>();
  for (let npu = 0; npu < npuCount; npu++) {
    const { group } = nodeTraits[npu];
    if (npu % size !== 0 ? group !== nodeTraits[npu - 1].group : group === undefined || seen.has(group)) {
      return [npuCount];
    }
    seen.add(group as string);
  }
  return [size, npuCount / size];
}

function emptyGrid(topology: Topology): Collected[] {
  let stride = 1;
  const grid: Collected[] = [];
  for (const size of gridOf(topology)) {
    if (size > 1) grid.push({ size, stride, bytesPerSecond: 0, latencyPs: 0, links: 0, neighbours: 0, ends: 0 });
    stride *= size;
  }
  return grid;
}

/** Returns the only dimension in which two NPUs differ; -1 where there are more. */
function dimensionBetween(grid: readonly GridDimension[], a: number, b: number): number {
  let at = -1;
  for (let d = 0; d < grid.length; d++) {
    const { stride, size } = grid[d];
    if (Math.floor(a / stride) % size === Math.floor(b / stride) % size) continue;
    if (at >= 0) return -1;
    at = d;
  }
  return at;
}

/** Notes a link's figures; returns whether they are those of all other links of the dimension. */
function isAlike(one: Collected, { linkBytesPerSecond, linkLatencyPs }: Topology, link: number): boolean {
  if (one.bytesPerSecond === 0) {
    one.bytesPerSecond = linkBytesPerSecond[link];
    one.latencyPs = linkLatencyPs[link];
  }
  return one.bytesPerSecond === linkBytesPerSecond[link] && one.latencyPs === linkLatencyPs[link];
}

/** Takes the links between NPUs; returns false where one is of no line, unlike the others, or a second one of two NPUs. */
function takeLinks(topology: Topology, grid: readonly Collected[]): boolean {
  const { linkTarget, npuCount } = topology;
  const { offset, links } = outLinks(topology);
  const lastSource = new Int32Array(npuCount).fill(-1);
  for (let from = 0; from < npuCount; from++) {
    for (let k = offset[from]; k < offset[from + 1]; k++) {
      const to = linkTarget[links[k]];
      if (!isNpu(topology, to)) continue;
      const d = dimensionBetween(grid, from, to);
      if (d < 0 || lastSource[to] === from || !isAlike(grid[d], topology, links[k])) return false;
      lastSource[to] = from;
      const one = grid[d];
      const distance = Math.abs(to - from) / one.stride;
      one.links++;
      if (distance === 1) one.neighbours++;
      else if (distance === one.size - 1) one.ends++;
    }
  }
  return true;
}

/** Returns how the lines are joined that have these links, which lie between different NPUs; null where it is in no such way. */
function kindOf({ size, links, neighbours, ends }: Collected, npus: number): LineKind | null {
  const lines = npus / size;
  if (links === lines * size * (size - 1)) return "fc";
  if (neighbours !== lines * 2 * (size - 1) || links !== neighbours + ends) return null;
  if (ends === 0) return "line";
  return ends === 2 * lines ? "ring" : null;
}

const directLinks = (kind: LineKind, size: number): number => (kind === "fc" ? size - 1 : kind === "ring" ? 2 : 1);
const NO_LINKS = new Int32Array(0);

/** Takes the switches; returns each dimension's links to and from them (empty: it has none), null where they fit no grid. */
function takeSwitches(
  topology: Topology,
  grid: readonly Collected[],
): { up: Int32Array; down: Int32Array; inNetwork: boolean }[] | null {
  const { npuCount, nodeTraits } = topology;
  const ports = switchPorts(topology);
  if (ports === null) return null;
  const joined = grid.map(({ links }) => links > 0);
  const of = dimensionsOfSwitches(grid, joined, ports);
  if (of === null) return null;
  const linked = grid.map((_, d) => ({
    up: of.includes(d) ? new Int32Array(npuCount).fill(-1) : NO_LINKS,
    down: of.includes(d) ? new Int32Array(npuCount).fill(-1) : NO_LINKS,
    inNetwork: of.includes(d),
  }));
  for (let hub = 0; hub < ports.length; hub++) {
    const one = linked[of[hub]];
    const { npus, up, down } = ports[hub];
    const { multicast, aggregation } = nodeTraits[npuCount + hub];
    if (multicast !== true || aggregation !== true) one.inNetwork = false;
    for (let i = 0; i < npus.length; i++) {
      if (one.up[npus[i]] >= 0) return null;
      one.up[npus[i]] = up[i];
      one.down[npus[i]] = down[i];
      if (!isAlike(grid[of[hub]], topology, up[i]) || !isAlike(grid[of[hub]], topology, down[i])) return null;
    }
  }
  return linked;
}

function collected(topology: Topology): readonly DimensionWiring[] | null {
  const grid = emptyGrid(topology);
  if (grid.length === 0 || grid.length > 255 || !takeLinks(topology, grid)) return null;
  const switches = takeSwitches(topology, grid);
  if (switches === null) return null;
  const wiring: DimensionWiring[] = [];
  for (let d = 0; d < grid.length; d++) {
    const { size, stride, links, bytesPerSecond, latencyPs } = grid[d];
    const { up, down, inNetwork } = switches[d];
    const switched = up.length > 0;
    if (switched ? links > 0 || up.includes(-1) : links === 0) return null;
    const kind = switched ? "switch" : kindOf(grid[d], topology.npuCount);
    if (kind === null) return null;
    const figures = {
      bytesPerSecond: switched ? bytesPerSecond : directLinks(kind, size) * bytesPerSecond,
      stepPs: switched ? 2 * latencyPs : latencyPs,
    };
    if (!Object.values(figures).every(Number.isSafeInteger)) return null;
    wiring.push({
      kind,
      size,
      ...figures,
      inNetwork,
      stride,
      upLink: up,
      downLink: down,
    });
  }
  return wiring;
}
