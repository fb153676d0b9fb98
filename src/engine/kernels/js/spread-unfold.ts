import type { SpreadLogs, SpreadProblem } from "../../contract/kernels.ts";
import type { Fold } from "./fold.ts";
import { NONE } from "./lists.ts";

/** Writes the logs of all NPUs that are not matched, as images of their representatives'; the twin of native/kernels/spread_unfold.h. */
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
