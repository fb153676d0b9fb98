import { InputError } from "../../base/errors.ts";
import type { Collective } from "../../model/collective/collective.ts";
import { orderByTime } from "../../model/numbers/ordering.ts";
import { OP_REDUCE, type StepSchedule, transferCount } from "../../model/steps/step-schedule.ts";
import type { Topology } from "../../model/topology/topology.ts";
import { downstreamFirst } from "../msccl/downstream.ts";
import { mayArriveAtOnce } from "./merged-order.ts";
import type { Moves } from "./moves.ts";

/** Returns the transfers of a step schedule of one group as moves, in the order of its rows. O(transfers log transfers). */
export function movesOfSteps(schedule: StepSchedule): Moves {
  const { topology, collective, routes, startPs, endPs } = schedule;
  const count = transferCount(schedule);
  const ranks = ranksOf(collective, topology);
  const source = new Int32Array(count);
  const target = new Int32Array(count);
  for (let i = 0; i < count; i++) {
    source[i] = rankOf(ranks, routes.source[schedule.route[i]], topology);
    target[i] = rankOf(ranks, routes.target[schedule.route[i]], topology);
    if (!(endPs[i] > startPs[i]))
      throw new InputError(`transfer ${i} of a schedule to be lowered`, "an end after its start", endPs[i]);
  }
  const order = eventsInOrder(schedule, source, target);
  const chunks = collective.chunkCount;
  const whole = isOneBlock(collective);
  return {
    collective,
    rankCount: collective.groupSize,
    rootRank: collective.rootRank,
    chunksPerBlock: collective.kind === "custom" ? 1 : whole ? chunks : collective.chunksPerNpu,
    chunkCount: chunks,
    source,
    target,
    chunk: Int32Array.from(schedule.chunk),
    chunks: new Int32Array(count).fill(1),
    reduces: schedule.op.map((op) => (op === OP_REDUCE ? 1 : 0)),
    lane: new Int32Array(count).fill(-1),
    ...order,
  };
}

/** Returns whether all chunks of a collective go the same ways in from and out to buffers: it has no blocks by rank. */
export const isOneBlock = ({ kind }: Pick<Collective, "kind">): boolean =>
  kind === "allreduce" || kind === "broadcast" || kind === "reduce";

/** Returns the rank of each NPU in the one group, -1 for outsiders. */
export function ranksOf({ groupMembers }: Collective, { npuCount }: Topology): Int32Array {
  const ranks = new Int32Array(npuCount).fill(-1);
  groupMembers.forEach((npu, rank) => {
    ranks[npu] = rank;
  });
  return ranks;
}

/** Returns the rank of an NPU; throws InputError for an outsider, with what avoids it. */
export function rankOf(ranks: Int32Array, npu: number, topology: Topology): number {
  if (ranks[npu] >= 0) return ranks[npu];
  throw new InputError(
    "a schedule to be lowered",
    "transfers between members of its process group (synthesize with --outsiders none)",
    `one at ${topology.nodeNames[npu]}`,
  );
}

/**
 * Returns the places of departures and arrivals in the order of events: at each time arrivals first, then departures. Chunks of
 * a merged send follow each other, each there before the next departs, where that changes no payload (`mayArriveAtOnce`).
 */
function eventsInOrder(
  schedule: StepSchedule,
  source: Int32Array,
  target: Int32Array,
): Pick<Moves, "departsAt" | "arrivesAt"> {
  const { startPs, endPs } = schedule;
  const atOnce = mayArriveAtOnce(schedule, source, target);
  const departures = orderByTime(startPs);
  const arrivals = atOnce === null ? orderByTime(endPs) : orderByTime(endPs).filter((move) => atOnce[move] === 0);
  const departsAt = new Int32Array(startPs.length);
  const arrivesAt = new Int32Array(startPs.length);
  const inGroup = downstreamFirst(source, target);
  let event = 0;
  let next = 0;
  const depart = (): void => {
    const move = departures[next++];
    departsAt[move] = event++;
    if (atOnce !== null && atOnce[move] === 1) arrivesAt[move] = event++;
  };
  for (let from = 0; from < arrivals.length; ) {
    const time = endPs[arrivals[from]];
    while (next < departures.length && startPs[departures[next]] < time) depart();
    let to = from + 1;
    while (to < arrivals.length && endPs[arrivals[to]] === time) to++;
    for (const move of inGroup(arrivals.subarray(from, to))) arrivesAt[move] = event++;
    from = to;
  }
  return { departsAt, arrivesAt };
}
