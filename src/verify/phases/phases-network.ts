import type { LineAlgorithm, NetworkDimension } from "../../model/dimensions/dimensions.ts";
import { switchCount, type Topology } from "../../model/topology/topology.ts";
import type { Recorder } from "../violation.ts";

/** Dimensions with the ids of their lines: NPU id = x0 + d0*(x1 + d1*(x2 ...)). */
interface Grid {
  readonly sizes: readonly number[];
  /** Ids of neighbours differ by so much. */
  readonly strides: readonly number[];
}

/** Rates between neighbours: of each NPU to the neighbours of one dimension. */
interface Neighbours {
  /** Steps to the neighbours, modulo the size. */
  readonly offsets: readonly number[];
  /** [NPUs * offsets] bytes per second over links no slower than stated. */
  readonly rates: Float64Array;
}

export interface StatedDimensions {
  readonly topology: Topology;
  readonly dimensions: readonly NetworkDimension[];
  readonly algorithms: readonly LineAlgorithm[];
}

/**
 * Records dimensions that the network does not have: where an NPU has too little bandwidth to a neighbour of its line, or a
 * line to the switches that serve it, over links whose latency is no more than stated. Links that no dimension needs do not
 * matter; none serves two. Offload counts only switches that sum and duplicate. O(links * dimensions).
 */
export function checkProduct(stated: StatedDimensions, recorder: Recorder): void {
  const sizes = stated.dimensions.map(({ size }) => size);
  const strides = sizes.map((_, d) => sizes.slice(0, d).reduce((product, size) => product * size, 1));
  const grid = { sizes, strides };
  if (lacksLinks(stated, recorder)) return;
  checkNeighbours(stated, grid, recorder);
  if (stated.dimensions.some(({ kind }) => kind === "switch")) checkSwitches(stated, grid, recorder);
}

/** Records fully connected dimensions of more links than the network has, so that rates of no more pairs than these are told. */
function lacksLinks({ topology, dimensions }: StatedDimensions, recorder: Recorder): boolean {
  const links = topology.linkSource.length;
  let lacks = false;
  for (const [d, { kind, size }] of dimensions.entries()) {
    const needed = topology.npuCount * (size - 1);
    if (kind !== "fc" || needed <= links) continue;
    lacks = true;
    const message = `dimension ${d} (fc:${size}) needs ${needed} links, where the network has ${links}`;
    recorder.record(() => ({ kind: "no-product", dimension: d, message }));
  }
  return lacks;
}

const coordinate = (npu: number, d: number, { sizes, strides }: Grid): number =>
  Math.floor(npu / strides[d]) % sizes[d];

function offsetsOf({ kind, size }: NetworkDimension): readonly number[] {
  if (kind === "switch") return [];
  if (kind === "fc") return Array.from({ length: size - 1 }, (_, i) => i + 1);
  return size === 2 ? [1] : [1, size - 1];
}

/** Returns the dimension in which two NPUs differ; -1 where they differ in several. */
function dimensionBetween(a: number, b: number, grid: Grid): number {
  let found = -1;
  for (let d = 0; d < grid.sizes.length; d++) {
    if (coordinate(a, d, grid) === coordinate(b, d, grid)) continue;
    if (found >= 0) return -1;
    found = d;
  }
  return found;
}

function checkNeighbours({ topology, dimensions }: StatedDimensions, grid: Grid, recorder: Recorder): void {
  const { npuCount, linkSource, linkTarget, linkBytesPerSecond, linkLatencyPs, nodeNames } = topology;
  const direct = dimensions.map((dimension): Neighbours => {
    const offsets = offsetsOf(dimension);
    return { offsets, rates: new Float64Array(npuCount * offsets.length) };
  });
  for (let link = 0; link < linkSource.length; link++) {
    const from = linkSource[link];
    const to = linkTarget[link];
    if (from >= npuCount || to >= npuCount) continue;
    const d = dimensionBetween(from, to, grid);
    if (d < 0 || linkLatencyPs[link] > dimensions[d].stepPs) continue;
    const { offsets, rates } = direct[d];
    const size = grid.sizes[d];
    const step = (coordinate(to, d, grid) - coordinate(from, d, grid) + size) % size;
    const i = dimensions[d].kind === "fc" ? step - 1 : offsets.indexOf(step);
    if (i >= 0) rates[from * offsets.length + i] += linkBytesPerSecond[link];
  }
  for (const [d, { kind, size, bytesPerSecond, stepPs }] of dimensions.entries()) {
    const { offsets, rates } = direct[d];
    const needed = kind === "line" ? bytesPerSecond : Math.ceil(bytesPerSecond / offsets.length);
    for (let i = 0; i < rates.length; i++) {
      if (rates[i] >= needed) continue;
      const npu = Math.floor(i / offsets.length);
      const x = coordinate(npu, d, grid);
      const offset = offsets[i % offsets.length];
      if (kind === "line" && size > 2 && x === (offset === 1 ? size - 1 : 0)) continue;
      recorder.record(() => {
        const neighbour = npu + (((x + offset) % size) - x) * grid.strides[d];
        const has = `${rates[i]} bytes/s within ${stepPs} ps`;
        const message = `dimension ${d} (${kind}:${size}) needs ${needed} bytes/s from NPU ${nodeNames[npu]} to ${nodeNames[neighbour]}, where the network has ${has}`;
        return { kind: "no-product", dimension: d, npu, message };
      });
    }
  }
}

/** A switch with the NPUs that have links to and from it. */
interface Attached {
  readonly npus: Int32Array;
  /** [npus] bytes per second. */
  readonly up: Float64Array;
  readonly down: Float64Array;
  /** [npus] picoseconds, the greatest of parallel links. */
  readonly upPs: Float64Array;
  readonly downPs: Float64Array;
  readonly sums: boolean;
}

/** Returns what is attached to each switch, NPUs with links both ways only. O(links log links). */
function attachedOf(topology: Topology): Attached[] {
  const { npuCount, linkSource, linkTarget, linkBytesPerSecond, linkLatencyPs, nodeTraits } = topology;
  const rows = Array.from({ length: switchCount(topology) }, () => new Map<number, number[]>());
  for (let link = 0; link < linkSource.length; link++) {
    const isUp = linkSource[link] < npuCount && linkTarget[link] >= npuCount;
    const isDown = linkSource[link] >= npuCount && linkTarget[link] < npuCount;
    if (!isUp && !isDown) continue;
    const [npu, hub] = isUp ? [linkSource[link], linkTarget[link]] : [linkTarget[link], linkSource[link]];
    const row = rows[hub - npuCount].get(npu) ?? [0, 0, 0, 0];
    const way = isUp ? 0 : 1;
    row[way] += linkBytesPerSecond[link];
    row[2 + way] = Math.max(row[2 + way], linkLatencyPs[link]);
    rows[hub - npuCount].set(npu, row);
  }
  return rows.map((row, s) => {
    const both = [...row].filter(([, [up, down]]) => up > 0 && down > 0);
    const { multicast = false, aggregation = false } = nodeTraits[npuCount + s] ?? {};
    const column = (i: number): Float64Array => Float64Array.from(both, ([, values]) => values[i] as number);
    const npus = Int32Array.from(both, ([npu]) => npu);
    return { npus, up: column(0), down: column(1), upPs: column(2), downPs: column(3), sums: multicast && aggregation };
  });
}

/** Returns whether what is attached to a switch is made of whole lines of a dimension. */
function holdsLines({ npus }: Attached, d: number, grid: Grid): boolean {
  const members = new Map<number, number>();
  for (const npu of npus) {
    const line = npu - coordinate(npu, d, grid) * grid.strides[d];
    members.set(line, (members.get(line) ?? 0) + 1);
  }
  for (const many of members.values()) if (many !== grid.sizes[d]) return false;
  return npus.length > 0;
}

/** Adds what a switch carries for every line of a dimension: the least of its NPUs' rates, where it is fast enough. */
function addRates(hub: Attached, d: number, stepPs: number, grid: Grid, rates: Float64Array): void {
  const lines = new Map<number, number[]>();
  hub.npus.forEach((npu, i) => {
    const line = npu - coordinate(npu, d, grid) * grid.strides[d];
    const [rate, upPs, downPs] = lines.get(line) ?? [Number.POSITIVE_INFINITY, 0, 0];
    lines.set(line, [
      Math.min(rate, hub.up[i], hub.down[i]),
      Math.max(upPs, hub.upPs[i]),
      Math.max(downPs, hub.downPs[i]),
    ]);
  });
  for (const [line, [rate, upPs, downPs]] of lines) if (upPs + downPs <= stepPs) rates[line] += rate;
}

/**
 * Holds the switched dimensions against the switches. One whose NPUs are lines of several dimensions serves the first of them
 * that cannot do without it.
 */
function checkSwitches({ topology, dimensions, algorithms }: StatedDimensions, grid: Grid, recorder: Recorder): void {
  const { npuCount, nodeNames } = topology;
  const hubs = attachedOf(topology);
  const switched = dimensions.flatMap(({ kind }, d) => (kind === "switch" ? [d] : []));
  const able = (hub: Attached, d: number): boolean => algorithms[d] !== "offload" || hub.sums;
  const servable = hubs.map((hub) => switched.filter((d) => able(hub, d) && holdsLines(hub, d, grid)));
  const taken = servable.map((own) => own.length === 0);
  for (const d of switched) {
    const { bytesPerSecond, stepPs, size } = dimensions[d];
    const rates = new Float64Array(npuCount);
    const serve = (s: number): void => {
      taken[s] = true;
      addRates(hubs[s], d, stepPs, grid, rates);
    };
    const isStart = (npu: number): boolean => coordinate(npu, d, grid) === 0;
    const short = (): number => rates.findIndex((rate, npu) => isStart(npu) && rate < bytesPerSecond);
    hubs.forEach((_, s) => {
      if (!taken[s] && servable[s].length === 1 && servable[s][0] === d) serve(s);
    });
    if (short() >= 0)
      hubs.forEach((_, s) => {
        if (!taken[s] && servable[s].includes(d)) serve(s);
      });
    for (let npu = 0; npu < npuCount; npu++) {
      if (!isStart(npu) || rates[npu] >= bytesPerSecond) continue;
      recorder.record(() => {
        const what = algorithms[d] === "offload" ? "switches that sum and duplicate" : "a switch";
        const has = `${rates[npu]} bytes/s within ${stepPs} ps`;
        const message = `dimension ${d} (switch:${size}) needs ${bytesPerSecond} bytes/s through ${what} for the line of NPU ${nodeNames[npu]}, where the network has ${has}`;
        return { kind: "no-product", dimension: d, npu, message };
      });
    }
  }
}
