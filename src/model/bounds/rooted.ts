import type { Collective } from "../collective/collective.ts";
import { distancesFrom } from "../graph/graph.ts";
import { orderByTime } from "../numbers/ordering.ts";
import { offerWhole } from "./best.ts";
import { capacityOf } from "./capacity.ts";
import { slotGraph } from "./graph.ts";
import { type CutContext, crossingTime, cutWitness, npuMayRaise, tryCut } from "./route-cuts.ts";
import { crossingRoutes, markSet } from "./sides.ts";

/**
 * Tries what a broadcast or scatter from `root` must do at its two ends.
 *
 * Leaving: every route out of the root leads to a neighbour, from which NPU v is at least q(v) away; a chunk for v has left
 * the root by T - q(v). So for every q the transfers that fit out of the root by T - q reach the number of chunks whose
 * farthest target is q or more away. Arriving: with `arriving`, each NPU's own border, where nothing can enter before it
 * has come from the root. `chunks` is what every member wants (broadcast), or each member its own (scatter).
 */
export function tryRooted(
  context: CutContext,
  root: number,
  members: Int32Array,
  chunks: number,
  kind: "broadcast" | "scatter",
  arriving: boolean,
): void {
  const { view, sides, best, budget } = context;
  const { routes, topology } = view;
  const one = Int32Array.of(root);
  markSet(sides, one);
  const leaving = crossingRoutes(view, sides, one, "out");
  const neighbours = leaving.route.map((route) => routes.target[route]);
  const all = slotGraph(view);
  budget.left -= 4 * (routes.source.length + topology.npuCount);
  const remaining = distancesFrom(all, neighbours);
  const capacity = capacityOf(view, leaving, null);
  const targets = farthestFirst(members, root, remaining);
  for (let i = 0; i < (kind === "broadcast" ? Math.min(1, targets.length) : targets.length); i++) {
    const to = targets[i];
    if (kind === "scatter" && i + 1 < targets.length && remaining[targets[i + 1]] === remaining[to]) continue;
    const count = kind === "broadcast" ? chunks : chunks * (i + 1);
    const known = Math.max(0, best.wholePs - remaining[to]);
    const time = crossingTime(capacity, count, known);
    if (time === null) break;
    offerWhole(best, time + remaining[to], () => ({ ...cutWitness(context, one, "out", `${count} chunks`), to }));
  }
  if (!arriving) return;

  const release = distancesFrom(all, [root]);
  const wanted = { into: chunks, outOf: 0 };
  for (const npu of targets) {
    if (budget.left <= 0) return;
    if (!npuMayRaise(context, npu, wanted.into, wanted.outOf, release)) continue;
    one[0] = npu;
    tryCut(context, one, () => wanted, release, root);
  }
}

/** Returns the members but the root, the farthest first, equally far ones in order. */
function farthestFirst(members: Int32Array, root: number, distance: Float64Array): Int32Array {
  const others = members.filter((v) => v !== root).sort();
  const nearness = new Float64Array(others.length);
  let farthest = 0;
  for (let i = 0; i < others.length; i++) farthest = Math.max(farthest, distance[others[i]]);
  for (let i = 0; i < others.length; i++) nearness[i] = farthest - distance[others[i]];
  const order = orderByTime(nearness);
  const targets = new Int32Array(others.length);
  for (let i = 0; i < targets.length; i++) targets[i] = others[order[i]];
  return targets;
}

/**
 * Tries, for all-reduce, the broadcasts and reductions hidden in it: each NPU's contribution to every chunk must reach
 * every other, so it takes no less than a broadcast of all N x chunks from any NPU u (the transfers that carry a part of
 * u), and, by the same argument in reversed time, no less than a reduction to any NPU. `reversed` is the context of the
 * network turned around. All NPUs are tried as u while that is cheap, else the two ends of the farthest pair.
 */
export function tryHiddenBroadcasts(
  context: CutContext,
  reversed: CutContext,
  collective: Collective,
  ends: readonly number[],
  offerReversed: () => void,
): void {
  const { groupCount, groupSize, groupMembers, chunksPerNpu } = collective;
  const chunks = groupSize * chunksPerNpu;
  const cost = 8 * context.view.slotPs.length * groupMembers.length;
  for (let group = 0; group < groupCount; group++) {
    const members = groupMembers.subarray(group * groupSize, (group + 1) * groupSize);
    for (const root of members) {
      if (cost > 8_000_000 && !ends.includes(root)) continue;
      tryRooted(context, root, members, chunks, "broadcast", true);
      tryRooted(reversed, root, members, chunks, "broadcast", true);
      offerReversed();
    }
  }
}
