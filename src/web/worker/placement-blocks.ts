import { nodeCount, type Topology } from "../../model/topology/topology.ts";
import type { Layout } from "../../picture/scene/layout.ts";
import type { Wire } from "../../picture/scene/wires.ts";

const PITCH = 30;
const RADIUS = 10;
/** Of pictures, width to height. */
const ASPECT = 1.7;
/** NPUs of a box that are linked with each other stand on a circle, up to this many. */
const MOST_ON_CIRCLE = 64;

/** NPUs that stand together, with the switches that are theirs alone. */
export interface Block {
  readonly name: string | null;
  readonly npus: number[];
  readonly switches: number[];
  /** Links join NPUs of the block. */
  readonly isLinked: boolean;
}

/** Returns the boxes, pods or racks of a network, else NPUs by their first switch. O(nodes + wires). */
export function blocksOf({ npuCount, nodeTraits }: Topology, wires: readonly Wire[]): Block[] {
  const nodes = nodeTraits.length;
  const leaf = new Int32Array(npuCount).fill(nodes);
  for (const { a, b } of wires) if (a < npuCount && b >= npuCount) leaf[a] = Math.min(leaf[a], b);
  const blocks = new Map<string, { -readonly [K in keyof Block]: Block[K] }>();
  const blockOf: (Block | null)[] = [];
  for (let npu = 0; npu < npuCount; npu++) {
    const { group } = nodeTraits[npu];
    const key = group === undefined ? `switch ${leaf[npu]}` : `group ${group}`;
    const block = blocks.get(key) ?? { name: group ?? null, npus: [], switches: [], isLinked: false };
    blocks.set(key, block);
    block.npus.push(npu);
    blockOf.push(block);
  }
  const owner: (Block | null | undefined)[] = new Array(nodes);
  for (const { a, b } of wires) {
    if (a >= npuCount) continue;
    if (b < npuCount) {
      const block = blockOf[a] as { isLinked: boolean };
      if (blockOf[b] === block) block.isLinked = true;
    } else owner[b] = owner[b] === undefined || owner[b] === blockOf[a] ? blockOf[a] : null;
  }
  for (let node = npuCount; node < nodes; node++) owner[node]?.switches.push(node);
  return [...blocks.values()];
}

/** Where the nodes of a block stand, from its upper left corner on. */
interface Tile {
  readonly width: number;
  readonly height: number;
  readonly places: readonly (readonly [node: number, x: number, y: number, room: number])[];
}

function tileOf({ npus, switches, isLinked }: Block): Tile {
  const places: (readonly [number, number, number, number])[] = [];
  const isRing = isLinked && npus.length > 2 && npus.length <= MOST_ON_CIRCLE;
  const columns = Math.ceil(Math.sqrt(1.4 * npus.length));
  const around = Math.max(0.85 * PITCH, (npus.length * PITCH) / (2 * Math.PI));
  const inner = isRing ? 2 * around : (Math.min(columns, npus.length) - 1) * PITCH;
  const wide = Math.max(inner, PITCH * Math.min(1, switches.length - 1));
  const width = wide + 1.2 * PITCH;
  const perRow = Math.max(1, Math.floor(wide / PITCH) + 1);
  switches.forEach((node, i) => {
    const inRow = Math.min(perRow, switches.length - Math.floor(i / perRow) * perRow);
    const room = width / inRow;
    places.push([node, ((i % perRow) + 0.5) * room, (0.5 + Math.floor(i / perRow)) * PITCH, room - 3]);
  });
  const top = switches.length === 0 ? 0 : (Math.ceil(switches.length / perRow) + 0.35) * PITCH;
  npus.forEach((npu, i) => {
    // four stand in the corners, not where wires between boxes begin and end
    const angle = (2 * Math.PI * (i - (npus.length === 4 ? 0.5 : 0))) / npus.length - Math.PI / 2;
    const inRow = Math.min(columns, npus.length - Math.floor(i / columns) * columns);
    const [x, y] = isRing
      ? [width / 2 + around * Math.cos(angle), around * (1 + Math.sin(angle))]
      : [width / 2 + ((i % columns) - (inRow - 1) / 2) * PITCH, Math.floor(i / columns) * PITCH];
    places.push([npu, x, top + 0.6 * PITCH + y, PITCH]);
  });
  const tall = isRing ? 2 * around : (Math.ceil(npus.length / columns) - 1) * PITCH;
  return { width, height: top + tall + 1.2 * PITCH, places };
}

/** Returns blocks in rows like text, each with its own switches; switches that blocks share stand above all, by their distance from NPUs. */
export function blockLayout(topology: Topology, wires: readonly Wire[], blocks: readonly Block[]): Layout {
  const nodes = nodeCount(topology);
  const x = new Float64Array(nodes);
  const y = new Float64Array(nodes);
  const room = new Float64Array(nodes).fill(PITCH);
  const tiles = blocks.map(tileOf);
  const gap = 0.8 * PITCH;
  const widest = tiles.reduce((most, { width }) => Math.max(most, width), 0) + gap;
  const tallest = tiles.reduce((most, { height }) => Math.max(most, height), 0) + gap + 0.3 * PITCH;
  const perRow = Math.max(
    1,
    Math.min(blocks.length, Math.round(Math.sqrt((ASPECT * blocks.length * tallest) / widest))),
  );
  const width = Math.max(perRow * widest + gap, 6 * PITCH);
  const top = placeShared(topology, wires, blocks, { x, y, room }, width);
  const boxes: Layout["boxes"][number][] = [];
  blocks.forEach(({ name }, i) => {
    const tile = tiles[i];
    const left = gap + (i % perRow) * widest;
    const above = top + Math.floor(i / perRow) * tallest;
    for (const [node, dx, dy, wide] of tile.places) {
      x[node] = left + dx;
      y[node] = above + dy;
      room[node] = wide;
    }
    if (name !== null) boxes.push({ x: left, y: above, width: tile.width, height: tile.height, name });
  });
  const height = top + Math.ceil(blocks.length / perRow) * tallest + 0.5 * PITCH;
  return { x, y, room, radius: RADIUS, width, height, bend: () => 0, boxes };
}

/** Writes where the shared switches stand; returns where the blocks begin. */
function placeShared(
  { npuCount }: Topology,
  wires: readonly Wire[],
  blocks: readonly Block[],
  { x, y, room }: { x: Float64Array; y: Float64Array; room: Float64Array },
  width: number,
): number {
  const hops = hopsFromNpus(x.length, npuCount, wires);
  const own = new Set(blocks.flatMap(({ switches }) => switches));
  const tiers = new Map<number, number[]>();
  for (let node = npuCount; node < x.length; node++) {
    if (own.has(node)) continue;
    const tier = tiers.get(hops[node]) ?? [];
    tiers.set(hops[node], tier);
    tier.push(node);
  }
  let top = 0.8 * PITCH;
  for (const tier of [...tiers].sort(([a], [b]) => b - a).map(([, members]) => members)) {
    const rows = Math.ceil((tier.length * 1.1 * PITCH) / width);
    const perRow = Math.ceil(tier.length / rows);
    tier.forEach((node, i) => {
      const row = Math.floor(i / perRow);
      const inRow = Math.min(perRow, tier.length - row * perRow);
      room[node] = Math.min(width / inRow, 4 * PITCH) - 4;
      x[node] = (((i % perRow) + 0.5) * width) / inRow;
      y[node] = top + row * PITCH;
    });
    top += rows * PITCH + Math.max(2.2 * PITCH, 0.05 * width);
  }
  return top;
}

/** Returns [nodes] how many links away the nearest NPU is. O(nodes + wires) per distance. */
function hopsFromNpus(nodes: number, npuCount: number, wires: readonly Wire[]): Int32Array {
  const hops = new Int32Array(nodes).fill(nodes);
  hops.fill(0, 0, npuCount);
  for (let changed = true; changed; ) {
    changed = false;
    for (const { a, b } of wires) {
      if (hops[a] > hops[b] + 1) hops[a] = hops[b] + 1;
      else if (hops[b] > hops[a] + 1) hops[b] = hops[a] + 1;
      else continue;
      changed = true;
    }
  }
  return hops;
}
