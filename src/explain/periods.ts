import { formatShare, formatTime } from "../model/numbers/units.ts";
import { inwardRoute, outwardRoute, type PeriodSchedule, roundsOf, treesOf } from "../model/periods/period-schedule.ts";
import { routeTimes } from "../model/routes/routes.ts";
import { busiestLinks } from "./links.ts";
import { counted } from "./phases.ts";

/** Only the first few trees are described. */
const TREES = 4;

/**
 * Returns what periods do, in words, a line each: their rounds, the first trees, how busy links are; `simulated`: when all ends, and
 * how long links are held. The schedule must be correct. O(trees x NPUs).
 */
export function explainPeriods(
  schedule: PeriodSchedule,
  simulated: { readonly ps: number; readonly linkBusyPs: Float64Array },
): string[] {
  const { topology, collective, periodPs } = schedule;
  const trees = treesOf(schedule);
  const rounds = roundsOf(schedule);
  const { ps } = simulated;
  const inLast = collective.chunkCount - (rounds - 1) * trees;
  const last = inLast < trees ? `, the last one of ${counted(inLast, "chunk")}` : "";
  const roundPs = ps - (rounds - 1) * periodPs;
  const lines = [
    `${collective.kind} of ${counted(collective.chunkCount, "chunk")} in ${counted(rounds, "round")} of ${counted(trees, "tree")}${last} on ${topology.name}, ${formatTime(ps)}`,
    `chunk c goes up tree c mod ${trees}, summed on the way, and down the same tree, in round c / ${trees}`,
    `a round begins every ${formatTime(periodPs)}; the last one is over ${formatTime(roundPs)} after its beginning, so up to ${counted(Math.min(rounds, Math.ceil(roundPs / periodPs)), "round")} are under way at a time`,
    "",
  ];
  for (let tree = 0; tree < Math.min(trees, TREES); tree++) lines.push(treeLine(schedule, tree));
  if (trees > TREES) lines.push(`... and ${counted(trees - TREES, "more tree")}`);
  const busy = simulated.linkBusyPs.map((held) => held / Math.max(1, ps));
  lines.push(
    "",
    `limit: ${busiestLinks(topology, busy)}, ${formatShare((rounds * periodPs) / Math.max(1, ps))} of the time is periods`,
  );
  return lines;
}

/** Returns one tree in a line: its root, its height, when its first sum is whole and everywhere. */
function treeLine(schedule: PeriodSchedule, tree: number): string {
  const { topology, collective, routes, entry, startPs } = schedule;
  const { npuCount, nodeNames } = topology;
  const { slotPs } = routeTimes(topology, routes, collective.chunkBytes);
  const edges = entry.subarray(tree * npuCount, (tree + 1) * npuCount);
  const root = edges.indexOf(-1);
  const above = edges.map((edge, npu) => (edge < 0 ? -1 : routes.target[outwardRoute(schedule, edge, npu)]));
  let [height, wholePs, everywherePs] = [0, 0, 0];
  for (let npu = 0; npu < npuCount; npu++) {
    if (npu === root) continue;
    let depth = 0;
    for (let at = npu; at !== root; at = above[at]) depth++;
    height = Math.max(height, depth);
    const up = 2 * tree * npuCount + npu;
    const [out, back] = [outwardRoute(schedule, edges[npu], npu), inwardRoute(schedule, edges[npu], npu)];
    if (above[npu] === root) wholePs = Math.max(wholePs, startPs[up] + slotPs[out]);
    everywherePs = Math.max(everywherePs, startPs[up + npuCount] + slotPs[back]);
  }
  const away = `${counted(height, "edge")} to the farthest NPU`;
  return `tree ${tree}: root ${nodeNames[root]}, ${away}; its first sum is whole at ${formatTime(wholePs)} and everywhere at ${formatTime(everywherePs)}`;
}
