import {
  type Grid,
  nodeCount,
  placesOf,
  switchCount,
  type Topology,
  topologyHash,
} from "../../model/topology/topology.ts";
import { circleLayout, cropped, gridLayout, isGrid, type Layout, layoutOf } from "../../picture/scene/layout.ts";
import { bandwidthClasses, sizeText, type Wire, widthOf } from "../../picture/scene/wires.ts";
import type { GoneWire, NetworkView, Placement, WireColumns } from "../protocol.ts";
import { linkWires } from "./link-wires.ts";
import { blockLayout, blocksOf } from "./placement-blocks.ts";

/** Returns the wires as columns, with the class of each and the wire of every link. */
function columnsOf(topology: Topology, classTop: readonly number[]): WireColumns {
  const { wires, ofLink } = linkWires(topology);
  return {
    a: Int32Array.from(wires, ({ a }) => a),
    b: Int32Array.from(wires, ({ b }) => b),
    forward: Float64Array.from(wires, ({ forward }) => forward),
    backward: Float64Array.from(wires, ({ backward }) => backward),
    bandwidthClass: Uint8Array.from(wires, (wire) => classTop.findIndex((top) => widthOf(wire) <= top)),
    ofLink: ofLink.slice(),
  };
}

/** Names of both ends of a wire, as one key. */
const wireKey = ({ nodeNames }: Topology, { a, b }: Wire): string => `${nodeNames[a]}\n${nodeNames[b]}`;

const NOTHING_GONE: NetworkView["gone"] = { nodes: [], wires: [] };

/** Where the nodes of a network stand, and what of the whole one is gone. */
interface Placed {
  readonly placement: Placement;
  readonly gone: NetworkView["gone"];
}

/** Returns where the nodes of a part of a network stand: where they stand in the whole one, so that nothing jumps. */
function placedIn(whole: Topology, part: Topology): Placed {
  const { wires } = linkWires(whole);
  const placement = placementOf(whole, wires);
  if (whole === part) return { placement, gone: NOTHING_GONE };
  const { x, y, bend, room } = placement;
  const left = new Set(part.nodeNames);
  const leftKeys = linkWires(part).wires.map((wire) => wireKey(part, wire));
  const leftWires = new Set(leftKeys);
  const wireOf = new Map(wires.map((wire, w) => [wireKey(whole, wire), w]));
  const isLeft = whole.nodeNames.map((name) => left.has(name));
  const isWireLeft = wires.map((wire) => leftWires.has(wireKey(whole, wire)));
  const ends = ({ a, b }: Wire, wire: number): GoneWire => ({
    a: whole.nodeNames[a],
    b: whole.nodeNames[b],
    x1: x[a],
    y1: y[a],
    x2: x[b],
    y2: y[b],
    bend: bend[wire],
  });
  return {
    // nodes that are left keep their order; wires need not, where the first of parallel links is gone
    placement: {
      ...placement,
      x: x.filter((_, node) => isLeft[node]),
      y: y.filter((_, node) => isLeft[node]),
      room: room.filter((_, node) => isLeft[node]),
      bend: Float32Array.from(leftKeys, (key) => bend[wireOf.get(key) as number]),
    },
    gone: {
      nodes: whole.nodeNames.flatMap((name, node) =>
        isLeft[node] ? [] : [{ name, x: x[node], y: y[node], isNpu: node < whole.npuCount }],
      ),
      wires: wires.flatMap((wire, w) => (isWireLeft[w] ? [] : [ends(wire, w)])),
    },
  };
}

/**
 * Returns a network as it is drawn, in its place within the whole one that it is what is left of; its columns may be moved.
 * O(nodes + links), and what the placement takes.
 */
export function networkView(topology: Topology, whole = topology): NetworkView {
  const classes = bandwidthClasses(linkWires(topology).wires);
  const columns = columnsOf(
    topology,
    classes.map(({ to }) => to),
  );
  const groupOf = new Map<string, number>();
  const nodeGroup = Int32Array.from(topology.nodeTraits, ({ group }) => {
    if (group === undefined) return -1;
    const known = groupOf.get(group) ?? groupOf.size;
    groupOf.set(group, known);
    return known;
  });
  return {
    name: topology.name,
    hash: topologyHash(topology),
    npuCount: topology.npuCount,
    sizeText: sizeText(topology),
    nodeNames: topology.nodeNames,
    shape: topology.shape,
    sources: topology.sources,
    groups: [...groupOf.keys()],
    nodeGroup,
    nodeTraits: Uint8Array.from(
      topology.nodeTraits,
      ({ multicast, aggregation }) => (multicast === true ? 1 : 0) | (aggregation === true ? 2 : 0),
    ),
    linkSource: topology.linkSource.slice(),
    linkTarget: topology.linkTarget.slice(),
    linkBytesPerSecond: topology.linkBytesPerSecond.slice(),
    linkLatencyPs: topology.linkLatencyPs.slice(),
    wires: columns,
    classes: classes.map(({ text }, i) => ({ text, wires: columns.bandwidthClass.filter((c) => c === i).length })),
    ...placedIn(whole, topology),
    whole: whole === topology ? null : { npuCount: whole.npuCount, nodeNames: whole.nodeNames },
  };
}

/** A layout, and what it shows in words. */
interface Shown {
  readonly layout: Layout;
  readonly caption: string;
}

/** More boxes than this stand in rows instead of side by side. */
const MOST_IN_ROW = 24;
/** Tiers of switches are drawn over this many nodes; springs take too long for more. */
const MOST_IN_TIERS = 1200;
const MOST_BY_SPRINGS = 700;
const MOST_WIRES_BY_SPRINGS = 8000;
/** A picture in depth is read up to this many NPUs. */
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
  const { x, y, radius, room, width, height, bend, boxes } = cropped(topology, wires, layout);
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
  const { npuCount } = topology;
  if (switchCount(topology) === 0 && isGrid(topology, wires)) {
    const { shape } = placesOf(topology) as Grid;
    const long = shape.filter((size) => size > 1);
    const isDeep = long.length > 2 && npuCount > MOST_IN_DEPTH;
    const layout = isDeep ? slabLayout(topology) : gridLayout(topology);
    if (long.length === 1) return { layout, caption: `${npuCount} NPUs in a line` };
    const slabs = isDeep ? `, drawn as slabs of ${shape[0]} x ${shape[1]}` : "";
    const gaps = shape.reduce((product, size) => product * size, 1) - npuCount;
    const without = gaps === 0 ? "" : ` without ${gaps}`;
    return { layout, caption: `${shape.join(" x ")} NPUs${without}, by their dimensions${slabs}` };
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
function isRound({ x, y }: Layout): boolean {
  const middle = (places: Float64Array): number => places.reduce((sum, place) => sum + place, 0) / places.length;
  const [midX, midY] = [middle(x), middle(y)];
  const off = (node: number): number => Math.hypot(x[node] - midX, y[node] - midY);
  return x.every((_, node) => Math.abs(off(node) - off(0)) < 0.5);
}

const CELL = 26;
/** From the last column or row of a slab to the first of the next, in cells; names stand below. */
const GAP_ACROSS = 1.5;
const GAP_BELOW = 2.3;
/** Slabs of one dimension stand in rows where a single one would be this many times as wide as it is high. */
const WIDEST = 3.2;
/** Of pictures, width to height. */
const ASPECT = 1.6;

/**
 * Returns a grid of three or more dimensions: the first two as slabs, the others as slabs side by side, in turns to the right and
 * downwards; a single third dimension that is long goes on in the next row, back and forth, so that its neighbours stay near. Links between slabs are bent, so that they do not
 * lie on those within. O(nodes).
 */
function slabLayout(topology: Topology): Layout {
  const { shape, place } = placesOf(topology) as Grid;
  const nodes = nodeCount(topology);
  const x = new Float64Array(nodes);
  const y = new Float64Array(nodes);
  const slabWidth = shape[0] - 1 + GAP_ACROSS;
  const slabHeight = shape[1] - 1 + GAP_BELOW;
  const perRow = shape.length === 3 ? rowOf(shape[2], slabWidth, slabHeight) : shape[2];
  const [right, down] = stepsOf(shape, slabWidth, slabHeight);
  const radius = 0.3 * CELL;
  const room = CELL;
  /** Where a place of the grid is drawn. */
  const drawn = (atPlace: number): readonly [x: number, y: number] => {
    let rest = atPlace;
    let [across, below] = [0, 0];
    for (const [axis, size] of shape.entries()) {
      const at = rest % size;
      rest = Math.floor(rest / size);
      const row = axis === 2 ? Math.floor(at / perRow) : 0;
      const inRow = at - row * perRow;
      across += (row % 2 === 0 ? inRow : perRow - 1 - inRow) * right[axis];
      below += at * down[axis] + row * slabHeight;
    }
    return [across * CELL + room, below * CELL + room];
  };
  for (let node = 0; node < nodes; node++) [x[node], y[node]] = drawn(place[node]);
  const boxes: Layout["boxes"][number][] = [];
  const inSlab = shape[0] * shape[1];
  const places = shape.reduce((product, size) => product * size, 1);
  for (let first = 0; first < places; first += inSlab) {
    const [left, top] = drawn(first);
    boxes.push({
      x: left - 0.55 * CELL,
      y: top - 0.55 * CELL,
      width: (shape[0] + 0.1) * CELL,
      height: (shape[1] + 0.1) * CELL,
      name: `(x, y, ${coordinates(first / inSlab, shape.slice(2)).join(", ")})`,
    });
  }
  const bend = (a: number, b: number): number => {
    const apart = place[b] - place[a];
    if (apart < shape[0]) return apart === 1 ? 0 : -0.36 * CELL;
    if (apart < inSlab) return apart === shape[0] ? 0 : 0.36 * CELL;
    return 0.42 * CELL;
  };
  const most = (values: Float64Array): number => values.reduce((a, b) => Math.max(a, b)) + room;
  return { x, y, radius, width: most(x), height: most(y) + 0.5 * CELL, bend, boxes };
}

/** Returns how many of the slabs stand in a row: rows of equal length first, then an even number of them, then the best proportions. */
function rowOf(slabs: number, width: number, height: number): number {
  if (slabs * width <= WIDEST * height) return slabs;
  let [best, least] = [slabs, Number.POSITIVE_INFINITY];
  for (let rows = 1; rows <= slabs; rows++) {
    const perRow = Math.ceil(slabs / rows);
    if (Math.ceil(slabs / perRow) !== rows) continue;
    const off = Math.abs(Math.log((perRow * width) / (rows * height) / ASPECT));
    const cost = off + (slabs % rows === 0 ? 0 : 0.4) + (rows === 1 || rows % 2 === 0 ? 0 : 0.25);
    if (cost < least) [best, least] = [perRow, cost];
  }
  return best;
}

/** Returns how far one step along each axis goes to the right and down, in cells. */
function stepsOf(shape: readonly number[], slabWidth: number, slabHeight: number): [number[], number[]] {
  const [right, down] = [
    [1, 0],
    [0, 1],
  ];
  let [wide, tall] = [slabWidth, slabHeight];
  for (let axis = 2; axis < shape.length; axis++) {
    const isAcross = axis % 2 === 0;
    right.push(isAcross ? wide : 0);
    down.push(isAcross ? 0 : tall);
    if (isAcross) wide = wide * shape[axis] + 0.6;
    else tall = tall * shape[axis] + 0.6;
  }
  return [right, down];
}

function coordinates(index: number, sizes: readonly number[]): number[] {
  let rest = index;
  return sizes.map((size) => {
    const at = rest % size;
    rest = Math.floor(rest / size);
    return at;
  });
}
