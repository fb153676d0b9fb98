import type { Collective } from "../collective/collective.ts";
import type { Grouped } from "../graph/graph.ts";
import type { Topology } from "../topology/topology.ts";
import { entering } from "./demand.ts";
import type { Ports } from "./sides.ts";

/** One dimension of a shape: the coordinate of every NPU in it. */
export interface Dimension {
  readonly size: number;
  /** NPUs next to each other in the numbering that have the same coordinate. */
  readonly stride: number;
  /** [NPUs] */
  readonly coordinate: Int32Array;
}

/** What crosses the borders of all prefixes of a dimension: element p is for the NPUs with a coordinate below p. */
export interface Borders {
  /** [size + 1] */
  readonly into: Float64Array;
  /** [size + 1] */
  readonly outOf: Float64Array;
}

/** Returns the coordinates of the k-th dimension of the shape, first dimension fastest. */
export function dimensionOf(shape: readonly number[], k: number, npuCount: number): Dimension {
  const size = shape[k];
  const stride = shape.slice(0, k).reduce((a, b) => a * b, 1);
  const coordinate = new Int32Array(npuCount);
  for (let npu = 0, x = 0; npu < npuCount; x = x + 1 === size ? 0 : x + 1) {
    for (const end = npu + stride; npu < end; npu++) coordinate[npu] = x;
  }
  return { size, stride, coordinate };
}

/** Returns how much of `amount` ([arcs], or of each arc) crosses the border of each prefix; exact while the sums are. O(arcs + size). */
export function bordersOf(
  { size, coordinate }: Dimension,
  tail: Int32Array,
  head: Int32Array,
  amount: Float64Array | number,
): Borders {
  const into = new Float64Array(size + 1);
  const outOf = new Float64Array(size + 1);
  // differences first: an arc from x to a larger y leaves the prefixes x + 1 .. y
  for (let arc = 0; arc < tail.length; arc++) {
    const from = coordinate[tail[arc]];
    const to = coordinate[head[arc]];
    if (from === to) continue;
    const sums = from < to ? outOf : into;
    const part = typeof amount === "number" ? amount : amount[arc];
    sums[Math.min(from, to) + 1] += part;
    const end = Math.max(from, to) + 1;
    if (end <= size) sums[end] -= part;
  }
  for (let p = 1; p <= size; p++) {
    into[p] += into[p - 1];
    outOf[p] += outOf[p - 1];
  }
  return { into, outOf };
}

/**
 * Returns bandwidths, bytes per second, that the borders of the prefixes have at least, wherever the switches are put: that
 * of the links between NPUs, and at each switch the lesser of what joins it to the NPUs on either side, less what rounding
 * of the sums may have added. O(links log links + size).
 */
export function leastBorders({ size, coordinate }: Dimension, topology: Topology, ports: Ports): Borders {
  const { npuCount, linkSource, linkTarget, linkBytesPerSecond } = topology;
  const { entering, leaving } = ports;
  /** [nodes] switches stand at 0, and their links count for nothing among those between NPUs. */
  const layer = new Int32Array(entering.offset.length - 1);
  layer.set(coordinate);
  const isDirect = (link: number): boolean => linkSource[link] < npuCount && linkTarget[link] < npuCount;
  const direct = linkBytesPerSecond.map((bandwidth, link) => (isDirect(link) ? bandwidth : 0));
  const borders = bordersOf({ size, stride: 1, coordinate: layer }, linkSource, linkTarget, direct);

  /** [size] from the switch at hand to the NPUs of a layer, and from them to it. */
  const down = new Float64Array(size);
  const up = new Float64Array(size);
  /** [size + 1] how much more all switches add to the border of a prefix than to that before. */
  const more: Borders = { into: new Float64Array(size + 1), outOf: new Float64Array(size + 1) };
  for (let node = npuCount; node < layer.length; node++) {
    const layers: number[] = [];
    const collect = ({ offset, items }: Grouped, end: Int32Array, sums: Float64Array): number => {
      let all = 0;
      for (let i = offset[node]; i < offset[node + 1]; i++) {
        const npu = end[items[i]];
        if (npu >= npuCount) continue;
        if (down[layer[npu]] === 0 && up[layer[npu]] === 0) layers.push(layer[npu]);
        sums[layer[npu]] += linkBytesPerSecond[items[i]];
        all += linkBytesPerSecond[items[i]];
      }
      return all;
    };
    let downOutside = collect(leaving, linkTarget, down);
    let upOutside = collect(entering, linkSource, up);
    let downInside = 0;
    let upInside = 0;
    for (const x of Int32Array.from(layers).sort()) {
      more.into[x + 1] -= Math.min(downInside, upOutside);
      more.outOf[x + 1] -= Math.min(upInside, downOutside);
      downInside += down[x];
      downOutside -= down[x];
      upInside += up[x];
      upOutside -= up[x];
      more.into[x + 1] += Math.min(downInside, upOutside);
      more.outOf[x + 1] += Math.min(upInside, downOutside);
      down[x] = 0;
      up[x] = 0;
    }
  }
  const total = linkBytesPerSecond.reduce((a, b) => a + b, 0);
  const rounding = 16 * linkSource.length * total * 2 ** -53;
  for (const [least, parts] of [
    [borders.into, more.into],
    [borders.outOf, more.outOf],
  ]) {
    let atSwitches = 0;
    for (let p = 1; p <= size; p++) {
      atSwitches += parts[p];
      least[p] = Math.max(0, least[p] + atSwitches - rounding);
    }
  }
  return borders;
}

/** Returns the chunks of a collective with a name that must cross the border of each prefix. O(members log members + size). */
export function prefixDemands(collective: Collective, { size, coordinate }: Dimension): Borders {
  const { groupCount, groupSize, groupMembers, rootRank } = collective;
  const into = new Float64Array(size + 1);
  const outOf = new Float64Array(size + 1);
  // differences first: a group's demand changes where members come inside
  for (let first = 0; first < groupCount * groupSize; first += groupSize) {
    const members = groupMembers.subarray(first, first + groupSize);
    const layers = members.map((npu) => coordinate[npu]).sort();
    const rootLayer = coordinate[members[rootRank]];
    let wasInto = 0;
    let wasOutOf = 0;
    for (let inside = 1; inside <= groupSize; inside++) {
      const layer = layers[inside - 1];
      if (inside < groupSize && layers[inside] === layer) continue;
      const nowInto = entering(collective, groupSize, inside, rootLayer <= layer);
      const nowOutOf = entering(collective, groupSize, groupSize - inside, rootLayer > layer);
      into[layer + 1] += nowInto - wasInto;
      outOf[layer + 1] += nowOutOf - wasOutOf;
      wasInto = nowInto;
      wasOutOf = nowOutOf;
    }
  }
  for (let p = 1; p <= size; p++) {
    into[p] += into[p - 1];
    outOf[p] += outOf[p - 1];
  }
  return { into, outOf };
}

/**
 * Yields the prefixes whose cut `beats` what is known, one at a time, that with the most demand per border first. After each,
 * `borders` is asked again, for what is known may have changed.
 */
export function* steepest(
  demands: Borders,
  borders: () => Borders,
  beats: (demand: number, border: number) => boolean,
): Generator<number> {
  const size = demands.into.length - 1;
  const tried = new Uint8Array(size + 1);
  for (;;) {
    const { into, outOf } = borders();
    let best = 0;
    let ratio = 0;
    const weigh = (p: number, demand: number, border: number): void => {
      if (demand === 0 || demand / border <= ratio || !beats(demand, border)) return;
      ratio = demand / border;
      best = p;
    };
    for (let p = 1; p < size; p++) {
      if (tried[p] === 1) continue;
      weigh(p, demands.into[p], into[p]);
      weigh(p, demands.outOf[p], outOf[p]);
    }
    if (best === 0) return;
    tried[best] = 1;
    yield best;
  }
}
