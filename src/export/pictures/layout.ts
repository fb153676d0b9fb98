import { InputError } from "../../base/errors.ts";
import { nodeCount, switchCount, type Topology } from "../../model/topology/topology.ts";
import { circleLayout, forceLayout } from "./layout-free.ts";
import { gridLayout, isGrid, type Layout } from "./layout-grid.ts";
import type { Wire } from "./wires.ts";

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

const WIDTH = 1240;
/** Least height from a tier to the next; wide pictures are taller. */
const TIER = 108;
/** Between the middles of switches beside each other. */
const LEAST_GAP = 5;
const LEAST_PITCH = 30;
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
  const radius = Math.min(16, pitch * 0.34);
  const x = new Float64Array(nodes);
  const y = new Float64Array(nodes);
  const room = new Float64Array(nodes);
  const boxes: Layout["boxes"][number][] = [];
  const rise = Math.max(TIER, 0.09 * Math.max(blocks.length * columns * pitch, LEAST_GAP * (nodes - npuCount)));
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
          : (0.5 + (i % columns) + (rows > 1 ? 0.25 * (row % 2) : 0)) * pitch);
      y[npu] = top + (ring ? height / 2 + around * Math.sin(angle) : (row + 0.5) * pitch);
    });
    const across = width + (rows > 1 && !ring ? 0.25 * pitch : 0);
    if (name !== null) boxes.push({ x: left, y: top, width: across, height, name });
    left += across + pitch * 0.4;
    bottom = Math.max(bottom, top + height);
  }
  const wide = placeSwitches(x, y, room, tier, tiers, npuCount, neighbours, left - pitch * 0.4, rise);
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
