import type { Collective } from "../../model/collective/collective.ts";
import { formatSize, parseSize } from "../../model/numbers/units.ts";
import type { Topology } from "../../model/topology/topology.ts";
import { isTreeFlow } from "../../model/trees/tree-flow.ts";
import type { Options } from "../../request/option-texts.ts";
import { ALGORITHMS } from "../../synthesize/catalog.ts";
import type { GivenSchedule } from "./given-subject.ts";

/** What belonged to the algorithm that was asked for before. */
const WITHOUT_OPTIONS: Options = {
  policy: undefined,
  k: undefined,
  switchDegree: undefined,
  eulerian: undefined,
  offload: undefined,
};

/** Returns a size as an option: "256MiB", in bytes where no unit fits. */
function sizeOption(bytes: number): string {
  const text = formatSize(bytes).replace(" ", "");
  return parseSize(text) === bytes ? text : String(bytes);
}

/** Returns the groups in NPU names, as --group takes them; undefined for all NPUs in order. */
function groupOption({ npuCount, nodeNames }: Topology, { groupMembers, groupSize }: Collective): string | undefined {
  if (groupMembers.length === npuCount && groupSize === npuCount && groupMembers.every((npu, rank) => npu === rank))
    return undefined;
  const names = Array.from(groupMembers, (npu) => nodeNames[npu]);
  const groups = Array.from({ length: names.length / groupSize }, (_, g) =>
    names.slice(g * groupSize, (g + 1) * groupSize).join(","),
  );
  return groups.join(";");
}

/**
 * Returns the options that ask for the collective of a schedule, and for its algorithm where the file names one that there is;
 * undefined for what it leaves to the usual. Null for a custom collective.
 */
export function askedBy({ schedule, algorithm }: GivenSchedule): Options | null {
  const { topology, collective } = schedule;
  const { kind, sizeBytes, chunksPerNpu, groupCount, groupMembers, rootRank } = collective;
  if (kind === "custom") return null;
  const isKnown = ALGORITHMS.some(({ name }) => name === algorithm);
  const hasChunks = chunksPerNpu > 1 && !isTreeFlow(schedule);
  return {
    collective: kind,
    size: sizeOption(sizeBytes),
    chunks: hasChunks ? String(chunksPerNpu) : undefined,
    root: rootRank > 0 && groupCount === 1 ? topology.nodeNames[groupMembers[rootRank]] : undefined,
    group: groupOption(topology, collective),
    outsiders: undefined,
    ...(isKnown ? { ...WITHOUT_OPTIONS, algorithm: algorithm as string } : {}),
  };
}
