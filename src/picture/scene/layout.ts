import {
  forceCollide,
  forceLink,
  forceManyBody,
  forceSimulation,
  forceX,
  forceY,
  type SimulationNodeDatum,
} from "d3-force";
import { InputError } from "../../base/errors.ts";
import { type Grid, nodeCount, placesOf, switchCount, type Topology } from "../../model/topology/topology.ts";
import { bendOf, switchHalfWidth, switchHeight } from "../shapes.ts";
import { aroundNodes } from "./around-nodes.ts";
import { type Wire, widthOf } from "./wires.ts";

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
  if (nodes > MOST_NODES)
    throw new InputError("the nodes of a picture", `at most ${MOST_NODES}`, nodes).as("out-of-range");
  if (wires.length > MOST_WIRES) {
    throw new InputError("the pairs of linked nodes of a picture", `at most ${MOST_WIRES}`, wires.length).as(
      "out-of-range",
    );
  }
  return cropped(topology, wires, placedBy(topology, wires));
}

function placedBy(topology: Topology, wires: readonly Wire[]): Layout {
  const nodes = nodeCount(topology);
  if (isStar(topology, wires)) return starLayout(nodes);
  if (switchCount(topology) > 0) return tierLayout(topology, wires);
  if (isGrid(topology, wires)) return gridLayout(topology);
  const complete = wires.length === (nodes * (nodes - 1)) / 2;
  if (nodes <= 16 || complete || isCirculant(nodes, wires)) return circleLayout(nodes);
  return forceLayout(nodes, wires);
}

/** Lines around nodes, and the name below a box. */
const EDGE = 2;
const BOX_NAME = 22;

/** Returns a layout moved and made as large as what is drawn: nodes, lines, and boxes with their names. O(nodes + wires). */
export function cropped({ npuCount, nodeNames }: Topology, wires: readonly Wire[], layout: Layout): Layout {
  const { x, y, radius, room, boxes } = layout;
  const bend = aroundNodes(nodeNames, npuCount, wires, layout);
  let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity];
  const around = (atX: number, atY: number, wide: number, tall: number): void => {
    left = Math.min(left, atX - wide);
    right = Math.max(right, atX + wide);
    top = Math.min(top, atY - tall);
    bottom = Math.max(bottom, atY + tall);
  };
  const tall = switchHeight(radius) / 2 + EDGE;
  for (let node = 0; node < x.length; node++) {
    if (node < npuCount) around(x[node], y[node], radius + EDGE, radius + EDGE);
    else
      around(x[node], y[node], switchHalfWidth(nodeNames[node].length, radius, room?.[node] ?? Infinity) + EDGE, tall);
  }
  for (const { a, b } of wires) {
    const off = bend(a, b);
    if (off === 0) continue;
    const { controlX, controlY } = bendOf(x[a], y[a], x[b], y[b], off);
    around(farthest(x[a], controlX, x[b]), farthest(y[a], controlY, y[b]), EDGE, EDGE);
  }
  for (const box of boxes) {
    around(box.x, box.y, EDGE, EDGE);
    around(box.x + box.width, box.y + box.height + BOX_NAME, EDGE, 0);
  }
  return {
    ...layout,
    bend,
    x: x.map((value) => value - left),
    y: y.map((value) => value - top),
    width: right - left,
    height: bottom - top,
    boxes: boxes.map((box) => ({ ...box, x: box.x - left, y: box.y - top })),
  };
}

/** Returns where a quadratic curve turns back in one coordinate; its end where it does not. */
function farthest(from: number, control: number, to: number): number {
  const share = (from - control) / (from - 2 * control + to);
  if (!(share > 0 && share < 1)) return to;
  return (1 - share) ** 2 * from + 2 * share * (1 - share) * control + share ** 2 * to;
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

/** Returns whether the network is drawn as its grid, or what is left of it: two or more dimensions (or a line), and links along them only. */
export function isGrid(topology: Topology, wires: readonly Wire[]): boolean {
  const nodes = topology.nodeNames.length;
  const grid = placesOf(topology);
  if (grid === null || topology.npuCount !== nodes) return false;
  const { shape, place } = grid;
  const room = shape.reduce((product, size) => product * size, 1);
  if (topology.remnant === undefined ? room !== nodes : room < nodes) return false;
  const long = shape.filter((size) => size > 1).length;
  if (long === 1) return wires.every(({ a, b }) => place[b] - place[a] === 1);
  return long > 1 && wires.every(({ a, b }) => dimensionBetween(shape, place[a], place[b]) !== null);
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
  if (flat) return { steps, radius: Math.min(20, cell * 0.3) };
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
  return { steps, radius: Math.min(16, depth * 0.3) };
}

/** Returns the grid: dimensions along x, y and into the depth; links that wrap around are bent, places of failed NPUs empty. O(nodes). */
export function gridLayout(topology: Topology): Layout {
  const { shape, place } = placesOf(topology) as Grid;
  const nodes = nodeCount(topology);
  const { steps, radius } = stepsOf(shape);
  const x = new Float64Array(nodes);
  const y = new Float64Array(nodes);
  for (let node = 0; node < nodes; node++) {
    let rest = place[node];
    for (const [axis, size] of shape.entries()) {
      x[node] += (rest % size) * steps[axis][0];
      y[node] += (rest % size) * steps[axis][1];
      rest = Math.floor(rest / size);
    }
  }
  const cell = steps[0][0];
  const size = moveIntoCorner(x, y, radius + 0.42 * cell);
  const bend = (a: number, b: number): number => {
    const between = dimensionBetween(shape, place[a], place[b]);
    if (between === null || (between.axis < 3 && between.apart === 1)) return 0;
    const side = between.axis === 0 ? -1 : 1;
    // beside the first node of the row, not behind it
    const around = shape.length < 3 ? 0.5 : 0.36;
    const share =
      between.apart === shape[between.axis] - 1 ? around : 0.16 + (0.2 * between.apart) / shape[between.axis];
    return side * (between.axis < 2 ? cell * share : radius * 1.6);
  };
  return { x, y, radius, ...size, bend, boxes: [] };
}

const straight = (): number => 0;

/** Returns the nodes on a circle, the first at the top, clockwise. */
export function circleLayout(nodes: number): Layout {
  const radius = Math.max(5, Math.min(16, 420 / nodes));
  const ring = Math.max(70, (nodes * (2.4 * radius + 4)) / (2 * Math.PI), Math.min(200, 24 * nodes));
  const size = 2 * (ring + 2 * radius);
  const x = new Float64Array(nodes);
  const y = new Float64Array(nodes);
  for (let node = 0; node < nodes; node++) {
    const angle = (2 * Math.PI * node) / nodes - Math.PI / 2;
    x[node] = size / 2 + ring * Math.cos(angle);
    y[node] = size / 2 + ring * Math.sin(angle);
  }
  return { x, y, radius, width: size, height: size, bend: straight, boxes: [] };
}

/** So many NPUs at one switch stand around it: in rows beneath it wires would pass through them. */
const LEAST_OF_STAR = 17;

/** Returns whether all links are those of many NPUs with the one switch. */
const isStar = ({ npuCount, nodeNames }: Topology, wires: readonly Wire[]): boolean =>
  npuCount >= LEAST_OF_STAR && nodeNames.length === npuCount + 1 && wires.every(({ b }) => b === npuCount);

/** Returns all nodes but the last on a circle, and the last in its middle. */
function starLayout(nodes: number): Layout {
  const { x, y, ...circle } = circleLayout(nodes - 1);
  const middle = circle.width / 2;
  return { ...circle, x: Float64Array.of(...x, middle), y: Float64Array.of(...y, middle) };
}

/** Returns the nodes where springs along wires and repulsion between nodes leave them; always the same. O(n log n) a step. */
function forceLayout(nodes: number, wires: readonly Wire[]): Layout {
  const radius = nodes <= 100 ? 15 : nodes <= 600 ? 8 : 4;
  const most = wires.reduce((sum, wire) => Math.max(sum, widthOf(wire)), 1);
  const places: SimulationNodeDatum[] = Array.from({ length: nodes }, () => ({}));
  const springs = wires.map((wire) => ({
    source: wire.a,
    target: wire.b,
    length: radius * (nodes <= 100 ? 8.5 - 4 * Math.sqrt(widthOf(wire) / most) : 5),
  }));
  const simulation = forceSimulation(places)
    .force(
      "wires",
      forceLink(springs).distance((spring) => (spring as { length: number }).length),
    )
    .force("apart", forceManyBody().strength(-28 * radius))
    .force("collide", forceCollide(radius * 1.7))
    .force("x", forceX(0).strength(0.03))
    .force("y", forceY(0).strength(0.06))
    .stop();
  simulation.tick(Math.max(40, Math.min(300, Math.round(120_000 / nodes))));
  const x = Float64Array.from(places, (place) => place.x ?? 0);
  const y = Float64Array.from(places, (place) => place.y ?? 0);
  return { x, y, radius, ...moveIntoCorner(x, y, 2 * radius), bend: straight, boxes: [] };
}

/** Moves all nodes until they stand `room` from the left and the top; returns how large the picture is with as much room beyond them. */
function moveIntoCorner(x: Float64Array, y: Float64Array, room: number): { width: number; height: number } {
  const [left, top] = [x.reduce((a, b) => Math.min(a, b)) - room, y.reduce((a, b) => Math.min(a, b)) - room];
  for (let node = 0; node < x.length; node++) {
    x[node] -= left;
    y[node] -= top;
  }
  return { width: x.reduce((a, b) => Math.max(a, b)) + room, height: y.reduce((a, b) => Math.max(a, b)) + room };
}

const WIDTH = 1240;
/** Least height from a tier to the next; wide pictures are taller, until they have these proportions. */
const TIER = 108;
const ASPECT = 1.8;
/** Between the middles of switches beside each other. */
const LEAST_GAP = 5;
const LEAST_PITCH = 30;
/** Between boxes, in pitches. */
const BETWEEN = 0.5;
const MOST_PITCH = 58;

/** NPUs that stand together: a box, or those of one switch. */
interface Block {
  readonly name: string | null;
  readonly npus: number[];
  /** Wires join NPUs of the block. */
  linked: boolean;
}

function neighboursOf(nodes: number, wires: readonly Wire[]): number[][] {
  const neighbours: number[][] = Array.from({ length: nodes }, () => []);
  for (const { a, b } of wires) {
    neighbours[a].push(b);
    neighbours[b].push(a);
  }
  return neighbours;
}

function blocksOf(
  { npuCount, nodeTraits }: Topology,
  neighbours: readonly number[][],
  wires: readonly Wire[],
): Block[] {
  const blocks = new Map<string, Block>();
  const blockOf: Block[] = [];
  for (let npu = 0; npu < npuCount; npu++) {
    const group = nodeTraits[npu].group;
    const leaf = neighbours[npu]
      .filter((v) => v >= npuCount)
      .reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY);
    const key = group === undefined ? `switch ${leaf}` : `group ${group}`;
    const block = blocks.get(key) ?? { name: group ?? null, npus: [], linked: false };
    blocks.set(key, block);
    block.npus.push(npu);
    blockOf.push(block);
  }
  for (const { a, b } of wires) if (b < npuCount && blockOf[a] === blockOf[b]) blockOf[a].linked = true;
  return [...blocks.values()];
}

/**
 * Returns [nodes] the tier of each node: 0 NPUs; then switches by hops from NPUs, those that NPUs of several blocks share
 * above those of one block. Tiers that nobody is in are left out.
 */
function tiersOf(
  nodes: number,
  npuCount: number,
  blocks: readonly Block[],
  neighbours: readonly number[][],
): Int32Array {
  const hops = new Int32Array(nodes).fill(-1);
  const queue: number[] = [];
  for (let npu = 0; npu < npuCount; npu++) {
    hops[npu] = 0;
    queue.push(npu);
  }
  for (const node of queue) {
    for (const next of neighbours[node]) {
      if (hops[next] >= 0) continue;
      hops[next] = hops[node] + 1;
      queue.push(next);
    }
  }
  const blockOf = new Int32Array(npuCount);
  blocks.forEach(({ npus }, index) => {
    for (const npu of npus) blockOf[npu] = index;
  });
  const rank = new Int32Array(nodes);
  for (let node = npuCount; node < nodes; node++) {
    const below = new Set(neighbours[node].filter((v) => v < npuCount).map((v) => blockOf[v]));
    rank[node] = 2 * Math.max(1, hops[node]) + (below.size > 1 ? 1 : 0);
  }
  const used = [...new Set(rank)].sort((a, b) => a - b);
  const tierOf = new Map(used.map((value, tier) => [value, tier]));
  return rank.map((value) => tierOf.get(value) as number);
}

/** Returns how many NPUs stand beside each other: all of a box where that leaves them room, else half of them, and so on. */
function columnsOf(largest: number, blocks: number): number {
  let columns = largest <= 16 ? largest : Math.ceil(Math.sqrt(2 * largest));
  while (columns > 2 && columns * blocks * LEAST_PITCH > WIDTH) columns = Math.ceil(columns / 2);
  return columns;
}

/** Puts sorted wishes at least `gap` apart, moving all so that they stay around their mean. */
function spreadOut(wishes: readonly number[], gap: number): number[] {
  const places: number[] = [];
  for (const wish of wishes) places.push(Math.max(wish, (places[places.length - 1] ?? Number.NEGATIVE_INFINITY) + gap));
  const shift = places.reduce((sum, place, i) => sum + place - wishes[i], 0) / Math.max(1, places.length);
  return places.map((place) => place - shift);
}

/** Returns NPUs in their boxes at the bottom, and tiers of switches above, each over what it is linked to. */
function tierLayout(topology: Topology, wires: readonly Wire[]): Layout {
  const { npuCount } = topology;
  const nodes = nodeCount(topology);
  const neighbours = neighboursOf(nodes, wires);
  const blocks = blocksOf(topology, neighbours, wires);
  const tier = tiersOf(nodes, npuCount, blocks, neighbours);
  const tiers = tier.reduce((a, b) => Math.max(a, b), 0);
  const largest = blocks.reduce((most, { npus }) => Math.max(most, npus.length), 1);
  const columns = columnsOf(largest, blocks.length);
  const pitch = Math.max(9, Math.min(MOST_PITCH, WIDTH / (blocks.length * (columns + 0.5))));
  const isCrowded = blocks.some(({ npus, linked }) => npus.length > columns || (linked && npus.length > 2));
  // wires of those behind pass between those in front
  const radius = Math.min(23, pitch * (isCrowded ? 0.28 : 0.4));
  const x = new Float64Array(nodes);
  const y = new Float64Array(nodes);
  const room = new Float64Array(nodes);
  const boxes: Layout["boxes"][number][] = [];
  const span = Math.max(blocks.length * columns * pitch, LEAST_GAP * (nodes - npuCount));
  const rise = Math.max(TIER, (span / ASPECT - 2 * pitch) / tiers);
  const top = 30 + rise * tiers;
  let left = 0;
  let bottom = top;
  for (const { name, npus, linked } of blocks) {
    const ring = linked && npus.length > 2;
    const around = (npus.length * pitch * 0.92) / (2 * Math.PI);
    const rows = Math.ceil(npus.length / columns);
    const width = ring ? 2 * around + pitch : Math.min(columns, npus.length) * pitch;
    const height = ring ? 2 * around + pitch : rows * pitch;
    npus.forEach((npu, i) => {
      const angle = (2 * Math.PI * i) / npus.length - Math.PI / 2;
      const row = Math.floor(i / columns);
      x[npu] =
        left +
        (ring
          ? width / 2 + around * Math.cos(angle)
          : (0.5 + (i % columns) + (rows > 1 ? 0.5 * (row % 2) : 0)) * pitch);
      y[npu] = top + (ring ? height / 2 + around * Math.sin(angle) : (row + 0.5) * pitch);
    });
    const across = width + (rows > 1 && !ring ? 0.5 * pitch : 0);
    if (name !== null) boxes.push({ x: left, y: top, width: across, height, name });
    left += across + BETWEEN * pitch;
    bottom = Math.max(bottom, top + height);
  }
  const wide = placeSwitches(x, y, room, tier, tiers, npuCount, neighbours, left - BETWEEN * pitch, rise);
  for (let node = 0; node < nodes; node++) x[node] += wide.left;
  const moved = boxes.map((box) => ({ ...box, x: box.x + wide.left }));
  const bend = (a: number, b: number): number =>
    tier[a] === tier[b] && y[a] === y[b] ? -Math.min(60, 14 + Math.abs(x[a] - x[b]) * 0.12) : 0;
  return { x, y, radius, room, width: wide.width, height: bottom + (boxes.length > 0 ? 24 : 10), bend, boxes: moved };
}

/** Writes where switches stand and how much room they have, tier by tier; returns how far all must move right, and the width. */
function placeSwitches(
  x: Float64Array,
  y: Float64Array,
  room: Float64Array,
  tier: Int32Array,
  tiers: number,
  npuCount: number,
  neighbours: readonly number[][],
  span: number,
  rise: number,
): { left: number; width: number } {
  let [least, most] = [0, span];
  const members: number[][] = Array.from({ length: tiers + 1 }, () => []);
  for (let node = npuCount; node < tier.length; node++) members[tier[node]].push(node);
  for (let level = 1; level <= tiers; level++) {
    const wish = (node: number): number => {
      const below = neighbours[node].filter((v) => tier[v] < level);
      return below.length === 0 ? span / 2 : below.reduce((sum, v) => sum + x[v], 0) / below.length;
    };
    const wishes = new Map(members[level].map((node) => [node, wish(node)]));
    // switches of like wishes (rails) stand in their order
    const near = (node: number): number => Math.round((wishes.get(node) as number) / LEAST_GAP);
    const order = members[level].sort((a, b) => near(a) - near(b) || a - b);
    const gap = Math.max(LEAST_GAP, Math.min(104, Math.max(span, 300) / order.length));
    const places = spreadOut(
      order.map((node) => wishes.get(node) as number),
      gap,
    );
    order.forEach((node, i) => {
      room[node] = gap - 2;
      x[node] = places[i];
      y[node] = 22 + rise * (tiers - level);
      least = Math.min(least, places[i] - 30);
      most = Math.max(most, places[i] + 30);
    });
  }
  return { left: -least, width: most - least };
}
