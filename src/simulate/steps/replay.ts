import { InputError } from "../../base/errors.ts";
import type { JointSchedule } from "../../model/joint/joint-schedule.ts";
import { REPLAY_MODE, REPLAY_WANTS, type Replay } from "../../model/replay/problem.ts";
import { replayJs } from "../../model/replay/replay.ts";
import type { StepSchedule } from "../../model/steps/step-schedule.ts";
import type { Simulation, Switching } from "../simulation.ts";
import { inOriginalOrder, spreadMerged } from "./merged-rows.ts";
import { accepted } from "./refusal.ts";
import { replayProblem } from "./replay-problem.ts";
import { type Rows, rowsOf, rowsOfJoint } from "./rows.ts";

export interface SimulationOptions {
  /** Default: cut-through. */
  readonly switching?: Switching;
  /** Also return when each transfer starts and arrives. */
  readonly timeline?: boolean;
  /** Does the work: the kernel of that name of an engine, which gives the same numbers sooner. Default: in JavaScript. */
  readonly replay?: Replay;
}

/**
 * Returns the schedule replayed in the congestion-aware network, where serialisation occupies a link and latency does not.
 * The order of transfers on each link is kept, planned times are dropped: a transfer starts as soon as its chunk is at its
 * source, nothing planned before it on its links is in its way, and its route is free. In a reduction the chunk is there
 * when every contribution has arrived that had arrived in the plan by the planned departure, and later ones are set aside,
 * so payloads are as planned; otherwise when the first of those planned arrivals has come.
 *
 * `cut-through`: a transfer holds its share of all links of its route, from its start, for the serialisation at the
 * route's bottleneck, and arrives after that and the sum of the latencies. Transfers share a link while their shares sum to
 * at most 1; none starts before one that was planned before it on the same link.
 *
 * `store-and-forward`: a transfer takes the links of its route one after the other, each with its full bandwidth whatever
 * the share, one message at a time. The first link keeps the planned order of the transfers that begin there; beyond that
 * links are first come, first served, ties by the order in which events were scheduled.
 *
 * A merged send (rows of equal route, start and end) is replayed chunk by chunk: serialisations follow each other as they do
 * within one message, latency holds no link, and so switches pass on its first chunk while the last is still to leave. On
 * links that routes share each chunk keeps its turn of its own; see `spreadMerged`.
 *
 * A valid schedule simulates to at most its planned time in cut-through, and in store-and-forward where all routes are
 * single links: by induction nothing starts later than planned, the chunks of a merged send one serialisation after the
 * other. Neither mode looks at postconditions.
 *
 * Throws InputError for a schedule that is not valid (rows out of order, a chunk that is never at the source), and for times
 * that leave 2^53 ps. Time
 * O(transfers x links of a route) for cut-through, times log of the events in flight for store-and-forward; memory
 * O(transfers + NPUs + chunks + links).
 */
export function simulateSchedule(schedule: StepSchedule, options: SimulationOptions = {}): Simulation {
  return simulateRows(rowsOf(schedule), options);
}

/**
 * Returns the transfers of all tenants replayed together as `simulateSchedule` does: the order of transfers on each link is
 * kept, whoever's they are. Timelines are in the order of `jointRows`.
 */
export function simulateJoint(joint: JointSchedule, options: SimulationOptions = {}): Simulation {
  return simulateRows(rowsOfJoint(joint), options);
}

function simulateRows(rows: Rows, options: SimulationOptions): Simulation {
  const spread = spreadMerged(rows);
  return spread === null ? replayed(rows, options) : inOriginalOrder(spread, replayed(spread, options));
}

function replayed(rows: Rows, options: SimulationOptions): Simulation {
  const { switching = "cut-through", timeline = false, replay = replayJs } = options;
  if (switching !== "cut-through" && switching !== "store-and-forward") {
    throw new InputError("options.switching", '"cut-through" or "store-and-forward"', switching);
  }
  const isCutThrough = switching === "cut-through";
  const mode = isCutThrough ? REPLAY_MODE.cutThrough : REPLAY_MODE.storeAndForward;
  const detail = isCutThrough ? REPLAY_WANTS.times : REPLAY_WANTS.hops;
  const problem = replayProblem(rows, mode, timeline ? detail : REPLAY_WANTS.nothing);
  const { last, linkBusy, start, end, hopStart } = accepted(rows, replay(problem));
  return {
    model: `network/${switching}`,
    ps: last,
    linkBusyPs: linkBusy,
    ...(timeline ? { startPs: start, endPs: end } : {}),
    ...(timeline && !isCutThrough ? { hopStartPs: hopStart } : {}),
  };
}
