import { badRow } from "../../model/replay/plan.ts";
import {
  hopCountOf,
  REPLAY_WANTS,
  type Replayed,
  type ReplayOutcome,
  type ReplayProblem,
} from "../../model/replay/problem.ts";
import { allocated } from "./outputs.ts";
import { throwForStatus } from "./status.ts";

/** The caller's arrays of a replay problem, and where the kernel writes last, outcome, row. */
export interface ReplayColumns extends Pick<Replayed, "linkBusy" | "start" | "end" | "hopStart"> {
  readonly summary: Float64Array;
}

/** What summary[1] of a replay says. */
const OUTCOME = { replayed: 0, refused: 1, late: 2 } as const;

/** Returns the arrays of a replay problem whose shapes have been checked; throws as for a kernel out of memory. */
export function allocateReplay(problem: ReplayProblem): ReplayColumns {
  const { wants, route, linkCount } = problem;
  // rows that are bad may name no route; they are refused whatever the room
  const hops = wants === REPLAY_WANTS.hops && badRow(problem) < 0 ? hopCountOf(problem) : 0;
  const timed = wants === REPLAY_WANTS.nothing ? 0 : route.length;
  return allocated(() => ({
    linkBusy: new Float64Array(linkCount),
    start: new Float64Array(timed),
    end: new Float64Array(timed),
    hopStart: new Float64Array(hops),
    summary: new Float64Array(3),
  }));
}

/** Returns what a replay kernel found; throws for a bad status. */
export function replayOutcomeOf(status: number, columns: ReplayColumns): ReplayOutcome {
  throwForStatus(status, 0, 0);
  const { summary, ...found } = columns;
  const [last, outcome, row] = summary;
  if (outcome === OUTCOME.refused) return { kind: "refused", row };
  if (outcome === OUTCOME.late) return { kind: "late" };
  return { kind: "replayed", last, ...found };
}
