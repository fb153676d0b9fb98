import type { Grouped } from "../graph/graph.ts";

/**
 * Networks that map onto themselves: what one NPU of each orbit does stands for all. The twin of native/kernels/fold.h, and
 * what schedules of which only those NPUs' logs are kept are read by.
 */
export interface Fold {
  readonly mapCount: number;
  readonly npuCount: number;
  /** [maps * npus] */
  readonly maps: Int32Array;
  /** [maps * chunks] */
  readonly chunkMaps: Int32Array;
  /** [npus] the least NPU of the orbit. */
  readonly representative: Int32Array;
  /** [npus] the first map that takes the representative there. */
  readonly element: Int32Array;
  /** [routes] by NPU: which of its ports port p of its representative becomes. */
  readonly imagePort: Int32Array;
  /** [npus] representatives that a map besides the identity leaves in place are counted; NONE for the others. */
  readonly fixedRow: Int32Array;
}

/** What a fold is made of. Every chunk must have one holder. */
export interface FoldProblem {
  readonly npuCount: number;
  readonly chunkCount: number;
  readonly maps: Int32Array;
  readonly routeSource: Int32Array;
  /** null: all routes are equal. */
  readonly slotPs: Float64Array | null;
  readonly heldOffset: Int32Array;
  readonly heldChunk: Int32Array;
}

/** Returns whether the map leaves the NPU in place. */
export const fixes = ({ maps, npuCount }: Fold, map: number, npu: number): boolean =>
  maps[map * npuCount + npu] === npu;

const NONE = -1;

/**
 * Returns the fold; `into`: the routes into every NPU. Null when the maps do not keep holdings or routes.
 * O(maps x (NPUs + chunks) + routes x ports).
 */
export function foldOf(problem: FoldProblem, into: Grouped): Fold | null {
  const { npuCount, maps } = problem;
  const mapCount = maps.length / npuCount;
  const { representative, element } = orbitsUnder(maps, npuCount);
  const fixedRow = new Int32Array(npuCount).fill(NONE);
  let fixed = 0;
  for (let v = 0; v < npuCount; v++) {
    if (representative[v] !== v) continue;
    for (let g = 1; g < mapCount && fixedRow[v] === NONE; g++) if (maps[g * npuCount + v] === v) fixedRow[v] = fixed++;
  }
  const chunkMaps = mapChunks(problem, mapCount);
  const imagePort = mapPorts(problem, into, representative, element);
  if (chunkMaps === null || imagePort === null) return null;
  return { mapCount, npuCount, maps, chunkMaps, representative, element, imagePort, fixedRow };
}

/** The k-th chunk that an NPU holds becomes the k-th that its image holds. */
function mapChunks(
  { npuCount, chunkCount, heldOffset, heldChunk, maps }: FoldProblem,
  mapCount: number,
): Int32Array | null {
  if (heldChunk.length !== chunkCount) return null;
  const chunkMaps = new Int32Array(mapCount * chunkCount);
  for (let g = 0; g < mapCount; g++) {
    for (let v = 0; v < npuCount; v++) {
      const image = maps[g * npuCount + v];
      const count = heldOffset[v + 1] - heldOffset[v];
      if (heldOffset[image + 1] - heldOffset[image] !== count) return null;
      for (let i = 0; i < count; i++) {
        chunkMaps[g * chunkCount + heldChunk[heldOffset[v] + i]] = heldChunk[heldOffset[image] + i];
      }
    }
  }
  return chunkMaps;
}

/** Of parallel routes that are equally long the k-th becomes the k-th. */
function mapPorts(
  { npuCount, routeSource, slotPs, maps }: FoldProblem,
  { offset, items }: Grouped,
  representative: Int32Array,
  element: Int32Array,
): Int32Array | null {
  const imagePort = new Int32Array(routeSource.length);
  const alike = (source: number, route: number, other: number): boolean =>
    routeSource[route] === source && (slotPs === null || slotPs[route] === slotPs[other]);
  for (let npu = 0; npu < npuCount; npu++) {
    const from = offset[representative[npu]];
    const to = offset[npu];
    const count = offset[npu + 1] - to;
    if (offset[representative[npu] + 1] - from !== count) return null;
    for (let p = 0; p < count; p++) {
      const route = items[from + p];
      const image = maps[element[npu] * npuCount + routeSource[route]];
      let rank = 0;
      for (let q = 0; q < p; q++) if (alike(routeSource[route], items[from + q], route)) rank++;
      let found = 0;
      while (found < count && (!alike(image, items[to + found], route) || rank-- !== 0)) found++;
      if (found === count) return null;
      imagePort[to + p] = found;
    }
  }
  return imagePort;
}

/** [npus] of a group of maps, the identity first: the least NPU of each orbit, and the first map that takes it to the NPU. */
export function orbitsUnder(maps: Int32Array, npuCount: number): Pick<Fold, "representative" | "element"> {
  const representative = new Int32Array(npuCount).fill(NONE);
  const element = new Int32Array(npuCount);
  for (let v = 0; v < npuCount; v++) {
    if (representative[v] !== NONE) continue;
    representative[v] = v;
    for (let at = v + npuCount, g = 1; at < maps.length; at += npuCount, g++) {
      if (representative[maps[at]] !== NONE) continue;
      representative[maps[at]] = v;
      element[maps[at]] = g;
    }
  }
  return { representative, element };
}

/** Returns maps one behind the other: [maps * npus]. */
export function mapColumns(maps: readonly Int32Array[], npuCount: number): Int32Array {
  const columns = new Int32Array(maps.length * npuCount);
  for (const [g, map] of maps.entries()) columns.set(map, g * npuCount);
  return columns;
}

/** Returns the maps of which `mapColumns` made the columns. */
export const mapsIn = (columns: Int32Array, npuCount: number): readonly Int32Array[] =>
  Array.from({ length: columns.length / npuCount }, (_, g) => columns.subarray(g * npuCount, (g + 1) * npuCount));

/** A cube has 48 maps onto itself, one of four dimensions 384. */
const MOST_MAPS = 400;
/** Four bytes each. */
const MOST_IMAGES = 1e8;

/** Returns how many maps of so many NPUs are looked for or read at most. */
export const mostMaps = (npuCount: number): number => Math.min(MOST_MAPS, Math.floor(MOST_IMAGES / npuCount));

const remembered = new WeakMap<readonly Int32Array[], readonly Int32Array[] | null>();

/**
 * Returns the group that maps make up, in lexicographic order, so the identity first; null for more than `mostMaps`. The maps
 * are permutations of the NPUs. O(maps x generators x NPUs), once for a list of generators, which never changes.
 */
export function groupOf(generators: readonly Int32Array[], npuCount: number): readonly Int32Array[] | null {
  const known = remembered.get(generators);
  if (known !== undefined && (known === null || known[0].length === npuCount)) return known;
  const group = generated(generators, npuCount);
  remembered.set(generators, group);
  return group;
}

function generated(generators: readonly Int32Array[], npuCount: number): readonly Int32Array[] | null {
  const group = [Int32Array.from({ length: npuCount }, (_, v) => v)];
  const alike = new Map<number, Int32Array[]>([[hashOf(group[0] as Int32Array), group.slice()]]);
  for (const map of group) {
    for (const generator of generators) {
      const next = map.map((image) => generator[image]);
      const hash = hashOf(next);
      const known = alike.get(hash) ?? [];
      if (known.some((other) => compareMaps(other, next) === 0)) continue;
      if (group.push(next) > mostMaps(npuCount)) return null;
      alike.set(hash, [...known, next]);
    }
  }
  return group.sort(compareMaps);
}

const hashOf = (map: Int32Array): number => map.reduce((hash, image) => Math.imul(hash ^ image, 0x9e3779b1), 1);

/** Orders maps by where they take NPU 0, then NPU 1, ... */
export function compareMaps(a: Int32Array, b: Int32Array): number {
  let v = 0;
  while (v < a.length && a[v] === b[v]) v++;
  return v === a.length ? 0 : a[v] - b[v];
}

/** Returns a few maps of a group that make it up. O(maps x generators x NPUs). */
export function generatorsOf(group: readonly Int32Array[], npuCount: number): readonly Int32Array[] {
  let generators: readonly Int32Array[] = [];
  for (const map of group) {
    const made = groupOf(generators, npuCount) ?? group;
    if (made.every((other) => compareMaps(other, map) !== 0)) generators = [...generators, map];
  }
  return generators;
}

/** Returns the least NPUs of the orbits under a group of maps, ascending; all where it is null. */
export function leastNpus(group: readonly Int32Array[] | null, npuCount: number): Int32Array {
  const { representative } = orbitsUnder(mapColumns(group ?? [], npuCount), npuCount);
  return representative.filter((least, npu) => least === npu);
}
