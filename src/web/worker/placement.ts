import type { Layout } from "../../export/pictures/layout.ts";
import { layoutOf } from "../../export/pictures/layout.ts";
import { circleLayout } from "../../export/pictures/layout-free.ts";
import { gridLayout, isGrid } from "../../export/pictures/layout-grid.ts";
import type { Wire } from "../../export/pictures/wires.ts";
import { nodeCount, switchCount, type Topology, topologyHash } from "../../model/topology/topology.ts";
import type { Placement } from "../protocol.ts";
import { blockLayout, blocksOf } from "./placement-blocks.ts";
import { slabLayout } from "./placement-slabs.ts";

/** A layout, and what it shows in words. */
interface Shown {
  readonly layout: Layout;
  readonly caption: string;
}

/** More boxes than this stand in rows instead of side by side. */
const MOST_IN_ROW = 24;
/** Tiers of switches are drawn over so many nodes; springs take too long for more. */
const MOST_IN_TIERS = 1200;
const MOST_BY_SPRINGS = 700;
const MOST_WIRES_BY_SPRINGS = 8000;
/** A picture in depth is read up to so many NPUs. */
const MOST_IN_DEPTH = 64;

/** The placements made last: something fails again and again in the same network. */
const MOST_KEPT = 4;
const kept = new Map<string, Placement>();

/**
 * Returns where the nodes of a network of any size stand: a grid where it is one (dimensions beyond the second as slabs side by
 * side), boxes with their switches, tiers, a circle, or what springs give. The columns are the caller's. O(wires + nodes) but for
 * springs, at most 700 nodes.
 */
export function placementOf(topology: Topology, wires: readonly Wire[]): Placement {
  const hash = topologyHash(topology);
  const placement = kept.get(hash) ?? placed(topology, wires);
  kept.delete(hash);
  kept.set(hash, placement);
  for (const old of kept.keys()) if (kept.size > MOST_KEPT) kept.delete(old);
  const { x, y, bend, room } = placement;
  return { ...placement, x: x.slice(), y: y.slice(), bend: bend.slice(), room: room.slice() };
}

function placed(topology: Topology, wires: readonly Wire[]): Placement {
  const { layout, caption } = shownAs(topology, wires);
  const { x, y, radius, room, width, height, bend, boxes } = layout;
  return {
    x,
    y,
    radius,
    room: room === undefined ? new Float32Array(x.length).fill(8 * radius) : Float32Array.from(room),
    width,
    height,
    bend: Float32Array.from(wires, ({ a, b }) => bend(a, b)),
    boxes,
    caption,
  };
}

function shownAs(topology: Topology, wires: readonly Wire[]): Shown {
  const nodes = nodeCount(topology);
  const { shape, npuCount } = topology;
  if (switchCount(topology) === 0 && isGrid(topology, wires)) {
    const long = shape.filter((size) => size > 1);
    const isDeep = long.length > 2 && npuCount > MOST_IN_DEPTH;
    const layout = isDeep ? slabLayout(topology) : gridLayout(topology);
    if (long.length === 1) return { layout, caption: `${npuCount} NPUs in a line` };
    const slabs = isDeep ? `, drawn as slabs of ${shape[0]} x ${shape[1]}` : "";
    return { layout, caption: `${shape.join(" x ")} NPUs, by their dimensions${slabs}` };
  }
  const blocks = blocksOf(topology, wires);
  const hasBoxes = blocks.some(({ name }) => name !== null);
  const size = blocks.reduce((most, { npus }) => Math.max(most, npus.length), 0);
  const inBoxes = hasBoxes ? `${blocks.length} ${blocks.length === 1 ? "box" : "boxes"} of ${size} NPUs` : "";
  if (switchCount(topology) > 0) {
    if (blocks.length > MOST_IN_ROW || nodes > MOST_IN_TIERS) {
      const what = hasBoxes ? inBoxes : `${blocks.length} sets of NPUs that share a switch`;
      return { layout: blockLayout(topology, wires, blocks), caption: `${what}; shared switches above` };
    }
    return {
      layout: layoutOf(topology, wires),
      caption: hasBoxes ? `${inBoxes} under their switches` : "NPUs under tiers of switches",
    };
  }
  if (hasBoxes && blocks.length > 1 && nodes > 16) {
    return { layout: blockLayout(topology, wires, blocks), caption: inBoxes };
  }
  const isLarge = nodes > MOST_BY_SPRINGS || wires.length > MOST_WIRES_BY_SPRINGS;
  const layout = isLarge ? circleLayout(nodes) : layoutOf(topology, wires);
  const caption = isRound(layout)
    ? "NPUs on a circle, in the order of their ids"
    : "NPUs placed so that linked ones are near each other";
  return { layout, caption };
}

/** Returns whether all nodes are as far from the middle. O(nodes). */
function isRound({ x, y, width, height }: Layout): boolean {
  const off = (node: number): number => Math.hypot(x[node] - width / 2, y[node] - height / 2);
  return x.every((_, node) => Math.abs(off(node) - off(0)) < 0.5);
}
