import { optionName } from "../base/option-names.ts";
import { formatTime } from "../model/numbers/units.ts";
import { routeCount } from "../model/routes/routes.ts";
import { makespanPs, mergedCounts, OP_REDUCE, type StepSchedule, transferCount } from "../model/steps/step-schedule.ts";
import { busiestLinks, ringOf, ringText } from "./links.ts";
import { counted } from "./phases.ts";

/** Chunks whose way is described. */
const CHUNKS = 3;
const HOPS = 24;

/** When the transfers of a schedule run in the simulated network. */
export interface SimulatedSteps {
  readonly ps: number;
  /** [transfers] */
  readonly startPs: Float64Array;
  readonly endPs: Float64Array;
  /** [links] */
  readonly linkBusyPs: Float64Array;
}

/** Returns what a step schedule does, in words, a line each, by simulated times or as it is planned. O(transfers + links of routes). */
export function explainSteps(schedule: StepSchedule, simulated: SimulatedSteps | null = null): string[] {
  const { topology, collective, routes, route, op, chunk } = schedule;
  const { startPs, endPs } = simulated ?? schedule;
  const name = (npu: number): string => topology.nodeNames[npu];
  const total = simulated?.ps ?? makespanPs(schedule);
  const merged = mergedCounts(schedule);
  const inMessages = merged === null ? "" : `, sent as ${messages(merged)} messages,`;
  const lines = [
    `${collective.kind} in ${counted(transferCount(schedule), "transfer")} of ${counted(collective.chunkCount, "chunk")}${inMessages} on ${topology.name}, ${simulated === null ? "planned for" : "simulated in"} ${formatTime(total)}`,
  ];
  const sums = op.reduce((count, kind) => count + (kind === OP_REDUCE ? 1 : 0), 0);
  if (sums > 0 && sums < op.length) {
    let [lastSum, firstCopy] = [0, total];
    for (let i = 0; i < op.length; i++) {
      if (op[i] === OP_REDUCE) lastSum = Math.max(lastSum, endPs[i]);
      else firstCopy = Math.min(firstCopy, startPs[i]);
    }
    const overlap = firstCopy < lastSum ? "overlap" : "follow each other";
    lines.push(
      `phases: ${sums} transfers reduce until ${formatTime(lastSum)}, ${op.length - sums} copy sums from ${formatTime(firstCopy)} on; they ${overlap}`,
    );
  }
  lines.push(...pattern(schedule, name));
  const moved = movedChunks(schedule);
  for (const c of moved.slice(0, CHUNKS)) {
    const hops: string[] = [];
    let sent = 0;
    for (let i = 0; i < chunk.length; i++) {
      if (chunk[i] !== c || sent++ >= HOPS) continue;
      const sign = op[i] === OP_REDUCE ? "⇒" : "→";
      hops.push(`${name(routes.source[route[i]])} ${sign} ${name(routes.target[route[i]])} (${formatTime(endPs[i])})`);
    }
    lines.push(`chunk ${c}: ${hops.join(", ")}${sent > HOPS ? ` and ${sent - HOPS} more` : ""}`);
  }
  if (moved.length > CHUNKS)
    lines.push(
      `... and ${counted(moved.length - CHUNKS, "more chunk")} (export ${optionName("to", " csv")} lists every transfer)`,
    );
  const busy = simulated?.linkBusyPs ?? plannedBusyPs(schedule, merged);
  if (total > 0)
    lines.push(
      `limit: ${busiestLinks(
        topology,
        busy.map((ps) => ps / total),
      )}`,
    );
  return lines;
}

/** Returns how long the plan holds each link, [links]. */
function plannedBusyPs(schedule: StepSchedule, merged: Int32Array | null): Float64Array {
  const { topology, routes, route, startPs, endPs } = schedule;
  const busy = new Float64Array(topology.linkSource.length);
  for (let i = 0; i < route.length; i++) {
    const r = route[i];
    const heldPs = (endPs[i] - startPs[i]) / (merged === null ? 1 : merged[i]);
    for (let l = routes.linkOffset[r]; l < routes.linkOffset[r + 1]; l++) {
      busy[routes.links[l]] += (heldPs * routes.shareNum[l]) / routes.shareDen[l];
    }
  }
  return busy;
}

/** Returns how many messages carry the transfers, given the chunks of each one's. O(transfers). */
function messages(merged: Int32Array): number {
  let count = 0;
  for (let i = 0; i < merged.length; i += merged[i]) count++;
  return count;
}

/** Returns the chunks that are sent anywhere. O(transfers + chunks). */
function movedChunks({ collective, chunk }: StepSchedule): number[] {
  const isMoved = new Uint8Array(collective.chunkCount);
  for (const c of chunk) isMoved[c] = 1;
  const found: number[] = [];
  for (let c = isMoved.indexOf(1); c >= 0; c = isMoved.indexOf(1, c + 1)) found.push(c);
  return found;
}

/** One ring, two of opposite directions, or how many neighbours NPUs send to. */
function pattern({ topology, collective, routes, route }: StepSchedule, name: (npu: number) => string): string[] {
  const used = new Uint8Array(routeCount(routes));
  for (const r of route) used[r] = 1;
  const rank = new Int32Array(topology.npuCount).fill(-1);
  collective.groupMembers.forEach((npu, r) => {
    rank[npu] = r;
  });
  const pairs = new Set<number>();
  const members = collective.groupMembers.length;
  let outsiders = false;
  for (let r = 0; r < used.length; r++) {
    if (used[r] === 0) continue;
    const [from, to] = [rank[routes.source[r]], rank[routes.target[r]]];
    if (from < 0 || to < 0) outsiders = true;
    else pairs.add(from * members + to);
  }
  const successor = new Int32Array(members).fill(-1);
  const degree = new Int32Array(members);
  for (const pair of pairs) {
    const from = Math.floor(pair / members);
    degree[from]++;
    successor[from] = degree[from] === 1 ? pair % members : -1;
  }
  const member = (r: number): string => name(collective.groupMembers[r]);
  const ring = ringOf(successor);
  const lines: string[] = [];
  if (ring !== null) lines.push(`pattern: a ring, ${ringText(ring, member)}`);
  else {
    const [least, most] = [degree.reduce((a, b) => Math.min(a, b)), degree.reduce((a, b) => Math.max(a, b))];
    const many = least === most ? `${most}` : `${least} to ${most}`;
    lines.push(`pattern: NPUs send to ${many} others each (${pairs.size} pairs)`);
  }
  if (outsiders) lines.push("NPUs outside the group relay chunks");
  return lines;
}
