import { mapCountOf, type SpreadLogs, type SpreadProblem } from "../kernels.ts";
import { STATUS, throwForStatus } from "../status.ts";
import { type Lists, NONE } from "./lists.ts";

/** Networks that map onto themselves; native/kernels/spread_fold.h and spread_unfold.h are the twins. */
export interface Fold {
  readonly mapCount: number;
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
  /** Of representatives that a map leaves in place: the log as others read it, and [chunks] what is in it. */
  readonly shown: ReadonlyMap<number, { readonly log: Int32Array; readonly holds: Uint8Array }>;
}

/** Returns the fold of a problem with maps, null for one without; `into`: the routes into every NPU. */
export function buildFold(problem: SpreadProblem, into: Lists): Fold | null {
  const { npuCount, chunkCount, maps } = problem;
  const mapCount = mapCountOf(problem);
  if (maps === null || mapCount === 0) return null;
  const representative = new Int32Array(npuCount).fill(NONE);
  const element = new Int32Array(npuCount);
  const shown = new Map<number, { log: Int32Array; holds: Uint8Array }>();
  for (let v = 0; v < npuCount; v++) {
    if (representative[v] !== NONE) continue;
    representative[v] = v;
    for (let g = 1; g < mapCount; g++) {
      const image = maps[g * npuCount + v];
      if (image === v) shown.set(v, { log: new Int32Array(chunkCount), holds: new Uint8Array(chunkCount) });
      if (representative[image] !== NONE) continue;
      representative[image] = v;
      element[image] = g;
    }
  }
  const chunkMaps = mapChunks(problem, mapCount);
  const imagePort = mapPorts(problem, into, representative, element);
  return { mapCount, maps, chunkMaps, representative, element, imagePort, shown };
}

/** The k-th chunk that an NPU holds becomes the k-th that its image holds. */
function mapChunks({ npuCount, chunkCount, heldOffset, heldChunk, maps }: SpreadProblem, mapCount: number): Int32Array {
  if (heldChunk.length !== chunkCount) throwForStatus(STATUS.badArgument, 0, 0);
  const chunkMaps = new Int32Array(mapCount * chunkCount);
  for (let g = 0; g < mapCount; g++) {
    for (let v = 0; v < npuCount; v++) {
      const image = (maps as Int32Array)[g * npuCount + v];
      const count = heldOffset[v + 1] - heldOffset[v];
      if (heldOffset[image + 1] - heldOffset[image] !== count) throwForStatus(STATUS.badArgument, 0, 0);
      for (let i = 0; i < count; i++) {
        chunkMaps[g * chunkCount + heldChunk[heldOffset[v] + i]] = heldChunk[heldOffset[image] + i];
      }
    }
  }
  return chunkMaps;
}

/** Of parallel routes the k-th becomes the k-th. */
function mapPorts(
  { npuCount, routeSource, maps }: SpreadProblem,
  { offset, items }: Lists,
  representative: Int32Array,
  element: Int32Array,
): Int32Array {
  const imagePort = new Int32Array(routeSource.length);
  for (let w = 0; w < npuCount; w++) {
    const first = offset[representative[w]];
    const count = offset[w + 1] - offset[w];
    if (offset[representative[w] + 1] - first !== count) throwForStatus(STATUS.badArgument, 0, 0);
    for (let p = 0; p < count; p++) {
      const source = routeSource[items[first + p]];
      const image = (maps as Int32Array)[element[w] * npuCount + source];
      let rank = 0;
      for (let q = 0; q < p; q++) if (routeSource[items[first + q]] === source) rank++;
      let found = 0;
      while (found < count && (routeSource[items[offset[w] + found]] !== image || rank-- !== 0)) found++;
      if (found === count) throwForStatus(STATUS.badArgument, 0, 0);
      imagePort[offset[w] + p] = found;
    }
  }
  return imagePort;
}

/** Writes the logs of all NPUs that are not matched, as images of their representatives'. */
export function unfoldLogs(
  { chunkMaps, representative, element, imagePort }: Fold,
  { npuCount, chunkCount, heldOffset }: SpreadProblem,
  portOffset: Int32Array,
  out: SpreadLogs,
): void {
  for (let npu = 0; npu < npuCount; npu++) {
    const of = representative[npu];
    if (of === npu) continue;
    const first = portOffset[npu];
    const count = portOffset[npu + 1] - first;
    const map = chunkMaps.subarray(element[npu] * chunkCount, (element[npu] + 1) * chunkCount);
    const taken = new Int32Array(count).fill(NONE);
    const stride = (count + 7) >>> 3;
    let from = out.logOffset[of];
    let to = out.logOffset[npu];
    for (let i = heldOffset[of]; i < heldOffset[of + 1]; i++) out.chunk[to++] = map[out.chunk[from++]];
    for (let slot = 0; slot < out.slots[of]; slot++) {
      const bits = out.portOffset[of] + slot * stride;
      const imageBits = out.portOffset[npu] + slot * stride;
      for (let p = 0; p < count; p++) {
        if (((out.ports[bits + (p >> 3)] >> (p & 7)) & 1) === 1) taken[imagePort[first + p]] = map[out.chunk[from++]];
      }
      for (let p = 0; p < count; p++) {
        if (taken[p] === NONE) continue;
        out.chunk[to++] = taken[p];
        out.ports[imageBits + (p >> 3)] |= 1 << (p & 7);
        taken[p] = NONE;
      }
    }
    out.slots[npu] = out.slots[of];
  }
}
