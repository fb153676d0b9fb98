import { STATUS, throwForStatus } from "../status.ts";
import { type Lists, NONE } from "./lists.ts";

/** Networks that map onto themselves; the twin of native/kernels/fold.h. */
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

/** Returns the fold; `into`: the routes into every NPU. Throws when the maps do not keep holdings or routes. */
export function buildFold(problem: FoldProblem, into: Lists): Fold {
  const { npuCount, maps } = problem;
  const mapCount = maps.length / npuCount;
  const representative = new Int32Array(npuCount).fill(NONE);
  const element = new Int32Array(npuCount);
  const fixedRow = new Int32Array(npuCount).fill(NONE);
  let fixed = 0;
  for (let v = 0; v < npuCount; v++) {
    if (representative[v] !== NONE) continue;
    representative[v] = v;
    for (let g = 1; g < mapCount; g++) {
      const image = maps[g * npuCount + v];
      if (image === v && fixedRow[v] === NONE) fixedRow[v] = fixed++;
      if (representative[image] !== NONE) continue;
      representative[image] = v;
      element[image] = g;
    }
  }
  const chunkMaps = mapChunks(problem, mapCount);
  const imagePort = mapPorts(problem, into, representative, element);
  return { mapCount, npuCount, maps, chunkMaps, representative, element, imagePort, fixedRow };
}

/** The k-th chunk that an NPU holds becomes the k-th that its image holds. */
function mapChunks({ npuCount, chunkCount, heldOffset, heldChunk, maps }: FoldProblem, mapCount: number): Int32Array {
  if (heldChunk.length !== chunkCount) throwForStatus(STATUS.badArgument, 0, 0);
  const chunkMaps = new Int32Array(mapCount * chunkCount);
  for (let g = 0; g < mapCount; g++) {
    for (let v = 0; v < npuCount; v++) {
      const image = maps[g * npuCount + v];
      const count = heldOffset[v + 1] - heldOffset[v];
      if (heldOffset[image + 1] - heldOffset[image] !== count) throwForStatus(STATUS.badArgument, 0, 0);
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
  { offset, items }: Lists,
  representative: Int32Array,
  element: Int32Array,
): Int32Array {
  const imagePort = new Int32Array(routeSource.length);
  const alike = (source: number, route: number, other: number): boolean =>
    routeSource[route] === source && (slotPs === null || slotPs[route] === slotPs[other]);
  for (let npu = 0; npu < npuCount; npu++) {
    const from = offset[representative[npu]];
    const to = offset[npu];
    const count = offset[npu + 1] - to;
    if (offset[representative[npu] + 1] - from !== count) throwForStatus(STATUS.badArgument, 0, 0);
    for (let p = 0; p < count; p++) {
      const route = items[from + p];
      const image = maps[element[npu] * npuCount + routeSource[route]];
      let rank = 0;
      for (let q = 0; q < p; q++) if (alike(routeSource[route], items[from + q], route)) rank++;
      let found = 0;
      while (found < count && (!alike(image, items[to + found], route) || rank-- !== 0)) found++;
      if (found === count) throwForStatus(STATUS.badArgument, 0, 0);
      imagePort[to + p] = found;
    }
  }
  return imagePort;
}
