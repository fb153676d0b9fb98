import { InfeasibleError } from "../../base/errors.ts";
import { indicesBelow } from "../numbers/ordering.ts";
import type { Topology } from "../topology/topology.ts";
import { ringDecomposition } from "./ring-decomposition.ts";

/** Boxes of NPUs, all of one size, and how channels go through them as NCCL's do: GPU g of a box has NIC or rail g. */
export interface Boxes {
  /** [boxes][NPUs of a box] ascending. */
  readonly npus: readonly Int32Array[];
  /** Places in a box from which links leave it; all places where none has such a link. */
  readonly exits: readonly number[];
  /** Directed rings through the places of a box: of its direct links where there are, else (through its switch) in order. */
  readonly rings: readonly Int32Array[];
  /** NPUs of a box have no links to each other. */
  readonly switched: boolean;
}

/** Most NPUs of a box whose direct links are searched for rings. */
const MOST_SEARCHED = 16;

/** Steps of a search for rings at exits. */
const MOST_STEPS = 20_000;

/** Returns the NPUs of each box, in order of their first; null where an NPU belongs to none or sizes differ. O(NPUs). */
export function boxesOf({ npuCount, nodeTraits }: Topology): readonly Int32Array[] | null {
  const byName = new Map<string, number[]>();
  for (let npu = 0; npu < npuCount; npu++) {
    const name = nodeTraits[npu]?.group;
    if (name === undefined) return null;
    const members = byName.get(name) ?? [];
    if (members.push(npu) === 1) byName.set(name, members);
  }
  const boxes = [...byName.values()].map((members) => Int32Array.from(members));
  return boxes.every(({ length }) => length === (boxes[0] as Int32Array).length) ? boxes : null;
}

const known = new WeakMap<Topology, Boxes>();

/** Returns the boxes with their ways out and through, found once; null as `boxesOf`. The rings are those of the first box. */
export function boxesWithRings(topology: Topology): Boxes | null {
  const found = known.get(topology);
  if (found !== undefined) return found;
  const npus = boxesOf(topology);
  if (npus === null) return null;
  const first = npus[0] as Int32Array;
  const inner = directPart(topology, first);
  const switched = inner.linkSource.length === 0;
  const boxes = {
    npus,
    exits: exitsOf(topology, npus),
    rings: switched ? [indicesBelow(first.length)] : ringsOf(inner),
    switched,
  };
  known.set(topology, boxes);
  return boxes;
}

/** Returns the places that have a link to or over a node outside of the box in some box. */
function exitsOf({ linkSource, linkTarget, nodeTraits, npuCount }: Topology, npus: readonly Int32Array[]): number[] {
  const size = (npus[0] as Int32Array).length;
  const place = new Int32Array(npuCount);
  for (const box of npus) {
    box.forEach((npu, i) => {
      place[npu] = i;
    });
  }
  const leaves = new Uint8Array(size);
  linkSource.forEach((from, link) => {
    if (from < npuCount && nodeTraits[linkTarget[link]]?.group !== nodeTraits[from]?.group) leaves[place[from]] = 1;
  });
  const exits = [...indicesBelow(size)].filter((i) => leaves[i] === 1);
  return exits.length > 0 ? exits : [...indicesBelow(size)];
}

/** Returns the NPUs of a box with the links between them, as a network. */
function directPart(topology: Topology, box: Int32Array): Topology {
  const place = new Map([...box].map((npu, i) => [npu, i]));
  const { linkSource, linkTarget } = topology;
  const inside = [...linkSource.keys()].filter((link) => place.has(linkSource[link]) && place.has(linkTarget[link]));
  return {
    ...topology,
    name: `a box of ${topology.name}`,
    npuCount: box.length,
    nodeNames: [...box].map((npu) => topology.nodeNames[npu] as string),
    nodeTraits: [...box].map((npu) => topology.nodeTraits[npu] ?? {}),
    linkSource: Int32Array.from(inside, (link) => place.get(linkSource[link]) as number),
    linkTarget: Int32Array.from(inside, (link) => place.get(linkTarget[link]) as number),
    linkBytesPerSecond: Float64Array.from(inside, (link) => topology.linkBytesPerSecond[link]),
    linkLatencyPs: Float64Array.from(inside, (link) => topology.linkLatencyPs[link]),
    shape: [],
  };
}

function ringsOf(box: Topology): readonly Int32Array[] {
  if (box.npuCount > MOST_SEARCHED) return [indicesBelow(box.npuCount)];
  try {
    return ringDecomposition(box).rings;
  } catch (error) {
    if (error instanceof InfeasibleError) return [indicesBelow(box.npuCount)];
    throw error;
  }
}

const at = (ring: Int32Array, place: number): number => ring[((place % ring.length) + ring.length) % ring.length];

/** Returns all places from one to another, those between in ring order; where both are one, it is the first. */
function throughSwitch(ring: Int32Array, from: number, to: number): number[] {
  const start = ring.indexOf(from);
  const between = Array.from(ring, (_, i) => at(ring, start + i)).filter((place) => place !== from && place !== to);
  return from === to ? [from, ...between] : [from, ...between, to];
}

/**
 * Returns a ring for each exit ([exits] its number) so that no two exits are followed by the same place in theirs and rings are used
 * as equally as can be found: depth-first, for each number of uses of a ring so many steps. Ring 0 for all always does.
 */
function ringsAtExits({ exits, rings }: Boxes): Int32Array {
  const next = rings.map((ring) => exits.map((exit) => at(ring, ring.indexOf(exit) + 1)));
  const chosen = new Int32Array(exits.length);
  const uses = new Int32Array(rings.length);
  const taken = new Set<number>();
  let steps = 0;
  const choose = (channel: number, most: number): boolean => {
    if (channel === exits.length) return true;
    for (let i = 0; i < rings.length && steps++ < MOST_STEPS; i++) {
      const number = (channel + i) % rings.length;
      const after = (next[number] as number[])[channel] as number;
      if (uses[number] === most || taken.has(after)) continue;
      chosen[channel] = number;
      uses[number]++;
      taken.add(after);
      if (choose(channel + 1, most)) return true;
      uses[number]--;
      taken.delete(after);
    }
    return false;
  };
  for (let most = Math.ceil(exits.length / rings.length); most < exits.length; most++) {
    steps = 0;
    if (choose(0, most)) return chosen;
  }
  return chosen.fill(0);
}

/**
 * Returns rings through all NPUs, one for each exit of a box: [channels] NPUs in order. Channel c enters a box at the place by
 * which it left the one before, and leaves it at the next: exits c and c + 1 in turns (c + 2 for the last of an odd number of
 * boxes), so every NIC carries one channel in and one out. Boxes with direct links are passed along one of their rings, there and
 * back in turns; an odd number of them is closed from one place to another. A single box has the rings of its links, or one
 * in each direction through its switch. O(channels x NPUs).
 */
export function channelRings(boxes: Boxes): Int32Array[] {
  const { npus, exits, rings, switched } = boxes;
  const count = npus.length;
  if (count === 1) {
    const box = npus[0] as Int32Array;
    const orders = switched ? [...rings, ...rings.map((ring) => ring.toReversed())] : rings;
    return orders.map((ring) => Int32Array.from(ring, (place) => box[place]));
  }
  const ringAt = ringsAtExits(boxes);
  return exits.map((exit, channel) => {
    const ring = rings[ringAt[channel]] as Int32Array;
    const start = ring.indexOf(exit);
    const rail = (box: number): number => {
      const turn = count % 2 === 1 && box % count === count - 1 ? 2 : (box % count) % 2;
      return exits[(channel + turn) % exits.length] as number;
    };
    const places = (box: number): number[] => {
      if (switched) return throughSwitch(ring, rail(box + count - 1), rail(box));
      const there = Array.from(ring, (_, i) => at(ring, start + 1 + i));
      return box % 2 === 0 ? there : there.reverse();
    };
    return Int32Array.from(npus.flatMap((box, b) => places(b).map((place) => box[place])));
  });
}

/**
 * Returns trees over all NPUs, one for each exit of a box and each of the given trees of boxes: [NPUs] parents, -1 at the root.
 * Within every box it is a chain that begins at the exit, whose NPU is that of the box in the tree of boxes. O(trees x NPUs).
 */
export function channelTrees({ npus, exits, rings }: Boxes, trees: readonly Int32Array[]): Int32Array[] {
  const size = (npus[0] as Int32Array).length;
  return exits.flatMap((exit, channel) => {
    const ring = rings[channel % rings.length] as Int32Array;
    const start = ring.indexOf(exit);
    return trees.map((boxParent) => {
      const parent = new Int32Array(npus.length * size);
      npus.forEach((box, b) => {
        const up = boxParent[b];
        parent[box[exit]] = up < 0 ? -1 : (npus[up] as Int32Array)[exit];
        for (let i = 1; i < size; i++) parent[box[at(ring, start + i)]] = box[at(ring, start + i - 1)];
      });
      return parent;
    });
  });
}
