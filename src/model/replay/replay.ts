import { replayCutThrough } from "./cut-through.ts";
import { replayEvents } from "./events.ts";
import { badRow } from "./plan.ts";
import { REPLAY_MODE, type ReplayOutcome, type ReplayProblem } from "./problem.ts";

/**
 * Returns the replay in JavaScript, the twin of native/kernels/replay.h; calls `goOn` now and then, which may throw. The problem
 * is well-formed but for its rows. Memory O(transfers + NPUs + chunks + links of routes).
 */
export function replayJs(problem: ReplayProblem, goOn: () => void = () => {}): ReplayOutcome {
  const row = badRow(problem);
  if (row >= 0) return { kind: "refused", row };
  return problem.mode === REPLAY_MODE.cutThrough ? replayCutThrough(problem, goOn) : replayEvents(problem, goOn);
}
