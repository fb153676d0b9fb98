import { nodeCount, type Topology } from "../../model/topology/topology.ts";
import type { Wire } from "./wires.ts";

/** Returns whether the network is drawn as its grid: two or more dimensions (or a line), and links along them only. */
export function isGrid({ shape, ...topology }: Topology, wires: readonly Wire[]): boolean {
  const nodes = topology.nodeNames.length;
  if (topology.npuCount !== nodes || shape.reduce((product, size) => product * size, 1) !== nodes) return false;
  const long = shape.filter((size) => size > 1).length;
  if (long === 1) return wires.every(({ a, b }) => b - a === 1);
  return long > 1 && wires.every(({ a, b }) => dimensionBetween(shape, a, b) !== null);
}

/** Returns the one dimension in which two nodes differ, and by how much; null where there are more. */
function dimensionBetween(shape: readonly number[], a: number, b: number): { axis: number; apart: number } | null {
  let found: { axis: number; apart: number } | null = null;
  let [restA, restB] = [a, b];
  for (const [axis, size] of shape.entries()) {
    const [inA, inB] = [restA % size, restB % size];
    if (inA !== inB) {
      if (found !== null) return null;
      found = { axis, apart: Math.abs(inA - inB) };
    }
    restA = (restA - inA) / size;
    restB = (restB - inB) / size;
  }
  return found;
}

/** Steps of one node along each dimension; the third goes into the depth, the fourth and later ones repeat the picture. */
function stepsOf(shape: readonly number[]): { steps: [number, number][]; radius: number } {
  const flat = shape.length < 3;
  const most = Math.max(shape[0], shape[1] ?? 1);
  const cell = Math.max(22, Math.min(flat ? 92 : 150, 1100 / most));
  const steps: [number, number][] = [
    [cell, 0],
    [0, cell],
  ];
  if (flat) return { steps, radius: Math.min(17, cell * 0.3) };
  const depth = cell / Math.max(2.4, shape[2] * 1.25);
  steps.push([depth, -0.72 * depth]);
  let wide = cell * shape[0] + depth * (shape[2] - 1);
  let tall = cell * shape[1] + 0.72 * depth * (shape[2] - 1);
  for (let axis = 3; axis < shape.length; axis++) {
    const across = axis % 2 === 1;
    steps.push(across ? [wide, 0] : [0, tall]);
    if (across) wide *= shape[axis];
    else tall *= shape[axis];
  }
  return { steps, radius: Math.min(15, depth * 0.42) };
}

/** Returns the grid: dimensions along x, y and into the depth; links that wrap around are bent. O(nodes). */
export function gridLayout(topology: Topology): Layout {
  const { shape } = topology;
  const nodes = nodeCount(topology);
  const { steps, radius } = stepsOf(shape);
  const x = new Float64Array(nodes);
  const y = new Float64Array(nodes);
  for (let node = 0; node < nodes; node++) {
    let rest = node;
    for (const [axis, size] of shape.entries()) {
      x[node] += (rest % size) * steps[axis][0];
      y[node] += (rest % size) * steps[axis][1];
      rest = Math.floor(rest / size);
    }
  }
  const cell = steps[0][0];
  const room = radius + 0.42 * cell;
  const [left, top] = [x.reduce((a, b) => Math.min(a, b)) - room, y.reduce((a, b) => Math.min(a, b)) - room];
  for (let node = 0; node < nodes; node++) {
    x[node] -= left;
    y[node] -= top;
  }
  const bend = (a: number, b: number): number => {
    const between = dimensionBetween(shape, a, b);
    if (between === null || (between.axis < 3 && between.apart === 1)) return 0;
    const side = between.axis === 0 ? -1 : 1;
    const share = between.apart === shape[between.axis] - 1 ? 0.36 : 0.16 + (0.2 * between.apart) / shape[between.axis];
    return side * (between.axis < 2 ? cell * share : radius * 1.6);
  };
  const width = x.reduce((a, b) => Math.max(a, b)) + room;
  const height = y.reduce((a, b) => Math.max(a, b)) + room;
  return { x, y, radius, width, height, bend, boxes: [] };
}

/** Where the nodes of a picture stand. */
export interface Layout {
  readonly x: Float64Array;
  readonly y: Float64Array;
  /** Of an NPU. */
  readonly radius: number;
  readonly width: number;
  readonly height: number;
  /** [nodes] how wide a switch may be drawn; any width without it. */
  readonly room?: Float64Array;
  /** Returns how far the middle of the line from a to b stands off the straight one, to its left. */
  readonly bend: (a: number, b: number) => number;
  /** Rectangles around the nodes of a group. */
  readonly boxes: readonly {
    readonly x: number;
    readonly y: number;
    readonly width: number;
    readonly height: number;
    readonly name: string;
  }[];
}
