import { isNpu, outLinks, switchCount, type Topology } from "../topology/topology.ts";

/** How the NPUs of a line are joined that differ in one coordinate only. */
export type LineKind = "ring" | "line" | "fc" | "switch";

/**
 * One dimension of a hierarchical network (Themis, table 2): its NPUs form lines of `size`, all wired alike. NPU id =
 * x0 + d0*(x1 + d1*(x2 ...)), the first dimension fastest.
 */
export interface NetworkDimension {
  readonly kind: LineKind;
  /** NPUs of a line, 2 or more. */
  readonly size: number;
  /** What an NPU can send in this dimension (aggregate over its links, one direction), exact; on a line: one link. */
  readonly bytesPerSecond: number;
  /** From an NPU to the next one it sends to, picoseconds. */
  readonly stepPs: number;
  /** The dimension's switches duplicate and sum messages. */
  readonly inNetwork: boolean;
}

/** How a line reduce-scatters; it all-gathers by the same in reversed time. "offload": the switch sums and duplicates. */
export type LineAlgorithm = "ring" | "line" | "direct" | "halving-doubling" | "offload";

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
export function gridOf({ shape, npuCount, nodeTraits }: Topology): readonly number[] {
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
export function dimensionBetween(grid: readonly GridDimension[], a: number, b: number): number {
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

/** Returns what one link of a dimension carries. */
export const linkBytesPerSecond = ({ kind, size, bytesPerSecond }: NetworkDimension): number =>
  bytesPerSecond / directLinks(kind, size);

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

/** The NPUs of a switch and their links to and from it. */
interface SwitchPorts {
  readonly npus: number[];
  readonly up: number[];
  readonly down: number[];
}

/** One dimension of a grid: NPU id / stride modulo size is the coordinate. */
export interface GridDimension {
  readonly size: number;
  readonly stride: number;
}

/** Returns the ports of every switch; null where it has links to other switches, two to one NPU, or one way only. O(links). */
function switchPorts(topology: Topology): SwitchPorts[] | null {
  const { linkSource, linkTarget, npuCount } = topology;
  const ports = Array.from({ length: switchCount(topology) }, (): SwitchPorts => ({ npus: [], up: [], down: [] }));
  const back = ports.map(() => new Map<number, number>());
  for (let link = 0; link < linkSource.length; link++) {
    if (isNpu(topology, linkSource[link])) continue;
    const leaving = back[linkSource[link] - npuCount];
    if (!isNpu(topology, linkTarget[link]) || leaving.has(linkTarget[link])) return null;
    leaving.set(linkTarget[link], link);
  }
  for (let link = 0; link < linkSource.length; link++) {
    if (isNpu(topology, linkTarget[link])) continue;
    const hub = linkTarget[link] - npuCount;
    const npu = linkSource[link];
    const down = back[hub].get(npu);
    if (down === undefined) return null;
    back[hub].delete(npu);
    ports[hub].npus.push(npu);
    ports[hub].up.push(link);
    ports[hub].down.push(down);
  }
  return back.every((rest) => rest.size === 0) ? ports : null;
}

/** Returns whether the NPUs are one or several whole lines of the dimension: closed under a step along them. */
function isWholeLines({ size, stride }: GridDimension, npus: readonly number[]): boolean {
  if (npus.length === 0 || npus.length % size !== 0) return false;
  const has = new Set(npus);
  return npus.every((npu) => {
    const x = Math.floor(npu / stride) % size;
    return has.has(x + 1 < size ? npu + stride : npu - x * stride);
  });
}

/**
 * Returns the dimension of each switch: the one of whose lines its NPUs are exactly one; those left over are of the only
 * dimension that nothing joins so far (`joined`), of which their NPUs are several lines. Null where that is not so.
 */
function dimensionsOfSwitches(
  grid: readonly GridDimension[],
  joined: readonly boolean[],
  ports: readonly SwitchPorts[],
): Int32Array | null {
  const of = Int32Array.from(ports, ({ npus }) =>
    grid.findIndex((one) => one.size === npus.length && isWholeLines(one, npus)),
  );
  const open = grid.map((_, d) => d).filter((d) => !joined[d] && !of.includes(d));
  for (let hub = 0; hub < ports.length; hub++) {
    if (of[hub] >= 0) continue;
    if (open.length !== 1 || !isWholeLines(grid[open[0]], ports[hub].npus)) return null;
    of[hub] = open[0];
  }
  return of;
}
