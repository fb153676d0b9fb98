import type { NodeTraits, Topology } from "../topology/topology.ts";
import { topologyBuilder } from "../topology/topology-builder.ts";
import { refuseHuge } from "./expression.ts";

/** How the NPUs that differ in one coordinate only are joined. */
export type DimensionKind = "ring" | "line" | "fc" | "switch";

export interface Dimension {
  readonly kind: DimensionKind;
  readonly size: number;
  readonly bytesPerSecond: number;
  readonly latencyPs: number;
  /** Its switches duplicate and sum messages. */
  readonly sums?: boolean;
}

/** What switches do that duplicate and sum. */
const SUMMING: NodeTraits = { multicast: true, aggregation: true };

/** Returns the steps to the neighbours of coordinate `x`, in the order their links are declared: as offsets modulo the size. */
function offsets(kind: DimensionKind, size: number, x: number): number[] {
  if (size === 1 || kind === "switch") return [];
  if (kind === "ring") return size === 2 ? [1] : [1, size - 1];
  if (kind === "fc") return Array.from({ length: size - 1 }, (_, step) => step + 1);
  return [...(x + 1 < size ? [1] : []), ...(x > 0 ? [size - 1] : [])];
}

/** Returns the number of directed links of one dimension of a product of `npus` NPUs. */
function dimensionLinks({ kind, size }: Dimension, npus: number): number {
  if (size === 1) return 0;
  if (kind === "ring") return size === 2 ? npus : 2 * npus;
  if (kind === "fc") return npus * (size - 1);
  return kind === "switch" ? 2 * npus : (2 * npus * (size - 1)) / size;
}

/**
 * Returns the Cartesian product of the dimensions, first one fastest: NPU id = x0 + d0*(x1 + d1*(x2 ...)). A ring of size 2
 * has one link each way; a dimension of size 1 has none; a switch dimension gives every line of NPUs one switch, named `sw3`,
 * or `d1s3` (dimension 1, fourth line) where several dimensions are switched.
 * Links are declared by NPU, then dimension, then distance (so that translations keep a link's place), then by switch.
 * Throws InputError above 1e7 links.
 */
export function productTopology(name: string, dimensions: readonly Dimension[], sources: readonly string[]): Topology {
  const npus = dimensions.reduce((product, { size }) => product * size, 1);
  const links = dimensions.reduce((sum, dimension) => sum + dimensionLinks(dimension, npus), 0);
  refuseHuge(Math.max(npus, links), name);

  const builder = topologyBuilder(name, links);
  builder.addNumberedNpus(npus);

  const switched = dimensions.filter(({ kind, size }) => kind === "switch" && size > 1).length;
  const firstSwitch: number[] = [];
  let nodes = npus;
  dimensions.forEach(({ kind, size, sums }, d) => {
    firstSwitch.push(nodes);
    if (kind !== "switch" || size === 1) return;
    for (let line = 0; line < npus / size; line++)
      builder.addSwitch(switched === 1 ? `sw${line}` : `d${d}s${line}`, sums === true ? SUMMING : {});
    nodes += npus / size;
  });

  const steps = dimensions.map(({ kind, size }) => {
    // all inner coordinates of a line share one answer; so do all coordinates of the other kinds
    const [first, inner, last] = [0, Math.min(1, size - 1), size - 1].map((x) => offsets(kind, size, x));
    return (x: number): number[] => (x === 0 ? first : x === size - 1 ? last : inner);
  });
  const coordinates = new Int32Array(dimensions.length);
  for (let npu = 0; npu < npus; npu++) {
    let stride = 1;
    for (let d = 0; d < dimensions.length; d++) {
      const { kind, size, bytesPerSecond, latencyPs } = dimensions[d];
      const x = coordinates[d];
      const ofLine = steps[d](x);
      for (let i = 0; i < ofLine.length; i++) {
        const to = npu + (((x + ofLine[i]) % size) - x) * stride;
        builder.addLink(npu, to, bytesPerSecond, latencyPs);
      }
      if (kind === "switch" && size > 1) {
        const line = (npu % stride) + Math.floor(npu / (stride * size)) * stride;
        builder.addLink(npu, firstSwitch[d] + line, bytesPerSecond, latencyPs);
      }
      stride *= size;
    }
    for (let d = 0; d < coordinates.length && ++coordinates[d] === dimensions[d].size; d++) coordinates[d] = 0;
  }
  let stride = 1;
  dimensions.forEach(({ kind, size, bytesPerSecond, latencyPs }, d) => {
    for (let line = 0; kind === "switch" && size > 1 && line < npus / size; line++) {
      const start = (line % stride) + Math.floor(line / stride) * stride * size;
      for (let x = 0; x < size; x++)
        builder.addLink(firstSwitch[d] + line, start + x * stride, bytesPerSecond, latencyPs);
    }
    stride *= size;
  });
  return builder.build({ shape: dimensions.map(({ size }) => size), sources });
}
