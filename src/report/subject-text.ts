import { type Collective, collectiveName, hasRoot } from "../model/collective/collective.ts";
import { toNumber } from "../model/numbers/rational.ts";
import { formatSize, formatTime } from "../model/numbers/units.ts";
import { type PeriodSchedule, roundsOf, treesOf } from "../model/periods/period-schedule.ts";
import type { PhaseSchedule } from "../model/phases/phase-schedule.ts";
import { linkCount, type Topology, topologyHash } from "../model/topology/topology.ts";
import { groupOrder, listedTrees, type TreeFlow } from "../model/trees/tree-flow.ts";
import { count, roundedSize } from "./amounts.ts";
import { collectiveFacts } from "./collective-facts.ts";
import type { Report } from "./result.ts";

/** Below this many bytes it matters that chunks of no whole number of bytes are rounded up where they run. */
const FEW_BYTES = 64;

/** Returns what is to be known of times where chunks are small and of no whole number of bytes; "" elsewhere. */
const fractionsText = ({ chunkBytes }: Collective): string =>
  chunkBytes.den === 1n || toNumber(chunkBytes) >= FEW_BYTES
    ? ""
    : " (times are those of fractions of bytes; what runs sends whole ones)";

/** Returns "all-reduce of 256 MiB"; a root by its name, for ids change where NPUs are left out. */
export const sizedText = (topology: Pick<Topology, "nodeNames">, collective: Collective): string =>
  `${rootedText(topology, collective)}${fractionsText(collective)}`;

function rootedText(
  { nodeNames }: Pick<Topology, "nodeNames">,
  { kind, sizeBytes, groupCount, groupSize, groupMembers, rootRank }: Collective,
): string {
  const name = collectiveName(kind);
  const groups = groupCount > 1 ? `, ${groupCount} groups of ${groupSize}` : "";
  const root = hasRoot(kind) && groupCount === 1 ? `, root ${nodeNames[groupMembers[rootRank]]}` : "";
  return `${name} of ${formatSize(sizeBytes)}${root}${groups}`;
}

/** Returns "all-reduce of 256 MiB, 16 chunks of 16 MiB". */
export function collectiveText(topology: Pick<Topology, "nodeNames">, collective: Collective): string {
  const { chunkCount, chunkBytes } = collective;
  const bytes = chunkBytes.den === 1n ? formatSize(toNumber(chunkBytes)) : `about ${roundedSize(toNumber(chunkBytes))}`;
  return `${rootedText(topology, collective)}, ${count(chunkCount, "chunk")} of ${bytes}${fractionsText(collective)}`;
}

/** Returns "mesh:3x3: 9 NPUs, 24 links". */
export function networkText({ name, npus, switches, links }: Report["topology"]): string {
  const between = switches === 0 ? "" : `, ${count(switches, "switch", "switches")}`;
  return `${name}: ${count(npus, "NPU")}${between}, ${count(links, "link")}`;
}

/** Returns "1024 trees", or of how many roots one stands for all. */
export function treesText(flow: TreeFlow): string {
  const trees = listedTrees(flow);
  const images = groupOrder(flow.symmetry);
  return images === 1 ? count(trees, "tree") : `${count(trees * images, "tree")} (images of ${trees})`;
}

/** Returns "all-reduce of 9 MiB, 9 chunks of 1 MiB, among all 9 NPUs": what a schedule was proved to make. */
export function provedText(topology: Topology, collective: Collective): string {
  const { participants, deliveries } = collectiveFacts(topology, collective);
  const who = participants === topology.npuCount ? "all" : `${participants} of`;
  const custom = deliveries === undefined ? "" : `, ${count(deliveries, "delivery", "deliveries")}`;
  return `${collectiveText(topology, collective)}${custom}, among ${who} ${count(topology.npuCount, "NPU")}`;
}

/** Returns "of mesh:3x3 (24 links, hash ef1df2e5bb323451)": a name is what a file says, the hash is what it has. */
export const provedNetworkText = (topology: Topology): string =>
  `of ${topology.name} (${count(linkCount(topology), "link")}, hash ${topologyHash(topology)})`;

/** Returns "512 phases of 64 chunks". */
export const phasesText = (schedule: PhaseSchedule): string =>
  `${count(schedule.chunk.length, "phase")} of ${count(schedule.collective.chunksPerNpu, "chunk")}`;

/** Returns "64 trees, 256 rounds of 13.9 us". */
export const periodsText = (schedule: PeriodSchedule): string =>
  `${count(treesOf(schedule), "tree")}, ${count(roundsOf(schedule), "round")} of ${formatTime(schedule.periodPs)}`;
