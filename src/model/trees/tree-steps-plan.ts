import { orderByTime } from "../numbers/ordering.ts";
import type { RouteSet } from "../routes/routes.ts";
import type { StepSchedule } from "../steps/step-schedule.ts";
import type { TreeFlow } from "./tree-flow.ts";
import type { Carried } from "./tree-steps-chunks.ts";
import type { EdgeTimes } from "./tree-steps-edges.ts";

/**
 * Returns, for each forest, when the first senders of each of its trees send each chunk that it carries, in the closed
 * form: back to back from 0. Where the forests of an all-reduce run side by side, a root broadcasts a chunk when it
 * is complete there and the tree has sent the one before. O(chunks).
 */
export function departuresOf(flow: TreeFlow, times: readonly EdgeTimes[], carried: readonly Carried[]): Float64Array[] {
  const backToBack = carried.map(({ offset, chunk }, f) => {
    const departure = new Float64Array(chunk.length);
    times[f].serialPs.forEach((serial, tree) => {
      for (let i = offset[tree]; i < offset[tree + 1]; i++) departure[i] = (i - offset[tree]) * serial;
    });
    return departure;
  });
  if (!flow.concurrent) return backToBack;
  const complete = new Float64Array(carried[0].chunk.length);
  times[0].fillPs.forEach((fill, tree) => {
    const { offset, chunk } = carried[0];
    for (let i = offset[tree]; i < offset[tree + 1]; i++) complete[chunk[i]] = backToBack[0][i] + fill;
  });
  const broadcast = backToBack[1];
  times[1].serialPs.forEach((serial, tree) => {
    const { offset, chunk } = carried[1];
    let free = 0;
    for (let i = offset[tree]; i < offset[tree + 1]; i++) {
      broadcast[i] = Math.max(free, complete[chunk[i]]);
      free = broadcast[i] + serial;
    }
  });
  return backToBack;
}

/** Transfers route by route: those of route r are firstRow[r] onwards, in the order of its tree's chunks. */
export interface TreeRows extends Pick<StepSchedule, "chunk" | "route" | "startPs" | "endPs"> {
  readonly routes: RouteSet;
  /** [transfers] start in the closed form. */
  readonly closedPs: Float64Array;
  /** [routes] */
  readonly firstRow: Float64Array;
  /** [routes] latency + serialisation. */
  readonly slotPs: Float64Array;
  /** [routes] route over the next edge towards the root, -1 at the root. */
  readonly parent: Int32Array;
  /** [routes] 1: away from the root. */
  readonly outwards: Uint8Array;
  /** [chunks] when the chunk is planned to be complete at its root; 0 before anything is planned. */
  readonly completePs: Float64Array;
}

/**
 * Plans the rows from .. to - 1, none before `earliest`, and returns when the last of them ends: each transfer takes its
 * link-busy time and departs as soon as its chunk is there, its route is free and all that start before it in the closed form
 * on any of its links have departed, strictly before it. So the order of starts on every link is that of the closed form, the
 * shares in use are those of different routes, and the plan is as early as this order lets it be.
 * O(links of the routes of all rows), and a sort of the closed form's times.
 */
export function planRows(rows: TreeRows, linkTotal: number, from: number, to: number, earliest: number): number {
  const { chunk, route, startPs, endPs, closedPs, firstRow, slotPs, parent, outwards, completePs } = rows;
  const { linkOffset, links } = rows.routes;
  const planned = new Float64Array(linkTotal).fill(-1);
  const closed = new Float64Array(linkTotal).fill(-1);
  let last = earliest;
  for (const k of orderByTime(closedPs.subarray(from, to))) {
    const row = from + k;
    const r = route[row];
    const nth = row - firstRow[r];
    let start = Math.max(earliest, startPs[row]);
    if (outwards[r] === 1)
      start = Math.max(start, parent[r] < 0 ? completePs[chunk[row]] : endPs[firstRow[parent[r]] + nth]);
    if (nth > 0 && endPs[row - 1] > start) start = endPs[row - 1];
    for (let i = linkOffset[r]; i < linkOffset[r + 1]; i++) {
      const link = links[i];
      const after = closed[link] < closedPs[row] ? planned[link] + 1 : planned[link];
      if (after > start) start = after;
    }
    for (let i = linkOffset[r]; i < linkOffset[r + 1]; i++) {
      planned[links[i]] = start;
      closed[links[i]] = closedPs[row];
    }
    const end = start + slotPs[r];
    startPs[row] = start;
    endPs[row] = end;
    if (end > last) last = end;
    if (outwards[r] === 1) continue;
    if (parent[r] < 0) completePs[chunk[row]] = Math.max(completePs[chunk[row]], end);
    else startPs[firstRow[parent[r]] + nth] = Math.max(startPs[firstRow[parent[r]] + nth], end);
  }
  return last;
}
