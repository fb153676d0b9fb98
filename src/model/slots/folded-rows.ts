import { groupedBy } from "../graph/graph.ts";
import { indexColumn } from "../steps/step-schedule.ts";
import { foldOf, groupOf, leastNpus, mapColumns } from "../symmetry/fold.ts";
import { portsOf, type SlotSchedule, withPorts } from "./slot-schedule.ts";

/**
 * Returns the NPUs whose logs say it all, ascending: NPU 0 where translations give the others, for which chunks must be numbered
 * by owner; the least of each orbit under maps; else all. O(chunks + maps x generators x NPUs).
 */
export function standingFor({ symmetry, origin, topology, collective }: SlotSchedule): Int32Array {
  const { npuCount } = topology;
  const all = Int32Array.from({ length: npuCount }, (_, npu) => npu);
  if (symmetry === null) return all;
  if ("generators" in symmetry) return leastNpus(groupOf(symmetry.generators, npuCount), npuCount);
  const perNpu = collective.chunkCount / npuCount;
  return Number.isInteger(perNpu) && origin.every((npu, c) => npu === Math.floor(c / perNpu)) ? Int32Array.of(0) : all;
}

/** What folded logs are unfolded by. */
type Folded = Pick<SlotSchedule, "topology" | "collective" | "routes" | "origin">;

/**
 * Returns the log of any NPU where `row` gives those of the least NPUs of the orbits under the group of the generators: chunks
 * mapped with their owners, the k-th of an NPU to the k-th of its image; ports with their sources, of parallel routes the k-th
 * to the k-th; the arrivals of a slot again in order of port. O(chunks + slots) a call. Null when the maps do not take owners
 * to owners of as many chunks and routes to routes, or are too many.
 */
export function foldedRows(
  { topology, collective, routes, origin }: Folded,
  generators: readonly Int32Array[],
  row: SlotSchedule["row"],
): SlotSchedule["row"] | null {
  const { npuCount } = topology;
  const { chunkCount } = collective;
  const group = groupOf(generators, npuCount);
  const held = groupedBy(origin, npuCount);
  const ports = portsOf(routes, npuCount);
  const fold =
    group &&
    foldOf(
      {
        npuCount,
        chunkCount,
        maps: mapColumns(group, npuCount),
        routeSource: routes.source,
        slotPs: null,
        heldOffset: held.offset,
        heldChunk: held.items,
      },
      ports,
    );
  if (fold === null) return null;
  return (npu) => {
    const of = fold.representative[npu];
    if (of === npu) return row(npu);
    const port = fold.imagePort.subarray(ports.offset[npu], ports.offset[npu + 1]);
    const log = withPorts(row(of), port, held.offset[of + 1] - held.offset[of]);
    const map = fold.chunkMaps.subarray(fold.element[npu] * chunkCount, (fold.element[npu] + 1) * chunkCount);
    const chunk = indexColumn(chunkCount, chunkCount);
    for (let i = 0; i < chunkCount; i++) chunk[i] = map[log.chunk[i]];
    return { chunk, ports: log.ports };
  };
}
