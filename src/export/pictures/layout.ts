import { InputError } from "../../base/errors.ts";
import { nodeCount, switchCount, type Topology } from "../../model/topology/topology.ts";
import { circleLayout, forceLayout } from "./layout-free.ts";
import { gridLayout, isGrid } from "./layout-grid.ts";
import { tierLayout } from "./layout-tiers.ts";
import type { Wire } from "./wires.ts";

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

const MOST_NODES = 5000;
const MOST_WIRES = 20_000;

/** Returns whether a network is small enough to be drawn. */
export const isDrawable = (topology: Topology, wires: readonly Wire[]): boolean =>
  nodeCount(topology) <= MOST_NODES && wires.length <= MOST_WIRES;

/**
 * Returns positions for the nodes: a grid where the network is one, NPUs under tiers of switches where there are switches, a
 * circle for rings, full meshes and a few nodes, otherwise what springs give (always the same). Throws InputError above MOST_NODES nodes or
 * MOST_WIRES wires.
 */
export function layoutOf(topology: Topology, wires: readonly Wire[]): Layout {
  const nodes = nodeCount(topology);
  if (nodes > MOST_NODES) throw new InputError("the nodes of a picture", `at most ${MOST_NODES}`, nodes);
  if (wires.length > MOST_WIRES) {
    throw new InputError("the pairs of linked nodes of a picture", `at most ${MOST_WIRES}`, wires.length);
  }
  if (switchCount(topology) > 0) return tierLayout(topology, wires);
  if (isGrid(topology, wires)) return gridLayout(topology);
  const complete = wires.length === (nodes * (nodes - 1)) / 2;
  if (nodes <= 16 || complete || isCirculant(nodes, wires)) return circleLayout(nodes);
  return forceLayout(nodes, wires);
}

/** Returns whether every node is linked with the same few neighbours on a circle: rings, circulants. */
function isCirculant(nodes: number, wires: readonly Wire[]): boolean {
  const perStep = new Map<number, number>();
  for (const { a, b } of wires) {
    const step = Math.min(b - a, nodes - b + a);
    perStep.set(step, (perStep.get(step) ?? 0) + 1);
  }
  return [...perStep].every(([step, count]) => count === (2 * step === nodes ? nodes / 2 : nodes));
}
