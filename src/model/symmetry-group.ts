import { type Automorphisms, automorphismsOf, type Neighbours, neighbours } from "./automorphisms.ts";

/** A group of maps of a network onto itself, and one representative NPU for each orbit. */
export interface SymmetryGroup {
  /** [order][npus] maps[g][v]: where map g takes NPU v; maps[0] is the identity; closed under composition. */
  readonly maps: readonly Int32Array[];
  /** [npus] the representative of the orbit: its least NPU. */
  readonly representative: Int32Array;
  /** [npus] the least g with maps[g][representative[v]] === v. */
  readonly element: Int32Array;
}

/** Orders of groups, the best first. */
const ORDERS = [8, 4, 2] as const;
/** Groups of these orders have so many generators at most. */
const MOST_GENERATORS = 3;

/**
 * Returns the group of maps that spares most work where one NPU of each orbit stands for all, of order 2, 4 or 8; null where
 * none is found. Every map takes the multiset of routes (all of them equal) onto itself.
 *
 * Maps other than the identity fix at most one NPU in 100, or one; in a group of order 8 none. The maps that fix an NPU move
 * the sources of at least two of its routes: else all that comes in pairs would have to come through what is left.
 * The greatest order is taken, then the fewest fixed NPUs, then the fewest routes into representatives from others, then the
 * first found. O(landmarks * (routes + maps * NPUs) + (maps + groups) * routes), with at most 16 landmarks and 48 maps.
 */
export function symmetryGroupOf(
  npuCount: number,
  routeSource: Int32Array,
  routeTarget: Int32Array,
): SymmetryGroup | null {
  const all = automorphismsOf(npuCount, routeSource, routeTarget);
  if (all === null) return null;
  const into = neighbours(routeTarget, routeSource, npuCount);
  const fewFixed = Math.max(1, Math.floor(npuCount / 100));
  const groups = subgroups(all, fewFixed);
  for (const order of ORDERS) {
    let best: Rated | null = null;
    for (const group of groups) {
      if (group.length !== order) continue;
      const maps = group.map((g) => all.maps[g]);
      const rated = rate(maps, into, order === 8 ? 0 : fewFixed);
      if (rated !== null && (best === null || isBetter(rated, best))) best = rated;
    }
    if (best !== null) return withRepresentatives(best.maps);
  }
  return null;
}

/** Returns the groups of order 2, 4 and 8, as ascending lists of maps, none of which fixes more than `mostFixed` NPUs alone. */
function subgroups({ maps, product }: Automorphisms, mostFixed: number): number[][] {
  const eligible = maps.map((map, g) => g === 0 || fixedBy(map) <= mostFixed);
  const known = new Map<string, number[]>();
  let grown: number[][] = [[0]];
  for (let generators = 1; generators <= MOST_GENERATORS; generators++) {
    const larger: number[][] = [];
    for (const group of grown) {
      for (let g = 1; g < maps.length; g++) {
        if (!eligible[g] || group.includes(g)) continue;
        const next = generated([...group, g], product, maps.length);
        if (next === null || known.has(next.join()) || !next.every((element) => eligible[element])) continue;
        known.set(next.join(), next);
        larger.push(next);
      }
    }
    grown = larger;
  }
  return [...known.values()];
}

function fixedBy(map: Int32Array): number {
  let fixed = 0;
  for (let v = 0; v < map.length; v++) if (map[v] === v) fixed++;
  return fixed;
}

/** Returns the group that the elements generate, ascending; null where its order is none of ORDERS. */
function generated(elements: readonly number[], product: Int32Array, count: number): number[] | null {
  const group = [...elements];
  for (let i = 0; i < group.length; i++) {
    for (let j = 0; j <= i; j++) {
      for (const next of [product[group[i] * count + group[j]], product[group[j] * count + group[i]]]) {
        if (!group.includes(next)) group.push(next);
      }
    }
    if (group.length > ORDERS[0]) return null;
  }
  return ORDERS.some((order) => order === group.length) ? group.sort((a, b) => a - b) : null;
}

interface Rated {
  readonly maps: readonly Int32Array[];
  /** NPUs that a map other than the identity fixes. */
  readonly fixed: number;
  /** Routes into representatives from NPUs that are none. */
  readonly crossing: number;
}

const isBetter = (a: Rated, b: Rated): boolean => a.fixed < b.fixed || (a.fixed === b.fixed && a.crossing < b.crossing);

/** Returns the figures of a group, or null where too many NPUs are fixed or one of them is cut off. O(order * NPUs + routes). */
function rate(maps: readonly Int32Array[], into: Neighbours, mostFixed: number): Rated | null {
  const npuCount = maps[0].length;
  const representative = new Uint8Array(npuCount);
  let fixed = 0;
  for (let v = 0; v < npuCount; v++) {
    let isFixed = false;
    let isLeast = true;
    for (let g = 1; g < maps.length; g++) {
      if (maps[g][v] === v) isFixed = true;
      else if (maps[g][v] < v) isLeast = false;
    }
    if (isLeast) representative[v] = 1;
    if (isFixed && (++fixed > mostFixed || !hasMovedPorts(v, maps, into))) return null;
  }
  let crossing = 0;
  for (let v = 0; v < npuCount; v++) {
    if (representative[v] === 0) continue;
    for (let i = into.offset[v]; i < into.offset[v + 1]; i++) crossing += 1 - representative[into.node[i]];
  }
  return { maps, fixed, crossing };
}

/** Returns whether the maps that fix the NPU move the sources of two routes into it. */
function hasMovedPorts(npu: number, maps: readonly Int32Array[], { offset, node }: Neighbours): boolean {
  const fixing = maps.filter((map) => map[npu] === npu);
  let moved = 0;
  for (let i = offset[npu]; i < offset[npu + 1]; i++) if (fixing.some((map) => map[node[i]] !== node[i])) moved++;
  return moved >= 2;
}

function withRepresentatives(maps: readonly Int32Array[]): SymmetryGroup {
  const npuCount = maps[0].length;
  const representative = new Int32Array(npuCount).fill(-1);
  const element = new Int32Array(npuCount);
  for (let v = 0; v < npuCount; v++) {
    if (representative[v] >= 0) continue;
    for (let g = maps.length - 1; g >= 0; g--) {
      representative[maps[g][v]] = v;
      element[maps[g][v]] = g;
    }
  }
  return { maps, representative, element };
}
