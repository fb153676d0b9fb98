import { groupedBy } from "../graph/graph.ts";
import type { Collective, Placement } from "./collective.ts";

/** What NPUs send to each other where every chunk goes from one NPU to one: an all-to-all(v). */
export interface Traffic {
  /** Chunks that every NPU sends to every other; null where these differ. */
  readonly each: number | null;
  /** Makes `row` [NPUs] the chunks that an NPU sends to each other NPU. O(NPUs + its chunks). */
  fill(npu: number, row: Float64Array): void;
}

/**
 * Returns the traffic of a collective; null where it reduces, or a chunk has several holders or goes to several NPUs. An
 * all-to-all is described by its groups, not chunk by chunk: O(NPUs) for it, O(chunks + NPUs) for a table.
 */
export function trafficOf(collective: Collective, npuCount: number): Traffic | null {
  if (collective.kind === "alltoall") return groupTraffic(collective, npuCount);
  const source = onlyMembers(collective, collective.pre);
  const target = onlyMembers(collective, collective.post);
  if (collective.reduces || source === null || target === null) return null;
  const bySource = groupedBy(source, npuCount);
  const fill = (npu: number, row: Float64Array): void => {
    row.fill(0);
    for (let i = bySource.offset[npu]; i < bySource.offset[npu + 1]; i++) row[target[bySource.items[i]]]++;
    row[npu] = 0;
  };
  return { each: eachOf(npuCount, fill), fill };
}

function groupTraffic({ groupMembers, groupSize, groupCount, chunksPerNpu }: Collective, npuCount: number): Traffic {
  const groupOf = new Int32Array(npuCount).fill(-1);
  groupMembers.forEach((npu, i) => {
    groupOf[npu] = Math.floor(i / groupSize);
  });
  return {
    each: groupCount === 1 && groupSize === npuCount && npuCount > 1 ? chunksPerNpu : null,
    fill(npu, row) {
      row.fill(0);
      const first = groupOf[npu] * groupSize;
      if (first < 0) return;
      for (let i = first; i < first + groupSize; i++) row[groupMembers[i]] = chunksPerNpu;
      row[npu] = 0;
    },
  };
}

/** Returns the one NPU of each chunk, [chunks]; null where a chunk has none or several. O(chunks). */
function onlyMembers({ chunkCount, groupMembers, groupSize }: Collective, placement: Placement): Int32Array | null {
  if (placement.kind === "one") return placement.npu;
  if (placement.kind === "group") {
    if (groupSize !== 1) return null;
    return Int32Array.from(
      { length: chunkCount },
      (_, c) => groupMembers[Math.floor((c * groupMembers.length) / chunkCount)],
    );
  }
  for (let c = 0; c < chunkCount; c++) if (placement.offset[c + 1] - placement.offset[c] !== 1) return null;
  return placement.members;
}

/** Returns what every row has for every other NPU; null where rows differ or have nothing. */
function eachOf(npuCount: number, fill: Traffic["fill"]): number | null {
  const row = new Float64Array(npuCount);
  let each = 0;
  for (let npu = 0; npu < npuCount; npu++) {
    fill(npu, row);
    if (npu === 0) each = npuCount > 1 ? row[1] : 0;
    for (let to = 0; to < npuCount; to++) if (to !== npu && row[to] !== each) return null;
  }
  return each > 0 ? each : null;
}
