import { groupedBy } from "../graph/graph.ts";
import { mostMaps } from "./fold.ts";

/**
 * Maps of a network of equal routes onto itself, found from landmarks: NPUs of a rare pair of degrees, such as the corners of
 * a mesh. Where distances from (and to) the landmarks tell all NPUs apart, what a map does to the landmarks says what it does
 * to every NPU; so each permutation of landmarks that keeps their distances proposes one map, which is checked route by route.
 */

const MOST_LANDMARKS = 16;
/** So many classes of NPUs are tried as landmarks, the smallest first. */
const MOST_CLASSES = 4;
/** Above this many placed landmarks the search for permutations gives up; a cube needs 320, one of four dimensions about 6,000. */
const MOST_NODES = 10_000;
/** Classes whose permutations have more distances and routes to check, all together, are left out; 1e8 take a second. */
const MOST_CHECKS = 1e8;

/** Other ends of the routes at each NPU, one for each route, and their kinds: node[offset[v] .. offset[v + 1]]. */
interface Neighbours {
  readonly offset: Int32Array;
  readonly node: Int32Array;
  readonly kind: Int32Array;
  readonly kinds: number;
}

/** Returns the other ends of routes, by the ends in `at`; all of one kind where `kindOf` is null. O(routes + NPUs). */
function neighbours(at: Int32Array, other: Int32Array, kindOf: Int32Array | null, npuCount: number): Neighbours {
  const { offset, items } = groupedBy(at, npuCount);
  const node = new Int32Array(items.length);
  const kind = new Int32Array(items.length);
  let kinds = 1;
  for (let i = 0; i < items.length; i++) {
    node[i] = other[items[i]];
    if (kindOf === null) continue;
    kind[i] = kindOf[items[i]];
    kinds = Math.max(kinds, kind[i] + 1);
  }
  return { offset, node, kind, kinds };
}

/**
 * Returns whether a map takes the neighbours `from` of every NPU to the neighbours `to` of its image, by each kind as often.
 * O(routes).
 */
function takesOnto(map: Int32Array, from: Neighbours, to: Neighbours): boolean {
  const { kinds } = to;
  const left = new Int32Array(map.length * kinds);
  for (let v = 0; v < map.length; v++) {
    const image = map[v];
    if (from.offset[v + 1] - from.offset[v] !== to.offset[image + 1] - to.offset[image]) return false;
    for (let i = to.offset[image]; i < to.offset[image + 1]; i++) left[to.node[i] * kinds + to.kind[i]]++;
    for (let i = from.offset[v]; i < from.offset[v + 1]; i++) {
      if (--left[map[from.node[i]] * kinds + from.kind[i]] < 0) return false;
    }
  }
  return true;
}

/**
 * Returns every map of NPUs onto NPUs that takes the multiset of routes onto itself, of each kind (0, 1, ...) for itself, as [maps][npus] where each NPU goes: the
 * identity first, closed under composition. Null where no class of NPUs serves as landmarks, or the search is too wide.
 * O(landmarks * (routes + maps * NPUs) + maps * routes) time, where maps counts the proposed ones too.
 */
export function automorphismsOf(
  npuCount: number,
  source: Int32Array,
  target: Int32Array,
  kind: Int32Array | null = null,
): readonly Int32Array[] | null {
  const into = neighbours(target, source, kind, npuCount);
  const out = neighbours(source, target, kind, npuCount);
  let symmetric: boolean | undefined;
  for (const landmarks of landmarkClasses(into, out)) {
    symmetric ??= takesOnto(
      Int32Array.from({ length: npuCount }, (_, v) => v),
      into,
      out,
    );
    const rows = distanceRows(landmarks, symmetric ? [out] : [out, into], npuCount);
    const permutations = isometries(landmarks, rows);
    if (permutations === null || permutations.length * (rows.value.length + source.length) > MOST_CHECKS) continue;
    const find = rowIndex(rows);
    if (find !== null) return mapsBy(permutations, rows, find, into);
  }
  return null;
}

/** Returns the classes of NPUs of equal degrees that may be landmarks: the smallest first, then by degrees. */
function landmarkClasses(into: Neighbours, out: Neighbours): number[][] {
  const classes = new Map<number, number[]>();
  for (let v = 0; v + 1 < into.offset.length; v++) {
    const inDegree = into.offset[v + 1] - into.offset[v];
    const key = inDegree * (out.node.length + 1) + out.offset[v + 1] - out.offset[v];
    const alike = classes.get(key);
    if (alike === undefined) classes.set(key, [v]);
    else if (alike.length <= MOST_LANDMARKS) alike.push(v);
  }
  return [...classes]
    .filter(([, { length }]) => length >= 2 && length <= MOST_LANDMARKS)
    .sort(([key, alike], [otherKey, others]) => alike.length - others.length || key - otherKey)
    .slice(0, MOST_CLASSES)
    .map(([, alike]) => alike);
}

/** Returns the maps among those that the permutations propose, in their order; null where too many. */
function mapsBy(
  permutations: readonly Int32Array[],
  rows: Rows,
  find: (row: Int32Array) => number,
  into: Neighbours,
): Int32Array[] | null {
  const maps: Int32Array[] = [];
  for (const permutation of permutations) {
    const map = proposedMap(permutation, rows, find);
    if (map === null || !takesOnto(map, into, into)) continue;
    if (maps.length === mostMaps(map.length)) return null;
    maps.push(map);
  }
  return maps;
}

/** Distances of NPUs from landmarks: NPU v's are value[v * width .. (v + 1) * width]; -1 where no routes lead. */
interface Rows {
  readonly width: number;
  readonly value: Int32Array;
}

/** Returns the numbers of routes from each landmark to each NPU, then, where two ways are given, back. */
function distanceRows(landmarks: number[], ways: readonly Neighbours[], npuCount: number): Rows {
  const width = landmarks.length * ways.length;
  const value = new Int32Array(npuCount * width).fill(-1);
  const queue = new Int32Array(npuCount);
  ways.forEach(({ offset, node }, way) => {
    landmarks.forEach((landmark, l) => {
      const column = way * landmarks.length + l;
      value[landmark * width + column] = 0;
      queue[0] = landmark;
      for (let first = 0, last = 1; first < last; first++) {
        const v = queue[first];
        const reach = value[v * width + column] + 1;
        for (let i = offset[v]; i < offset[v + 1]; i++) {
          const at = node[i] * width + column;
          if (value[at] >= 0) continue;
          value[at] = reach;
          queue[last++] = node[i];
        }
      }
    });
  });
  return { width, value };
}

/** Returns a function that finds the NPU of a row, -1 where there is none; null where two NPUs have the same row. */
function rowIndex({ width, value }: Rows): ((row: Int32Array) => number) | null {
  const npuCount = value.length / width;
  const mask = 2 ** (32 - Math.clz32(2 * npuCount)) - 1;
  const table = new Int32Array(mask + 1).fill(-1);
  /** Returns the place of the row, or a free one. */
  const placeOf = (row: Int32Array): number => {
    let hash = 0;
    for (let k = 0; k < width; k++) {
      hash = Math.imul(hash ^ row[k], 0x85ebca6b);
      hash ^= hash >>> 15;
    }
    let place = hash & mask;
    for (; table[place] >= 0; place = (place + 1) & mask) {
      const at = table[place] * width;
      let k = 0;
      while (k < width && value[at + k] === row[k]) k++;
      if (k === width) break;
    }
    return place;
  };
  const row = new Int32Array(width);
  for (let v = 0; v < npuCount; v++) {
    for (let k = 0; k < width; k++) row[k] = value[v * width + k];
    const place = placeOf(row);
    if (table[place] >= 0) return null;
    table[place] = v;
  }
  return (sought) => table[placeOf(sought)];
}

/** Returns the permutations of landmarks that keep all distances among them, the identity first; null where too many. */
function isometries(landmarks: number[], { width, value }: Rows): Int32Array[] | null {
  const count = landmarks.length;
  const found: Int32Array[] = [];
  const image = new Int32Array(count);
  const used = new Uint8Array(count);
  let nodes = 0;
  const distance = (from: number, to: number): number => value[landmarks[to] * width + from];
  const fits = (l: number, to: number): boolean => {
    for (let other = 0; other < l; other++) {
      if (distance(other, l) !== distance(image[other], to)) return false;
      if (distance(l, other) !== distance(to, image[other])) return false;
    }
    return true;
  };
  const placeFrom = (l: number): boolean => {
    if (l === count) found.push(image.slice());
    for (let to = 0; to < count && l < count; to++) {
      if (used[to] === 1 || !fits(l, to)) continue;
      if (++nodes > MOST_NODES) return false;
      used[to] = 1;
      image[l] = to;
      if (!placeFrom(l + 1)) return false;
      used[to] = 0;
    }
    return true;
  };
  return placeFrom(0) ? found : null;
}

/** Returns the map that takes each NPU to the one whose distances are permuted so, or null. Different NPUs go to different ones. */
function proposedMap(
  permutation: Int32Array,
  { width, value }: Rows,
  find: (row: Int32Array) => number,
): Int32Array | null {
  const count = permutation.length;
  const column = Int32Array.from({ length: width }, (_, k) => permutation[k % count] + k - (k % count));
  const row = new Int32Array(width);
  const map = new Int32Array(value.length / width);
  for (let v = 0; v < map.length; v++) {
    for (let k = 0, at = v * width; k < width; k++) row[column[k]] = value[at + k];
    map[v] = find(row);
    if (map[v] < 0) return null;
  }
  return map;
}
