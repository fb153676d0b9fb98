import { InfeasibleError, InputError } from "../../base/errors.ts";
import { commonDivisor } from "../numbers/integers.ts";
import { indicesBelow } from "../numbers/ordering.ts";
import type { Topology } from "../topology/topology.ts";
import { type GridCycles, gridCycles } from "./grid-rings.ts";
import { searchedCycles } from "./searched-rings.ts";

/** Directed rings through all NPUs of a box that share no slot of a link. */
export interface RingDecomposition {
  /** [rings] NPUs in order, the first is NPU 0; the last sends to the first. */
  readonly rings: readonly Int32Array[];
  /** Of each ring. */
  readonly bytesPerSecond: number;
  /** No more rings of this bandwidth than this many are possible, for a cut or an exhausted search says so. */
  readonly bound: number;
}

/** Steps of the search for a certain number of rings, 2 to 4 s; looking at this many sets of NPUs counts as one. */
const BUDGET = 8_000_000;
const SETS_A_STEP = 8;

/**
 * Returns the most directed Hamiltonian cycles that were found over the direct links of a box of at most 16 NPUs, or of more NPUs
 * (`gridCycles`, else `searchedCycles`, each there and back), or over switches that all NPUs are linked to, none using bandwidth of another: exact where
 * as many as `bound`. In a box first pairs of a ring and its reverse are tried, then any, by depth-first search in which every
 * cut must let the rings still to come through. Deterministic; the search gives up after a number of steps. Throws InputError for
 * other networks, InfeasibleError where there is no ring.
 */
export function ringDecomposition(topology: Topology): RingDecomposition {
  const cycles = cyclesOfMany(topology);
  if (cycles !== null) return ringsBothWays(topology, cycles);
  const box = ringSlots(topology);
  if ("rings" in box) return switchedRings(box);
  const { npus, slots, bytesPerSecond } = box;
  const symmetric = slots.every((count, i) => count === slots[(i % npus) * npus + Math.floor(i / npus)]);
  let bound = leastCut(npus, slots);
  for (let count = bound; count > 0; count--) {
    const pairs = symmetric && count % 2 === 0 && npus > 2 ? search(box, count, 2) : null;
    if (pairs !== null && pairs !== "gave up") return { rings: pairs, bytesPerSecond, bound };
    const found = search(box, count, 1);
    if (found !== null && found !== "gave up") return { rings: found, bytesPerSecond, bound };
    if (found === null && bound === count) bound--;
  }
  throw new InfeasibleError("no ring goes through all NPUs of the box once");
}

/** Returns cycles of a network whose cuts are too many to be looked at; null for others, and where none is found. */
const cyclesOfMany = (topology: Topology): GridCycles | null =>
  topology.npuCount > MOST_IN_BOX && hasDirectLinks(topology)
    ? (gridCycles(topology) ?? searchedCycles(topology))
    : null;

/** Every cycle is gone round both ways; there are no more rings than any NPU can send to. */
function ringsBothWays(topology: Topology, { cycles, bytesPerSecond }: GridCycles): RingDecomposition {
  const sent = new Float64Array(topology.npuCount);
  topology.linkSource.forEach((from, link) => {
    sent[from] += topology.linkBytesPerSecond[link];
  });
  const rings = cycles.flatMap((ring) => [
    ring,
    Int32Array.from(ring, (_, i) => ring[(ring.length - i) % ring.length]),
  ]);
  return { rings, bytesPerSecond, bound: Math.floor(sent.reduce((a, b) => Math.min(a, b)) / bytesPerSecond) };
}

/** Every ring goes round in the order of the NPUs, every second the other way. */
function switchedRings({ npus, rings, bytesPerSecond }: SwitchedBox): RingDecomposition {
  const there = Int32Array.from({ length: npus }, (_, npu) => npu);
  const back = Int32Array.from({ length: npus }, (_, i) => (npus - i) % npus);
  return { rings: Array.from({ length: rings }, (_, i) => (i % 2 === 0 ? there : back)), bytesPerSecond, bound: rings };
}

/** Returns the fewest slots that leave any set of NPUs; every ring needs one of them. O(2^npus npus), by single changes. */
export function leastCut(npus: number, slots: Int32Array): number {
  const inside = new Uint8Array(npus);
  let [leaving, entering] = [0, 0];
  let least = Number.POSITIVE_INFINITY;
  // sets without the last NPU in the order of a Gray code; their complements are the other sets
  for (let code = 1; code < 2 ** (npus - 1); code++) {
    const changed = 31 - Math.clz32(code & -code);
    const sign = inside[changed] === 1 ? -1 : 1;
    inside[changed] ^= 1;
    for (let other = 0; other < npus; other++) {
      if (other === changed) continue;
      const [out, back] = [slots[changed * npus + other], slots[other * npus + changed]];
      leaving += sign * (inside[other] === 1 ? -back : out);
      entering += sign * (inside[other] === 1 ? -out : back);
    }
    least = Math.min(least, leaving, entering);
  }
  return least;
}

/**
 * Returns this many rings, `step` 2: in pairs of a ring and its reverse; null where there are none, "gave up" where the budget ended
 * before that was clear. Rings leave NPU 0 in the order of the NPUs they go to, for which of them is the first makes no difference.
 */
function search({ npus, slots }: RingSlots, count: number, step: 1 | 2): Int32Array[] | null | "gave up" {
  const left = slots.slice();
  const rings: Int32Array[] = [];
  const path = new Int32Array(npus);
  let steps = 0;
  const take = (from: number, to: number, by: number): void => {
    left[from * npus + to] -= by;
    if (step === 2) left[to * npus + from] -= by;
  };
  const mayGo = (from: number, to: number): boolean => left[from * npus + to] > 0;

  function extend(length: number, visited: number): boolean {
    if (++steps > BUDGET) return false;
    const from = path[length - 1];
    if (length === npus) return mayGo(from, 0) && close(from);
    for (const to of candidates(from, length, visited)) {
      take(from, to, 1);
      path[length] = to;
      if (extend(length + 1, visited | (1 << to))) return true;
      take(from, to, -1);
    }
    return false;
  }

  function close(last: number): boolean {
    take(last, 0, 1);
    const ring = path.slice();
    rings.push(ring);
    const missing = count - step * rings.length;
    if (missing === 0) return true;
    steps += 2 ** (npus - 1) / SETS_A_STEP;
    if (leastCut(npus, left) >= missing && extend(1, 1)) return true;
    path.set(ring);
    rings.pop();
    take(last, 0, -1);
    return false;
  }

  /** NPUs to go on to: those that the most slots go to come first; from NPU 0 in order. */
  function candidates(from: number, length: number, visited: number): number[] {
    const least = length === 1 && rings.length > 0 ? rings[rings.length - 1][1] : 0;
    const found: number[] = [];
    for (let to = least; to < npus; to++) if ((visited & (1 << to)) === 0 && mayGo(from, to)) found.push(to);
    if (length > 1) found.sort((a, b) => left[from * npus + b] - left[from * npus + a] || a - b);
    return found;
  }

  if (extend(1, 1)) {
    if (step === 1) return rings;
    return rings.flatMap((ring) => [ring, Int32Array.from(ring, (_, i) => ring[(npus - i) % npus])]);
  }
  return steps > BUDGET ? "gave up" : null;
}

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
  const { remnant: _, ...kept } = topology;
  return {
    ...kept,
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
 * as equally as can be found: depth-first, for each number of uses of a ring this many steps. Ring 0 for all always does.
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

/**
 * Returns what a network needs and does not have for rings through all NPUs (`ringDecomposition`), as a noun phrase; null where
 * there is one. O(2^npus) for the at most 16 NPUs of direct links; of more a cycle is looked for; else O(links).
 */
export function whyNoRing(topology: Topology): string | null {
  if (cyclesOfMany(topology) !== null) return null;
  try {
    const box = ringSlots(topology);
    if ("rings" in box || hasRing(box)) return null;
    return "a network with a ring of links through all NPUs, each once, for rings";
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    return "2 to 16 NPUs with direct links, up to 2,048 with a cycle of links both ways through all that is found, or switches that all NPUs are linked to, for rings";
  }
}

/** Whether slots lead through all NPUs once and back: for every set with NPU 0, at which NPUs a path through it can end. */
function hasRing({ npus, slots }: RingSlots): boolean {
  const next = Int32Array.from({ length: npus }, (_, from) => {
    let targets = 0;
    for (let to = 0; to < npus; to++) if (slots[from * npus + to] > 0) targets |= 1 << to;
    return targets;
  });
  const ends = new Int32Array(2 ** npus);
  ends[1] = 1;
  for (let set = 1; set < ends.length; set += 2) {
    for (let left = ends[set]; left !== 0; left &= left - 1) {
      const at = 31 - Math.clz32(left & -left);
      for (let open = next[at] & ~set; open !== 0; open &= open - 1) ends[set | (open & -open)] |= open & -open;
    }
  }
  for (let left = ends[ends.length - 1]; left !== 0; left &= left - 1) {
    if ((next[31 - Math.clz32(left & -left)] & 1) !== 0) return true;
  }
  return false;
}

/** Most NPUs of a box whose rings are searched for: all cuts of it are looked at. */
const MOST_IN_BOX = 16;
/** Most rings that a runtime makes use of. */
const MOST_RINGS = 32;
/** What a ring over a switch gets, about; the rate of one NVLink. */
const SWITCHED_RING = 25e9;

/** A box whose NPUs are all linked to the same switches: rings in any order. */
interface SwitchedBox {
  readonly npus: number;
  readonly rings: number;
  readonly bytesPerSecond: number;
}

/** How often rings of a certain bandwidth may go from an NPU to another. */
interface RingSlots {
  readonly npus: number;
  /** [npus * npus] from row to column. */
  readonly slots: Int32Array;
  readonly bytesPerSecond: number;
}

const hasDirectLinks = ({ npuCount, linkSource, linkTarget }: Topology): boolean =>
  linkSource.some((from, link) => from < npuCount && linkTarget[link] < npuCount);

/** Returns [npus * npus] bytes per second of direct links. */
function directBandwidth({ npuCount, linkSource, linkTarget, linkBytesPerSecond }: Topology): Float64Array {
  const bandwidth = new Float64Array(npuCount * npuCount);
  linkSource.forEach((from, link) => {
    const to = linkTarget[link];
    if (from < npuCount && to < npuCount) bandwidth[from * npuCount + to] += linkBytesPerSecond[link];
  });
  return bandwidth;
}

/** Returns what every NPU can send and receive through switches that all are linked to; null where there are others. */
function switchedBandwidth({
  npuCount,
  nodeNames,
  linkSource,
  linkTarget,
  linkBytesPerSecond,
}: Topology): number | null {
  const switches = nodeNames.length - npuCount;
  const sent = new Float64Array(npuCount * switches);
  const received = new Float64Array(npuCount * switches);
  linkSource.forEach((from, link) => {
    const to = linkTarget[link];
    if (from < npuCount && to >= npuCount) sent[from * switches + to - npuCount] += linkBytesPerSecond[link];
    if (from >= npuCount && to < npuCount) received[to * switches + from - npuCount] += linkBytesPerSecond[link];
  });
  let total = 0;
  for (let s = 0; s < switches; s++) {
    let least = Number.POSITIVE_INFINITY;
    for (let npu = 0; npu < npuCount; npu++) {
      least = Math.min(least, sent[npu * switches + s], received[npu * switches + s]);
    }
    if (least === 0) return null;
    total += least;
  }
  return total;
}

/**
 * Returns the slots of direct links, each of the greatest bandwidth that divides all of them, larger where NPUs would have more than
 * 32 slots; through switches that all NPUs are linked to, where there are no direct links, as many rings as have 25 GB/s each.
 * Throws InputError for less than 2 NPUs, more than 16 with
 * direct links, and NPUs that are not so linked.
 */
function ringSlots(topology: Topology): RingSlots | SwitchedBox {
  const { npuCount: npus } = topology;
  if (npus < 2) throw new InputError("the NPUs of a box with rings", "2 or more", npus);
  if (!hasDirectLinks(topology)) {
    const through = switchedBandwidth(topology);
    if (through === null || through === 0)
      throw new InputError(
        "the links of a box with rings",
        "direct links, or switches that all NPUs are linked to",
      ).saying(
        `${topology.name} has neither direct links between NPUs nor a switch that all are linked to; rings are made of one box: a preset of boxes with :1, or the file of one`,
      );
    const rings = Math.max(1, Math.min(MOST_RINGS, Math.round(through / SWITCHED_RING)));
    return { npus, rings, bytesPerSecond: Math.floor(through / rings) };
  }
  if (npus > MOST_IN_BOX)
    throw new InputError("the NPUs of a box with rings over direct links", `2 to ${MOST_IN_BOX}`, npus);
  const bandwidth = directBandwidth(topology);
  const different = [...new Set(bandwidth)].filter((value) => value > 0);
  const out = Array.from({ length: npus }, (_, npu) =>
    bandwidth.subarray(npu * npus, (npu + 1) * npus).reduce((sum, value) => sum + value, 0),
  );
  const least = out.reduce((a, b) => Math.min(a, b));
  const unit = Math.max(commonDivisor(different), Math.ceil(least / MOST_RINGS));
  return { npus, slots: Int32Array.from(bandwidth, (value) => Math.floor(value / unit)), bytesPerSecond: unit };
}
